"""Hold the figures of `bench quality` against another scorer of the same run files.

    python tests/benchmarks/compare_scorer.py SCORER SETS [MODE]

SCORER is a program `SCORER QUERIES RUN --json --per-query FILE`; SETS is a folder that holds, at
any depth, folders with `queries.jsonl` and `workspace/`. MODE is lexical (the default) or hybrid.
Exit 1 when a figure differs by more than 1e-9. Indexes go to a temporary folder.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from memcli.bench.metrics import NAMES
from memcli.cli.main import run

TOLERANCE = 1e-9


def _ours(queries: Path, run_file: Path, mode: str) -> dict[str, Any]:
    out = io.StringIO()
    workspace = str(queries.parent / "workspace")
    with contextlib.redirect_stdout(out):
        arguments = ["bench", "quality", str(queries), "--run", str(run_file), "--mode", mode]
        if run([*arguments, "--json", "-q", "-w", workspace]) != 0:
            raise SystemExit(f"memcli failed on {queries}")
    return dict(json.loads(out.getvalue()))


def _theirs(scorer: str, queries: Path, run_file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    rows_file = run_file.with_suffix(".rows")
    done = subprocess.run(
        [sys.executable, scorer, queries, run_file, "--json", "--per-query", rows_file],
        capture_output=True,
        check=True,
    )
    rows = map(json.loads, rows_file.read_text("utf-8").splitlines())
    return json.loads(done.stdout), {str(row["id"]): row for row in rows}


def _furthest(queries: Path, scorer: str, mode: str, folder: Path) -> tuple[int, float]:
    """Give how many figures were compared and the greatest difference."""
    run_file = folder / "run.jsonl"
    ours = _ours(queries, run_file, mode)
    theirs, rows = _theirs(scorer, queries, run_file)
    groups = {"all": theirs["overall"], **theirs["categories"]}
    if groups.keys() != ours["categories"].keys() or len(rows) != len(ours["queries"]):
        return 0, float("inf")
    pairs = [(ours["categories"][g][n], groups[g][n]) for g in groups for n in NAMES]
    pairs += [(row["scores"][n], rows[row["id"]][n]) for row in ours["queries"] for n in NAMES]
    return len(pairs), max(abs(a - b) for a, b in pairs)


def main(scorer: str, sets: str, mode: str = "lexical") -> int:
    """Compare every set and give the exit code."""
    failed = 0
    for queries in sorted(Path(sets).rglob("queries.jsonl")):
        if not queries.read_text("utf-8").strip():
            continue
        with TemporaryDirectory() as folder:
            os.environ["MEMCLI_STORE"] = f"{folder}/index.sqlite"
            compared, furthest = _furthest(queries, scorer, mode, Path(folder))
        failed += furthest > TOLERANCE
        name = queries.parent.relative_to(sets)
        sys.stdout.write(f"{name!s:32} {compared:6} figures, furthest {furthest:.1e}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
