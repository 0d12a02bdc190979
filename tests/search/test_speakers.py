"""Whose words a question is about, and what becomes of the words of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.search.lines import by_line
from memcli.search.ranked import RankedPassage
from memcli.search.speakers import (
    ConversationSpeakers,
    SpeakerFocus,
    Voices,
    labels_of,
    lead_of,
    speaker_focus,
    weight_of,
)
from memcli.types import SegmentScore, Turn
from tests.commands import printed, record
from tests.search.makers import candidate, fused
from tests.support import write

SPEAKERS = ["Assistant", "Kate", "Project Manager", "User", "Will", "李雪"]


@pytest.mark.parametrize(
    ("question", "names", "of_writer"),
    [
        ("What did Kate buy?", ("Kate",), False),
        ("kate's bicycle", ("Kate",), False),
        ("Kates Fahrrad", ("Kate",), False),
        ("what does the project manager say of the remote", ("Project Manager",), False),
        ("Katherine's bicycle", (), False),
        ("Will it rain", (), False),
        ("did Will see it", ("Will",), False),
        ("李雪喜欢什么电影", (), False),
        ("what did the assistant recommend", ("Assistant",), False),
        ("when do I prefer meetings", (), True),
        ("wann ist meine Besprechung", (), True),
        ("我喜欢哪些电影", (), True),
        ("meetings of the user", (), True),
        ("user authentication", (), False),
        ("trade with the US", (), False),
        ("what did you tell me of the boiler", (), False),
        ("which methods have you suggested to me", (), False),
        ("你告诉过我哪些方法", (), False),
        ("could you show me the boiler", (), True),
        ("the boiler", (), False),
    ],
)
def test_whose_words_a_question_is_about(
    question: str, names: tuple[str, ...], of_writer: bool
) -> None:
    assert speaker_focus(question, SPEAKERS) == SpeakerFocus(names, of_writer)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("kate", ["Kate"]),
        ("user", ["User"]),
        ("assistant", ["Assistant"]),
        ("tool", []),
        ("Nobody", []),
    ],
)
def test_a_name_or_a_role_stands_for_speakers(wanted: str, found: list[str]) -> None:
    assert labels_of(wanted, SPEAKERS) == found


def test_where_nobody_is_called_user_all_but_machines_are() -> None:
    assert labels_of("user", ["AI", "Kate", "Tool", "李雪"]) == ["Kate", "李雪"]


def test_lines_of_a_machine_count_for_less_where_nobody_else_speaks() -> None:
    turns = [Turn(1, 2, "User"), Turn(3, 9, "Assistant")]
    assert weight_of(turns, 1, 3) == 1.0
    assert weight_of(turns, 4, 7) == pytest.approx(0.6)
    assert weight_of(turns, 9, 10) == pytest.approx(0.8)  # half of the lines are nobody's
    assert weight_of((), 1, 3) == 1.0


def test_what_is_pasted_behind_what_is_said_counts_for_less() -> None:
    long, short = Turn(1, 13, "User"), Turn(1, 12, "User")
    assert [weight_of([long], first, first + 1) for first in (1, 4, 5, 12)] == [1.0, 1.0, 0.5, 0.5]
    assert weight_of([short], 11, 12) == 1.0
    assert weight_of([long, Turn(14, 15, "Assistant")], 14, 15) == pytest.approx(0.6)


def test_a_question_of_its_writer_puts_the_machine_lower() -> None:
    turns = {1: [Turn(1, 2, "Assistant")], 2: [Turn(1, 2, "User")]}
    was = fused(
        candidate(1, bm25=3.0, lines=("a", "b"), cosines=(None, None)),
        candidate(2, bm25=2.0, lines=("a", "b"), cosines=(None, None)),
    )
    first, second = ConversationSpeakers(SpeakerFocus((), True), (), turns).leaned(was)
    assert [first.about.chunk_id, second.about.chunk_id] == [2, 1]
    assert second.score == pytest.approx(0.6 * was[0].score)
    assert [step.stage for step in second.trace] == ["fuse", "speaker"]
    assert [step.stage for step in first.trace] == ["fuse"]


def _voices(*shares: float, only: bool = False, names: tuple[str, ...] = ("Kate",)) -> Voices:
    chunk = candidate(1, lines=("one", "two", "three", "four"), cosines=(None,) * 4)
    speakers = ("Odette", "Kate", "Odette", "Odette")
    turns = [Turn(at, at, name) for at, name in enumerate(speakers, start=1)]
    return Voices(names, only, {1: turns}, {1: by_line(chunk)}, {1: shares})


def _passage(first: int, last: int) -> RankedPassage:
    chunk = candidate(1, bm25=1.0, lines=("one", "two", "three", "four"), cosines=(None,) * 4)
    return fused(chunk)[0]._replace(first=first, last=last, best=first)


def test_idle_lines_of_others_are_trimmed_off_the_ends() -> None:
    (passage,) = _voices(0.0, 0.0, 0.3, 0.0).trimmed([_passage(0, 3)])
    assert (passage.start_line, passage.end_line, passage.text) == (2, 3, "two\nthree")
    assert (passage.named_speakers, passage.speaker_match) == (("Kate",), -0.3)
    assert passage.score == _passage(0, 3).score


def test_a_passage_without_a_line_of_theirs_counts_for_less_and_stays_whole() -> None:
    (passage,) = _voices(0.0, 0.0, 0.0, 0.0).trimmed([_passage(2, 3)])
    assert (passage.start_line, passage.end_line) == (3, 4)
    assert passage.score == pytest.approx(0.8 * _passage(2, 3).score)
    assert passage.trace[-1].stage == "speaker"


def test_a_filter_leaves_no_line_of_others_and_no_passage_of_them() -> None:
    voices = _voices(0.3, 0.3, 0.3, 0.3, only=True)
    (passage,) = voices.trimmed([_passage(0, 1), _passage(2, 3)])
    assert (passage.start_line, passage.end_line) == (2, 2)
    both = _voices(0.2, 0.0, 0.9, 0.0, only=True, names=("Odette",))
    best, other = both.trimmed([_passage(0, 3)])
    assert [(passage.start_line, passage.end_line) for passage in (best, other)] == [(1, 1), (3, 4)]
    assert best.score == _passage(0, 3).score == pytest.approx(other.score / 0.8)


def test_a_part_of_several_lines_is_cut_into_those_that_say_something() -> None:
    part = SegmentScore(7, 10, 4, 18, 0.5)
    chunk = candidate(1)._replace(text="So. One.\n\nTwo.\nIII", segments=(part,))
    cut = by_line(chunk)
    assert [chunk.text[each.start : each.end] for each in cut.segments] == ["One.", "Two.", "III"]
    assert [each.start_line for each in cut.segments] == [7, 9, 10]
    assert {each.cosine for each in cut.segments} == {0.5}
    odd = chunk._replace(segments=(part._replace(end_line=8),))  # it counts other lines
    assert by_line(odd) == odd


def test_shown_passages_tell_who_speaks() -> None:
    turns = (Turn(1, 1, "Odette"), Turn(2, 2, "Kate"), Turn(3, 9, "Odette"))
    assert _passage(0, 3)._replace(turns=turns).spoken == {"Odette": 3, "Kate": 1}
    assert _passage(0, 3).spoken == {}


def test_the_lead_of_an_answer_is_the_mean_of_its_first_passages() -> None:
    leads = [0.5, None, -0.1, 0.2, 0.0, 0.4, -1.0]
    passages = [_passage(0, 3)._replace(speaker_match=lead) for lead in leads]
    assert lead_of(passages) == pytest.approx(0.2)
    assert lead_of([_passage(0, 3)]) is None


CHAT = """# Chat

