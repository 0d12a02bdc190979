"""Read chunks and documents with their columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import groupby

from memcli.checking import TYPE_CHECKING, Any
from memcli.store.postgres.filters import CHUNKS, NAMED_CHUNKS, PLACED, within
from memcli.store.postgres.statements import Row, Statement, Values
from memcli.store.postgres.workspace_rows import WorkspaceRows
from memcli.store.records import First, Key, Scope
from memcli.types import SCOPES, TRUSTS, About, Excerpt

if TYPE_CHECKING:
    from memcli.store.documents import AlwaysDocument, IndexedDocument, Linking, TitledDocument

# Columns of chunks c of documents d, in the order of the fields of About.
ABOUT = (
    "c.id, d.source, d.path, c.anchor, c.heading_path, d.title, c.start_line, c.end_line,"
    " c.date, d.date, d.kind, d.scope, d.source_kind, d.trust, c.first_day"
)
_WIDTH = len(About._fields)
_EXCERPT = "c.text, c.start_byte, c.end_byte, c.ordinal"
_HEADINGS = About._fields.index("heading_path")
MOST_LINES = 1 << 24  # of a document


class Rows(WorkspaceRows):
    """The methods of a `port.Snapshot` that read chunks and documents."""

    def excerpts(self, chunk_ids: Sequence[int]) -> dict[int, Excerpt]:
        if not chunk_ids:
            return {}
        read = self._read("c.id = any($2::bigint[])", (self.id, chunk_ids), NAMED_CHUNKS)
        return {excerpt.about.chunk_id: excerpt for excerpt in read}

    def excerpts_of(self, documents: Sequence[Key], scope: Scope) -> list[Excerpt]:
        if not documents:
            return []
        values = Values([self.id])
        names = values(json.dumps(documents, ensure_ascii=False))
        return self._read(
            "(d.source, d.path) in (select e ->> 0, e ->> 1 from"
            f" json_array_elements({names}::json) e){within(scope, values)} order by {PLACED}",
            values,
        )

    def newest(self, scope: Scope) -> Iterator[Excerpt]:
        """Yield dated documents without a mark, newest first, each from its end.

        Callers want a few, so documents are read in batches that grow.
        """
        at, lot = 0, 8
        while True:
            values = Values([self.id])
            documents = self._rows(
                "select d.id from memcli.documents d where d.workspace = $1 and d.date is not null"
                " and not d.always and not d.soft and exists (select 1 from memcli.chunks c where"
                f" c.workspace = d.workspace and c.document = d.id{within(scope, values)})"
                " order by d.date desc, d.path desc, d.source desc"
                f" limit {values(lot)} offset {values(at)}",
                values,
            )
            if not documents:
                return
            values = Values([self.id])
            ids = values([number for (number,) in documents])
            yield from self._read(
                f"d.id = any({ids}::bigint[]){within(scope, values)} order by d.date desc,"
                " d.path desc, d.source desc, c.ordinal desc",
                values,
            )
            at, lot = at + lot, lot * 4

    def marked(self, *, soft: bool) -> list[AlwaysDocument]:
        from memcli.store.documents import AlwaysDocument

        which = "d.soft and not d.always" if soft else "d.always"
        rows = self._rows(
            f"select {ABOUT}, {_EXCERPT}, d.authority from {CHUNKS} where c.workspace = $1"
            f" and {which} and (d.always or d.soft) order by {PLACED}",
            (self.id,),
        )
        runs = groupby(rows, lambda row: row[1:3])
        lots = ([*run] for _, run in runs)
        with self._asking():
            return [
                AlwaysDocument(lot[0][-1], tuple(_excerpt(row[:-1]) for row in lot)) for lot in lots
            ]

    def documents(self, scope: Scope, first: First | None = None) -> list[IndexedDocument]:
        from memcli.store.documents import IndexedDocument

        values = Values([self.id])
        test, bare = within(scope, values), within(scope, values, "d")
        columns = ", ".join(f"d.{name}" for name in IndexedDocument._fields[:-2])
        total, ending = "0", "order by d.source, d.path"
        if first is not None:
            date = {"path": "", "date": "d.date, ", "newest": "d.date desc nulls last, "}
            total = "count(*) over ()"
            ending = (
                f"and d.skip = '' order by {date[first.order]}d.source, d.path"
                f" limit {values(first.limit)}"
            )
        # Look up the chunks of each document: for a table that was just filled, the server
        # assumes few rows and would compare every chunk with every document.
        own_chunks = "c.workspace = d.workspace and c.document = d.id"
        rows = self._rows(
            f"select {columns}, n.chunks, {total} from memcli.documents d cross join lateral"
            f" (select count(*) as chunks from memcli.chunks c where {own_chunks}{test}) n"
            " where d.workspace = $1 and (n.chunks > 0 or exists (select 1 from (values (1)) o"
            f" left join memcli.chunks c on {own_chunks} where c.id is null{bare})) {ending}",
            values,
        )
        with self._asking():
            documents = [IndexedDocument._make(row) for row in rows]
            for each in documents:
                _check(each.scope, each.trust, each.date, each.first_day)
                checked_object(each.front_matter)
            return documents

    def asking_lines(self, chunk_ids: Sequence[int]) -> Statement:
        """Write the query for the lines at which chunks begin and end, and their speakers."""
        # The chunks of a document are numbered in order.
        beside = (
            "left join lateral (select o.start_byte, o.end_byte from memcli.chunks o where"
            " o.workspace = c.workspace and o.document = c.document and o.id = c.id"
        )
        return Statement(
            "select c.id, coalesce(b.end_byte = c.start_byte, false),"
            " coalesce(a.start_byte = c.end_byte, false), c.turns from memcli.chunks c"
            f" {beside} - 1 offset 0) b on true {beside} + 1 offset 0) a on true"
            " where c.workspace = $1 and c.id = any($2::bigint[])",
            (self.id, chunk_ids),
        )

    def links(self, chunk_ids: Sequence[int]) -> dict[int, Linking]:
        from memcli.store.documents import Linking

        rows = self._rows(
            f"select c.id, c.links, d.front_matter from {NAMED_CHUNKS}"
            " where c.workspace = $1 and c.id = any($2::bigint[])",
            (self.id, chunk_ids),
        )
        with self._asking():
            return {
                chunk: Linking(_strings(targets), checked_object(matter))
                for chunk, targets, matter in rows
            }

    def titles(self) -> list[TitledDocument]:
        from memcli.store.documents import TitledDocument

        rows = self._rows(
            "select source, path, title from memcli.documents where workspace = $1", (self.id,)
        )
        return [TitledDocument._make(row) for row in rows]

    def _read(self, test: str, values: Sequence[Any], chunks: str = CHUNKS) -> list[Excerpt]:
        rows = self._rows(
            f"select {ABOUT}, {_EXCERPT} from {chunks} where c.workspace = $1 and {test}", values
        )
        with self._asking():
            return [_excerpt(row) for row in rows]

    def _together(self, statements: Sequence[Statement]) -> list[list[Row]]:
        with self._asking():
            return self.connection.together(statements)


def about(row: Sequence[Any]) -> About:
    """Make a record from the first columns of a row; ValueError if memcli has not written it."""
    headings = _strings(row[_HEADINGS])
    made = About._make((*row[:_HEADINGS], headings, *row[_HEADINGS + 1 : _WIDTH]))
    _check(made.scope, made.trust, made.date, made.document_date, made.first_day)
    return made


def _check(scope: str, trust: str, *days: str | None) -> None:
    SCOPES.index(scope)
    TRUSTS.index(trust)
    for day in filter(None, days):
        date.fromisoformat(day)


def _strings(text: str) -> tuple[str, ...]:
    strings = json.loads(text)
    if not isinstance(strings, list) or not all(isinstance(each, str) for each in strings):
        raise ValueError("a list of texts is something else")
    return tuple(strings)


def checked_object(text: str) -> str:
    """Return front matter as it is; ValueError if it is not a JSON object."""
    if text != "{}" and not isinstance(json.loads(text), dict):
        raise ValueError("front matter is no object")
    return text


def _excerpt(row: Sequence[Any]) -> Excerpt:
    excerpt = Excerpt(about(row), *row[_WIDTH:])
    check_lines(excerpt.about, excerpt.text)
    return excerpt


def check_lines(place: About, text: str) -> None:
    """Raise ValueError if a text has not the lines of its place: callers count through them."""
    breaks = place.end_line - place.start_line
    if not (0 < place.start_line <= MOST_LINES and 0 <= text.count("\n") - breaks <= 1):
        raise ValueError(f"lines {place.start_line} to {place.end_line} are not those of the text")
