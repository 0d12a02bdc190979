"""The commands of `memcli bench`, one module each; `bench_command` joins them."""
