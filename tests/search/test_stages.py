"""Each stage against numbers worked by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.dates.find import find_dates
from memcli.embedding.models import Calibration
from memcli.language.tokens import estimate
from memcli.search.budget import fit_budget, shortened
from memcli.search.confidence import LOW, apply_threshold, judge, match_of, sure_of_its_day
from memcli.search.focus import WIDTH, Adjustments, WeightedTerm, Width, focus, occurrences
from memcli.search.fusion import LengthPrior, Weights, fuse, text_share
from memcli.search.mmr import diversify, likeness, token_set
from memcli.search.proximity import (
    FIRST_DAY,
    LAST_DAY,
    apply_decay,
    apply_proximity,
    choose,
    distance,
    excluded_spans,
    factor,
    is_of,
    nearest_first,
    of_dates_alone,
    spans_of,
)
from memcli.search.ranked import RankedPassage, ordered
from tests.search.makers import HALVES, candidate, fused, ids, scores

VECTORS = Weights(1.0, 0.0)


def test_scaled_fusion_adds_the_cosine_and_the_share_of_the_best_bm25() -> None:
    """1: 0.5 * 0.8 + 0.5 * 2/4 = 0.65; 2: 0.5 * 0.2 + 0.5 * 4/4 = 0.6."""
    passages = fused(candidate(1, bm25=2.0, cosines=(0.8,)), candidate(2, bm25=4.0, cosines=(0.2,)))
    assert scores(passages) == pytest.approx({1: 0.65, 2: 0.6})
    assert ids(passages) == [1, 2]


def test_words_count_by_the_root_of_the_best_coverage() -> None:
    """With a quarter of the query's IDF matched at best, bm25 counts half: 0.5 * 0.5 * 1."""
    coverage = {1: 0.25}
    share, chunks = text_share(coverage), [candidate(1, bm25=3.0)]
    passages = fuse(chunks, coverage, method="scaled", weights=HALVES, text_share=share)
    assert passages[0].score == pytest.approx(0.25)


def test_a_long_segment_gets_a_little_added_to_its_cosine() -> None:
    """400 characters are twice the usual 200: 0.02 * ln 2 for chunk 1, nothing for chunk 2."""
    chunks = [candidate(n, lines=("x" * 400,), cosines=(0.5,)) for n in (1, 2)]
    prior, weights = LengthPrior(0.02, {1}), Weights(1.0, 0.0)
    passages = fuse(chunks, {}, method="scaled", weights=weights, text_share=1.0, prior=prior)
    more = 0.02 * math.log(2)
    assert scores(passages) == pytest.approx({1: 0.5 + more, 2: 0.5})
    assert [passage.cosine for passage in passages] == [0.5, 0.5]  # of which confidence is made
    found = focus(
        passages, {1: [("x",)], 2: [("x",)]}, (), weights=weights, text_share=1.0, whole=False,
        adjusted=Adjustments(prior=prior),
    )  # fmt: skip
    assert scores(found) == pytest.approx({1: (1.0 + 2 * more) / 2.3, 2: 1.0 / 2.3})


def test_weighted_fusion_divides_by_the_best_cosine_and_ranks_from_zero() -> None:
    """1: 0.7 * 0.4/0.8 + 0.3 / (1 + 0) = 0.65; 2: 0.7 * 1 + 0.3 / (1 + 1) = 0.85."""
    passages = fused(
        candidate(1, bm25=4.0, cosines=(0.4,)),
        candidate(2, bm25=2.0, cosines=(0.8,)),
        method="weighted",
        weights=Weights(0.7, 0.3),
    )
    assert scores(passages) == pytest.approx({1: 0.65, 2: 0.85})


def test_weighted_fusion_without_a_positive_cosine_goes_by_words() -> None:
    passages = fused(candidate(1, bm25=1.0, cosines=(-0.5,)), method="weighted", weights=HALVES)
    assert passages[0].score == pytest.approx(0.5)


def test_rrf_sums_reciprocal_ranks_from_one() -> None:
    """First in both retrievers is 2/61 over 2/61; first in one only is half of that."""
    passages = fused(
        candidate(1, bm25=1.0, ranks=(1, 1)), candidate(2, bm25=0.5, ranks=(2, None)), method="rrf"
    )
    assert scores(passages) == pytest.approx({1: 1.0, 2: 61 / 62 / 2})


