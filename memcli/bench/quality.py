"""Ask judged questions as `search` does, score the passages, and name the stage that lost some."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from math import ceil, inf
from typing import TYPE_CHECKING, Any

from memcli.bench.metrics import HEADLINE, LINE_END_TOKENS, LineCosts, Range, mean, paired, score
from memcli.bench.queries import OVERALL, Query
from memcli.bench.traces import HintRate
from memcli.errors import NotFoundError
from memcli.indexing.planning import Settings, read
from memcli.language.tokens import quotient
from memcli.record import Record
from memcli.search.options import PROFILES, SearchOptions, unobserved
from memcli.search.pipeline import Answer
from memcli.search.stages import SWITCHES
from memcli.search.why_not import Course, Trail, follow, why
from memcli.types import MEMORY_SOURCE, FileText, shown

if TYPE_CHECKING:
    from memcli.search.options import Observer

    # From a question and the day on which it is asked to its answer.
    Search = Callable[[str, str | None, Observer], Answer]

PASSAGE_LIMIT = 5  # a question whose lines come later counts as missed


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
    options: SearchOptions,
    line_costs: LineCosts,
    timer: Callable[[], float],
) -> list[QuestionResult]:
    """Ask every question, in order; `options` are those of `search`, `timer` counts seconds."""
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
            helped = passages(search(f"{query.text} {query.hints}", query.date, unobserved))
            mended = bool(score(query.relevant, helped, line_costs)[f"Hit@{PASSAGE_LIMIT}"])
        relevant = query.relevant
        loss = lost_at(course, answer, relevant, options, line_costs) if missed else None
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
    """Describe a question's passages as one line of a run file; the default source is left out."""
    results = [
        {
            "path": lines.path,
            **({} if lines.source == MEMORY_SOURCE else {"source": lines.source}),
            "start_line": lines.start,
            "end_line": lines.end,
        }
        for lines in result.results
    ]
    return {"id": result.query.id, "results": results}


GONE = "files"  # not a stage of a search: the lines are no longer in any file


class Loss(Record):
    """A stage and what happened there, for a person."""

    stage: str  # of `stages.TABLE`, or GONE
    why: str


def lost_at(
    course: Course,
    answer: Answer,
    relevant: Sequence[Range],
    options: SearchOptions,
    line_costs: LineCosts,
) -> Loss | None:
    """Find where the judged lines were lost; None if the first PASSAGE_LIMIT passages have one.

    `course` belongs to the search that gave the answer. If there are several ranges, the one that
    came furthest counts. `line_costs` is empty for a document that the workspace does not have.
    """
    trails = [follow(course, (each.document, each.start, each.end)) for each in relevant]
    trail = min(trails, key=_left_behind)
    if trail.rank is not None:
        return None if trail.rank <= PASSAGE_LIMIT else _too_late(trail)
    if all(place.start > len(line_costs(place.document)) for place in relevant):
        return Loss(GONE, _gone(relevant[0], len(line_costs(relevant[0].document))))
    if not trail.waypoints:
        return Loss("recall", "the question contains nothing to search for")
    reason = why(trail, options)
    return Loss(trail.lost_at, reason + _limits(answer) if trail.lost_at == "recall" else reason)


def _left_behind(trail: Trail) -> tuple[float, int]:
    """Sort the range that came furthest first: shown passages by rank, then the last one lost."""
    passed = sum(at.rank is not None for at in trail.waypoints)
    return (inf if trail.rank is None else trail.rank, -passed)


def _gone(place: Range, lines: int) -> str:
    name = shown(*place.document)
    if not lines:
        return f"{name} is not in the workspace"
    return f"{name} has {lines} lines, and line {place.start} was judged"


def _limits(answer: Answer) -> str:
    """Return the settings and filters that may have kept the retrievers from finding more."""
    alone = "" if answer.semantic.ran else "; keyword search only"
    alone = alone if answer.keyword.ran else "; semantic search only"
    return alone + (f"; in no chunk: {', '.join(answer.unmatched)}" if answer.unmatched else "")


def _too_late(trail: Trail) -> Loss:
    """Blame the last stage that moved the passage out of the first ones, or else the fusion."""
    # Ranks exist only after the retrievers are fused.
    ranked = [(at.stage, at.rank) for at in trail.waypoints if at.score is not None and at.rank]
    blamed = [
        Loss(stage, f"moved it from rank {was} to {rank}")
        for (_, was), (stage, rank) in pairwise(ranked)
        if was <= PASSAGE_LIMIT < rank
    ]
    return blamed[-1] if blamed else Loss("fuse", f"put it at rank {ranked[0][1]}")


class Variant(Record):
    """One way to search that differs from the settings in one thing."""

    name: str
    settings: Mapping[str, str]
    without: frozenset[str] = frozenset()  # of `stages.SWITCHES`


ABLATIONS = (
    Variant("keyword only", {"search.mode": "keyword"}),
    Variant("semantic only", {"search.mode": "semantic"}),
    Variant("fusion weighted", {"search.fusion": "weighted"}),
    Variant("fusion rrf", {"search.fusion": "rrf"}),
    *(
        Variant(f"without {switch}", {}, frozenset((switch,)))
        for switch in SWITCHES
        if switch in PROFILES["default"].stages
    ),
)
BY_PROFILE = {name: Variant(f"profile {name}", {"search.profile": name}) for name in PROFILES}


def row(
    name: str, scores: Sequence[Mapping[str, float]], before: Sequence[Mapping[str, float]]
) -> dict[str, object]:
    """Describe a variant by its means, and by the difference in nDCG@10 per question."""
    change = paired([each[HEADLINE] for each in before], [each[HEADLINE] for each in scores])
    figures = {"change": change.mean, "low": change.low, "high": change.high}
    return {"variant": name, **mean(scores), **figures}
