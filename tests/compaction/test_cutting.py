"""How a log is cut into entries and sentences, and what its words weigh."""

from __future__ import annotations

import time

import pytest

from memcli.compaction.entries import ENTRY_TOKENS, DatedLog, cut
from memcli.compaction.sentences import Sentence, sentences, split
from memcli.compaction.superseded import Reversal, superseding
from memcli.language.terms import content
from memcli.language.tokens import measure

FILLER = "The heron stood in the reeds and waited. "
# A paragraph that leaves room for one line more in its entry.
FIRST = FILLER * int(ENTRY_TOKENS / measure(FILLER))


@pytest.mark.parametrize(
    "text",
    [
        "M. Perret signed the quote.",
        "They met Anna K. Miller there.",
        "Mr. Perret came, e.g. Monday.",
        "It is No. 5 on the list.",
    ],
)
def test_no_sentence_ends_after_an_initial_or_an_abbreviation(text: str) -> None:
    assert list(split(f"{text} It rained.")) == [text, "It rained."]


def _log(*lines: str) -> DatedLog:
    return DatedLog("memory/2026-02-01.md", "Log", "2026-02-01", lines)


@pytest.mark.parametrize(
    ("behind", "first"),
    [
        (("", "```", FILLER * 3, "```"), 3),
        (("", "| a | b |", "|---|---|", f"| {FILLER * 3} | 2 |"), 3),
        ((f"- {FILLER * 3}",), 3),
        (("", f"- {FILLER * 3}"), 5),
        (("", FILLER * 3), 5),
    ],
)
def test_a_paragraph_goes_along_with_what_it_is_said_of(
    behind: tuple[str, ...], first: int
) -> None:
    entries = cut(_log(FIRST, "", "The gate.", *behind))
    assert [entry.start_line for entry in entries] == [1, first]


def _kept(text: str) -> list[tuple[str, bool]]:
    (entry,) = cut(_log(*text.split("\n")))
    return [(each.text, bool(each.reason)) for each in sentences(entry)]


def test_a_short_answer_keeps_all_that_its_line_says_before_it() -> None:
    said = [f"The {name} of the upper pond was found by the keepers of the night shift to leak."
            for name in ("pump", "gate", "valve", "weir")]  # fmt: skip
    found = _kept(f"- {said[0]}\n- {said[1]} {said[2]} {said[3]} Agreed.")
    assert found == [(said[0], False), *((text, True) for text in said[1:]), ("Agreed.", True)]


def test_a_decision_is_taken_back_by_the_first_line_that_corrects_it() -> None:
    made = Sentence("We decided on the valve gate pump.", "a.md", 1, 1, "", "", "decision")
    texts = ("We replaced the valve gate pump.", "The crane was replaced.")
    right, other = (
        Reversal(at, (text,), frozenset(content(text))) for at, text in enumerate(texts, start=1)
    )
    assert superseding(made, [other]) is None
    assert superseding(made, [other, right, right._replace(at=3)]) == right
    assert superseding(made._replace(reason="rule"), [right]) is None


def test_a_list_and_what_is_announced_stay_together_however_long_they_are() -> None:
    assert len(cut(_log("# Day", "", *(f"- item {n}: {FILLER}" for n in range(80))))) == 1
    told = _log(f"{FIRST}So:", "", FIRST, "", FIRST)
    assert [entry.start_line for entry in cut(told)] == [1, 5]


def test_a_heading_without_a_body_at_the_end_is_a_record() -> None:
    found = cut(_log("# Day", "", "## Walk", "", "Far.", "", "## Rest"))
    assert [(each.headings, each.start_line, each.end_line) for each in found] == [
        (("Day", "Walk"), 1, 5),
        (("Day",), 7, 7),
    ]


@pytest.mark.nightly
@pytest.mark.parametrize("unit", ["Always ask. ", "- Kate: I prefer it.\n- Odette: never mind\n"])
def test_the_time_to_cut_a_record_grows_with_its_length_alone(unit: str) -> None:
    """A list of turns is one bundle, and so is a line of short sentences, however long."""

    def seconds(times: int) -> float:
        entries = cut(_log(*(unit * times).split("\n")))
        begun = time.process_time()
        assert sum(len(sentences(entry)) for entry in entries) >= times
        return time.process_time() - begun

    short = min(seconds(1_000) for _ in range(3))
    assert min(seconds(4_000) for _ in range(2)) < 9 * max(short, 0.01)
