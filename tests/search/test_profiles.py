"""The formulas of each profile, worked by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.config.keys import BY_NAME
from memcli.config.settings import load
from memcli.errors import ConfigError
from memcli.search.authority import Authority
from memcli.search.fusion import Weights
from memcli.search.mmr import diversify
from memcli.search.options import PROFILES, options_of
from memcli.search.proximity import apply_decay
from memcli.search.published_profiles import Convex, TwoPass
from memcli.search.stages import SWITCHES
from memcli.types import Filters
from tests.cli.processes import run
from tests.search.makers import candidate, fused, ids, scores
from tests.support import write

TODAY = {"2026-02-20": 0, "2026-02-19": 1, "2026-01-21": 30}
VECTORS = Weights(1.0, 0.0)


def test_classic_is_weighted_fusion_decay_to_nothing_and_mmr_by_words() -> None:
    """Fused: 1: 0.7 * 0.8/0.8 + 0.3 / (1 + 1) = 0.85; 2: 0.7 * 0.4/0.8 + 0.3 / (1 + 0) = 0.65.

    Half-life 30, floor 0: 1, thirty days old, 0.425; 2, undated, stays at 0.65.
    MMR 0.7 over relevance score / best: 2 first with 0.7; 1 with 0.7 * 0.425 / 0.65 - 0.3 * 1/3.
    """
    settings = PROFILES["classic"].settings
    weights = Weights(
        float(settings["search.semantic_weight"]), float(settings["search.keyword_weight"])
    )
    passages = fused(
        candidate(1, bm25=1.0, cosines=(0.8,), lines=("pool size",), date="2026-01-21"),
        candidate(2, bm25=2.0, cosines=(0.4,), lines=("pool wait",)),
        method=str(settings["search.fusion"]),
        weights=weights,
    )
    assert scores(passages) == pytest.approx({1: 0.85, 2: 0.65})
    passages = apply_decay(
        passages,
        age_days=TODAY.__getitem__,
        half_life_days=float(settings["search.half_life_days"]),
        floor=float(settings["search.decay_floor"]),
    )
    assert scores(passages) == pytest.approx({1: 0.425, 2: 0.65})
    chosen = diversify(passages, lambda_=float(settings["search.mmr_lambda"]), limit=6)
    values = [dict(passage.trace[-1].inputs)["value"] for passage in chosen]
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
    passages = fused(
        candidate(1, cosines=(0.5,), scope="session", date="2026-02-19"),
        candidate(2, cosines=(0.5,), scope="user", date="2026-02-19"),
        candidate(3, cosines=(0.5,), scope="global", date="2026-02-19"),
        candidate(4, cosines=(0.5,), scope="global"),
        weights=VECTORS,
    )
    assert scores(Convex().score(passages, {}, age_days=TODAY.__getitem__)) == pytest.approx(
        {
            1: 0.35 + 0.2 * math.exp(-8.64) + 0.1,
            2: 0.35 + 0.2 * math.exp(-0.864) + 0.06,
            3: 0.35 + 0.2 * math.exp(-0.1728) + 0.03,
            4: 0.35 + 0.2 + 0.03,
        }
    )


def test_convex_without_vectors_takes_the_share_of_the_best_bm25() -> None:
    """0.7 * 1/2 + 0.2 + 0.1 * 0.3 for the second of two undated notes."""
    passages = fused(candidate(1, bm25=2.0), candidate(2, bm25=1.0), weights=Weights(0.0, 1.0))
    assert scores(Convex().score(passages, {}, age_days=TODAY.__getitem__))[2] == pytest.approx(
        0.58
    )


def test_what_is_not_embedded_yet_takes_the_middle_cosine_and_a_literal_match_the_best() -> None:
    """Of 0.8, 0.4 and 0.2 the middle is 0.4: 0.7 * 0.4 + 0.2 + 0.03, and 0.7 * 0.8 + 0.2 + 0.03."""
    known = [candidate(n, cosines=(cosine,)) for n, cosine in enumerate((0.8, 0.4, 0.2), 1)]
    plain, literal = candidate(8, bm25=1.0), candidate(9, bm25=2.0, literal=True)
    passages = fused(*known, plain, literal, weights=VECTORS)
    found = scores(Convex().score(passages, {}, age_days=TODAY.__getitem__))
    assert [found[8], found[9]] == pytest.approx([0.51, 0.79])
    weighed = scores(TwoPass().score(passages, {9: 1.0}, age_days=TODAY.__getitem__))
    assert [weighed[8], weighed[9]] == pytest.approx([0.4 / 1.3, 0.8])


@pytest.mark.parametrize("profile", ["convex", "two-pass"])
def test_a_new_note_with_a_word_of_its_own_is_found_before_it_is_embedded(
    tmp_path: Path, profile: str
) -> None:
    for at in range(30):
        write(tmp_path, f"memory/2026-01-{at + 1:02}.md", f"# Day\n\n- The slow pool ran {at}.\n")
    assert run("index", "-w", str(tmp_path)).returncode == 0
    items = "\n\n".join(f"- Item {at} of the list stands for itself alone." for at in range(40))
    write(tmp_path, "new.md", f"# List\n\n{items}\n\n## Code\n\nzanzibar_kestrel: slow pool.\n")
    said = ("zanzibar_kestrel slow pool", "--profile", profile, "-f", "{path}", "-w", str(tmp_path))
    done = run("search", *said, MEMCLI_SYNC_SEGMENTS="8")
    assert done.stdout.split("\n")[0] == "new.md", done.stderr


def test_authority_shares_out_the_weight_of_what_is_not_counted() -> None:
    """(0.5 * r + 0.3 * a) / 0.8: half-life 30 days, undated r = 1, silence a = 1."""
    assert Authority().omega(None, None) == pytest.approx(1.0)
    assert Authority().omega(30, 0.5) == pytest.approx((0.5 * 0.5 + 0.3 * 0.5) / 0.8)
    assert Authority().omega(-3, 2.0) == pytest.approx(1.0)
    assert Authority(0.0, 1.0, 0.0).omega(30, 0.5) == 1.0


def test_uses_count_by_their_logarithm() -> None:
    """log 4 / log 8 = 2/3."""
    authority = Authority(uses={("memory", "a.md"): 7, ("memory", "b.md"): 3})
    counted = [authority.frequency_of(("memory", f"{name}.md")) for name in "abc"]
    assert counted == pytest.approx([1.0, 2 / 3, 0.0])
    assert Authority().frequency_of(("memory", "a.md")) is None


def test_only_the_uses_of_what_is_ranked_count() -> None:
    """`rules.md` is no hit: c has all the uses there are, 1 of 1, and so does the frequency."""
    uses = {("memory", "rules.md"): 1000, ("memory", "1.md"): 1}
    passages = fused(candidate(1, cosines=(0.6,)), weights=VECTORS)
    made = TwoPass(kappa=0.0, authority=Authority(0.0, 1.0, 0.0, uses=uses))
    assert made.score(passages, {}, age_days=TODAY.__getitem__)[0].score == pytest.approx(0.6)


def test_two_pass_weighs_authority_meaning_and_key_words() -> None:
    """S = omega * 0.6 * (1 + 0.3 * 1/2) / 1.3, omega = (0.5 * 0.5 + 0.3 * 0.4) / 0.8."""
    passages = fused(
        candidate(1, cosines=(0.6,), date="2026-01-21", authority=0.4), weights=VECTORS
    )
    found = TwoPass().score(passages, {1: 0.5}, age_days=TODAY.__getitem__)
    assert found[0].score == pytest.approx((0.25 + 0.12) / 0.8 * 0.6 * 1.15 / 1.3)


def test_two_pass_takes_sixteen_of_each_leg_and_keeps_eight() -> None:
    """20 near ones, of which 16 pass; one word match without meaning; one of neither."""
    near = [candidate(n, cosines=(0.9 - n / 100,)) for n in range(1, 21)]
    worded, neither = candidate(30, bm25=1.0, cosines=(0.0,)), candidate(31, cosines=(0.1,))
    passages = fused(*near, worded, neither, weights=VECTORS)
    found = TwoPass().score(passages, {30: 1.0}, age_days=TODAY.__getitem__)
    assert ids(found) == list(range(1, 9))
    far = [candidate(n, cosines=(0.5,)) for n in range(40, 60)]
    for below in (candidate(60, cosines=(0.4,)), candidate(61, cosines=(0.4,), bm25=1.0)):
        passages = fused(*far, below, weights=VECTORS)
        found = TwoPass(kappa=9.0).score(passages, {60: 1.0, 61: 1.0}, age_days=TODAY.__getitem__)
        assert (found[0].about.chunk_id == below.about.chunk_id) is (below.bm25 > 0)
    few = fused(worded, neither, weights=VECTORS)
    assert ids(TwoPass().score(few, {}, age_days=TODAY.__getitem__)) == [30]


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
    for passage in TwoPass().score(
        fused(*made, weights=VECTORS), matched, age_days=TODAY.__getitem__
    ):
        assert 0.0 <= passage.score <= Authority().omega(30, passage.candidate.authority) + 1e-12
        assert Authority().omega(30, passage.candidate.authority) <= 1.0


def test_a_least_score_is_held_against_the_confidence_but_in_classic() -> None:
    assert [name for name, each in PROFILES.items() if each.threshold_on_score] == ["classic"]


def test_the_default_takes_part_in_every_stage_but_three() -> None:
    """Two are for other profiles, of whole chunks and with formulas, one for `--expand`."""
    assert PROFILES["default"].stages == set(SWITCHES) - {"score", "spread", "cut"}
    assert all(profile.stages <= set(SWITCHES) for profile in PROFILES.values())
    assert [name for name, p in PROFILES.items() if ("score" in p.stages) != bool(p.formula)] == []


FIELDS = {
    "convex": Convex._fields,
    "passes": TwoPass._fields[:4],
    "authority": Authority._fields[:4],
}


def test_every_constant_of_a_formula_is_a_setting_with_the_same_default() -> None:
    made = {"convex": Convex(), "passes": TwoPass(), "authority": Authority()}
    for table, fields in FIELDS.items():
        assert {name for name in BY_NAME if name.startswith(f"{table}.")} == {
            f"{table}.{field}" for field in fields
        }
        for field in fields:
            assert BY_NAME[f"{table}.{field}"].default == getattr(made[table], field)


def test_the_constants_of_the_settings_are_those_of_the_formula() -> None:
    """0.5 * 0.5 + 0.25 * 1 + 0.25 * 0.8; omega = (0.25 + 0.5 * 0.4) / 0.5 of an undated one.

    S = 0.9 * 0.5 * (1 + 1 * 1/2) / 2, of what is undated, where nothing is counted.
    """
    convex = {"alpha": 0.5, "beta": 0.25, "gamma": 0.25, "scope_global": 0.8}
    weights = {"recency": 0.25, "frequency": 0.5, "authored": 0.25}
    given = {
        **{f"convex.{name}": value for name, value in convex.items()},
        **{f"authority.{name}": value for name, value in weights.items()},
        **{"passes.kappa": 1.0, "passes.second": 1},
    }
    config = load("/nowhere", {}, given)
    passages = fused(candidate(1, cosines=(0.5,), authority=0.8, scope="global"), weights=VECTORS)
    found = Convex.read(config).score(passages, {}, age_days=TODAY.__getitem__)
    assert found[0].score == pytest.approx(0.5 * 0.5 + 0.25 + 0.25 * 0.8)
    passed = TwoPass.read(config).score(
        [*passages, *passages], {1: 0.5}, age_days=TODAY.__getitem__
    )
    assert [passage.score for passage in passed] == pytest.approx([0.9 * 0.5 * 1.5 / 2])


@pytest.mark.parametrize(
    ("profile", "name", "value", "said"),
    [
        ("convex", "convex.beta", 0.3, "convex.alpha, convex.beta, convex.gamma must sum to 1"),
        ("two-pass", "authority.recency", 0.6, "authority.authored must sum to 1, not 1.1"),
        ("two-pass", "passes.second", 17, "passes.second must not exceed passes.first"),
        ("default", "search.keyword_weight", 0.9, "search.keyword_weight must sum to 1, not 1."),
    ],
)
def test_weights_that_do_not_sum_to_one_are_named(
    profile: str, name: str, value: float, said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        options_of(load("/", {}, {"search.profile": profile, name: value}), filters=Filters())


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 5000), st.floats(0, 1), st.integers(0, 99))
def test_omega_stays_between_0_and_1_whatever_the_weights(
    recency: float, rest: float, age: float, authored: float, uses: int
) -> None:
    made = Authority(recency, (1 - recency) * rest, (1 - recency) * (1 - rest))
    for frequency in (None, math.log(1 + uses) / math.log(100)):
        assert 0.0 <= made.omega(round(age), authored, frequency) <= 1.0


def test_the_legs_of_classic_count_chunks(tmp_path: Path) -> None:
    """Twelve long notes of many texts each: with a limit of 2, eight chunks a retriever."""
    for at in range(12):
        said = "\n\n".join(f"- The slow pool ran dry in week {at}, item {n}." for n in range(30))
        write(tmp_path, f"memory/note-{at}.md", f"# Note {at}\n\n{said}\n")
    asked = ("slow pool", "--profile", "classic", "-n", "2", "-w", str(tmp_path))
    receipt = tmp_path.parent / "receipt.json"
    assert run("search", *asked, "--trace", str(receipt), "--sync").returncode == 0
    retrievers = json.loads(receipt.read_text())["retrievers"]
    assert [retrievers[retriever]["candidates"] for retriever in ("keyword", "semantic")] == [8, 8]


def test_ages_are_fractional_where_a_time_of_day_is_known(tmp_path: Path) -> None:
    """Of logs of 08:00 and 20:00 e^(-1e-4 * 46800) and e^(-1e-4 * 3600) is left at 21:00.

    One without a time counts whole days, and so do all where the question has none. In classic
    one hour of a half-life of 30 days is gone, 2^(-1/720).
    """
    for name, time in (("early", "T08:00"), ("late", "T20:00"), ("whole", "")):
        text = (
            f"---\nkind: log\ndate: 2026-02-20{time}\n---\n# {name}\n\nThe pool ran dry {name}.\n"
        )
        write(tmp_path, f"memory/{name}.md", text)

    def told(profile: str, now: str, step: str, name: str) -> dict[str, float]:
        flags = ["--profile", profile, "--now", now, "--mode", "keyword", "--explain", "--json"]
        found = json.loads(run("search", "pool", "-w", str(tmp_path), *flags).stdout)
        return {
            Path(each["path"]).stem: value
            for each in found["results"]
            for at in each["trace"]
            if at["stage"] == step and (value := at.get(name)) is not None
        }

    at = told("convex", "2026-02-20T21:00", "score", "recency")
    assert at == pytest.approx({"early": math.exp(-4.68), "late": math.exp(-0.36), "whole": 1.0})
    assert told("convex", "2026-02-20", "score", "recency") == dict.fromkeys(at, 1.0)
    faded = told("classic", "2026-02-20T21:00", "decay", "factor")
    assert faded["late"] == pytest.approx(2 ** (-1 / 720))
    assert faded["whole"] == 1.0


@pytest.mark.parametrize("now", ["2026-02-20", "2026-02-20T21:00", "2026-02-20T21:00+02:00"])
def test_a_receipt_repeats_ages_of_hours(tmp_path: Path, now: str) -> None:
    text = "---\ndate: 2026-02-20T08:00Z\n---\n# early\n\nThe pool ran dry.\n"
    write(tmp_path, "memory/early.md", text)
    asked = ["pool", "-w", str(tmp_path), "--profile", "convex", "--now", now]
    receipt = str(tmp_path / "receipt.json")
    assert run("search", *asked, "--trace", receipt).returncode == 0
    assert run("bench", "replay", receipt, "-w", str(tmp_path)).returncode == 0
