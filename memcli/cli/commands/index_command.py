"""`memcli index`: bring the index in step with the files, then embed what is new.

With --watch it goes on doing so; that is `cli/watch_run.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Optional

import typer

from memcli.cli import options
from memcli.cli.context import Context, Shared, make_context
from memcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from memcli.cli.index_run import Done
    from memcli.embedding.registry import Opened
    from memcli.indexing.indexer import Report


class Options(NamedTuple):
    """What `index` is asked to do."""

    full: bool
    dry_run: bool
    prune: bool
    wait: float
    as_json: bool


def command(
    full: Annotated[bool, typer.Option("--full", help="Build the index anew.")] = False,
    dry_run: Annotated[
        bool, typer.Option("-n", "--dry-run", help="List what would change, change nothing.")
    ] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Drop cached vectors that nothing uses.")
    ] = False,
    wait: Annotated[
        float, typer.Option("--wait", metavar="SECONDS", help="Wait for another writer.")
    ] = 60.0,
    watch: Annotated[
        bool, typer.Option("--watch", help="Stay, and index whatever changes; Ctrl-C ends it.")
    ] = False,
    debounce: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--debounce", metavar="MS", help="With --watch: quiet before a run."),
    ] = None,
    interval: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            "--interval", metavar="MINUTES", help="With --watch: time between full looks."
        ),
    ] = None,
    encoder: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--encoder", metavar="NAME", help="bundled, multilingual, onnx, openai, none."
        ),
    ] = None,
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Bring the index in step with the files.

    Keyword rows come first, file by file, so a search finds words while vectors are made.
    --full builds a new index beside the old one, which answers until the new one is whole.

    Examples: memcli index      memcli index --watch
    """
    shared = Shared(workspace, quiet, verbose, color, now)
    wanted = Options(full, dry_run, prune, wait, as_json)
    flags = {
        "embedding.encoder": encoder,
        "watch.debounce_ms": debounce,
        "watch.interval_minutes": interval,
    }
    if not watch:
        if debounce is not None or interval is not None:
            raise UsageError("--debounce and --interval need --watch", hint="memcli index --watch")
        return run(wanted, make_context(shared, flags))
    if dry_run or prune:
        raise UsageError(
            f"--watch and --{'dry-run' if dry_run else 'prune'} do not go together",
            hint="memcli index --help",
        )
    from memcli.cli.watch_run import watch as stay

    context = make_context(shared, flags)
    pinned = shared._replace(workspace=context.config.workspace)
    return stay(wanted, context, lambda: make_context(pinned, flags))


def run(wanted: Options, context: Context) -> int:
    """Index the workspace and report what was done."""
    if wanted.dry_run:
        return _dry_run(wanted, context)

    from memcli.cli.index_run import Job, Vectors, run_once
    from memcli.cli.progress import Progress

    terminal = context.terminal
    with Progress(terminal, context.monotonic) as progress:
        vectors = Vectors(context, progress.update)
        done = run_once(
            context,
            Job(wanted.full, wanted.prune, wanted.wait, texts=None),
            vectors,
            sleep=context.sleep,
            on_progress=progress.update,
        )
    _say_encoder(vectors.opened, context)
    _warn(done.report, context)
    if wanted.as_json:
        from memcli.render.jsonio import dumps

        terminal.write(
            dumps(
                {
                    "schema": "memcli.index/1",
                    "workspace": context.config.workspace,
                    "store": context.store,
                    "files": file_lists(done.report),
                    "chunks": done.chunks,
                    "embedded": done.embedded,
                    "pending": done.pending,
                    "pruned": done.pruned,
                }
            )
            + "\n"
        )
    else:
        terminal.say(_summary(done))
    return ExitCode.OK


def _say_encoder(opened: Opened | None, context: Context) -> None:
    """Say why there are no vectors, or which encoder stands in."""
    if opened is None or not opened.reason:
        return
    terminal = context.terminal
    if opened.encoder is not None:
        name = opened.encoder.fingerprint.split(";", 1)[0]
        terminal.warn(f"{opened.reason}; {name} stands in")
        return
    terminal.warn(f"vectors are off: {opened.reason}; search goes by keywords")
    if opened.hint:
        terminal.say(f"Try: {opened.hint}")


def _dry_run(wanted: Options, context: Context) -> int:
    import os

    from memcli.indexing.planning import plan
    from memcli.store.sqlite.reader import Reader
    from memcli.types import shown

    known = {}
    if os.path.exists(context.store):
        reader = Reader(context.store)
        known = reader.known()
        reader.close()
    planned = plan(context.index_settings(), known)
    rows = [("added", f.source, f.path) for f in planned.diff.added]
    rows += [("changed", f.source, f.path) for f in planned.diff.suspect]
    rows += [("removed", source, path) for source, path in planned.diff.removed]
    if wanted.as_json:
        from memcli.render.jsonio import dumps

        record: dict[str, Any] = {"schema": "memcli.index-plan/1", "added": [], "changed": [],
                                  "removed": []}  # fmt: skip
        for what, source, path in rows:
            record[what].append(shown(source, path))
        context.terminal.write(dumps(record) + "\n")
    else:
        for what, source, path in rows:
            context.terminal.write(f"{what:<8} {context.terminal.safe_line(shown(source, path))}\n")
    return ExitCode.OK


def file_lists(report: Report) -> dict[str, Any]:
    """Describe a run's files as `memcli.index/1` does."""
    return {
        "added": list(report.added),
        "changed": list(report.changed),
        "moved": [{"from": old, "to": new} for old, new in report.moved],
        "removed": list(report.removed),
        "unchanged": report.unchanged,
        "skipped": [
            {"source": s.source, "path": s.path, "reason": s.reason, "detail": s.detail}
            for s in (*report.skips, *report.unlisted)
        ],
    }


def _warn(report: Report, context: Context) -> None:
    from memcli.types import shown

    terminal = context.terminal
    for skip in report.unlisted:
        folder = shown(skip.source, skip.path or ".")
        terminal.warn(f"{folder} cannot be listed: {skip.detail}; its rows stay")
    for notice in report.notices:
        terminal.warn(notice)
    for path in report.damaged:
        terminal.warn(f"{path}: some bytes are not UTF-8 and were replaced")
    told = [s for s in report.skips if terminal.verbose or s.reason != "ignored"]
    if terminal.verbose or len(told) <= 5:
        for skip in told:
            detail = f" ({skip.detail})" if skip.detail else ""
            terminal.warn(f"skipped {shown(skip.source, skip.path)}: {skip.reason}{detail}")
    else:
        terminal.warn(f"skipped {len(told)} files; memcli index -v or memcli status says why")


def _summary(done: Done) -> str:
    report, pending = done.report, done.pending
    counts = [
        (len(report.added), "added"),
        (len(report.changed), "changed"),
        (len(report.moved), "moved"),
        (len(report.removed), "removed"),
        (report.unchanged, "unchanged"),
    ]
    files = ", ".join(f"{number} {word}" for number, word in counts if number) or "no files"
    tail = f", {pending} texts wait for a vector" if pending else ""
    return f"Indexed: {files}; {done.chunks} chunks, {done.embedded} texts embedded{tail}."
