from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.render.sanitize import visible
from memcli.render.screen import (
    AGE_COLUMNS,
    LINKS,
    Screen,
    age_in_words,
    breadcrumb,
    brief,
    corrected,
    file_url,
    reflowed,
    whole_passage,
)
from memcli.render.text import COLOURED, PLAIN
from memcli.render.width import columns, shortened, wrap
from memcli.search.cursor import CursorPlace
from memcli.search.snippet import Snippet
from memcli.types import shown as name
from memcli.workspace.dating import age_days
from tests.records import make_candidate
from tests.render.test_text import CANDIDATE, PASSAGE, TAGS

SNIPPET = Snippet("The pool\nran dry.", ((4, 8),))
TEXTS = st.text(alphabet="ab -。東京ก้é\u0301🍞", max_size=60)


def _screen(width: int = 80, **given: object) -> Screen:
    plain = Screen(width, PLAIN, str, lambda day: 253, name, lambda source, path, line: "")
    return plain._replace(**given)  # type: ignore[arg-type]


def test_a_passage_is_where_then_how_good_and_old_then_its_text() -> None:
    assert whole_passage(1, PASSAGE, SNIPPET, _screen()) == (
        " 1. memory/pool.md:3-5\n"
        "    0.75  8 months ago   2025-06-12  Pool › Dry\n"
        "    The pool\n"
        "    ran dry.\n\n"
    )


@pytest.mark.parametrize(
    ("first_day", "last_day", "today", "told"),
    [
        ("2026-02-01", "2026-02-28", "2026-02-10", "this month     2026-02  Pool"),
        ("2026-02-09", "2026-02-15", "2026-02-10", "this week      2026-W07  Pool"),
        ("2026-02-09", "2026-02-15", "2026-02-16", "yesterday      2026-W07  Pool"),
        ("2026-02-01", "2026-02-28", "2026-01-30", "in 4 weeks     2026-02  Pool"),
    ],
)
def test_a_week_or_a_month_has_its_name_and_the_age_of_its_last_day(
    first_day: str, last_day: str, today: str, told: str
) -> None:
    about = CANDIDATE.about._replace(first_day=first_day, date=last_day)
    passage = PASSAGE._replace(candidate=CANDIDATE._replace(about=about))
    shown = whole_passage(1, passage, SNIPPET, _screen(age_days=lambda day: age_days(day, today)))
    assert told in shown.split("\n")[1]


def test_a_narrow_terminal_gives_the_heading_a_line_of_its_own() -> None:
    shown = whole_passage(
        1, PASSAGE, Snippet("- The pool ran dry before the day was over.", ()), _screen(40)
    )
    assert shown == (
        " 1. memory/pool.md:3-5\n"
        "    0.75  8 months ago   2025-06-12\n"
        "    Pool › Dry\n"
        "    - The pool ran dry before the day\n"
        "      was over.\n\n"
    )


def test_roles_are_styled_across_a_break_and_marks_let_no_escape_through() -> None:
    snippet = Snippet("a\x1b[31mpool\tran dry", ((6, 18),))
    screen = _screen(24, style=TAGS, safe=visible, link=lambda source, path, line: "file:///x")
    shown = whole_passage(1, PASSAGE, snippet, screen)
    assert shown.startswith(
        " 1. \x1b]8;;file:///x\x1b\\<path>memory/pool.md:3-5</>\x1b]8;;\x1b\\\n"
    )
    assert shown.endswith("    a␛[31m<term>pool    ran</>\n    <term>dry</>\n\n")


def test_source_trust_duplicates_and_missing_dates_are_said() -> None:
    other = make_candidate(CANDIDATE, source="web", trust="untrusted", date=None, heading_path=())
    shown = whole_passage(
        12, PASSAGE._replace(candidate=other, duplicates=("a.md:1",)), SNIPPET, _screen()
    )
    assert shown.splitlines()[:2] == [
        "12. web:memory/pool.md:3-5",
        "    0.75  undated        [untrusted]  (+1 alike)",
    ]


@given(st.integers(40, 120), st.lists(TEXTS, min_size=1, max_size=4), TEXTS)
def test_no_line_is_wider_than_the_terminal(width: int, names: list[str], text: str) -> None:
    other = make_candidate(CANDIDATE, heading_path=tuple(names), trust="untrusted")
    passage = PASSAGE._replace(candidate=other, duplicates=("a.md:1",))
    shown = whole_passage(1, passage, Snippet(text * 5, ((0, 3),)), _screen(width, style=COLOURED))
    for line in re.sub(r"\x1b\[[\d;]*m", "", shown).split("\n"):
        assert columns(line) <= width


def test_a_corrected_line_is_folded_below_itself() -> None:
    shown = corrected(
        "corrects memory/2025-01-01.md:3 (2025-01-01):", "The office opens at 8:00.", _screen(48)
    )
    assert shown.splitlines() == [
        "    corrects memory/2025-01-01.md:3",
        "        (2025-01-01): The office opens at 8:00.",
    ]


