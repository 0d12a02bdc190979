"""Measure search on judged questions: one set, several sets, and the history of `bench check`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, date, datetime

from memcli.api.ask import ask_as_it_is
from memcli.api.sync import Job, Vectors, sync
from memcli.bench import quality as bench
from memcli.bench import runs as gating
from memcli.bench import traces
from memcli.bench.compare import HINT, pooled, read_sets, sets_text
from memcli.bench.metrics import LineCosts, score
from memcli.bench.quality import QuestionResult, Variant
from memcli.bench.quality_text import text as text_of
from memcli.bench.queries import Query, confirmed, read_queries
from memcli.bench.runs import Gates
from memcli.bench.traces import CheckTrace, IndexState, QualityTrace, SetsTrace
from memcli.checking import TYPE_CHECKING
from memcli.cli import side_files
from memcli.cli.command_context import CommandContext, command_context
from memcli.cli.options import Options, refuse
from memcli.cli.progress import Progress
from memcli.cli.search_output import by_keywords, say_freshness, say_reranked
from memcli.cli.terminal import Terminal
from memcli.errors import ExitCode, UsageError
from memcli.indexing.freshness import look
from memcli.indexing.notices import unlisted
from memcli.record import Record
from memcli.render.jsonio import dumps
from memcli.search.options import InternalOptions, options_of, unobserved
from memcli.search.pipeline import NOTHING, Answer
from memcli.search.question import Question
from memcli.search.retrievers import MODE_IS_KEYWORD
from memcli.types import Filters

if TYPE_CHECKING:
    from memcli.search.options import Observer
from memcli.workspace.atomic_write import write_whole

QUESTIONS = os.path.join(".memcli", "questions.jsonl")  # hidden, so memcli never indexes it
RUN_DEPTH = 100


def questions(
    path: str | None, command: CommandContext, *, silent: bool
) -> tuple[str, list[Query]]:
    """Read the confirmed questions of a file, by default the workspace's own."""
    name = path or side_files.own_file(QUESTIONS, command)
    hint = "memcli bench quality --help" if path else "memcli bench init"
    sources = [source.name for source in command.config.sources]
    everything = read_queries(side_files.read_text(name, hint).split("\n"), name, sources)
    queries = confirmed(everything, name)
    if len(queries) < len(everything) and not silent:
        drafts = len(everything) - len(queries)
        command.terminal.say(f"{drafts} of {len(everything)} questions are drafts: not counted.")
    unanswered = sum(not query.relevant for query in queries)
    if unanswered and not silent:
        command.terminal.say(
            f"{unanswered} of {len(queries)} questions name no lines in 'relevant': not counted."
        )
    return name, queries


def bring_up_to_date(command: CommandContext, *, silent: bool) -> dict[str, int]:
    """Update the index and its vectors, and return the time it took."""
    terminal = command.terminal
    # Keyword search needs no vectors.
    texts = 0 if command.config("search.mode") == "keyword" else None
    job = Job(texts=texts)
    with Progress(terminal, command.memory.clock.monotonic) as progress:
        vectors = Vectors(command.workspace, progress.update)
        done = sync(command.workspace, job, vectors)
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
    text = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
    if text and not silent:
        terminal.say(f"Updated the index: {text}.")
    return counts


class Searcher:
    """Asks questions, with enough passages for a run."""

    def __init__(
        self,
        command: CommandContext,
        *,
        limit: int = RUN_DEPTH,
        without: frozenset[str] = frozenset(),
    ) -> None:
        """Take the settings; `without` names stages to leave out."""
        self._command = command
        self._has_warned = self._has_warned_of_order = False
        search_options = options_of(command.config, filters=Filters())
        self.options = search_options._replace(limit=limit, inner=InternalOptions(without=without))

    def __call__(self, text: str, day: str | None, observe: Observer | None = None) -> Answer:
        """Answer a question as `search` does, on the day of the question."""
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
        """Print once why a requested semantic search or reranker did not run."""
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
    name, queries = questions(queries_file, command, silent=silent)
    synced = {}
    if sync:
        synced = bring_up_to_date(command, silent=silent)
    else:
        freshness = look(command.workspace.store, command.workspace.index_settings())
        say_freshness(freshness, command.terminal, "these answers")
    costs = bench.line_costs(command.workspace.index_settings())
    search = Searcher(command)
    results = bench.ask(queries, search, search.options, costs, command.memory.clock.monotonic)
    index = search.index()
    rows = tuple(row for row in map(gating.row_of, results) if row is not None)
    if not rows:
        raise UsageError(
            f"no question of {name} has judged lines", hint='add "relevant": [{"path": "..."}]'
        )
    times = [each.milliseconds for each in results]
    trace = QualityTrace(
        schema=traces.QUALITY,
        now=command.now,
        questions=traces.QuestionFile(os.path.basename(name), len(rows)),
        index_=index,
        settings=side_files.settings_of(command),
        machine=traces.this_machine(),
        latency_ms=traces.Latency(bench.percentile(times, 0.5), bench.percentile(times, 0.95)),
        categories=bench.summary(results),
        hints=bench.hint_rate(results),
        queries=rows,
        ablation=_ablation(command, variants, results, costs) if variants else None,
    )
    return Measured(trace, results, costs, synced)


