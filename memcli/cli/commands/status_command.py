"""`memcli status`: what the index knows, what it does not, and why; computed from disk."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from memcli.cli import options
from memcli.cli.context import Context, Shared, make_context
from memcli.errors import ExitCode, LegMissingError
from memcli.types import Diff, FileStat, Known, Skip, Source

if TYPE_CHECKING:
    from memcli.embedding.choice import Remembered
    from memcli.indexing.planning import Settings
    from memcli.indexing.watch_record import Record
    from memcli.store.sqlite.documents import Counts
    from memcli.store.sqlite.reader import Reader, SourceCounts

# A watcher writes its record every 30 seconds, also in the middle of a run.
SILENT_SECONDS = 120.0


def command(
    check: Annotated[
        bool, typer.Option("--check", help="Exit 1 when the index is not in step.")
    ] = False,
    deep: Annotated[
        bool, typer.Option("--deep", help="Also run the model and check the file.")
    ] = False,
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Show what is indexed, what is behind and why.

    Examples: memcli status      memcli status --check --json
    """
    context = make_context(Shared(workspace, quiet, verbose, color, now), {})
    return run(context, check=check, deep=deep, as_json=as_json)


def run(context: Context, *, check: bool, deep: bool, as_json: bool) -> int:
    """Compare files and index and show both."""
    record = describe(context, deep=deep)
    if as_json:
        from memcli.render.jsonio import dumps

        context.terminal.write(dumps(record) + "\n")
    elif not (check and context.terminal.quiet):
        from memcli.cli import status_output

        status_output.write(record, context)
    waiting = record["vectors"]["pending"] > 0 and record["vectors"]["encoder"] != "none"
    behind = record["state"] not in ("fresh", "empty") or waiting or record["unlisted"]
    return ExitCode.NEGATIVE if check and behind else ExitCode.OK


class Encoder(NamedTuple):
    """Whether the configured encoder can be used."""

    usable: bool
    fingerprint: str | None
    reason: str
    hint: str


def _encoder(context: Context, index: Remembered, *, deep: bool) -> Encoder:
    """Look for the model's file, or with `deep` open and run it."""
    from memcli.embedding.registry import fingerprint_of

    choice = context.encoders()
    configured = [fingerprint_of(name, choice, index) for name in choice.names]
    fingerprint = index.fingerprint if index.fingerprint in configured else configured[0]
    if fingerprint is not None and not deep:
        return Encoder(True, fingerprint, "", "")
    opened = context.open_encoder()
    if opened.encoder is None:
        return Encoder(False, None, opened.reason, opened.hint)
    try:
        opened.encoder.encode(["the model runs"])
    except LegMissingError as error:
        return Encoder(False, None, error.message, error.hint)
    return Encoder(True, opened.encoder.fingerprint, "", "")


