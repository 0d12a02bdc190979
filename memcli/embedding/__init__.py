"""Turn text into unit vectors: the bundled model, its tokenizer, and other encoders."""
