"""The commands of `memcli agents`, one module each."""

ABOUT = "List the agents found here, and install memcli into them."
NAMES = ("list", "install", "uninstall", "export")
USUAL = "list"
