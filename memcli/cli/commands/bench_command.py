"""`memcli bench`: measure search on judged questions, its speed, and what got worse."""

from __future__ import annotations

import os
from collections.abc import Sequence

from memcli.api.ask import ask
from memcli.api.assemble import context_of, sharing_of
from memcli.bench import calibration, compare, drafts, replay, report, runs
from memcli.bench.calibration import FIRST, Sample, sample_of
from memcli.bench.metrics import Range, first_rank
from memcli.bench.quality import passages
from memcli.bench.queries import Query
from memcli.bench.speed import LEAST_RUNS, slower, text
from memcli.bench.traces import CHECK, CheckTrace, decode, encode
from memcli.cli import bench_quality, side_files
from memcli.cli import options as rows
from memcli.cli.bench_quality import Searcher
from memcli.cli.command_context import CommandContext, command_context
from memcli.cli.options import FILES, STANDARD, CommandArgument, GroupCommand, Option, Options
from memcli.cli.search_output import say_freshness
from memcli.cli.terminal import Terminal
from memcli.config.settings import calibration_file
from memcli.errors import ExitCode, NotFoundError, UsageError, quote
from memcli.indexing.freshness import Freshness
from memcli.search.options import options_of
from memcli.search.question import Question
from memcli.search.ranked import RankedPassage
from memcli.search.trace import recorded_filters
from memcli.store.records import Scope
from memcli.types import shown

ABOUT = "Measure search on your own questions."
USUAL = ""


def run_quality(options: Options) -> int:
    """Ask every question as `search` does, and score the passages.

    It updates the index first. With --fail-under, --max-drop or --max-p95-ms it prints nothing if
    all is well, or one line and exits 1. Several files give one row each and one for all, with 95 %
    intervals. Without -w, each file is asked of the folder `workspace` next to it.

    Examples: memcli bench quality questions.jsonl      memcli bench quality a.jsonl b.jsonl
    """
    if options.max_drop is not None and options.baseline is None:
        raise UsageError("--max-drop needs --baseline FILE", hint="memcli bench quality --help")
    gates = runs.Gates(
        tuple(map(runs.parse_gate, options.fail_under or ())), options.max_drop, options.max_p95_ms
    )
    files = options.queries or []
    if len(files) > 1 or options.against is not None:
        return bench_quality.run_sets(options, gates)
    return bench_quality.run_one(
        files[0] if files else None, options, command_context(options), gates
    )


def run_init(options: Options) -> int:
    """Draft questions from headings and decisions. An existing file is never overwritten.

    Each line has "draft": true and does not count until you set it to false. Reword the question
    as you would ask it, and check the lines that answer it.

    Examples: memcli bench init -w notes      memcli bench init --out questions.jsonl
    """
    command = command_context(options)
    path = options.out or side_files.own_file(bench_quality.QUESTIONS, command)
    documents, missed = drafts.documents(command.workspace.index_settings())
    for skip in missed:
        why = skip.detail or skip.reason
        command.terminal.warn(f"cannot draft from {shown(skip.source, skip.path or '.')}: {why}")
    chosen = drafts.draft(documents, options.limit)
    if not chosen:
        raise UsageError(
            "the notes have no headings or decisions to draft questions from", hint="memcli status"
        )
    lines = [drafts.line(number, each) + "\n" for number, each in enumerate(chosen, start=1)]
    side_files.write_text(path, "".join(lines), command, is_new=True)
    if options.json:
        record = {"schema": "memcli.bench-init/1", "file": path, "drafts": len(chosen)}
        command.terminal.write_json(record)
    command.terminal.say(f"{len(chosen)} drafts in {path}.")
    command.terminal.say('Reword each as you would ask it, check its lines, set "draft": false.')
    return ExitCode.OK


def run_compare(options: Options) -> int:
    """Compare two results of bench quality, speed or check.

    It compares times only between runs on one machine; otherwise only ratios to a baseline.

    Examples: memcli bench compare old.json new.json      memcli bench compare a b --json
    """
    terminal = Terminal.of_process(options)
    hint = "memcli bench quality QUERIES.jsonl --json > results.json"
    old, new = (
        runs.read_trace(side_files.read_text(name, hint), name)
        for name in (options.before, options.after)
    )
    if options.json:
        terminal.write_json(compare.compare(old, new))
    else:
        terminal.write(terminal.safe(compare.text(old, new)))
    return ExitCode.OK


SPEED_RUNS = 3


