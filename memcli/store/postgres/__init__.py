"""The index on a database server that many machines share: PostgreSQL with pgvector."""
