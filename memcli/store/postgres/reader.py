"""Answer from one state of a workspace in a shared index: a read-only transaction of one view.

It returns rows and how well they match; callers decide what to do with them. It keeps the words,
places and chunks that it has read for the next question to the same state.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from itertools import groupby
from operator import itemgetter

from memcli.checking import TYPE_CHECKING, Any
from memcli.store.documents import (
    AlwaysDocument,
    IndexedDocument,
    Linking,
    TitledDocument,
    lines_of,
    turns_of,
)
from memcli.store.postgres import vectors
from memcli.store.postgres.filters import (
    CHUNKS,
    FIRST_DAY,
    NAMED_BY,
    NAMED_CHUNKS,
    PLACED,
    last_of_any,
    within,
)
from memcli.store.postgres.libpq import Connection
from memcli.store.postgres.postings import ChunkPlaces, Postings
from memcli.store.postgres.session import WorkspaceRow
from memcli.store.postgres.statements import Row, Statement, Values
from memcli.store.postgres.workspace_rows import WorkspaceRows
from memcli.store.records import (
    ChunkLines,
    Facts,
    First,
    Key,
    KeywordMatch,
    Neighbour,
    RetrieverResults,
    Scope,
    TermChunks,
    Totals,
    checked_object,
    strings,
)
from memcli.store.run_records import VectorSearch
from memcli.store.tokens import cut
from memcli.types import (
    SCOPES,
    TRUSTS,
    About,
    Candidate,
    Excerpt,
    Lines,
    SegmentScore,
    Term,
    TermQuery,
)

if TYPE_CHECKING:
    from memcli.store.postgres.address import Address

# Columns of chunks c of documents d, in the order of the fields of About.
_ABOUT = (
    "c.id, d.source, d.path, c.anchor, c.heading_path, d.title, c.start_line, c.end_line,"
    " c.date, d.date, d.kind, d.scope, d.source_kind, d.trust, c.first_day"
)
_WIDTH = len(About._fields)
_EXCERPT = "c.text, c.start_byte, c.end_byte, c.ordinal"
_HEADINGS = About._fields.index("heading_path")
MOST_LINES = 1 << 24  # of a document
_CANDIDATE = f"c.ordinal, c.tokens, c.text, d.authority, d.importance, {NAMED_BY}"
COARSE = "coarse"  # meta key: whether codes are compared first
MOST_BYTES = 32 << 20  # kept between questions, by the estimates below
COUNT_BYTES, ROW_BYTES = 100, 2000  # of CPython's objects, without the text of a row


class SharedReader(WorkspaceRows):
    """One state of a workspace; a `port.Snapshot`."""

    def __init__(self, connection: Connection, address: Address, row: WorkspaceRow) -> None:
        """Take a connection whose transaction has read the row of the workspace."""
        super().__init__(connection, address, row)
        self._words = Postings(connection, row)
        self._places = ChunkPlaces(connection, row.id)
        self._facts: Facts | None = None
        self._speakers: dict[str | None, list[str]] = {}  # by the scope that is left out
        self._lines: dict[int, ChunkLines] = {}
        # Chunks that were read, without the scores of a question, and their places.
        self._chunk_rows: dict[int, tuple[tuple[str, str, int], Candidate]] = {}
        self._chars = 0  # of their texts

    def is_current(self, row: WorkspaceRow) -> bool:
        """Return whether it can answer from this row: same state, and not too much in memory."""
        if _state(row) != _state(self.row):
            return False
        size = COUNT_BYTES * self._words.entries + ROW_BYTES * len(self._chunk_rows)
        if size + 2 * self._chars > MOST_BYTES:
            return False
        self.row, self._facts = row, None
        self._words.forget_question()
        self._places.forget_promised()
        return True

    @property
    def facts(self) -> Facts:
        if self._facts is None:
            with self._asking():
                known = self.row.facts
            origin, changed_at = self.row.origin, self.row.changed_at or ""
            self._facts = known._replace(origin=origin, changed_at=changed_at)
        return self._facts

    def vector_search(self) -> VectorSearch:
        """Return how vectors are searched: in a large workspace, by coarse codes first."""
        return VectorSearch("pgvector", is_exact=not self._is_coarse, problem="")

    def tokens(self, prepared: Sequence[str]) -> list[tuple[str, ...]]:
        return cut(prepared)

    def occurring(self, terms: Sequence[Term]) -> frozenset[Term]:
        with self._asking():
            return self._words.occurring(terms)

    def frequencies(self, terms: Sequence[Term]) -> list[int]:
        with self._asking():
            return self._words.frequencies(terms)

    def matching_chunks(
        self, queries: Sequence[Term | TermQuery], chunk_ids: Sequence[int]
    ) -> list[TermChunks]:
        with self._asking():
            matches = self._words.matching(queries)
        return [
            TermChunks(len(chunks), frozenset(chunks.intersection(chunk_ids))) for chunks in matches
        ]

    def totals(self, query: TermQuery) -> Totals:
        with self._asking():
            return self._words.totals(query)

    def by_keyword(
        self, query: TermQuery, limit: int, scope: Scope, totals: Totals | None = None
    ) -> list[KeywordMatch]:
        with self._asking():
            scores = self._words.scores(query, totals)
            if scope != Scope():
                scores = {c: scores[c] for c in self._places.ordered(scores, scope)}
            ranked = sorted(scores, key=lambda chunk: -scores[chunk])
            if len(ranked) > limit:  # a tie with the last may come before it by place
                least = scores[ranked[limit - 1]]
                ranked = [chunk for chunk in ranked if scores[chunk] >= least]
            if len({scores[chunk] for chunk in ranked}) < len(ranked):
                placed = self._places.ordered(ranked, scope)
                ranked = sorted(placed, key=lambda chunk: -scores[chunk])
        return [KeywordMatch(chunk, scores[chunk]) for chunk in ranked[:limit]]

    def by_vector(
        self, vector: bytes | None, limit: int, scope: Scope
    ) -> Callable[[], Sequence[Neighbour]]:
        """Request the nearest texts with the next statement; return a function that waits."""
        if vector is None or self.facts.fingerprint is None:
            return list
        self._places.ask_ahead(self._words.chunks(), scope)
        asking = vectors.asking_nearest(
            self.id, self._encoder(), vector, limit, scope, is_coarse=self._is_coarse
        )
        promised = self.connection.promise(*asking)

        def near() -> list[Neighbour]:
            with self._asking():
                return vectors.nearest(promised.rows(), limit)

        return near

    def dated(self, spans: Sequence[tuple[str, str]], limit: int, scope: Scope) -> list[int]:
        statements = []
        for start, end in spans:
            values = Values([self.id])
            sql = (
                f"select c.id from {CHUNKS} where c.workspace = $1 and c.date between"
                f" {values(start)} and {values(last_of_any(end))}"
                f" and {FIRST_DAY} <= {values(end)}{within(scope, values)}"
                f" order by c.date desc, {PLACED} limit {values(limit)}"
            )
            statements.append(Statement(sql, values))
        return [chunk_id for rows in self._together(statements) for (chunk_id,) in rows]

    def vectors(self, chunk_ids: Sequence[int]) -> dict[int, list[bytes]]:
        if self.facts.fingerprint is None:
            return {}
        by_chunk: dict[int, list[bytes]] = {}
        for chunk_id, vector in self._rows(
            "select p.chunk, vector_send(v.vector) from memcli.parts p join memcli.vectors v"
            " on v.workspace = p.workspace and v.hash = p.hash and v.encoder = $3"
            " where p.workspace = $1 and p.chunk = any($2::bigint[]) order by p.chunk, p.no",
            (self.id, chunk_ids, self._encoder()),
        ):
            by_chunk.setdefault(chunk_id, []).append(vectors.read(vector))
        return by_chunk

    def candidates(self, chunk_ids: Sequence[int], retrievers: RetrieverResults) -> list[Candidate]:
        if not chunk_ids:
            return []
        scores = {ranked.chunk_id: ranked.bm25 for ranked in retrievers.keyword}
        if others := [chunk_id for chunk_id in chunk_ids if chunk_id not in scores]:
            with self._asking():
                scores |= self._words.scores(retrievers.query, retrievers.totals, others)
        statements = [self._segments(chunk_ids, retrievers.vector)]
        if new := [chunk_id for chunk_id in chunk_ids if chunk_id not in self._chunk_rows]:
            chunks = (
                f"select {_ABOUT}, {_CANDIDATE} from {NAMED_CHUNKS} where c.workspace = $1"
                " and c.id = any($2::bigint[])"
            )
            statements += Statement(chunks, (self.id, new)), self._asking_lines(new)
        segments, *read = self._together(statements)
        if read:
            with self._asking():
                self._keep(*read)
        scored: dict[int, list[SegmentScore]] = {}
        for chunk_id, *fields in segments:
            scored.setdefault(chunk_id, []).append(SegmentScore(*fields))
        rows = [self._chunk_rows[c] for c in chunk_ids if c in self._chunk_rows]
        result = []
        for _, chunk in sorted(rows, key=itemgetter(0)):
            number = chunk.about.chunk_id
            own = tuple(scored.get(number, ()))
            result.append(chunk._replace(segments=own, bm25=scores.get(number, 0.0)))
        return result

    def _keep(self, chunks: Sequence[Row], lines: Sequence[Row]) -> None:
        """Keep chunks that were read, and what `lines_of` returns for them."""
        self._keep_lines(lines)
        for columns in chunks:
            known = _about(columns)
            ordinal, tokens, text, authority, importance, named_by = columns[_WIDTH:]
            _check_lines(known, text)
            chunk = Candidate(known, tokens, text, authority, importance, ())
            chunk = chunk._replace(named_by=checked_object(named_by) if named_by else "")
            self._chunk_rows[known.chunk_id] = (known.source, known.path, ordinal), chunk
            self._chars += len(text)

    def lines_of(self, chunk_ids: Sequence[int]) -> dict[int, ChunkLines]:
        if new := [chunk_id for chunk_id in chunk_ids if chunk_id not in self._lines]:
            with self._asking():
                self._keep_lines(self._rows(*self._asking_lines(new)))
        return {c: self._lines[c] for c in chunk_ids if c in self._lines}

    def _keep_lines(self, rows: Sequence[Row]) -> None:
        for chunk_id, before, after, turns in rows:
            self._lines[chunk_id] = ChunkLines((before, after), turns_of(turns))

    def speakers(self, *, but: str | None = None) -> list[str]:
        if not self.row.has_speakers:
            return []
        if but in self._speakers:
            return self._speakers[but]
        rows = self._rows(
            "select distinct s.name from memcli.speakers s join memcli.documents d"
            " on d.workspace = s.workspace and d.id = s.document"
            " where s.workspace = $1 and d.scope is distinct from $2 order by s.name",
            (self.id, but),
        )
        self._speakers[but] = [name for (name,) in rows]
        return self._speakers[but]

    def preferences(self, limit: int, scope: Scope) -> dict[int, tuple[Lines, ...]]:
        values = Values([self.id])
        rows = self._rows(
            f"select c.id, c.preferences from {CHUNKS} where c.workspace = $1"
            f" and c.preferences <> '[]'{within(scope, values)}"
            f" order by c.date is not null, c.date desc, {PLACED} limit {values(limit)}",
            values,
        )
        with self._asking():
            return {chunk_id: lines_of(text) for chunk_id, text in rows}

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
        which = "d.soft and not d.always" if soft else "d.always"
        rows = self._rows(
            f"select {_ABOUT}, {_EXCERPT}, d.authority from {CHUNKS} where c.workspace = $1"
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

    def _asking_lines(self, chunk_ids: Sequence[int]) -> Statement:
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
        rows = self._rows(
            f"select c.id, c.links, d.front_matter from {NAMED_CHUNKS}"
            " where c.workspace = $1 and c.id = any($2::bigint[])",
            (self.id, chunk_ids),
        )
        with self._asking():
            return {
                chunk: Linking(strings(targets), checked_object(matter))
                for chunk, targets, matter in rows
            }

    def titles(self) -> list[TitledDocument]:
        rows = self._rows(
            "select source, path, title from memcli.documents where workspace = $1", (self.id,)
        )
        return [TitledDocument._make(row) for row in rows]

    def _read(self, test: str, values: Sequence[Any], chunks: str = CHUNKS) -> list[Excerpt]:
        rows = self._rows(
            f"select {_ABOUT}, {_EXCERPT} from {chunks} where c.workspace = $1 and {test}", values
        )
        with self._asking():
            return [_excerpt(row) for row in rows]

    def _together(self, statements: Sequence[Statement]) -> list[list[Row]]:
        with self._asking():
            return self.connection.together(statements)

    @property
    def _is_coarse(self) -> bool:
        return COARSE in self.row.meta

    def _segments(self, chunk_ids: Sequence[int], vector: bytes | None) -> Statement:
        """Write the query for the segments of chunks with their cosines."""
        columns = 'p.chunk, p.start_line, p.end_line, p."start", p."end"'
        where = "where p.workspace = $1 and p.chunk = any($2::bigint[]) order by p.chunk, p.no"
        if vector is None or self.facts.fingerprint is None:
            sql = f"select {columns}, null::float8 from memcli.parts p {where}"
            return Statement(sql, (self.id, chunk_ids))
        return Statement(
            f"select {columns}, {vectors.cosine('$3::vector')} from memcli.parts p"
            " left join lateral (select v.vector from memcli.vectors v where v.workspace = $1"
            " and v.encoder = $4 and v.hash = p.hash"
            f" and {vectors.fits('$3::vector')} offset 0) v on true {where}",
            (self.id, chunk_ids, vectors.written(vector), self._encoder()),
        )


def _state(row: WorkspaceRow) -> WorkspaceRow:
    """Clear the fields that change without a change of content: the writer and its lease."""
    return row._replace(holder=None, is_active=None, left_ns=0)


def _about(row: Sequence[Any]) -> About:
    """Make a record from the first columns of a row; ValueError if memcli has not written it."""
    headings = strings(row[_HEADINGS])
    made = About._make((*row[:_HEADINGS], headings, *row[_HEADINGS + 1 : _WIDTH]))
    _check(made.scope, made.trust, made.date, made.document_date, made.first_day)
    return made


def _check(scope: str, trust: str, *days: str | None) -> None:
    SCOPES.index(scope)
    TRUSTS.index(trust)
    for day in filter(None, days):
        date.fromisoformat(day)


def _excerpt(row: Sequence[Any]) -> Excerpt:
    excerpt = Excerpt(_about(row), *row[_WIDTH:])
    _check_lines(excerpt.about, excerpt.text)
    return excerpt


def _check_lines(place: About, text: str) -> None:
    """Raise ValueError if a text has not the lines of its place: callers count through them."""
    breaks = place.end_line - place.start_line
    if not (0 < place.start_line <= MOST_LINES and 0 <= text.count("\n") - breaks <= 1):
        raise ValueError(f"lines {place.start_line} to {place.end_line} are not those of the text")
