"""Find and redact keys and tokens in notes."""
