"""An agent offers every line of its logs to `remember --gate`: what is kept, and what is lost.

    python -m tests.benchmarks.day SET

SET holds `workspace/memory/*.md` and `queries.jsonl` with the judged lines of each question. The
items of the logs are offered in their order, each on its day, to an empty memory. Reported: how
many are kept and which rules refused the rest, how many judged lines were refused, the tokens of
the logs before and after, and recall of the judged lines among the first ten passages, before and
after.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from memcli.api.memory import Memory
from memcli.api.remember import Wish, remember
from memcli.language.tokens import estimate
from memcli.workspace.dating import path_days

ITEM = re.compile(r"^- (?:\*\*([^*]+)\*\* \([^)]*\): )?(.*)$")
LIMIT = 10
KNOWN_BY = 60  # characters that tell a line in a passage


class Offered(NamedTuple):
    """A line of a log, and the note that is made of it."""

    path: str
    line: int
    day: str
    note: str


def offered(workspace: Path) -> Iterator[Offered]:
    """Give the items of all logs, oldest first."""
    for file in sorted((workspace / "memory").glob("*.md")):
        path = f"memory/{file.name}"
        days = path_days(path)
        for number, line in enumerate(file.read_text("utf-8").split("\n"), start=1):
            found = ITEM.match(line)
            if found and days:
                said = f"{found[1]}: {found[2]}" if found[1] else found[2]
                yield Offered(path, number, days[1], said)


def recall(memory: Memory, queries: list[Any], texts: dict[tuple[str, int], str]) -> float:
    """Give the mean share of judged lines that stand in the first passages."""
    shares = []
    for query in queries:
        wanted = [
            texts[lines["path"], number]
            for lines in query["relevant"]
            for number in range(lines["start_line"], lines["end_line"] + 1)
            if (lines["path"], number) in texts
        ]
        if not wanted:
            continue
        now = datetime.fromisoformat(query["date"])
        found = memory.search(query["query"], limit=LIMIT, now=now, sync=False).results
        shown = "\n".join(passage.text for passage in found)
        shares.append(sum(text[:KNOWN_BY] in shown for text in wanted) / len(wanted))
    return sum(shares) / len(shares)


def moment(at: int, each: Offered) -> datetime:
    """Give a time of its day to each note."""
    return datetime.fromisoformat(each.day) + timedelta(minutes=at % 1440)


def write_all(root: Path, notes: list[Offered]) -> None:
    """Write all notes as `remember` would without a gate."""
    for at, each in enumerate(notes):
        file = root / "memory" / f"{each.day}.md"
        head = "" if file.exists() else f"# {each.day}\n\n"
        with file.open("a", encoding="utf-8") as log:
            log.write(f"{head}- {moment(at, each):%H:%M} {each.note}\n")


class Outcome(NamedTuple):
    """What became of the notes."""

    rules: Counter[str]
    lost: list[tuple[str, str]]  # reason and text of the judged lines that were refused
    tokens: tuple[int, int]
    recalls: tuple[float, float]


def simulate(notes: list[Offered], queries: list[Any], judged: set[tuple[str, int]]) -> Outcome:
    """Offer all notes, and ask the questions with the gate and without."""
    texts = {(each.path, each.line): each.note for each in notes}
    rules: Counter[str] = Counter()
    lost = []
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder, "before"), Path(folder, "after")
        for root in (before, after):
            (root / "memory").mkdir(parents=True)
        write_all(before, notes)
        with Memory.open(after) as memory:
            for at, each in enumerate(notes):
                now = moment(at, each)
                noted = remember(memory, each.note, Wish(gate=True), now)
                rules[noted.refusal.rule if noted.refusal else "kept"] += 1
                if noted.refusal and (each.path, each.line) in judged:
                    lost.append((noted.refusal.reason, each.note))
        sizes, recalls = [], []
        for root in (before, after):
            sizes.append(sum(estimate(f.read_text("utf-8")) for f in root.rglob("*.md")))
            with Memory.open(root) as memory:
                memory.index()
                recalls.append(recall(memory, queries, texts))
    return Outcome(rules, lost, (sizes[0], sizes[1]), (recalls[0], recalls[1]))


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", type=Path)
    parser.add_argument("--show", action="store_true", help="print the judged lines refused")
    arguments = parser.parse_args()
    lines = (arguments.set / "queries.jsonl").read_text("utf-8").splitlines()
    queries = [json.loads(line) for line in lines]
    notes = list(offered(arguments.set / "workspace"))
    judged = {
        (each["path"], number)
        for query in queries
        for each in query["relevant"]
        for number in range(each["start_line"], each["end_line"] + 1)
    } & {(each.path, each.line) for each in notes}
    found = simulate(notes, queries, judged)
    before, after = found.tokens
    print(f"offered {len(notes)}: {dict(found.rules.most_common())}")
    share = len(found.lost) / len(judged)
    print(f"judged lines refused: {len(found.lost)} of {len(judged)} ({share:.1%})")
    print(f"tokens of the logs: {before} -> {after} ({1 - after / before:.1%} shorter)")
    print(f"recall of judged lines at {LIMIT}: {found.recalls[0]:.3f} -> {found.recalls[1]:.3f}")
    for reason, note in found.lost if arguments.show else ():
        print(f"  {note[:150]}\n      {reason}")


if __name__ == "__main__":
    main()
