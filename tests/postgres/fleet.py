"""Let a fleet work on one shared index while its clients and servers are killed.

    python -m tests.postgres.fleet [--seconds N]

A primary and a standby that has what was acknowledged; 200 workspaces, 16 writing processes and 32
searching threads. Writers are killed again and again, the primary is killed and comes back, and
last it is killed for good and the standby is promoted. A workspace is a function of how many
changes it has seen: each answer is compared with that, and in the end with the answers of an index
in a file. What was acknowledged and is not there is lost, what was never written is wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from memcli.errors import MemcliError
from memcli.store.open import store_at
from memcli.store.port import Change, Snapshot, Store
from memcli.store.postgres.address import Address
from memcli.store.postgres.admin import attach
from memcli.store.postgres.session import Name
from memcli.store.postgres.store import PostgresSharedIndex, PostgresStore
from memcli.store.records import Scope
from memcli.store.union import Union
from memcli.types import Excerpt, Term, TermQuery
from tests.postgres.server import Server, set_up
from tests.store.contract.makers import Clock, ask, changing, embed, put, search_by
from tests.store.contract.test_same_answers import Tree

DATABASE, TENANT, ORIGIN = "fleet", "fleet", "this machine"
PATHS = 12  # documents of a workspace: each change puts one and may remove another
WAIT_SECONDS = 60.0  # for whoever writes, and for all to go on after a fault
ONE_IN = 25  # questions that go to all workspaces
PAUSE = 0.02  # of a searcher between questions, so that writers have a share of the machine


class Size(NamedTuple):
    """How much of everything there is."""

    workspaces: int = 200
    writers: int = 16
    searchers: int = 32


SMALL = Size(6, 2, 3)


class Report(NamedTuple):
    """What became of it."""

    changes: int
    searches: int
    kills: int
    failed: int  # questions that a fault has ended, with an error that says so
    lost: list[str]
    wrong: list[str]
    longest_change: float  # seconds, retries included
    longest_search: float
    longest_fault: float  # from a fault until somebody's next change is acknowledged


def removed(number: int) -> int:
    return (number * 7 + 3) % PATHS


def text_of(workspace: int, number: int) -> str:
    """Write what a change puts."""
    return (
        f"# Mark {workspace}\n\nmark w{workspace}n{number} fox{number % 5} the pool ran dry\n\n"
        f"## More\n\nmark w{workspace}n{number} train{number % 3}\n"
    )


def path_of(place: int) -> str:
    return f"memory/2025-01-{place + 1:02}.md"


def state_of(workspace: int, changes: int) -> dict[str, str]:
    """Give the documents of a workspace that has seen so many changes."""
    found: dict[str, str] = {}
    for number in range(max(0, changes - 4 * PATHS), changes):
        if number % 3 == 0:
            found.pop(path_of(removed(number)), None)
        found[path_of(number % PATHS)] = text_of(workspace, number)
    return found


def do(store: Store, workspace: int, number: int) -> None:
    """Make one change: all of it is seen, or nothing."""
    with store.change(wait_seconds=WAIT_SECONDS, sleep=time.sleep) as change:
        with change.together():
            if number % 3 == 0:
                change.remove(("memory", path_of(removed(number))))
            put(change, path_of(number % PATHS), text_of(workspace, number))
        embed_all(change)


def embed_all(change: Change) -> None:
    """Give every text its vector, also those that a kill has left without one."""
    embed(change, Tree())
    if change.facts.fingerprint is None:
        search_by(change, Tree())


def opened(url: str, folder: Path, workspace: int) -> PostgresStore:
    clock, name = Clock(), Name(TENANT, f"w{workspace}")
    local = store_at(str(folder / str(workspace) / "i.sqlite"), clock)
    return PostgresStore(Address(url), name, local, clock, origin=ORIGIN)


def write(url: str, folder: Path, begin: Mapping[int, int], seed: int) -> None:
    """Change workspaces without an end; say of each change that it is done."""
    chosen, done = random.Random(seed), dict(begin)
    stores = {workspace: opened(url, folder, workspace) for workspace in done}
    while True:
        workspace = chosen.choice([*done])
        begun = time.monotonic()
        while True:
            try:
                do(stores[workspace], workspace, done[workspace])
                break
            except MemcliError as error:
                if time.monotonic() - begun > 2 * WAIT_SECONDS:
                    raise
                sys.stderr.write(f"{error.message}\n")
                time.sleep(0.05)
            finally:
                stores[workspace].close()  # else each would keep a connection
        done[workspace] += 1
        took = time.monotonic() - begun
        sys.stdout.write(json.dumps([workspace, done[workspace], took]) + "\n")
        sys.stdout.flush()


def answers(snapshot: Snapshot, text: str) -> list[tuple[str, float, str]]:
    """Answer a question: places, scores and texts."""
    found = ask(snapshot, text, encoder=Tree()).passages
    return [(passage.about.citation, passage.score, passage.text) for passage in found]


def having(snapshot: Snapshot, word: str) -> Collection[Excerpt]:
    """Read every chunk that holds a word."""
    ranked = snapshot.by_keyword(TermQuery(any=(Term(word),)), 1000, Scope())
    return snapshot.excerpts([each.chunk_id for each in ranked]).values()


def marks(text: str) -> list[tuple[int, int]]:
    """Read off a text which workspace and which change has put it."""
    words = [word[1:] for word in text.split() if word.startswith("w") and word[1:2].isdigit()]
    return [(int(a), int(b)) for a, _, b in (word.partition("n") for word in words)]


class Fleet:
    """Everything that runs, and what has come of it so far."""

    def __init__(self, size: Size, folder: Path, seed: int) -> None:
        """Start two servers and make the workspaces."""
        self._size, self._folder, self._chosen = size, folder, random.Random(seed)
        self.done = dict.fromkeys(range(size.workspaces), 0)
        self.searches = self.failed = self.kills = self.changes = 0
        self.lost: list[str] = []
        self.wrong: list[str] = []
        self.longest_change = self.longest_search = self.longest_fault = 0.0
        self._guard, self._over = threading.Lock(), threading.Event()
        self._errors = (folder / "errors").open("a")
        self._heard: list[threading.Thread] = []
        self.primary = Server()
        self.primary.sql(f"create database {DATABASE}")
        set_up(self.primary, DATABASE)
        self.standby = Server({"wal_retrieve_retry_interval": "200ms"}, standby_of=self.primary)
        # What is acknowledged is on the standby, and is seen there.
        self.primary.sql(f"alter database {DATABASE} set synchronous_commit = remote_apply")
        self.primary.sql("alter system set synchronous_standby_names = '*'")
        self.primary.sql("select pg_reload_conf()")
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in (self.primary, self.standby))
        self.url = f"postgresql://agent@{hosts}/{DATABASE}"
        for workspace in self.done:
            attach(Address(self.url), Name(TENANT, f"w{workspace}"), ORIGIN, take_over=False)
        self._writers = [self._writer(turn) for turn in range(size.writers)]
        self._searchers = [
            threading.Thread(target=self._search, args=(turn,), daemon=True)
            for turn in range(size.searchers)
        ]
        for thread in self._searchers:
            thread.start()

    def _writer(self, turn: int) -> subprocess.Popen[str]:
        """Start a writer of some of the workspaces, where the one before was seen last."""
        own = {w: n for w, n in self.done.items() if w % self._size.writers == turn}
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.postgres.fleet", "--write", self.url, str(self._folder),
             json.dumps(own), str(self._chosen.randrange(1 << 30))],
            stdout=subprocess.PIPE, text=True,
            stderr=self._errors,
        )  # fmt: skip
        heard = threading.Thread(target=self._hear, args=(child,), daemon=True)
        heard.start()
        self._heard.append(heard)
        return child

    def _hear(self, child: subprocess.Popen[str]) -> None:
        assert child.stdout
        with child.stdout as lines:
            for line in lines:
                with suppress(ValueError):  # of a line that a kill has cut
                    self._acknowledge(*json.loads(line))

    def _acknowledge(self, workspace: int, number: int, took: float) -> None:
        with self._guard:
            self.done[workspace] = max(self.done[workspace], number)
            self.changes += 1
            self.longest_change = max(self.longest_change, took)

    def _search(self, turn: int) -> None:
        chosen = random.Random(turn)
        stores: dict[int, PostgresStore] = {}
        nobody = opened(self.url, self._folder, -1 - turn)
        shared_index = PostgresSharedIndex(nobody.address, TENANT)
        while not self._over.wait(PAUSE):
            workspace = chosen.randrange(self._size.workspaces)
            store = stores.setdefault(workspace, opened(self.url, self._folder, workspace))
            begun, least = time.monotonic(), self.done[workspace]
            try:
                if chosen.randrange(ONE_IN):
                    self._ask(store, workspace, least, f"fox{chosen.randrange(5)} pool")
                else:
                    self._ask_all(shared_index, f"train{chosen.randrange(3)}")
            except MemcliError:
                self.failed += least > 0
                continue
            finally:
                store.close()
                self.longest_search = max(self.longest_search, time.monotonic() - begun)
            self.searches += 1
        shared_index.close()

    def _ask(self, store: Store, workspace: int, least: int, text: str) -> None:
        with store.snapshot() as snapshot:
            word = text.split()[0]
            held, matching = having(snapshot, "mark"), having(snapshot, word)
            found = answers(snapshot, text)
        seen = max((n + 1 for each in held for _, n in marks(each.text)), default=0)
        expected = state_of(workspace, seen)
        paths = {(each.about.path, n) for each in held for _, n in marks(each.text)}
        if paths != {(path, marks(text)[0][1]) for path, text in expected.items()}:
            self.wrong.append(f"w{workspace}: {sorted(paths)} after {seen} changes")
        if seen < least:
            self.lost.append(f"w{workspace}: change {least} was acknowledged, and {seen} seen")
        wanted = sorted(path for path, each in expected.items() if word in each)
        if sorted(each.about.path for each in matching) != wanted:
            self.wrong.append(f"w{workspace}: {word} is found in {len(matching)} documents")
        whole = "".join(expected.values())
        self.wrong += [f"w{workspace}: {passage}" for passage in found if passage[2] not in whole]
        if bool(found) != bool(expected):
            self.wrong.append(f"w{workspace}: {len(found)} passages of {len(expected)} documents")

    def _ask_all(self, shared_index: PostgresSharedIndex, text: str) -> None:
        with shared_index.snapshots() as (readers, ask_many):
            names = [name for name in readers if "/" in name]
            members = {name.partition("/")[2]: readers[name] for name in names}
            if members:
                found = answers(Union(members, has_own=False, ask_many=ask_many), text)
                for place, _, said in found:
                    ours = [text_of(*mark) for mark in marks(said)]
                    if not all(place.startswith(f"w{w}:") for w, _ in marks(said)) or not all(
                        line in text for text in ours for line in said.split("\n")
                    ):
                        self.wrong.append(f"all: {place} says {said!r}")

    def kill_a_writer(self) -> None:
        """Kill a writer in the middle of whatever it does; another one goes on."""
        turn = self._chosen.randrange(self._size.writers)
        child = self._writers[turn]
        child.send_signal(signal.SIGKILL)
        child.wait()
        self._writers[turn] = self._writer(turn)
        self._go_on()

    def kill_the_primary(self) -> None:
        """Kill the primary; it comes back."""
        self.primary.stop(signal.SIGKILL)
        self.primary.start()
        self._go_on()

    def promote(self) -> None:
        """Kill the primary for good, and let the standby take its place."""
        self.primary.stop(signal.SIGKILL)
        self.standby.sql("select pg_promote()")
        self._go_on()

    def _go_on(self) -> None:
        """Wait until a change is acknowledged that was not before."""
        self.kills += 1
        begun, before = time.monotonic(), self.changes
        while self.changes <= before + self._size.writers:
            if time.monotonic() - begun > 2 * WAIT_SECONDS:
                raise TimeoutError((self._folder / "errors").read_text()[-2000:])
            self._over.wait(PAUSE)
        self.longest_fault = max(self.longest_fault, time.monotonic() - begun)

    def stop(self) -> None:
        """End all that works, by its own number."""
        self._over.set()
        for child in self._writers:
            child.send_signal(signal.SIGKILL)
            child.wait()
        for thread in (*self._searchers, *self._heard):
            thread.join(WAIT_SECONDS)
        self._errors.close()

    def compare(self) -> None:
        """Compare every workspace with an index in a file that has the same documents."""
        for workspace, least in self.done.items():
            store = opened(self.url, self._folder, workspace)
            with suppress(MemcliError), store.change(wait_seconds=9, sleep=time.sleep) as change:
                embed_all(change)
            self._ask(store, workspace, least, "fox0 pool")
            with store.snapshot() as snapshot:
                texts = [each.text for each in having(snapshot, "mark")]
                fault = snapshot.integrity()
                found = [answers(snapshot, text) for text in ("fox1 pool", "train2 ran dry")]
            seen = max((n + 1 for text in texts for _, n in marks(text)), default=0)
            store.close()
            if fault != "ok":
                self.wrong.append(f"w{workspace}: {fault}")
            with tempfile.TemporaryDirectory() as name:
                local = store_at(str(Path(name) / "i.sqlite"), Clock())
                with changing(local) as change:
                    for path, text in state_of(workspace, seen).items():
                        put(change, path, text)
                    embed(change, Tree())
                    search_by(change, Tree())
                with local.snapshot() as snapshot:
                    there = [answers(snapshot, text) for text in ("fox1 pool", "train2 ran dry")]
                local.close()
            same = all(
                a[0] == b[0] and abs(a[1] - b[1]) < 1e-9
                for one, other in zip(found, there, strict=True)
                for a, b in zip(one, other, strict=True)
            )
            if not same:
                self.wrong.append(f"w{workspace}: {found} against {there}")

    def remove(self) -> None:
        self.standby.remove()
        self.primary.remove()


def run(seconds: float, size: Size, *, seed: int = 1) -> Report:
    """Let the fleet work, with faults in between; tell what became of it."""
    with tempfile.TemporaryDirectory() as name:
        fleet = Fleet(size, Path(name), seed)
        begun = time.monotonic()

        def until(part: float) -> None:
            """Kill writers until a part of the time is over."""
            while True:
                fleet.kill_a_writer()
                if time.monotonic() - begun > seconds * part:
                    return

        try:
            until(0.35)
            fleet.kill_the_primary()
            until(0.65)
            fleet.promote()
            until(1)
            fleet.stop()
            fleet.compare()
        finally:
            fleet.stop()
            fleet.remove()
        return Report(
            fleet.changes, fleet.searches, fleet.kills, fleet.failed, fleet.lost, fleet.wrong,
            fleet.longest_change, fleet.longest_search, fleet.longest_fault,
        )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--small", action="store_true", help="as the suite runs it")
    parser.add_argument("--write", nargs=4)
    given = parser.parse_args()
    if given.write:
        url, folder, begin, seed = given.write
        done = {int(workspace): number for workspace, number in json.loads(begin).items()}
        write(url, Path(folder), done, int(seed))
    report = run(given.seconds, SMALL if given.small else Size())
    for what, told in report._asdict().items():
        number = len(told) if isinstance(told, list) else round(told, 3)
        sys.stdout.write(f"{what}: {number}\n")
    for line in (*report.lost, *report.wrong)[:20]:
        sys.stdout.write(f"{line}\n")
    return 1 if report.lost or report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
