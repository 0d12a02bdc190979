"""The commands of `memcli store`, one module each."""

ABOUT = "Share an index between machines, on a server."
NAMES = ("status", "init", "attach", "detach", "upgrade")
USUAL = "status"