def test_a_chunk_without_a_vector_gets_the_median_cosine() -> None:
    passages = fused(
        candidate(1, cosines=(0.2,)),
        candidate(2, cosines=(0.4,)),
        candidate(3, cosines=(0.9,)),
        candidate(4, cosines=(None,)),
    )
    assert scores(passages)[4] == pytest.approx(0.5 * 0.4)
    assert next(passage for passage in passages if passage.about.chunk_id == 4).cosine is None


def test_ties_are_broken_by_path() -> None:
    passages = fused(candidate(2, bm25=1.0), candidate(1, bm25=1.0))
    assert [passage.about.path for passage in passages] == ["1.md", "2.md"]


@given(st.permutations(range(5)))
def test_fusion_ignores_the_order_of_its_input(order: list[int]) -> None:
    made = [candidate(i, bm25=i % 3, cosines=(i / 10,), ranks=(i + 1, 5 - i)) for i in range(5)]
    for method in ("scaled", "weighted", "rrf"):
        assert fused(*(made[i] for i in order), method=method) == fused(*made, method=method)


def test_decay_is_one_when_new_and_halfway_to_the_floor_at_the_half_life() -> None:
    assert factor(0, half_life_days=30, floor=0.0) == 1.0
    assert factor(30, half_life_days=30, floor=0.0) == 0.5
    assert factor(30, half_life_days=30, floor=0.8) == pytest.approx(0.9)
    assert factor(-5, half_life_days=30, floor=0.0) == 1.0
    assert factor(None, half_life_days=30, floor=0.0) == 1.0


@given(st.integers(0, 10**6), st.floats(0, 1), st.floats(0.1, 1000))
def test_decay_stays_between_its_floor_and_one_and_never_grows(
    age: int, floor: float, half_life: float
) -> None:
    value = factor(age, half_life_days=half_life, floor=floor)
    assert floor <= value <= 1.0
    assert factor(age + 1, half_life_days=half_life, floor=floor) <= value


def test_undated_records_do_not_decay() -> None:
    passages = fused(candidate(1, bm25=1.0), candidate(2, bm25=1.0, date="2026-01-01"))
    decayed = apply_decay(passages, age_days=lambda day: 30, half_life_days=30, floor=0.0)
    assert scores(decayed) == pytest.approx({1: 0.5, 2: 0.25})


def test_a_date_in_the_query_lifts_records_near_it() -> None:
    """Bonus 0.5 inside the span, 0.25 three days off: s + (1 - s) * bonus with s = 0.5."""
    passages = fused(
        candidate(1, bm25=1.0, date="2026-01-10"),
        candidate(2, bm25=1.0, date="2026-01-13"),
        candidate(3, bm25=1.0, date="2026-06-01"),
        candidate(4, bm25=1.0),
    )
    moved = apply_proximity(passages, spans=[("2026-01-10", "2026-01-10")])
    assert scores(moved) == pytest.approx({1: 0.75, 2: 0.625, 3: 0.5, 4: 0.5})
    assert apply_proximity(passages, spans=[]) == passages
    far = fused(*(candidate(n, bm25=1.0, date=f"2026-02-{n:02}") for n in (9, 10)))
    (thirty, more) = apply_proximity(far, spans=[("2026-01-10", "2026-01-10")])
    assert thirty.score == pytest.approx(0.5 + 0.25 / 2**10)
    assert more.score == 0.5
    assert distance(("2026-01-01", "2026-01-01"), ("2026-01-03", "2026-01-05")) == 2


def test_what_happened_in_a_stretch_is_told_of_up_to_the_day_after() -> None:
    """But on a day that is named, and in a year, it was told of then."""
    for day, days in (("05", 0), ("06", 0), ("07", 1), ("02", 1)):
        assert distance((f"2026-01-{day}",) * 2, ("2026-01-03", "2026-01-05")) == days
    assert distance(("2026-01-06", "2026-01-06"), ("2026-01-05", "2026-01-05")) == 1
    assert distance(("2026-01-06", "2026-01-06"), ("2026-01-04", "2026-01-05")) == 0
    assert distance(("2026-02-01", "2026-02-01"), ("2026-01-01", "2026-01-31")) == 0
    assert distance(("2027-01-01", "2027-01-01"), ("2026-01-01", "2026-12-31")) == 1
    after = [candidate(1, bm25=1.0, date="2026-01-06")]
    assert not is_of(fused(*after)[0], [("2026-01-03", "2026-01-05")])
    assert is_of(fused(*after)[0], [("2026-01-03", "2026-01-05"), ("2026-01-06", "2026-01-06")])


