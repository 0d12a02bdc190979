"""A verdict for every encoder, and the constants that a user fits on their own questions."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from memcli.bench.calibration import SURE, Sample, area, fit, logistic, sample_of, text
from memcli.config.calibration import read
from memcli.embedding.models import Calibration
from memcli.errors import ConfigError
from memcli.search.confidence import judge
from tests.commands import checked, printed
from tests.search.makers import candidate, fused
from tests.support import write

Asked = Callable[..., tuple[Any, str]]
WORDS = (
    *("amber", "birch", "cedar", "delta", "ember", "fjord"),
    *("grove", "heron", "iris", "jade", "kelp", "lotus"),
)
SAID = "confidence uses keywords only: the model hashing was never calibrated"


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Run a command in notes of which each has a word of its own, with an unmeasured encoder."""
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for word in WORDS:
        write(tmp_path / "notes", f"memory/{word}.md", f"# Note\n\nThe {word} stands by a gate.\n")
    monkeypatch.chdir(tmp_path)

    def told(*arguments: str, code: int = 0) -> tuple[Any, str]:
        place = ("-w", str(tmp_path / "notes"), "--now", "2026-03-01")
        out, err = printed(*arguments, *place, code=code)
        return (json.loads(out) if "--json" in arguments else out), err

    return told


def test_the_crowd_is_the_thirtieth_cosine_where_there_are_thirty() -> None:
    passages = fused(*(candidate(n, cosines=(n / 100,)) for n in range(1, 31)))
    for count, background in ((30, 0.01), (29, 0.0)):
        own = sorted(passages, key=lambda passage: -(passage.cosine or 0.0))[:count]
        sample = sample_of(own, own, rarity=1.0, is_right=True, is_whole=True)
        assert sample.background == pytest.approx(background)
        assert sample.cosine == 0.3
        assert sample_of([own[0]._replace(own_cosine=0.2)], own, rarity=1.0, is_right=True,
                         is_whole=True).cosine == 0.2  # fmt: skip


@pytest.mark.parametrize("scale", [1.0, 20.0])
def test_at_the_lead_that_is_asked_for_an_answer_is_as_sure_as_is_wanted(scale: float) -> None:
    """Also where a large lead says little: then the slope is small."""
    draw = Random(7)
    samples = [
        Sample(n % 2 == 0, True, draw.random(), 0.5, scale * (draw.random() + 0.5 * (n % 2 == 0)),
               0.2) for n in range(80)
    ]  # fmt: skip
    fitted = fit(samples)
    assert fitted is not None
    rows = [(each.lead, -each.background) for each in samples]
    bias, slope, distance = logistic(rows, [float(each.is_right) for each in samples])
    assert (slope < 1.0) == (scale > 1.0)
    told = bias + slope * fitted.constants.lead
    assert 1 / (1 + math.exp(-told)) == pytest.approx(SURE)
    assert fitted.constants.background == pytest.approx(distance / slope)


def test_what_was_fitted_is_told_with_how_sure_half_a_cosine_makes() -> None:
    record: dict[str, object] = {"answers": 40, "judged": 40, "right": 20}
    record |= {"area": 0.9, "by_words": 0.5}
    told = text(record, Calibration(-1.0, 2.0, 1.0, 0.1, 0.2, near=0.3))
    assert "; 0.50 at cosine .5 without a word" in told


def test_all_outputs_agree_where_nobody_has_measured_the_model(ask: Asked) -> None:
    """What is found by meaning alone may be the answer, and is neither denied nor praised."""
    for words, match in (("which cedar is it", "strong"), ("quite something else", "weak")):
        record, _ = ask("search", words, "--json")
        assert record["match"] == match
        assert (record["uncalibrated"]["code"], record["uncalibrated"]["reason"]) == (
            "uncalibrated", SAID
        )  # fmt: skip
        assert all(0 < each["confidence"] < 1 for each in record["results"])
        block, _ = ask("context", words, "--json")
        assert (block["match"], block["uncalibrated"]) == (match, record["uncalibrated"])
        out, err = ask("search", words, "--exit-code")
        assert "No sure match" not in out + err
    assert "uncalibrated" not in ask("search", "cedar", "--mode", "keyword", "--json")[0]


def test_it_is_said_once_to_who_does_not_ask(ask: Asked) -> None:
    asked = ("search", "quite something else")
    assert [SAID in ask(*asked)[1] for _ in range(2)] == [True, False]
    assert all(SAID in ask(*asked, more)[1] for more in ("-v", "--explain"))


def test_a_least_confidence_does_something_or_says_why_it_cannot(ask: Asked) -> None:
    asked = ("search", "which cedar is it", "--min-score", "0.4", "--json", "--more")
    record, said = ask(*asked)
    assert [each["path"] for each in record["results"]] == ["memory/cedar.md"]
    assert SAID in said
    record, said = ask(*asked, "--mode", "semantic")
    assert len(record["results"]) > 1
    assert {each["confidence"] for each in record["results"]} == {None}
    assert "is unknown, and min_score drops nothing: the model hashing" in said


def _questions(tmp_path: Path, count: int = 12) -> str:
    lines = [
        {"query": f"which {word} stands by it", "relevant": f"memory/{word}.md"} for word in WORDS
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines[:count]))
    return str(path)


