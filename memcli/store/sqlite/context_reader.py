"""Read from the index what a context is made of: rules, newest logs, ranked documents, links."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from memcli.markdown.links import related_targets
from memcli.store.sqlite.driver import understood
from memcli.store.sqlite.filters import select_chunks
from memcli.store.sqlite.reader import Reader
from memcli.types import MEMORY_SOURCE, About, Excerpt, Filters

_EXCERPT = (
    "SELECT c.id, d.source, d.path, c.anchor, c.heading_path, d.title, c.start_line, c.end_line,"
    " c.date, d.date, d.kind, d.scope, d.source_kind, d.trust,"
    " c.text, c.start_byte, c.end_byte, c.ordinal"
    " FROM chunks c JOIN documents d ON d.id = c.document_id"
)
# The documents first: told otherwise, SQLite reads every chunk to ask whose it is.
_OF_THOSE = "WHERE d.id IN (SELECT id FROM documents WHERE"
# Of the documents nobody marked, that of an author's word first; silence is no penalty.
_RULES_FIRST = "coalesce(d.authority, 1.0) DESC, d.source, d.path, c.ordinal"
_LOGS = (
    f"d.source = '{MEMORY_SOURCE}' AND d.kind = 'log' AND d.scope = 'session'"
    " AND d.date IS NOT NULL AND d.trust = 'trusted' AND NOT d.always AND NOT d.soft"
)


class Rated(NamedTuple):
    """A document with what its worth is judged by, and how many chunks can be shown of it."""

    document_id: int
    source: str
    path: str
    date: str | None
    scope: str
    trust: str
    authority: float | None
    importance: float | None
    chunks: int


class Linking(NamedTuple):
    """The authored links of a chunk, those of its document's front matter included."""

    source: str
    path: str
    targets: tuple[str, ...]


class ContextReader(Reader):
    """An open index that also tells what a context is made of."""

    def always(self) -> list[list[Excerpt]]:
        """Read the documents that every context holds, each as its chunks in order."""
        found = self._excerpts(f"{_OF_THOSE} always) ORDER BY {_RULES_FIRST}")
        return [list(run) for _, run in groupby(found, lambda excerpt: excerpt.about.document)]

    def soft(self) -> list[Excerpt]:
        """Read the chunks of the documents that a context holds while there is room."""
        return self._excerpts(f"{_OF_THOSE} soft AND NOT always) ORDER BY {_RULES_FIRST}")

    def newest(self) -> Iterator[Excerpt]:
        """Read the records of dated logs one by one, the newest first."""
        for row in self._rows(f"SELECT d.id FROM documents d WHERE {_LOGS} ORDER BY d.date DESC,"
                              " d.path DESC"):  # fmt: skip
            yield from self._excerpts("WHERE d.id = ? ORDER BY c.ordinal DESC", row)

    def rated(self, filters: Filters) -> list[Rated]:
        """Read every document with a chunk that the filters let through."""
        select, values = select_chunks(filters) or ("SELECT id FROM chunks", [])
        if not self._rows("SELECT 1 FROM lineage LIMIT 1"):  # without summaries views are equal
            select, values = select_chunks(filters._replace(view="all")) or ("", [])
        within = f"WHERE id IN ({select})" if select else ""
        found = self._rows(
            "SELECT d.id, d.source, d.path, d.date, d.scope, d.trust, d.authority, d.importance,"
            f" n.chunks FROM (SELECT document_id, count(*) AS chunks FROM chunks {within}"
            " GROUP BY document_id) n JOIN documents d ON d.id = n.document_id",
            values,
        )
        return [Rated(*row) for row in found]

    def chunks_of(self, document_id: int, filters: Filters) -> list[Excerpt]:
        """Read the chunks of a document that the filters let through, in order."""
        select, values = select_chunks(filters) or ("", [])
        within = f" AND c.id IN ({select})" if select else ""
        return self._excerpts(f"WHERE d.id = ?{within} ORDER BY c.ordinal", (document_id, *values))

    def chunks(self, chunk_ids: Sequence[int]) -> dict[int, Excerpt]:
        """Read some chunks by their ids."""
        found = self._excerpts(f"WHERE c.id IN ({_marks(chunk_ids)})", chunk_ids)
        return {excerpt.about.chunk_id: excerpt for excerpt in found}

    def links(self, chunk_ids: Sequence[int]) -> dict[int, Linking]:
        """Read the links of some chunks; those that an untrusted document makes do not count."""
        found = self._rows(
            "SELECT c.id, d.source, d.path, c.links, d.front_matter FROM chunks c JOIN documents d"
            f" ON d.id = c.document_id WHERE c.id IN ({_marks(chunk_ids)}) AND d.trust = 'trusted'"
            " AND (c.links <> '[]' OR instr(d.front_matter, '\"related\"'))",
            chunk_ids,
        )
        with understood(self.path):
            return {
                row[0]: Linking(
                    row[1],
                    row[2],
                    (*json.loads(row[3]), *related_targets(json.loads(row[4]))),
                )
                for row in found
            }

    def known_paths(self, places: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Tell which of some (source, path) are documents of the index."""
        found = self._rows(
            "SELECT d.source, d.path FROM json_each(?) w JOIN documents d"
            " ON d.source = w.value ->> 0 AND d.path = w.value ->> 1",
            (json.dumps(places),),
        )
        return {(row[0], row[1]) for row in found}

    def named(self, names: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Find documents by title or by file name without ending, in any case.

        The memory's own go first, then those nearest to the root.
        """
        wanted = {name.casefold() for name in names}
        found: dict[str, list[tuple[bool, int, str, str]]] = {}
        for source, path, title in self._rows("SELECT source, path, title FROM documents"):
            stem = path.rpartition("/")[2].rpartition(".")[0]
            for name in {stem.casefold(), title.casefold()} & wanted:
                place = (source != MEMORY_SOURCE, path.count("/"), source, path)
                found.setdefault(name, []).append(place)
        return {name: min(found[name.casefold()])[2:] for name in names if name.casefold() in found}

    def documents(self, places: Sequence[tuple[str, str]]) -> list[Excerpt]:
        """Read the chunks of some documents by (source, path), in order."""
        return self._excerpts(
            "JOIN json_each(?) w ON d.source = w.value ->> 0 AND d.path = w.value ->> 1"
            " ORDER BY d.source, d.path, c.ordinal",
            (json.dumps(places),),
        )

    def _excerpts(self, tail: str, bindings: Sequence[Any] = ()) -> list[Excerpt]:
        with understood(self.path):
            return [
                Excerpt(
                    About._make((*row[:4], tuple(json.loads(row[4])), *row[5:14])),
                    text=row[14],
                    start_byte=row[15],
                    end_byte=row[16],
                    ordinal=row[17],
                )
                for row in self._rows(f"{_EXCERPT} {tail}", bindings)
            ]


def _marks(ids: Sequence[int]) -> str:
    return ",".join("?" * len(ids))
