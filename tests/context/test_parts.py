"""What chunks that follow one another look like as one part, and what parts cost together."""

from __future__ import annotations

from math import ceil
from typing import Any

import pytest

from memcli.context.assemble import FixedParts, Sharing, _fitting, _with_preferences, fix, tokens
from memcli.context.parts import (
    ALWAYS,
    PASSAGES,
    PREFERENCES,
    RECENT,
    SOFT,
    cost,
    join,
    joined,
    make_part,
    opening_line,
    whole,
)
from memcli.context.tail import _is_entry, entries
from memcli.types import Excerpt
from tests.records import make_excerpt


def chunk(text: str, at: int, line: int, byte: int, **told: Any) -> Excerpt:
    return make_excerpt(
        chunk_id=at + 1, ordinal=at, text=text, start_line=line,
        end_line=line + text.count("\n"), start_byte=byte, end_byte=byte + len(text.encode()),
        **told,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "byte", "gap"),
    [(2, 9, ""), (2, 10, " "), (3, 10, "\n"), (4, 11, "\n\n"), (9, 40, "\n\n")],
)
def test_what_lies_between_two_chunks_is_a_blank_or_a_line(line: int, byte: int, gap: str) -> None:
    above, below = chunk("One.\nTwo.", 0, 1, 0), chunk("Three.", 1, line, byte)
    (part,) = joined(PASSAGES, [whole(above), whole(below)])
    assert part.text == f"One.\nTwo.{gap}Three."
    assert (part.excerpt.about.start_line, part.excerpt.about.end_line) == (1, line)
    one = join(make_part(PASSAGES, above), make_part(PASSAGES, below))
    assert one is not None
    assert (one.text, one.spans) == (part.text, (whole(above), whole(below)))
    assert one.body == pytest.approx(part.body)


def test_what_two_chunks_share_comes_once() -> None:
    (part,) = joined(
        PASSAGES, map(whole, [chunk("Eins Zwölf", 0, 1, 0), chunk("Zwölf Elf", 1, 1, 5)])
    )
    assert part.text == "Eins Zwölf Elf"


def test_lines_that_two_chunks_of_the_tail_share_come_once() -> None:
    first, last = chunk("Eins.\nZwölf.\nDrei.", 0, 1, 0), chunk("Zwölf.\nDrei.\nVier.", 1, 2, 6)
    (entry,) = entries([last, first])
    (part,) = joined(RECENT, entry)
    assert part.text == "Eins.\nZwölf.\nDrei.\nVier."


@pytest.mark.parametrize(
    ("dates", "shown"),
    [
        ((("2026-02-01", None), ("2026-02-01", None)), ("2026-02-01", None)),
        ((("2026-02-05", None), ("2026-02-05", None)), ("2026-02-05", None)),
        ((("2026-02-05", None), ("2026-02-09", None)), (None, None)),
        ((("2026-02-05", None), ("2026-02-28", None)), ("2026-02-28", None)),
        ((("2026-02-28", None), ("2026-02-28", "2026-02-01")), ("2026-02-28", "2026-02-01")),
    ],
)
def test_chunks_of_several_days_have_those_of_the_document(
    dates: tuple[tuple[str, str], ...], shown: tuple[str | None, str | None]
) -> None:
    chunks = [
        chunk("So.", at, at + 1, at * 9, date=day, first_day=first, document_date="2026-02-28")
        for at, (day, first) in enumerate(dates)
    ]
    (part,) = joined(PASSAGES, map(whole, chunks))
    assert (part.excerpt.about.date, part.excerpt.about.first_day) == shown


def test_a_window_is_cited_by_its_own_lines_and_bytes() -> None:
    text = "Über eins.\nÜber zwei.\nÜber drei."
    part = make_part(PASSAGES, chunk(text, 0, 5, 100), window=(11, 21))
    (span,) = part.spans
    assert (part.text, span.lines) == ("Über zwei.", (6, 6))
    cut = span.excerpt
    assert (cut.text, cut.start_byte, cut.end_byte) == ("Über zwei.", 112, 123)
    assert (cut.about.start_line, cut.about.end_line) == (6, 6)


def test_rules_that_fill_their_share_to_the_token_are_no_matter_for_a_warning() -> None:
    rule = chunk("Never feed the herons bread.", 0, 1, 0)
    budget = 2 * tokens(joined(ALWAYS, [whole(rule)]))
    assert fix([[rule]], (), (), Sharing(budget, 0, 0.5, 0.2, 0.2)).warning == ""
    assert fix([[rule]], (), (), Sharing(budget, 0, 0.49, 0.2, 0.2)).warning == (
        "files marked always take 50% of the budget, more than context.always_share"
    )


def test_soft_rules_that_fill_their_share_to_the_token_fit() -> None:
    rule = chunk("Greet everybody who feeds the herons.", 0, 1, 0)
    (part,) = joined(SOFT, [whole(rule)])
    for share, is_shown in ((part.cost / 1024, True), (part.cost / 1025, False)):
        fixed = fix([], [rule], (), Sharing(1024, 0, 0.2, share, 0.2))
        assert (fixed.parts == (part,), fixed.soft_left == ()) == (is_shown, is_shown)


