"""The commands of `memcli agents`, one module each; `agents_command` joins them."""
