"""The benchmark of verdicts on a folder made by hand, and its arithmetic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.benchmarks.match import GONE, Told, asked, drawn, fit, judged, left_one_out, rates, short
from tests.support import write

NOTES = {
    "memory/2026-01-01.md": "# Bees\n\nThe beekeeper lent us a smoker.\n",
    "memory/2026-01-02.md": "# Leak\n\nThe plumber mended the copper boiler.\n",
    "memory/2026-01-03.md": "# Trip\n\nThe ferry to Ostrova left at dawn.\n",
}
ANSWERABLE = [
    ("who lent us a smoker", "memory/2026-01-01.md"),
    ("who mended the copper boiler", "memory/2026-01-02.md"),
    ("zyzzyva quartz", "memory/2026-01-03.md"),
]


def _told(kind: str, match: str, *, right: bool = False, lead: float = 0.0) -> Told:
    return Told(kind, match, match, right, False, {"lead": lead, "crowd": 0.0})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "set"
    for path, text in NOTES.items():
        write(root / "workspace", path, text)
    queries: list[dict[str, Any]] = [
        {"id": str(n), "query": text, "relevant": [{"path": path, "start_line": 3, "end_line": 3}]}
        for n, (text, path) in enumerate(ANSWERABLE)
    ]
    nothing = {"id": "none", "query": "who lent us a tandem", "relevant": []}
    write(root, "queries.jsonl", "\n".join(map(json.dumps, queries)))
    write(root, "queries_adversarial.jsonl", json.dumps(nothing))
    return root


def test_every_question_is_asked_with_its_evidence_and_without(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    told = list(asked(folder, tmp_path / "set.sqlite", "hybrid"))
    assert [(each.kind, each.match, each.is_right) for each in told] == [
        ("answerable", "strong", True),
        (GONE, "low", False),
        ("answerable", "strong", True),
        (GONE, "low", False),
        ("answerable", "low", False),
        (GONE, "low", False),
        ("adversarial", "strong", False),
    ]
    assert not any(each.has_vectors for each in told)
    assert told[0].features["lead"] > told[1].features["lead"]
    told = [*told, *[_told("abstention", "none")] * 26]
    assert short({"A set": told}, {}).splitlines()[2:] == [
        "| A set | 30 | 3 | .67 | 1.00 | .00 | 1 | 1.00 | 1.00 |"
    ]


def test_rates_count_precision_over_the_files_and_recall_over_what_is_right() -> None:
    told = [
        _told("answerable", "strong", right=True),
        _told("answerable", "weak", right=True),
        _told("answerable", "none", right=True),
        _told("adversarial", "strong"),
        _told("abstention", "none"),
        _told(GONE, "strong"),
        _told(GONE, "none"),
    ]
    verdicts = [each.match for each in told]
    assert rates(told, verdicts, "strong") == [2.0, 0.5, pytest.approx(1 / 3), 0.5]
    assert rates(told, verdicts, "none") == [2.0, 0.5, pytest.approx(1 / 3), 0.5]
    assert rates([_told("answerable", "weak")], ["weak"], "strong") == [0.0, None, None, None]


def test_the_fit_finds_the_constants_that_made_its_questions() -> None:
    draw = np.random.default_rng(7)
    features = draw.normal(size=(20_000, 2))
    chance = 1 / (1 + np.exp(-(0.5 + 2.0 * features[:, 0] - 1.0 * features[:, 1])))
    right = (draw.random(20_000) < chance).astype(float)
    assert fit(features, right, np.ones(20_000)) == pytest.approx([0.5, 2.0, -1.0], abs=0.06)


def test_what_does_not_stand_out_is_weak_and_nothing_becomes_better() -> None:
    told = [
        _told("answerable", "strong", lead=0.5),
        _told("answerable", "strong", lead=0.1),
        _told("answerable", "none", lead=0.9),
    ]
    constants = np.array([-1.0, 10.0, 0.0])  # .76 is reached at a lead of .215
    assert judged(told, constants) == ["strong", "weak", "none"]


def test_a_collection_is_told_of_by_constants_of_the_others() -> None:
    def group(turned: float) -> list[Told]:
        return [
            _told("answerable", "strong", right=n % 10 < 8, lead=turned * (n % 10 < 8) + 0.01 * n)
            for n in range(60)
        ]

    fits = left_one_out({"a": group(1.0), "b": group(1.0), "c": group(-1.0)})
    lines = list(drawn(fits))
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| a", "| b", "| c"]
    slope = {line[2]: float(line.split(" | ")[2]) for line in lines[2:]}
    assert slope["c"] > slope["a"] == slope["b"]