def test_soft_rules_are_shown_to_the_last_line_that_fits() -> None:
    """A heading waits for a line below it, and no line of a comment comes without the other."""
    lines = ["# House", "", "<!-- not", "for readers -->", *(f"- Rule {n:02}." for n in range(20))]
    rules = [chunk("\n".join(lines), 0, 1, 0)]
    shown = []
    for budget in range(20, 200):
        fixed = fix([], rules, (), Sharing(budget, 0, 0.0, 1.0, 0.0))
        text = "".join(part.text for part in fixed.parts)
        left = "".join(part.text for part in fixed.soft_left)
        assert (text + left).count("Rule") == 20
        assert ("for readers" in text + left, text == "# House") == (False, False)
        assert fixed.cut_ids == ({1} if left else set())
        shown.append(text.count("Rule"))
    assert shown == sorted(shown)
    assert set(shown) == set(range(21))


def test_the_newest_records_that_somebody_wants_come_with_a_question_as_far_as_they_fit() -> None:
    newest = [(whole(chunk("The heron was fed. " * 8, n, n, 200 * n)),) for n in range(9, 0, -1)]
    for is_set, budget, count in (
        (True, 400, 3), (True, 110, 1), (True, 20, 0), (False, 400, 1), (False, 110, 0),
    ):  # fmt: skip
        wanted = Sharing(budget, 3, 0.3, 0.1, 0.2, has_question=True, is_tail_set=is_set)
        fixed = fix([], [], newest, wanted)
        assert fixed.chunk_ids == frozenset(range(11 - count, 11)), (is_set, budget)
        assert cost(fixed.parts) <= budget


def test_preferences_leave_room_for_the_sentence_that_nothing_is_sure() -> None:
    (preference,) = joined(PREFERENCES, [whole(chunk("I prefer trains.", 0, 1, 0))])
    needed = cost([preference])
    wanted = Sharing(ceil(needed), 0, 0.2, 0.2, 0.2, preference_share=1.0, has_question=True)
    for budget, shown in ((needed, ()), (needed + wanted.reserve, (preference,))):
        given = wanted._replace(budget=ceil(budget))
        assert _with_preferences(FixedParts((), (), ""), [preference], given).parts == shown


def test_what_would_fit_to_the_token_counts_as_saved() -> None:
    (part,) = joined(PASSAGES, [whole(chunk("Herons nest.", 0, 1, 0))])
    assert [_fitting([part], room) for room in (part.cost, part.cost - 0.1)] == [part.cost, 0.0]


def test_what_the_path_or_the_text_says_is_not_told_again() -> None:
    about = chunk("## Ports\nFive.", 0, 1, 0).about._replace(
        path="memory/harbour.md", heading_path=("harbour", "Cranes", "Ports"), trust="trusted"
    )
    line = opening_line(about, "## Ports\nFive.")
    assert line.startswith(f"{about.citation} | ")
    assert line.endswith("Cranes")
    assert ("harbour >" in line, "Ports" in line) == (False, False)


def test_a_window_begins_at_its_first_line_with_words() -> None:
    part = make_part(PASSAGES, chunk("Eins.\n\nZwei.\n", 0, 5, 100), window=(5, 13))
    (span,) = part.spans
    assert (part.text, span.lines, span.excerpt.start_byte) == ("Zwei.", (7, 7), 107)


def test_a_window_behind_a_blank_line_of_its_chunk_is_cited_by_its_lines() -> None:
    part = make_part(PASSAGES, chunk("\nEins.\nZwei.", 0, 5, 100), window=(0, 6))
    about = part.excerpt.about
    assert (part.text, about.start_line, about.end_line) == ("Eins.", 6, 6)


def test_windows_that_only_touch_show_nothing_twice() -> None:
    text = chunk("Eins zwei drei.", 0, 1, 0)
    left, right = (make_part(PASSAGES, text, window=window) for window in ((0, 5), (5, 10)))
    assert not left.overlaps(right, by_lines=False)
    assert left.overlaps(right, by_lines=True)
    assert left.overlaps(make_part(PASSAGES, text, window=(4, 9)), by_lines=False)


def test_soft_rules_leave_room_for_the_sentence_that_nothing_is_sure() -> None:
    rule = chunk("Greet people.", 0, 1, 0)
    needed = tokens([make_part(SOFT, rule)])
    for has_question in (False, True):
        room = Sharing(needed, 0, 0.2, 1.0, 0.2, has_question=has_question)
        assert bool(fix([], [rule], (), room).parts) is not has_question
    wide = room._replace(budget=ceil(needed + room.reserve))
    assert fix([], [rule], (), wide).parts


def test_the_tail_takes_no_room_of_the_rules() -> None:
    rule = chunk("Never feed the herons bread. " * 9, 0, 1, 0)
    days = [
        [whole(chunk(f"A heron came on day {n}.", n, 1, 0, path=f"memory/{n}.md"))]
        for n in range(60)
    ]
    for has_question in (False, True):
        room = Sharing(400, 60, 1.0, 1.0, 1.0, has_question=has_question)
        parts = fix([[rule]], (), days if has_question else days[:3], room).parts
        assert tokens(parts) <= 400
        assert len(parts) > 3


def test_a_record_is_a_section_with_a_body() -> None:
    def is_record(text: str) -> bool:
        return _is_entry(chunk(text, 0, 1, 0, heading_path=("Ports",)))

    assert is_record("## Ports\n\nFive.")
    assert not is_record("Five.")
    assert not is_record("## Ports")
    assert not is_record("## Cranes\n\nFive.")
