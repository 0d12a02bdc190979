"""Read the dates in questions and notes; pure."""
