"""A command line that is none is answered by one that is: its hint is followed here."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.commands import NewWorkspace
from tests.commands import run_here as run

LEADS_ON = {
    "why did the pool run dry": "memcli search 'why did the pool run dry'",
    "'why did the pool run dry'": "memcli search 'why did the pool run dry'",
    "recall 'the pool' -n 3": "memcli search 'the pool' -n 3",
    "serch pool -n 2": "memcli search pool -n 2",
    "add 'deploys are on Tuesdays'": "memcli remember 'deploys are on Tuesdays'",
    "save": "memcli remember --help", "find": "memcli search --help",
    "tags": "memcli ls --count tag", "agents install claude": "memcli agents install claude-code",
    "-w . search pool": "memcli search pool -w .", "--quiet status": "memcli status --quiet",
    "--versions": "memcli --version", "-V": "memcli --version", "-q": "memcli --help",
    "search pool -dry": "memcli search pool -- -dry",
    "search -dry --limit 3": "memcli search 'some words' --limit 3 -- -dry",
    "search pool --nope": "memcli search --help",
    "search pool --json=yes": "memcli search pool --json",
    "remember '-5 degrees in the cellar'": "memcli remember -- '-5 degrees in the cellar'",
    "remember '- five degrees' --dry": "memcli remember '- five degrees' --dry-run",
    "search --limt 3 pool": "memcli search --limit 3 pool",
    "search pool --limt=3": "memcli search pool --limit=3", "status --foo": "memcli status --help",
    "status memory": "memcli status -w memory", "status pool": "memcli status --help",
    "bench": "memcli bench --help", "pool -n 3": "memcli search pool -n 3",
    "the pool --limit=3 ran": "memcli search 'the pool' --limit=3 ran",
    "the pool --dry": "memcli search 'the pool --dry'",
    "help bench init": "memcli bench init --help",
    "help status memory": "memcli status memory --help", "help json pool": "memcli help --help",
    "bench sped": "memcli bench speed", "config limit": "memcli config search.limit",
}  # fmt: skip
# A hint that begins with an option is put into the line in the place of what was refused.
OPTIONS = {
    "search pool --limit ten": "--limit 10", "search pool --limit 0": "--limit 1",
    "search pool --limit 1000": "--limit 100", "search pool --min-score 2": "--min-score 1",
    "search pool --min-score nan": "--min-score 0", "compact --ratio 5": "--ratio 0.9",
    "search pool -n": "--limit 10", "context --budget some": "--budget 2000",
    "search pool -w note": "-w {root}", "search pool -C -1": "--context 0", "ls -n 0": "--limit 1",
    "changes --limit 0": "--limit 1", "ls --limit many": "--limit 1",
    "get memory/2025-05-06.md --from 0": "--from 1", "bench init -n 0": "--limit 1",
}  # fmt: skip


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    return workspace({"memory/2025-05-06.md": "# Log\n\nThe pool ran dry.\n"})


@pytest.mark.parametrize("line", LEADS_ON)
def test_the_line_that_was_meant_is_given_whole_and_runs(notes: Path, line: str) -> None:
    assert _hint(line) == LEADS_ON[line]
    _, *meant = shlex.split(LEADS_ON[line])
    if meant != ["bench", "speed"]:  # which measures for a minute
        assert run(*meant).returncode == 0


@pytest.mark.parametrize("line", OPTIONS)
def test_a_refused_value_is_answered_by_one_that_is_taken(
    notes: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notes.parent)
    monkeypatch.setenv("MEMCLI_WORKSPACE", str(notes))
    expected = OPTIONS[line].format(root=notes)
    assert _hint(line) == expected
    words = shlex.split(line)
    at = next(i for i, word in enumerate(words) if word.startswith("-"))
    assert run(*words[:at], *shlex.split(expected)).returncode == 0


def _hint(line: str) -> str:
    done = run(*shlex.split(line))
    assert done.returncode in (2, 3), done.stderr
    assert done.stdout == ""
    _, hint = done.stderr.splitlines()
    return hint.removeprefix("Try: ")
