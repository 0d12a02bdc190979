"""One module per command: its table of options, and `run`, which does the work."""
