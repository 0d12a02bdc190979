"""The index on a PostgreSQL server with pgvector, which several machines share."""
