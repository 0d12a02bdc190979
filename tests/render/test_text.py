from __future__ import annotations

from memcli.render.sanitize import fenced_passage as markdown_passage
from memcli.render.sanitize import visible
from memcli.render.text import PLAIN, Style, above, marked, passage_lines, trace
from memcli.search.ranked import RankedPassage, Step
from memcli.search.snippet import Snippet, headings, numbered
from tests.records import make_candidate

TAGS = Style("<path>", "<heading>", "<term>", "<dim>", "</>")
CANDIDATE = make_candidate(
    source="memory", path="memory/pool.md", anchor="pool", heading_path=("Pool", "Dry"),
    title="Pool", start_line=3, end_line=5, tokens=9, text="The pool ran dry.",
    date="2025-06-12", document_date=None, kind="log", scope="session", source_kind="operator",
    trust="trusted", authority=None, importance=None, bm25=1.0, keyword_rank=1, semantic_rank=None,
    literal=True, segments=(),
)  # fmt: skip
PASSAGE = RankedPassage(
    CANDIDATE, 0, 0, 0.75, None, 1.0, None, (), (Step("fuse", 0.75, (("bm25", 1.0),)),)
)
SNIPPET = Snippet("The pool\nran dry.", ((4, 8),))
LINES = [(3, Snippet("The pool", ((4, 8),))), (5, Snippet("ran dry.", ()))]


def test_a_passage_is_its_lines_behind_their_numbers() -> None:
    assert passage_lines(PASSAGE, LINES, style=PLAIN, safe=str) == "3: The pool\n5: ran dry.\n"
    assert (
        passage_lines(PASSAGE, LINES, style=TAGS, safe=str) == "3: The <term>pool</>\n5: ran dry.\n"
    )


def test_above_a_passage_is_what_its_path_and_the_passage_before_do_not_say() -> None:
    assert above(PASSAGE, style=PLAIN, safe=str) == "  2025-06-12  Pool > Dry"
    assert above(PASSAGE, style=TAGS, safe=str) == "  2025-06-12  <heading>Pool > Dry</>"
    titled = make_candidate(CANDIDATE, path="2025-06-12-Pool.md", text="## Dry\n\nThe pool.")
    passage = PASSAGE._replace(candidate=titled)
    assert above(passage, style=PLAIN, safe=str) == "  Dry"
    assert numbered(passage, words=()) == [(5, Snippet("The pool.", ()))]
    other = PASSAGE._replace(candidate=make_candidate(titled, heading_path=("Pool", "Wet")))
    assert above(other, headings(passage), style=PLAIN, safe=str) == "  Wet"


def test_trust_and_duplicates_are_said_where_they_matter() -> None:
    other = make_candidate(CANDIDATE, source="web", trust="untrusted")
    passage = PASSAGE._replace(candidate=other, duplicates=("a.md:1-2",))
    said = "  2025-06-12  Pool > Dry  [untrusted]  (+1 alike)"
    assert above(passage, style=PLAIN, safe=str) == said


def test_marks_do_not_let_an_escape_through() -> None:
    snippet = Snippet("a\x1b[31mpool", ((6, 10),))
    assert marked(snippet, TAGS, visible) == "a␛[31m<term>pool</>"


def test_a_trace_is_a_line_a_stage() -> None:
    assert trace(PASSAGE.trace) == "    | fuse         0.7500  bm25=1\n"


def test_text_cannot_close_the_fence_of_markdown() -> None:
    shown = markdown_passage(PASSAGE, Snippet("````\nescape\n````", ()), PASSAGE.citation)
    head = "**memory/pool.md:3-5 (Pool > Dry, 2025-06-12, trusted)**"
    assert shown.startswith(f"{head}\n\n`````text\n")
    assert shown.endswith("\n`````\n\n")
