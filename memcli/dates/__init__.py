"""Dates: what a text says of days, months and years, and what a question asks of them; pure."""
