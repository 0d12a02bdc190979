"""Markdown text to blocks, chunks and parts; pure, no disk."""

# Bump when the same file would give other chunks or parts: the index then re-chunks.
CHUNKER_VERSION = 15
