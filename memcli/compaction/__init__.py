"""Turn old logs into short summaries that lead back to every line they stand for."""
