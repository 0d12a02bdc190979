"""Put what a benchmark has measured into a page, with the command, the day and the commit.

`--write memcli/cli/help/benchmarks.md` replaces the Markdown between
`<!-- figures: NAME -->` and `<!-- end -->`. NAME is its module below `tests.benchmarks`, and, where
one module has several such places, the option that tells them apart. The last line of the block
says how it came to be; folders stand in it by their last name.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from memcli.bench.speed import spread

END = "<!-- end -->"
BLOCK = re.compile(
    rf"^<!-- figures: (?P<name>[^>\n]+) -->\n(?P<text>.*?)^{END}$", re.MULTILINE | re.DOTALL
)
HOW = re.compile(
    r"`python -m tests\.benchmarks (?P<module>\w+)(?P<arguments>[^`]*)`,"
    r" (?P<day>\d{4}-\d\d-\d\d), commit (?P<commit>[0-9a-f]{7,40}(?:-dirty)?)\."
)
ROOT = Path(__file__).parents[2]
UNTOLD = ("--write", "--store", "--stores")  # options that change no figure, each with a value
MEASURED = ("memcli", "tests", "fixtures")  # what figures depend on


class Block(NamedTuple):
    """A place of figures in a text."""

    name: str
    text: str


def spread_text(values: Sequence[float], digits: int) -> str:
    """Write the least, the median and the greatest value, and how many are outliers."""
    runs = spread(values)
    three = "/".join(f"{value:.{digits}f}" for value in (runs.least, runs.p50, runs.most))
    return three + (f" *{runs.outliers}" if runs.outliers else "")


def blocks(page: str) -> Iterator[Block]:
    """Give the places of figures, in their order."""
    for found in BLOCK.finditer(page):
        yield Block(found["name"], found["text"])


def option(*names: str, **settings: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Describe an option as `ArgumentParser.add_argument` takes it."""
    return names, settings


def write(page: Path, name: str, markdown: str, arguments: Sequence[str]) -> None:
    """Put Markdown with how it came to be in its place of a file."""
    how = f"{command(arguments)}, {date.today().isoformat()}, commit {commit()}."
    page.write_text(put(page.read_text("utf-8"), name, f"{markdown.strip()}\n\n{how}"), "utf-8")


def put(text: str, name: str, figures: str) -> str:
    """Give a text with other figures in the place of that name, which it must have."""
    begin = f"<!-- figures: {name} -->\n"
    head, found, rest = text.partition(begin)
    if not found:
        raise SystemExit(f"the file has no line <!-- figures: {name} -->")
    return f"{head}{begin}\n{figures}\n\n{END}{rest.partition(END)[2]}"


def command(arguments: Sequence[str]) -> str:
    """Write the command line that was run; folders and files by their names alone."""
    told, rest = [], iter(arguments)
    for each in rest:
        if each in UNTOLD:
            next(rest)
        else:
            told.append(shown(Path(each)) if "/" in each and Path(each).exists() else each)
    return f"`{shlex.join(['python', '-m', 'tests.benchmarks', *told])}`"


def shown(path: Path) -> str:
    """Name a file or folder, a set of questions with its collection."""
    return "/".join(path.parts[-2 if (path / "queries.jsonl").exists() else -1 :])


def commit() -> str:
    """Name the commit of this tree, and say where what is measured is not what was committed."""
    git = ["git", "-C", str(ROOT)]
    named = _said([*git, "rev-parse", "--short", "HEAD"])
    return f"{named}-dirty" if _said([*git, "status", "--porcelain", *MEASURED]) else named


def _said(line: Sequence[str]) -> str:
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip()


def share(value: float, digits: int = 3) -> str:
    """Write a share. Example: share(.5) -> ".500"; share(-.5, 2) -> "-.50"."""
    return f"{value:.{digits}f}".replace("0.", ".", 1)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Draw a Markdown table; all columns but the first are of figures."""
    rule = f"|---|{'---:|' * (len(head) - 1)}\n"
    first, *others = (f"| {' | '.join(line)} |\n" for line in (head, *rows))
    return "".join([first, rule, *others])
