"""Search: a query becomes ranked passages."""
