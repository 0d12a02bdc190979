"""The shell of compaction: read logs and summaries, write summaries, remove them again.

It writes only new files in the folder of summaries and removes only sealed ones. A file appears
whole or not at all, so a killed run leaves fewer summaries, never half a one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from stat import S_ISDIR

from memcli.compaction.draft import SummaryDraft
from memcli.compaction.entries import DatedLog
from memcli.compaction.summaries import Summary, judged
from memcli.errors import UsageError
from memcli.indexing.planning import Settings, make_document, plan
from memcli.indexing.planning import read as read_document
from memcli.markdown.lineage import FOLDERS, is_place, read_lineage
from memcli.markdown.parse import parse
from memcli.record import Record
from memcli.types import MEMORY_SOURCE, Document, FileText, KnownFile, Lineage, Skip, shown
from memcli.workspace import atomic_write, openat
from memcli.workspace.diff import ROOT
from memcli.workspace.locate import MEMORY_FOLDER
from memcli.workspace.writing import explained, opened

_explained = partial(explained, what="summaries", instead="replace the link by a folder")


class Holdings(Record):
    """The logs and summaries of a memory."""

    logs: tuple[DatedLog, ...]
    summaries: tuple[Summary, ...]
    skips: tuple[Skip, ...]

    @property
    def unread(self) -> tuple[Skip, ...]:
        """List files that are or may contain summaries and could not be read."""
        return tuple(skip for skip in self.skips if _hides_summaries(skip.path))


def read(
    settings: Settings, known: Mapping[tuple[str, str], KnownFile], mounts: str | None
) -> Holdings:
    """Read the dated logs of the memory and their summaries.

    All sources are listed, because a file that an inner source also has is not the memory's: its
    trust differs. `known` and `mounts` come from the index; they show that a folder is missing.
    """
    planned = plan(settings, known, mounts)
    listing = planned.listing
    logs: list[DatedLog] = []
    files: dict[str, tuple[str, ...]] = {}
    summaries: list[tuple[str, str, Lineage]] = []
    # A file that is left out on purpose is not missed, except a summary.
    missed = (s for s in listing.skips if s.reason != "ignored" or f"{s.path}/" in FOLDERS)
    skips = [skip for skip in (*listing.unlisted, *missed) if skip.source == MEMORY_SOURCE]
    skips += _vanished(settings, planned.diff.removed)
    for stat in listing.files:
        if stat.source != MEMORY_SOURCE:
            continue
        file = read_document(settings, stat.source, stat.path)
        if isinstance(file, Skip):
            skips.append(file)
            continue
        document = make_document(settings, file)
        if isinstance(document, Skip):
            skips.append(document)
            continue
        lines = tuple(file.text.split("\n"))
        files[stat.path] = lines
        if document.lineage is not None:
            summaries.append((stat.path, file.text, document.lineage))
        elif _is_log(document, file):
            fields = document.title, document.date or "", lines, document.first_day
            logs.append(DatedLog(stat.path, *fields))
    return Holdings(tuple(logs), tuple(judged(summaries, files)), tuple(skips))


def summaries_among(settings: Settings, paths: Sequence[str]) -> list[Summary]:
    """Judge the summaries among the files of the memory; of the others only their logs are read."""
    files = _Lines(settings, paths)
    summaries = []
    for path in filter(is_place, paths):
        file = read_document(settings, MEMORY_SOURCE, path)
        lineage = None if isinstance(file, Skip) else read_lineage(parse(file.text).front_matter)
        if not isinstance(file, Skip) and lineage is not None:
            summaries.append((path, file.text, lineage))
    return judged(summaries, files)


class _Lines(dict[str, Sequence[str]]):
    """The lines of the files of the memory; each file is read once, when it is needed."""

    def __init__(self, settings: Settings, paths: Sequence[str]) -> None:
        super().__init__(dict.fromkeys(paths, ()))
        self._settings, self._unread = settings, set(paths)

    def __getitem__(self, path: str) -> Sequence[str]:
        if path in self._unread:
            self._unread.remove(path)
            file = read_document(self._settings, MEMORY_SOURCE, path)
            self[path] = () if isinstance(file, Skip) else file.text.split("\n")
        return super().__getitem__(path)


def _is_log(document: Document, file: FileText) -> bool:
    """Return whether a document is a session log that can be compacted and cited."""
    return (
        document.date is not None
        and document.kind == "log"
        and document.scope == "session"
        and document.trust == "trusted"
        and not document.always
        and not file.damaged
        and file.stat.path.isprintable()
        and " (" not in file.stat.path
        and shown(MEMORY_SOURCE, file.stat.path) == file.stat.path
    )


def _vanished(settings: Settings, removed: Iterable[tuple[str, str]]) -> list[Skip]:
    """Name the folder of the logs if the index has files in it and it does not exist."""
    below = f"{MEMORY_FOLDER}/"
    was_there = any(s == MEMORY_SOURCE and path.startswith(below) for s, path in removed)
    if not was_there or _has_memory(settings.source(MEMORY_SOURCE).root):
        return []
    why = "the folder is gone (memcli index takes note of it)"
    return [Skip(MEMORY_SOURCE, MEMORY_FOLDER, "unreadable", why)]


def _hides_summaries(path: str) -> bool:
    """Return whether a path is a folder of summaries, inside one, or above one."""
    if path in (ROOT, ""):
        return True
    return any(f"{path}/".startswith(name) or name.startswith(f"{path}/") for name in FOLDERS)


def folder_of(root: str) -> str:
    """Name the folder of summaries, with a slash, relative to the workspace."""
    return FOLDERS[0] if _has_memory(root) else FOLDERS[1]


def _has_memory(root: str) -> bool:
    """Return whether a workspace has a folder of logs; OSError if that is unknown."""
    try:
        return S_ISDIR(os.stat(os.path.join(root, MEMORY_FOLDER)).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def write(root: str, drafts: Sequence[SummaryDraft]) -> None:
    """Write drafts, each atomically and never over another file; UsageError if that fails."""
    if not drafts:
        with suppress(OSError), opened(root, folder_of(root)) as folder:
            atomic_write.sweep(folder)
        return
    place = os.path.dirname(drafts[0].path)
    with _explained(root, place), opened(root, place, makes=1) as folder:
        for draft in drafts:
            name = os.path.basename(draft.path)
            try:
                atomic_write.write(folder, name, draft.text.encode("utf-8", "surrogatepass"))
            except FileExistsError:
                raise UsageError(
                    f"{draft.path} exists and is not a summary, so memcli does not change it",
                    hint="move it elsewhere, then run memcli compact --apply again",
                ) from None


def remove(root: str, paths: Sequence[str]) -> None:
    """Remove summaries, and their folder if it is empty then; UsageError as for `write`."""
    place = folder_of(root)
    with _explained(root, place):
        for path in paths:
            above, _, name = path.rpartition("/")
            with suppress(FileNotFoundError), opened(root, above) as folder:
                openat.remove(folder, name)
    with suppress(OSError), opened(root, place) as folder:
        atomic_write.sweep(folder)
    above, _, name = place.strip("/").rpartition("/")
    with suppress(OSError), opened(root, above) as folder:  # a folder with anything in it stays
        openat.remove_folder(folder, name)
