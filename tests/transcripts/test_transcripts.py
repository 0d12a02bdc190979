"""Each transcript prints today what it shows; --update-transcripts rewrites them."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest

from memcli.cli.command_help import command_tree
from memcli.errors import ExitCode, MemcliError
from tests.transcripts.conftest import Player

# Held by tests of processes: tests/cli/test_processes.py and test_schemas.py.
ELSEWHERE = {"write", "interrupted", "bug"}
SCRIPTS = sorted(Path(__file__).parent.glob("*.txt"))


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.stem for script in SCRIPTS])
def test_transcript(script: Path, player: Player, request: pytest.FixtureRequest) -> None:
    expected = script.read_text("utf-8")
    played = player.play(expected)
    if request.config.getoption("--update-transcripts", default=False):
        script.write_text(played, "utf-8")
        return
    diff = difflib.unified_diff(expected.splitlines(), played.splitlines(), lineterm="", n=1)
    assert played == expected, "\n".join(diff)


def test_every_command_code_and_exit_code_is_in_a_transcript() -> None:
    text = "".join(script.read_text("utf-8") for script in SCRIPTS)
    for command in command_tree():
        assert re.search(rf"^\$ .*memcli {command.name}\b", text, re.MULTILINE), command.name
    codes = {error.code for error in MemcliError.__subclasses__()}
    assert codes == set(re.findall(r'(?m)^! {.*"code": "([a-z-]+)"', text))
    exits = {int(code) for code in re.findall(r"^# exit (\d+)$", text, re.MULTILINE)}
    assert {int(code) for code in ExitCode} - exits == {0, ExitCode.BUG, ExitCode.INTERRUPTED}
    processes = Path(__file__).parents[1] / "cli"
    tests = "".join(file.read_text("utf-8") for file in processes.glob("test_*.py"))
    assert {code for code in ELSEWHERE if f'"{code}"' not in tests} == set()
