"""Look up the lines that summaries rest on, in the files that have changed since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcli.indexing.planning import Settings, read
from memcli.markdown.lineage import holds
from memcli.types import MEMORY_SOURCE, Skip, SourceLines

if TYPE_CHECKING:
    from memcli.store.sqlite.writer import Writer


def check_lineage(writer: Writer, settings: Settings) -> None:
    """Note for every line of lineage in a changed file whether it is as it was."""
    waiting: dict[str, list[SourceLines]] = {}
    for lines in writer.unchecked():
        waiting.setdefault(lines.path, []).append(lines)
    for path in sorted(waiting):
        file = read(settings, MEMORY_SOURCE, path)
        if not isinstance(file, Skip):
            text = file.text.split("\n")
            held = [lines for lines in waiting[path] if holds(lines, text)]
            writer.check(path, file.hash, held)
