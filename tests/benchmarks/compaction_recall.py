"""Measure what search finds before and after compaction, next to two plain summaries.

Each folder contains `workspace/` and `queries.jsonl`, and is copied first. A row gives, for one
workspace:

- the tokens of the summaries as a share of the lines they summarise
- Recall@1000 tokens of a default search before and after compaction
- recall within 2,000 tokens of summaries only: of memcli, of the first sentence of each entry, and
  of the sentences with the greatest mean TF-IDF, in as many tokens as memcli's summary

A line of a summary counts for the lines that it cites, as in `bench.summary_recall`.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from math import fsum
from pathlib import Path

from memcli.bench.queries import Query, read_queries
from memcli.bench.summary_recall import recall
from memcli.compaction import folder
from memcli.compaction.compose import EntrySummary, body, document, with_titles
from memcli.compaction.draft import CompactionSettings, SummaryDraft
from memcli.compaction.plan import CompactionPlan, make_plan
from memcli.compaction.sentences import Sentence, sentences
from memcli.compaction.similarity import embedder, idf
from memcli.config import settings as configuration
from memcli.dates.find import find_dates
from memcli.embedding.encoders import Choice, Vector
from memcli.embedding.registry import open_encoder
from memcli.indexing.indexer import embed, index
from memcli.indexing.planning import Settings as IndexSettings
from memcli.language.terms import terms
from memcli.language.tokens import measure
from memcli.search.options import BUDGET_LIMIT, SearchOptions, options_of
from memcli.search.pipeline import Answer, search
from memcli.search.query import parse
from memcli.search.question import Question
from memcli.store.open import store_at
from memcli.store.port import Snapshot
from memcli.types import Filters, Limits
from memcli.workspace.dating import age_days
from tests.benchmarks.figures import option, share, table
from tests.support import count_tokens, vector_of

Summarise = Callable[[Sequence[EntrySummary], SummaryDraft], list[EntrySummary]]


class Workspace:
    """One judged workspace: a copy of its files, an index, an encoder."""

    def __init__(self, source: Path, target: Path, sample: int = 1) -> None:
        self.root = target / "workspace"
        shutil.copytree(source / "workspace", self.root)
        with (source / "queries.jsonl").open(encoding="utf-8") as file:
            self.queries = [q for q in read_queries(file, str(source)) if q.relevant][::sample]
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

    def plan(self, wanted: CompactionSettings) -> CompactionPlan:
        found = folder.read(self.settings, {}, None)
        return make_plan(
            found.logs,
            found.summaries,
            wanted,
            folder=folder.folder_of(str(self.root)),
            now="2030-01-01T00:00:00",
            embed=embedder(self.encoder) if self.encoder else None,
        )

    def write(self, drafts: Sequence[SummaryDraft]) -> None:
        """Replace all summaries."""
        for old in (self.root / folder.folder_of(str(self.root))).glob("*.md"):
            old.unlink()
        folder.write(str(self.root), drafts)
        self.index()

    def vector(self, text: str) -> Vector:
        if self.encoder is None:
            return Vector(None, "", None, 1.0)
        if text not in self.vectors:
            self.vectors[text] = vector_of(self.encoder, text)
        return self.vectors[text]

    def recall(self, filters: Filters, budget: int) -> float:
        options = options_of(self.config, filters=filters)._replace(limit=BUDGET_LIMIT)
        found = 0.0
        with self.store.snapshot() as snapshot:
            for query in self.queries:
                answer = self.search(snapshot, query, options)
                found += recall(query.relevant, answer.passages, budget)
        return found / len(self.queries)

    def search(self, snapshot: Snapshot, query: Query, options: SearchOptions) -> Answer:
        question = question_of(query)
        return search(
            snapshot, question.query, question.dates, options, embed_query=self.vector,
            age_days=partial(age_days, today=question.today.isoformat()),
        )  # fmt: skip


def question_of(query: Query) -> Question:
    """Read a judged question on its day."""
    today = date.fromisoformat(query.date[:10]) if query.date else date(2030, 1, 1)
    spans = find_dates(query.text, today)
    parsed = parse(query.text, soft=[(span.at, span.at + len(span.text)) for span in spans])
    return Question(query.text, today, tuple(spans), parsed)


def entries_of(plan: CompactionPlan, draft: SummaryDraft) -> list[EntrySummary]:
    """Give the entries that a draft summarises, with all their sentences."""
    found = []
    for entry in plan.entries:
        log = entry.log
        if not any(
            s.path == log.path and s.start_line <= entry.start_line <= s.end_line
            for s in draft.lineage.sources
        ):
            continue
        headings = (log.title, *(h for h in entry.headings if h != log.title))
        own = tuple(sentences(entry))
        place = log.path, entry.start_line, entry.end_line
        found.append(EntrySummary(log.date, headings, *place, own))
    return found


def first_sentences(entries: Sequence[EntrySummary], draft: SummaryDraft) -> list[EntrySummary]:
    return [entry._replace(sentences=entry.sentences[:1]) for entry in entries]


def by_tf_idf(entries: Sequence[EntrySummary], draft: SummaryDraft) -> list[EntrySummary]:
    """Choose as many tokens as the draft has, by the mean TF-IDF of the terms of a sentence."""
    every = [sentence for entry in entries for sentence in entry.sentences]
    weights = idf(sentence.text for sentence in every)

    def weight(sentence: Sentence) -> float:
        found = terms(sentence.text)
        return fsum(weights[term] for term in found) / max(1, len(found))

    order = sorted(range(len(every)), key=lambda at: (-weight(every[at]), at))
    least, most = 0, len(order)
    while least < most:  # the most sentences that fit
        middle = (least + most + 1) // 2
        text = body(with_titles(_only(entries, set(order[:middle]))))
        least, most = (
            (middle, most) if measure(text) <= measure(draft.body) else (least, middle - 1)
        )
    return _only(entries, set(order[:least]))


def _only(entries: Sequence[EntrySummary], chosen: set[int]) -> list[EntrySummary]:
    at, found = 0, []
    for entry in entries:
        own = tuple(s for n, s in enumerate(entry.sentences, start=at) if n in chosen)
        at += len(entry.sentences)
        found.append(entry._replace(sentences=own))
    return found


def reworded(plan: CompactionPlan, how: Summarise) -> list[SummaryDraft]:
    """Give the drafts of a plan with the sentences of another method."""
    found = []
    for draft in plan.drafts:
        text = body(with_titles(how(entries_of(plan, draft), draft)))
        lineage = draft.lineage._replace(summary_tokens=measure(text))
        found.append(draft._replace(text=document(lineage, text), body=text, lineage=lineage))
    return found


HEAD = ["workspace", "questions", "tokens left", "default search before", "after",
        "summaries only", "first sentences: tokens left", "first sentences", "TF-IDF"]  # fmt: skip


OPTIONS = (
    option("folders", nargs="+", type=Path),
    option("--ratio", type=float, default=0.35),
    option("--cluster", type=int, default=8),
    option("--tail", type=int, default=1),
    option("--sample", type=int, default=1, help="every so many-th question"),
    option("--no-baselines", action="store_true"),
)


def main(options: Namespace) -> str:
    settings = CompactionSettings(options.tail, 0, options.cluster, options.ratio, 200)
    rows = []
    for source in options.folders:
        with tempfile.TemporaryDirectory() as temporary:
            space = Workspace(source, Path(temporary), options.sample)
            space.index()
            before = space.recall(Filters(), 1000)
            plan = space.plan(settings)
            space.write(plan.drafts)
            after = space.recall(Filters(), 1000)
            alone = [space.recall(Filters(view="active"), 2000)]
            for how in () if options.no_baselines else (first_sentences, by_tf_idf):
                drafts = reworded(plan, how)
                space.write(drafts)
                if how is first_sentences:
                    tokens = sum(draft.lineage.summary_tokens for draft in drafts)
                    alone.append(tokens / plan.tokens[0])
                alone.append(space.recall(Filters(view="active"), 2000))
        name = f"{source.parent.name}/{source.name}"
        figures = [plan.ratio or 1.0, before, after, *alone]
        rows.append([name, str(len(space.queries)), *map(share, figures)])
        sys.stdout.write("  ".join(rows[-1]) + f"  declined {len(plan.declined)}\n")
        sys.stdout.flush()
    return table(HEAD, rows)
