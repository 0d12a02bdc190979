"""`memcli bench quality`: score search on judged questions, and gate on the figures."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.checking import TYPE_CHECKING
from memcli.cli import side_files
from memcli.cli.command_context import CommandContext, command_context
from memcli.cli.commands.bench.running import measure
from memcli.cli.options import COMMON, FILES, JSON, ONE_WORKSPACE, CommandArgument, Option, Options
from memcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from memcli.bench.ablation import Variant
    from memcli.bench.gates import Gates


ARGUMENTS = (
    CommandArgument("queries", "[QUERIES.jsonl]...", "Judged questions; see: bench init.", list),
)
OPTIONS = (
    Option("--against", "Earlier results of the same sets to compare with.", "FILE",
        choices=FILES),
    Option("--baseline", "Earlier results or another run to compare with.", "FILE", choices=FILES),
    Option("--fail-under", "Exit 1 if a metric is below X.", "METRIC=X", list),
    Option("--max-drop", "Exit 1 if nDCG@10 falls by more than X.", "X", float),
    Option("--max-p95-ms", "Exit 1 if the p95 of a search is above MS.", "MS", float),
    Option("--run", "Write the passages, 100 per query.", "OUT.jsonl", choices=FILES),
    Option("--ablate", "Also measure without each retriever and stage."),
    Option("--compare", "Also measure profiles: classic,convex,two-pass.", "NAMES"),
    Option("--profile", "Ranking: default, classic, convex or two-pass.",
        "NAME", setting="search.profile"),
    Option("--mode", "Search by: hybrid, keyword or semantic.", "MODE", setting="search.mode"),
    Option("--fusion", "How scores are combined: scaled, weighted or rrf.",
        "HOW", setting="search.fusion"),
    Option("--rerank", "Rerank the top 20: none, tokens, onnx or endpoint.", "BY",
        setting="search.rerank"),
    Option("--no-sync", "Do not update the index."),
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Ask every question as `search` does, and score the passages.

    It updates the index first. With --fail-under, --max-drop or --max-p95-ms it prints nothing if
    all is well, or one line and exits 1. Several files give one row each and one for all, with 95 %
    intervals. Without -w, each file is asked of the folder `workspace` next to it.

    Examples: memcli bench quality questions.jsonl      memcli bench quality a.jsonl b.jsonl
    """
    from memcli.bench.gates import Gates, parse_gate

    if options.max_drop is not None and options.baseline is None:
        raise UsageError("--max-drop needs --baseline FILE", hint="memcli bench quality --help")
    gates = Gates(
        tuple(map(parse_gate, options.fail_under or ())), options.max_drop, options.max_p95_ms
    )
    files = options.queries or []
    if len(files) > 1 or options.against is not None:
        _check_sets(files, options)
        from memcli.cli.commands.bench import sets

        return sets.run(options, gates)
    return _run_one(files[0] if files else None, options, command_context(options), gates)


def _check_sets(files: Sequence[str], options: Options) -> None:
    """Raise UsageError for options that belong to one file of questions."""
    if not files:
        raise UsageError(
            "--against needs the files of questions",
            hint=f"memcli bench quality A.jsonl B.jsonl --against {options.against}",
        )
    for name in ("baseline", "run", "ablate", "compare"):
        if getattr(options, name) not in (None, False):
            beside = "--against" if len(files) == 1 else "several files of questions"
            raise UsageError(
                f"--{name} cannot be combined with {beside}", hint="memcli bench quality --help"
            )


def _variants(options: Options) -> tuple[Variant, ...]:
    """Return the other ways to search that the options ask for."""
    if not options.ablate and options.compare is None:
        return ()
    from memcli.bench.ablation import ABLATIONS, BY_PROFILE

    names = options.compare.split(",") if options.compare is not None else []
    for name in names:
        if name not in BY_PROFILE:
            raise UsageError(
                f"--compare takes profiles, {', '.join(BY_PROFILE)}, not {name!r}",
                hint="memcli help ranking",
            )
    return (*(ABLATIONS if options.ablate else ()), *(BY_PROFILE[name] for name in names))


def _run_one(
    queries_file: str | None, options: Options, command: CommandContext, gates: Gates
) -> int:
    """Update the index, ask, score, compare, check the gates."""
    from memcli.bench import gates as gating
    from memcli.bench.quality_text import text as text_of
    from memcli.bench.rows import movement, pairs, read_baseline
    from memcli.bench.traces import encode
    from memcli.render.jsonio import dumps

    terminal = command.terminal
    silent = not gates.is_empty and not terminal.verbose
    if options.run is not None:
        side_files.refuse_memory(options.run, command)
    measured = measure(
        queries_file,
        command,
        sync=not options.no_sync,
        silent=silent,
        variants=_variants(options),
    )
    if options.run is not None:
        from memcli.bench.quality import run_line

        lines = "".join(dumps(run_line(each)) + "\n" for each in measured.results)
        side_files.write_text(options.run, lines, command)
    before, trace = None, measured.trace
    baseline = options.baseline
    if baseline is not None:
        hint = "memcli bench quality QUERIES.jsonl --json > baseline.json"
        text = side_files.read_text(baseline, hint)
        judged = [each.query for each in measured.results]
        before = read_baseline(text, baseline, judged, measured.line_costs)
        if not pairs(before, trace.queries):
            raise UsageError(f"{baseline} has none of these questions", hint=hint)
    failed = gating.failures(
        gates, trace.categories["all"], trace.queries, before, trace.latency_ms.p95
    )
    if options.json:
        moved = None if before is None else movement(before, trace.queries)
        terminal.write_json(encode(trace._replace(baseline=moved, failed=tuple(failed))))
    elif not silent:
        terminal.write(terminal.safe(text_of(trace, before)))
    for line in [] if options.json else failed:
        terminal.write(terminal.safe_line(f"memcli bench: {line}") + "\n")
    return ExitCode.NEGATIVE if failed else ExitCode.OK
