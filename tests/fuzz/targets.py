"""What any bytes may be fed to, each with the property that has to hold; an error is a finding."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date
from functools import cache

import apsw
from markdown_it import MarkdownIt

from memcli.api.targets import _readings as readings
from memcli.bench.queries import read_queries
from memcli.context.parts import PASSAGES, make_part
from memcli.dates import find
from memcli.errors import MemcliError
from memcli.indexing.document import build_document
from memcli.language.words import prepare
from memcli.markdown.comments import comments, visible
from memcli.markdown.links import link_targets, related_targets
from memcli.render import sanitize, screen
from memcli.render.sanitize import fenced_passage as markdown_passage
from memcli.render.text import COLOURED
from memcli.render.width import columns
from memcli.search import query
from memcli.search.ranked import RankedPassage
from memcli.search.snippet import make_snippet, marked
from memcli.store.sqlite.fts_query import TOKENIZE, expression
from memcli.types import (
    DATE_KEYS,
    Candidate,
    Excerpt,
    FileStat,
    FileText,
    Source,
    TermQuery,
    named_days,
    shown,
)
from memcli.workspace.dating import document_days, heading_days, value_days
from memcli.workspace.ignore import Rules
from memcli.workspace.names import documents_at
from memcli.workspace.reading import decode
from tests.fuzz import programs
from tests.fuzz.programs import any_text
from tests.records import make_candidate, make_excerpt
from tests.support import checked_chunks, make_limits

TODAY = date(2026, 2, 10)
SOURCE = Source("memory", "/nowhere", ("**/*.md",))
# What a terminal obeys or hides: control characters but the newline, bidi, zero width, tags,
# variation selectors, fillers.
RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e0fff]|[a-z][\ufe0e\ufe0f]|[\ufe0e\ufe0f]{2}"
)
OWN_STYLES = re.compile(r"\x1b\[(?:0|1|2|35|1;31)m")


def file_text(data: bytes) -> str | None:
    """Read bytes as a document is read; None where they are no text."""
    decoded = decode(data)
    return None if isinstance(decoded, str) else decoded[0]


def markdown(data: bytes) -> None:
    """Chunks are exact spans of the text; parts lie in them in order and fit the model."""
    text = file_text(data)
    if text is not None:
        checked_chunks(text)


def document(data: bytes) -> None:
    """The document of any file has metadata that JSON and UTF-8 can hold."""
    text = file_text(data)
    if text is None:
        return
    stat = FileStat("memory", "memory/summaries/2025-01-01-a.md", len(data), 0, 0, 0)
    built = build_document(FileText(stat, b"", text, False), SOURCE, make_limits())
    metadata = json.loads(built.front_matter)
    built.front_matter.encode()
    built.title.encode()
    assert isinstance(metadata, dict)
    assert "NaN" not in built.front_matter or "NaN" in text


def front_matter(data: bytes) -> None:
    """The same, for what stands between the lines of a front matter."""
    document(b"---\n" + data + b"\n---\nbody\n")


def lineage(data: bytes) -> None:
    """The same, for a front matter that says it is a summary's."""
    head = b'---\nschema: memcli.summary/1\nearliest: "2025-01-01"\nlatest: "2025-01-02"\n'
    document(head + data + b"\n---\nbody\n")


def comment(data: bytes) -> None:
    """Comments are ranges in order, and what is left of a text holds no carriage return."""
    text = any_text(data)
    at = 0
    for start, end in comments(text):
        assert at <= start < end <= len(text)
        assert text.startswith("<!--", start)
        at = end
    assert "\r" not in visible(text)


def link(data: bytes) -> None:
    """Links are found once each, and hold no line end."""
    text = any_text(data)
    found = link_targets(text)
    assert len(set(found)) == len(found)
    assert not any("\n" in target or len(target) > 512 for target in found)
    related_targets({"related": [text, [text, {}], None]})


@cache
def _keyword_index() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    quoted = TOKENIZE.replace("'", "''")
    connection.execute(
        "CREATE VIRTUAL TABLE fts USING fts5 (heading, body, content='', contentless_delete=1,"
        f" tokenize='{quoted}')"
    )
    for text in ("The pool ran dry", "東京都の検索", "deploy v0.1 --flag"):
        connection.execute("INSERT INTO fts (heading, body) VALUES ('', ?)", (prepare(text),))
    return connection


def keywords(data: bytes) -> None:
    """No query is an error of the keyword index."""
    text = any_text(data)
    spans = tuple((span.at, span.at + len(span.text)) for span in find.find_dates(text, TODAY))
    parsed = query.parse(text, soft=spans)
    assert len(parsed.terms) <= query.MAX_TERMS
    parsed.text.encode()
    every = TermQuery(all=parsed.groups, none=parsed.unwanted)
    for match in (expression(every), expression(parsed.term_query)):
        if match:
            sql = "SELECT count(*) FROM fts WHERE fts MATCH ?"
            _keyword_index().execute(sql, (match,)).fetchall()
    marked(text, [term.text for term in parsed.terms])


