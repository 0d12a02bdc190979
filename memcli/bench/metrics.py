"""Score ranked passages against judged line ranges; pure.

A passage is relevant if it shares a line with a judged range of the same document. Hit@k and
MRR@10 look at the first relevant passage; Recall@k is the share of the ranges touched by the
first k; nDCG@10 counts each range once, at the rank that first touches it, over the best sum
there could be (Jarvelin and Kekalainen, TOIS 2002). Recall at T tokens is the share of the
ranges with a line among those that fit in T tokens, read in order of rank.

The interval of a difference is a paired bootstrap over the questions (Efron and Tibshirani, An
Introduction to the Bootstrap, 1993): questions are drawn with replacement, and the middle 95 % of
the mean differences are the interval. The seed is fixed: same figures, same interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import fsum, log2
from random import Random

from memcli.record import Record
from memcli.types import MEMORY_SOURCE

BUDGETS = (500, 1000, 2000)
LINE_END_TOKENS = 0.25  # one character of each line, for its end
DRAWS = 2000
SEED = 20250101
HEADLINE = "nDCG@10"  # the metric that judges a change
NAMES = (
    "Hit@1", "Hit@5", "Hit@10", "Recall@5", "Recall@10", "MRR@10", "nDCG@10",
    *(f"Recall@{budget}tok" for budget in BUDGETS),
)  # fmt: skip


class Range(Record):
    """Lines of a document, from 1, both ends included."""

    path: str
    start: int
    end: int
    source: str = MEMORY_SOURCE

    @property
    def document(self) -> tuple[str, str]:
        """Name the document: (source, path)."""
        return self.source, self.path

    def touches(self, other: Range) -> bool:
        """Return whether the two share a line."""
        return (
            self.document == other.document and self.start <= other.end and other.start <= self.end
        )


Line = tuple[tuple[str, str], int]  # (source, path) and line from 1
LineCosts = Callable[[tuple[str, str]], Sequence[float]]  # tokens of each line of a (source, path)


def score(
    relevant: Sequence[Range], results: Sequence[Range], line_costs: LineCosts
) -> dict[str, float]:
    """Score one query; `line_costs` gives the tokens of each line of a document."""
    first = (first_rank((place,), results) for place in relevant)
    ranks = [rank for rank in first if rank is not None]
    best = min(ranks, default=None)
    scores = {f"Hit@{k}": float(best is not None and best <= k) for k in (1, 5, 10)}
    for k in (5, 10):
        scores[f"Recall@{k}"] = sum(rank <= k for rank in ranks) / len(relevant)
    scores["MRR@10"] = 1.0 / best if best is not None and best <= 10 else 0.0
    gained = fsum(1.0 / log2(rank + 1) for rank in ranks if rank <= 10)
    ideal = fsum(1.0 / log2(rank + 1) for rank in range(1, min(len(relevant), 10) + 1))
    scores["nDCG@10"] = min(1.0, gained / ideal)
    for budget in BUDGETS:
        seen = within(budget, _costs(results, line_costs))
        scores[f"Recall@{budget}tok"] = reached(relevant, seen)
    return scores


def first_rank(relevant: Sequence[Range], results: Sequence[Range]) -> int | None:
    """Return the rank of the first passage that touches a judged range."""
    for rank, result in enumerate(results, start=1):
        if any(map(result.touches, relevant)):
            return rank
    return None


def average(values: Sequence[float]) -> float:
    """Return the mean, 0 without values."""
    return fsum(values) / len(values) if values else 0.0


def mean(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Average each metric over queries."""
    return {name: average([row[name] for row in rows]) for name in NAMES} if rows else {}


def _costs(results: Sequence[Range], line_costs: LineCosts) -> Iterator[tuple[Line, float]]:
    for result in results:
        costs = line_costs(result.document)
        for line in range(result.start, min(result.end, len(costs)) + 1):
            yield (result.document, line), costs[line - 1]


def within(budget: float, lines: Iterable[tuple[Line | None, float]]) -> set[Line]:
    """Return the lines that fit into a budget of tokens, from the first; None only costs."""
    seen = set()
    for line, cost in lines:
        budget -= cost
        if budget < 0:
            break
        if line is not None:
            seen.add(line)
    return seen


def reached(relevant: Sequence[Range], seen: set[Line]) -> float:
    """Return the share of judged ranges of which at least one line was seen."""
    count = sum(
        any(document == place.document and place.start <= n <= place.end for document, n in seen)
        for place in relevant
    )
    return count / len(relevant)


class Difference(Record):
    """A mean difference and its 95 % interval."""

    mean: float
    low: float
    high: float


def paired(before: Sequence[float], after: Sequence[float]) -> Difference:
    """Compare two figures per question, in the same order; ValueError if the lengths differ.

    Without questions the difference is 0.
    """
    deltas = [b - a for a, b in zip(before, after, strict=True)]
    if not deltas:
        return Difference(0.0, 0.0, 0.0)
    draw = Random(SEED)
    size = len(deltas)
    means = sorted(fsum(draw.choices(deltas, k=size)) / size for _ in range(DRAWS))
    return Difference(fsum(deltas) / size, means[int(0.025 * DRAWS)], means[int(0.975 * DRAWS) - 1])
