"""The index: a port, the records that pass through it, and the stores behind it."""
