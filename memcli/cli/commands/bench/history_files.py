"""The bounded folder of traces of `bench check`, next to the index, never inside the memory."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memcli.cli import side_files
from memcli.cli.command_context import CommandContext
from memcli.errors import UsageError

if TYPE_CHECKING:
    from memcli.bench.traces import CheckTrace


def folder_of(command: CommandContext) -> str:
    """Return the folder, which is next to the index file and named after it."""
    return f"{command.workspace.store.local}.bench"


def read(folder: str, command: CommandContext) -> list[CheckTrace]:
    """Read the traces, oldest first; one that cannot be read is named and passed over."""
    from memcli.bench import traces

    history: list[CheckTrace] = []
    for name in names(folder):
        path = os.path.join(folder, name)
        with suppress(UsageError):
            trace = traces.read(side_files.read_text(path, ""), traces.CheckTrace)
            if trace is not None:
                history.append(trace)
                continue
        command.terminal.warn(f"{path} is not a result of bench check and was skipped")
    return history


def names(folder: str) -> list[str]:
    """List the results files by time; their names are times in UTC."""
    try:
        with os.scandir(folder) as entries:
            return sorted(e.name for e in entries if e.name.endswith(".json") and e.is_file())
    except (FileNotFoundError, NotADirectoryError):
        return []


def path_of(folder: str, now: str) -> str:
    """Name the results file of a run; runs of one second are numbered."""
    moment = datetime.fromisoformat(now)
    with suppress(ValueError, OverflowError):  # no time zone, or the ends of the calendar
        moment = moment.astimezone(UTC)
    stem = moment.strftime("%Y%m%dT%H%M%SZ")
    taken = set(names(folder))
    free = (f"{stem}_{number:03}.json" for number in range(1000))
    return os.path.join(folder, next(name for name in free if name not in taken))


def add(folder: str, trace: CheckTrace) -> str:
    """Write a trace that only its owner can read, and drop the oldest above the bound."""
    from memcli.bench.history import surplus
    from memcli.bench.traces import encode
    from memcli.render.jsonio import dumps
    from memcli.workspace.atomic_write import write_whole

    path = path_of(folder, trace.now)
    try:
        write_whole(path, dumps(encode(trace)) + "\n")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}", hint="the same command again"
        ) from error
    with suppress(OSError):  # the next run drops them
        for name in surplus(names(folder)):
            os.unlink(os.path.join(folder, name))
    return path
