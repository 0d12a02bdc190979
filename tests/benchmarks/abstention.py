"""How well the confidence tells an answerable question from one whose answer is gone.

    python -m tests.benchmarks.abstention FOLDER...

Every FOLDER holds `workspace/` and `queries.jsonl`. Each question is asked of the whole workspace
and of one without the files that hold its evidence; with `--mask NAME` (repeatable; "speakers" for
the names in front of each turn) words are masked on both sides, so that a name that is everywhere
tells nothing. Prints the area under the ROC of the first passage's confidence, pooled, and the
share of each verdict; `queries_adversarial.jsonl`, where it stands beside, is a third group.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from memcli.api.ask import ask_as_it_is
from memcli.api.memory import Memory
from memcli.api.sync import Job, Vectors, sync
from memcli.bench.queries import Query, read_queries
from memcli.search.options import options_of
from memcli.search.question import Question
from memcli.types import Filters

SPEAKER = re.compile(r"^- \*\*([^*]+)\*\*", re.MULTILINE)
MASK = "Someone"


class Judged(NamedTuple):
    """The confidence of a question's best passage, and the verdict."""

    confidence: float
    verdict: str


def masked(text: str, names: Iterable[str]) -> str:
    """Put one word in the place of each name."""
    for name in names:
        text = re.sub(rf"\b{re.escape(name)}\b", MASK, text)
    return text


def speakers(workspace: Path) -> set[str]:
    """Find the names in front of turns."""
    return {name for file in workspace.rglob("*.md") for name in SPEAKER.findall(file.read_text())}


class Asker:
    """One workspace, masked and indexed, asked with some files left out."""

    def __init__(self, folder: Path, home: Path, *, mask: bool) -> None:
        self.names = sorted(speakers(folder / "workspace")) if mask else []
        self.root = home / "notes"
        shutil.copytree(folder / "workspace", self.root)
        for file in self.root.rglob("*.md"):
            file.write_text(masked(file.read_text("utf-8"), self.names), "utf-8")
        environ = {**os.environ, "MEMCLI_STORE": str(home / "index.sqlite")}
        self.memory = Memory.open(self.root, environ=environ)
        sync(self.memory, Job(), Vectors(self.memory))
        self.paths = sorted(str(f.relative_to(self.root)) for f in self.root.rglob("*.md"))

    def ask(self, query: Query, without: set[str]) -> Judged:
        """Ask of the files that are left."""
        text = masked(query.text, self.names)
        today = date.fromisoformat(query.date) if query.date else date.today()
        left = tuple(path for path in self.paths if path not in without) if without else ()
        options = options_of(self.memory.config, filters=Filters(paths=left))
        answer = ask_as_it_is(self.memory, Question.read(text, today), options)
        first = answer.hits[0].confidence if answer.hits else None
        return Judged(first or 0.0, answer.verdict)


def area(present: Sequence[float], absent: Sequence[float]) -> float:
    """Give the share of pairs that are ordered rightly, ties counting half."""
    wins = sum((p > a) + 0.5 * (p == a) for p in present for a in absent)
    return wins / (len(present) * len(absent))


def main() -> int:
    """Measure the folders that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--mask", action="store_true", help="mask speakers' names")
    wanted = parser.parse_args()
    groups: dict[str, list[Judged]] = {"whole": [], "removed": [], "adversarial": []}
    for folder in wanted.folders:
        with tempfile.TemporaryDirectory() as home:
            asker = Asker(folder, Path(home), mask=wanted.mask)
            for name, query in _questions(folder):
                groups[name].append(asker.ask(query, set()))
                if name == "whole":
                    gone = {r.path for r in query.relevant}
                    groups["removed"].append(asker.ask(query, gone))
    whole = [each.confidence for each in groups["whole"]]
    for name, judged in groups.items():
        verdicts = Counter(each.verdict for each in judged)
        told = f"{name:12} {len(judged):5}  {dict(verdicts)}"
        if name != "whole" and judged:
            told += f"  area {area(whole, [each.confidence for each in judged]):.3f}"
        sys.stdout.write(told + "\n")
    return 0


def _questions(folder: Path) -> Iterator[tuple[str, Query]]:
    for name, file in (("whole", "queries.jsonl"), ("adversarial", "queries_adversarial.jsonl")):
        path = folder / file
        if path.exists():
            yield from ((name, q) for q in read_queries(path.read_text().split("\n"), file))


if __name__ == "__main__":
    sys.exit(main())
