"""`memcli index`: update the index, then embed new text; `cli/watch.py` has --watch."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.checking import TYPE_CHECKING, Any
from memcli.cli.command_context import CommandContext, command_context, each_workspace, marked
from memcli.cli.options import AGENT_MEMORIES, COMMON, EVERYWHERE, JSON, WORKSPACE, Option, Options
from memcli.cli.terminal import Terminal
from memcli.config.keys import FLAG_ORIGIN
from memcli.embedding.encoders import OpenedEncoder
from memcli.errors import ExitCode, UsageError
from memcli.indexing.notices import BROKEN, settings_changed, skipped, unlisted, without_vectors
from memcli.record import plain
from memcli.render.text import counted

if TYPE_CHECKING:
    from memcli.api.sync import RunResult
    from memcli.indexing.indexer import Report


OPTIONS = (
    Option("--full", "Build the index from scratch."),
    Option("--dry-run", "List what would change, and change nothing."),
    Option("--prune", "Delete unused vectors, and embed nothing."),
    Option("--clean", "List the indexes of folders that are gone."),
    Option("--apply", "With --clean: delete them."),
    Option("--wait", "Longest wait for another process that indexes.",
        "SECONDS", float, default=60.0),
    Option("--watch", "Keep running and index changes until Ctrl-C."),
    Option("--debounce", "With --watch: wait after the last change.", "MS", int,
        setting="watch.debounce_ms"),
    Option("--interval", "With --watch: time between full scans.", "MINUTES", float,
        setting="watch.interval_minutes"),
    Option("--encoder", "Model: auto, bundled, multilingual, onnx, openai or none.", "NAME",
        setting="embedding.encoder"),
    JSON, WORKSPACE, EVERYWHERE, AGENT_MEMORIES, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Update the index.

    Keyword search works first, file by file. Vectors follow.
    --full builds a new index next to the old one, which answers until the new one is ready.

    Examples: memcli index      memcli index --watch
    """
    if options.apply and not options.clean:
        raise UsageError("--apply needs --clean", hint="memcli index --clean")
    if options.clean:
        return _clean(options)
    if not options.watch:
        if options.debounce is not None or options.interval is not None:
            raise UsageError("--debounce and --interval need --watch", hint="memcli index --watch")
        return _run_once(options, command_context(options))
    if options.dry_run or options.prune:
        raise UsageError(
            f"--watch cannot be combined with --{'dry-run' if options.dry_run else 'prune'}",
            hint="memcli index --help",
        )
    from memcli.cli.watch import watch as stay

    command = command_context(options)
    if command.memory.members:
        raise UsageError("--watch works with one workspace", hint="memcli index --watch")
    command = marked(command)
    pinned = options.having(workspace=[command.config.workspace])
    return stay(command, lambda: command_context(pinned), full=options.full, as_json=options.json)


def _clean(options: Options) -> int:
    """List the indexes of folders that are gone, or delete them."""
    from memcli.store.open import orphans, remove_orphan

    command = command_context(options, anywhere=True)
    terminal, done = command.terminal, "deleted" if options.apply else "would delete"
    outcomes = [
        (orphan, remove_orphan(orphan) if options.apply else "")
        for orphan in orphans(command.memory.environ)
    ]
    for orphan, why in outcomes:
        if why:
            terminal.warn(why)
        elif not options.json:
            name = terminal.safe_line(orphan.workspace or "a folder that it does not name")
            terminal.write(f"{done}  {orphan.bytes / 1e6:.1f} MB of {name}\n")
    terminal.flush()
    if options.json:
        indexes = [
            {"path": orphan.path, "workspace": orphan.workspace or None, "bytes": orphan.bytes,
             "reason": why or None}
            for orphan, why in outcomes
        ]  # fmt: skip
        schema = "memcli.index-clean/1"
        terminal.write_json({"schema": schema, "applied": options.apply, "indexes": indexes})
    elif not outcomes:
        terminal.say("Every index belongs to a folder that exists.")
    elif not options.apply:
        count = counted(len(outcomes), "index", "indexes")
        size = sum(orphan.bytes for orphan, _ in outcomes) / 1e6
        terminal.say(f"{count}, {size:.1f} MB. Delete: memcli index --clean --apply")
    return ExitCode.BUSY if any(why for _, why in outcomes) else ExitCode.OK


def _run_once(options: Options, command: CommandContext) -> int:
    """Index the workspace, or each of several, and report the result."""
    work = _dry_run if options.dry_run else _index
    if command.memory.members:
        what = "index-plan" if options.dry_run else "index"
        return each_workspace(
            command, lambda one: work(options, one), what=what, as_json=options.json
        )
    record, code = work(options, command)
    if options.json:
        command.terminal.write_json(record)
    return code


