"""Measure how soon a watcher has the index in step, and what it costs while nothing happens.

    python -m tests.benchmarks.watch_speed [SCENARIO ...]

Each scenario changes a workspace under `memcli index --watch --encoder none` and waits until the
index holds exactly the bytes on disk. Seconds count from the end of the change, or from its
beginning where it goes on; the debounce is part of them. Needs Linux, git and `unshare`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from memcli.errors import MemcliError
from memcli.store.sqlite.reader import Reader

pause = threading.Event().wait
DEBOUNCE_SECONDS = 1.5
GIVE_UP_SECONDS = 60.0
COMMAND = (sys.executable, "-c", "from memcli.cli.main import main; main()")
LIMITED = ("unshare", "-Ur", "sh", "-c", 'echo 8 > /proc/sys/user/max_inotify_watches; exec "$@"')


class Bench:
    """A workspace, its store and a watcher over them."""

    def __init__(self, folder: Path, *, files: int = 50, limited: bool = False) -> None:
        self.root = folder / "notes"
        self.outside = folder / "outside"
        self.outside.mkdir(parents=True)
        self.store = folder / "store" / "index.sqlite"
        fill(self.root / "memory", files, "first")
        prefix = (*LIMITED, "sh") if limited else ()
        self.process = subprocess.Popen(
            [*prefix, *COMMAND, "index", "--watch", "--json", "--encoder", "none",
             "-w", str(self.root)],
            env={**os.environ, "MEMCLI_STORE": str(self.store)},
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.lines: list[dict[str, object]] = []
        self.hashes: dict[tuple[str, int, int, int], bytes] = {}
        self.read_until("synced")

    def read_until(self, event: str) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(json.loads(line))
            if self.lines[-1]["event"] == event:
                return
        raise SystemExit("the watcher ended")

    def differs(self) -> str:
        """Name one difference between the index and the disk; empty when there is none."""
        disk = {
            str(path.relative_to(self.root)): self.hash_of(path)
            for path in self.root.rglob("*.md")
            if ".git" not in path.parts
        }
        try:
            reader = Reader(str(self.store))
        except MemcliError as error:
            return error.message
        try:
            index = {path: row.hash for (_, path), row in reader.known().items()}
        finally:
            reader.close()
        wrong = sorted(p for p in disk.keys() | index.keys() if disk.get(p) != index.get(p))
        return wrong[0] if wrong else ""

    def hash_of(self, path: Path) -> bytes:
        status = path.stat()
        key = (str(path), status.st_size, status.st_mtime_ns, status.st_ino)
        if key not in self.hashes:
            self.hashes[key] = hashlib.sha256(path.read_bytes()).digest()
        return self.hashes[key]

    def seconds_to_step(self, since: float) -> float:
        while found := self.differs():
            if time.monotonic() - since > GIVE_UP_SECONDS:
                raise SystemExit(f"not in step after {GIVE_UP_SECONDS} s: {found}")
            pause(0.2)  # looking costs processor time that the watcher needs
        return time.monotonic() - since

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.stdout
        self.lines += [json.loads(line) for line in self.process.stdout]
        return self.process.wait()


def fill(folder: Path, files: int, word: str, *, folders: int = 1) -> None:
    for number in range(files):
        place = folder / f"d{number % folders}" if folders > 1 else folder
        place.mkdir(parents=True, exist_ok=True)
        text = f"# Note {number}\n\nThe {word} heron waits near the water, {number} times.\n"
        (place / f"{word}-{number}.md").write_text(text)


def save_atomically(path: Path, text: str) -> None:
    temporary = path.with_name(f"{path.name}.tmp~")
    temporary.write_text(text)
    temporary.rename(path)


def git(root: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-C", str(root), "-c", "user.name=n", "-c", "user.email=e@example.org",
         *arguments],
        check=True, capture_output=True,
    )  # fmt: skip


Scenario = Callable[[Bench], Iterator[tuple[str, float]]]


def burst(bench: Bench) -> Iterator[tuple[str, float]]:
    """1,000 new files, then all of them written again."""
    for word in ("written", "rewritten"):
        fill(bench.root / "memory" / "burst", 1000, "burst")
        for number in range(1000):
            with (bench.root / "memory" / "burst" / f"burst-{number}.md").open("a") as file:
                file.write(word)
        yield f"1,000 files {word}", bench.seconds_to_step(time.monotonic())


def atomic(bench: Bench) -> Iterator[tuple[str, float]]:
    """Saves as editors make them: a temporary file that takes the name."""
    for path in sorted((bench.root / "memory").glob("*.md")):
        save_atomically(path, f"# Saved\n\n{path.name} was saved atomically.\n")
    yield "50 atomic saves", bench.seconds_to_step(time.monotonic())
    path = bench.root / "memory" / "first-0.md"
    save_atomically(path, "# Saved\n\nonce more\n")
    yield "one atomic save", bench.seconds_to_step(time.monotonic())
    path.write_text("")
    pause(0.3)
    path.write_text("# Slow\n\nwritten after a pause\n")
    yield "a slow save (empty for 0.3 s)", bench.seconds_to_step(time.monotonic())


def checkout(bench: Bench) -> Iterator[tuple[str, float]]:
    """`git checkout` between two branches that differ in 500 files."""
    fill(bench.root / "memory" / "swap", 500, "swap", folders=20)
    git(bench.root, "init", "-q", "-b", "one")
    git(bench.root, "add", "-A")
    git(bench.root, "commit", "-qm", "one")
    git(bench.root, "checkout", "-qb", "two")
    for path in (bench.root / "memory" / "swap").rglob("*.md"):
        path.write_text(path.read_text() + "\nOn the second branch.\n")
    git(bench.root, "commit", "-qam", "two")
    bench.seconds_to_step(time.monotonic())
    for branch in ("one", "two"):
        git(bench.root, "checkout", "-q", branch)
        yield f"git checkout {branch}, 500 files", bench.seconds_to_step(time.monotonic())


def moved(bench: Bench) -> Iterator[tuple[str, float]]:
    """A tree moved in, written, renamed, written again and moved out."""
    fill(bench.outside / "tree", 300, "moved", folders=60)
    inside = bench.root / "memory" / "tree"
    (bench.outside / "tree").rename(inside)
    yield "a tree of 300 files in 60 folders moved in", bench.seconds_to_step(time.monotonic())
    (inside / "d7" / "moved-7.md").write_text("# Seven\n\nwritten after the move\n")
    yield "a file of it written", bench.seconds_to_step(time.monotonic())
    renamed = inside.rename(inside.with_name("renamed"))
    yield "the tree renamed", bench.seconds_to_step(time.monotonic())
    (renamed / "d7" / "moved-7.md").write_text("# Seven\n\nwritten after the rename\n")
    yield "a file of it written", bench.seconds_to_step(time.monotonic())
    away = renamed.rename(bench.outside / "away")
    yield "the tree moved out", bench.seconds_to_step(time.monotonic())
    (away / "d7" / "moved-7.md").write_text("# Seven\n\noutside\n")
    nested = bench.root / "memory"
    for depth in range(60):
        nested = nested / f"n{depth}"
        nested.mkdir()
        (nested / "deep.md").write_text(f"# Deep {depth}\n\nnested\n")
    yield "60 nested folders, each with a file", bench.seconds_to_step(time.monotonic())


def limit(bench: Bench) -> Iterator[tuple[str, float]]:
    """More folders than the system watches: polling, said once."""
    fill(bench.root / "memory" / "many", 200, "limit", folders=20)
    yield "200 files in 20 folders, 8 watches allowed", bench.seconds_to_step(time.monotonic())
    for number in range(3):
        (bench.root / "memory" / "many" / "d3" / "limit-3.md").write_text(f"# Three\n\n{number}\n")
        yield "one of them written", bench.seconds_to_step(time.monotonic())


def endless(bench: Bench) -> Iterator[tuple[str, float]]:
    """A log that never rests must not keep another file waiting."""
    began, noted = time.monotonic(), 0.0
    log = bench.root / "memory" / "log.md"
    (bench.root / "memory" / "other.md").write_text("# Other\n\na patient zebrafish\n")
    while not noted and time.monotonic() - began < GIVE_UP_SECONDS:
        with log.open("a") as file:
            file.write("and another line\n")
        reader = Reader(str(bench.store))
        if ("memory", "memory/other.md") in reader.known():
            noted = time.monotonic() - began
        reader.close()
        pause(0.1)
    yield "a file beside a log written 10 times a second (bound: 6 s)", noted


def lost(bench: Bench) -> Iterator[tuple[str, float]]:
    """The store deleted, the workspace away and back."""
    shutil.rmtree(bench.store.parent)
    yield "the store's folder deleted", bench.seconds_to_step(time.monotonic())
    away = bench.root.rename(bench.outside / "notes")
    pause(4)
    rows = Reader(str(bench.store))
    kept = len(rows.known())
    rows.close()
    assert kept == 50, f"{kept} rows are left of 50"
    (away / "memory" / "first-1.md").write_text("# One\n\nchanged while away\n")
    away.rename(bench.root)
    yield (
        "the workspace gone for 4 s and back, 50 rows kept",
        bench.seconds_to_step(time.monotonic()),
    )
    (bench.root / "memory" / "first-2.md").write_text("# Two\n\nchanged afterwards\n")
    yield "a file written afterwards", bench.seconds_to_step(time.monotonic())


def idle(bench: Bench) -> Iterator[tuple[str, float]]:
    """CPU of a watcher that has nothing to do, as a share of one processor."""
    pause(5)
    before, began = bench.cpu_seconds(), time.monotonic()
    pause(60)
    used, took = bench.cpu_seconds() - before, time.monotonic() - began
    yield f"idle CPU in % over {took:.0f} s ({used:.2f} s)", 100 * used / took


SCENARIOS: dict[str, Scenario] = {
    function.__name__: function
    for function in (burst, atomic, checkout, moved, limit, endless, lost, idle)
}


def main(names: list[str]) -> None:
    for name in names or SCENARIOS:
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as ending:
            files = 10_000 if name == "idle" else 50
            bench = Bench(Path(folder), files=files, limited=name == "limit")
            ending.callback(bench.process.kill)
            used = bench.cpu_seconds()
            for what, value in SCENARIOS[name](bench):
                cpu, used = bench.cpu_seconds() - used, bench.cpu_seconds()
                bound = DEBOUNCE_SECONDS + 2.0
                mark = "" if value <= bound or "idle" in what or "bound" in what else "  TOO LATE"
                print(f"{name:<9} {what:<60} {value:6.2f}  cpu {cpu:5.2f}{mark}", flush=True)
            code = bench.end()
            said = [line["message"] for line in bench.lines if "message" in line]
            runs = [line["seconds"] for line in bench.lines if line["event"] == "synced"]
            print(f"{name:<9} exit {code}; runs took {runs} s; said {said}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
