"""Settings: every key, its value, and the origin of the value."""
