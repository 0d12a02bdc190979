"""A workspace of the shared store whose files lie on another machine: read, and never written.

An answer says that it rests on what was stored, by whom and when: nobody here can tell whether
the files have changed since.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from memcli.api.memory import Memory
from memcli.api.opened import SYSTEM_CLOCK, Clock
from memcli.api.targets import Target, meant
from memcli.checking import TYPE_CHECKING
from memcli.config import settings as configured
from memcli.errors import Reason, UsageError
from memcli.indexing.freshness import Freshness
from memcli.store.open import named_store
from memcli.store.records import Reach
from memcli.types import FileStat, FileText, Source

if TYPE_CHECKING:
    from typing import Any

    from memcli.store.port import Snapshot

OPTION = "--workspace-name"
STATE = "remote"


class RemoteMemory(Memory):
    """A workspace without its files."""

    has_files = False

    def provenance(self) -> Reason:
        """Tell whose state is read."""
        with self.store.snapshot() as snapshot:
            told = snapshot.provenance()
        origin = f"by {told.origin}" if told.origin else "by a folder that is detached now"
        return Reason(STATE, f"as stored at revision {told.revision}, {told.changed_at}, {origin}")

    def without_files(self, *, sync: bool | None) -> Freshness:
        """Tell whose state an answer is of; UsageError where files are to be brought in."""
        if sync:
            raise UsageError(
                f"--sync reads files, and those of {self.config.workspace} are not here",
                hint=f"{OPTION} {self.config.workspace}",
            )
        return Freshness(STATE, 0, self.provenance(), ())

    def find(self, target: str, here: str | None) -> tuple[Target, FileText]:
        """Find a document among those that are stored, and put together what is stored of it.

        Lines that no chunk holds, blank ones and front matter, are empty.
        """
        with self.store.snapshot() as snapshot:
            found = meant(target, snapshot.known())
            return found, _text_of(found, snapshot)


def _text_of(found: Target, snapshot: Snapshot) -> FileText:
    lines: dict[int, str] = {}
    for excerpt in snapshot.excerpts_of([found.document], Reach()):
        first = excerpt.about.start_line
        lines |= dict(enumerate(excerpt.text.split("\n"), start=first))
    known = snapshot.known()[found.document]
    text = "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))
    stat = FileStat(*found.document, *known[1:5])
    return FileText(stat, known.hash, text, damaged=False)


def open_remote(
    name: str,
    *,
    settings: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> RemoteMemory:
    """Open a workspace of the shared store by its name there, as `team/ops`.

    ConfigError where no store is named, IndexMissingError where nothing is stored of it, or
    nothing that the user may read.
    """
    environ = os.environ if environ is None else environ
    place = configured.folder_of(f"{OPTION} {name}", environ)
    config = configured.load(place, environ, settings or {}, by=OPTION)
    store = named_store(config, name, place, clock.now_ns)
    with store.snapshot() as snapshot:
        sources = tuple(Source(each, "", ()) for each in snapshot.by_source())
    config = config._replace(workspace=name, sources=sources)
    return RemoteMemory(config, store, environ=environ, clock=clock)