def run_check(options: Options) -> int:
    """Measure quality and speed, and say whether something got worse.

    It compares the run with the best one since the last --accept. It prints a line and exits 1 if
    nDCG@10 fell, search is slower, or an important question is no longer answered.

    Examples: memcli bench check -w notes      memcli bench check questions.jsonl --accept
    """
    command = command_context(options)
    trace = _measured(options, command)
    if options.json:
        command.terminal.write_json(encode(trace))
    else:
        _speak(trace, command)
    return ExitCode.NEGATIVE if trace.regressions else ExitCode.OK


def _measured(options: Options, command: CommandContext) -> CheckTrace:
    """Make the trace of this run and put it into the history."""
    folder = bench_quality.history_folder(command)
    side_files.refuse_memory(bench_quality.trace_path(folder, command.now), command)
    earlier = bench_quality.read_history(folder, command)
    before = runs.reference(earlier)
    measured = bench_quality.measure(
        options.queries, command, sync=True, silent=not command.terminal.verbose
    )
    speed = None
    if not options.no_speed:
        from memcli.cli.bench_speed import measure as measure_speed

        speed = measure_speed(command, documents=None, runs=SPEED_RUNS)
    trace = CheckTrace(
        schema=CHECK,
        now=command.now,
        accepted=options.accept,
        sync=measured.synced,
        quality=measured.trace,
        speed=speed,
        failures=tuple(row.id for row in runs.worst(measured.trace.queries, runs.FAILURES)),
        reference=before.now if before else None,
        regressions=(),
    )
    if not options.accept:
        lines = []
        if before is not None:
            lines = runs.regressions(before, trace, options.max_drop)
            if speed is not None and before.speed is not None:
                lines += slower(before.speed.ratios, speed.ratios, options.max_slower)
        lines += runs.unaccepted_misses(earlier, before, trace)
        trace = trace._replace(regressions=tuple(lines))
    bench_quality.add_trace(folder, trace)
    return trace


def _speak(trace: CheckTrace, command: CommandContext) -> None:
    terminal, lines = command.terminal, trace.regressions
    if lines:
        more = f" (and {len(lines) - 1} more: memcli bench report)" if len(lines) > 1 else ""
        terminal.write(terminal.safe_line(f"memcli bench check: {lines[0]}{more}") + "\n")
    else:
        mean = trace.quality.categories["all"]["nDCG@10"]
        since = f", best since {trace.reference[:10]}" if trace.reference else ""
        terminal.say(f"nDCG@10 {mean:.3f}; nothing got worse{since}.")


def run_report(options: Options) -> int:
    """Print trends, categories, worst cases and changes.

    Without --html the charts consist of characters. The HTML file loads nothing from the network.

    Examples: memcli bench report      memcli bench report --html report.html
    """
    command = command_context(options)
    hint = "memcli bench quality QUERIES.jsonl --json > results.json"
    if options.runs:
        history = [runs.read_run(side_files.read_text(name, hint), name) for name in options.runs]
        history.sort(key=lambda trace: trace.now)
    else:
        history = [*bench_quality.read_history(bench_quality.history_folder(command), command)]
    if not history:
        raise NotFoundError("bench check has not been run yet", hint="memcli bench check")
    shown = report.report(history)
    terminal = command.terminal
    if options.html is not None:
        side_files.refuse_memory(options.html, command)
        from memcli.bench.report_html import charts, page

        side_files.write_text(options.html, page(shown, charts(shown)), command)
        terminal.say(f"Report of {len(history)} runs in {options.html}.")
    elif options.json:
        record = {"schema": "memcli.bench-report/1", "runs": encode(history)}
        terminal.write_json(record)
    else:
        terminal.write(terminal.safe(report.text(shown)))
    return ExitCode.OK


def run_speed(options: Options) -> int:
    """Measure search, sync and indexing, next to the baselines of this machine.

    It works on a copy. Times cannot be compared between machines, but ratios to a baseline can:
    bench compare compares only those.

    Examples: memcli bench speed      memcli bench speed --documents 1000 --json
    """
    from memcli.cli.bench_speed import measure as measure_speed

    if os.name != "posix":
        raise UsageError(
            "bench speed needs POSIX: elsewhere a process's memory is not reported",
            hint="memcli bench quality",
        )
    command = command_context(options)
    if options.documents is None:
        bench_quality.bring_up_to_date(command, silent=False)
    trace = measure_speed(command, documents=options.documents, runs=options.runs)
    if options.json:
        command.terminal.write_json(encode(trace))
    else:
        command.terminal.write(text(trace))
    return ExitCode.OK


