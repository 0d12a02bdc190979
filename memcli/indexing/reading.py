"""Read one document as the settings of the index have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcli.types import FileStat, FileText, Skip, Source

if TYPE_CHECKING:
    from memcli.indexing.indexer import Settings


def read(settings: Settings, source: Source, stat: FileStat) -> FileText | Skip:
    """Read a listed file, or say why it cannot be read."""
    from memcli.workspace.reading import read_file

    return read_file(
        source.root,
        stat.path,
        source=source.name,
        max_bytes=settings.max_bytes,
        follow_symlinks=settings.follow_symlinks,
    )
