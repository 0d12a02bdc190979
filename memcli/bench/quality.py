"""Run judged questions through the pipeline of `search`, and score the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from math import ceil
from typing import TYPE_CHECKING, Any, Protocol

from memcli.bench.loss import Loss, lost_at
from memcli.bench.metrics import LINE_END_TOKENS, LineCosts, Range, mean, score
from memcli.bench.queries import OVERALL, Query
from memcli.bench.traces import HintRate
from memcli.errors import NotFoundError
from memcli.indexing.planning import Settings, read
from memcli.language.tokens import quotient
from memcli.record import Record
from memcli.search.options import SearchOptions, unobserved
from memcli.search.pipeline import Answer
from memcli.search.why_not import Course
from memcli.types import MEMORY_SOURCE, FileText

if TYPE_CHECKING:
    from memcli.search.options import Observer

PASSAGE_LIMIT = 5  # a question whose lines come later counts as missed


class Search(Protocol):
    """Searches one workspace, always with the same options."""

    @property
    def options(self) -> SearchOptions:
        """Return the options of every search."""
        ...

    def __call__(self, text: str, day: str | None, observe: Observer = unobserved) -> Answer:
        """Answer a question as if asked on a day."""
        ...


class QuestionResult(Record):
    """A question with its passages and scores; without judged lines, it has no scores."""

    query: Query
    results: tuple[Range, ...]
    scores: dict[str, float] | None
    milliseconds: float
    mended: bool | None  # whether it succeeds with hints; None without hints, or if it needs none
    loss: Loss | None


def ask(
    queries: Sequence[Query],
    search: Search,
    line_costs: LineCosts,
    timer: Callable[[], float],
) -> list[QuestionResult]:
    """Ask every question, in order; `timer` counts seconds."""

    def lines(document: tuple[str, str]) -> int:
        return len(line_costs(document))

    runs = []
    for query in queries:
        course = Course()
        started = timer()
        answer = search(query.text, query.date, course)
        milliseconds = (timer() - started) * 1000.0
        results = passages(answer)
        if not query.relevant:
            runs.append(QuestionResult(query, results, None, milliseconds, None, None))
            continue
        scores = score(query.relevant, results, line_costs)
        missed = not scores[f"Hit@{PASSAGE_LIMIT}"]
        mended = None
        if query.hints and missed:
            helped = passages(search(f"{query.text} {query.hints}", query.date))
            mended = bool(score(query.relevant, helped, line_costs)[f"Hit@{PASSAGE_LIMIT}"])
        loss = None
        if missed:
            loss = lost_at(
                course,
                answer,
                query.relevant,
                search.options,
                limit=PASSAGE_LIMIT,
                line_count=lines,
            )
        runs.append(QuestionResult(query, results, scores, milliseconds, mended, loss))
    return runs


def line_costs(settings: Settings) -> LineCosts:
    """Read documents as the index does, each once, and return the tokens of their lines.

    The list is empty if the document cannot be read or its source is no longer configured.
    """
    names = {source.name for source in settings.sources}
    costs: dict[tuple[str, str], list[float]] = {}

    def of(document: tuple[str, str]) -> Sequence[float]:
        if document not in costs:
            costs[document] = []
            source, path = document
            with suppress(NotFoundError):  # a path that leads outside
                file = read(settings, source, path) if source in names else None
                if isinstance(file, FileText):
                    lines = file.text.split("\n")
                    costs[document] = [quotient(line) + LINE_END_TOKENS for line in lines]
        return costs[document]

    return of


def passages(answer: Answer) -> tuple[Range, ...]:
    """Return the lines of each passage, best first."""
    return tuple(
        Range(passage.about.path, passage.start_line, passage.end_line, passage.about.source)
        for passage in answer.passages
    )


def summary(results: Sequence[QuestionResult]) -> dict[str, dict[str, float]]:
    """Average per category and over all judged questions."""
    groups: dict[str, list[dict[str, float]]] = {}
    for each in results:
        if each.scores is not None:
            groups.setdefault(each.query.category, []).append(each.scores)
    rows = [scores for group in groups.values() for scores in group]
    table = {name: {"queries": len(group), **mean(group)} for name, group in sorted(groups.items())}
    return {**table, OVERALL: {"queries": len(rows), **mean(rows)}}


def hint_rate(results: Sequence[QuestionResult]) -> HintRate:
    """Count the questions with hints that fail without them, and those that succeed with them.

    `rate` is the share of all judged questions with hints; None if there are none.
    """
    hinted = [each for each in results if each.query.hints and each.scores is not None]
    mended = sum(each.mended is True for each in hinted)
    missed = sum(each.mended is not None for each in hinted)
    return HintRate(len(hinted), missed, mended, mended / len(hinted) if hinted else None)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least `share` of the values do not exceed, or 0."""
    ranked = sorted(values)
    return ranked[max(0, ceil(share * len(ranked)) - 1)] if ranked else 0.0


def run_line(result: QuestionResult) -> dict[str, Any]:
    """Describe a question's passages as one line of a run file."""
    return {"id": result.query.id, "results": [_result(each) for each in result.results]}


def _result(lines: Range) -> dict[str, Any]:
    """Describe a passage, with its source unless that is the default one."""
    source = {} if lines.source == MEMORY_SOURCE else {"source": lines.source}
    return {"path": lines.path, **source, "start_line": lines.start, "end_line": lines.end}