@given(TEXTS, st.integers(2, 30), st.integers(0, 4))
def test_wrapping_loses_only_spaces_at_breaks(text: str, room: int, hang: int) -> None:
    spans = wrap(text, room, hang)
    kept = "".join(text[start:end] for start, end in spans)
    assert kept.replace(" ", "") == text.replace(" ", "")
    assert columns(text[slice(*spans[0])]) <= room
    assert all(columns(text[start:end]) <= max(2, room - hang) for start, end in spans[1:])


@pytest.mark.parametrize(
    ("line", "room", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("aa hello world", 8, ["aa hello", "world"]),
        ("incomprehensible", 7, ["incompr", "ehensib", "le"]),
        ("连接池耗尽了。", 8, ["连接池耗", "尽了。"]),
        ("连接池耗。尽了", 8, ["连接池", "耗。尽了"]),
        ("", 5, [""]),
    ],
)
def test_lines_break_at_spaces_or_between_wide_characters(
    line: str, room: int, lines: list[str]
) -> None:
    assert [line[start:end] for start, end in wrap(line, room)] == lines


def test_columns_follow_the_width_of_characters() -> None:
    assert columns("pool") == 4
    assert columns("東京") == columns("ＡＢ") == 4
    assert columns(unicodedata.normalize("NFD", "é")) == 1
    assert shortened("東京タワー", 7) == "東京タ…"


def test_a_breadcrumb_drops_the_outer_headings_first() -> None:
    names = ("Incident review", "Causes", "The pool")
    assert breadcrumb(names, 40) == "Incident review › Causes › The pool"
    assert breadcrumb(names, 25) == "… › Causes › The pool"
    assert breadcrumb(names, 6) == "The p…"


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (0, "today"), (1, "yesterday"), (-1, "tomorrow"), (13, "13 days ago"), (14, "2 weeks ago"),
        (61, "2 months ago"), (729, "23 months ago"), (731, "2 years ago"), (-40, "in 5 weeks"),
    ],
)  # fmt: skip
def test_ages_are_said_in_words(days: int, words: str) -> None:
    assert age_in_words(days) == words
    assert len(words) <= AGE_COLUMNS


def test_a_link_escapes_all_that_could_end_it() -> None:
    file, path = "/a b/\x1b\\é;?{line}.md", "/a%20b/%1B%5C%C3%A9%3B%3F%7Bline%7D.md"
    names = (*LINKS, "x:{line}?{path}&{path}")
    told = {name: file_url(name, host="host", path=file, line=12) for name in names}
    assert told == {
        "file": f"file://host{path}",
        "vscode": f"vscode://file{path}:12",
        "cursor": f"cursor://file{path}:12",
        "zed": f"zed://file{path}:12",
        "kitty": f"file://host{path}#12",
        "x:{line}?{path}&{path}": f"x:12?{path}&{path}",
    }


@given(TEXTS, TEXTS, st.integers(20, 120), st.integers(1, 10**6))
def test_a_brief_passage_takes_one_line_that_fits(
    text: str, path: str, width: int, line: int
) -> None:
    screen = _screen(width, name=lambda source, _: path or "a.md")
    shown = brief(12, PASSAGE, CursorPlace(line, 1, text), ("pool", "ab"), screen)
    assert shown.endswith("\n")
    assert shown.count("\n") == 1
    assert columns(shown.rstrip("\n").rstrip()) <= width


def test_a_brief_passage_shows_the_match_and_the_end_of_a_long_name() -> None:
    text = "They say that after the long summer of that year the pool ran dry."
    screen = _screen(50, style=TAGS)
    place = CursorPlace(7, 1, text)
    assert brief(1, PASSAGE, place, ("pool",), screen) == (
        " 1. <path>memory/pool.md:7</>  …the <term>pool</> ran dry.\n"
    )
    long = screen._replace(name=lambda source, path: "memory/of/a/very/long/name/indeed/pool.md")
    assert brief(1, PASSAGE, place, ("pool",), long).startswith(" 1. <path>…")
    assert ":7</>  " in brief(1, PASSAGE, place, ("pool",), long)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "While it waited for a slow\ncarrier,\nit ran dry.\n\n- a",
            "While it waited for a slow carrier, it ran dry.\n\n- a",
        ),
        ("```\na log of many words\nand more\n```", "```\na log of many words\nand more\n```"),
        ("Kate: I went to the museum\nRuben: that is nice", None),
        ("| a | b | c | d |\nend", None),
        ("So these are the steps:\nfill it", None),
        (
            "- While it waited for a slow\n  carrier, it\n  ran dry.\n  1. then",
            "- While it waited for a slow carrier, it ran dry.\n  1. then",
        ),
        ("- While it waited for a slow\n      carrier", None),
    ],
)  # fmt: skip
def test_the_lines_of_a_paragraph_are_joined(text: str, shown: str | None) -> None:
    joined, moved = reflowed(text)
    assert joined == (shown or text)
    assert [joined[moved(at)] for at, sign in enumerate(text) if not sign.isspace()] == list(
        "".join(text.split())
    )
