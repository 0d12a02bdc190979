"""`memcli index`: bring the index in step with the files, then embed what is new.

With --watch it goes on doing so; that is `cli/watch_run.py`.
"""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.skin import Shared, Skin, make_skin, marked
from memcli.config.settings import FLAG_ORIGIN
from memcli.errors import ExitCode, UsageError
from memcli.record import Record

if TYPE_CHECKING:
    from typing import Annotated, Any

    import typer

    from memcli.cli import options


class IndexWish(Record):
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
        int | None,
        typer.Option("--debounce", metavar="MS", help="With --watch: quiet before a run."),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval", metavar="MINUTES", help="With --watch: time between full looks."
        ),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            "--encoder", metavar="NAME", help="bundled, multilingual, onnx, openai, none."
        ),
    ] = None,
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    everywhere: options.Everywhere = False,
    presets: options.Presets = None,
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
    shared = Shared(workspace, quiet, verbose, color, now, everywhere)
    wanted = IndexWish(full, dry_run, prune, wait, as_json)
    flags = {
        "files.presets": presets,
        "embedding.encoder": encoder,
        "watch.debounce_ms": debounce,
        "watch.interval_minutes": interval,
    }
    if not watch:
        if debounce is not None or interval is not None:
            raise UsageError("--debounce and --interval need --watch", hint="memcli index --watch")
        return run(wanted, make_skin(shared, flags))
    if dry_run or prune:
        raise UsageError(
            f"--watch cannot be combined with --{'dry-run' if dry_run else 'prune'}",
            hint="memcli index --help",
        )
    from memcli.cli.watch_run import watch as stay

    skin = make_skin(shared, flags)
    if skin.memory.asked:
        raise UsageError("--watch stays with one workspace", hint="memcli index --watch")
    skin = marked(skin, "index --watch")
    pinned = shared._replace(workspace=[skin.config.workspace])
    return stay(skin, lambda: make_skin(pinned, flags), full=full, as_json=as_json)


def run(wanted: IndexWish, skin: Skin) -> int:
    """Index the workspace, or each of several, and report what was done."""
    work = _dry_run if wanted.dry_run else _index
    if skin.memory.asked:
        from memcli.cli.several import each

        what = "index-plan" if wanted.dry_run else "index"
        return each(skin, lambda one: work(wanted, one), what=what, as_json=wanted.as_json)
    record, code = work(wanted, skin)
    if wanted.as_json:
        from memcli.render.jsonio import dumps

        skin.terminal.write(dumps(record) + "\n")
    return code


def _index(wanted: IndexWish, skin: Skin) -> tuple[dict[str, Any], int]:
    from memcli.api.sync import Job, Vectors, sync
    from memcli.cli.index_output import write
    from memcli.cli.progress import Progress, Stopwatch

    watch = Stopwatch(skin.memory.clock.monotonic)
    with Progress(skin.terminal, skin.memory.clock.monotonic) as progress:

        def update(stage: str, done: int, total: int) -> None:
            watch.mark(stage)
            progress.update(stage, done, total)

        vectors = Vectors(skin.memory, update)
        job = Job(wanted.full, wanted.prune, wanted.wait)
        done = sync(skin.memory, job, vectors, on_progress=update)
    if skin.terminal.verbose:
        skin.terminal.say(watch.line())
    record = write(done, vectors.opened, skin, as_json=wanted.as_json)
    encoder, opened = skin.config.values["embedding.encoder"], vectors.opened
    # Who names an encoder on the command line means that one and no other.
    is_meant = encoder.origin == FLAG_ORIGIN and encoder.value != "none"
    return record, ExitCode.NO_LEG if is_meant and opened and opened.reason else ExitCode.OK


def _dry_run(wanted: IndexWish, skin: Skin) -> tuple[dict[str, Any], int]:
    """Say what a run would do, whatever that takes to read."""
    from memcli.cli.index_output import write_plan
    from memcli.indexing.look import stand

    standing = stand(skin.memory.store, skin.memory.index_settings())
    return write_plan(standing, skin.terminal, as_json=wanted.as_json), ExitCode.OK
