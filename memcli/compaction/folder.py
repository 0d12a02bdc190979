"""The shell of compaction: read logs and summaries, write summaries, remove them again.

It writes only new files in the folder of summaries and removes only sealed ones. A file appears
whole or not at all, so a killed run leaves fewer summaries, never half a one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from memcli.compaction.draft import Draft
from memcli.compaction.records import Log
from memcli.compaction.summaries import Summary, judged
from memcli.errors import NotFoundError, UsageError
from memcli.indexing.document import document_or_skip
from memcli.indexing.planning import Settings
from memcli.indexing.planning import read as read_document
from memcli.types import MEMORY_SOURCE, Document, FileText, Lineage, Skip, Source
from memcli.workspace import openat
from memcli.workspace.discover import discover

# Hidden, so that no index ever lists it.
_TEMPORARY = ".memcli-writing-"


class Found(NamedTuple):
    """What the memory holds for compaction."""

    logs: tuple[Log, ...]
    summaries: tuple[Summary, ...]
    skips: tuple[Skip, ...]


def read(settings: Settings) -> Found:
    """Read the dated logs of the memory and the summaries made of them."""
    source = memory(settings)
    listing = discover(
        (source,), max_bytes=settings.max_bytes, follow_symlinks=settings.follow_symlinks
    )
    logs: list[Log] = []
    files: dict[str, tuple[str, ...]] = {}
    summaries: list[tuple[str, str, Lineage]] = []
    skips: list[Skip] = list(listing.unlisted)
    for stat in listing.files:
        file = read_document(settings, stat)
        if isinstance(file, Skip):
            skips.append(file)
            continue
        document = document_or_skip(file, source, settings.limits)
        if isinstance(document, Skip):
            skips.append(document)
            continue
        lines = tuple(file.text.split("\n"))
        files[stat.path] = lines
        if document.lineage is not None:
            summaries.append((stat.path, file.text, document.lineage))
        elif _is_log(document, file):
            logs.append(Log(stat.path, document.title, document.date or "", lines))
    return Found(tuple(logs), tuple(judged(summaries, files)), tuple(skips))


def memory(settings: Settings) -> Source:
    """Give the source whose logs are compacted."""
    return next(source for source in settings.sources if source.name == MEMORY_SOURCE)


def _is_log(document: Document, file: FileText) -> bool:
    """Tell a session log from what is never compacted, such as a name that no line can cite."""
    return (
        document.date is not None
        and document.kind == "log"
        and document.scope == "session"
        and document.trust == "trusted"
        and not document.always
        and not file.damaged
        and file.stat.path.isprintable()
        and " (" not in file.stat.path
    )


def folder_of(root: str) -> str:
    """Name the folder of summaries, with a slash, relative to the workspace."""
    return "memory/summaries/" if os.path.isdir(os.path.join(root, "memory")) else "summaries/"


def write(root: str, drafts: Sequence[Draft]) -> None:
    """Write drafts, each at once and never over another file."""
    if not drafts:
        return
    with _opened(root, folder_of(root), make=True) as folder:
        _sweep(folder)
        for draft in drafts:
            name = os.path.basename(draft.path)
            temporary = _TEMPORARY + name
            with open(openat.create_file(folder, temporary), "wb") as file:
                file.write(draft.text.encode("utf-8", "surrogatepass"))
                file.flush()
                os.fsync(file.fileno())
            try:
                openat.rename_new(folder, temporary, name)
            except FileExistsError:
                openat.remove(folder, temporary)
                raise UsageError(
                    f"{draft.path} exists and is no summary; it is left as it is",
                    hint="move it elsewhere, then run memcli compact --apply again",
                ) from None


def remove(root: str, paths: Sequence[str]) -> None:
    """Remove summaries, and their folder when nothing else is in it."""
    for path in paths:
        above, _, name = path.rpartition("/")
        with suppress(FileNotFoundError), _opened(root, above) as folder:
            openat.remove(folder, name)
    path = folder_of(root)
    with suppress(FileNotFoundError), _opened(root, path) as folder:
        _sweep(folder)
    above, _, name = path.strip("/").rpartition("/")
    with suppress(OSError), _opened(root, above) as folder:  # one that holds anything stays
        openat.remove_folder(folder, name)


def _sweep(folder: int | str) -> None:
    """Remove what a killed run was writing."""
    for name in os.listdir(folder):
        if name.startswith(_TEMPORARY):
            openat.remove(folder, name)


@contextmanager
def _opened(root: str, folder: str, *, make: bool = False) -> Iterator[int | str]:
    """Open a folder of the workspace; no link on the way, since it may lead outside.

    What is done in it stays in it, even where somebody puts a link in its place meanwhile.
    """
    handle = openat.open_root(root)
    try:
        path = root
        for name in filter(None, folder.strip("/").split("/")):
            path = os.path.join(path, name)
            try:
                child = (openat.make_folder if make else openat.open_folder)(handle, name)
            except FileNotFoundError:
                raise
            except OSError as error:
                if not os.path.islink(path):
                    raise
                raise NotFoundError(
                    f"{path} is a link; summaries are written inside the workspace only",
                    hint="replace the link by a folder",
                ) from error
            openat.close(handle)
            handle = child
        yield handle
    finally:
        openat.close(handle)