def spanning(first_day: str, last_day: str, chunk_id: int = 1) -> RankedPassage:
    (passage,) = fused(candidate(chunk_id, bm25=1.0, date=last_day))
    about = passage.about._replace(first_day=first_day)
    return passage._replace(candidate=passage.candidate._replace(about=about))


def test_a_record_of_a_month_is_of_each_of_its_days() -> None:
    month = spanning("2026-02-01", "2026-02-28")
    for day in ("2026-02-01", "2026-02-10", "2026-02-28"):
        assert is_of(month, [(day, day)])
        assert scores(apply_proximity([month], spans=[(day, day)])) == {1: 0.75}
    for day, days in (("2026-01-29", 3), ("2026-03-03", 3), ("2026-04-30", 61)):
        assert not is_of(month, [(day, day)])
        assert distance(("2026-02-01", "2026-02-28"), (day, day)) == days
    assert scores(apply_proximity([month], spans=[("2026-01-29", "2026-01-29")])) == {1: 0.625}
    assert is_of(month, [("2026-02-20", "2026-03-31")])
    assert distance(("2026-02-01", "2026-02-28"), (FIRST_DAY, "2026-01-31")) > 30


def test_a_record_of_a_month_is_left_out_where_all_of_it_is_excluded() -> None:
    week = spanning("2026-01-26", "2026-02-01")
    spans, out = [(FIRST_DAY, "2026-01-31")], [("2026-02-01", "2026-02-28")]
    assert scores(apply_proximity([week], spans=spans, out=out)) == {1: 0.65}
    month = spanning("2026-02-01", "2026-02-28")
    assert scores(apply_proximity([month], spans=[(FIRST_DAY, LAST_DAY)], out=out)) == {1: 0.5}


def test_a_record_of_the_month_does_not_go_before_one_of_the_day() -> None:
    day = [("2026-02-10", "2026-02-10")]
    (of_day,) = fused(candidate(2, bm25=1.0, date="2026-02-10"))
    passages = [spanning("2026-02-01", "2026-02-28")._replace(score=0.6), of_day]
    moved = apply_proximity([passage._replace(own_coverage=1.0) for passage in passages], spans=day)
    assert ids(moved) == [2, 1]


def test_passages_of_the_day_that_hold_most_words_come_first() -> None:
    """Three quarters are most; a stretch of days has only its bonus."""
    days = ("2026-01-09", "2026-01-10", "2026-01-10")
    passages = fused(
        *(candidate(n, bm25=(9.0, 2.0, 1.0)[n], date=day) for n, day in enumerate(days))
    )
    held = [h._replace(own_coverage=(1.0, 0.7, 0.75)[h.about.chunk_id]) for h in passages]
    day, stretch = [("2026-01-10", "2026-01-10")], [("2026-01-10", "2026-01-12")]
    moved = apply_proximity(held, spans=day)
    assert ids(moved) == [2, 0, 1]
    ranked = [passage.score for passage in moved]
    assert ranked == sorted(ranked, reverse=True)
    assert ids(apply_proximity(held, spans=stretch)) == [0, 1, 2]


def test_a_hit_of_the_day_is_as_sure_as_it_holds_the_words() -> None:
    (passage,) = judge(fused(candidate(1, bm25=1.0)), None, rarity=0.0)
    assert sure_of_its_day(passage).confidence is None
    sure = passage._replace(confidence=0.3, own_coverage=0.8)
    assert sure_of_its_day(sure).confidence == 0.8
    assert sure_of_its_day(sure._replace(confidence=0.9)).confidence == 0.9


