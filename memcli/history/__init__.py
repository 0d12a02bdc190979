"""Earlier states of a memory: the commits of its repository, read-only."""