- **Ruben**: The bicycle has a flat tyre.
- **Odette**: My bicycle is in the shed.
- **Ruben**: I bought the bicycle in June.
  It is red.
- **Odette**: A red bicycle, how nice.
- **Ruben**: The weather is fine.
- **Odette**: It is.
"""


def test_a_filter_shows_the_lines_of_one_speaker_and_cites_no_other(tmp_path: Path) -> None:
    """Every output reads these passages, so no form of them has a line of Odette."""
    write(tmp_path, "memory/2025-06-01.md", CHAT)
    lines = CHAT.split("\n")
    for more in ((), ("--full",), ("--mode", "keyword")):
        asked = ("search", "bicycle", "--by", "Ruben", "-w", str(tmp_path), *more)
        found = record(*asked)["results"]
        cited = [(each["start_line"], each["end_line"]) for each in found]
        assert {(3, 3), (5, 6)} <= set(cited) <= {(3, 3), (5, 6), (8, 8)}, more
        shown = ["\n".join(lines[first - 1 : last]) for first, last in cited]
        assert [each["snippet"].strip() for each in found] == [each.strip() for each in shown]
        assert "Odette" not in printed(*asked)[0]


CLAIMS = """# Call

- **Ruben**: What did you buy for the trip?
- **Odette**: {}
- **Ruben**: A lamp is a good thing in the dark, it is cheap too.
- **Odette**: It is.
- **Ruben**: Good night then.
- **Odette**: Good night.
"""


@pytest.mark.parametrize(
    ("line", "mark"),
    [
        ("It is cold. I bought a red lamp for the trip.", " [not Ruben]"),
        ("I have a cat. Ruben bought a red lamp for the trip.", ""),
        ("I have a cat. You bought a red lamp for the trip.", ""),
        ("Somebody bought a red lamp for the trip.", ""),
        ("Mein Hund ist da. Ich habe a red lamp for the trip bought.", " [not Ruben]"),
    ],
)
def test_a_line_is_marked_in_which_another_claims_what_is_asked(
    tmp_path: Path, line: str, mark: str
) -> None:
    write(tmp_path, "memory/2025-06-01.md", CLAIMS.format(line))
    question = "when did Ruben buy the red lamp for the trip"
    out, err = printed("search", question, "-w", str(tmp_path), "--mode", "keyword", "--more")
    assert f"4: Odette: {line}{mark}\n" in out
    assert out.count("[not Ruben]") == bool(mark)
    assert ("best match is not by Ruben" in err) == bool(mark)
