"""Keys and tokens in notes: the rules that know them, and what stands in their place."""
