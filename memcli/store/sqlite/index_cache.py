"""The cache of a connection for one state of the index, for a process that asks many questions.

Questions about the same notes read the same chunks, cut the same segments into tokens and look up
the same words. The cache keeps them until the state changes or the cache is too large. A command
that asks once never imports this module.
"""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from memcli.store.records import ChunkLines, Key
from memcli.store.sqlite import excerpts, keywords, vectors
from memcli.store.sqlite.driver import rows
from memcli.store.sqlite.excerpts import ChunkRow
from memcli.types import KnownFile

MOST_BYTES = 32 << 20  # by the estimates below, for CPython's objects
SEGMENT_BYTES, TOKEN_BYTES, MATCH_BYTES, VECTOR_BYTES = 400, 60, 80, 100
MOST_LISTED = 10_000  # in a larger index, the chunks of a word are not cached


class IndexCache:
    """Chunks, tokens of texts, and the chunks of each word that were read."""

    def __init__(self, version: int, chunks: int) -> None:
        self.version = version
        self.known: dict[Key, KnownFile] | None = None
        self.lines: dict[int, ChunkLines] = {}
        self.bytes = 0
        self._chunks: dict[int, ChunkRow] = {}
        self._tokens: dict[str, tuple[str, ...]] = {}
        self._vectors: dict[int, bytes] = {}
        self._matches: dict[str, frozenset[int]] = {}
        self.is_small = chunks <= MOST_LISTED

    def chunks(
        self, connection: apsw.Connection, chunk_ids: Sequence[int], fingerprint: str | None
    ) -> list[ChunkRow]:
        """Return chunks, with the numbers of the vectors of an encoder."""
        known = self._chunks
        missing = [chunk_id for chunk_id in chunk_ids if chunk_id not in known]
        new = excerpts.chunk_rows(connection, missing, fingerprint) if missing else {}
        self.bytes += sum(
            2 * len(c.text) + SEGMENT_BYTES * (2 + len(c.segments)) for c in new.values()
        )
        known |= new
        return [known[chunk_id] for chunk_id in chunk_ids if chunk_id in known]

    def tokens(self, connection: apsw.Connection, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the tokens of texts."""
        known = self._tokens
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        for text, tokens in zip(missing, keywords.tokens(connection, missing), strict=True):
            known[text] = tokens
            self.bytes += len(text) + TOKEN_BYTES * (2 + len(tokens))
        return [known[text] for text in texts]

    def vectors(self, connection: apsw.Connection, numbers: Sequence[int]) -> dict[int, bytes]:
        """Return unpacked vectors, by the numbers of their rows."""
        known = self._vectors
        missing = [number for number in numbers if number not in known]
        new = vectors.unpacked_of(connection, missing) if missing else {}
        known |= new
        self.bytes += sum(VECTOR_BYTES + len(vector) for vector in new.values())
        return {number: known[number] for number in numbers}

    def matches(self, connection: apsw.Connection, match: str) -> frozenset[int] | None:
        """Return the chunks that match an expression; None in a large index, with very many."""
        if not self.is_small:
            return None
        chunks = self._matches.get(match)
        if chunks is None:
            listed = rows(connection, "SELECT rowid FROM fts WHERE fts MATCH ?", (match,))
            chunks = self._matches[match] = frozenset([chunk_id for (chunk_id,) in listed])
            self.bytes += MATCH_BYTES * (4 + len(chunks))
        return chunks
