"""Shared by the bench commands: the questions, an up-to-date index, and one run of search."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from memcli.cli.command_context import CommandContext
from memcli.cli.side_files import own_file, read_text, settings_of
from memcli.errors import UsageError
from memcli.record import Record
from memcli.types import Filters

if TYPE_CHECKING:
    from memcli.bench.ablation import Variant
    from memcli.bench.metrics import LineCosts
    from memcli.bench.quality import QuestionResult
    from memcli.bench.queries import Query
    from memcli.bench.traces import IndexState, QualityTrace
    from memcli.search.options import Observer
    from memcli.search.pipeline import Answer

QUESTIONS = os.path.join(".memcli", "questions.jsonl")  # hidden: never part of the memory
RUN_DEPTH = 100
SYNC_WAIT_SECONDS = 60.0


def questions(
    path: str | None, command: CommandContext, *, silent: bool
) -> tuple[str, list[Query]]:
    """Read the confirmed questions of a file, by default the workspace's own."""
    from memcli.bench.queries import confirmed, read_queries

    name = path or own_file(QUESTIONS, command)
    hint = "memcli bench quality --help" if path else "memcli bench init"
    sources = [source.name for source in command.config.sources]
    everything = read_queries(read_text(name, hint).split("\n"), name, sources)
    kept = confirmed(everything, name)
    if len(kept) < len(everything) and not silent:
        drafts = len(everything) - len(kept)
        command.terminal.say(f"{drafts} of {len(everything)} questions are drafts: not counted.")
    unanswered = sum(not query.relevant for query in kept)
    if unanswered and not silent:
        command.terminal.say(
            f"{unanswered} of {len(kept)} questions name no lines in 'relevant': not counted."
        )
    return name, kept


def bring_up_to_date(command: CommandContext, *, silent: bool) -> dict[str, int]:
    """Update the index and its vectors, and return the time it took."""
    from memcli.api.sync import Job, Vectors, sync
    from memcli.cli.progress import Progress
    from memcli.indexing.notices import unlisted

    terminal = command.terminal
    # Keyword search needs no vectors.
    texts = 0 if command.config("search.mode") == "keyword" else None
    job = Job(wait_seconds=SYNC_WAIT_SECONDS, texts=texts)
    with Progress(terminal, command.memory.clock.monotonic) as progress:
        vectors = Vectors(command.workspace, progress.update)
        done = sync(command.workspace, job, vectors, on_progress=progress.update)
    report = done.report
    for notice in done.notices:
        terminal.warn(notice)
    for folder in report.unlisted:
        terminal.advise(unlisted(folder))
    counts = {
        "added": len(report.added),
        "changed": len(report.changed) + len(report.moved),
        "removed": len(report.removed),
        "embedded": done.embedded,
    }
    told = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
    if told and not silent:
        terminal.say(f"Updated the index: {told}.")
    return counts


class Searcher:
    """Asks questions of the index, to the depth of a run."""

    def __init__(
        self,
        command: CommandContext,
        *,
        limit: int = RUN_DEPTH,
        without: frozenset[str] = frozenset(),
    ) -> None:
        """Take the settings; `without` names stages to leave out."""
        from memcli.search.options import Inner, options_of

        self._command = command
        self._has_warned = self._has_warned_of_order = False
        wanted = options_of(command.config, filters=Filters())
        self.options = wanted._replace(limit=limit, inner=Inner(without=without))

    def __call__(self, text: str, day: str | None, observe: Observer | None = None) -> Answer:
        """Answer a question as `search` does, on the day of the question."""
        from memcli.api.ask import ask_as_it_is
        from memcli.search.options import unobserved
        from memcli.search.pipeline import NOTHING
        from memcli.search.question import Question

        today = date.fromisoformat(day) if day else self._command.today
        try:
            question = Question.by(self._command.config, text, today)
        except UsageError:  # an empty question has no results
            return NOTHING
        answer = ask_as_it_is(
            self._command.memory, question, self.options, observe=observe or unobserved
        )
        self._tell(answer)
        return answer

    def _tell(self, answer: Answer) -> None:
        """Print once why semantic search or a reranker did not run, although requested."""
        from memcli.cli.search_output import by_keywords, say_reranked
        from memcli.search.retrievers import MODE_IS_KEYWORD

        if answer.reranked is not None and not (answer.reranked.ran or self._has_warned_of_order):
            self._has_warned_of_order = True
            say_reranked(answer.reranked, self._command.terminal)
        reason = answer.semantic.reason
        if self._has_warned or reason is None or reason.code in (MODE_IS_KEYWORD.code, "script"):
            return
        self._has_warned = True
        self._command.terminal.advise(by_keywords(reason))

    def index(self) -> IndexState:
        """Describe the index that the answers come from."""
        from memcli.bench.traces import IndexState

        with self._command.workspace.store.snapshot() as snapshot:
            facts, counts = snapshot.facts, snapshot.counts()
        size = (counts.documents, counts.chunks, counts.segments, counts.embedded)
        return IndexState(facts.revision, facts.fingerprint, *size)