def _ablation(
    command: CommandContext,
    variants: Sequence[Variant],
    results: Sequence[QuestionResult],
    costs: LineCosts,
) -> tuple[dict[str, object], ...]:
    """Ask the judged questions again in other ways; the first row has the current settings."""
    judged = [each for each in results if each.scores is not None]
    before = [each.scores for each in judged if each.scores is not None]
    rows = [bench.row("as set", before, before)]
    for variant in variants:
        config = command.config.having(variant.settings)
        other = command.of(command.workspace.having(config=config))
        search = Searcher(other, without=variant.without)
        scores = [
            score(query.relevant, bench.passages(search(query.text, query.date)), costs)
            for query in (each.query for each in judged)
        ]
        rows.append(bench.row(variant.name, scores, before))
    return tuple(rows)


def _check_sets(files: Sequence[str], options: Options) -> None:
    """Raise UsageError for options that belong to one file of questions."""
    if not files:
        raise UsageError(
            "--against needs the files of questions",
            hint=f"memcli bench quality A.jsonl B.jsonl --against {options.against}",
        )
    text = "{} cannot be combined with several files of questions"
    text = text if len(files) > 1 else "{} cannot be combined with --against"
    names = ("baseline", "run", "ablate", "compare")
    refuse(options, names, text, "memcli bench quality --help")


def _variants(options: Options) -> tuple[Variant, ...]:
    """Return the other ways to search that the options ask for."""
    if not options.ablate and options.compare is None:
        return ()
    names = options.compare.split(",") if options.compare is not None else []
    for name in names:
        if name not in bench.BY_PROFILE:
            raise UsageError(
                f"--compare takes profiles, {', '.join(bench.BY_PROFILE)}, not {name!r}",
                hint="memcli help ranking",
            )
    return (
        *(bench.ABLATIONS if options.ablate else ()),
        *(bench.BY_PROFILE[name] for name in names),
    )


def run_one(
    queries_file: str | None, options: Options, command: CommandContext, gates: Gates
) -> int:
    """Update the index, ask, score, compare, check the limits."""
    terminal = command.terminal
    silent = not gates.is_empty and not terminal.verbose
    if options.run is not None:
        side_files.refuse_memory(options.run, command)
    measured = measure(
        queries_file, command, sync=not options.no_sync, silent=silent, variants=_variants(options)
    )
    if options.run is not None:
        lines = "".join(dumps(bench.run_line(each)) + "\n" for each in measured.results)
        side_files.write_text(options.run, lines, command)
    before, trace = None, measured.trace
    baseline = options.baseline
    if baseline is not None:
        hint = "memcli bench quality QUERIES.jsonl --json > baseline.json"
        text = side_files.read_text(baseline, hint)
        judged = [each.query for each in measured.results]
        before = gating.read_baseline(text, baseline, judged, measured.line_costs)
        if not gating.pairs(before, trace.queries):
            raise UsageError(f"{baseline} has none of these questions", hint=hint)
    failed = gating.failures(
        gates, trace.categories["all"], trace.queries, before, trace.latency_ms.p95
    )
    if before is not None:
        trace = trace._replace(baseline=gating.movement(before, trace.queries))
    text = "" if silent else text_of(trace, before)
    return _deliver(trace._replace(failed=tuple(failed)), text, options, terminal)


def _deliver(
    trace: QualityTrace | SetsTrace, text: str, options: Options, terminal: Terminal
) -> int:
    """Write a run as JSON or as text, then one line for each limit that it misses."""
    failed = trace.failed or ()
    if options.json:
        terminal.write_json(traces.encode(trace))
    else:
        lines = (terminal.safe_line(f"memcli bench: {line}") + "\n" for line in failed)
        terminal.write("".join([terminal.safe(text), *lines]))
    return ExitCode.NEGATIVE if failed else ExitCode.OK


