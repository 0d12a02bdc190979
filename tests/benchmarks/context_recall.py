"""Weigh `context` against `search` on judged workspaces; not part of the suite.

Each folder holds `workspace/` and `queries.jsonl`, and is copied first. Recall is the share of the
judged line ranges with a line in the answer, within the budget: of `search --budget` its passages,
of `context` its parts with fences and citations paid for; evidence is the share of the questions
with any judged line in it. Then the defaults by budget: how much a small block still holds.
`--write` puts the means over all questions of all folders into the README.
"""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from memcli.bench.metrics import Range
from memcli.bench.queries import Query
from memcli.context.assemble import Sharing, assemble
from memcli.context.hops import Following
from memcli.context.retrieve import find, fixed_of
from memcli.search.federation import ModelGroup
from memcli.search.options import PROFILES, SearchOptions, options_of
from memcli.store.port import Snapshot
from memcli.types import Filters
from tests.benchmarks.compaction_recall import Workspace, question_of
from tests.benchmarks.figures import option, share, table

BUDGETS = (300, 500, 1000, 2000)


class Row(NamedTuple):
    """Averages over the questions of a workspace."""

    recall: float
    evidence: float
    tokens: float
    parts: float


def recall(query: Query, shown: Iterable[Range]) -> float:
    places = list(shown)
    found = sum(any(place.touches(r) for place in places) for r in query.relevant)
    return found / len(query.relevant)


def row(query: Query, places: list[Range], tokens: float) -> Row:
    found = recall(query, places)
    return Row(found, found > 0, tokens, len(places))


class Asker:
    """Asks the questions of one workspace in both ways."""

    def __init__(self, workspace: Workspace, snapshot: Snapshot) -> None:
        self.workspace, self.snapshot = workspace, snapshot

    def options(self, profile: str, limit: int) -> SearchOptions:
        options = options_of(self.workspace.config, filters=Filters())
        return options._replace(profile=PROFILES[profile], limit=limit)

    def search(self, options: SearchOptions) -> Row:
        rows = []
        for query in self.workspace.queries:
            answer = self.workspace.search(self.snapshot, query, options)
            places = [Range(h.about.path, h.start_line, h.end_line) for h in answer.passages]
            tokens = sum(len(passage.text) / 4 for passage in answer.passages)
            rows.append(row(query, places, tokens))
        return mean(rows)

    def context(self, options: SearchOptions, wanted: Sharing) -> Row:
        rows = []
        for query in self.workspace.queries:
            fixed = fixed_of(self.snapshot, wanted, options.filters)
            _, found = find(
                self.snapshot, question_of(query), options, fixed, following=Following({}),
                groups=[
                    ModelGroup((), self.snapshot, options.encoder, None, self.workspace.vector)
                ],
            )  # fmt: skip
            made = assemble(fixed, found, wanted)
            places = [
                Range(p.excerpt.about.path, p.excerpt.about.start_line, p.excerpt.about.end_line)
                for p in made.parts
            ]
            rows.append(row(query, places, made.tokens))
        return mean(rows)


def mean(rows: list[Row]) -> Row:
    return Row(*(sum(column) / len(rows) for column in zip(*rows, strict=True)))


def show(name: str, row: Row) -> None:
    print(
        f"  {name:<34} recall {row.recall:.3f}  evidence {row.evidence:.3f}"
        f"  {row.tokens:6.0f} tokens  {row.parts:5.1f} parts"
    )


def compare(asker: Asker, budget: int, budgets: Sequence[int]) -> Iterator[tuple[str, Row]]:
    """Give a row for each way to ask."""
    for limit in (10, 100):
        options = asker.options("default", limit)._replace(budget=budget)
        yield f"search --limit {limit}", asker.search(options)
    defaults = Sharing(budget, 1, 0.3, 0.1, 0.2, has_question=True)
    none = defaults._replace(tail=0)
    for profile in ("default", "two-pass"):
        row = asker.context(asker.options(profile, 100), none)
        yield f"context --tail 0 --profile {profile}", row
    for each in budgets:
        row = asker.context(asker.options("default", 100), defaults._replace(budget=each))
        yield f"context --budget {each}", row


def figures(found: Mapping[str, Sequence[tuple[int, Row]]]) -> str:
    """Write the means over all questions, each folder by how many it has."""
    rows = []
    for name, each in found.items():
        total = sum(weight for weight, _ in each)
        weighed = [[weight * value for value in row] for weight, row in each]
        whole = Row(*(sum(column) / total for column in zip(*weighed, strict=True)))
        told = (share(whole.recall), share(whole.evidence), f"{whole.tokens:,.0f}")
        rows.append([f"`{name.removesuffix(' --profile default')}`", *told])
    asked = sum(weight for weight, _ in next(iter(found.values())))
    return table([f"{asked} questions", "recall", "evidence", "tokens"], rows)


OPTIONS = (
    option("folders", nargs="+", type=Path),
    option("--budget", type=int, default=2000),
    option("--budgets", type=int, nargs="*", default=list(BUDGETS)),
)


def main(options: Namespace) -> str:
    found: dict[str, list[tuple[int, Row]]] = {}
    for folder in options.folders:
        with tempfile.TemporaryDirectory() as place:
            workspace = Workspace(folder, Path(place))
            workspace.index()
            print(f"{folder.name}: {len(workspace.queries)} questions, budget {options.budget}")
            with workspace.store.snapshot() as snapshot:
                for name, each in compare(
                    Asker(workspace, snapshot), options.budget, options.budgets
                ):
                    show(name, each)
                    found.setdefault(name, []).append((len(workspace.queries), each))
    return figures(found)
