"""The shell of compaction: read logs and summaries, write summaries, remove them again.

It writes only new files in the folder of summaries and removes only sealed ones. A file appears
whole or not at all, so a killed run leaves fewer summaries, never half a one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from memcli.compaction.draft import Draft
from memcli.compaction.records import Log
from memcli.compaction.summaries import Summary, judged
from memcli.errors import NotFoundError, UsageError
from memcli.indexing.document import build_document
from memcli.indexing.indexer import Settings
from memcli.indexing.planning import read as read_document
from memcli.types import MEMORY_SOURCE, Document, FileText, Lineage, Skip, Source
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
        document = build_document(file, source, settings.limits)
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
    folder = _safe_folder(root, folder_of(root))
    os.makedirs(folder, exist_ok=True)
    _sweep(folder)
    for draft in drafts:
        target = os.path.join(root, *draft.path.split("/"))
        temporary = os.path.join(folder, _TEMPORARY + os.path.basename(target))
        with open(temporary, "xb") as file:
            file.write(draft.text.encode("utf-8", "surrogatepass"))
            file.flush()
            os.fsync(file.fileno())
        if os.path.lexists(target):
            os.remove(temporary)
            raise UsageError(
                f"{draft.path} exists and is no summary; it is left as it is",
                hint="move it elsewhere, then run memcli compact --apply again",
            )
        os.rename(temporary, target)


def remove(root: str, paths: Sequence[str]) -> None:
    """Remove summaries, and their folder when nothing else is in it."""
    folder = _safe_folder(root, folder_of(root))
    for path in paths:
        with suppress(FileNotFoundError):
            os.remove(os.path.join(root, *path.split("/")))
    if os.path.isdir(folder):
        _sweep(folder)
        if not os.listdir(folder):
            os.rmdir(folder)


def _sweep(folder: str) -> None:
    """Remove what a killed run was writing."""
    for name in os.listdir(folder):
        if name.startswith(_TEMPORARY):
            os.remove(os.path.join(folder, name))


def _safe_folder(root: str, folder: str) -> str:
    """Give the folder of summaries, refusing a link that may lead outside."""
    path = root
    for name in folder.strip("/").split("/"):
        path = os.path.join(path, name)
        if os.path.islink(path):
            raise NotFoundError(
                f"{path} is a link; summaries are written inside the workspace only",
                hint="replace the link by a folder",
            )
    return path
