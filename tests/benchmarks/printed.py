"""Measure what an answer costs as it is printed, and what it holds; not part of the suite.

Each folder holds `workspace/` and `queries.jsonl`. Every n-th judged question is asked in each form
that an agent uses, with the defaults beside it. `printed` are the tokens of all that is written,
citations, headings and keys too, `passages` those of the quoted lines alone; `evidence` is the
share of the judged ranges with a line in the answer. Without a tokenizer tokens are estimated.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from memcli.bench.metrics import Range
from memcli.bench.queries import Query, read_queries
from memcli.language.tokens import estimate
from tests.benchmarks.context_recall import recall
from tests.benchmarks.figures import option, share, table
from tests.benchmarks.token_estimate import Count, counters

MEMCLI = (sys.executable, "-m", "memcli")
BUDGETS = (500, 1000, 2000)


class Cost(NamedTuple):
    """Of one answer: tokens of what is printed and of its quoted lines, and evidence in it."""

    printed: float
    passages: float
    evidence: float


def printed(arguments: Sequence[str]) -> str:
    """Give what a command writes to stdout; it ends the benchmark where it fails."""
    done = subprocess.run([*MEMCLI, *arguments], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: exit {done.returncode}")
    return done.stdout


def searched(query: Query, options: Sequence[str], count: Count) -> tuple[Cost, Cost]:
    """Ask once as text and once as JSON."""
    line = ["search", query.text, *options]
    text, record = printed(line), printed([*line, "--json"])
    found = json.loads(record)["results"]
    shown = [Range(each["path"], each["start_line"], each["end_line"]) for each in found]
    passages = sum(count(each["snippet"]) for each in found)
    evidence = recall(query, shown)
    return Cost(count(text), passages, evidence), Cost(count(record), passages, evidence)


def assembled(query: Query, options: Sequence[str], count: Count) -> Cost:
    """Ask for a context."""
    line = ["context", query.text, *options]
    text, record = printed(line), json.loads(printed([*line, "--json"]))
    parts = record["parts"]
    shown = [Range(each["path"], each["start_line"], each["end_line"]) for each in parts]
    return Cost(count(text), sum(count(each["text"]) for each in parts), recall(query, shown))


def ask(folder: Path, every: int, count: Count, forms: dict[str, list[Cost]]) -> None:
    """Ask the questions of one folder, and add what they cost to their forms."""
    here = ["-w", str(folder / "workspace"), "--now", "2026-01-01"]
    printed(["index", "-q", *here])
    with (folder / "queries.jsonl").open(encoding="utf-8") as file:
        judged = [query for query in read_queries(file, str(folder)) if query.relevant]
    for query in judged[::every]:
        for budget in (None, *BUDGETS):
            options = ["--more", "--budget", str(budget)] if budget else []
            text, record = searched(query, [*options, *here], count)
            name = " ".join(["search", *options])
            forms.setdefault(name, []).append(text)
            forms.setdefault(f"{name} --json", []).append(record)
        forms.setdefault("context", []).append(assembled(query, here, count))
        forms.setdefault("context --tail 0", []).append(
            assembled(query, ["--tail", "0", *here], count)
        )


OPTIONS = (
    option("folders", nargs="+", type=Path),
    option("--every", type=int, default=10),
    option("--tokenizer"),
)


def main(options: Namespace) -> str:
    count = [*counters([options.tokenizer]).values()][-1] if options.tokenizer else estimate
    forms: dict[str, list[Cost]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for number, folder in enumerate(options.folders):
            os.environ["MEMCLI_STORE"] = f"{temporary}/{number}.sqlite"
            ask(folder, options.every, count, forms)
    rows = []
    for form, costs in forms.items():
        means = [sum(column) / len(costs) for column in zip(*costs, strict=True)]
        rows.append([f"`{form}`", f"{means[0]:,.0f}", f"{means[1]:,.0f}", share(means[2])])
    asked = len(next(iter(forms.values())))
    told = table([f"{asked} questions", "printed", "of which passages", "evidence"], rows)
    return told
