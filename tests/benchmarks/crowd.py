"""Let a watcher, indexers, searchers and whatever writes loose on a workspace that keeps changing.

    python -m tests.benchmarks.crowd [SECONDS]

It goes on until 200 answers were called fresh, for ten times the seconds at most: only these tell
whether what is called fresh is. Where they are fewer at the end, that is an error too.

Every file is saved again and again, each time as a whole new version that is named in each of its
sections. An answer counts as wrong when

- it shows a version that was never on disk, or two versions of one file;
- it calls itself fresh and shows a version older than the one on disk when the search began.

An exit code other than 0, a traceback or "database is locked" counts as an error. Notes are
remembered, logs condensed and that taken back meanwhile, and runs are killed at any moment: a note
that `remember` has told of has to stand there once at the end, and none in part; no half-built
index outlasts the run after that.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path

from memcli.store.sqlite.driver import NEXT_SUFFIX
from tests.cli.processes import COMMAND

FILES, SECTIONS = 12, 3
# They keep sections from being near-duplicates, which a search folds into one.
OWN_WORDS = ("reed", "pond", "frog", "mist", "wing", "moss", "fern", "silt", "rush", "perch")
SEARCHERS, INDEXERS = 16, 2
NAMED = re.compile(r"heron (\d+) of version (\d+)")
NOTE = "The kettle of room {} hums at {} degrees, said the plumber, and that is how it stays."
KILLED = ("index", "index --full", "remember", "compact --apply --tail 0", "compact --undo")
BAD = re.compile(r"Traceback|internal error|database is locked|damaged", re.IGNORECASE)

LEAST = 200  # answers that are called fresh
MOST_REST = 30.0  # seconds

pause = threading.Event().wait


def save_atomically(path: Path, text: str) -> None:
    """Save as editors do: a new file is moved over the old one."""
    beside = path.with_name(f".{path.name}.swp")
    beside.write_text(text, "utf-8")
    beside.replace(path)


def _answers(state: object) -> str:
    return f"answers, {state}"


FRESH = _answers("fresh")


class Crowd:
    """The workspace, its history, and what went wrong."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "notes"
        (self.root / "memory").mkdir(parents=True)
        self.environ = {
            **os.environ,
            "MEMCLI_STORE": str(folder / "store" / "index.sqlite"),
            "MEMCLI_EMBEDDING_ENCODER": "hashing",
        }
        self.newest = [0] * FILES  # version that is being saved, or was
        self.saved = [0] * FILES  # version that was surely on disk
        self.over = threading.Event()
        self.wrong: list[str] = []
        self.counts: Counter[str] = Counter()
        self.told: list[str] = []  # notes that are surely kept
        for number in range(FILES):
            self.save(number)

    def save(self, number: int) -> None:
        version = self.newest[number] = self.newest[number] + 1
        text = "\n\n".join(
            f"## Part {part}\n\nThe heron {number} of version {version} waits. "
            + " ".join(f"{word}{number}{part}" for word in OWN_WORDS)
            for part in range(SECTIONS)
        )
        save_atomically(self.root / "memory" / f"heron-{number}.md", f"# Heron\n\n{text}\n")
        self.saved[number] = version

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [*COMMAND, *arguments, "-w", str(self.root)],
            env=self.environ, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode or BAD.search(done.stderr):
            self.wrong.append(f"{arguments[0]} exit {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def write(self) -> None:
        chance = random.Random(4)
        while not self.over.is_set():
            self.save(chance.randrange(FILES))
            if chance.random() < 0.2:
                blinking = self.root / "memory" / "blinking.md"
                blinking.unlink() if blinking.exists() else blinking.write_text("# On\n\nand off\n")
            with (self.root / "memory" / "log.md").open("a") as log:
                log.write("- a line of a log\n")
            pause(chance.uniform(0.0, 0.4))
            if chance.random() < 0.1:
                self.rest()

    def rest(self) -> None:
        """Save nothing until a search has found the index in step: else hardly one ever would."""
        seen, began = self.counts[FRESH], time.monotonic()
        while self.counts[FRESH] == seen and time.monotonic() - began < MOST_REST:
            if self.over.is_set():
                return
            pause(0.1)

    def search(self, seed: int) -> None:
        chance = random.Random(seed)
        while not self.over.is_set():
            before = list(self.saved)
            mode = chance.choice(["keyword", "hybrid"])
            out = self.run(
                "search", "heron version waits", "--json", "--full", "-n", "60", "--mode", mode
            )
            if out:
                self.judge(json.loads(out), before, list(self.newest))

    def judge(self, answer: dict[str, object], before: list[int], after: list[int]) -> None:
        state = answer["freshness"]["state"]  # type: ignore[index]
        self.counts[_answers(state)] += 1
        shown: dict[int, set[int]] = defaultdict(set)
        for result in answer["results"]:  # type: ignore[attr-defined]
            for number, version in NAMED.findall(result["text"]):
                shown[int(number)].add(int(version))
        for number, versions in shown.items():
            version = max(versions)
            if len(versions) > 1:
                self.wrong.append(f"two versions of file {number} in one answer: {versions}")
            if not 1 <= version <= after[number]:
                self.wrong.append(f"version {version} of file {number} never existed")
            if state == "up_to_date" and version < before[number]:
                self.wrong.append(
                    f"fresh, and yet version {version} of file {number}, not {before[number]}"
                )
        if len(shown) < FILES:
            self.wrong.append(f"only {len(shown)} of {FILES} files were found")

    def index(self) -> None:
        while not self.over.is_set():
            self.run("index", "-q")
            self.counts["index runs"] += 1

    def remember(self) -> None:
        room = 0
        while not self.over.is_set():
            room += 1
            note = NOTE.format(room, 7 * room)
            if self.run("remember", "--force", note):
                self.told.append(note)
            self.counts["notes"] += 1
            pause(0.5)

    def condense(self) -> None:
        while not self.over.is_set():
            for line in (
                "compact --apply --tail 0 --tail-days 0 --ratio 0.9",
                "compact --undo",
                "agents",
            ):
                self.run(*line.split())
            self.counts["compactions"] += 1
            pause(1.0)

    def kill(self) -> None:
        """Start what writes, and kill it before long."""
        chance = random.Random(5)
        while not self.over.is_set():
            line = chance.choice(KILLED).split()
            if line == ["remember"]:
                line += ["--force", NOTE.format("K", chance.randrange(10**6))]
            victim = subprocess.Popen(
                [*COMMAND, *line, "-w", str(self.root)],
                env=self.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            pause(chance.uniform(0.1, 1.5))
            victim.kill()
            self.counts["killed" if victim.wait() else "ended before they were killed"] += 1

    def judge_notes(self) -> None:
        """Look for every note that was told of, and for halves of others."""
        text = "\n".join(file.read_text() for file in (self.root / "memory").glob("20*.md"))
        for note in self.told:
            if text.count(note) != 1:
                self.wrong.append(f"{text.count(note)} times there: {note}")
        first, last = NOTE.split("{}")[0], NOTE.split("{}")[-1]
        if text.count(first) != text.count(last):
            self.wrong.append("a note was written in part")

    def judge_files(self) -> None:
        """Look for what a killed full run has begun, once another run is done."""
        self.run("index", "-q")
        folder = Path(self.environ["MEMCLI_STORE"]).parent
        self.wrong += [f"{file} is left" for file in folder.glob(f"*{NEXT_SUFFIX}*")]


def main(seconds: float) -> int:
    with tempfile.TemporaryDirectory() as folder:
        crowd = Crowd(Path(folder))
        crowd.run("index", "-q")
        watcher = subprocess.Popen(
            [*COMMAND, "index", "--watch", "--json", "-w", str(crowd.root)],
            env=crowd.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        threads = [threading.Thread(target=crowd.write)]
        threads += [threading.Thread(target=crowd.index) for _ in range(INDEXERS)]
        threads += [
            threading.Thread(target=each) for each in (crowd.remember, crowd.condense, crowd.kill)
        ]
        threads += [threading.Thread(target=crowd.search, args=(n,)) for n in range(SEARCHERS)]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        pause(seconds)
        while crowd.counts[FRESH] < LEAST and time.monotonic() - began < 10 * seconds:
            pause(1.0)
        crowd.over.set()
        for thread in threads:
            thread.join()
        took = time.monotonic() - began
        pause(4.0)
        crowd.judge_notes()
        crowd.judge_files()
        crowd.run("compact", "--verify")
        status = json.loads(crowd.run("status", "--json", "--deep"))
        if watcher.poll() is not None or status["watcher"]["pid"] != watcher.pid:
            crowd.wrong.append("the watcher has ended")
        if status["state"] != "up_to_date" or status["store"]["integrity"] != "ok":
            crowd.wrong.append(f"at the end: {status['state']}, {status['changes']}")
        if crowd.counts[FRESH] < LEAST:
            crowd.wrong.append(f"only {crowd.counts[FRESH]} answers were called fresh")
        watcher.send_signal(signal.SIGTERM)
        out, err = watcher.communicate()
        lines = [json.loads(line) for line in out.splitlines()]
        events = Counter(line["event"] for line in lines)
        failed = [line for line in lines if line["event"] == "failed" and line["code"] != "busy"]
        crowd.wrong += [f"the watcher failed: {line['message']}" for line in failed]
        if watcher.returncode or err:
            crowd.wrong.append(f"watcher exit {watcher.returncode}: {err}")
        print(f"{took:.0f} s, {sum(crowd.saved)} saves, {dict(crowd.counts)}")
        print(f"watcher lines: {dict(events)}")
        print(f"wrong: {len(crowd.wrong)}")
        for problem in crowd.wrong[:20]:
            print(f"  {problem}")
        return 1 if crowd.wrong else 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0))
