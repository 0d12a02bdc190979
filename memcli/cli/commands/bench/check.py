"""`memcli bench check`: the nightly run that is silent until something got worse."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli import side_files
from memcli.cli.command_context import CommandContext, command_context
from memcli.cli.commands.bench import history_files
from memcli.cli.options import COMMON, FILES, JSON, ONE_WORKSPACE, CommandArgument, Option, Options
from memcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from memcli.bench.traces import CheckTrace


SPEED_RUNS = 3


ARGUMENTS = (
    CommandArgument(
        "queries", "[QUERIES.jsonl]", "Judged questions; see: bench init.", choices=FILES
    ),
)
OPTIONS = (
    Option("--max-drop", "How far nDCG@10 may fall below the best run.", "X", float, default=0.02),
    Option("--max-slower", "How much slower than the best run is allowed.", "TIMES", float,
        default=2.0),
    Option("--no-speed", "Skip the speed measurement, which takes seconds."),
    Option("--accept", "Compare later runs with this one."),
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Measure quality and speed, and print only what got worse.

    It compares the run with the best one since the last --accept. It prints one line and exits 1 if
    nDCG@10 fell, search is slower, or an important question is no longer answered.

    Examples: memcli bench check -w notes      memcli bench check questions.jsonl --accept
    """
    if options.max_drop < 0 or options.max_slower < 1:
        raise UsageError(
            "--max-drop is 0 or more, --max-slower 1 or more", hint="memcli bench check --help"
        )
    command = command_context(options)
    trace = _measured(options, command)
    if options.json:
        from memcli.bench.traces import encode

        command.terminal.write_json(encode(trace))
    else:
        _speak(trace, command)
    return ExitCode.NEGATIVE if trace.regressions else ExitCode.OK


def _measured(options: Options, command: CommandContext) -> CheckTrace:
    """Make the trace of this run and put it into the history."""
    from memcli.bench import history
    from memcli.bench.rows import worst
    from memcli.bench.speed import slower
    from memcli.bench.traces import CHECK, CheckTrace
    from memcli.cli.commands.bench.running import measure

    folder = history_files.folder_of(command)
    side_files.refuse_memory(history_files.path_of(folder, command.now), command)
    earlier = history_files.read(folder, command)
    before = history.reference(earlier)
    measured = measure(options.queries, command, sync=True, silent=not command.terminal.verbose)
    speed = None
    if not options.no_speed:
        from memcli.cli.commands.bench.speed import measure as measure_speed

        speed = measure_speed(command, documents=None, runs=SPEED_RUNS)
    trace = CheckTrace(
        schema=CHECK,
        now=command.now,
        accepted=options.accept,
        sync=measured.synced,
        quality=measured.trace,
        speed=speed,
        failures=tuple(row.id for row in worst(measured.trace.queries, history.FAILURES)),
        reference=before.now if before else None,
        regressions=(),
    )
    if not options.accept:
        lines = []
        if before is not None:
            lines = history.regressions(before, trace, options.max_drop)
            if speed is not None and before.speed is not None:
                lines += slower(before.speed.ratios, speed.ratios, options.max_slower)
        lines += history.unaccepted_misses(earlier, before, trace)
        trace = trace._replace(regressions=tuple(lines))
    history_files.add(folder, trace)
    return trace


def _speak(trace: CheckTrace, command: CommandContext) -> None:
    terminal, lines = command.terminal, trace.regressions
    if lines:
        more = f" (and {len(lines) - 1} more: memcli bench report)" if len(lines) > 1 else ""
        terminal.write(terminal.safe_line(f"memcli bench check: {lines[0]}{more}") + "\n")
    elif terminal.verbose:
        mean = trace.quality.categories["all"]["nDCG@10"]
        since = f", best since {trace.reference[:10]}" if trace.reference else ""
        terminal.say(f"nDCG@10 {mean:.3f}; nothing got worse{since}.")
