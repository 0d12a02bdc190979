"""`memcli bench quality`: score search on judged questions, and gate on the figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.cli import side_files
from memcli.cli.commands.bench.measuring import Measured, measure
from memcli.cli.skin import Shared, Skin, make_skin
from memcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from typing import Annotated, Any

    import typer

    from memcli.bench.ablation import Variant
    from memcli.bench.gates import Gates
    from memcli.bench.rows import Row
    from memcli.cli import options


def command(
    queries: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[QUERIES.jsonl]...",
            help="Judged questions; see: bench init.",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A receipt of the same sets, to say what moved since."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="FILE", help="An earlier receipt or run to compare with.")
    ] = None,
    fail_under: Annotated[
        list[str] | None, typer.Option(metavar="METRIC=X", help="Exit 1 when a metric is below X.")
    ] = None,
    max_drop: Annotated[
        float | None, typer.Option(metavar="X", help="Exit 1 when nDCG@10 falls by more than X.")
    ] = None,
    max_p95_ms: Annotated[
        float | None,
        typer.Option(metavar="MS", help="Exit 1 when the p95 of a search is above MS."),
    ] = None,
    run_file: Annotated[
        str | None,
        typer.Option("--run", metavar="OUT.jsonl", help="Write the passages, 100 a query."),
    ] = None,
    ablate: Annotated[
        bool, typer.Option("--ablate", help="Also with each leg and stage switched off in turn.")
    ] = False,
    compare: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Also by other profiles: classic,convex,two-pass."),
    ] = None,
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", help="A set of ranking rules.")
    ] = None,
    mode: Annotated[
        str | None, typer.Option(metavar="MODE", help="hybrid, lexical or dense.")
    ] = None,
    fusion: Annotated[
        str | None, typer.Option(metavar="HOW", help="scaled, weighted or rrf.")
    ] = None,
    rerank: Annotated[
        str | None,
        typer.Option(
            metavar="BY", help="Have the best read once more: none, tokens, onnx, endpoint."
        ),
    ] = None,
    no_sync: Annotated[bool, typer.Option("--no-sync", help="Do not update the index.")] = False,
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Ask every question through the pipeline of `search` and score the passages.

    The index is brought in step first. With a gate (--fail-under, --max-drop, --max-p95-ms)
    nothing is written while all is well, and one line and exit 1 when it is not. Several files
    give a row each and one for all questions, with 95 % intervals; without -w each is asked of
    the folder `workspace` beside it.

    Examples: memcli bench quality questions.jsonl      memcli bench quality a.jsonl b.jsonl
    """
    from memcli.bench.gates import Gates, parse_gate

    if max_drop is not None and baseline is None:
        raise UsageError("--max-drop needs --baseline FILE", hint="memcli bench quality --help")
    gates = Gates(tuple(map(parse_gate, fail_under or ())), max_drop, max_p95_ms)
    shared = Shared(workspace, quiet, verbose, color, now)
    flags = {"search.profile": profile, "search.mode": mode, "search.fusion": fusion,
             "search.rerank": rerank}  # fmt: skip
    files = queries or []
    if len(files) > 1 or against is not None:
        _check_sets(files, against, {"--baseline": baseline, "--run": run_file,
                                     "--ablate": ablate or None, "--compare": compare})  # fmt: skip
        from memcli.cli.commands.bench import sets

        return sets.run(files, shared, flags, gates, against=against, sync=not no_sync,
                        as_json=as_json)  # fmt: skip
    skin = make_skin(shared, flags)
    return run(files[0] if files else None, skin, gates, baseline=baseline, run_file=run_file,
               sync=not no_sync, as_json=as_json, variants=_variants(ablate, compare))  # fmt: skip


