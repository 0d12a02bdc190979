"""`memcli status`: compare the files with the index, and explain the differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from memcli.checking import Any
from memcli.cli.command_context import CommandContext, command_context, each_workspace, timed
from memcli.cli.commands.index_command import change_names
from memcli.cli.options import JSON, SEVERAL, Option, Options
from memcli.cli.terminal import folded
from memcli.embedding.models import model_name
from memcli.errors import AwayError, ExitCode, IndexMissingError
from memcli.indexing.notices import remedy
from memcli.record import plain
from memcli.render.text import counted
from memcli.types import MEMORY_SOURCE, NOT_INDEXED, OUT_OF_DATE, REMOTE, UP_TO_DATE, shown
from memcli.workspace.locate import ENV_NAME

OPTIONS = (
    Option("--check", "Exit 1 if the index is out of date."),
    Option("--deep", "Also run the model and check the index file."),
    JSON, *SEVERAL,
)  # fmt: skip


def run(options: Options) -> int:
    """Show what is indexed and what is out of date, with reasons.

    Examples: memcli status      memcli status --check --json
    """
    command = command_context(options)
    with timed(command):
        if command.memory.members:
            failed = ExitCode.NEGATIVE if options.check else ExitCode.OK
            return each_workspace(
                command, lambda one: show(one, options, named=True),
                what="status", as_json=options.json, failed=failed,
            )  # fmt: skip
        record, code = show(command, options)
    if options.json:
        command.terminal.write_json(record)
    return code


def show(
    command: CommandContext, options: Options, *, named: bool = False
) -> tuple[dict[str, Any], int]:
    """Compare files and index, and print the result unless only the record is wanted.

    Hints name the workspace if `named`.
    """
    from memcli.api.status import status as status_of

    status = status_of(command.workspace, deep=options.deep, is_named=named)
    fields = plain(status)
    if not options.json and not (options.check and command.terminal.quiet):
        write(fields, command)
    return fields, ExitCode.NEGATIVE if options.check and status.is_behind else ExitCode.OK


INDENT = 11  # columns of the word in front
SHOWN_SKIPS = 10
STATES = {UP_TO_DATE: "up to date", OUT_OF_DATE: "out of date"}
LONGEST_LOG_DAYS = 31  # the date of this month's log is the last day of the month


def write(record: dict[str, Any], command: CommandContext) -> None:
    """Write `memcli.status/1` for a person."""
    terminal = command.terminal
    for line in map(terminal.safe_line, _lines(record, command)):
        word, text = line[:INDENT], line[INDENT:]
        parts = folded(text, terminal.width - INDENT) if terminal.out_is_terminal else [text]
        for part in parts:
            terminal.write(f"{word}{part}\n")
            word = " " * INDENT


def workspace_origin(by: str) -> str:
    """Return how a workspace was found."""
    if by.startswith("-") or by == ENV_NAME:
        return f"named by {by}"
    return f"marked by {by}" if by else "not marked; memcli init marks it"


def _watcher_line(watcher: dict[str, Any]) -> str:
    since = f" since {watcher['since']}" if watcher["since"] else ""
    synced = f", last sync {watcher['last_sync']}" if watcher["last_sync"] else ", no sync yet"
    mode = ", polling" if watcher["mode"] == "polling" else ""
    return f"watcher    pid {watcher['pid']}{since}{synced}, backlog {watcher['backlog']}{mode}"


def _days(command: CommandContext) -> list[str]:
    """Draw the days covered, for a person."""
    if not command.terminal.out_is_terminal:
        return []
    from memcli.render.dates import chart
    from memcli.store.documents import documents_by_day
    from memcli.store.records import Scope

    days: Mapping[str, int] = {}
    with suppress(IndexMissingError, AwayError), command.workspace.store.snapshot() as snapshot:
        days = documents_by_day(snapshot.documents(Scope()))
    if not days:
        return []
    columns = max(1, command.terminal.width - INDENT - 2 * len("2025-01-01 "))
    return [f"days       {min(days)} {chart(days, columns)} {max(days)}"]


def _state(record: dict[str, Any], command: CommandContext) -> str:
    state: str = record["state"]
    if state == REMOTE and (stored := command.workspace.provenance()):
        return stored.text
    if state == NOT_INDEXED:
        return "not built yet"
    text, vectors = STATES.get(state, state), record["vectors"]
    if state == UP_TO_DATE and record["unlisted"]:
        text += " as far as files can be read"
    if state == UP_TO_DATE and vectors["pending"] and vectors["encoder"] != "none":
        text += ", except for vectors"
    return text


def _size(store: dict[str, Any]) -> str:
    """Write how large the index is, and the vectors that other folders use too."""
    if not store["bytes"]:
        return ""
    shared = store["shared_bytes"]
    more = f", and {shared / 1e6:.1f} MB of vectors that all workspaces share" if shared else ""
    return f" ({store['bytes'] / 1e6:.1f} MB{more})"


def _dates(first: str | None, last: str | None, command: CommandContext) -> str:
    if first is None or last is None:
        return ""
    is_ahead = command.age_days(last) < -LONGEST_LOG_DAYS
    return f", {' to '.join(dict.fromkeys((first, last)))}{' (to come)' if is_ahead else ''}"


def _sources(record: dict[str, Any], command: CommandContext) -> Iterator[str]:
    skips = ((skip["source"], skip["path"]) for skip in record["skipped"])
    # With a folder that cannot be listed.
    away = {name for name, path in skips if shown(name, path or ".") in record["unlisted"]}
    for source in record["sources"]:
        dates = _dates(source["first_date"], source["last_date"], command)
        there = f"{source['documents']} of {source['files']} files"
        if (removed := source["documents"] - source["files"]) > 0:
            there = f"{counted(source['files'], 'file')}, {removed} removed since"
        if source["name"] in away:  # their indexed documents stay
            there = f"{source['documents']} files, {source['files']} of them readable now"
        if record["state"] == REMOTE:
            there = counted(source["documents"], "document")
        is_elsewhere = source["path"] and source["name"] != MEMORY_SOURCE
        where = f", in {source['path']}" if is_elsewhere else ""
        there += f", {counted(source['chunks'], 'chunk')}"
        yield f"source     {source['name']}: {there}{dates}{where}"


def _lines(record: dict[str, Any], command: CommandContext) -> list[str]:
    store, vectors = record["store"], record["vectors"]
    lines = [
        f"workspace  {record['workspace']} ({workspace_origin(record['workspace_origin'])})",
        f"index      {store['path']}{_size(store)}, {_state(record, command)}",
    ]
    if store["writer_pid"] is not None:
        lines.append(f"writer     pid {store['writer_pid']}")
    if record["watcher"] is not None:
        lines.append(_watcher_line(record["watcher"]))
    if store["integrity"] is not None:
        lines.append(f"integrity  {store['integrity']}")
    lines += _sources(record, command)
    if any(record["summaries"].values()):
        states = ((state.replace("_", " "), n) for state, n in record["summaries"].items() if n)
        lines.append(f"summaries  {', '.join(f'{n} {state}' for state, n in states)}")
    lines.append(
        f"vectors    {vectors['embedded']} of {vectors['segments']} segments, "
        + (f"{vectors['omitted']} in scripts it cannot read, " if vectors["omitted"] else "")
        + vectors["encoder"]
        + (f" ({model_name(vectors['fingerprint'])})" if vectors["fingerprint"] else "")
        + ("" if vectors["exact"] else ", searched by coarse codes, the best rescored")
    )
    lines += _days(command)
    for what, names in change_names(record["changes"]):
        lines += [f"{what:<10} {name}" for name in names[:SHOWN_SKIPS]]
        if len(names) > SHOWN_SKIPS:
            lines.append(f"{what:<10} and {len(names) - SHOWN_SKIPS} more")
    skips = record["skipped"]
    most = len(skips) if command.terminal.verbose else SHOWN_SKIPS
    for skip in skips[:most]:
        detail = f" ({skip['detail']})" if skip["detail"] else ""
        name = shown(skip["source"], skip["path"])
        change = f"; {remedy(skip['detail'])}" if skip["reason"] == "too-large" else ""
        lines.append(f"skipped    {name}: {skip['reason']}{detail}{change}")
    if len(skips) > most:
        lines.append(f"skipped    and {len(skips) - most} more; memcli status -v lists them")
    lines += [f"warning    {warning}" for warning in record["warnings"]]
    return lines