def test_beyond_a_bound_nothing_is_near() -> None:
    """Until 1 August the bonus is that of a stretch; on 1 August itself it is nothing."""
    days = ("2023-07-31", "2023-08-01", "2023-06-01")
    passages = fused(*(candidate(n, bm25=1.0, date=day) for n, day in enumerate(days)))
    moved = apply_proximity(passages, spans=[(FIRST_DAY, "2023-07-31")])
    assert scores(moved) == pytest.approx({0: 0.65, 1: 0.5, 2: 0.65})
    later = apply_proximity(passages, spans=[("2023-08-01", LAST_DAY)])
    assert scores(later) == pytest.approx({0: 0.5, 1: 0.65, 2: 0.5})


def test_what_is_excluded_is_near_to_nothing() -> None:
    """The Monday after last week lies a day behind it."""
    found = find_dates("last week, not on Monday", date(2026, 2, 10))
    days = ("2026-02-03", "2026-02-09", "2026-02-10", "2026-01-01")
    passages = fused(*(candidate(n, bm25=1.0, date=day) for n, day in enumerate(days)))
    spans, out = spans_of(found), excluded_spans(found)
    assert (spans, out) == ([("2026-02-02", "2026-02-08")], [("2026-02-09", "2026-02-09")])
    moved = apply_proximity(passages, spans=spans, out=out)
    assert scores(moved) == pytest.approx(
        {0: 0.65, 1: 0.5, 2: 0.5 + 0.15 * 2 ** (-1 / 4.5), 3: 0.5}
    )


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("not in June 2025", [(FIRST_DAY, "2025-05-31"), ("2025-07-01", LAST_DAY)]),
        (
            "since May 2025, not in June 2025",
            [("2025-05-01", "2025-05-31"), ("2025-07-01", LAST_DAY)],
        ),
        ("in 2025 except March 2025", [("2025-01-01", "2025-02-28"), ("2025-04-01", "2025-12-31")]),
        ("not 0001-01-01", [("0001-01-02", LAST_DAY)]),
        ("not 9999-12-31", [(FIRST_DAY, "9999-12-30")]),
        ("in May 2025, except 2025", []),
    ],
)
def test_what_is_excluded_is_cut_out_of_what_is_wished_for(
    text: str, spans: list[tuple[str, str]]
) -> None:
    assert spans_of(find_dates(text, date(2026, 2, 11))) == spans


def test_the_newest_of_what_answers_about_as_well_comes_first() -> None:
    """4 of 5 is 0.7 of the best or more, 1 of 5 is not; the undated one keeps its place."""
    passages = fused(
        candidate(1, bm25=5.0, date="2026-01-01"),
        candidate(2, bm25=4.5),
        candidate(3, bm25=4.0, date="2026-02-01"),
        candidate(4, bm25=1.0, date="2026-03-01"),
    )
    passages = [h._replace(coverage=1.0 if h.about.chunk_id != 4 else 0.1) for h in passages]
    newest = apply_proximity(passages, spans=[], order="newest")
    assert ids(newest) == [3, 2, 1, 4]
    assert scores(newest) == pytest.approx({3: 0.5, 2: 0.45, 1: 0.4, 4: 0.1})
    oldest = apply_proximity(passages, spans=[], order="oldest")
    assert ids(oldest) == [1, 2, 3, 4]


def test_hits_that_are_equally_good_stay_in_the_order_of_time() -> None:
    """A sort by score would put them in that of their paths."""
    days = ("2026-01-01", "2026-02-01", "2026-03-01")
    passages = fused(*(candidate(n, bm25=1.0, date=day) for n, day in enumerate(days)))
    newest = apply_proximity(passages, spans=[], order="newest")
    assert ids(ordered(newest)) == [2, 1, 0]
    assert scores(newest) == pytest.approx({0: 0.5, 1: 0.5, 2: 0.5})


def test_a_hit_that_holds_the_words_in_its_headings_is_good_from_half_the_score() -> None:
    passages = fused(
        candidate(1, bm25=5.0, date="2026-01-01"), candidate(2, bm25=3.0, date="2026-02-01")
    )
    assert apply_proximity(passages, spans=[], order="newest")[0].about.chunk_id == 2
    poor = [h._replace(coverage=0.5 if h.about.chunk_id == 2 else 1.0) for h in passages]
    assert apply_proximity(poor, spans=[], order="newest")[0].about.chunk_id == 1


