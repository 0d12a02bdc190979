"""Markdown text to blocks, chunks and segments; pure, no disk."""

# Bump when the same file would give other chunks or segments: the index then re-chunks.
CHUNKER_VERSION = 18
