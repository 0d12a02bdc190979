"""The right memory for a prompt, within a budget of tokens."""
