"""The commands of `memcli config`, one module each."""

ABOUT = "Show and change settings."
NAMES = ("get", "set")
USUAL = "get"
