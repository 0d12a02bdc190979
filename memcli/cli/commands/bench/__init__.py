"""The commands of `memcli bench`, one module each."""

ABOUT = "Measure search on your own questions."
NAMES = ("quality", "init", "compare", "check", "report", "speed", "replay", "calibrate")
USUAL = ""
