"""`memcli index`: update the index, then embed new text; `cli/watch_run.py` has --watch."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.command_context import CommandContext, command_context, marked
from memcli.cli.options import AGENT_MEMORIES, COMMON, EVERYWHERE, JSON, WORKSPACE, Option, Options
from memcli.config.settings import FLAG_ORIGIN
from memcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from typing import Any

OPTIONS = (
    Option("--full", "Build the index from scratch."),
    Option("--dry-run", "List what would change, and change nothing."),
    Option("--prune", "Delete unused vectors from the cache."),
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
    from memcli.cli.watch_run import watch as stay

    command = command_context(options)
    if command.memory.members:
        raise UsageError("--watch stays with one workspace", hint="memcli index --watch")
    command = marked(command)
    pinned = options.having(workspace=[command.config.workspace])
    return stay(command, lambda: command_context(pinned), full=options.full, as_json=options.json)


def _clean(options: Options) -> int:
    """List the indexes of folders that are gone, or delete them."""
    from memcli.cli.index_output import write_orphans
    from memcli.store.open import orphans, remove_orphan

    command = command_context(options, anywhere=True)
    found = orphans(command.memory.environ)
    kept = [(orphan, remove_orphan(orphan) if options.apply else "") for orphan in found]
    record = write_orphans(kept, command.terminal, applied=options.apply, as_json=options.json)
    if options.json:
        command.terminal.write_json(record)
    return ExitCode.BUSY if any(why for _, why in kept) else ExitCode.OK


def _run_once(options: Options, command: CommandContext) -> int:
    """Index the workspace, or each of several, and report the result."""
    work = _dry_run if options.dry_run else _index
    if command.memory.members:
        from memcli.cli.each_workspace import each

        what = "index-plan" if options.dry_run else "index"
        return each(command, lambda one: work(options, one), what=what, as_json=options.json)
    record, code = work(options, command)
    if options.json:
        command.terminal.write_json(record)
    return code


def _index(options: Options, command: CommandContext) -> tuple[dict[str, Any], int]:
    from memcli.api.sync import Job, Vectors, sync
    from memcli.cli.index_output import write
    from memcli.cli.progress import Progress, Stopwatch

    watch = Stopwatch(command.memory.clock.monotonic)
    with Progress(command.terminal, command.memory.clock.monotonic) as progress:

        def update(stage: str, done: int, total: int) -> None:
            watch.mark(stage)
            progress.update(stage, done, total)

        vectors = Vectors(command.workspace, update)
        job = Job(options.full, options.prune, options.wait)
        done = sync(command.workspace, job, vectors, on_progress=update)
    if command.terminal.verbose:
        command.terminal.say(watch.line())
    record = write(done, vectors.opened, command, as_json=options.json)
    encoder, opened = command.config.values["embedding.encoder"], vectors.opened
    # An encoder on the command line has no fallback.
    is_meant = encoder.origin == FLAG_ORIGIN and encoder.value != "none"
    return record, ExitCode.NO_RETRIEVER if is_meant and opened and opened.reason else ExitCode.OK


def _dry_run(options: Options, command: CommandContext) -> tuple[dict[str, Any], int]:
    """Report what a run would do; it reads all changed files."""
    from memcli.cli.index_output import write_plan
    from memcli.indexing.comparison import compare_store

    comparison = compare_store(command.workspace.store, command.workspace.index_settings())
    return write_plan(comparison, command.terminal, as_json=options.json), ExitCode.OK
