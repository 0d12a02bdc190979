"""Words that nothing holds are looked for as they are most likely meant, and that is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memcli.cli.main import run
from memcli.search.repair import spellings_of
from tests.support import write

NOTES = {
    "memory/2025-06-12.md": "# Log\n\nThe education of the trainees begins in autumn.\n",
    "memory/2025-06-13.md": "# Log\n\nThe deployment waited for the staging database.\n",
    "memory/2025-06-14.md": "# Log\n\nThe environment needs a new certificate.\n",
}
Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    for path, text in NOTES.items():
        write(tmp_path / "notes", path, text)
    assert run(["index", "-q", "-w", str(tmp_path / "notes")]) == 0
    return tmp_path / "notes"


@pytest.fixture
def ask(notes: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Search the notes and give the record of the JSON."""

    def asked(*arguments: str) -> dict[str, Any]:
        capsys.readouterr()
        assert run(["search", *arguments, "-w", str(notes), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert isinstance(found, dict)
        return found

    return asked


def repaired(found: dict[str, Any]) -> dict[str, str]:
    return {each["typed"]: each["searched"] for each in found.get("repaired", [])}


@pytest.mark.parametrize("mode", ["hybrid", "lexical", "dense"])
@pytest.mark.parametrize(
    ("typed", "meant", "path"),
    [
        ("educaton", "education", "memory/2025-06-12.md"),
        ("edcuation", "education", "memory/2025-06-12.md"),
        ("deploymwnt", "deployment", "memory/2025-06-13.md"),
        ("Envirronment", "environment", "memory/2025-06-14.md"),
    ],
)
def test_one_mistake_in_a_word_is_as_good_as_none(
    ask: Ask, mode: str, typed: str, meant: str, path: str
) -> None:
    found = ask(f"notes of the {typed}", "--mode", mode)
    assert repaired(found) == {typed: meant}
    right = ask(f"notes of the {meant}", "--mode", mode)
    assert "repaired" not in right
    assert right["results"][0]["path"] == path
    told = ("citation", "score", "confidence")
    assert [[r[key] for key in told] for r in found["results"]] == [
        [r[key] for key in told] for r in right["results"]
    ]
    assert found["verdict"] == right["verdict"]


def test_what_was_searched_for_is_marked_and_said(
    notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run(["search", "educaton", "-w", str(notes), "-n", "1", "--color", "always"]) == 0
    done = capsys.readouterr()
    assert "education\x1b[0m" in done.out
    assert done.err == "Searched for education in place of educaton.\n"
    assert run(["context", "educaton", "-w", str(notes)]) == 0
    done = capsys.readouterr()
    assert "education of the trainees" in done.out
    assert done.err == "Searched for education in place of educaton.\n"


@pytest.mark.parametrize(
    "asked",
    [
        ["educaton", "--exact"],  # as it is typed
        ["educaton", "--profile", "classic"],
        ['"educaton"'],  # a phrase
        ["educaton*"],  # a prefix
        ["edu_caton"],  # an identifier
        ["log -educaton"],  # excluded
        ["umbrella"],  # a word of English that the notes do not use
        ["wits"],  # too short: a letter from too many words
        ["education"],
    ],
    ids=" ".join,
)
def test_what_is_left_as_it_is(ask: Ask, asked: list[str]) -> None:
    assert "repaired" not in ask(*asked)


def test_a_repair_is_told_in_python_too(notes: Path) -> None:
    import memcli

    with memcli.Memory.open(notes) as memory:
        (repair,) = memory.search("educaton").repaired
        assert repair == ("educaton", "education", "spelling")
        assert memory.context("educaton").repaired == (repair,)
        assert memory.search("education").repaired == ()


def test_the_spellings_at_one_edit_keep_the_first_letter_unless_it_was_swapped() -> None:
    spellings = set(spellings_of("abc"))
    assert {"bac", "acb", "ac", "ab", "abxc", "abcx", "axc", "abx"} <= spellings
    assert {"bc", "xabc", "xbc", "abc"} & spellings == {"abc"}  # its own letter put anew
    assert {spelling for spelling in spellings if spelling[0] != "a"} == {"bac"}
