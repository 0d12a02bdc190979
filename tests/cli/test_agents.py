"""What `memcli help agent-setup` gives to paste works as it stands."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import memcli
from memcli.cli.program import page
from tests.cli.processes import COMMAND

PAGE = page("agent-setup")


def _block(heading: str) -> str:
    """Give the first code below a heading."""
    section = PAGE.partition(f"\n## {heading}\n")[2]
    return section.partition("\n```")[2].partition("\n")[2].partition("```\n")[0]


@pytest.fixture
def notes(workspaces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace to stand in, with `memcli` on the PATH as an installation has it."""
    program = tmp_path / "bin" / "memcli"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(Path(memcli.__file__).parents[1]))
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    monkeypatch.setenv("MEMCLI_SEARCH_MODE", "keyword")  # hashed words know no meaning
    return Path(shutil.copytree(workspaces / "engineer", tmp_path / "notes"))


def _python(code: str, notes: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=notes, capture_output=True, text=True, check=False
    )


ANSWER = "memory/2025-04-08.md"


def test_the_python_example_answers(notes: Path) -> None:
    done = _python(_block("From Python"), notes)
    assert (done.returncode, done.stderr) == (0, "")
    assert "The pool ran dry" in done.stdout


def test_the_shell_example_answers(notes: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", _block("From a shell")], cwd=notes, capture_output=True, text=True, check=True
    )
    assert done.stdout == "".join((notes / ANSWER).read_text().splitlines(keepends=True)[:3])


DEFINITIONS = _block("From Python").partition("\nfor hit in")[0]


def test_memory_search_and_memory_get_keep_their_contracts(notes: Path) -> None:
    done = _python(
        DEFINITIONS
        + """
found = memory_search("pool", maxResults=2)
assert len(found) == 2
for hit in found:
    assert set(hit) == {"path", "startLine", "endLine", "snippet", "score"}
    lines = hit["endLine"] - hit["startLine"] + 1
    assert memory_get(hit["path"], hit["startLine"], lines).startswith(hit["snippet"][:20])
assert found[0]["score"] >= found[1]["score"]
assert memory_search("--version -x", maxResults=1) is not None
several = memcli("search", "-n", "1", "why did the pool run dry", "who is on call")
assert [each["schema"] for each in several] == ["memcli.search/1"] * 2
sure = memory_search("ERR_POOL_EXHAUSTED", minScore=1.0)
assert sure and all("ERR_POOL_EXHAUSTED" in hit["snippet"] for hit in sure)
try:
    memory_get("nowhere.md")
except RuntimeError as error:
    print(error)
""",
        notes,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "there is no document nowhere.md Try: memcli ls\n"


def test_a_path_of_another_source_goes_into_memory_get(notes: Path) -> None:
    (notes / "docs").mkdir()
    (notes / "docs" / "guide.md").write_text("# Guide\n\nA zebrafish swims.\n")
    (notes / "memcli.toml").write_text('[[source]]\nname = "docs"\npath = "docs"\n')
    done = _python(
        DEFINITIONS
        + """
hit = memory_search("zebrafish", maxResults=1)[0]
print(hit["path"], memory_get(hit["path"], 3, 1))
""",
        notes,
    )
    assert done.stdout == "docs:guide.md A zebrafish swims.\n"


def test_the_skill_file_has_its_front_matter() -> None:
    skill = _block("A skill file: SKILL.md")
    front = re.match(r"---\n(.*?)\n---\n", skill, re.DOTALL)
    assert front
    assert re.search(r"^name: memcli$", front[1], re.MULTILINE)
    assert re.search(r"^description: \S", front[1], re.MULTILINE)
