"""Every stage that can lose the judged lines is told apart."""

from __future__ import annotations

from memcli.bench.loss import Loss, lost_at
from memcli.bench.metrics import Range
from memcli.search.pipeline import FOCUS_POOL, Answer, Leg
from tests.bench.makers import answer, hit

WANTED = [Range("a.md", 3, 4)]
OTHERS = [hit("b.md", n, n, chunk=n) for n in range(1, 101)]
HELD = hit("a.md", 4, 6, chunk=500)
BESIDE = hit("a.md", 9, 9, chunk=500)


def _lost(given: Answer, *, lines: int = 9) -> Loss | None:
    return lost_at(given, WANTED, limit=5, line_count=lambda path: lines)


def test_nothing_is_lost_when_the_first_passages_hold_the_lines() -> None:
    assert _lost(answer([*OTHERS[:4], HELD])) is None


def test_a_passage_too_low_is_blamed_on_the_stage_that_put_it_there() -> None:
    sixth = answer([*OTHERS[:5], HELD], fused=[*OTHERS[:5], HELD])
    assert _lost(sixth) == Loss("rank", "chunk 6 when fused (fuse:scaled 0.500)")
    first_when_fused = answer([*OTHERS[:5], HELD], fused=[HELD, *OTHERS[:5]])
    assert _lost(first_when_fused) == Loss("focus", "chunk 1 when fused (fuse:scaled 0.500)")


def test_a_file_that_is_gone_is_said_before_all() -> None:
    assert _lost(answer(OTHERS), lines=0) == Loss("files", "a.md is not in the memory")


def test_a_file_that_became_shorter_than_the_judged_lines_is_said() -> None:
    cut = _lost(answer(OTHERS), lines=2)
    assert cut == Loss("files", "a.md has 2 lines, and line 3 was judged")


def test_what_no_leg_found_is_lost_at_recall() -> None:
    given = answer(OTHERS)._replace(
        lexical=Leg(True, None, 0, 9), candidates=100, unmatched=("heron",)
    )
    assert _lost(given) == Loss("recall", "no candidate of keywords among 100; in no chunk: heron")


def test_a_candidate_past_the_pool_is_lost_at_fusion() -> None:
    given = answer(OTHERS, fused=[*OTHERS[:FOCUS_POOL], HELD])
    assert _lost(given) == Loss("fuse", "101 of 101, past the first 100 chunks")


def test_other_lines_of_the_chunk_are_lost_at_focus() -> None:
    assert _lost(answer([BESIDE], fused=[HELD])) == Loss(
        "focus", "other lines of its chunk were chosen: a.md:9-9"
    )


def test_a_folded_passage_is_lost_at_mmr() -> None:
    shown = OTHERS[0]._replace(duplicates=("a.md:4-6",))
    assert _lost(answer([shown], fused=[HELD])) == Loss(
        "mmr", "folded into b.md:1-1, which says the same"
    )


def test_what_no_other_stage_explains_fell_below_the_floor_or_out_of_the_pool() -> None:
    found = _lost(answer(OTHERS, fused=[HELD]))
    assert found
    assert found.stage == "floor"