@pytest.mark.parametrize(("order", "expected"), [("", [3, 2]), ("newest", [2, 3])])
def test_of_a_question_that_is_only_a_date_no_others_stay(order: str, expected: list[int]) -> None:
    passages = fused(
        candidate(1, bm25=5.0, date="2026-01-11"),
        candidate(2, bm25=1.0, date="2026-01-10"),
        candidate(3, bm25=2.0, date="2026-01-09"),
        candidate(4, bm25=2.0),
    )
    found = of_dates_alone(passages, spans=[("2026-01-09", "2026-01-10")], order=order)
    assert ids(found) == expected
    assert {passage.score for passage in found} == {1.0}
    spans = [("2026-01-09", "2026-01-10")]
    (first,) = choose(passages, spans, order=order, alone=True, limit=1)
    assert first.about.chunk_id == expected[0]


def _focused(
    passages: Sequence[RankedPassage],
    parts: Sequence[tuple[str, ...]],
    *terms: WeightedTerm,
    weights: Weights = HALVES,
    text_share: float = 1.0,
    whole: bool = False,
    width: Width = WIDTH,
) -> list[RankedPassage]:
    """Cut the passages of chunk 1, whose parts have these tokens."""
    share, cut = text_share, {1: parts}
    return focus(passages, cut, terms, weights=weights, text_share=share, whole=whole, width=width)


def test_focus_shows_the_best_part_with_the_neighbours_that_help() -> None:
    """Parts 0.1 0.9 0.5 0.1: the window of the second takes the third and leaves the others.

    Its score: (0.9 + 0.9 + 0.3 * 0.5) / 2.3.
    """
    lines = ("aa", "bb", "cc", "dd")
    passages = fused(candidate(1, lines=lines, cosines=(0.1, 0.9, 0.5, 0.1)), weights=VECTORS)
    found = _focused(passages, [("x",)] * 4, weights=VECTORS)
    assert [(passage.start_line, passage.end_line) for passage in found] == [(2, 3), (1, 1), (4, 4)]
    assert [passage.own_cosine for passage in found] == [0.9, 0.1, 0.1]
    assert found[0].text == "bb\ncc"
    assert found[0].score == pytest.approx((0.9 + 0.9 + 0.3 * 0.5) / 2.3)
    assert found[0].citation == "1.md:2-3"


def test_a_window_takes_the_line_above_it_far_down_in_a_document_too() -> None:
    lines = tuple(f"So {n}" for n in range(12))
    cosines = (0.0,) * 8 + (0.5, 0.9, 0.0, 0.0)
    passages = fused(candidate(1, lines=lines, cosines=cosines), weights=Weights(1.0, 0.0))
    found = _focused(passages, [("x",)] * 12, weights=VECTORS)
    assert (found[0].start_line, found[0].end_line) == (9, 10)


def test_focus_scores_words_by_bm25_of_the_part() -> None:
    """One of two parts holds the word: chunk 0.8 * 1, part (1 - 1.25 * 0.2) * 1, over 2.3."""
    mostly_words = Weights(0.2, 0.8)
    passages = fused(
        candidate(1, bm25=1.0, lines=("aa", "bb"), cosines=(0.0, 0.0)), weights=mostly_words
    )
    found = _focused(passages, [("aa",), ("bb",)], WeightedTerm(("bb",), 2.0), weights=mostly_words)
    assert (found[0].start_line, found[0].end_line) == (2, 2)
    assert found[0].score == pytest.approx((0.8 + 0.75) / 2.3)


def test_without_vectors_a_window_keeps_its_neighbours() -> None:
    passages = fused(
        candidate(1, bm25=1.0, lines=("aa", "bb"), cosines=(None, None)), weights=Weights(0.0, 1.0)
    )
    parts, words = [("aa",), ("bb",)], Weights(0.0, 1.0)
    found = _focused(passages, parts, WeightedTerm(("bb",), 2.0), weights=words)
    assert [(passage.start_line, passage.end_line) for passage in found] == [(1, 2)]


