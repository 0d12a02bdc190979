"""`memcli remember` and `remember --check` at the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli import processes
from tests.commands import NewWorkspace, checked, say

NOW = ("--now", "2026-02-10T14:03")
LOG = "memory/2026-02-10.md"
SECRET = "ghp_" + "q8ZrT2mVx7KdLw4Hs9Bn3YfGc6Jp5Rt1EaUv"


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    text = "# Memory\n\n- The pool of api-7 holds 40 connections.\n- Backups go to Lisbon.\n"
    folder = workspace({"MEMORY.md": text})
    (folder / "memory").mkdir()
    return folder


def _record(name: str, *arguments: str) -> dict[str, Any]:
    return checked(name, say(*arguments, "--json")[1])


def test_a_note_is_kept_found_and_taken_back(notes: Path) -> None:
    assert say("remember", "Deploys are on Tuesdays", *NOW) == (0, f"{LOG}:3\n", "")
    assert (notes / LOG).read_text("utf-8") == ("# 2026-02-10\n\n- 14:03 Deploys are on Tuesdays\n")
    assert say("search", "when are deploys")[1].startswith(f"{LOG}\n3: - 14:03")
    assert say("remember", "--undo") == (0, "", f"Removed {LOG}:3\n")
    assert not (notes / LOG).exists()
    assert say("remember", "--undo") == (1, "", "memcli: there is no note to undo\n")
    assert LOG not in say("search", "when are deploys")[1]


def test_a_log_of_today_beside_the_folder_is_continued(notes: Path) -> None:
    (notes / "2026-02-10.md").write_text("# Log\n", "utf-8")
    assert say("remember", "Deploys are on Tuesdays", *NOW)[1] == "2026-02-10.md:3\n"
    (notes / LOG).write_text("# Log\n", "utf-8")
    assert say("remember", "Backups go to Porto", *NOW)[1] == f"{LOG}:3\n"


@pytest.mark.parametrize("options", [(), ("--dry-run", "-qv")])  # which Typer reads
def test_an_item_of_a_list_is_a_note(notes: Path, options: tuple[str, ...]) -> None:
    code, out, err = say("remember", "- Deploys are on Tuesdays", *NOW, *options)
    assert (code, out.splitlines()[0], err) == (0, f"{LOG}:3", "")


def test_words_of_the_line_are_one_note_and_a_dash_reads_stdin(notes: Path) -> None:
    assert say("remember", "to", "the", "point", "--to", "MEMORY.md")[1] == "MEMORY.md:5\n"
    refused = processes.run("remember", input="A note\n")
    assert (refused.returncode, refused.stderr.endswith("Try: memcli remember -\n")) == (2, True)
    refused = processes.run("remember", "--check", "-", input=b"\0" * 99)
    assert refused.stderr.startswith("memcli: stdin cannot be checked: 99 NUL bytes")
    place = ("--to", "MEMORY.md", "--heading", "Rules", "--type", "user")
    done = processes.run("remember", "-", *place, input="Answers in German.\nAlways.\n")
    assert done.stdout == "MEMORY.md:9-10\n"
    assert (
        (notes / "MEMORY.md")
        .read_text("utf-8")
        .endswith("- to the point\n\n## Rules\n\n- (user) Answers in German.\n  Always.\n")
    )


@pytest.mark.parametrize(
    ("text", "rule", "citation"),
    [
        ("the pool of API-7 holds 40 connections!", "duplicate", "MEMORY.md:3"),
        ("Now the pool of api-7 holds 40 connections", "near-duplicate", "MEMORY.md:3"),
        (f"push with {SECRET}", "secret", None),
        ("…", "empty", None),
        ("word " * 1000, "too-long", None),
    ],
)
def test_what_is_refused_is_said_with_its_citation(
    notes: Path, text: str, rule: str, citation: str | None
) -> None:
    record = _record("memcli.remember", "remember", text)
    assert (record["stored"], record["citation"]) == (False, None)
    assert record["refusal"]["rule"] == rule
    assert record["refusal"]["citation"] == citation
    code, out, err = say("remember", text)
    assert (code, out) == (1, "")
    assert err.startswith("memcli: not saved: ")
    assert (citation or "") in err
    assert SECRET not in err + json.dumps(record)
    assert list((notes / "memory").iterdir()) == []


def test_another_number_is_another_fact_and_the_older_note_is_named(notes: Path) -> None:
    code, out, err = say("remember", "The pool of api-7 holds 60 connections.", *NOW)
    assert (code, out) == (0, f"{LOG}:3\n")
    assert err == (
        "An older note may differ: MEMORY.md:3: The pool of api-7 holds 40 connections.\n"
        "If it replaces one: --undo, then the same note with --corrects PATH:LINE\n"
    )
    record = _record("memcli.remember", "remember", "Bo runs the pool of api-7", "--dry-run")
    line = {"citation": "MEMORY.md:3", "text": "The pool of api-7 holds 40 connections."}
    assert {**line, "differs": False} in record["older"]


def test_a_correction_in_the_text_is_checked_and_a_heading_is_no_older_note(notes: Path) -> None:
    code, out, err = say("remember", "The pool is 60 (corrects MEMORY.md:3)", *NOW)
    assert (code, out, err) == (0, f"{LOG}:3\n", "")
    code, out, err = say("remember", "The pool is 70 (corrects memory/nope.md:3)", *NOW)
    assert (code, out) == (0, f"{LOG}:4\n")
    assert "the note corrects a line that memcli does not find: " in err
    assert "memory/nope.md" in err
    (notes / "docs.md").write_text("# Tests of the gizmo\n\nNothing yet.\n", "utf-8")
    assert say("remember", "Test the gizmo", *NOW) == (0, f"{LOG}:5\n", "")


def test_a_note_marks_what_it_corrects_and_no_other_note_is_lost(notes: Path) -> None:
    text, older = "The pool of api-7 holds 60 connections.", "MEMORY.md:3"
    code, out, err = say("remember", text, "--corrects", older, "--dry-run", *NOW)
    assert (code, out) == (0, f"{LOG}:3\n- 14:03 {text} (corrects {older})\n")
    assert err == f"It corrects: {older}: The pool of api-7 holds 40 connections.\n"
    assert say("remember", f"{text}\n\nIt rains.", *NOW).code == 0
    assert say("remember", text, "--corrects", older, *NOW).code == 0
    written = (notes / LOG).read_text("utf-8")
    assert f"{text}\n\nIt rains.\n\n- 14:03 {text} (corrects {older})\n" in written
    assert say("remember", text, "--corrects", older, *NOW).code == 1
    assert (notes / LOG).read_text("utf-8") == written
    found = _record("memcli.search", "search", "how many connections does the pool hold")
    (mark,) = [m for each in found["results"] for m in each.get("corrected_by", ())]
    assert mark["citation"] == f"{LOG}:7"


def test_a_known_note_that_is_forced_as_a_correction_is_saved_once(notes: Path) -> None:
    text = "The pool of api-7 holds 60 connections."
    assert say("remember", text, *NOW).code == 0
    said = say("remember", text, "--corrects", "MEMORY.md:3", "--force", *NOW)
    assert (said.code, said.out) == (0, f"{LOG}:4\n")
    assert (notes / LOG).read_text("utf-8").count(text) == 2


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["--corrects", "nope.md:3"], 3, "there is no document nope.md:3"),
        (["--corrects", "MEMORY.md:3", "--to", "MEMORY.md"], 2, "today's log"),
        (["--corrects", "MEMORY.md:3", "(corrects MEMORY.md:3)"], 2, "names a line"),
        (["--corrects", "a (1).md:1"], 2, "parentheses"),
    ],
)
def test_a_correction_that_would_mark_nothing_is_refused(
    notes: Path, arguments: list[str], code: int, why: str
) -> None:
    (notes / "a (1).md").write_text("The pool is 40.\n", "utf-8")
    said = say("remember", "The pool is 60.", *arguments, *NOW)
    assert (said.code, why in said.err) == (code, True)
    assert list((notes / "memory").iterdir()) == []


def test_what_is_corrected_may_be_true_again(notes: Path) -> None:
    for month, line in (("10", "Treasurer: Lena."), ("11", "New treasurer: Omar.")):
        (notes / f"memory/2025-{month}-01.md").write_text(f"# Log\n\n{line}\n", "utf-8")
    say("index")
    code, _, err = say("remember", "New treasurer: Omar.", *NOW)
    assert (code, "memory/2025-11-01.md:3" in err) == (1, True)
    code, _, err = say("remember", "Treasurer: Lena.", *NOW)
    (mark,) = re.findall(
        r"but memory/2025-11-01.md:3 corrects it; .*, add (.*): memory/2025-10", err
    )
    assert code == 1
    assert say("remember", f"Treasurer: Lena. {mark}", *NOW)[:2] == (0, f"{LOG}:3\n")
    assert f"3 corrected by {LOG}:3" in say("search", "who is the treasurer")[1]
    code, _, err = say("remember", "Treasurer: Lena.", *NOW)
    assert (code, f"{LOG}:3" in err) == (1, True)


def test_a_task_is_open_until_it_is_done(notes: Path) -> None:
    assert say("remember", "- [ ] water the ficus", *NOW)[0] == 0
    assert "- [ ] water the ficus" in say("context")[1]


def test_force_keeps_a_note_and_says_what_spoke_against_it(notes: Path) -> None:
    text = "The pool of api-7 holds 40 connections."
    code, out, err = say("remember", text, "--force", *NOW)
    assert (code, out) == (0, f"{LOG}:3\n")
    assert err.startswith("memcli: saved anyway: duplicate of an existing line: MEMORY.md:3")
    assert say("remember", "!", "--force")[0] == 1


def test_a_dry_run_writes_nothing(notes: Path) -> None:
    before = sorted(notes.rglob("*"))
    assert say("remember", "Deploys are on Tuesdays", "--dry-run", *NOW) == (
        0, f"{LOG}:3\n- 14:03 Deploys are on Tuesdays\n", "",
    )  # fmt: skip
    assert sorted(notes.rglob("*")) == before
    record = _record("memcli.remember", "remember", "It rains", "--dry-run", "--explain", *NOW)
    assert (record["stored"], record["made"], record["citation"]) == (False, True, f"{LOG}:3")
    assert [check["rule"] for check in record["checks"]] == [
        "too-long", "secret", "duplicate", "near-duplicate", "echo", "low-score",
    ]  # fmt: skip


def test_the_gate_refuses_chatter_and_keeps_rules(notes: Path) -> None:
    code, out, err = say("remember", "Thanks, that sounds great", "--gate", "--explain")
    assert code == 1
    assert re.search(r"^refused  low-score: its score is 0\.\d\d = novelty", out, re.MULTILINE)
    assert "it must be at least" in err
    assert say("remember", "Never deploy api-7 on Fridays", "--gate")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "there is nothing to remember"),
        (("--undo", "x"), "--undo takes no text"),
        (("x", "--to", "/etc/x.md"), "is not a path inside the workspace"),
        (("x", "--to", "notes.txt"), "is not a Markdown file"),
        (("x", "--to", "memory/summaries/x.md"), "is in the folder of summaries"),
        (("x", "--to", ".hidden/x.md"), "is left out of the memory"),
        (("x", "--type", "rule"), "the type must be one of user, feedback, project, reference"),
        (("x\0y".replace("\0", "\x01"),), "which is not text"),
    ],
)
def test_what_cannot_be_asked(notes: Path, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = say("remember", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "\nTry: " in err


def test_check_prints_the_score_of_each_paragraph_and_writes_nothing(notes: Path) -> None:
    draft = notes.parent / "draft.md"
    draft.write_text(
        "# Draft\n\nBackups go to Lisbon.\n\n- Never deploy api-7 on Fridays\n", "utf-8"
    )
    record = _record("memcli.remember-check", "remember", "--check", str(draft))
    first, second = record["results"]
    assert first["refusal"]["citation"] == "MEMORY.md:4"
    assert (second["kind"], second["refusal"]) == ("rule", None)
    lines = say("remember", "--check", str(draft))[1].splitlines()
    assert re.fullmatch(rf"0\.\d\d  duplicate MEMORY\.md:4  {draft}:3  Backups .*", lines[0])
    assert re.fullmatch(rf"[01]\.\d\d  keep  {draft}:5  Never deploy api-7 on Fridays", lines[1])


def test_a_document_of_the_memory_is_no_duplicate_of_itself(notes: Path) -> None:
    record = _record("memcli.remember-check", "remember", "--check", "MEMORY.md")
    assert [each["refusal"] for each in record["results"]] == [None, None]


def test_undo_leaves_a_changed_note_and_goes_on_to_the_one_before(notes: Path) -> None:
    say("remember", "Deploys are on Tuesdays", *NOW)
    say("remember", "The annex has 12 rooms", *NOW)
    log = notes / LOG
    log.write_text(log.read_text("utf-8").replace("12", "14") + "- by hand\n", "utf-8")
    record = _record("memcli.remember-undo", "remember", "--undo")
    assert record == {
        "schema": "memcli.remember-undo/1", "removed": False, "path": LOG,
        "start_line": 4, "end_line": 4, "reason": "its lines have changed since",
    }  # fmt: skip
    assert say("remember", "--undo") == (0, "", f"Removed {LOG}:3\n")
    assert log.read_text("utf-8").endswith("\n\n\n- 14:03 The annex has 14 rooms\n- by hand\n")
