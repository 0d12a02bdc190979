"""Measure what search still finds after compaction, on judged workspaces; not part of the suite.

    python -m tests.benchmarks.compaction_recall FOLDER... [--ratio .3 --cluster 2 --tail 1]
        [--write PAGE.md]

Each folder holds `workspace/` and `queries.jsonl`, and is copied first. A row tells, for one
setting: tokens of the active view over those of the raw lines, and recall within a budget of tokens
in the raw view, in the active one with the lines behind summaries, and in the active one alone, as
`bench.summary_recall` reads it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from memcli.bench.queries import Query, read_queries
from memcli.bench.summary_recall import recall
from memcli.compaction import folder
from memcli.compaction.draft import CompactionSettings
from memcli.compaction.plan import make_plan
from memcli.compaction.similarity import embedder
from memcli.config import settings as configuration
from memcli.dates.find import find_dates
from memcli.embedding.encoders import Choice
from memcli.embedding.registry import open_encoder
from memcli.indexing.indexer import embed, index
from memcli.indexing.planning import Settings as IndexSettings
from memcli.search.expansion import search_expanded
from memcli.search.federation import ModelGroup
from memcli.search.hits import Hit
from memcli.search.options import options_of
from memcli.search.pipeline import search
from memcli.search.query import parse
from memcli.search.retrievers import Vector
from memcli.search.summaries import Expanded
from memcli.search.validity import reach_of
from memcli.store.open import store_at
from memcli.store.port import Snapshot
from memcli.store.records import RetrieverResults
from memcli.types import Filters, Limits, Wanted
from memcli.workspace.dating import age_days
from tests.benchmarks.figures import add_write, share, table, write
from tests.support import count_tokens, vector_of


class Workspace:
    """One judged workspace: a copy of its files, an index, an encoder."""

    def __init__(self, source: Path, target: Path) -> None:
        self.root = target / "workspace"
        shutil.copytree(source / "workspace", self.root)
        with (source / "queries.jsonl").open(encoding="utf-8") as file:
            self.queries = [q for q in read_queries(file, str(source)) if q.relevant]
        self.store = store_at(str(target / "index.sqlite"), time.time_ns)
        self.config = configuration.load(str(self.root), {}, {})
        self.encoder = open_encoder(Choice()).encoder
        limits = Limits(self.config("chunk.tokens"), 0, 256, count_tokens)
        self.settings = IndexSettings(
            self.config.sources, limits, 8 << 20, False, lambda: 4_000_000_000_000_000_000
        )
        self.vectors: dict[str, Vector] = {}

    def index(self) -> None:
        with self.store.change(wait_seconds=0, sleep=time.sleep) as change:
            index(change, self.settings)
            if self.encoder is not None:
                embed(change, self.encoder)

    def compact(self, wanted: CompactionSettings) -> dict[str, int]:
        for old in (self.root / folder.folder_of(str(self.root))).glob("*.md"):
            old.unlink()
        found = folder.read(self.settings, {}, None)
        plan = make_plan(
            found.logs,
            found.summaries,
            wanted,
            folder=folder.folder_of(str(self.root)),
            now="2030-01-01T00:00:00",
            embed=embedder(self.encoder) if self.encoder else None,
        )
        folder.write(str(self.root), plan.drafts)
        self.index()
        modes = [draft.mode for draft in plan.drafts]
        return {mode: modes.count(mode) for mode in set(modes)} | {"declined": len(plan.declined)}

    def vector(self, text: str) -> Vector:
        if self.encoder is None:
            return Vector(None, "", None, 1.0)
        if text not in self.vectors:
            self.vectors[text] = vector_of(self.encoder, text)
        return self.vectors[text]

    def tokens(self, view: str) -> int:
        with self.store.snapshot() as snapshot:
            reach = reach_of(Filters(view=view), snapshot.supports())
            documents = [(found.source, found.path) for found in snapshot.documents(reach)]
            chunks = [e.about.chunk_id for e in snapshot.excerpts_of(documents, reach)]
            nothing = RetrieverResults(Wanted(), (), None, ())
            return sum(found.tokens for found in snapshot.candidates(chunks, nothing))

    def recall(self, view: str, *, tokens: int, limit: int, budget: int) -> float:
        options = options_of(self.config, filters=Filters(view=view))._replace(limit=limit)
        found = 0.0
        with self.store.snapshot() as snapshot:
            for query in self.queries:
                read = self._read(snapshot, query, options, tokens)
                found += recall(query.relevant, read, budget)
        return found / len(self.queries)

    def _read(self, snapshot: Snapshot, query: Query, options: Any, tokens: int) -> list[Hit]:
        today = date.fromisoformat(query.date[:10]) if query.date else date(2030, 1, 1)
        spans = find_dates(query.text, today)
        parsed = parse(query.text, soft=[(s.at, s.at + len(s.text)) for s in spans])

        def age(day: str) -> int:
            return age_days(day, today.isoformat())

        if not tokens:
            answer = search(snapshot, parsed, spans, options, embed_query=self.vector, age_days=age)
            behind: list[Expanded] = []
        else:
            answer, behind = search_expanded(
                snapshot, [ModelGroup((), snapshot, options.encoder, None, self.vector)],
                parsed, spans,
                options, tokens=tokens, age_days=age,
            )  # fmt: skip
        return [*answer.hits, *(each.hit for each in behind)]


HEAD = ["`compact.cluster`", "`compact.ratio`", "`--limit`", "tokens left", "recall before",
        "with `--expand`", "kept", "summaries alone"]  # fmt: skip


class Row(NamedTuple):
    """What one setting gave on one workspace."""

    ratio: float
    raw: float
    expanded: float
    alone: float
    everything: float


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--ratio", nargs="+", type=float, default=[0.3])
    parser.add_argument("--cluster", nargs="+", type=int, default=[2])
    parser.add_argument("--tail", type=int, default=1)
    parser.add_argument("--depth", type=int, default=1)
    parser.add_argument("--tokens", nargs="+", type=int, default=[1500])
    parser.add_argument("--limit", nargs="+", type=int, default=[10])
    parser.add_argument("--budget", type=int, default=2000, help="tokens that are read")
    parser.add_argument("--quick", action="store_true", help="leave out two columns")
    parser.add_argument("--sample", type=int, default=1, help="every so many-th question")
    parser.add_argument("--each", action="store_true", help="a row a workspace too")
    add_write(parser)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        spaces = []
        for at, source in enumerate(wanted.folders):
            spaces.append(Workspace(source, Path(temporary) / str(at)))
            spaces[-1].index()
            spaces[-1].queries = spaces[-1].queries[:: wanted.sample]
        budget = wanted.budget
        raw = [space.recall("raw", tokens=0, limit=60, budget=wanted.budget) for space in spaces]
        whole = [space.tokens("raw") for space in spaces]
        weights = [len(space.queries) for space in spaces]
        told = []
        _say("cluster ratio limit expand | tokens  raw  active+expand  kept  alone  all | modes")
        for cluster, ratio in product(wanted.cluster, wanted.ratio):
            settings = CompactionSettings(wanted.tail, 0, cluster, ratio, 200, wanted.depth)
            modes: dict[str, int] = {}
            for space in spaces:
                for mode, count in space.compact(settings).items():
                    modes[mode] = modes.get(mode, 0) + count
            shares = [s.tokens("active") / t for s, t in zip(spaces, whole, strict=True)]
            alone, every = (
                [
                    0.0 if wanted.quick else s.recall(v, tokens=0, limit=30, budget=wanted.budget)
                    for s in spaces
                ]
                for v in ("active", "all")
            )
            for limit, tokens in product(wanted.limit, wanted.tokens):
                rows = [
                    Row(
                        share,
                        before,
                        space.recall("active", tokens=tokens, limit=limit, budget=budget),
                        *rest,
                    )
                    for space, share, before, *rest in zip(
                        spaces, shares, raw, alone, every, strict=True
                    )
                ]
                label = f"{cluster:>7} {ratio:>5} {limit:>5} {tokens:>6} | "
                if wanted.each:
                    for source, row in zip(wanted.folders, rows, strict=True):
                        _say(label + _shown(row) + f" | {source.name}")
                mean = _mean(rows, weights)
                _say(label + _shown(mean) + f" | {modes}")
                kept = mean.expanded / mean.raw
                told.append(
                    [f"{cluster}", f"{ratio}", f"{limit}", share(mean.ratio), share(mean.raw),
                     share(mean.expanded), share(kept), share(mean.alone)]
                )  # fmt: skip
        write(wanted.write, "compaction_recall", table(HEAD, told))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _mean(rows: Sequence[Row], weights: Sequence[int]) -> Row:
    total = sum(weights)
    return Row(*(sum(w * v for w, v in zip(weights, column, strict=True)) / total
                 for column in zip(*rows, strict=True)))  # fmt: skip


def _shown(row: Row) -> str:
    return (
        f"{row.ratio:6.3f} {row.raw:.3f}  {row.expanded:13.3f}  {row.expanded / row.raw:.3f}"
        f"  {row.alone:.3f} {row.everything:.3f}"
    )


if __name__ == "__main__":
    main()
