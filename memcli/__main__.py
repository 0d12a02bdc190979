"""Run memcli as `python -m memcli`."""

from memcli.cli.main import main

main()
