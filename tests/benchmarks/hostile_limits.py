"""Memory and time of memcli at the edges: many files, a long one, wide tables, many sources.

    python -m tests.benchmarks.hostile_limits [FILES ...]

FILES are sizes of the first curve, 1,000 10,000 and 100,000 unless named. Each command is a process
of its own, keywords alone; its peak memory and time are those the system counted.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.started import cost_of

COMMAND = (sys.executable, "-m", "memcli")
WORDS = ("the", "pool", "ran", "dry", "after", "a", "deploy", "of", "the", "billing", "service")


def many_files(count: int) -> Callable[[Path], None]:
    """Make notes of about 300 bytes in folders of a thousand."""

    def make(root: Path) -> None:
        for number in range(count):
            folder = root / "memory" / f"{number // 1000:03}"
            folder.mkdir(parents=True, exist_ok=True)
            body = " ".join(WORDS[(number + at) % len(WORDS)] for at in range(40))
            (folder / f"{number}.md").write_text(f"# Note {number}\n\n{body} word{number}.\n")

    return make


def long_file(root: Path) -> None:
    """Make one file of nearly 8 MiB."""
    (root / "memory").mkdir(parents=True)
    line = "- " + " ".join(WORDS) + "\n"
    count = (8 * 1024 * 1024 - 1000) // len(line)
    (root / "memory" / "long.md").write_text("# Long\n\n" + line * count)


def wide_table(root: Path) -> None:
    """Make a table of 1,000 columns and 500 rows: 3 MB."""
    (root / "memory").mkdir(parents=True)
    row = "| " + " | ".join(f"c{column}" for column in range(1000)) + " |\n"
    rule = "|" + "---|" * 1000 + "\n"
    (root / "memory" / "table.md").write_text(f"# Table\n\n{row}{rule}{row * 500}")


def many_sources(root: Path) -> None:
    """Make 50 sources of 200 files."""
    (root / "memory").mkdir(parents=True)
    blocks = []
    for source in range(50):
        folder = root / f"source{source}"
        folder.mkdir()
        blocks.append(f'[[source]]\nname = "s{source}"\npath = "source{source}"\n')
        for number in range(200):
            (folder / f"{number}.md").write_text(f"# {number}\n\n{' '.join(WORDS)} s{source}\n")
    (root / "memcli.toml").write_text("\n".join(blocks))


def main() -> None:
    """Print a table."""
    sizes = [int(size.replace(",", "")) for size in sys.argv[1:]] or [1000, 10_000, 100_000]
    cases: dict[str, Callable[[Path], None]] = {
        **{f"{size:,} files": many_files(size) for size in sizes},
        "a file of 8 MiB": long_file,
        "a table of 1,000 columns": wide_table,
        "50 sources, 10,000 files": many_sources,
    }
    print(f"{'':<26}{'command':<18}{'s':>8}{'CPU s':>8}{'MB':>7}  code  index")
    for name, make in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            root, store = Path(folder) / "ws", Path(folder) / "index.sqlite"
            make(root)
            environ = {
                **os.environ,
                "MEMCLI_STORE": str(store),
                "MEMCLI_EMBEDDING_ENCODER": "none",
                "XDG_CONFIG_HOME": folder,
            }
            for command in (["index"], ["index"], ["search", "pool deploy"], ["status"]):
                line = [*COMMAND, *command, "-w", str(root)]
                seconds, cpu, memory, code = cost_of(line, environ)
                size = store.stat().st_size / 1e6
                print(
                    f"{name:<26}{' '.join(command):<18}{seconds:8.2f}{cpu:8.2f}{memory:7.0f}"
                    f"{code:6}  {size:.1f} MB",
                    flush=True,
                )


if __name__ == "__main__":
    main()
