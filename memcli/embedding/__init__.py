"""Text to unit vectors: the bundled model, its tokenizer and its fall-backs."""
