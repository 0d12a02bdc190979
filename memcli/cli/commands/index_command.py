"""`memcli index`: bring the index in step with the files, then embed what is new."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Optional

import typer

from memcli.cli import options
from memcli.cli.context import Context, Shared, make_context
from memcli.errors import ExitCode

if TYPE_CHECKING:
    from memcli.indexing.indexer import Progress, Report
    from memcli.store.writer import Writer


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
    encoder: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--encoder", metavar="NAME", help="bundled or none."),
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

    Examples: memcli index      memcli index -w notes --json
    """
    shared = Shared(workspace, quiet, verbose, color, now)
    context = make_context(shared, {"embedding.encoder": encoder})
    return run(Options(full, dry_run, prune, wait, as_json), context)


def run(wanted: Options, context: Context) -> int:
    """Index the workspace and report what was done."""
    if wanted.dry_run:
        return _dry_run(wanted, context)

    from memcli.cli.progress import Progress
    from memcli.indexing.indexer import index
    from memcli.indexing.lock import writer_lock
    from memcli.indexing.rebuild import rebuild, sweep_stale
    from memcli.store.writer import Writer

    terminal = context.terminal
    settings = context.index_settings()
    pruned = 0
    with writer_lock(context.store, wait_seconds=wanted.wait, sleep=context.sleep):
        writer, notice = Writer.open(context.store)
        if notice:
            terminal.warn(notice)
        try:
            with Progress(terminal) as progress:
                vectors = Vectors(context, progress.update)
                if wanted.full:
                    report = rebuild(
                        writer, settings, embed_into=vectors.make, on_progress=progress.update
                    )
                else:
                    sweep_stale(context.store, settings)
                    report = index(writer, settings, on_progress=progress.update)
                    vectors.make(writer)
            if wanted.prune:
                pruned = writer.prune(unused_days=0)
            fingerprint = writer.meta("fingerprint")
            pending = writer.unembedded(fingerprint) if fingerprint else 0
            counts = writer.counts()
        finally:
            writer.close()
    if vectors.problem:
        terminal.warn(f"vectors are off: {vectors.problem}; search goes by keywords")
        if vectors.hint:
            terminal.say(f"Try: {vectors.hint}")
    _warn(report, context)
    if wanted.as_json:
        from memcli.render.jsonio import dumps

        terminal.write(
            dumps(
                {
                    "schema": "memcli.index/1",
                    "workspace": context.config.workspace,
                    "store": context.store,
                    "files": _files(report),
                    "chunks": counts.chunks,
                    "embedded": vectors.made,
                    "pending": pending,
                    "pruned": pruned,
                }
            )
            + "\n"
        )
    else:
        terminal.say(_summary(report, counts.chunks, vectors.made, pending))
    return ExitCode.OK


class Vectors:
    """The vectors that a run makes; the encoder is opened only when texts wait for one."""

    def __init__(self, context: Context, on_progress: Progress) -> None:
        """Take the settings from the context."""
        self._context, self._on_progress = context, on_progress
        self.made = 0
        self.problem = self.hint = ""

    def make(self, writer: Writer) -> None:
        """Embed what is new, or learn why that cannot be."""
        from memcli.embedding.query import identity
        from memcli.embedding.registry import configured_fingerprint
        from memcli.indexing.indexer import embed, settle_vectors

        name = self._context.config("embedding.encoder")
        verified = writer.meta("model") == identity(name)
        if verified and settle_vectors(writer, configured_fingerprint(name)):
            return
        opened = self._context.open_encoder()
        if opened.encoder is None:
            self.problem, self.hint = opened.reason, opened.hint
            return
        self.made = embed(writer, opened.encoder, on_progress=self._on_progress)
        writer.set_meta({"model": identity(name)})
        writer.mark_embedded()


def _dry_run(wanted: Options, context: Context) -> int:
    import os

    from memcli.indexing.indexer import plan, shown
    from memcli.store.reader import Reader

    known, mounts = {}, None
    if os.path.exists(context.store):
        reader = Reader(context.store)
        known, mounts = reader.known(), reader.meta("mounts")
        reader.close()
    planned = plan(context.index_settings(), known, mounts)
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


def _files(report: Report) -> dict[str, Any]:
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
    terminal = context.terminal
    for skip in report.unlisted:
        terminal.warn(f"{skip.path or '.'} cannot be listed: {skip.detail}; its rows stay")
    for notice in report.notices:
        terminal.warn(notice)
    for path in report.damaged:
        terminal.warn(f"{path}: some bytes are not UTF-8 and were replaced")
    told = [s for s in report.skips if terminal.verbose or s.reason != "ignored"]
    if terminal.verbose or len(told) <= 5:
        for skip in told:
            detail = f" ({skip.detail})" if skip.detail else ""
            terminal.warn(f"skipped {skip.path}: {skip.reason}{detail}")
    else:
        terminal.warn(f"skipped {len(told)} files; memcli index -v or memcli status says why")


def _summary(report: Report, chunks: int, embedded: int, pending: int) -> str:
    counts = [
        (len(report.added), "added"),
        (len(report.changed), "changed"),
        (len(report.moved), "moved"),
        (len(report.removed), "removed"),
        (report.unchanged, "unchanged"),
    ]
    files = ", ".join(f"{number} {word}" for number, word in counts if number) or "no files"
    tail = f", {pending} texts wait for a vector" if pending else ""
    return f"Indexed: {files}; {chunks} chunks, {embedded} texts embedded{tail}."
