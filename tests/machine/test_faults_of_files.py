"""Files and folders fail in every way under each command that writes; `python -m tests.faults
files` tries every position, and here one in so many is tried.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.machine.file_system import FAULTS, GONE, KILL, SHORT
from tests.machine.tries import Trial
from tests.machine.verbs import VERBS, Verb

pytestmark = pytest.mark.skipif(os.name != "posix", reason="folders are opened by descriptors")
MOST = 10  # faults of a verb


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # a process that was killed closes nothing
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("verb", VERBS, ids=[verb.name for verb in VERBS])
def test_a_call_that_fails_costs_nothing(verb: Verb, tmp_path: Path) -> None:
    """No line is lost, what is left is taken away, what is said is so, and the next run mends."""
    trial = Trial(verb, tmp_path.resolve())
    positions = list(trial.faults(FAULTS))
    every = max(1, len(positions) // MOST) | 1
    tried = list(trial.faults(FAULTS, every))
    assert len(tried) >= min(MOST, len(positions))
    assert [each for number, fault in tried for each in trial.findings(number, fault)] == []


# What was found so, by verb: the call, the end of its path, and how it failed.
FOUND = {
    "remember (a new file)": (
        ("fsync", "/memory", "EIO"),  # the note stood there, and was said not to
        ("remove", "2026-02-10.md", "EACCES"),
        ("replace", "remembered.json", "EACCES"),  # what was begun stayed for good
    ),
    "remember --undo": (("open", "remembered.json", "EIO"), ("fsync", ".md", "EDQUOT")),
    "compact": (
        ("stat", "/notes/memory", "EACCES"),  # summaries went to another folder
        ("remove", ".md", KILL),
        ("stat", "index.sqlite.lock", "EINTR"),
    ),
    "agents install": (
        ("lstat", "/.claude", "EINTR"),  # a folder of the person was taken for one of memcli's
        ("replace", "agents.json", KILL),
        ("stat", "CLAUDE.md", GONE),
    ),
    "agents uninstall": (("read", "settings.json", "EIO"),),  # one hook of four was left
    "init": (("write", "memcli.toml", KILL),),  # half a file marked the folder
    "search": (("stat", "memcli.toml", "EIO"),),  # its settings were passed over in silence
    "bench init": (
        ("scandir", "/memory", "EINTR"),
        ("write", "drafts.jsonl", KILL),  # half a set of questions was taken for one
    ),
    # Where the cache is taken away meanwhile, what stood open was missed: exit 70.
    "hook session-start": (("stat", "index.sqlite", GONE),),
    "bench check": (("stat", "index.sqlite", GONE),),
    "hook pre-compact": (("write", "", SHORT),),  # half a word: nothing was forgotten, or said
    "index (beside a half-built one)": (("stat", ".next", GONE), ("stat", ".next-wal", GONE)),
}


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_stays_mended(name: str, tmp_path: Path) -> None:
    (verb,) = (verb for verb in VERBS if verb.name == name)
    trial = Trial(verb, tmp_path.resolve())
    for wanted, path, fault in FOUND[name]:
        numbers = [
            number
            for number, call in enumerate(trial.calls)
            if call.name == wanted and call.path.endswith(path)
        ]
        assert numbers, (wanted, path)
        for number in numbers[:6]:
            assert trial.findings(number, fault) == []


@pytest.mark.parametrize(("name", "times"), [("agents install", 1), ("agents uninstall", 0)])
def test_what_stands_noted_of_agents_is_not_noted_again(
    name: str, times: int, tmp_path: Path
) -> None:
    (verb,) = (verb for verb in VERBS if verb.name == name)
    calls = Trial(verb, tmp_path.resolve()).calls
    written = [c for c in calls if c.name == "replace" and c.path.endswith("agents.json")]
    assert len(written) == times
