"""Report what a run of `memcli index` has done, or would do, and what it could not read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.errors import Reason
from memcli.indexing.notices import (
    not_searched,
    replaced,
    settings_changed,
    unlisted,
    without_vectors,
)
from memcli.types import Skip, shown

if TYPE_CHECKING:
    from typing import Any

    from memcli.api.sync import RunResult
    from memcli.cli.command_context import CommandContext
    from memcli.cli.terminal import Terminal
    from memcli.embedding.encoders import OpenedEncoder
    from memcli.indexing.comparison import IndexComparison
    from memcli.indexing.indexer import Report
    from memcli.store.run_records import Orphan

SHOWN_SKIPS = 5  # that are named without -v


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
    from memcli.record import plain

    record: dict[str, Any] = plain(run_record(done, command.workspace))
    if not done.borrowed:
        del record["vectors_reused"]
    return record


def _warn(report: Report, terminal: Terminal) -> None:
    for reason in report.left:
        terminal.advise(reason)
    for folder in report.unlisted:
        terminal.advise(unlisted(folder))
    for path in report.damaged:
        terminal.advise(replaced(path))
    told = [skip for skip in report.skips if terminal.verbose or skip.reason != "ignored"]
    if terminal.verbose or len(told) <= SHOWN_SKIPS:
        for skip in told:
            terminal.advise(skipped(skip))
    else:
        terminal.warn(f"skipped {len(told)} files; memcli status lists them")


def skipped(skip: Skip) -> Reason:
    """Return the message for a skipped file."""
    if skip.reason == "too-large":
        return not_searched(skip)
    detail = f" ({skip.detail})" if skip.detail else ""
    return Reason(skip.reason, f"skipped {shown(skip.source, skip.path)}: {skip.reason}{detail}")


def _summary(done: RunResult) -> str:
    report, pending = done.report, done.pending
    counts = [
        (len(report.added), "added"),
        (len(report.changed), "changed"),
        (len(report.moved), "moved"),
        (len(report.removed), "removed"),
        (report.unchanged, "unchanged"),
    ]
    files = ", ".join(f"{number} {word}" for number, word in counts if number) or "no files"
    waiting = "1 text waits" if pending == 1 else f"{pending} texts wait"
    tail = f", {waiting} for a vector" if pending else ""
    made = f"{_of(done.chunks, 'chunk')}, {_of(done.embedded, 'text')} embedded"
    borrowed = f", {_of(done.borrowed, 'vector')} reused" if done.borrowed else ""
    return f"Indexed: {files}; {made}{borrowed}{tail}."


def change_names(changes: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Name the files of `changes` for a person, kind by kind."""
    moved = [f"{pair['from']} -> {pair['to']}" for pair in changes["moved"]]
    named = {**changes, "moved": moved}
    return [(what, named[what]) for what in ("added", "changed", "reindexed", "moved", "removed")]


def write_plan(comparison: IndexComparison, terminal: Terminal, *, as_json: bool) -> dict[str, Any]:
    """Print what a run would do unless `as_json`, and return its record."""
    from memcli.api.status import planned
    from memcli.record import plain

    plan = plain(planned(comparison))
    if not as_json:
        for what, names in change_names(plan):
            for name in names:
                terminal.write(f"{what:<9} {terminal.safe_line(name)}\n")
    terminal.flush()
    if not as_json and not any(plan.values()):
        terminal.say("No file would be indexed or removed.")
    for left in comparison.left:
        terminal.advise(left)
    for folder in comparison.listing.unlisted:
        terminal.advise(unlisted(folder))
    reason = settings_changed(comparison)
    if reason is not None:
        terminal.advise(reason)
    return {"schema": "memcli.index-plan/1", **plan}


def write_orphans(
    orphans: Sequence[tuple[Orphan, str]], terminal: Terminal, *, applied: bool, as_json: bool
) -> dict[str, Any]:
    """Print the indexes of folders that are gone, and return their record.

    Each comes with the reason why it could not be deleted, if there is one.
    """
    done = "deleted" if applied else "would delete"
    for orphan, why in orphans:
        if why:
            terminal.warn(why)
        elif not as_json:
            name = terminal.safe_line(orphan.workspace or "a folder that it does not name")
            terminal.write(f"{done}  {orphan.bytes / 1e6:.1f} MB of {name}\n")
    terminal.flush()
    count = "1 index" if len(orphans) == 1 else f"{len(orphans)} indexes"
    size = sum(orphan.bytes for orphan, why in orphans if not why) / 1e6
    if not as_json and not orphans:
        terminal.say("Every index belongs to a folder that exists.")
    elif not as_json and not applied:
        terminal.say(f"{count}, {size:.1f} MB. Delete: memcli index --clean --apply")
    return {
        "schema": "memcli.index-clean/1",
        "applied": applied,
        "indexes": [
            {
                "path": orphan.path,
                "workspace": orphan.workspace or None,
                "bytes": orphan.bytes,
                "kept_because": why or None,
            }
            for orphan, why in orphans
        ],
    }


def _of(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count} {noun}s"
