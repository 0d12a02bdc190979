"""Read the index for one search: a read-only connection and one read transaction.

It answers with candidates: chunks of either leg with the raw score of both. How scores become
a ranking is left to `search`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from typing import Any, NamedTuple

import apsw

from memcli.errors import IndexMissingError
from memcli.store.sqlite import coarse, keywords, lineage, schema, vectors
from memcli.store.sqlite.documents import Counts, read_counts, read_known
from memcli.store.sqlite.driver import connect, rows, translated, understood
from memcli.store.sqlite.filters import select_chunks
from memcli.store.sqlite.match import expression, phrase
from memcli.store.sqlite.vectors import Near
from memcli.types import (
    About,
    Candidate,
    Filters,
    Known,
    PartScore,
    Skip,
    SourceLines,
    Term,
    Wanted,
)


class SourceCounts(NamedTuple):
    """How much the index holds of one source."""

    documents: int
    chunks: int
    first_date: str | None
    last_date: str | None


class Legs(NamedTuple):
    """What recall is asked for."""

    wanted: Wanted  # any term
    literal: Wanted  # all terms, or a phrase, or an identifier
    vector: bytes | None
    dates: tuple[tuple[str, str], ...]  # spans whose chunks are candidates too
    universe: int  # candidates a leg
    filters: Filters


class Reader:
    """An open store that cannot change it."""

    def __init__(self, path: str) -> None:
        """Open the store; IndexMissingError where there is none."""
        if not os.path.exists(path):
            raise IndexMissingError(f"there is no index at {path}", hint="memcli index")
        opened = connect(path, write=False)
        self.path = path
        self.vec_problem = opened.vec_problem
        self._connection = opened.connection
        with translated(path):
            schema.check(self._connection, path)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _rows(self, sql: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with translated(self.path):
            return rows(self._connection, sql, bindings)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Hold one state of the index while the block runs; inside another one, that one's."""
        if self._connection.in_transaction:
            yield
            return
        with translated(self.path):
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    def meta(self, key: str) -> str | None:
        """Read a `meta` value."""
        found = self._rows("SELECT value FROM meta WHERE key = ?", (key,))
        return found[0][0] if found else None

    def known(self) -> dict[tuple[str, str], Known]:
        """Give what is remembered of every document."""
        with translated(self.path):
            return read_known(self._connection)

    def skipped(self) -> list[Skip]:
        """List the files whose content is not text."""
        found = self._rows(
            "SELECT source, path, skip FROM documents WHERE skip <> '' ORDER BY source, path",
        )
        return [Skip(*row) for row in found]

    def counts(self) -> Counts:
        """Count documents, chunks, parts and embedded parts."""
        with translated(self.path):
            return read_counts(self._connection)

    def source_counts(self) -> dict[str, SourceCounts]:
        """Count documents and chunks and give the dates covered, by source."""
        found = self._rows(
            "SELECT d.source, count(*), (SELECT count(*) FROM chunks c JOIN documents e"
            " ON e.id = c.document_id WHERE e.source = d.source), min(d.date), max(d.date)"
            " FROM documents d WHERE d.skip = '' GROUP BY d.source ORDER BY d.source",
        )
        return {row[0]: SourceCounts(*row[1:]) for row in found}

    def days(self) -> dict[str, int]:
        """Count the dated documents by ISO date."""
        return dict(self._rows("SELECT date, count(*) FROM documents WHERE date <> '' GROUP BY 1"))

    def summaries(self) -> dict[str, float]:
        """Give the confidence of every summary, by path."""
        with understood(self.path):
            return lineage.confidences(self._connection)

    def behind(self, paths: Sequence[str]) -> dict[str, list[SourceLines]]:
        """Give the raw lines behind some summaries, through summaries of summaries, by path."""
        with translated(self.path):
            return {path: lineage.leaves(self._connection, path) for path in paths}

    def frequency(self, term: Term) -> int:
        """Count the chunks that hold a term; on a large index by estimate."""
        with translated(self.path):
            return keywords.frequency(self._connection, phrase(term))

    def held(self, term: Term, chunk_ids: Sequence[int]) -> tuple[int, set[int]]:
        """Count the chunks that hold a term, and tell which of some chunks do."""
        with translated(self.path):
            return keywords.held(self._connection, phrase(term), chunk_ids)

    def tokens(self, prepared: Sequence[str]) -> list[tuple[str, ...]]:
        """Cut texts that `words.prepare` has made into tokens, stemmed as the index holds them."""
        return keywords.tokens(self._connection, prepared)

    @property
    def is_exact(self) -> bool:
        """Tell that every vector is compared; a large index is searched by coarse codes first."""
        table = self._vec_table()
        return table is None or not coarse.is_coarse(table)

    def texts(self) -> Iterator[str]:
        """Give the text of every chunk."""
        with translated(self.path):
            for (text,) in self._connection.execute("SELECT text FROM chunks"):
                yield text

    def integrity(self) -> str:
        """Check the whole file: "ok", or the first fault."""
        from memcli.store.sqlite.integrity import first_fault

        return first_fault(self._connection, self.path)

    def begin_dense(self, query: bytes | None, k: int, filters: Filters) -> Callable[[], Near]:
        """Begin to look for the k texts nearest to a query, and give what waits for them.

        In a large index they are looked for in the background.
        """
        fingerprint, table = self.meta("fingerprint"), self._vec_table()
        if query is None or fingerprint is None:
            return list
        chunk_filter = select_chunks(filters)

        def ask(connection: apsw.Connection) -> Near:
            return vectors.nearest(connection, table, fingerprint, query, k, chunk_filter)

        aside = None
        if table is not None and coarse.is_coarse(table):
            from memcli.store.sqlite.aside import Aside

            aside = Aside(self.path, self.meta("revision") or "0", ask)

        def near() -> Near:
            found = aside.result() if aside else None
            with translated(self.path):
                return ask(self._connection) if found is None else found

        return near

    def recall(self, legs: Legs, dense: Callable[[], Near]) -> list[Candidate]:
        """Collect the candidates of both legs with the raw scores of both."""
        with understood(self.path):
            chunk_filter = select_chunks(legs.filters)
            match, exactly = expression(legs.wanted), expression(legs.literal)
            lexical = self._lexical(match, legs.universe, chunk_filter)
            literal = self._lexical(exactly, legs.universe, chunk_filter)
            near = dense()
            owners = self._owners(near, chunk_filter)
            ranks = {chunk: rank for rank, (chunk, _) in enumerate(lexical, start=1)}
            dense_ranks = {chunk: rank for rank, chunk in enumerate(owners, start=1)}
            dated = self._dated(legs.dates, legs.universe, chunk_filter)
            ids = sorted({*ranks, *dense_ranks, *(chunk for chunk, _ in literal), *dated})
            if not ids:
                return []
            scores = dict(lexical)
            missing = [i for i in ids if i not in scores]
            if missing and match:
                scores |= keywords.scores(self._connection, match, missing)
            literals = keywords.held(self._connection, exactly, ids)[1] if exactly else set()
            parts = self._parts(legs.vector, ids, near)
            hydrated = self._hydrate(ids)
            for day in {day for row in hydrated for day in row[8:10] if day}:
                date.fromisoformat(day)  # its age will be asked
            headings = json.loads(f"[{','.join(row[4] for row in hydrated)}]")
            return [
                Candidate(
                    About._make((*row[:4], tuple(heading_path), *row[5:14])),
                    tokens=row[14],
                    text=row[15],
                    text_hash=row[16],
                    authority=row[17],
                    importance=row[18],
                    parts=tuple(parts.get(row[0], ())),
                    bm25=scores.get(row[0], 0.0),
                    lexical_rank=ranks.get(row[0]),
                    dense_rank=dense_ranks.get(row[0]),
                    literal=row[0] in literals,
                )
                for row, heading_path in zip(hydrated, headings, strict=True)
            ]

    def _lexical(
        self, match: str | None, limit: int, chunk_filter: tuple[str, list[Any]] | None
    ) -> list[tuple[int, float]]:
        return keywords.ranked(self._connection, match, limit, chunk_filter) if match else []

    def _dated(
        self,
        spans: Sequence[tuple[str, str]],
        limit: int,
        chunk_filter: tuple[str, list[Any]] | None,
    ) -> list[int]:
        select, values = chunk_filter or ("", [])
        within = f" AND id IN ({select})" if select else ""
        found: list[int] = []
        for start, end in spans:
            found += [row[0] for row in self._rows(
                f"SELECT id FROM chunks WHERE date BETWEEN ? AND ?{within}"
                " ORDER BY date DESC, id LIMIT ?",
                (start, end, *values, limit),
            )]  # fmt: skip
        return found

    def _owners(self, near: Near, chunk_filter: tuple[str, list[Any]] | None) -> list[int]:
        """Rank the chunks of the nearest texts."""
        if not near:
            return []
        select, values = chunk_filter or ("", [])
        within = f" AND chunk_id IN ({select})" if select else ""
        marks = ",".join("?" * len(near))
        owners: dict[bytes, list[int]] = {}
        for hash_, chunk_id in self._rows(
            f"SELECT hash, chunk_id FROM parts WHERE hash IN ({marks}){within} ORDER BY chunk_id",
            (*(hash_ for hash_, _ in near), *values),
        ):
            owners.setdefault(hash_, []).append(chunk_id)
        order = (chunk for hash_, _ in near for chunk in owners.get(hash_, ()))
        return list(dict.fromkeys(order))

    def _vec_table(self) -> str | None:
        behind = self.vec_problem or self.meta("vec_behind") == "1"
        return None if behind else self.meta("vec_table")

    def _parts(
        self, vector: bytes | None, ids: Sequence[int], near: Near
    ) -> Mapping[int, list[PartScore]]:
        """List the parts of chunks with their cosines, of which some are known."""
        marks = ",".join("?" * len(ids))
        found = self._rows(
            'SELECT chunk_id, hash, start_line, end_line, start, "end" FROM parts'
            f" WHERE chunk_id IN ({marks}) ORDER BY id",
            ids,
        )
        scores = dict(near)
        fingerprint = self.meta("fingerprint")
        if vector is not None and fingerprint is not None:
            missing = {row[1] for row in found if row[1] not in scores}
            scores |= vectors.cosines(
                self._connection, fingerprint, vector, sorted(missing), has_vec=not self.vec_problem
            )
        parts: dict[int, list[PartScore]] = {}
        for chunk_id, hash_, *place in found:
            parts.setdefault(chunk_id, []).append(PartScore._make((*place, scores.get(hash_))))
        return parts

    def _hydrate(self, ids: Sequence[int]) -> list[tuple[Any, ...]]:
        marks = ",".join("?" * len(ids))
        return self._rows(
            "SELECT c.id, d.source, d.path, c.anchor, c.heading_path, d.title, c.start_line,"
            " c.end_line, c.date, d.date, d.kind, d.scope, d.source_kind, d.trust,"
            " c.tokens, c.text, c.text_hash, d.authority, d.importance"
            f" FROM chunks c JOIN documents d ON d.id = c.document_id WHERE c.id IN ({marks})"
            " ORDER BY d.source, d.path, c.ordinal",
            ids,
        )