WORKSPACE = "workspace"  # the workspace next to a file of questions


def run_sets(options: Options, gates: Gates) -> int:
    """Run every set on its own workspace, combine the figures, check the limits."""
    files, before = options.queries or [], None
    _check_sets(files, options)
    if options.against is not None:
        before = read_sets(side_files.read_text(options.against, HINT), options.against)
    by_name, rows, times = {}, [], []
    silent = not gates.is_empty and not options.verbose
    for name, file in zip(_names(files), files, strict=True):
        beside = os.path.join(os.path.dirname(os.path.abspath(file)), WORKSPACE)
        folders = options.workspace or ([beside] if os.path.isdir(beside) else [])
        command = command_context(options.having(workspace=folders))
        measured = measure(file, command, sync=not options.no_sync, silent=True)
        by_name[name] = measured.trace
        rows += [row._replace(id=f"{name} {row.id}") for row in measured.trace.queries]
        times += [each.milliseconds for each in measured.results]
        command.memory.close()
    trace = pooled(by_name, before, command.now)
    means = {name: each.mean for name, each in trace.pooled.metrics.items()}
    failed = gating.failures(gates, means, rows, None, bench.percentile(times, 0.95))
    text = "" if silent else sets_text(trace)
    return _deliver(trace._replace(failed=tuple(failed)), text, options, command.terminal)


def _names(files: Sequence[str]) -> list[str]:
    """Name sets by the parts in which their paths differ; UsageError for a duplicate.

    Example: a/one/q.jsonl, a/two/q.jsonl -> one, two
    """
    paths = [os.path.abspath(file) for file in files]
    if len(set(paths)) < len(paths):
        twice = next(file for at, file in enumerate(files) if paths.index(paths[at]) < at)
        raise UsageError(f"{twice} is given twice", hint="memcli bench quality --help")
    folders = [os.path.dirname(path) for path in paths]
    if len(set(folders)) < len(paths):
        folders = [os.path.splitext(path)[0] for path in paths]
    if len(paths) == 1:
        return [os.path.basename(folders[0])]
    shared = os.path.commonpath(folders)
    return [os.path.relpath(folder, shared).replace(os.sep, "/") for folder in folders]


def history_folder(command: CommandContext) -> str:
    """Return the folder, which is next to the index file and named after it."""
    return f"{command.workspace.store.state_path}.bench"


def read_history(folder: str, command: CommandContext) -> list[CheckTrace]:
    """Read the traces, oldest first; report and skip those that cannot be read."""
    history: list[CheckTrace] = []
    for name in trace_names(folder):
        path = os.path.join(folder, name)
        with suppress(UsageError):
            trace = traces.read(side_files.read_text(path, ""), CheckTrace)
            if trace is not None:
                history.append(trace)
                continue
        command.terminal.warn(f"{path} is not a result of bench check and was skipped")
    return history


def trace_names(folder: str) -> list[str]:
    """List the results files by their names, which are times in UTC."""
    try:
        with os.scandir(folder) as entries:
            return sorted(e.name for e in entries if e.name.endswith(".json") and e.is_file())
    except (FileNotFoundError, NotADirectoryError):
        return []


def trace_path(folder: str, now: str) -> str:
    """Name the results file of a run; runs in the same second get numbers."""
    moment = datetime.fromisoformat(now)
    with suppress(ValueError, OverflowError):  # no time zone, or beyond the ends of the calendar
        moment = moment.astimezone(UTC)
    stem = moment.strftime("%Y%m%dT%H%M%SZ")
    names = set(trace_names(folder))
    free = (f"{stem}_{number:03}.json" for number in range(1000))
    return os.path.join(folder, next(name for name in free if name not in names))


def add_trace(folder: str, trace: CheckTrace) -> str:
    """Write a trace that only its owner can read, and delete the oldest above the limit."""
    path = trace_path(folder, trace.now)
    try:
        write_whole(path, dumps(traces.encode(trace)) + "\n")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}", hint="the same command again"
        ) from error
    with suppress(OSError):  # the next run deletes them
        for name in trace_names(folder)[: -gating.KEPT]:
            os.unlink(os.path.join(folder, name))
    return path
