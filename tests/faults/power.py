"""Cut the power at every step of a run, and let go on what a disk may have kept.

What was synced is there. Of what was not, each sector of a write, each change of a length, each
file that was made or deleted may be there or not, in whatever order it was done: that is all that
SQLite asks of a disk (https://sqlite.org/atomiccommit.html, section 2). Where a file became longer
and the bytes were lost, something else stands there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from functools import partial
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import apsw

from memcli.api.memory import Memory
from memcli.api.workspace import Workspace
from memcli.errors import DamagedError, MemcliError
from memcli.indexing.indexer import embed, index
from memcli.indexing.rebuild import rebuild
from memcli.store.port import Change
from memcli.store.run_records import AWAITED_SECONDS
from memcli.store.sqlite.driver import connect
from memcli.store.sqlite.reader import Reader
from memcli.store.sqlite.writer import Writer
from tests.faults.disk import Disk, Event
from tests.faults.verbs import VERBS, on_network
from tests.hashing import HashingEncoder
from tests.store_check import assert_sound, dump
from tests.support import FAR_FUTURE_NS

SECTOR = 512
ENCODER = HashingEncoder()
# What a disk may have kept of what was not synced: all, nothing, the later half, some sectors.
KEPT = ("all", "nothing", "the last", "some", "others")
STEPS = ("write", "sync", "truncate", "delete")
Files = Mapping[str, bytes]


class Loss(NamedTuple):
    """After how many events the power went, and what was kept."""

    event: int
    kept: str


class Platter:
    """What a disk has for sure, and what it was asked to write since."""

    def __init__(self, files: Files) -> None:
        """Begin with files that are there."""
        self.durable = {path: bytes(data) for path, data in files.items()}
        self.pending: list[Event] = []

    def take(self, event: Event) -> None:
        """Follow one event."""
        if event.operation != "sync":
            self.pending.append(event)
        if event.operation == "sync" or (event.operation == "delete" and event.syncs):
            own = [each for each in self.pending if each.path == event.path]
            self.pending = [each for each in self.pending if each.path != event.path]
            self.durable = _written(self.durable, own, lambda number: True, Random(0))

    def after(self, loss: Loss) -> dict[str, bytes]:
        """Give the files that somebody finds after the power went."""
        chance, half = Random(f"{loss.event} {loss.kept}"), len(self.pending) // 2
        keep = {
            "all": lambda number: True,
            "nothing": lambda number: False,
            "the last": lambda number: number >= half,
        }.get(loss.kept, lambda number: chance.random() < 0.5)
        return _written(self.durable, self.pending, keep, chance)


def _written(
    files: Files, events: list[Event], keep: Callable[[int], bool], chance: Random
) -> dict[str, bytes]:
    """Do what is kept of some events to files; of a file that was not made nothing is."""
    found = {path: bytearray(data) for path, data in files.items()}
    never_made: set[str] = set()
    for number, (operation, path, offset, data, _) in enumerate(events):
        if operation == "make":
            never_made.discard(path)
            if keep(number):
                found[path] = bytearray()
            else:
                never_made.add(path)
        elif path in never_made or path not in found:
            continue
        elif operation == "write":
            at = offset
            while at < offset + len(data):
                until = min(offset + len(data), (at // SECTOR + 1) * SECTOR)
                if keep(number):
                    _resize(found[path], max(len(found[path]), until), chance)
                    found[path][at:until] = data[at - offset : until - offset]
                at = until
        elif keep(number):
            if operation == "delete":
                del found[path]
            else:
                _resize(found[path], offset, chance)
    return {path: bytes(data) for path, data in found.items()}


def _resize(data: bytearray, size: int, chance: Random) -> None:
    """Cut off what is too much; what is missing is whatever the disk had there."""
    missing = size - len(data)
    if missing > 0:
        data += bytes(missing) if chance.random() < 0.5 else chance.randbytes(missing)
    del data[size:]


class Run(NamedTuple):
    """What is done while the power goes."""

    verb: str  # whose workspace it begins with
    do: Callable[[Writer, Workspace], object]


def _step(writer: Change, memory: Workspace) -> None:
    index(writer, memory.index_settings())
    embed(writer, ENCODER)


def _go_on(writer: Change, memory: Workspace) -> None:
    writer.drop_rebuild(awaited_seconds=AWAITED_SECONDS)
    _step(writer, memory)


def _anew(writer: Change, memory: Workspace) -> None:
    def embed_into(side: Change) -> None:
        embed(side, ENCODER)

    rebuild(writer, memory.index_settings(), embed_into=embed_into)


RUNS = {
    "index": Run("index", _step),
    "edit": Run("edit", _step),
    "full": Run("full", _anew),
    "begun": Run("begun", _go_on),
    "migrate": Run("migrate", _step),
    "prune": Run("prune", lambda writer, memory: writer.tidy(unused_days=0)),
}


class Blackout:
    """A run that was written down, to be cut off anywhere."""

    def __init__(self, run: Run, folder: Path, disk: Disk, *, network: bool) -> None:
        """Do it once, undisturbed; on a network mount the index has no write-ahead log."""
        base = folder / "place"
        base.mkdir(parents=True)
        self.store = os.environ["MEMCLI_STORE"]
        self._mount = partial(on_network, base) if network else nullcontext
        VERBS[run.verb].prepare(base)
        self.memory = Memory.open(base / "ws").workspaces.lead
        self._settled()
        self.before = self._files()
        disk.events = []
        writer = self._writer()
        with self._mount():
            run.do(writer, self.memory)
        writer.close()
        self.events, disk.events = disk.events, None
        self.events += [  # what memcli has removed itself
            Event("delete", path) for path in self._made() if not Path(path).exists()
        ]
        self.end = self._end()

    def _writer(self) -> Writer:
        with self._mount():
            return Writer(self.store, lambda: FAR_FUTURE_NS)

    def _settled(self) -> None:
        """Let no log be left of the preparations, nor the mode of another kind of mount."""
        if Path(self.store).exists():
            with self._mount():
                connect(self.store, write=True).connection.close()

    def _files(self) -> dict[str, bytes]:
        return {
            str(file): file.read_bytes()
            for file in Path(self.store).parent.glob("*")
            if not file.name.endswith(("-shm", ".lock"))
        }

    def _made(self) -> list[str]:
        last = {event.path: event.operation for event in self.events}
        return [path for path, operation in last.items() if operation != "delete"]

    def _end(self) -> dict[str, Any]:
        writer = self._writer()
        with self._mount():
            _step(writer, self.memory)
        notices = writer.notices
        writer.close()
        assert not notices, notices
        assert_sound(self.store)
        return dump(self.store)

    def losses(self, most: int | None = None) -> Iterator[tuple[Loss, dict[str, bytes]]]:
        """Give each loss that leaves other files than those before, or so many of them."""
        platter, seen = Platter(self.before), set[bytes]()
        steps = [n for n, event in enumerate(self.events) if event.operation in STEPS]
        wanted = set(steps)
        if most is not None:
            each = max(1, most // len(KEPT))
            wanted = {steps[at * len(steps) // each] for at in range(min(each, len(steps)))}
        for number, event in enumerate(self.events):
            platter.take(event)
            if number not in wanted:
                continue
            for kept in KEPT:
                loss = Loss(number, kept)
                files = platter.after(loss)
                digest = blake2b(repr(sorted(files.items())).encode()).digest()
                if digest not in seen:
                    seen.add(digest)
                    yield loss, files

    def lay_out(self, files: Files) -> None:
        """Let there be what the disk has kept, and nothing else."""
        folder = Path(self.store).parent
        shutil.rmtree(folder)
        folder.mkdir(mode=0o700)
        for path, data in files.items():
            Path(path).write_bytes(data)
            Path(path).chmod(0o600)

    def findings(self, loss: Loss, files: Files) -> list[str]:
        """Give what should not be with what the disk has kept."""
        self.lay_out(files)
        return [f"event {loss.event}, {loss.kept} kept: {told}" for told in self._problems()]

    def _problems(self) -> Iterator[str]:
        try:
            reader = Reader(self.store)
            reader.known()
            reader.close()
        except DamagedError as error:
            yield f"damaged for a reader: {error}"
        except MemcliError as error:
            if not error.hint:
                yield f"no next command: {error}"
        except Exception as error:
            yield f"a reader fails: {error!r}"
        try:
            writer = self._writer()
            if [each for each in writer.notices if "was made by an older memcli" not in each]:
                yield f"not whole: {writer.notices}"
            if (told := writer.integrity()) != "ok":
                yield f"integrity: {told}"
            writer.close()
            assert_sound(self.store)
            if self._end() != self.end:
                yield "another state in the end"
        except (MemcliError, AssertionError, apsw.Error) as error:
            yield f"{type(error).__name__}: {str(error)[:300]}"
