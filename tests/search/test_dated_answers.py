"""Questions with a date, asked of a bakery's notes on 22 November 2026."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memcli.cli.main import run
from tests.support import write

Asked = Callable[..., list[str]]

FAULTS = ("2026-02-11", "2026-04-21", "2026-07-09", "2026-10-02")


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    """Index the notes; ask a question and give the days of its answer, in order."""
    root = tmp_path / "notes"
    for day in FAULTS:
        again = f"# {day}\n\n## Oven\n\n- E17 on the oven again; switched it off and on.\n"
        write(root, f"memory/{day}.md", again)
    write(
        root,
        "memory/2026-03-15.md",
        "# 2026-03-15\n\n- E17 is the sensor: replaced the sensor instead of the board.\n",
    )
    assert run(["index", "-q", "-w", str(root)]) == 0

    def ask(*arguments: str) -> list[str]:
        capsys.readouterr()
        now = ("--now", "2026-11-22", "-w", str(root))
        assert run(["search", *arguments, *now, "-f", "{date}"]) == 0
        return capsys.readouterr().out.split()

    return ask


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_a_wish_for_the_newest_or_oldest_is_answered_in_the_order_of_time(
    ask: Asked, mode: str
) -> None:
    """Neither what differs most nor what corrects an older note breaks it."""
    everything = sorted([*FAULTS, "2026-03-15"])
    for words in ("first E17", "earliest E17", "erster E17"):
        assert ask(words, "--mode", mode) == everything, words
    for words in ("last E17", "latest E17", "what was our last E17?"):
        assert ask(words, "--mode", mode) == everything[::-1], words
    assert ask("first E17 of the oven", "--mode", mode)[0] == FAULTS[0]
