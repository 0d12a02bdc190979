"""Rules that a setting names are in every context, and a glob that names none is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import NewWorkspace, printed
from tests.context.makers import context, put, record

RULES = "# Agents\n\nAsk first.\n"


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    return workspace({"memory/2026-02-01.md": "# Day\n\nThe heron was fed.\n"})


def shown(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(part["section"], part["citation"]) for part in found["parts"]]


def answer(*arguments: str) -> tuple[dict[str, Any], str]:
    out, err = printed(*arguments)
    return json.loads(out), err


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ('[files]\nalways = ["AGENTS.md"]\n', ("always", "AGENTS.md:1-3")),
        ('[files]\nsoft = ["AGENTS.md"]\n', ("soft", "AGENTS.md:1-3")),
        ('[files]\nalways = ["rules/**", "!rules/old.md"]\n', ("always", "rules/house.md:1-3")),
        (
            '[[source]]\nname = "docs"\npath = "docs"\ninclude = ["adr/*.md"]\n'
            'always = ["TONE.md"]\n',
            ("always", "docs:TONE.md:1-3"),
        ),
    ],
)
def test_what_is_marked_by_a_glob_is_there(
    notes: Path, settings: str, rule: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_FILES_SCOPE", "memory")
    put(notes, {
        "memcli.toml": settings, "AGENTS.md": RULES, "README.md": "Not of the memory.\n",
        "rules/house.md": RULES, "docs/TONE.md": RULES, "docs/other.md": "Not of the source.\n",
    })  # fmt: skip
    found = record(notes, "--budget", "300")
    assert shown(found)[0] == rule
    assert found["warnings"] == []
    assert {part["path"] for part in found["parts"]}.isdisjoint({"README.md", "other.md"})


@pytest.mark.parametrize("glob", ["../AGENTS.md", "hidden/.rules.md", "node_modules/**", "kept.md"])
def test_marked_files_obey_the_root_and_the_ignore_rules(notes: Path, glob: str) -> None:
    put(notes.parent, {"AGENTS.md": RULES})
    put(notes, {
        "memcli.toml": f'[files]\nalways = ["{glob}"]\n', ".memcliignore": "kept.md\n",
        "hidden/.rules.md": RULES, "node_modules/a.md": RULES, "kept.md": RULES,
    })  # fmt: skip
    found = record(notes, "--budget", "300")
    assert [section for section, _ in shown(found)] == ["recent"]
    assert found["warnings"] == [
        f"files.always: {glob} matches no document. Try: memcli config files"
    ]


def test_every_command_says_that_a_glob_matches_nothing(notes: Path) -> None:
    put(notes, {
        "memcli.toml": '[files]\nsoft = ["AGENT.md"]\n'
        '[[source]]\nname = "docs"\npath = "docs"\nalways = ["TONE.md"]\n',
        "docs/a.md": "A page.\n",
    })  # fmt: skip
    told = [
        "files.soft: AGENT.md matches no document. Try: memcli config files",
        "always of the source docs: TONE.md matches no document. Try: memcli config",
    ]
    as_text = "".join(f"memcli: {line} -w {notes}\n" for line in told)
    workspace = ("-w", str(notes))
    index, err = answer("index", "--json", *workspace)
    assert (index["warnings"], as_text in err) == (told, True)
    status, _ = answer("status", "--json", *workspace)
    assert status["warnings"][: len(told)] == told
    assert record(notes)["warnings"] == told
    assert as_text in context(notes, "heron")[2]
    put(notes, {"AGENT.md": RULES, "docs/TONE.md": RULES})
    assert record(notes, "heron")["warnings"] == []


def test_a_glob_is_missed_in_an_empty_memory_too(tmp_path: Path) -> None:
    notes = put(tmp_path, {"memory/.keep": "", "memcli.toml": '[files]\nalways = ["AGENT.md"]\n'})
    assert len(record(notes)["warnings"]) == 1
