"""Compare earlier states with checkouts, and time them; not part of the suite.

    python -m tests.benchmarks.as_of WORKSPACE QUERIES.jsonl [--commits 50] [--runs 7]

Makes a repository of a folder of dated notes: a commit for each note, in the order of their names,
and between them corrections, renames and deletions. For each of the last commits it asks some of
the questions as of that commit, and in a workspace that is checked out there, and says where the
bytes of the answers differ. Then the CPU time of a process: a plain search, a first search as of
the middle of the line, a repeated one; the least of some runs, by turns.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

GOAL = 1.3  # times a plain search, for a repeated one
NAMES = ("-c", "user.name=memcli", "-c", "user.email=memcli@example.invalid")
EVERY_CORRECTION, EVERY_RENAME, EVERY_DELETION = 2, 5, 9


def git(folder: Path, *arguments: str, number: int = 0) -> str:
    """Run git, at a day of its own."""
    moment = f"{1_700_000_000 + number * 86_400} +0000"
    environ = {**os.environ, "GIT_COMMITTER_DATE": moment, "GIT_AUTHOR_DATE": moment}
    done = subprocess.run(
        ["git", *NAMES, *arguments],
        cwd=folder, env=environ, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def made_of(workspace: Path, folder: Path) -> list[str]:
    """Make the repository; give its commits, the oldest first."""
    git(folder.parent, "init", "-q", "-b", "main", str(folder))
    commits: list[str] = []

    def commit() -> None:
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "--allow-empty", "-m", "x", number=len(commits))
        commits.append(git(folder, "rev-parse", "HEAD"))

    written: list[Path] = []
    for number, file in enumerate(sorted(workspace.rglob("*.md")), start=1):
        target = folder / file.relative_to(workspace)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
        written.append(target)
        commit()
        earlier = written[number // 2]
        if number % EVERY_CORRECTION == 0:
            lines = earlier.read_text("utf-8").split("\n")
            place = max(range(len(lines)), key=lambda at: len(lines[at]))
            lines[place] = f"{lines[place]} (put right in note {number})"
            earlier.write_text("\n".join(lines), "utf-8")
            commit()
        if number % EVERY_RENAME == 0:
            renamed = earlier.with_name(f"{earlier.stem}-again.md")
            earlier.rename(renamed)
            written[written.index(earlier)] = renamed
            commit()
        elif number % EVERY_DELETION == 0:
            written.remove(earlier)
            earlier.unlink()
            commit()
    return commits


def memcli(*arguments: str, folder: Path) -> str:
    """Run memcli; give what it prints."""
    command = [sys.executable, "-m", "memcli", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def cpu(*arguments: str, folder: Path) -> float:
    """Give the CPU seconds of a run, those of the programs it starts among them."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    memcli(*arguments, folder=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def answers(questions: Sequence[str], folder: Path, *options: str) -> list[str]:
    """Ask; of what JSON says of the index alone, leave the state out."""
    found = []
    for question in questions:
        told = json.loads(
            memcli("search", question, "--json", "--now", "2026-01-01", *options, folder=folder)
        )
        del told["freshness"]
        found.append(json.dumps(told))
    context = ("context", questions[0], "--now", "2026-01-01", *options)
    return [*found, memcli(*context, folder=folder)]


def compare(notes: Path, commits: Sequence[str], questions: Sequence[str]) -> int:
    """Count the states that answer otherwise than a checkout."""
    there = notes.parent / "there" / "notes"
    there.parent.mkdir()
    git(notes.parent, "clone", "-q", str(notes), str(there))
    different = 0
    for number, oid in enumerate(commits):
        git(there, "checkout", "-q", "--detach", oid)
        memcli("index", "-q", folder=there)
        asked = [questions[(number * 3 + at) % len(questions)] for at in range(2)]
        if answers(asked, there) != answers(asked, notes, "--as-of", oid):
            different += 1
            print(f"{oid} answers otherwise to {asked}")
    return different


def main() -> int:
    """Compare, then time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--commits", type=int, default=50)
    parser.add_argument("--runs", type=int, default=7)
    given = parser.parse_args()
    lines = given.queries.read_text("utf-8").splitlines()
    questions = [json.loads(line)["query"] for line in lines]
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["XDG_CACHE_HOME"] = f"{temporary}/cache"
        os.environ["XDG_CONFIG_HOME"] = f"{temporary}/config"
        notes = Path(temporary) / "notes"
        commits = made_of(given.workspace, notes)
        memcli("index", "-q", folder=notes)
        chosen = commits[-given.commits :]
        different = compare(notes, chosen, questions)
        print(f"{different} of {len(chosen)} states answer otherwise than a checkout")
        middle = commits[len(commits) // 2]
        plain, first, repeated = [], [], []
        for question in questions[: given.runs]:
            for folder in Path(temporary).glob("cache/memcli/*/*.as-of"):
                shutil.rmtree(folder)
            plain.append(cpu("search", question, folder=notes))
            first.append(cpu("search", question, "--as-of", middle, folder=notes))
            repeated.append(cpu("search", question, "--as-of", middle, folder=notes))
        least, again = min(plain), min(repeated)
        print(f"CPU of a plain search {least:.3f} s, as of a commit {min(first):.3f} s at first, "
              f"then {again:.3f} s: {again / least:.2f} x (goal {GOAL})")  # fmt: skip
    return int(different > 0 or again > GOAL * least)


if __name__ == "__main__":
    sys.exit(main())