class Measured(Record):
    """The figures of a run, and the data behind them."""

    trace: QualityTrace
    results: list[QuestionResult]
    line_costs: LineCosts
    synced: dict[str, int]  # seconds to update the index


def measure(
    queries_file: str | None,
    command: CommandContext,
    *,
    sync: bool,
    silent: bool,
    variants: Sequence[Variant] = (),
) -> Measured:
    """Ask the questions and describe the run as `memcli.bench-quality/1` does."""
    from memcli.bench import quality as bench
    from memcli.bench.rows import row_of
    from memcli.bench.traces import QUALITY, Latency, QualityTrace, QuestionFile, this_machine

    name, queries = questions(queries_file, command, silent=silent)
    synced = {}
    if sync:
        synced = bring_up_to_date(command, silent=silent)
    else:
        _look(command)
    costs = bench.line_costs(command.workspace.index_settings())
    search = Searcher(command)
    asked = bench.ask(queries, search, costs, command.memory.clock.monotonic)
    index = search.index()
    rows = tuple(row for row in map(row_of, asked) if row is not None)
    if not rows:
        raise UsageError(
            f"no question of {name} has judged lines", hint='add "relevant": [{"path": "..."}]'
        )
    times = [each.milliseconds for each in asked]
    trace = QualityTrace(
        schema=QUALITY,
        now=command.now,
        questions=QuestionFile(os.path.basename(name), len(rows)),
        index_=index,
        settings=settings_of(command),
        machine=this_machine(),
        latency_ms=Latency(bench.percentile(times, 0.5), bench.percentile(times, 0.95)),
        categories=bench.summary(asked),
        hints=bench.hint_rate(asked),
        queries=rows,
        ablation=_ablation(command, variants, asked, costs) if variants else None,
    )
    return Measured(trace, asked, costs, synced)


def _ablation(
    command: CommandContext,
    variants: Sequence[Variant],
    results: Sequence[QuestionResult],
    costs: LineCosts,
) -> tuple[dict[str, object], ...]:
    """Ask the judged questions again in other ways; the first row is the way it is set."""
    from memcli.bench.ablation import row
    from memcli.bench.metrics import score
    from memcli.bench.quality import passages
    from memcli.config.settings import Value

    judged = [each for each in results if each.scores is not None]
    before = [each.scores for each in judged if each.scores is not None]
    rows = [row("as set", before, before)]
    for variant in variants:
        changed = {name: Value(value, variant.name) for name, value in variant.settings.items()}
        config = command.config._replace(values={**command.config.values, **changed})
        other = command.of(command.workspace.having(config=config))
        search = Searcher(other, without=variant.without)
        scores = [
            score(query.relevant, passages(search(query.text, query.date)), costs)
            for query in (each.query for each in judged)
        ]
        rows.append(row(variant.name, scores, before))
    return tuple(rows)


def _look(command: CommandContext) -> None:
    from memcli.cli.search_output import say_freshness
    from memcli.indexing.freshness import look

    freshness = look(command.workspace.store, command.workspace.index_settings())
    say_freshness(freshness, command.terminal, "these answers")