def test_of_a_literal_match_the_passage_that_holds_the_word_is_it() -> None:
    lines, cosines = ("aa", "bb", "cc"), (0.9, 0.1, 0.9)
    (passage,) = fused(candidate(1, lines=lines, cosines=cosines, literal=True))
    parts = [("aa",), ("bb",), ("cc",)]
    found = _focused([passage], parts, WeightedTerm(("bb",), 2.0), text_share=0.1)
    assert {passage.text for passage in found} == {"aa", "bb", "cc"}
    assert [passage.text for passage in found if passage.is_literal] == ["bb"]


def test_of_a_literal_match_whose_words_no_passage_holds_together_the_best_is_it() -> None:
    lines = ("aa", "bb", "cc")
    (passage,) = fused(candidate(1, lines=lines, cosines=(0.9, 0.1, 0.8), literal=True))
    terms = [WeightedTerm(("aa",), 1.0), WeightedTerm(("cc",), 1.0)]
    parts = [("aa",), ("bb",), ("cc",)]
    found = _focused([passage], parts, *terms, text_share=0.1, width=Width(lines=1))
    literal = [(passage.text, passage.is_literal) for passage in found]
    assert literal == [("aa", True), ("cc", False), ("bb", False)]


def test_focus_in_one_piece_keeps_the_chunk() -> None:
    passages = fused(candidate(1, lines=("aa", "bb"), cosines=(0.2, 0.4)), weights=VECTORS)
    (passage,) = _focused(passages, [(), ()], weights=VECTORS, whole=True)
    assert (passage.start_line, passage.end_line, passage.text) == (1, 2, "aa\nbb")


def test_a_phrase_counts_only_where_its_words_stand_together() -> None:
    assert _best_line([("b", "a"), ("a", "b")], WeightedTerm(("a", "b"), 1.0)) == 2


def test_a_prefix_counts_every_word_that_begins_with_it() -> None:
    begun = WeightedTerm(("deploi",), 1.0, ("deploy", "depl"))
    assert _best_line([("play",), ("deploi",)], begun) == 2
    assert _best_line([("b", "cd"), ("a", "cd")], WeightedTerm(("a", "c"), 1.0, ("c",))) == 2
    assert occurrences(("x", "a", "cd", "a"), WeightedTerm(("a", "c"), 1.0, ("c",))) == 1


def _best_line(parts: list[tuple[str, ...]], term: WeightedTerm) -> int:
    mostly_words = Weights(0.2, 0.8)
    passages = fused(candidate(1, lines=("a", "b"), cosines=(0.0, 0.0)), weights=mostly_words)
    return _focused(passages, parts, term, weights=mostly_words)[0].start_line


def test_mmr_puts_a_different_passage_before_a_similar_one() -> None:
    """Relevance 1, 0.9, 0.8; the second shares all but one word with the first."""
    passages = [
        _with_text(1, 1.0, "a b c d e f g h i j k"),
        _with_text(2, 0.9, "a b c d e f g h i j z"),
        _with_text(3, 0.8, "q r s"),
    ]
    chosen = diversify(passages, lambda_=0.7, limit=3)
    assert ids(chosen) == [1, 3, 2]
    assert [passage.score for passage in chosen] == [1.0, 0.8, 0.9]


def test_mmr_with_lambda_one_keeps_the_order_and_prefixes_are_stable() -> None:
    passages = [_with_text(i, 1 - i / 10, f"word{i} common") for i in range(6)]
    assert ids(diversify(passages, lambda_=1.0, limit=6)) == [*range(6)]
    for lambda_ in (0.0, 0.5, 0.9):
        whole = diversify(passages, lambda_=lambda_, limit=6)
        assert diversify(passages, lambda_=lambda_, limit=3) == whole[:3]


def test_near_duplicates_fold_into_one_with_their_citations() -> None:
    passages = [_with_text(1, 1.0, "the same text"), _with_text(2, 0.9, "the same text")]
    (passage,) = diversify(passages, lambda_=0.7, limit=5)
    assert passage.duplicates == ("2.md:1",)


def test_words_are_the_same_in_other_quotes_and_dashes_and_signs_stand_in_pairs() -> None:
    assert token_set("“Tee”, tee—Käse") == {"tee", "käse"}
    assert token_set('"Tea", tea_2-cup') == {"tea", "tea_2", "cup"}
    assert token_set("泳池 pool") == {"泳池", "池", "pool"}


