"""Add notes to the memory: whether a note is worth saving, where it goes, and its removal."""
