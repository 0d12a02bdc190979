"""The commands of `memcli agents`, one module each."""

ABOUT = "List the agents found here, and wire memcli into them."
NAMES = ("list", "install", "uninstall")
USUAL = "list"
