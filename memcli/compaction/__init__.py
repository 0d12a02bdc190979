"""Turn old logs into short summaries; each line of a summary cites its source lines."""
