"""How much of an answer is worth reading."""

from __future__ import annotations

import pytest

from memcli.search.hits import Hit
from memcli.search.lines import Run
from memcli.search.pipeline import NOTHING
from memcli.search.worth import best_run, worthwhile
from memcli.types import Turn
from tests.search.makers import candidate, fused

WORDS = "the pool ran dry before noon"  # 7 tokens


def _hit(at: int, score: float, confidence: float | None, *lines: str) -> Hit:
    lines = lines or (WORDS,)
    (hit,) = fused(candidate(at, lines=lines, cosines=(0.5,) * len(lines)))
    return hit._replace(score=score, confidence=confidence, last=len(lines) - 1)


def _ended(
    hits: list[Hit], *, verdict: str = "good", is_measured: bool = True
) -> tuple[list[Hit], int]:
    answer = NOTHING._replace(hits=tuple(hits), verdict=verdict, is_measured=is_measured)
    ended = worthwhile(answer)
    return list(ended.hits), ended.weaker


@pytest.mark.parametrize(
    ("gains", "run", "total"),
    [
        ([-1.0, 3.0, -1.0, 2.0, -5.0], Run(1, 3), 4.0),
        ([-2.0, -1.0, -3.0], Run(1, 1), -1.0),
        ([1.0], Run(0, 0), 1.0),
        ([1.0, -1.0, 1.0], Run(0, 0), 1.0),
    ],
)
def test_the_best_run_has_the_largest_sum(gains: list[float], run: Run, total: float) -> None:
    assert best_run(gains) == (run, total)


def test_an_answer_ends_where_what_follows_is_far_less_likely() -> None:
    scores = ((1.0, 0.99), (0.97, 0.99), (0.3, 0.06), (0.25, 0.05))
    hits = [_hit(at, *each, *[WORDS] * 6) for at, each in enumerate(scores, 1)]
    kept, weaker = _ended(hits)
    assert (kept, weaker) == (hits[:2], 2)


def test_passages_that_are_as_likely_are_all_shown_unless_nothing_matches() -> None:
    hits = [_hit(at, 1.0, 0.5) for at in range(1, 8)]
    assert _ended(hits) == (hits, 0)
    assert _ended(hits, verdict="none") == (hits[:3], 4)
    assert _ended(hits, verdict="none", is_measured=False) == (hits[:3], 4)
    unknown = [hit._replace(confidence=None) for hit in hits]
    assert _ended(unknown) == (unknown, 0)


def test_the_first_passage_is_shown_at_any_length_and_no_answer_is_none() -> None:
    long = _hit(1, 1.0, 0.1, WORDS * 500)
    assert _ended([long, _hit(2, 0.1, 0.0, WORDS * 500)]) == ([long], 1)
    assert _ended([]) == ([], 0)


def test_a_passage_of_a_conversation_is_narrowed_to_the_turns_that_answer() -> None:
    chatter = "And what else is new with you, and with everybody at home? " * 10
    said = ("- **Odette**: " + chatter, "- **Kate**: the pool ran dry", "- **Odette**: " + chatter)
    turns = tuple(Turn(n, n, who) for n, who in enumerate(("Odette", "Kate", "Odette"), 1))
    hit = _hit(1, 1.0, 0.3, *said)._replace(turns=turns, asked=("Kate",))
    kept, weaker = _ended([hit])
    assert (kept[0].text, kept[0].citation, weaker) == (said[1], "1.md:2-2", 0)
    note = hit._replace(turns=(), asked=())
    assert _ended([note])[0] == [note]
