"""How often a search puts what holds now first, and marks what no longer holds.

FILE is a part of `fixtures/eval/corrections`. The weights of `language.evidence` are fitted to
`pairs`, `tuned`, `fresh`, `more` and `voices`; `unseen`, `blind` and `heldout` (the default) are
only counted. Missed lines of `heldout` led to rules. It has other voices than `voices`: a clinic,
a club, a support team, a workshop, a shared flat, parents, developers, friends. Nobody has read
the lines of `paraphrased`; half of its newer lines share only one or two words with the older one.

All notes of a file are lines of the daily logs of one workspace, and each row asks one question.

One row a kind and half:

first     the current line comes before each older one, in a passage of its own or above it
marked    an older line is marked as corrected by the current one; of near misses: wrongly
unmarked  an older line is printed in a passage that neither has nor names a newer one
named     `remember` names the last older line if the current one is saved
"""

from __future__ import annotations

import json
import tempfile
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from memcli.api.memory import Memory
from memcli.search.passages import Passage
from tests.benchmarks.figures import option

FOLDER = Path(__file__).parents[2] / "fixtures/eval/corrections"
FIGURES = ("first", "marked", "unmarked", "named")


def rows_of(name: str) -> list[Any]:
    """Read a part of the fixture; the lines of a table are a year apart."""
    if (file := FOLDER / f"{name}.jsonl").exists():
        return [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    table = (FOLDER / f"{name}.tsv").read_text("utf-8").splitlines()
    rows = []
    for at, line in enumerate(each for each in table if not each.startswith("#")):
        kind, lang, ask, older, newer = line.split("\t")
        day = f"{1 + at % 10:02}-{1 + at % 28:02}"
        notes = [(f"2024-{day}", older), (f"2025-{day}", newer)]
        rows.append({"kind": kind, "lang": lang, "ask": ask, "notes": notes})
    return rows


def write_notes(root: Path, rows: Sequence[Any]) -> None:
    """Write all lines of some rows into daily logs."""
    days: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        for day, text in row["notes"]:
            days[day].append(text)
    for day, texts in days.items():
        file = root / f"memory/{day}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# {day}\n\n" + "\n\n".join(texts) + "\n", encoding="utf-8")


def judged(row: Any, results: Sequence[Passage]) -> Iterator[str]:
    """Tell which of FIGURES hold for the answer to the question of a row."""
    *older, newest = (text for _, text in row["notes"])
    ranks = {text: rank for rank, each in enumerate(results) for text in (*older, newest)
             if text in each.text and rank == _first(text, results)}  # fmt: skip
    if newest in ranks and all(ranks[newest] <= ranks.get(each, len(results)) for each in older):
        yield "first"
    for each in results:
        marks = {mark["text"] for mark in each.corrected_by}
        has_older = any(text in each.text for text in older)
        if has_older and newest in marks:
            yield "marked"
        if has_older and newest not in each.text and not marks:
            yield "unmarked"


def _first(text: str, results: Sequence[Passage]) -> int:
    return next(rank for rank, each in enumerate(results) if text in each.text)


def measured(rows: Sequence[Any], root: Path, mode: str) -> dict[tuple[str, int], Counter[str]]:
    """Ask every question; count by kind and half."""
    is_named = named(rows, root / "older", mode)
    write_notes(root / "all", rows)
    counts: defaultdict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    with Memory.open(root / "all", settings={"search.mode": mode}) as memory:
        memory.index()
        for place, row in enumerate(rows):
            if "ask" in row:
                told = {"n", *judged(row, memory.search(row["ask"]).results)}
                counts[row["kind"], place % 2].update(told)
    for place, row in enumerate(rows):
        counts[row["kind"], place % 2]["named"] += "ask" in row and is_named[place]
    return counts


def named(rows: Sequence[Any], root: Path, mode: str) -> list[bool]:
    """Tell for each row whether `remember` names the older line; `root` has only older lines."""
    write_notes(root, [{**row, "notes": row["notes"][:-1]} for row in rows])
    with Memory.open(root, settings={"search.mode": mode}) as memory:
        memory.index()
        return [
            any(row["notes"][-2][1] in line.text for line in noted.older)
            for row in rows
            for noted in (memory.remember(row["notes"][-1][1], dry_run=True),)
        ]


OPTIONS = (
    option("files", nargs="*", default=["heldout"]),
    option("--mode", default="hybrid"),
)


def main(options: Namespace) -> None:
    for name in options.files:
        with tempfile.TemporaryDirectory() as folder:
            for (kind, half), count in sorted(measured(
                rows_of(name), Path(folder), options.mode
            ).items()):  # fmt: skip
                figures = ", ".join(f"{each} {count[each]}" for each in FIGURES)
                print(f"{name} {kind} {'odd' if half else 'even'}: n {count['n']}, {figures}")
