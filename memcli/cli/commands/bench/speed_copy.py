"""A temporary copy of the memory, or a made-up one, that a speed run may change."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from memcli.checking import TYPE_CHECKING
from memcli.cli.command_context import CommandContext
from memcli.cli.commands.bench import running
from memcli.errors import UsageError
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.store.port import Store

WARM_QUERIES = 20
SEED = 0
NO_MODEL = "(none)"  # the fingerprint of no vector: every text waits for one


class Place(Record):
    """A copy that may be changed: notes, their index, and the variables that lead there."""

    lock: int  # of the temporary folder; processes that work there inherit it
    notes: str
    store: str
    environ: Mapping[str, str]
    queries: Sequence[str]
    chosen: str  # a document that is changed


@contextmanager
def lay_out(command: CommandContext, documents: int | None) -> Iterator[Place]:
    """Lay out made-up notes, or a copy of the memory with its index, in a temporary folder."""
    from memcli.bench import synthetic
    from memcli.cli.commands.bench.temporary import sweep, temporary_folder

    if left := sweep():
        copies = "a copy" if left == 1 else f"{left} copies"
        command.terminal.warn(
            f"removed {copies} of notes that runs of bench speed left when killed"
        )
    with temporary_folder() as folder:
        notes, store = os.path.join(folder.path, "notes"), os.path.join(folder.path, "index")
        os.makedirs(os.path.join(notes, "memory"))
        environ = {**os.environ, "MEMCLI_STORE": store, "MEMCLI_WORKSPACE": notes}
        environ.pop("_MEMCLI_COMPLETE", None)
        queries: Sequence[str]
        if documents is not None:
            paths = []
            for path, text in synthetic.documents(documents, SEED):
                with open(os.path.join(notes, path), "w", encoding="utf-8") as file:
                    file.write(text)
                paths.append(path)
            queries = synthetic.queries(WARM_QUERIES, SEED)
        else:
            paths = _copy(command, notes, store)
            queries = _headings(notes, paths) or ["what was decided"]
        yield Place(folder.lock, notes, store, environ, queries, paths[0])


def _copy(command: CommandContext, notes: str, store: str) -> list[str]:
    """Copy the documents of the memory, its settings and its index; give those that are copied."""
    from shutil import copyfile

    from memcli.config.settings import WORKSPACE_FILE
    from memcli.indexing.planning import plan
    from memcli.types import MEMORY_SOURCE

    own = [source for source in command.config.sources if source.name == MEMORY_SOURCE]
    listing = plan(command.workspace.index_settings()._replace(sources=tuple(own)), {}).listing
    paths = [
        found.path for found in listing.files if _copied(command, own[0].root, found.path, notes)
    ]
    if not paths:
        raise UsageError(
            "there are no notes to measure", hint="memcli bench speed --documents 1000"
        )
    settings = os.path.join(command.config.workspace, WORKSPACE_FILE)
    if len(own) == len(command.config.sources) and os.path.isfile(settings):
        copyfile(settings, os.path.join(notes, WORKSPACE_FILE))
    with command.workspace.store.locked(
        wait_seconds=running.SYNC_WAIT_SECONDS, sleep=command.memory.clock.sleep
    ):
        command.workspace.store.copy_to(store)
    return paths


def _copied(command: CommandContext, root: str, path: str, notes: str) -> bool:
    """Copy a document; one that cannot be read is named and left out, as it is by index."""
    from memcli.workspace import openat

    try:
        with open(os.path.join(root, path), "rb") as document:
            text = document.read()
    except OSError as error:
        command.terminal.warn(f"{path} is left out: {openat.reason(error)}")
        return False
    target = os.path.join(notes, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as copy:
        copy.write(text)
    return True


def _headings(notes: str, paths: Sequence[str]) -> list[str]:
    """Take headings of the memory as texts to search for."""
    from functools import partial

    from memcli.indexing.document import made_or_skip
    from memcli.markdown.parse import parse
    from memcli.types import MEMORY_SOURCE, Skip

    found: list[str] = []
    for path in paths:
        with open(os.path.join(notes, path), encoding="utf-8", errors="replace") as file:
            parsed = made_or_skip(MEMORY_SOURCE, path, partial(parse, file.read()))
        if isinstance(parsed, Skip):
            continue
        titles = (block.title for block in parsed.blocks if block.kind == "heading")
        found += [title for title in titles if any(map(str.isalnum, title))]
        if len(found) >= WARM_QUERIES:
            break
    return found[:WARM_QUERIES]


def sample(store: Store, count: int, sleep: Callable[[float], None]) -> list[str]:
    """Take texts of an index as they are embedded."""
    from memcli.indexing.indexer import text_of

    with store.change(wait_seconds=running.SYNC_WAIT_SECONDS, sleep=sleep) as change:
        return [text_of(item) for item in change.pending(NO_MODEL, count)]
