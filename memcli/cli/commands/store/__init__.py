"""The commands of `memcli store`, one module each."""

ABOUT = "Share an index between machines on PostgreSQL."
NAMES = ("status", "init", "attach", "detach", "upgrade")
USUAL = "status"