def test_calibrating_gives_the_model_constants_of_its_own(ask: Asked, tmp_path: Path) -> None:
    kept = tmp_path / "config" / "memcli" / "calibration.json"
    asked = ("bench", "calibrate", _questions(tmp_path))
    record, said = ask(*asked, "--dry-run", "--json")
    assert (record["written"], kept.exists(), "Nothing is written" in said) == (False, False, True)
    assert (record["judged"], record["answers"], record["right"]) == (12, 24, 12)
    checked("memcli.bench-calibrate", json.dumps(record))
    out, said = ask(*asked)
    assert "24 answers to 12 questions, 12 right\n" in out
    assert said.endswith(f"Saved in {kept}, for hashing.\nTo undo: rm {kept}\n")
    (fingerprint,) = read(str(kept))
    assert read(str(kept))[fingerprint]._asdict() == record["constants"]
    found, _ = ask("search", "which cedar is it", "--json")
    assert ("uncalibrated" in found, found["match"]) == (False, "strong")
    found = ask("search", "quite something else", "--json")[0]
    assert (found["match"], found["match_reason"]["code"]) == ("none", "absent")
    said = ask("search", "quite something else", "--exit-code", code=1)[1]
    assert "No passages found" in said


def test_a_receipt_tells_of_a_calibration_since(ask: Asked, tmp_path: Path) -> None:
    ask("bench", "calibrate", _questions(tmp_path))
    ask("search", "which cedar is it", "--trace", "before.json")
    kept = tmp_path / "config" / "memcli" / "calibration.json"
    kept.write_text(kept.read_text().replace('"bias": -', '"bias": -1'))
    changed = ask("bench", "replay", "before.json", "--json")[0]["changed"]
    assert changed == ["how sure the model's cosines make a passage (memcli bench calibrate)"]


def test_too_few_questions_are_refused(ask: Asked, tmp_path: Path) -> None:
    _, said = ask("bench", "calibrate", _questions(tmp_path, 9), code=2)
    assert "of 9 judged questions 9 are answered, and 10 are needed" in said
    assert not (tmp_path / "config").exists()


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": "memcli.calibrations/1", "models": {"a": {"bias": 1}}}']
)
def test_a_file_of_something_else_is_named(ask: Asked, tmp_path: Path, text: str) -> None:
    kept = tmp_path / "config" / "memcli" / "calibration.json"
    kept.parent.mkdir(parents=True)
    kept.write_text(text)
    with pytest.raises(ConfigError, match="is not a file of memcli bench calibrate"):
        read(str(kept))
    assert "calibration.json is not a file of" in ask("search", "cedar", code=2)[1]


def test_a_regression_finds_the_constants_that_made_its_labels() -> None:
    """By hand: four in five at 1 and one in five at 0 are odds of 4 and 1/4: 2 log 4, -log 4."""
    rows = [(1.0, 0.0)] * 5000 + [(0.0, 0.0)] * 5000
    labels = ([1.0] * 4 + [0.0]) * 1000 + ([0.0] * 4 + [1.0]) * 1000
    bias, slope, unused = logistic(rows, labels)
    assert (bias, slope) == pytest.approx((-math.log(4), 2 * math.log(4)), rel=0.01)
    assert unused == 0.0


def test_what_matches_better_never_means_less() -> None:
    rows = [(float(n), float(-n)) for n in range(40)]
    bias, up, down = logistic(rows, [float(n >= 20) for n in range(40)])
    assert up > 0 == down
    assert bias < 0


def _samples(seed: int) -> Iterator[Sample]:
    draw = Random(seed)
    for n in range(80):
        right = n % 2 == 0
        near = min(1.0, max(0.0, draw.gauss(0.6 if right else 0.3, 0.1)))
        whole = right or n % 4 == 1
        yield Sample(right, whole, near, draw.random(), draw.random() * (1 + right), near / 2)


@pytest.mark.parametrize("seed", range(4))
def test_fitted_constants_are_finite_and_tell_what_there_is_to_tell(seed: int) -> None:
    fitted = fit(tuple(_samples(seed)))
    assert fitted is not None
    constants = fitted.constants
    assert all(map(math.isfinite, constants))
    assert constants.cosine > 0 <= min(constants.coverage, constants.lead)
    assert fitted.area > 0.9 > fitted.by_words
    assert 0.4 < constants.near < 0.6
    assert fit(tuple(_samples(seed))[:19]) is None


def test_the_area_counts_pairs() -> None:
    assert area([1, 1, 3, 2, 0], [1, 1, 1, 0, 0]) == pytest.approx(4 / 6)
    assert area([1, 1], [1, 0]) == 0.5


def test_an_answer_has_to_lead_by_what_wrong_ones_do_not() -> None:
    """Of twenty right answers the lead is .5, of twenty wrong ones 0; without these none has to."""
    led = [Sample(n % 2 == 0, True, 0.5, 0.5, 0.5 * (n % 2 == 0), 0.2) for n in range(40)]
    fitted = fit(led)
    assert fitted is not None
    assert (0 < fitted.constants.lead < 0.5, fitted.constants.background) == (True, 0.0)
    gone = fit([each._replace(is_whole=each.is_right) for each in led])
    assert gone is not None
    assert (gone.constants.lead, gone.constants.background) == (0.0, 0.0)
    few = [each._replace(is_whole=each.is_right or n < 2) for n, each in enumerate(led)]
    assert fit(few) == gone  # one wrong answer tells next to nothing


def test_constants_of_any_size_give_a_confidence() -> None:
    for size in (1e300, -1e300):
        (passage,) = judge(fused(candidate(1, cosines=(0.5,))), Calibration(size, 0, 0), rarity=1.0)
        assert passage.confidence == pytest.approx(float(size > 0), abs=1e-12)


def test_of_an_answer_without_passages_nothing_is_near() -> None:
    nothing = sample_of([], [], rarity=0.5, is_right=False, is_whole=True)
    assert nothing == Sample(False, True, 0.0, 0.0, 0.0, 0.0)
