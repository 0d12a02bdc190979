"""Markdown text to blocks, chunks and parts; pure, no disk."""