def run_replay(options: Options) -> int:
    """Run the search or context of a trace again, and show what moved.

    Options and filters come from the trace, other settings from today. It also prints whether the
    index revision or the model has changed.

    Examples: memcli bench replay before.json      memcli bench replay before.json --json
    """
    before = replay.read(
        side_files.read_text(options.trace, "memcli search QUERY --trace FILE"), options.trace
    )
    command = command_context(options, before.flags)
    command.memory.lead.accesses_at = before.accesses
    again = _context if before.schema == replay.CONTEXT_SCHEMA else _search
    freshness, made = again(before, command, sync=False if options.no_sync else None)
    after = decode(replay.SearchTrace, made)
    say_freshness(freshness, command.terminal)
    record = replay.compare(before, after)
    terminal = command.terminal
    if options.json:
        terminal.write_json(record)
    else:
        terminal.write("".join(f"{terminal.safe_line(line)}\n" for line in replay.lines(record)))
    return ExitCode.OK


def _search(
    before: replay.SearchTrace, command: CommandContext, *, sync: bool | None
) -> tuple[Freshness, object]:
    expand = before.expanded is not None
    search_options = options_of(
        command.config,
        filters=recorded_filters(before._asdict()),
        budget=before.budget,
        whole=before.whole,
        sort=before.sort,
        worthwhile=before.ends,
        fill=not expand,
    )
    question = Question.by(command.config, before.query or "", command.question_time)
    result = ask(command.memory, question, search_options, expand=expand, sync=sync)
    return result.freshness, side_files.trace_of_search(
        result, command, search_options, expand=expand
    )


def _context(
    before: replay.SearchTrace, command: CommandContext, *, sync: bool | None
) -> tuple[Freshness, object]:
    text, sharing = before.query or "", sharing_of(command.config)
    assembly = context_of(command.memory, text, command.question_time, sharing, sync=sync)
    return assembly.freshness, side_files.trace_of_context(assembly, command, budget=sharing.budget)


ANSWERS = 100  # passages per answer; the lead is measured against the tenth


def run_calibrate(options: Options) -> int:
    """Fit confidence to the model of this index, on your own questions.

    Each question is asked twice, the second time without the lines that answer it. The values are
    saved next to your configuration, for all workspaces of the model. Delete the file to go back.

    Examples: memcli bench calibrate questions.jsonl      memcli bench calibrate --dry-run
    """
    command = command_context(options)
    name, queries = bench_quality.questions(options.queries, command, silent=False)
    judged = [query for query in queries if query.relevant]
    if not options.no_sync:
        bench_quality.bring_up_to_date(command, silent=False)
    fingerprint, samples = _samples(command, judged)
    fitted, right = calibration.fit(samples), sum(each.is_right for each in samples)
    if fitted is None:
        raise UsageError(
            f"{name} is too little to fit: of {len(judged)} judged questions {right} are answered,"
            f" and {calibration.LEAST} are needed",
            hint="memcli bench quality --help" if judged else "memcli bench init",
        )
    path = calibration_file(command.memory.environ)
    if fingerprint and fitted.constants.cosine < calibration.LEAST_SLOPE:
        raise UsageError(
            f"{name} is too one-sided to fit: right and wrong answers have the same cosines",
            hint="memcli bench quality",
        )
    if not options.dry_run:
        from memcli.config.calibration import write

        write(path, {fingerprint: fitted.constants})
    record = {
        "schema": "memcli.bench-calibrate/1",
        "file": path,
        "written": not options.dry_run,
        "fingerprint": fingerprint,
        "questions": os.path.basename(name),
        "judged": len(judged),
        "answers": len(samples),
        "right": right,
        "area": fitted.area,
        "by_words": fitted.by_words,
        "constants": fitted.constants._asdict(),
    }
    terminal = command.terminal
    if options.json:
        terminal.write_json(record)
    else:
        terminal.write(terminal.safe(calibration.text(record, fitted.constants)))
    model = fingerprint.partition(";")[0] or "keywords only"
    outcome = "Nothing is written" if options.dry_run else f"Saved in {path}"
    terminal.say(terminal.safe_line(f"{outcome}, for {model}."))
    if not options.dry_run:
        terminal.say(terminal.safe_line(f"To undo: rm {quote(path)}"))
    return ExitCode.OK


def _samples(command: CommandContext, judged: Sequence[Query]) -> tuple[str, list[Sample]]:
    """Ask all questions in both ways; return the answers and the fingerprint of the vectors.

    Without vectors the fingerprint is "".
    """
    search = Searcher(command, limit=ANSWERS)
    usual = search.options._replace(min_score=0.0)
    chunks = _chunks(command)
    samples: list[tuple[str, Sample]] = []
    for query in judged:
        chunks_with_answer = {
            chunk for at, chunk in chunks if any(at.touches(r) for r in query.relevant)
        }
        for outside in (frozenset[int](), frozenset(chunks_with_answer)):
            search.options = usual._replace(inner=usual.inner._replace(outside=outside))
            samples.append(_answered(search, query, is_whole=not outside))
    by = [fingerprint for fingerprint, _ in samples]
    most = max(by, key=by.count, default="")
    return most, [sample for fingerprint, sample in samples if fingerprint == most]


