"""Measure what new processes cost beside bare ones of the same run; not part of the suite.

Commands run in turns. A ratio is taken of the least CPU time of each kind, since other work on a
machine only adds to one; median and most beside it tell how much, and `*n` that n runs are
outliers, as `bench speed` has them. The middle half of the ratios turn by turn follows. The bare
process has no code of memcli: it loads the same model by the packages onnxruntime and tokenizers,
and embeds the question. `edited` is a search after a line was added to a note, in a copy of the
workspace; its index is in step again afterwards.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

from memcli.cli import launch
from memcli.embedding.models import locate
from memcli.embedding.wordpiece import VOCABULARY
from tests.benchmarks.figures import option, spread_text, table

ENTRY = "from memcli.cli.main import main; main()"  # what an installed command runs
BARE = """
import os, sys
import numpy, onnxruntime
from tokenizers import BertWordPieceTokenizer
model, vocabulary, question = sys.argv[1:]
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
row = numpy.array([BertWordPieceTokenizer(vocabulary).encode(question).ids], dtype=numpy.int64)
given = {"input_ids": row, "attention_mask": numpy.ones_like(row),
         "token_type_ids": numpy.zeros_like(row)}
session.run(None, {each.name: given[each.name] for each in session.get_inputs()})
os._exit(0)
"""


class Cost(NamedTuple):
    """What one run of a program took."""

    wall: float  # seconds
    cpu: float  # of it and its children
    peak: float  # MB; at least some 10, which what starts it takes
    code: int


def cost_of(command: Sequence[str], environ: Mapping[str, str] | None = None) -> Cost:
    """Run a program to its end; FileNotFoundError where there is none of that name.

    What starts it is small, as Linux counts the memory of that among the peak of the program.
    """
    program = shutil.which(command[0])
    if program is None:
        raise FileNotFoundError(command[0])
    line = [sys.executable, "-I", "-S", launch.__file__, "1", program, *command[1:]]
    done = subprocess.run(
        line, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    ((wall, cpu, peak, code),) = json.loads(done.stdout)
    return Cost(wall, cpu, peak / 1024, code)


def warn_of_bytecode() -> None:
    """Say where Python compiles each module anew at every start."""
    if sys.dont_write_bytecode:
        print("Python writes no bytecode here (PYTHONDONTWRITEBYTECODE): starts are too slow")


def timed(command: Sequence[str]) -> Cost:
    """Run a command; it ends the benchmark where it fails."""
    took = cost_of(command)
    if took.code:
        sys.exit(f"{shlex.join(command)}: exit {took.code}")
    return took


KINDS = {
    "pass": "`python -c pass`",
    "help": "`--help`",
    "keyword": "`search --mode keyword`",
    "hybrid": "`search`",
    "edited": "`search` after an edit",
    "status": "`status`",
    "index": "`index` with nothing to do",
    "context": "`context`",
    "ls": "`ls`",
    "get": "`get`",
    "bare": "embedding the question with the model alone",
}
# Times the CPU time of `python -c pass` that a command may take.
GOALS = {"help": 2.0, "keyword": 5.5, "hybrid": 10.0, "status": 5.0, "index": 5.0}


OPTIONS = (
    option("workspace"),
    option("question"),
    option("--runs", type=int, default=15),
)


def main(options: Namespace) -> str:
    assert locate(), "the bundled model is not installed"
    warn_of_bytecode()
    with tempfile.TemporaryDirectory() as folder:
        runs = measure(
            options.workspace, options.question, max(2, options.runs), Path(folder) / "copy"
        )
    return report(runs)


def measure(workspace: str, question: str, turns: int, copy: Path) -> dict[str, list[Cost]]:
    """Run each kind in turns."""
    python, memcli = [sys.executable], [sys.executable, "-c", ENTRY]
    note = Path(shutil.copytree(workspace, copy)) / "MEMORY.md"
    search = [*memcli, "search", question, "-w", workspace]
    for folder in (workspace, str(copy)):
        subprocess.run([*memcli, "index", "-q", "-w", folder], check=True)
    cited = subprocess.run([*search, "-f", "paths"], check=True, capture_output=True, text=True)
    kinds = {
        "pass": [*python, "-c", "pass"],
        "help": [*memcli, "--help"],
        "keyword": [*search, "--mode", "keyword"],
        "hybrid": search,
        "edited": [*memcli, "search", question, "-w", str(copy)],
        "status": [*memcli, "status", "-w", workspace],
        "index": [*memcli, "index", "-w", workspace],
        "context": [*memcli, "context", question, "-w", workspace],
        "ls": [*memcli, "ls", "-w", workspace],
        "get": [*memcli, "get", cited.stdout.split("\n")[0], "-w", workspace],
        "bare": [*python, "-c", BARE, locate()[0].path, VOCABULARY, question],
    }
    runs: dict[str, list[Cost]] = {name: [] for name in kinds}
    for turn in range(turns):
        with note.open("a", encoding="utf-8") as file:
            file.write(f"\n- Remark {turn} was made at noon.\n")
        for name, command in kinds.items():
            runs[name].append(timed(command))
    return runs


def report(runs: dict[str, list[Cost]]) -> str:
    """Print what each kind costs, and give it as a table."""
    passed, rows = [one.cpu for one in runs["pass"]], []
    print(
        f"load {os.getloadavg()[0]:.1f}, {len(passed)} turns; least/median/most\n"
        f"{'':8}{'CPU ms':>22}{'wall ms':>22}  CPU / pass: of the least (of turns); peak"
    )
    for name, found in runs.items():
        cpu = [one.cpu for one in found]
        low, _, high = quantiles([a / b for a, b in zip(cpu, passed, strict=True)], n=4)
        print(
            f"{name:8}{spread_text([1000 * each for each in cpu], 1):>22}"
            f"{spread_text([1000 * one.wall for one in found], 1):>22}"
            f"  {min(cpu) / min(passed):5.2f} ({low:.2f} to {high:.2f})"
            f"; {max(one.peak for one in found):.0f} MB"
            f"{f', goal <= {GOALS[name]}' if name in GOALS else ''}"
        )
        rows.append(
            [KINDS[name], f"{1000 * min(cpu):.0f}", f"{min(cpu) / min(passed):.1f}",
             f"{low:.1f} to {high:.1f}", f"{max(one.peak for one in found):.0f}"]
        )  # fmt: skip
    edited, in_step = (min(one.cpu for one in runs[name]) for name in ("edited", "hybrid"))
    print(f"edited / hybrid {edited / in_step:.2f}, goal <= 1.2 and 80 MB")
    head = [f"{len(passed)} runs, load {os.getloadavg()[0]:.1f}", "CPU ms, minimum",
            "times `python -c pass`", "middle half", "MB, maximum"]  # fmt: skip
    return table(head, rows)
