"""How often the verdict of an answer is right, on every collection; not part of the suite.

ROOT holds a folder for each collection, with sets at any depth below it: `queries.jsonl` beside
`workspace/`, and where it has them `queries_abstention.jsonl` and `queries_adversarial.jsonl`,
questions that have no answer. Every question with an answer is asked once more with the chunks
left out that hold its evidence ("gone"). An answer is right where a judged line stands in its
first five passages.

Prints a row for each collection, as `memcli help benchmarks` explains it: how many answers get
`strong`; its precision over the questions of the files, its recall of the right answers, and how
many of the questions whose evidence is gone get it; then the same for answers of low confidence,
whose precision is the share without a right answer.

`--fit` asks which lead makes an answer `strong`: a logistic regression over FEATURES, fitted with
equal weight on all collections but one and told of the one that is left out. Its row has the
constants and what the verdict would be there: as today, but with the regression in place of
`confidence.stands_out`. `--stores` keeps the indexes, so that the next run embeds nothing anew.
"""

from __future__ import annotations

import math
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np

from memcli.api.ask import ask_as_it_is
from memcli.api.memory import Memory
from memcli.api.sync import Job, Vectors, sync
from memcli.bench.metrics import Range
from memcli.bench.queries import Query, read_queries
from memcli.search.confidence import TENTH, THIRTIETH, match_of
from memcli.search.options import options_of
from memcli.search.question import Question
from memcli.search.ranked import RankedPassage
from memcli.store.records import Scope
from memcli.types import Filters
from tests.benchmarks.figures import option, share, table
from tests.benchmarks.quality_table import LEAST_QUESTIONS, sets, store_of

FILES = {
    "answerable": "queries.jsonl",
    "abstention": "queries_abstention.jsonl",
    "adversarial": "queries_adversarial.jsonl",
}
GONE = "gone"  # the kind of a question whose evidence is left out
TODAY = date(2026, 1, 1)  # of questions that name no day
FIRST = 5  # passages in which a judged line makes an answer right
FULL = 60  # questions from which a collection has its whole weight in a fit
SURE = 0.76  # of the regression: from here on an answer stands out
RIDGE = 1.0


class Told(NamedTuple):
    """One question that was asked: what the verdict was, and what it could rest on."""

    kind: str  # a key of FILES, or GONE
    match: str
    by_confidence: str  # what it would be if every answer stood out
    is_right: bool
    has_vectors: bool
    features: Mapping[str, float]


Found = tuple[Sequence[RankedPassage], Sequence[RankedPassage]]  # passages before age, chunks


def _lead(passages: Sequence[RankedPassage], rank: int) -> float:
    scores = [*(passage.score for passage in passages), 0.0]
    return scores[0] - scores[min(rank, len(scores)) - 1]


def _near(chunks: Sequence[RankedPassage], rank: int) -> float:
    cosines = sorted((chunk.cosine or 0.0 for chunk in chunks), reverse=True)
    return cosines[rank - 1] if len(cosines) >= rank else 0.0


FEATURES: Mapping[str, Callable[[Found], float]] = {
    "lead": lambda found: _lead(found[0], TENTH),
    "crowd": lambda found: _near(found[1], THIRTIETH),
}


def asked(folder: Path, store: Path, mode: str) -> Iterator[Told]:
    """Ask all questions of one set; its index is brought in step first."""
    environ = {**os.environ, "MEMCLI_STORE": str(store), "MEMCLI_SEARCH_MODE": mode}
    with Memory.open(folder / "workspace", environ=environ) as memory:
        sync(memory.workspaces.lead, Job(), Vectors(memory.workspaces.lead))
        with memory.workspaces.store.snapshot() as snapshot:
            excerpts = snapshot.excerpts_of(list(snapshot.known()), Scope())
        places = [
            (Range(e.about.path, e.about.start_line, e.about.end_line), e.about.chunk_id)
            for e in excerpts
        ]
        for kind, name in FILES.items():
            if not (folder / name).exists():
                continue
            for query in read_queries((folder / name).read_text("utf-8").split("\n"), name):
                yield _ask(memory, query, kind, frozenset())
                if kind == "answerable":
                    term_share = {
                        i for at, i in places if any(at.touches(r) for r in query.relevant)
                    }
                    yield _ask(memory, query, GONE, frozenset(term_share))


def _ask(memory: Memory, query: Query, kind: str, outside: frozenset[int]) -> Told:
    left: dict[str, Sequence[RankedPassage]] = {}
    options = options_of(memory.config, filters=Filters())
    options = options._replace(inner=options.inner._replace(outside=outside))
    today = date.fromisoformat(query.date[:10]) if query.date else TODAY
    answer = ask_as_it_is(
        memory.workspaces, Question.read(query.text, today), options, observe=left.__setitem__
    )
    shown = [Range(h.about.path, h.start_line, h.end_line) for h in answer.passages[:FIRST]]
    found = left.get("threshold", ()), answer.fused
    return Told(
        kind,
        "low" if answer.is_doubtful else answer.match,
        "weak" if answer.is_of_others else match_of(found[0])[0],
        kind == "answerable" and any(s.touches(r) for s in shown for r in query.relevant),
        answer.semantic.ran,
        {name: measure(found) for name, measure in FEATURES.items()},
    )


