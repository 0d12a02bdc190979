"""Write to the memory: whether a note is worth it, where it goes, one append, and its undoing."""