def _answered(search: Searcher, query: Query, *, is_whole: bool) -> tuple[str, Sample]:
    """Ask one question; an answer without the judged lines is never right."""
    left: dict[str, Sequence[RankedPassage]] = {}
    answer = search(query.text, query.date, left.__setitem__)
    is_right = first_rank(query.relevant, passages(answer)[:FIRST]) is not None
    sample = sample_of(
        left.get("threshold", ()),
        answer.fused,
        rarity=answer.rarity,
        is_right=is_right,
        is_whole=is_whole,
    )
    return answer.fingerprint, sample


def _chunks(command: CommandContext) -> list[tuple[Range, int]]:
    """Return the lines of every chunk, with its number."""
    with command.workspace.store.snapshot() as snapshot:
        excerpts = snapshot.excerpts_of(list(snapshot.known()), Scope())
        abouts = [excerpt.about for excerpt in excerpts]
    return [(Range(a.path, a.start_line, a.end_line, a.source), a.chunk_id) for a in abouts]


NO_SYNC = Option("--no-sync", "Do not update the index.")
QUERIES = CommandArgument(
    "queries", "[QUERIES.jsonl]", "Judged questions; see: bench init.", choices=FILES
)
COMMANDS = {
    "quality": GroupCommand(run_quality, (
        Option("--against", "Earlier results of the same sets to compare with.", "FILE",
            choices=FILES),
        Option("--baseline", "Earlier results or another run to compare with.", "FILE",
            choices=FILES),
        Option("--fail-under", "Exit 1 if a metric is below X.", "METRIC=X", list),
        Option("--max-drop", "Exit 1 if nDCG@10 falls by more than X.", "X", float),
        Option("--max-p95-ms", "Exit 1 if the p95 of a search is above MS.", "MS", float),
        Option("--run", "Write the passages, 100 per query.", "OUT.jsonl", choices=FILES),
        Option("--ablate", "Also measure without each retriever and stage."),
        Option("--compare", "Also measure profiles: classic,convex,two-pass.", "NAMES"),
        rows.PROFILE, rows.MODE, rows.FUSION, rows.RERANK, NO_SYNC,
        *STANDARD,
    ), (QUERIES._replace(metavar="[QUERIES.jsonl]...", kind=list, choices=()),)),
    "init": GroupCommand(run_init, (
        Option("--out", "File for the questions.",
            "FILE", shown_default=".memcli/questions.jsonl", choices=FILES),
        Option("-n --limit", "Number of drafts.", "N", int, default=30, least=1),
        *STANDARD,
    )),
    "compare": GroupCommand(run_compare, STANDARD, (
        CommandArgument("before", "BEFORE", "A results file.", is_required=True, choices=FILES),
        CommandArgument("after", "AFTER", "A later results file.", is_required=True, choices=FILES),
    )),
    "check": GroupCommand(run_check, (
        Option("--max-drop", "How far nDCG@10 may fall below the best run.", "X", float,
            default=0.02, least=0),
        Option("--max-slower", "How much slower than the best run is allowed.", "TIMES", float,
            default=2.0, least=1),
        Option("--no-speed", "Skip the speed measurement, which takes seconds."),
        Option("--accept", "Compare later runs with this one."),
        *STANDARD,
    ), (QUERIES,)),
    "report": GroupCommand(run_report, (
        Option("--html", "Write an HTML file (needs the extra report).", "FILE", choices=FILES),
        *STANDARD,
    ), (
        CommandArgument(
            "runs", "[FILE]...", "Default: the history of bench check.", list, choices=FILES
        ),
    )),
    "speed": GroupCommand(run_speed, (
        Option("--documents", "Measure a generated workspace of N files.", "N", int, least=1),
        Option("--runs", "Number of runs, at least 2.", "N", int, default=5, least=LEAST_RUNS),
        Option("--mode", "Search by: hybrid, or keyword without the model.",
            "MODE", setting="search.mode"),
        *STANDARD,
    )),
    "replay": GroupCommand(run_replay, (
        NO_SYNC,
        *STANDARD,
    ), (
        CommandArgument(
            "trace", "FILE", "A file that --trace wrote.", is_required=True, choices=FILES
        ),
    )),
    "calibrate": GroupCommand(run_calibrate, (
        Option("--dry-run", "Show the new values without saving them."),
        NO_SYNC,
        *STANDARD,
    ), (QUERIES,)),
}  # fmt: skip
