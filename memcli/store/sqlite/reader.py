"""Answer from one state of the index file: a read-only connection and its read transaction.

It returns the content of rows and how well they match; callers do the rest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import compress

from memcli import system
from memcli.checking import TYPE_CHECKING, Any
from memcli.errors import IndexMissingError
from memcli.store import quantize
from memcli.store.records import (
    ChunkLines,
    Facts,
    Key,
    KeywordMatch,
    Neighbour,
    RetrieverResults,
    Scope,
    TermChunks,
    Totals,
)
from memcli.store.sqlite import coarse, driver, excerpts, keywords, schema, vectors
from memcli.store.sqlite.excerpts import ChunkRow, StoredChunks
from memcli.store.sqlite.filters import LAST_OF_ANY, Select, select_chunks
from memcli.store.sqlite.fts_query import expression, phrase
from memcli.types import Candidate, KnownFile, SegmentScore, Term, TermQuery

if TYPE_CHECKING:
    from memcli.store.run_records import VectorSearch
    from memcli.store.sqlite.index_cache import IndexCache
    from memcli.store.tiers import Tier

# Searching the codes of this many vectors takes some milliseconds.
MANY_VECTORS = 32_768
# The page cache, in KiB; the default of SQLite is 2,000. In a large index, the rows of hundreds of
# chunks are far apart, and lengths of chunks are read again for each term. A search among a million
# chunks took 285 ms of CPU time; with this cache it takes 227, with twice as much no less.
CACHE_KIB = 32_000


class Reader(StoredChunks):
    """An open index, read-only; a `port.Snapshot` inside `snapshot`."""

    def __init__(self, path: str, tiers: Sequence[Tier] = ()) -> None:
        """Open the index; IndexMissingError if it does not exist."""
        if not os.path.exists(path):
            raise IndexMissingError(f"there is no index at {path}", hint="memcli index")
        opened = driver.connect(path, write=False)
        super().__init__(path, opened.connection)
        self._tiers, self.vec_problem = tiers, opened.vec_problem
        self._file = opened.file
        self._was_used = False
        self._cache: IndexCache | None = None  # what earlier questions have read of this state
        self._facts: Facts | None = None  # of the open state
        # The last rankings of the open state, with the scores of all matches.
        self._weighed: list[tuple[list[KeywordMatch], Mapping[int, float]]] = []
        with driver.understood(path), driver.closed_on_failure(self.connection):
            self.connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            schema.check(self.connection, path)

    def close(self) -> None:
        self.connection.close()

    def is_current(self) -> bool:
        """Return whether the file is still the one that was opened."""
        return system.is_at(self.path, self._file)

    @contextmanager
    def snapshot(self) -> Iterator[Reader]:
        """Open one state of the index for the block."""
        with driver.translated(self.path):
            self.connection.execute("BEGIN")
            try:
                self._rows("SELECT 1 FROM meta LIMIT 1")  # this chooses the state
                if self._was_used:
                    self._keep()
                yield self
            finally:
                self._facts, self._weighed = None, []
                if self.connection.in_transaction:  # a fault may have ended it
                    self.connection.execute("ROLLBACK")

    @property
    def facts(self) -> Facts:
        if self._facts is not None:
            return self._facts
        facts = super().facts
        if self.connection.in_transaction:
            self._facts = facts
        return facts

    def known(self) -> dict[Key, KnownFile]:
        if self._cache is None:
            return super().known()
        if self._cache.known is None:
            self._cache.known = super().known()
        return dict(self._cache.known)

    def vector_search(self) -> VectorSearch:
        from memcli.store.run_records import VectorSearch

        by = "scan" if self.vec_problem else "sqlite-vec"
        return VectorSearch(by, self._vec_table() is None, self.vec_problem)

    def tokens(self, prepared: Sequence[str]) -> list[tuple[str, ...]]:
        cut = self._cache.tokens if self._cache else keywords.tokens
        return cut(self.connection, prepared)

    def occurring(self, terms: Sequence[Term]) -> frozenset[Term]:
        with driver.understood(self.path):
            if self._cache and len(terms) <= keywords.MANY_TERMS:
                matches = [self._cache.matches(self.connection, phrase(term)) for term in terms]
                if None not in matches:
                    return frozenset(compress(terms, matches))
            return keywords.occurring(self.connection, terms)

    def frequencies(self, terms: Sequence[Term]) -> list[int]:
        with driver.understood(self.path):
            return [keywords.frequency(self.connection, phrase(term)) for term in terms]

    def matching_chunks(
        self, queries: Sequence[Term | TermQuery], chunk_ids: Sequence[int]
    ) -> list[TermChunks]:
        with driver.understood(self.path):
            return [self._chunks_with(each, chunk_ids) for each in queries]

    def totals(self, query: TermQuery) -> Totals:
        from memcli.store.sqlite.bm25 import totals

        with driver.understood(self.path):
            return totals(self.connection, expression(query) or "")

    def by_keyword(
        self, query: TermQuery, limit: int, scope: Scope, totals: Totals | None = None
    ) -> list[KeywordMatch]:
        with driver.understood(self.path):
            scores = self._bm25(query, select_chunks(scope), totals)
            best = keywords.best(self.connection, scores, limit)
        ranked = [KeywordMatch(chunk_id, score) for chunk_id, score in best]
        self._weighed = [*self._weighed[-1:], (ranked, scores)]
        return ranked

    def _bm25(
        self, query: TermQuery, within: Select | None, totals: Totals | None
    ) -> dict[int, float]:
        """Return the BM25 of all matches: by this index only, or by all that are searched."""
        if totals is None and not (query.also or query.together):
            return keywords.scores(self.connection, expression(query), within)
        from memcli.store.sqlite import bm25

        return bm25.scores(self.connection, query, within, totals)

    def by_vector(
        self, vector: bytes | None, limit: int, scope: Scope
    ) -> Callable[[], Sequence[Neighbour]]:
        """Start to look for the nearest texts; a large index uses a connection in a thread."""
        facts, table = self.facts, self._vec_table()
        fingerprint = facts.fingerprint
        if vector is None or fingerprint is None:
            return list
        tiers = self._clean_tiers(table)
        query = coarse.VectorQuery(fingerprint, vector, limit, select_chunks(scope), tiers=tiers)

        def ask(connection: Any, state: str = "") -> vectors.Nearest:  # noqa: ANN401
            return vectors.nearest(connection, table, query._replace(state=state))

        aside = None
        many = "SELECT 1 FROM vectors WHERE id > ? LIMIT 1"
        if table is not None and self._rows(many, (MANY_VECTORS,)):
            from memcli.store.sqlite.large_index import in_background, often

            revision = str(facts.revision)
            state = f"{self._file.st_dev} {self._file.st_ino} {table} {revision}"
            cached = state if often(self.path, state) else ""
            aside = in_background(self.path, revision, lambda connection: ask(connection, cached))

        def near() -> list[Neighbour]:
            neighbours = aside() if aside else None
            with driver.understood(self.path):
                neighbours = ask(self.connection) if neighbours is None else neighbours
                tier, cosines = neighbours[0], dict(neighbours[1])
                owners = vectors.owners(self.connection, [*cosines], scope)
            placed = [Neighbour(hash_, cosines[hash_], ids, tier) for hash_, ids in owners.items()]
            return sorted(placed, key=lambda text: -text.cosine)[:limit]

        return near

    def dated(self, spans: Sequence[tuple[str, str]], limit: int, scope: Scope) -> list[int]:
        select, values = select_chunks(scope) or ("", [])
        within = f" AND c.id IN ({select})" if select else ""
        result: list[int] = []
        for start, end in spans:
            newest = self._rows(
                f"SELECT c.id {excerpts.CHUNKS} WHERE c.date BETWEEN ? AND {LAST_OF_ANY}"
                f" AND coalesce(c.first_day, c.date) <= ?{within}"
                " ORDER BY c.date DESC, d.source, d.path, c.ordinal LIMIT ?",
                (start, end, end, *values, limit),
            )
            result += [chunk_id for (chunk_id,) in newest]
        return result

    def vectors(self, chunk_ids: Sequence[int]) -> dict[int, list[bytes]]:
        facts = self.facts
        rows_ = self._typed(
            {"p.chunk_id": driver.WHOLE, "v.vector": driver.BLOB},
            f"FROM parts p JOIN vectors v ON v.hash = p.hash AND v.encoder = {vectors.ENCODER}"
            f" WHERE p.chunk_id IN ({driver.marks(chunk_ids)}) ORDER BY p.chunk_id, p.no",
            (facts.fingerprint, *chunk_ids),
        )
        by_chunk: dict[int, list[bytes]] = {}
        for chunk_id, vector in rows_:
            whole = quantize.unpacked(vector)[: 4 * (facts.dimension or 0)]
            by_chunk.setdefault(chunk_id, []).append(whole)
        return by_chunk

    def candidates(self, chunk_ids: Sequence[int], retrievers: RetrieverResults) -> list[Candidate]:
        if not chunk_ids:
            return []
        with driver.understood(self.path):
            scores = self._scores(chunk_ids, retrievers)
            read = self._chunk_rows(chunk_ids)
            cosines = self._cosines(read, retrievers)
        made = []
        for row in sorted(read, key=lambda row: (*row.about.document, row.ordinal)):
            about, tokens, text, authority, importance, _, named_by, segments = row
            scored = tuple(
                SegmentScore(first, last, start, end, cosines.get(number))
                for number, first, last, start, end in segments
            )
            bm25 = scores.get(about.chunk_id, 0.0)
            chunk = Candidate(about, tokens, text, authority, importance, scored, bm25)
            made.append(chunk._replace(named_by=named_by) if named_by else chunk)
        return made

    def lines_of(self, chunk_ids: Sequence[int]) -> dict[int, ChunkLines]:
        with driver.understood(self.path):
            known = self._cache.lines if self._cache else {}
            missing = [chunk_id for chunk_id in chunk_ids if chunk_id not in known]
            known |= excerpts.lines_of(self.connection, missing) if missing else {}
        return {chunk_id: known[chunk_id] for chunk_id in chunk_ids if chunk_id in known}

    def _vec_table(self) -> str | None:
        behind = self.vec_problem or self.fact("vec_behind") == "1"
        return None if behind else self.fact("vec_table")

    def _clean_tiers(self, table: str | None) -> Sequence[Tier]:
        """List the tiers that have their codes next to a table of codes."""
        if not self._tiers or table is None:
            return ()
        with driver.understood(self.path):
            names = vectors.tiers_beside(self.connection, table)
        return [tier for tier in self._tiers if tier.components in names]

    def _scores(self, chunk_ids: Sequence[int], retrievers: RetrieverResults) -> dict[int, float]:
        """Return the BM25 of chunks; the scores of the retriever are used again."""
        scores = {ranked.chunk_id: ranked.bm25 for ranked in retrievers.keyword}
        missing = [chunk_id for chunk_id in chunk_ids if chunk_id not in scores]
        if not missing:
            return scores
        weighed = [every for ranked, every in self._weighed if ranked is retrievers.keyword]
        if not weighed:
            among = driver.marks(missing), missing
            weighed.append(self._bm25(retrievers.query, among, retrievers.totals))
        return {**weighed[0], **scores}

    def _chunk_rows(self, chunk_ids: Sequence[int]) -> Sequence[ChunkRow]:
        self._was_used = True
        fingerprint = self.facts.fingerprint
        if self._cache:
            return self._cache.chunks(self.connection, chunk_ids, fingerprint)
        return [*excerpts.chunk_rows(self.connection, chunk_ids, fingerprint).values()]

    def _cosines(
        self, chunks: Sequence[ChunkRow], retrievers: RetrieverResults
    ) -> Mapping[int | None, float]:
        """Return the cosines of the segments of chunks, by the numbers of their vectors."""
        numbers = [s[0] for chunk in chunks for s in chunk.segments if s[0] is not None]
        if retrievers.vector is None or not numbers:
            return {}
        read = self._cache.vectors if self._cache else vectors.unpacked_of
        return vectors.cosines(self.connection, retrievers.vector, read(self.connection, numbers))

    def _chunks_with(self, query: Term | TermQuery, chunk_ids: Sequence[int]) -> TermChunks:
        match = phrase(query) if isinstance(query, Term) else expression(query)
        if match is None:
            return TermChunks(0, frozenset())
        matches = self._cache.matches(self.connection, match) if self._cache else None
        if matches is not None:
            return TermChunks(len(matches), matches.intersection(chunk_ids))
        return keywords.count_matches(self.connection, match, chunk_ids)

    def _keep(self) -> None:
        """Cache what is read of this state from now on, unless the cache is too large."""
        from memcli.store.sqlite.index_cache import MOST_BYTES, IndexCache

        version = self.connection.pragma("data_version")
        if self._cache is None or self._cache.version != version or self._cache.bytes > MOST_BYTES:
            self._cache = IndexCache(version, self.counts().chunks)
