"""The commands of `memcli store`, a module each."""
