"""The records that a search exchanges with a store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from memcli.record import Record
from memcli.types import Filters, SourceLines, Term, TermQuery, Turn

Key = tuple[str, str]  # (source, path) of a document
MOST_DAYS = 92  # of a span that a date names: at most a quarter


class Facts(Record):
    """The facts that a store remembers; None if unknown."""

    revision: int = 0  # grows with every change that an answer can depend on
    fingerprint: str | None = None  # of the vectors that are searched
    dimension: int | None = None
    model: str | None = None  # the files of the model that made them, as they were verified
    language: str | None = None  # of most texts; see `embedding.registry`
    chunking: str | None = None  # how documents were cut
    sources: str | None = None  # the settings of the sources
    broken: str | None = None  # documents whose front matter is not YAML, as JSON
    replaced: str | None = None  # documents with bytes that were not text, as JSON
    mounts: str | None = None  # folders that were mount points, as JSON, once all was read
    # A change does not write these two, which a server sets.
    origin: str = ""  # machine and folder that store it; "" if only this user does
    changed_at: str = ""  # ISO time with zone; "" if the store does not keep it


class Counts(Record):
    """The counts of a store."""

    documents: int
    chunks: int
    segments: int
    embedded: int  # segments with a vector of the store's own fingerprint
    left_out: int = 0  # segments that its encoder cannot read

    @property
    def embeddable(self) -> int:
        """Count the segments that have, or wait for, a vector."""
        return self.segments - self.left_out


# The last revision at which no text waited for a vector: its number, and the counts of documents,
# chunks, segments and segments left out.
EMBEDDED_AT = "embedded_at"
DAY_SECONDS = 86_400


def counts_at(revision: int | str, text: str) -> Counts | None:
    """Return the counts in EMBEDDED_AT, if they are of this revision."""
    at, *counted = text.split(" ")
    if at != str(revision) or len(counted) < 3:
        return None
    documents, chunks, segments, left_out = map(int, (*counted, "0")[:4])
    return Counts(documents, chunks, segments, segments - left_out, left_out)


class Scope(Record):
    """What may be found: documents that pass the filters, without chunks that summaries replace."""

    filters: Filters = Filters()
    without: tuple[str, ...] = ()  # documents of the memory, by path
    beyond: tuple[SourceLines, ...] = ()  # chunks of the memory that lie inside these lines


class First(Record):
    """How many documents of a list are wanted, and in which order."""

    limit: int
    order: str = "path"  # path, date or newest; undated documents come last


class KeywordMatch(Record):
    """A chunk that keyword search found."""

    chunk_id: int
    bm25: float  # larger is better


class Neighbour(Record):
    """A text near a query, and the chunks within reach that contain it."""

    hash: bytes
    cosine: float
    chunk_ids: tuple[int, ...]  # by source, path and place
    tier: int = 0  # first components that found it; 0: all


class Totals(Record):
    """The counts that BM25 takes from a whole collection."""

    chunks: int
    tokens: int  # of all chunks, headings included
    holders: Mapping[Term, int]  # chunks that contain each spelling of the search


def added(totals: Iterable[Totals]) -> Totals:
    """Return the totals of one collection that contains all."""
    result, holders = tuple(totals), dict[Term, int]()
    for each in result:
        for term, count in each.holders.items():
            holders[term] = holders.get(term, 0) + count
    return Totals(sum(t.chunks for t in result), sum(t.tokens for t in result), holders)


class RetrieverResults(Record):
    """The searches of both retrievers and their results."""

    query: TermQuery
    keyword: Sequence[KeywordMatch]
    vector: bytes | None
    near: Sequence[Neighbour]
    totals: Totals | None = None  # for the scores, if several stores are searched together


class TermChunks(Record):
    """The chunks that contain a term: their number, and which of some."""

    total: int
    chunk_ids: frozenset[int]


class ChunkLines(Record):
    """Whether a chunk begins and ends within a line, and who speaks in it."""

    broken: tuple[bool, bool]  # whether it begins, and whether it ends, within a line
    turns: tuple[Turn, ...] = ()


class Support(Record):
    """Lines of the memory that a summary rests on."""

    summary: str  # its path
    lines: SourceLines  # their present place
    holds: bool  # they are in the stored file, and the summary was valid


class LineCheck(Record):
    """Source lines of a summary, and the last check of them."""

    lines: SourceLines  # their present place; their last place if they are gone
    file: bytes | None  # hash of the checked file; None: it did not exist
    holds: bool  # they are there, and the summary is valid otherwise


def checked_object(text: str) -> str:
    """Return front matter as it is; ValueError if it is not a JSON object."""
    if text != "{}" and type(json.loads(text)) is not dict:
        raise ValueError("front matter is no object")
    return text


# `json.loads` takes four times as long, and a search reads hundreds of lists.
_SCAN = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


def strings(text: str) -> tuple[str, ...]:
    """Read a JSON array of strings; ValueError for anything else."""
    try:
        value, end = _SCAN(text, 0)
    except StopIteration:
        end = -1
    if end != len(text) or type(value) is not list or {*map(type, value)} - {str}:
        raise ValueError("a list of texts is none")
    return tuple(value)