def describe(context: Context, *, deep: bool) -> dict[str, Any]:
    """Gather the status as `memcli.status/1` has it."""
    from memcli.embedding.choice import Remembered
    from memcli.indexing.planning import chunking_key, plan
    from memcli.indexing.watch_record import living_watcher
    from memcli.store.sqlite.lock import owner_pid
    from memcli.store.sqlite.reader import Reader
    from memcli.types import shown

    settings = context.index_settings()
    reader = Reader(context.store) if os.path.exists(context.store) else None
    try:
        known = reader.known() if reader else {}
        planned = plan(settings, known, reader.meta("mounts") if reader else None)
        listing, diff = planned.listing, _settled(planned.diff, known, settings)
        skips = [*listing.skips]
        if reader:
            skips += [s for s in reader.skipped() if (s.source, s.path) in known]
        counts = reader.counts() if reader else None
        by_source = reader.source_counts() if reader else {}
        fingerprint = reader.meta("fingerprint") if reader else None
        chunking = reader.meta("chunking") if reader else None
        index = Remembered(reader.meta("model") if reader else None, fingerprint)
        encoder = _encoder(context, index, deep=deep)
        behind = len(diff.added) + len(diff.suspect) + len(diff.removed)
        if reader is None:
            state = "not_indexed" if listing.files else "empty"
        else:
            empty = not (listing.files or listing.unlisted)
            state = "stale" if behind else "empty" if empty else "fresh"
        warnings = [
            f"{shown(s.source, s.path or '.')} cannot be listed: {s.detail}"
            for s in listing.unlisted
        ]
        if chunking not in (None, chunking_key(settings.limits)):
            warnings.append("chunks were cut by other settings. Try: memcli index")
            state = "stale"
        pending = counts.parts - counts.embedded if counts else 0
        other_model = bool(fingerprint and encoder.usable and fingerprint != encoder.fingerprint)
        if other_model:
            warnings.append("the vectors come from another model. Try: memcli index")
        if not encoder.usable and encoder.reason:
            hint = f". Try: {encoder.hint}" if encoder.hint else ""
            warnings.append(f"vectors are off: {encoder.reason}{hint}")
        if pending and encoder.usable:
            warnings.append(f"{pending} texts have no vector yet. Try: memcli index")
        unreadable = _unreadable(reader, encoder.fingerprint)
        warnings += _script_warnings(unreadable, counts)
        if behind and reader is not None:
            files = "1 file differs" if behind == 1 else f"{behind} files differ"
            warnings.append(f"{files} from the index. Try: memcli index")
        if reader is None and listing.files:
            warnings.append("there is no index yet. Try: memcli index")
        aside = context.store + ".damaged-1"
        if os.path.exists(aside):
            warnings.append(f"a damaged index is kept as {aside}; delete it when you like")
        vec_problem = reader.vec_problem if reader else ""
        if vec_problem:
            warnings.append(f"{vec_problem}: vectors are compared one by one")
        watcher = living_watcher(context.store)
        warnings += _watcher_warnings(watcher, settings.now_ns() / 1e9)
        integrity = reader.integrity() if reader and deep else None
        return {
            "schema": "memcli.status/1",
            "workspace": context.config.workspace,
            "store": {
                "path": context.store,
                "bytes": _size(context.store),
                "integrity": integrity,
                "writer_pid": owner_pid(context.store),
            },
            "watcher": watcher and watcher._asdict(),
            "state": state,
            "sources": [
                _source(source, listing.files, by_source.get(source.name))
                for source in context.config.sources
            ],
            "changes": {
                "added": [shown(f.source, f.path) for f in diff.added],
                "changed": [shown(f.source, f.path) for f in diff.suspect],
                "removed": [shown(source, path) for source, path in diff.removed],
            },
            "skipped": [
                {"source": s.source, "path": s.path, "reason": s.reason, "detail": s.detail}
                for s in (*skips, *listing.unlisted)
            ],
            "unlisted": [shown(s.source, s.path or ".") for s in listing.unlisted],
            "legs": {
                "lexical": {"available": True},
                "dense": {
                    "available": encoder.usable and not other_model,
                    "reason": encoder.reason,
                },
            },
            "vectors": {
                "encoder": context.config("embedding.encoder"),
                "fingerprint": fingerprint,
                "search": "scan" if vec_problem else "sqlite-vec",
                "exact": reader.is_exact if reader else True,
                "parts": counts.parts if counts else 0,
                "embedded": counts.embedded if counts else 0,
                "pending": pending,
                "unreadable_chunks": unreadable,
            },
            "warnings": warnings,
        }
    finally:
        if reader:
            reader.close()


def _unreadable(reader: Reader | None, fingerprint: str | None) -> int:
    """Count the chunks that have vectors of a model which has not learnt their script."""
    from memcli.embedding.known import is_readable

    if reader is None or fingerprint is None or reader.meta("fingerprint") is None:
        return 0
    return sum(not is_readable(text, fingerprint) for text in reader.texts())


def _script_warnings(unreadable: int, counts: Counts | None) -> list[str]:
    """Say which part of the memory is found by words alone."""
    if counts is None or not unreadable:
        return []
    return [
        f"{unreadable} of {counts.chunks} chunks are in scripts that the model cannot read:"
        " they are found by words. Try: memcli help environment"
    ]


def _source(
    source: Source, files: Sequence[FileStat], indexed: SourceCounts | None
) -> dict[str, Any]:
    return {
        "name": source.name,
        "path": source.root,
        "trust": source.trust,
        "files": sum(file.source == source.name for file in files),
        "documents": indexed.documents if indexed else 0,
        "chunks": indexed.chunks if indexed else 0,
        "first_date": indexed.first_date if indexed else None,
        "last_date": indexed.last_date if indexed else None,
    }


def _settled(diff: Diff, known: Mapping[tuple[str, str], Known], settings: Settings) -> Diff:
    """Hash the files whose stat proves nothing; those with the same bytes have not changed."""
    from memcli.workspace.reading import read_file

    roots = {source.name: source.root for source in settings.sources}

    def differs(stat: FileStat) -> bool:
        file = read_file(
            roots[stat.source],
            stat.path,
            source=stat.source,
            max_bytes=settings.max_bytes,
            follow_symlinks=settings.follow_symlinks,
        )
        remembered = known[stat.source, stat.path].hash
        return (b"" if isinstance(file, Skip) else file.hash) != remembered

    changed = tuple(stat for stat in diff.suspect if differs(stat))
    same = len(diff.suspect) - len(changed)
    return diff._replace(suspect=changed, unchanged=diff.unchanged + same)


def _watcher_warnings(watcher: Record | None, now: float) -> list[str]:
    """Say when a watcher lives and yet does not do its work."""
    if watcher is None:
        return []
    warnings = []
    silent = now - datetime.fromisoformat(watcher.beat).timestamp() if watcher.beat else 0.0
    if silent > SILENT_SECONDS:
        warnings.append(
            f"the watcher (pid {watcher.pid}) has not stirred since {watcher.beat};"
            " end it and run memcli index --watch"
        )
    if watcher.failure:
        warnings.append(f"the watcher's last run failed: {watcher.failure}")
    return warnings


def _size(path: str) -> int:
    return sum(os.path.getsize(path + s) for s in ("", "-wal") if os.path.exists(path + s))
