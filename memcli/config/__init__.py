"""Settings: every key, its value, and where that came from."""
