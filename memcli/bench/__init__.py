"""Measure how well search finds things, on judged questions."""
