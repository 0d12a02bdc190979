"""One module a command: the Typer function parses, `run` does the work."""