def _index(options: Options, command: CommandContext) -> tuple[dict[str, Any], int]:
    from memcli.api.sync import Job, Vectors, sync
    from memcli.cli.progress import Progress, Stopwatch

    watch = Stopwatch(command.memory.clock.monotonic)
    with Progress(command.terminal, command.memory.clock.monotonic) as progress:

        def update(stage: str, done: int, total: int) -> None:
            watch.mark(stage)
            progress.update(stage, done, total)

        vectors = Vectors(command.workspace, update)
        job = Job(options.full, options.prune, options.wait, texts=0 if options.prune else None)
        done = sync(command.workspace, job, vectors)
    if command.terminal.verbose:
        command.terminal.say(watch.line())
    record = write(done, vectors.opened, command, as_json=options.json)
    encoder, opened = command.config.values["embedding.encoder"], vectors.opened
    # An encoder on the command line has no fallback.
    is_meant = encoder.origin == FLAG_ORIGIN and encoder.value != "none"
    return record, ExitCode.NO_RETRIEVER if is_meant and opened and opened.reason else ExitCode.OK


def _dry_run(options: Options, command: CommandContext) -> tuple[dict[str, Any], int]:
    """Report what a run would do, after reading all changed files."""
    from memcli.indexing.comparison import compare_store

    comparison = compare_store(command.workspace.store, command.workspace.index_settings())
    terminal, plan = command.terminal, plain(comparison.changes)
    if not options.json:
        for what, names in change_names(plan):
            for name in names:
                terminal.write(f"{what:<9} {terminal.safe_line(name)}\n")
        terminal.flush()
        if not any(plan.values()):
            terminal.say("No file would be indexed or removed.")
    for left in comparison.out_of_scope:
        terminal.advise(left)
    for folder in comparison.listing.unlisted:
        terminal.advise(unlisted(folder))
    if reason := settings_changed(comparison):
        terminal.advise(reason)
    return {"schema": "memcli.index-plan/1", **plan}, ExitCode.OK


SHOWN_SKIPS = 5  # files that are named without -v


def write(
    done: RunResult, opened: OpenedEncoder | None, command: CommandContext, *, as_json: bool
) -> dict[str, Any]:
    """Print what a run has done unless `as_json`, and return its record.

    `opened` is the encoder, or None if none was needed.
    """
    terminal = command.terminal
    reason = without_vectors(opened) if opened else None
    if reason is not None:
        terminal.advise(reason)
    for notice in done.notices:
        terminal.warn(notice)
    for warning in done.warnings:
        terminal.advise(warning)
    _warn(done.report, terminal)
    if not as_json:
        terminal.say(_summary(done))
        return {}
    from memcli.api.sync import run_record

    record: dict[str, Any] = plain(run_record(done, command.workspace))
    if not done.borrowed:
        del record["vectors_reused"]
    return record


def _warn(report: Report, terminal: Terminal) -> None:
    for reason in report.out_of_scope:
        terminal.advise(reason)
    for folder in report.unlisted:
        terminal.advise(unlisted(folder))
    for reason in report.flaws:
        if reason.code != BROKEN:  # one of the warnings names all such files
            terminal.advise(reason)
    skips = [skip for skip in report.skips if terminal.verbose or skip.reason != "ignored"]
    if terminal.verbose or len(skips) <= SHOWN_SKIPS:
        for skip in skips:
            terminal.advise(skipped(skip))
    else:
        terminal.warn(f"skipped {len(skips)} files; memcli status lists them")


def _summary(done: RunResult) -> str:
    report, pending = done.report, done.pending
    fields = report._asdict()
    counts = {word: len(fields[word]) for word in ("added", "changed", "moved", "removed")}
    counts["unchanged"] = report.unchanged
    files = ", ".join(f"{number} {word}" for word, number in counts.items() if number) or "no files"
    tail = f", {counted(pending, 'text waits', 'texts wait')} for a vector" if pending else ""
    made = f"{counted(done.chunks, 'chunk')}, {counted(done.embedded, 'text')} embedded"
    borrowed = f", {counted(done.borrowed, 'vector')} reused" if done.borrowed else ""
    return f"Indexed: {files}; {made}{borrowed}{tail}."


def change_names(changes: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """List the changed files for a person, kind by kind."""
    moved = [f"{pair['from']} -> {pair['to']}" for pair in changes["moved"]]
    named = {**changes, "moved": moved}
    return [(what, named[what]) for what in ("added", "changed", "reindexed", "moved", "removed")]
