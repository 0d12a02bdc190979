"""Ask the queries of a file through the pipeline of `search` and score what comes back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from memcli.bench.metrics import NAMES, LineCosts, Range, mean, score
from memcli.errors import UsageError
from memcli.search.hits import Hit

WHOLE_FILE = 10**9


class Query(NamedTuple):
    """One judged question."""

    id: str
    text: str
    category: str
    date: str | None  # when it is asked
    relevant: tuple[Range, ...]


class Asked(NamedTuple):
    """A query with its passages and scores; no scores where nothing is judged."""

    query: Query
    results: tuple[Range, ...]
    scores: dict[str, float] | None


def read_queries(lines: Iterable[str], name: str) -> list[Query]:
    """Read JSON lines; `relevant` may also be a single path."""
    queries = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            relevant = record.get("relevant", [])
            items = [{"path": relevant}] if isinstance(relevant, str) else relevant
            queries.append(
                Query(
                    id=str(record.get("id", number)),
                    text=record["query"],
                    category=str(record.get("category", "all")),
                    date=record.get("date"),
                    relevant=tuple(dict.fromkeys(_range(item) for item in items)),
                )
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{name}:{number} is not a judged query: {error}",
                hint='write {"query": "...", "relevant": [{"path": "...", "start_line": 1}]}',
            ) from None
    if not queries:
        raise UsageError(f"{name} holds no queries")
    return queries


def ask(
    queries: Sequence[Query], search: Callable[[Query], Sequence[Hit]], line_costs: LineCosts
) -> list[Asked]:
    """Run every query, in order."""
    asked = []
    for query in queries:
        results = tuple(Range(h.candidate.path, h.start_line, h.end_line) for h in search(query))
        scores = score(query.relevant, results, line_costs) if query.relevant else None
        asked.append(Asked(query, results, scores))
    return asked


def summary(asked: Sequence[Asked]) -> dict[str, dict[str, Any]]:
    """Average per category and over all judged queries."""
    groups: dict[str, list[dict[str, float]]] = {}
    for each in asked:
        if each.scores is not None:
            groups.setdefault(each.query.category, []).append(each.scores)
    rows = [scores for group in groups.values() for scores in group]
    table = {name: {"queries": len(group), **mean(group)} for name, group in sorted(groups.items())}
    return {**table, "all": {"queries": len(rows), **mean(rows)}}


def run_line(asked: Asked) -> dict[str, Any]:
    """Describe a query's passages as one line of a run file."""
    return {
        "id": asked.query.id,
        "results": [
            {"path": r.path, "start_line": r.start, "end_line": r.end} for r in asked.results
        ],
    }


def table(summaries: dict[str, dict[str, Any]]) -> str:
    """Draw the summary, a row a category."""
    width = max(len(name) for name in summaries)
    head = f"{'':{width}}  {'n':>5}  " + "  ".join(f"{name:>7.7}" for name in _HEADS)
    rows = [
        f"{name:{width}}  {row['queries']:>5}  "
        + "  ".join(f"{row.get(metric, 0.0):7.3f}" for metric in NAMES)
        for name, row in summaries.items()
    ]
    return "\n".join([head, *rows]) + "\n"


_HEADS = [name.replace("Recall", "R").replace("tok", "t") for name in NAMES]


def _range(item: dict[str, Any]) -> Range:
    start = item.get("start_line")
    if start is None:
        return Range(item["path"], 1, WHOLE_FILE)
    return Range(item["path"], int(start), int(item.get("end_line") or start))