def dating(data: bytes) -> None:
    """A date that is found is one of the calendar, and stands where it is said to."""
    text = any_text(data)
    for span in find.find_dates(text, TODAY):
        ends = [date.fromisoformat(end) for end in (span.start, span.end) if end]
        assert ends == sorted(ends)
        assert bool(ends) != bool(span.order)
        assert text.startswith(span.text, span.at)
    days, _ = document_days({"date": text}, text, DATE_KEYS)
    for found in filter(None, (days, heading_days(text))):
        first, last = map(date.fromisoformat, found)
        assert first <= last
        assert value_days(named_days(found)) == found
    try:
        find.parse_date(text, TODAY)
    except ValueError as error:
        assert str(error)  # noqa: PT017  (an error is one of two right answers)


def citation(data: bytes) -> None:
    """Every reading of a target names a known source, and lines from 0, which `get` refuses."""
    roots = {"memory": "/n", "web": "/n/web"}

    def from_here(name: str) -> list[tuple[str, str]]:
        return documents_at("/n/memory", name, roots)

    for target in readings(any_text(data), roots, from_here):
        assert target.source in ("memory", "web")
        assert target.first is None or target.first >= 0


def ignore(data: bytes) -> None:
    """Any line is a pattern or a clear error, and any path can be asked for."""
    text = any_text(data)
    head, _, path = text.partition("\0")
    path = "/".join(name[:255] for name in path.split("/"))  # as long as the system allows
    try:
        rules = Rules(SOURCE, head.split("\n"))
        Rules(SOURCE._replace(include=tuple(head.split("\n")))).accepts(path)
    except MemcliError:
        return
    rules.accepts(path)
    rules.why_ignored("a/b.md", "b.md", False)


def questions(data: bytes) -> None:
    """A file of questions is read, or refused with its line."""
    try:
        read_queries(any_text(data).split("\n"), "questions")
    except MemcliError:
        return


def fence(data: bytes) -> None:
    """What a context shows of a note is one fence, whatever the note, its path and heading hold."""
    text = file_text(data)
    if not text or not visible(text).strip("\n"):
        return
    words = tuple(" ".join(text[:200].split("\n")).split(" "))
    excerpt = _excerpt(text, path="a" + words[0] + ".md", heading_path=words[:3])
    # As CommonMark reads it: carriage returns of any kind end a line, a NUL is U+FFFD.
    tokens = MarkdownIt("commonmark").parse(make_part(PASSAGES, excerpt).markdown)
    assert [token.type for token in tokens] == ["fence"]
    assert tokens[0].info.startswith("untrusted-web ")
    passage = RankedPassage(_candidate(excerpt), 0, 0, 0.5, None, 1.0)
    shown = markdown_passage(passage, make_snippet(passage, words=()), passage.citation)
    kinds = [token.type for token in MarkdownIt("commonmark").parse(shown)]
    assert kinds[-1] == "fence"
    assert kinds.count("fence") == 1


def terminal(data: bytes) -> None:
    """Nothing of a note, its path or its headings reaches a terminal raw, nor beyond its width."""
    text = any_text(data)
    words = tuple(text[:200].split(" "))
    excerpt = _excerpt(text, path=words[0] or "a", heading_path=words[:3])
    passage = RankedPassage(_candidate(excerpt), 0, 0, 0.5, None, 1.0)
    page = screen.Screen(
        60, COLOURED, sanitize.visible, lambda day: 3, shown, lambda source, path, line: ""
    )
    drawn = screen.whole_passage(1, passage, make_snippet(passage, words=words[:5]), page)
    plain = OWN_STYLES.sub("", drawn)
    assert not RAW.search(plain), RAW.search(plain)
    for line in plain.split("\n")[1:]:
        assert columns(line) <= 60
    assert "\n" not in sanitize.visible_line(text)
    assert not RAW.search(sanitize.visible_line(text))


def _excerpt(text: str, *, path: str, heading_path: tuple[str, ...]) -> Excerpt:
    return make_excerpt(
        source="web", path=path, anchor="top", heading_path=heading_path, title="T",
        start_line=1, end_line=2, start_byte=0, end_byte=1, text=text, date="2025-01-01",
        document_date=None, kind="note", scope="global", source_kind="web", trust="untrusted",
        ordinal=0,
    )  # fmt: skip


def _candidate(excerpt: Excerpt) -> Candidate:
    return make_candidate(
        source=excerpt.about.source, path=excerpt.about.path, anchor="top",
        heading_path=excerpt.about.heading_path, title="T", start_line=1, end_line=2, tokens=1,
        text=excerpt.text, date=excerpt.about.date, document_date=None, kind="note",
        scope="global", source_kind="web", trust="untrusted", authority=None, importance=None,
        bm25=1.0, keyword_rank=1, semantic_rank=None, literal=True, segments=(),
    )  # fmt: skip


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target
    for target in (
        markdown, document, front_matter, lineage, comment, link, keywords, dating, citation,
        ignore, questions, fence, terminal, *programs.ALL,
    )
}  # fmt: skip
