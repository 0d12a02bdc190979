"""The index as one SQLite file; all SQL for SQLite is here."""