def _check_sets(files: Sequence[str], against: str | None, alone: Mapping[str, object]) -> None:
    """Raise UsageError for options that belong to one file of questions."""
    if not files:
        raise UsageError(
            "--against needs the files of questions",
            hint=f"memcli bench quality A.jsonl B.jsonl --against {against}",
        )
    for option, value in alone.items():
        if value is not None:
            beside = "--against" if len(files) == 1 else "several files of questions"
            raise UsageError(
                f"{option} does not go with {beside}", hint="memcli bench quality --help"
            )


def _variants(ablate: bool, compare: str | None) -> tuple[Variant, ...]:
    """Give the other ways to search that are asked for."""
    if not ablate and compare is None:
        return ()
    from memcli.bench.ablation import ABLATIONS, BY_PROFILE

    names = compare.split(",") if compare is not None else []
    for name in names:
        if name not in BY_PROFILE:
            raise UsageError(
                f"--compare takes profiles, {', '.join(BY_PROFILE)}, not {name!r}",
                hint="memcli help ranking",
            )
    return (*(ABLATIONS if ablate else ()), *(BY_PROFILE[name] for name in names))


def run(
    queries_file: str | None,
    skin: Skin,
    gates: Gates,
    *,
    baseline: str | None,
    run_file: str | None,
    sync: bool,
    as_json: bool,
    variants: Sequence[Variant] = (),
) -> int:
    """Sync, ask, score, compare, hold against the gates."""
    from memcli.bench import gates as gating
    from memcli.bench.rows import read_baseline
    from memcli.render.jsonio import dumps

    terminal = skin.terminal
    silent = not gates.is_empty and not terminal.verbose
    if run_file is not None:
        side_files.refuse_memory(run_file, skin)
    measured = measure(queries_file, skin, sync=sync, silent=silent, variants=variants)
    if run_file is not None:
        from memcli.bench.quality import run_line

        lines = "".join(dumps(run_line(each)) + "\n" for each in measured.asked)
        side_files.write_text(run_file, lines, skin)
    before = None
    if baseline is not None:
        hint = "memcli bench quality QUERIES.jsonl --json > baseline.json"
        text = side_files.read_text(baseline, hint)
        judged = [each.query for each in measured.asked]
        before = read_baseline(text, baseline, judged, measured.line_costs)
        if not {row.id for row in before} & {row.id for row in measured.rows}:
            raise UsageError(f"{baseline} holds none of these questions", hint=hint)
    record = measured.record
    failed = gating.failures(
        gates, record["categories"]["all"], measured.rows, before, record["latency_ms"]["p95"]
    )
    if as_json:
        terminal.write(
            dumps({**record, **_compared(before, measured.rows), "failed": failed}) + "\n"
        )
    elif not silent:
        terminal.write(terminal.safe(_text(measured, before)))
    for line in [] if as_json else failed:
        terminal.write(terminal.safe_line(f"memcli bench: {line}") + "\n")
    return ExitCode.NEGATIVE if failed else ExitCode.OK


def _compared(before: list[Row] | None, rows: list[Row]) -> dict[str, Any]:
    if before is None:
        return {}
    from memcli.bench.rows import as_record, drop, moves

    common = {row.id for row in before} & {row.id for row in rows}
    return {
        "baseline": {
            "queries": len(common),
            "drop": drop(before, rows),
            "moved": [
                {"before": as_record(m.before), "after": as_record(m.after), "delta": m.delta}
                for m in moves(before, rows)
            ],
        }
    }


def _text(measured: Measured, before: list[Row] | None) -> str:
    from memcli.bench import quality_text as text
    from memcli.bench.rows import moves, worst

    record, rows = measured.record, measured.rows
    parts = [text.table(record["categories"]), text.hints(record["hints"])]
    parts.append(text.worst_cases(worst(rows, text.SHOWN)))
    if "ablation" in record:
        from memcli.bench.ablation import table

        parts.append("\n" + table(record["ablation"]))
    if before is not None:
        common = {row.id for row in before} & {row.id for row in rows}
        parts.append(text.changes(moves(before, rows), len(common)))
    return "".join(parts)
