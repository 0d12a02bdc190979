"""The formulas of each profile, worked by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.search.authority import authority
from memcli.search.convex import score_convex
from memcli.search.decay import apply_decay
from memcli.search.fusion import Weights
from memcli.search.mmr import diversify
from memcli.search.profiles import PROFILES
from memcli.search.stages import SWITCHES
from memcli.search.two_pass import two_pass
from tests.search.makers import candidate, fused, scores

TODAY = {"2026-02-20": 0, "2026-02-19": 1, "2026-01-21": 30}
VECTORS = Weights(1.0, 0.0)


def test_classic_is_weighted_fusion_decay_to_nothing_and_mmr_by_words() -> None:
    """Fused: 1: 0.7 * 0.8/0.8 + 0.3 / (1 + 1) = 0.85; 2: 0.7 * 0.4/0.8 + 0.3 / (1 + 0) = 0.65.

    Half-life 30, floor 0: 1, thirty days old, 0.425; 2, undated, stays at 0.65.
    MMR 0.7 over relevance score / best: 2 first with 0.7; 1 with 0.7 * 0.425 / 0.65 - 0.3 * 1/3.
    """
    settings = PROFILES["classic"].settings
    weights = Weights(
        float(settings["search.vector_weight"]), float(settings["search.text_weight"])
    )
    hits = fused(
        candidate(1, bm25=1.0, cosines=(0.8,), lines=("pool size",), date="2026-01-21"),
        candidate(2, bm25=2.0, cosines=(0.4,), lines=("pool wait",)),
        method=str(settings["search.fusion"]),
        weights=weights,
    )
    assert scores(hits) == pytest.approx({1: 0.85, 2: 0.65})
    hits = apply_decay(
        hits,
        age_days=TODAY.__getitem__,
        half_life_days=float(settings["search.half_life_days"]),
        floor=float(settings["search.decay_floor"]),
    )
    assert scores(hits) == pytest.approx({1: 0.425, 2: 0.65})
    chosen = diversify(hits, lambda_=float(settings["search.mmr_lambda"]), limit=6)
    values = [dict(hit.trace[-1].inputs)["value"] for hit in chosen]
    assert values == pytest.approx([0.7, 0.7 * 0.425 / 0.65 - 0.3 / 3])
    assert settings["search.limit"] == 6
    assert settings["search.min_score"] == 0.35


def test_convex_adds_meaning_recency_and_scope() -> None:
    """A day is 86,400 s: e^-8.64 for a log, e^-0.864 for a note about the user.

    1: 0.7 * 0.5 + 0.2 * e^-8.64 + 0.1 * 1.0
    2: 0.7 * 0.5 + 0.2 * e^-0.864 + 0.1 * 0.6
    3: 0.7 * 0.5 + 0.2 * e^-0.1728 + 0.1 * 0.3
    4: 0.7 * 0.5 + 0.2 * 1 (undated) + 0.1 * 0.3
    """
    hits = fused(
        candidate(1, cosines=(0.5,), scope="session", date="2026-02-19"),
        candidate(2, cosines=(0.5,), scope="user", date="2026-02-19"),
        candidate(3, cosines=(0.5,), scope="global", date="2026-02-19"),
        candidate(4, cosines=(0.5,), scope="global"),
        weights=VECTORS,
    )
    assert scores(score_convex(hits, age_days=TODAY.__getitem__)) == pytest.approx(
        {
            1: 0.35 + 0.2 * math.exp(-8.64) + 0.1,
            2: 0.35 + 0.2 * math.exp(-0.864) + 0.06,
            3: 0.35 + 0.2 * math.exp(-0.1728) + 0.03,
            4: 0.35 + 0.2 + 0.03,
        }
    )


def test_convex_without_vectors_takes_the_share_of_the_best_bm25() -> None:
    """0.7 * 1/2 + 0.2 + 0.1 * 0.3 for the second of two undated notes."""
    hits = fused(candidate(1, bm25=2.0), candidate(2, bm25=1.0), weights=Weights(0.0, 1.0))
    assert scores(score_convex(hits, age_days=TODAY.__getitem__))[2] == pytest.approx(0.58)


def test_authority_shares_out_the_weight_of_what_is_not_counted() -> None:
    """(0.5 * r + 0.3 * a) / 0.8: half-life 30 days, undated r = 1, silence a = 1."""
    assert authority(None, None) == pytest.approx(1.0)
    assert authority(30, 0.5) == pytest.approx((0.5 * 0.5 + 0.3 * 0.5) / 0.8)
    assert authority(-3, 2.0) == pytest.approx(1.0)


def test_two_pass_weighs_authority_meaning_and_key_words() -> None:
    """S = omega * 0.6 * (1 + 0.3 * 1/2) / 1.3, omega = (0.5 * 0.5 + 0.3 * 0.4) / 0.8."""
    hits = fused(candidate(1, cosines=(0.6,), date="2026-01-21", authority=0.4), weights=VECTORS)
    found = two_pass(hits, {1: 0.5}, age_days=TODAY.__getitem__)
    assert found[0].score == pytest.approx((0.25 + 0.12) / 0.8 * 0.6 * 1.15 / 1.3)


def test_two_pass_takes_sixteen_of_each_leg_and_keeps_eight() -> None:
    """20 near ones, of which 16 pass; one word match without meaning; one of neither."""
    near = [candidate(n, cosines=(0.9 - n / 100,)) for n in range(1, 21)]
    worded, neither = candidate(30, bm25=1.0, cosines=(0.0,)), candidate(31, cosines=(0.1,))
    hits = fused(*near, worded, neither, weights=VECTORS)
    found = two_pass(hits, {30: 1.0}, age_days=TODAY.__getitem__)
    assert [hit.about.chunk_id for hit in found] == list(range(1, 9))
    few = fused(worded, neither, weights=VECTORS)
    assert [h.about.chunk_id for h in two_pass(few, {}, age_days=TODAY.__getitem__)] == [30]


@given(
    st.lists(
        st.tuples(st.floats(-1, 1), st.floats(0, 9), st.floats(0, 1), st.floats(0, 1)), max_size=12
    )
)
def test_the_scores_of_two_pass_never_exceed_the_authority(
    rows: list[tuple[float, float, float, float]],
) -> None:
    made = [
        candidate(n, cosines=(cosine,), bm25=bm25, authority=worth, date="2026-01-21")
        for n, (cosine, bm25, worth, _) in enumerate(rows)
    ]
    matched = {n: share for n, (_, _, _, share) in enumerate(rows)}
    for hit in two_pass(fused(*made, weights=VECTORS), matched, age_days=TODAY.__getitem__):
        assert 0.0 <= hit.score <= authority(30, hit.candidate.authority) + 1e-12
        assert authority(30, hit.candidate.authority) <= 1.0


def test_the_default_takes_part_in_every_stage_but_three() -> None:
    """Two are for other profiles, of whole chunks and with formulas, one for `--expand`."""
    assert PROFILES["default"].stages == set(SWITCHES) - {"score", "spread", "cut"}
    assert all(profile.stages <= set(SWITCHES) for profile in PROFILES.values())
    assert [name for name, p in PROFILES.items() if ("score" in p.stages) != bool(p.formula)] == []
