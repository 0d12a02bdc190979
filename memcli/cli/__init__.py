"""The command line: parsing, terminal, exit codes; the only place that prints and exits."""
