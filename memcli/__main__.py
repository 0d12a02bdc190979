"""Run memcli as `python -m memcli`."""

from memcli.cli.entry import main

main()
