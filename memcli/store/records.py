"""What a search asks of a store, and is answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memcli.record import Record
from memcli.types import Filters, SourceLines, Term, Turn, Wanted

Key = tuple[str, str]  # (source, path) of a document
MOST_DAYS = 92  # of a span that a date names, which is no longer than a quarter


class Facts(Record):
    """What a store remembers of itself; None if it was never told."""

    revision: int = 0  # grows with every change that an answer can depend on
    fingerprint: str | None = None  # of the vectors that are searched
    dimension: int | None = None
    model: str | None = None  # the files of the model that made them, as they were verified
    language: str | None = None  # of most texts; see `embedding.auto`
    chunking: str | None = None  # how documents were cut
    sources: str | None = None  # what was said of the sources
    mounts: str | None = None  # folders that were mount points, as JSON, once all was read
    # A change does not tell these two, which a server keeps.
    origin: str = ""  # machine and folder that store it; "" if only this user does
    changed_at: str = ""  # ISO time with zone; "" if the store does not keep it


class Counts(Record):
    """How much a store holds."""

    documents: int
    chunks: int
    parts: int
    embedded: int  # parts with a vector of the store's own fingerprint
    left_out: int = 0  # parts that its encoder cannot read, which get none

    @property
    def embeddable(self) -> int:
        """Count the parts that have, or wait for, a vector."""
        return self.parts - self.left_out


# What is remembered of the revision at which no text waited for a vector: its number, and how many
# documents, chunks, parts and parts left out there were.
EMBEDDED_AT = "embedded_at"


def counts_at(revision: int | str, told: str) -> Counts | None:
    """Return what is remembered by EMBEDDED_AT, if it is of this revision."""
    at, *counted = told.split(" ")
    if at != str(revision) or len(counted) < 3:
        return None
    documents, chunks, parts, left_out = map(int, (*counted, "0")[:4])
    return Counts(documents, chunks, parts, parts - left_out, left_out)


class Reach(Record):
    """What may be found: what the filters let through, less what stands aside."""

    filters: Filters = Filters()
    without: tuple[str, ...] = ()  # documents of the memory, by path
    beyond: tuple[SourceLines, ...] = ()  # chunks of the memory that lie inside these lines


class First(Record):
    """How many documents of a list are wanted, and in which order."""

    limit: int
    order: str = "path"  # path, date or newest; undated documents come last


class Ranked(Record):
    """A chunk that was found by words."""

    chunk_id: int
    bm25: float  # larger is better


class Near(Record):
    """A text that lies near a query, and the chunks within reach that hold it."""

    hash: bytes
    cosine: float
    chunk_ids: tuple[int, ...]  # by source, path and place
    tier: int = 0  # first components by which it was found; 0: all


class Totals(Record):
    """The counts that BM25 takes from a whole collection."""

    chunks: int
    tokens: int  # of all chunks, headings included
    holders: Mapping[Term, int]  # chunks that contain each spelling that is looked for


def added(totals: Iterable[Totals]) -> Totals:
    """Return the totals of one collection that contains all."""
    found, holders = tuple(totals), dict[Term, int]()
    for each in found:
        for term, count in each.holders.items():
            holders[term] = holders.get(term, 0) + count
    return Totals(sum(t.chunks for t in found), sum(t.tokens for t in found), holders)


class RetrieverResults(Record):
    """What the retrievers of a search were asked and have found."""

    wanted: Wanted
    keyword: Sequence[Ranked]
    vector: bytes | None
    near: Sequence[Near]
    totals: Totals | None = None  # that scores are by, where several stores are asked as one


class TermChunks(Record):
    """The chunks that hold a term: how many there are, and which of some."""

    total: int
    chunk_ids: frozenset[int]


class ChunkLines(Record):
    """How a chunk is cut out of its document, and who speaks in it."""

    broken: tuple[bool, bool]  # whether it begins, and whether it ends, within a line
    turns: tuple[Turn, ...] = ()


class Support(Record):
    """Lines of the memory that a summary rests on."""

    summary: str  # its path
    lines: SourceLines  # where they stand now
    holds: bool  # they do in the file as it is stored, and the summary was found valid by it


class LineCheck(Record):
    """Lines that a summary rests on, where they were looked for last."""

    lines: SourceLines  # where they stand now; where they stood, if nowhere
    file: bytes | None  # hash of the file they were looked for in; None: there was none
    holds: bool  # they stand there, and all else that makes the summary valid
