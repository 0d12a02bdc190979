"""Measure the quality of search on judged questions, and its speed."""
