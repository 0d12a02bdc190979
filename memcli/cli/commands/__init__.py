"""One module per command, with its table of options and `run`."""
