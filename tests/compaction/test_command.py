"""A program of the user's own writes the summary, and cannot lose what must survive."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from memcli.cli.program import page
from memcli.compaction import external_summarizer
from memcli.compaction.compose import EntrySummary, body
from memcli.compaction.external_summarizer import written
from memcli.compaction.sentences import Sentence
from memcli.errors import UsageError
from tests.commands import NewWorkspace, printed, say
from tests.support import write

TERSE = """
import sys
lines = [line for line in sys.stdin.read().split("\\n") if line.startswith("- ")]
print("a preface without a citation")
print("- told elsewhere (memory/2030-01-01.md:1)")
print("- in short: a store was chosen" + lines[0][lines[0].rindex(" ("):])
"""

WORDY = """
import sys
for line in sys.stdin.read().split("\\n"):
    if line.startswith("- "):
        said, where = line.rsplit(" (", 1)
        print(said + " and so on" * 40 + " (" + where)
"""


@pytest.fixture
def notes(workspaces: Path, workspace: NewWorkspace) -> Path:
    return workspace(workspaces / "engineer", encoder="hashing")


def _configure(program: str, folder: Path) -> None:
    folder.mkdir(parents=True)
    command = json.dumps([sys.executable, "-c", program])
    (folder / "config.toml").write_text(f"[compact]\ncommand = {command}\n")


def _compact(notes: Path) -> tuple[int, str, str]:
    return say("compact", "-w", str(notes), "--summarizer", "command", "--show", "--tail", "36",
               "--tail-days", "0", "--ratio", "0.9")  # fmt: skip


def _user_folder() -> Path:
    return Path(os.environ["XDG_CONFIG_HOME"]) / "memcli"


def test_its_lines_are_used_where_they_cite_what_it_was_given(notes: Path) -> None:
    _configure(TERSE, _user_folder())
    code, out, err = _compact(notes)
    assert code == 0, err
    assert "in short: a store was chosen" in out
    assert re.search(r", command, confidence 0\.(?!00)\d\d;", out)  # of what the program wrote
    assert "preface" not in out
    assert "told elsewhere" not in out
    assert "We will use MySQL 8.0 for the new order store." in out
    assert "  2 invented lines dropped" in out.replace(";", " ")


def test_a_program_that_fails_is_named(notes: Path) -> None:
    _configure("import sys; sys.exit('no model')", _user_folder())
    code, out, err = _compact(notes)
    assert (code, out) == (2, "")
    assert "failed with exit code 1: no model" in err


def test_one_that_does_not_shrink_makes_way_for_sentences_and_is_told_of(notes: Path) -> None:
    _configure(WORDY, _user_folder())
    code, out, err = _compact(notes)
    assert code == 0, err
    first = out.split("\n")[0]
    assert re.fullmatch(
        r"would write  \S+\.md  (\d+) -> \d+ tokens, 8 entries;"
        r" what the program wrote costs \d{4} of \1 tokens",
        first,
    )
    assert "and so on" not in out


def test_where_nothing_shrinks_both_reasons_are_told(tmp_path: Path) -> None:
    rules = "\n".join(f"- Rule {n}: you must never touch valve {n}." for n in range(10, 16))
    for day in (1, 2):
        write(tmp_path, f"memory/2025-03-0{day}.md", rules)
    _configure(WORDY, _user_folder())
    out, _ = printed("compact", "-w", str(tmp_path), "--summarizer", "command", "--cluster", "2",
                     "--tail", "0", "--tail-days", "0", "--ratio", "0.6")  # fmt: skip
    assert re.fullmatch(
        r"declined  memory/2025-03-01\.md to memory/2025-03-02\.md: what the program wrote costs"
        r" \d{4} of 126 tokens, and the shortest summary 95\n",
        out,
    )


SAID = ("The store costs 40 euros.", "We chose MySQL on 2025-03-01.", "It rained, and it snowed.")
PATH = "memory/2025-03-01.md"
SENTENCES = tuple(Sentence(said, PATH, n, n, "", "", "") for n, said in enumerate(SAID, start=3))
ENTRIES = (EntrySummary("2025-03-01", ("2025-03-01",), PATH, 3, 5, SENTENCES),)


@pytest.mark.parametrize(
    ("line", "invented"),
    [
        (f"- It costs 40 euros. ({PATH}:3)", 0), (f"- It costs 50 euros. ({PATH}:3)", 1),
        (f"- It costs 40 euros. ({PATH}:5)", 1),
        (f"- It costs 40 euros, since 2025-03-01. ({PATH}:3-4)", 0),
        (f"- A wet day. ({PATH}:5)", 0), (f"- A wet day. ({PATH}:6)", 1), ("- A wet day.", 1),
        ("Here are the lines:", 1), ("# 2025-03-01", 0), ("confidence: 0.8", 0),
        ("confidence: 1.8", 1), ("", 0),
    ],
)  # fmt: skip
def test_a_line_that_says_what_its_lines_do_not_is_dropped_and_counted(
    line: str, invented: int
) -> None:
    made = written(ENTRIES, f"{line}\n")
    told = [sentence.text for sentence in made.entries[0].sentences]
    assert made.invented == invented
    assert (any(text in line for text in told) and line.startswith("- ")) == (
        not invented and line.startswith("- ")
    )
    assert made.confidence == (0.8 if line == "confidence: 0.8" else None)


def test_what_is_written_as_it_was_given_is_never_invented() -> None:
    made = written(ENTRIES, body(ENTRIES, is_read=False))
    assert (made.invented, made.entries[0].sentences) == (0, made.entries[0].sentences)
    assert " ".join(sentence.text for sentence in made.entries[0].sentences) == " ".join(SAID)


def test_the_confidence_of_a_program_is_that_of_its_summary(notes: Path) -> None:
    _configure(TERSE + 'print("confidence: 0.25")', _user_folder())
    assert ", command, confidence 0.25" in _compact(notes)[1]


STAND_IN = """#!{python}
import sys
assert sys.argv[1:-1] == {before}, sys.argv
lines = [line for line in sys.stdin.read().split("\\n") if line.startswith("- ")]
print("- in short: a store was chosen" + lines[0][lines[0].rindex(" ("):])
"""


def test_each_recipe_of_the_help_runs_with_a_program_of_that_interface(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = re.findall(r"""\["\w+", "(?:run|-p|-s)".*?\]""", page("compact"))
    assert len(found) == 4
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    _user_folder().mkdir(parents=True)
    for recipe in found:
        name, *arguments = json.loads(recipe)
        program = tmp_path / "bin" / name
        program.write_text(STAND_IN.format(python=sys.executable, before=arguments[:-1]))
        program.chmod(0o755)
        (_user_folder() / "config.toml").write_text(f"[compact]\ncommand = {recipe}\n")
        code, out, err = _compact(notes)
        assert (code, "- in short: a store was chosen" in out) == (0, True), (name, err)


def test_a_program_that_does_not_end_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_summarizer, "TIMEOUT_SECONDS", 0.01)
    endless = external_summarizer.program([sys.executable, "-c", "while True: pass"])
    with pytest.raises(UsageError, match="took more than 0 s"):
        endless.rewrite("text")
