"""What a memory was: the commits of its repository, read and never written."""