def rates(told: Sequence[Told], verdicts: Sequence[str], name: str) -> list[float | None]:
    """Give how many of the files' questions get a verdict, its precision, and its shares.

    The shares are those of the right answers and of the questions whose evidence is gone.
    """
    given = [each for each, v in zip(told, verdicts, strict=True) if v == name]
    of_files = [each for each in given if each.kind != GONE]
    fitting = [each for each in of_files if each.is_right == (name == "strong")]
    right = [each for each in told if each.is_right]
    gone = [each for each in told if each.kind == GONE]
    return [
        float(len(of_files)),
        _share(len(fitting), len(of_files)),
        _share(sum(each.is_right for each in given), len(right)),
        _share(sum(each.kind == GONE for each in given), len(gone)),
    ]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _cell(value: float | None) -> str:
    """Write a share with two digits, a dash for none."""
    return "-" if value is None else share(value, 2)


def fit(features: np.ndarray, right: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Fit a logistic regression by Newton's method, with a ridge on standardised features.

    `features` is (n, k), `right` and `weights` (n,); gives the constant and k slopes.
    """
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    design = np.column_stack([np.ones(len(features)), (features - mean) / spread])
    ridge = np.diag([1e-6] + [RIDGE] * features.shape[1])
    fitted = np.zeros(design.shape[1])
    for _ in range(60):
        share = 1.0 / (1.0 + np.exp(-np.clip(design @ fitted, -30, 30)))
        curve = design.T @ (design * (weights * share * (1 - share))[:, None]) + ridge
        slope = design.T @ (weights * (right - share)) - ridge @ fitted
        step = np.linalg.solve(curve, slope)
        fitted += step
        if np.abs(step).max() < 1e-8:
            break
    slopes = fitted[1:] / spread
    return np.concatenate([[fitted[0] - slopes @ mean], slopes])


def fitted_on(groups: Iterable[Sequence[Told]]) -> np.ndarray:
    """Fit on the questions of the files, each collection with the same weight."""
    rows, right, weights = [], [], []
    for told in groups:
        of_files = [each for each in told if each.kind != GONE]
        for each in of_files:
            rows.append([*each.features.values()])
            right.append(float(each.is_right))
            weights.append(300.0 / len(of_files) * min(1.0, len(of_files) / FULL))
    return fit(np.array(rows), np.array(right), np.array(weights))


def judged(told: Sequence[Told], constants: np.ndarray) -> list[str]:
    """Give the verdicts where a regression says which answers stand out."""
    least = math.log(SURE / (1.0 - SURE))
    return [
        "weak"
        if each.by_confidence == "strong"
        and constants[0] + constants[1:] @ [*each.features.values()] < least
        else each.by_confidence
        for each in told
    ]


def short(told: Mapping[str, Sequence[Told]], left_out: Mapping[str, float | None]) -> str:
    """Write what the README tells of every collection."""
    rows = []
    for title, group in told.items():
        asked = sum(each.kind != GONE for each in group)
        if asked < LEAST_QUESTIONS:
            continue
        verdicts = [each.match for each in group]
        good, low = rates(group, verdicts, "strong"), rates(group, verdicts, "low")
        fitted = [_cell(left_out[title])] if left_out else []
        rows.append(
            [title, str(asked), f"{good[0]:.0f}",
             *map(_cell, good[1:]), *fitted, f"{low[0]:.0f}", *map(_cell, (low[1], low[3]))]
        )  # fmt: skip
    fitted = ["left out"] if left_out else []
    head = ["collection", "questions", "`strong`", "right", "found", "strong, evidence removed",
            *fitted, "`low`", "low, rightly", "low, evidence removed"]  # fmt: skip
    return table(head, rows)


Fitted = tuple[str, np.ndarray, list[float | None]]


def left_one_out(told: Mapping[str, Sequence[Told]]) -> Iterator[Fitted]:
    """Yield the constants fitted on all other collections, and the rates of strong matches."""
    with_vectors = any(each.has_vectors for group in told.values() for each in group)
    usable = {
        title: [each for each in group if each.has_vectors == with_vectors]
        for title, group in told.items()
    }
    for title, group in told.items():
        others = [each for name, each in usable.items() if name != title and each]
        constants = fitted_on(others)
        yield title, constants, rates(group, judged(group, constants), "strong")


def drawn(fits: Iterable[Fitted]) -> Iterator[str]:
    """Write a row for each collection."""
    yield f"| left out | constant | {' | '.join(FEATURES)} | good | precision | recall | gone |\n"
    yield f"|---|{'---:|' * (len(FEATURES) + 5)}\n"
    for title, constants, good in fits:
        numbers = " | ".join(f"{constant:.2f}" for constant in constants)
        cells = " | ".join(map(_cell, good[1:]))
        yield f"| {title} | {numbers} | {good[0]:.0f} | {cells} |\n"


OPTIONS = (
    option("root", type=Path),
    option("--stores", type=Path),
    option("--mode", default="hybrid", choices=("hybrid", "keyword", "semantic")),
    option("--fit", action="store_true"),
)


def main(options: Namespace) -> str:
    told: dict[str, list[Told]] = {}
    for title, folders in sets(options.root.resolve()).items():
        told[title] = [
            each
            for folder in folders
            for each in asked(folder, store_of(folder, options.stores), options.mode)
        ]
    fits = list(left_one_out(told)) if options.fit else []
    sys.stdout.writelines(drawn(fits) if fits else ())
    return short(told, {title: good[1] for title, _, good in fits})
