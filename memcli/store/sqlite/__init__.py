"""The index as one SQLite file: all SQL there is."""
