"""Look up the lines that summaries rest on, in the files that have changed since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcli.indexing.planning import Settings, read
from memcli.markdown.lineage import holds
from memcli.types import MEMORY_SOURCE, Skip, SourceLines

if TYPE_CHECKING:
    from memcli.store.port import Change


def check_lineage(change: Change, settings: Settings) -> None:
    """Note for every line of lineage in a changed file whether it is as it was."""
    waiting: dict[str, list[SourceLines]] = {}
    for lines in change.unchecked():
        waiting.setdefault(lines.path, []).append(lines)
    for path in sorted(waiting):
        file = read(settings, MEMORY_SOURCE, path)
        if not isinstance(file, Skip):
            text = file.text.split("\n")
            held = [lines for lines in waiting[path] if holds(lines, text)]
            change.check(path, file.hash, held)
