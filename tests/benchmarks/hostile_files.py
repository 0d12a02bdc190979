"""Time of parser and chunker on files that are made to be slow, a line each.

    python -m tests.benchmarks.hostile_files

A file of words of the same size stands beside each: the last column says how many times as long
the hostile one takes.
"""

from __future__ import annotations

import time
import tracemalloc

from tests.support import chunks_of

CASES: dict[str, str] = {
    "list 1,000 levels deep": "\n".join("  " * n + "- a" for n in range(1000)) + "\n\n# H\n\nb",
    "quote 10,000 levels deep": ">" * 10_000 + " a\n\n# H\n\nb",
    "quote and list in turn": "> - " * 5000 + "a",
    "50,000 open brackets": "[" * 50_000,
    "50,000 link openers": "[a](" * 50_000,
    "50,000 emphasis marks": "*" * 50_000 + "a",
    "50,000 wiki link openers": "[[a|" * 50_000,
    "backtick ladder to 2,000": "".join("`" * n + "a" for n in range(2000)),
    "50,000 comment openers": "<!-- " * 50_000,
    "50,000 comments in a line": "a <!-- b --> " * 50_000,
    "50,000 html tags": "<a" * 50_000,
    "a line of 10 MB": "word " * 2_000_000,
    "a word of 10 MB": "x" * 10_000_000,
    "a word of 3 MB in Chinese": "東" * 1_000_000,
    "table of 160,000 rows": "| a | b |\n|---|---|\n" + "| c | d |\n" * 160_000,
    "table of 1,000 columns": ("|" + "a|" * 1000 + "\n|" + "-|" * 1000 + "\n")
    + ("|" + "a|" * 1000 + "\n") * 500,
    "160,000 rows, no table": "| c | d |\n" * 160_000,
    "fence that is never closed": "```\n" + "code\n" * 500_000,
    "100,000 headings": "# a\n" * 100_000,
    "100,000 setext headings": "a\n---\n" * 100_000,
    "100,000 link definitions": "[a]: b\n" * 100_000,
    "1,000,000 carriage returns": "\r" * 1_000_000,
    "1,000,000 empty lines": "\n" * 1_000_000,
    "front matter of 65,000 chars": "---\na: " + "1:" * 32_000 + "1\n---\nx",
    "front matter of 1,000 lists": "---\na: " + "[" * 1000 + "]" * 1000 + "\n---\nx",
    "aliases that expand": "---\na: &a [x]\n"
    + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(100))
    + "---\nx",
    "100,000 combining marks": "a" + "\u0301" * 100_000,
}


def seconds_of(text: str) -> float:
    """Cut a text and give the seconds of the processor."""
    began = time.process_time()
    chunks_of(text)
    return time.process_time() - began


def main() -> None:
    """Print a table."""
    seconds_of("warm")
    print(f"{'':<30}{'MB':>7}{'s':>8}{'s/MB':>8}{'times':>8}{'peak MB':>9}")
    for name, text in CASES.items():
        size = len(text.encode()) / 1e6
        plain = ("A line of plain words.\n" * (len(text) // 23 + 1))[: len(text)]
        seconds, usual = seconds_of(text), max(0.001, seconds_of(plain))
        tracemalloc.start()
        if size < 1:  # it takes several times as long
            chunks_of(text)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        shown = f"{peak:9.1f}" if size < 1 else f"{'':>9}"
        print(
            f"{name:<30}{size:7.2f}{seconds:8.2f}{seconds / max(size, 0.001):8.1f}"
            f"{seconds / usual:8.1f}{shown}",
            flush=True,
        )


if __name__ == "__main__":
    main()
