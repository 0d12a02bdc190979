"""Count which documents are read and used, if `access.count` is set.

Each use appends one line to `<index>.access`: JSON, [source, path]. So the number of lines is the
revision of the counts, and memcli can count an earlier revision again. Documents are counted, not
lines, because lines move. Delete the file to start again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress

from memcli.checking import TYPE_CHECKING
from memcli.record import Record
from memcli.system import FILE_FLAGS

if TYPE_CHECKING:
    from memcli.api.workspace import Workspace
    from memcli.api.workspaces import Workspaces

ENDING = ".access"
MOST_BYTES = 64 * 1024 * 1024


class UsageCounts(Record):
    """The number of uses of each document, by (source, path), and of all."""

    counts: Mapping[tuple[str, str], int]
    revision: int


def note(workspace: Workspace, documents: Iterable[tuple[str, str]]) -> None:
    """Count one use of each document, if the file can be written."""
    if not workspace.config("access.count"):
        return
    # A newline first: it ends a line that was cut off when memcli was killed.
    lines = "".join(f"\n{json.dumps(document)}" for document in documents)
    path = workspace.store.state_path + ENDING
    with suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | FILE_FLAGS, 0o600)
        try:
            os.write(file, lines.encode())
        finally:
            os.close(file)


def uses(memory: Workspaces) -> UsageCounts:
    """Count the uses so far, or up to `accesses_at` of the workspace; none if uses are not counted.

    Several workspaces together have no counts.
    """
    if not memory.config("access.count") or memory.members:
        return UsageCounts({}, 0)
    try:
        with open(memory.lead.store.state_path + ENDING, "rb") as file:
            data = file.read(MOST_BYTES)
    except OSError:
        return UsageCounts({}, 0)
    counts: dict[tuple[str, str], int] = {}
    lines = [line for line in data.split(b"\n") if line][: memory.lead.accesses_at]
    for line in lines:
        with suppress(ValueError, TypeError, RecursionError):
            source, path = json.loads(line)
            if isinstance(source, str) and isinstance(path, str):
                counts[source, path] = counts.get((source, path), 0) + 1
    return UsageCounts(counts, len(lines))
