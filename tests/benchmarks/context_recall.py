"""Weigh `context` against `search` on judged workspaces; not part of the suite.

    python -m tests.benchmarks.context_recall FOLDER... [--budget 2000]

Each folder holds `workspace/` and `queries.jsonl`, and is copied first. Recall is the share of the
judged line ranges with a line in the answer, within the budget: of `search --budget` its passages,
of `context` its parts with fences and citations paid for. Then the price of a tail.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from memcli.bench.metrics import Range
from memcli.bench.queries import Query
from memcli.context.assemble import Sharing, assemble
from memcli.context.retrieve import find, fixed_of
from memcli.errors import BudgetError
from memcli.search.dates import find_dates
from memcli.search.options import SearchOptions, options_of
from memcli.search.pipeline import Answer, Vector, search
from memcli.search.profiles import PROFILES
from memcli.search.query import parse
from memcli.store.port import Snapshot
from memcli.types import Filters
from memcli.workspace.dating import age_days
from tests.benchmarks.compaction_recall import Workspace

TAILS = (1, 2, 3, 4, 6)


class Row(NamedTuple):
    """Averages over the questions of a workspace."""

    recall: float
    tokens: float
    parts: float


def recall(query: Query, shown: Iterable[Range]) -> float:
    places = list(shown)
    found = sum(
        any(p.path == r.path and p.start <= r.end and r.start <= p.end for p in places)
        for r in query.relevant
    )
    return found / len(query.relevant)


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
            answer = self._search(query, options)
            places = [Range(h.about.path, h.start_line, h.end_line) for h in answer.hits]
            tokens = sum(len(hit.text) / 4 for hit in answer.hits)
            rows.append(Row(recall(query, places), tokens, len(places)))
        return mean(rows)

    def _search(self, query: Query, options: SearchOptions) -> Answer:
        today = date.fromisoformat(query.date[:10]) if query.date else date(2030, 1, 1)
        spans = find_dates(query.text, today)
        parsed = parse(query.text, soft=[(s.at, s.at + len(s.text)) for s in spans])
        return search(
            self.snapshot, parsed, spans, options,
            embed_query=lambda: self.workspace.vector(parsed.text),
            age_days=lambda day: age_days(day, today.isoformat()),
        )  # fmt: skip

    def context(self, options: SearchOptions, wanted: Sharing) -> Row:
        rows = []
        for query in self.workspace.queries:
            today = date.fromisoformat(query.date[:10]) if query.date else date(2030, 1, 1)
            spans = find_dates(query.text, today)
            parsed = parse(query.text, soft=[(s.at, s.at + len(s.text)) for s in spans])

            def embed_query(text: str = parsed.text) -> Vector:
                return self.workspace.vector(text)

            def age(day: str, today: str = today.isoformat()) -> int:
                return age_days(day, today)

            fixed = fixed_of(self.snapshot, wanted)
            _, found = find(
                self.snapshot, parsed, spans, options, fixed, roots={},
                embed_query=embed_query, age_days=age,
            )  # fmt: skip
            made = assemble(fixed, found, wanted)
            places = [
                Range(p.excerpt.about.path, p.excerpt.about.start_line, p.excerpt.about.end_line)
                for p in made.parts
            ]
            rows.append(Row(recall(query, places), made.tokens, len(places)))
        return mean(rows)


def mean(rows: list[Row]) -> Row:
    return Row(*(sum(column) / len(rows) for column in zip(*rows, strict=True)))


def show(name: str, row: Row) -> None:
    print(f"  {name:<42} recall {row.recall:.3f}  {row.tokens:6.0f} tokens  {row.parts:5.1f} parts")


def compare(asker: Asker, budget: int, tails: Sequence[int]) -> None:
    """Print a row for each way to ask."""
    for limit in (10, 100):
        options = asker.options("default", limit)._replace(budget=budget)
        show(f"search --limit {limit}", asker.search(options))
    none = Sharing(budget, 0, 0.3, 0.1, 0.2)
    for profile in ("default", "two-pass"):
        row = asker.context(asker.options(profile, 100), none)
        show(f"context --tail 0 --profile {profile}", row)
    for tail in tails:
        wanted = none._replace(tail=tail, tail_share=0.0)
        try:
            row = asker.context(asker.options("default", 100), wanted)
        except BudgetError as error:
            print(f"  context --tail {tail}: {error.message}")
            break
        show(f"context --tail {tail}, context.tail_share 0", row)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--budget", type=int, default=2000)
    parser.add_argument("--tails", type=int, nargs="*", default=list(TAILS))
    given = parser.parse_args()
    for folder in given.folders:
        with tempfile.TemporaryDirectory() as place:
            workspace = Workspace(folder, Path(place))
            workspace.index()
            print(f"{folder.name}: {len(workspace.queries)} questions, budget {given.budget}")
            with workspace.store.snapshot() as snapshot:
                compare(Asker(workspace, snapshot), given.budget, given.tails)


if __name__ == "__main__":
    main()
