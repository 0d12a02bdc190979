"""The command line: parsing, terminal, exit codes. Only this package prints and exits."""
