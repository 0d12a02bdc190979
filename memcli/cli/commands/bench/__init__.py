"""The commands of `memcli bench`, one module each."""

ABOUT = "Measure search on your own questions."
NAMES = ("quality", "init", "compare", "lane", "report", "speed", "replay", "calibrate")
USUAL = ""
