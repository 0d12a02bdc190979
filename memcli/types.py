"""The frozen records that pass between memcli's packages.

Every search loads them. Lines count from 1 and both ends are included; paths are POSIX and relative
to the root of their source; dates are ISO `YYYY-MM-DD` strings; vectors are little-endian float32
bytes of unit length. The date of a week or a month is its last day; `first_day` is its first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.record import Record

if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object  # only type checkers need it

MEMORY_SOURCE = "memory"
SUMMARY = "summary"  # the kind of a document that has a lineage
PRIVATE = "private"  # never shown to other workspaces, and never offered unasked
OPEN_SCOPES = ("session", "user", "global")  # may be offered unasked
SCOPES = (*OPEN_SCOPES, PRIVATE)
# States of an index.
UP_TO_DATE, OUT_OF_DATE, EMPTY, NOT_INDEXED = (
    "up_to_date", "out_of_date", "empty", "not_indexed",
)  # fmt: skip
REMOTE = "remote"  # the files are elsewhere
AS_OF = "as_of"  # the index of a commit
FAILED = "failed"  # this one of several workspaces did not answer
TRUSTS = ("trusted", "untrusted")
# Who wrote something. The owner's own notes are trusted unless a source says otherwise; notes of
# others are trusted only if the user says so.
AGENT = "agent"  # who wrote what memcli appended for an agent
OWN_KINDS = ("operator", "system")
SOURCE_KINDS = ("operator", "agent", "tool", "web", "import", "system")
# Keys of front matter that may contain a date, in order of preference.
DATE_KEYS = ("date", "modified", "updated", "created")


class Source(Record):
    """A named folder and the rules for the documents below it."""

    name: str
    root: str  # absolute path of the folder
    include: tuple[str, ...]  # globs tied to the root: *.md is its top level, **/*.md any
    exclude: tuple[str, ...] = ()
    kind: str | None = None  # for every document; None lets `kinds` decide
    kinds: tuple[tuple[str, str], ...] = ()  # (glob, kind), first match wins
    scope: str | None = None  # one of SCOPES; None lets the path decide
    source_kind: str = "operator"  # one of SOURCE_KINDS
    trust: str = "trusted"  # one of TRUSTS
    authority: float | None = None
    always: tuple[str, ...] = ()  # globs of documents that every context includes in full
    soft: tuple[str, ...] = ()  # globs of documents that a context includes if they fit
    evergreen: tuple[str, ...] = ()  # globs of documents whose date is not used
    is_automatic: bool = False  # memcli found it by itself, so it may be too large to list
    date_keys: tuple[str, ...] = DATE_KEYS
    is_transcripts: bool = False  # its documents are the transcripts of an agent: JSON lines
    project: str = ""  # a folder; only transcripts of sessions in it are read


class FileStat(Record):
    """A candidate file as one stat call saw it."""

    source: str
    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class Skip(Record):
    """A file or folder that was skipped, and why."""

    source: str
    path: str
    reason: str  # ignored | symlink | too-large | unreadable | not-text | unparsable | not-regular
    detail: str = ""


class Listing(Record):
    """The result of one walk over all sources.

    `unlisted` has (source, folder path) of folders that could not be listed: whatever
    the index knows below them stays, because nobody saw that it is gone.
    """

    files: tuple[FileStat, ...]
    skips: tuple[Skip, ...]
    unlisted: tuple[Skip, ...]
    mounts: tuple[tuple[str, str], ...] = ()  # (source, folder path) of mount points


class KnownFile(Record):
    """What the index knows about a file, to see whether it has changed."""

    hash: bytes
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    indexed_ns: int  # wall clock when the file was read


class Diff(Record):
    """The difference between a listing and the index, before any file is read."""

    added: tuple[FileStat, ...]
    suspect: tuple[FileStat, ...]  # stat differs, or too young to trust: hash it
    unchanged: int
    removed: tuple[tuple[str, str], ...]  # (source, path), truly gone


class FileText(Record):
    """The text of one file, and how it was decoded."""

    stat: FileStat
    hash: bytes  # sha256 of the bytes on disk, 32 bytes
    text: str  # BOM removed; line ends as on disk
    damaged: bool  # some bytes could not be decoded and were replaced


class Segment(Record):
    """A few lines of a chunk: the unit that is embedded."""

    start_line: int
    end_line: int
    start: int  # character offsets in the chunk's text
    end: int
    prefix: str  # repeated fence opener or table header of a split block
    hash: bytes  # of the embedded text, 16 bytes


Lines = tuple[int, int]  # of a file, the first and the last, from 1


Stretch = tuple[str, str]  # the first and the last day; the same one twice for a day


class Turn(Record):
    """Lines of one speaker in a conversation, with the name as written."""

    start_line: int
    end_line: int
    speaker: str


class Limits(Record):
    """How large chunks and segments may grow."""

    chunk_tokens: int  # estimate, of the text alone
    overlap_tokens: int  # repeated from the chunk before
    part_max: int  # tokens of the embedded text as `count` gives them
    count: Callable[[str], int]  # exact tokens, special ones included
    most_segments: int = 100_000  # of a document; 8 MiB of list items are some 75,000


class Chunk(Record):
    """A run of whole blocks under one heading path."""

    ordinal: int  # position in the document, from 0
    anchor: str  # stable id inside the document
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int
    start_byte: int  # span in the UTF-8 form of the decoded text
    end_byte: int
    tokens: int  # estimate, see language.tokens
    text: str  # lines start_line..end_line of the file
    date: str | None  # of the document, else of a heading that is a date
    links: tuple[str, ...]
    segments: tuple[Segment, ...]
    turns: tuple[Turn, ...] = ()  # of a conversation, as far as they are in the chunk
    preferences: tuple[Lines, ...] = ()  # instructions and preferences of the user
    first_day: str | None = None  # of a span whose last day is the date


class SourceLines(Record):
    """Lines of a document of the memory that a summary was made of."""

    path: str
    start_line: int
    end_line: int
    hash: bytes  # of the lines when they were summarised, 16 bytes


# States of a summary: valid; its lines have changed; somebody edited it; its lines do not say so.
STATES = ("valid", "out_of_date", "edited", "forged")


class Lineage(Record):
    """The lineage of a summary, from its front matter."""

    sources: tuple[SourceLines, ...]  # never empty
    parents: tuple[str, ...]  # paths of the summaries among the sources
    earliest: str
    latest: str
    compacted: str  # ISO time of the run
    method: str
    confidence: float  # 0 to 1
    level: int  # 1 rests on raw lines, 2 on summaries of level 1
    source_tokens: int
    summary_tokens: int
    seal: str  # hash of the file without its line
    run: int = 0  # which of the runs in the folder wrote it, from 1; 0 before runs were counted


class Document(Record):
    """One Markdown file, parsed and chunked."""

    source: str
    path: str
    title: str
    date: str | None
    kind: str
    scope: str
    source_kind: str
    trust: str
    authority: float | None
    importance: float | None
    always: bool
    soft: bool
    front_matter: str  # canonical JSON
    chunks: tuple[Chunk, ...]
    lineage: Lineage | None = None  # of a summary
    first_day: str | None = None  # of a span whose last day is the date


class Encoder(Protocol):
    """Turns text into unit vectors."""

    @property
    def fingerprint(self) -> str:
        """Name model, graph, dimension, pooling, prefixes and maximum tokens."""

    @property
    def dimension(self) -> int:
        """Return the number of float32 components of a vector."""

    @property
    def max_tokens(self) -> int:
        """Return the longest text in tokens, special tokens included."""

    def count(self, text: str) -> int:
        """Count the tokens of `text`, special tokens included, without a limit."""

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        """Embed texts of at most `max_tokens` tokens; a longer one is a ValueError."""

    def encode_query(self, text: str) -> bytes:
        """Embed a query; words beyond `max_tokens` are left out."""


class Where(Record):
    """A condition on front matter; `markdown.properties` evaluates it."""

    key: str
    value: str | None = None  # as typed; None for any value
    negated: bool = False  # documents without it

    def __str__(self) -> str:
        """Return the text that `--where` accepts."""
        if self.value is None:
            return f"{'!' if self.negated else ''}{self.key}"
        return f"{self.key}{'!=' if self.negated else '='}{self.value}"


class Filters(Record):
    """What a search is limited to; applied before the top-k of each retriever."""

    since: str | None = None
    until: str | None = None
    paths: tuple[str, ...] = ()  # globs where * also crosses folders
    sources: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    trusts: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()  # text that a heading above must contain
    tags: tuple[str, ...] = ()  # all of them, or tags below them: infra/db for infra
    where: tuple[Where, ...] = ()  # all of them
    by: tuple[str, ...] = ()  # lines of one of these speakers
    undated: bool = False  # keep undated documents in spite of since and until
    view: str = "all"  # all | active: no line twice | raw: no summaries
    within: tuple[SourceLines, ...] = ()  # only chunks of the memory that touch these lines


class Term(Record):
    """A word or a phrase in the form of the index (see `language.words`)."""

    text: str
    prefix: bool = False  # the last word may be longer


class TermQuery(Record):
    """What to find by words: chunks with any of some terms, or with one term of every group."""

    any: tuple[Term, ...] = ()
    all: tuple[tuple[Term, ...], ...] = ()
    none: tuple[Term, ...] = ()  # excludes chunks with one of these
    # Common terms, which score but find nothing alone, each with its number of chunks.
    also: tuple[tuple[Term, int], ...] = ()
    together: tuple[tuple[Term, ...], ...] = ()  # of them: a chunk with all of a group is found


class SegmentScore(Record):
    """The cosine of one segment of a candidate; None without a vector."""

    start_line: int
    end_line: int
    start: int
    end: int
    cosine: float | None


class About(Record):
    """The metadata of lines of a document."""

    chunk_id: int
    source: str
    path: str
    anchor: str
    heading_path: tuple[str, ...]
    title: str
    start_line: int
    end_line: int
    date: str | None  # of the document, else of a heading
    document_date: str | None  # what decay looks at
    kind: str
    scope: str
    source_kind: str
    trust: str
    first_day: str | None = None  # where `date` is the last one of a span

    @property
    def days(self) -> str:
        """Return its day, week or month as notes write it; "" if it is undated."""
        return named_days((self.first_day or self.date, self.date)) if self.date else ""

    @property
    def document(self) -> tuple[str, str]:
        """Name the document: (source, path)."""
        return self.source, self.path

    @property
    def name(self) -> str:
        """Name the document as `memcli get` takes it."""
        return shown(self.source, self.path)

    @property
    def is_summary(self) -> bool:
        """Return whether it is a summary of memcli; other sources may use that kind for theirs."""
        return self.kind == SUMMARY and is_memory(self.source)

    @property
    def ref(self) -> str:
        """Return the record ref, which does not change when lines move."""
        return f"{self.source}:{self.path}#{self.anchor}"

    @property
    def citation(self) -> str:
        """Name the lines as `memcli get` takes them."""
        return cite(self.source, self.path, self.start_line, self.end_line)


def split_source(source: str) -> tuple[str, str]:
    """Split a source into its workspace ("" with only one workspace) and its own name."""
    workspace, _, own = source.rpartition(":")
    return workspace, own


def is_memory(source: str) -> bool:
    """Return whether a source is the memory of a workspace."""
    return split_source(source)[1] == MEMORY_SOURCE


def memory_path(source: str, path: str) -> str:
    """Return the path that lineages use for a document of the memory.

    It is the path, after the name of its workspace if memcli searches several as one.
    """
    workspace, _ = split_source(source)
    return f"{workspace}:{path}" if workspace else path


def shown(source: str, path: str) -> str:
    """Return the name of a document for people and for `memcli get`.

    A path of the workspace that looks like a source or an option follows `./`, as with scp and
    rsync. If memcli searches several workspaces as one, a source begins with its workspace.
    Example: `MEMORY.md`, `handbook:MEMORY.md`, `./handbook:MEMORY.md`, `notes:MEMORY.md`.
    """
    if not is_memory(source):
        return f"{source}:{path}"
    looks_otherwise = path.startswith("-") or ":" in path.partition("/")[0]
    return memory_path(source, f"./{path}" if looks_otherwise else path)


def date_of(days: Stretch | None) -> tuple[str | None, str | None]:
    """Return the last of some days, and the first one if it is another."""
    if days is None:
        return None, None
    first, last = days
    return last, first if first != last else None


_QUARTERS = (("01-01", "03-31"), ("04-01", "06-30"), ("07-01", "09-30"), ("10-01", "12-31"))


def named_days(days: Stretch) -> str:
    """Name a day, a week, a month, a quarter: `2026-02-10`, `2026-W07`, `2026-02`, `2026-Q1`."""
    first, last = days
    if first == last:
        return last
    if first[:7] == last[:7] and first.endswith("-01") and last[8:] >= "28":
        return last[:7]
    if (first[5:], last[5:]) in _QUARTERS:
        return f"{last[:4]}-Q{_QUARTERS.index((first[5:], last[5:])) + 1}"
    from datetime import date

    year, week, _ = date.fromisoformat(last).isocalendar()
    return f"{year:04}-W{week:02}"


def split_name(name: str, sources: Collection[str]) -> tuple[str, str]:
    """Split a name, a citation or a ref into (source, rest)."""
    source, colon, rest = name.partition(":")
    return (source, rest) if colon and source in sources else (MEMORY_SOURCE, name)


def lines_of(first: int | None, last: int | None) -> str:
    """Name lines by their numbers. Example: `3-9`, or `3` for one line."""
    return f"{first}" if first == last else f"{first}-{last}"


def cite(source: str, path: str, first: int, last: int) -> str:
    """Name lines of a document. Example: `memory/2026-02-05.md:3-9`, `handbook:MEMORY.md:1`."""
    return f"{shown(source, path)}:{lines_of(first, last)}"


class Candidate(Record):
    """A chunk that a retriever of recall found, with the raw score of both retrievers."""

    about: About
    tokens: int
    text: str
    authority: float | None
    importance: float | None
    segments: tuple[SegmentScore, ...]
    bm25: float = 0.0  # larger is better, 0 without a match
    keyword_rank: int | None = None  # from 1; None if the retriever did not search it
    semantic_rank: int | None = None
    literal: bool = False  # all non-stop terms, a quoted phrase or an identifier in this chunk
    named_by: str = ""  # JSON: the front matter of its document, of the first chunk only


class Excerpt(Record):
    """Lines of a document with their metadata."""

    about: About
    text: str
    start_byte: int  # span in the UTF-8 form of the decoded text
    end_byte: int
    ordinal: int  # of the chunk in its document, from 0
