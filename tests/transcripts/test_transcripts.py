"""Each transcript prints today what it shows; --update-transcripts rewrites them."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from tests.transcripts.conftest import Player

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