def test_likeness_is_the_share_of_common_tokens() -> None:
    texts = ["", "a b c", "b c d", "c b a", "x", "", *(" ".join("abcdefgh"[n:]) for n in range(8))]
    sets = [token_set(text) for text in texts]
    alike = likeness(sets)
    for at, own in enumerate(sets):
        shares = [len(own & other) / len(own | other) if own | other else 0.0 for other in sets]
        assert alike(at, range(len(sets))) == shares
    assert alike(1, [2, 4, 0]) == [0.5, 0.0, 0.0]


def test_confidence_is_the_logistic_of_cosine_and_rare_words_covered() -> None:
    passages = judge(fused(candidate(1, cosines=(0.5,))), Calibration(-1.0, 2.0, 3.0), rarity=0.4)
    assert passages[0].confidence == pytest.approx(1 / (1 + math.exp(-(-1 + 2 * 0.5 + 3 * 0.4))))
    narrow = [passages[0]._replace(own_cosine=0.25, own_coverage=0.5)]
    found = judge(narrow, Calibration(-1.0, 2.0, 3.0), rarity=0.4)[0].confidence
    assert found == pytest.approx(1 / (1 + math.exp(-(-1 + 2 * 0.25 + 3 * 0.5 * 0.4))))
    assert judge(passages, None, rarity=0.4) == passages


def test_the_floor_never_hides_a_literal_match() -> None:
    sure, literal = Calibration(-9.0, 0.0, 0.0), candidate(1, bm25=1.0, literal=True)
    passages = judge(fused(literal, candidate(2, bm25=1.0)), sure, rarity=1.0)
    assert ids(apply_threshold(passages, min_score=0.5)) == [1]
    assert match_of(apply_threshold(passages, min_score=0.5)) == ("strong", None)
    assert match_of([h for h in passages if h.about.chunk_id == 2]) == ("weak", LOW)
    assert match_of([]) == ("none", None)


@given(st.lists(st.text(min_size=1, max_size=40), max_size=8), st.integers(0, 60))
def test_packing_takes_the_longest_beginning_of_the_ranking(texts: list[str], budget: int) -> None:
    passages = [_with_text(i, 1.0, text) for i, text in enumerate(texts)]
    kept, dropped, _ = fit_budget(passages, budget=budget)
    costs = [estimate(passage.text) for passage in passages]
    assert sum(costs[: len(kept)]) <= budget
    assert kept == passages[: len(kept)]
    assert dropped == len(passages) - len(kept)
    assert not dropped or sum(costs[: len(kept) + 1]) > budget


def test_the_passage_that_does_not_fit_is_cut_down_to_its_best_lines_and_is_the_last() -> None:
    """8 of 60 tokens are kept, 99 do not fit, and the 6 and 3 behind them are not tried."""
    small, large = _with_text(1, 1.0, "a" * 32), "b" * 130
    cosines = (0.1, 0.9, 0.1)
    middle = fused(candidate(2, lines=(large,) * 3, cosines=cosines))[0]
    passages = [small, middle._replace(last=2, best=1), _with_text(3, 0.1, "c" * 24)]
    kept, dropped, _ = fit_budget(passages, budget=60)
    assert [passage.text for passage in kept] == ["a" * 32, large]
    assert (shortened(kept), dropped) == ("2.md:1-3", 1)
    kept, dropped, _ = fit_budget(passages, budget=12)
    assert ([passage.text for passage in kept], shortened(kept), dropped) == (["a" * 32], "", 2)


def _with_text(chunk_id: int, score: float, text: str) -> RankedPassage:
    passage = fused(candidate(chunk_id, bm25=1.0, lines=(text,)))[0]
    return passage._replace(score=score)


def test_records_of_a_named_date_take_half_the_places_and_leave_the_rest_to_the_best() -> None:
    best = [candidate(at, bm25=9.0 - at) for at in range(1, 7)]
    dated = [candidate(at, bm25=0.1, date="2026-01-10") for at in range(11, 17)]
    kept = nearest_first(fused(*best, *dated), [("2026-01-10", "2026-01-10")], 6)
    assert ids(kept) == [1, 2, 3, 11, 12, 13]


def test_words_are_believed_as_far_as_the_best_covers_the_query() -> None:
    assert text_share({1: 0.25, 2: 0.09}) == 0.5
    assert text_share({}) == 0.0
