"""The index as one SQLite file; this package contains all SQL for SQLite."""
