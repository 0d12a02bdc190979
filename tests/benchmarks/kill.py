"""Kill index runs at random moments and hold what is left against what was there.

    python -m tests.benchmarks.kill --kills 200 "index" "index --full"

After each kill: the file is sound, every document that was found before and still exists is
found, nothing that a reader has seen committed is lost. At the end of each round a plain run
completes, and every tenth time the index equals one built from nothing. Ends with 1 at the
first fault and keeps the folder.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from memcli.errors import MemcliError
from memcli.store.sqlite.driver import connect, rows
from tests.cli.processes import COMMAND
from tests.store_check import assert_sound, dump

WORDS = ("pool", "train", "fox", "coffee", "deploy", "river", "engine", "ledger", "harbour")
EVERY = "everywhere"  # a word of each document
REBUILT_EVERY = 10


class Run:
    """One workspace, its store and the processes that are killed on it."""

    def __init__(self, base: Path, seed: int, documents: int) -> None:
        self.random = random.Random(seed)
        self.root, self.store = base / "ws", base / "s" / "index.sqlite"
        self.environ = {
            **os.environ,
            "MEMCLI_STORE": str(self.store),
            "MEMCLI_EMBEDDING_ENCODER": "hashing",
            "MEMCLI_WORKSPACE": str(self.root),
            "XDG_CONFIG_HOME": str(base / "config"),
        }
        self.numbers = iter(range(10**6))
        for _ in range(documents):
            self.write(next(self.numbers))

    def write(self, number: int) -> None:
        lines = [" ".join(self.random.choices(WORDS, k=12)) for _ in range(30)]
        file = self.root / "memory" / f"{number % 7}" / f"note-{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# Note {number}\n\n{EVERY}\n\n" + "\n\n".join(lines) + "\n")

    def edit(self) -> None:
        """Change, add, move and remove a few files."""
        files = sorted(self.root.rglob("*.md"))
        for file in self.random.sample(files, min(15, len(files))):
            choice = self.random.random()
            if choice < 0.6:
                self.write(int(file.stem.removeprefix("note-")))
            elif choice < 0.8:
                self.write(next(self.numbers))
            else:
                file.unlink(missing_ok=True)

    def start(self, command: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*COMMAND, *shlex.split(command)],
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def complete(self, command: str) -> float:
        begun = time.perf_counter()
        process = self.start(command)
        output = process.communicate()
        if process.returncode:
            raise AssertionError(f"{command} ended with {process.returncode}: {output!r}")
        return time.perf_counter() - begun

    def found(self) -> set[str]:
        """Give the documents that a keyword search finds now, read beside any writer."""
        if not self.store.exists():
            return set()
        try:
            connection = connect(str(self.store), write=False).connection
        except MemcliError:
            return set()  # created, but no table yet
        try:
            if not rows(connection, "SELECT 1 FROM sqlite_master WHERE name = 'fts'"):
                return set()
            return {
                row[0]
                for row in rows(
                    connection,
                    "SELECT d.path FROM fts JOIN chunks c ON c.id = fts.rowid"
                    " JOIN documents d ON d.id = c.document_id WHERE fts MATCH ?",
                    (EVERY,),
                )
            }
        finally:
            connection.close()

    def existing(self) -> set[str]:
        return {file.relative_to(self.root).as_posix() for file in self.root.rglob("*.md")}

    def kill_once(self, command: str, usual_seconds: float) -> bool:
        """Edit, run, kill; tell whether the run was still going."""
        self.edit()
        committed = self.found()
        process = self.start(command)
        left = self.random.uniform(0.02, 1.1) * usual_seconds
        for share in (0.5, 0.5):
            try:
                process.wait(left * share)
            except subprocess.TimeoutExpired:
                committed |= self.found()
                if self.random.random() < 0.5:
                    self.edit()
        was_going = process.poll() is None
        process.send_signal(signal.SIGKILL)
        _, errors = process.communicate()
        if not was_going and process.returncode:
            raise AssertionError(f"{command} ended with {process.returncode}: {errors!r}")
        if self.store.exists() and self.found():
            assert_sound(str(self.store))
        # A document written again meanwhile may have been committed anew, never lost.
        lost = (committed & self.existing()) - self.found()
        assert not lost, f"{command}: lost {sorted(lost)}"
        return was_going

    def settle(self, *, compare: bool) -> None:
        """Complete a run; the index must then be what a build from nothing gives."""
        self.complete("index")
        assert self.found() == self.existing()
        assert_sound(str(self.store))
        if compare:
            other = self.store.with_name("other.sqlite")
            environ, self.environ = self.environ, {**self.environ, "MEMCLI_STORE": str(other)}
            self.complete("index")
            self.environ = environ
            assert dump(str(self.store)) == dump(str(other)), "not what a build from nothing gives"
            for file in self.store.parent.glob("other.sqlite*"):
                file.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commands", nargs="+", help="command lines of memcli, each one word")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--documents", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    base = Path(tempfile.mkdtemp(prefix="memcli-kill-"))
    run = Run(base, wanted.seed, wanted.documents)
    first = run.complete("index")
    # A run that never ends by itself (a watcher) is killed within twice the time of the first.
    usual = {c: 2 * first if "--watch" in c else run.complete(c) for c in wanted.commands}
    killed: Counter[str] = Counter()
    rounds = 0
    while killed.total() < wanted.kills:
        command = wanted.commands[rounds % len(wanted.commands)]
        if rounds % 9 == 0:  # now and then a first index
            shutil.rmtree(run.store.parent)
        killed[command] += run.kill_once(command, max(first, usual[command]))
        if run.random.random() < 0.5:  # often a killed run follows a killed run
            run.settle(compare=rounds % REBUILT_EVERY == 0)
        rounds += 1
        sys.stderr.write(f"\r{killed.total()} kills")
    run.settle(compare=True)
    run.complete("index --full")
    run.settle(compare=True)
    left = sorted(p.name for p in run.store.parent.iterdir())
    shutil.rmtree(base)
    sys.stdout.write(f"{killed.total()} kills in {rounds} rounds, seed {wanted.seed}: all sound\n")
    for command, number in sorted(killed.items()):
        sys.stdout.write(f"  {number:4} {command} (usually {usual[command]:.2f} s)\n")
    sys.stdout.write(f"left beside the index: {', '.join(left)}\n")


if __name__ == "__main__":
    main()
