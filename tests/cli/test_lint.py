"""`memcli lint`: lines, JSON and gates; it changes nothing and repeats no secret."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memcli.cli.program import page
from memcli.lint.findings import CODES
from tests.cli.test_schemas import _checked
from tests.commands import NewWorkspace, typed
from tests.support import write

TOKEN = "ghp_" + "q8ZrT2mVx7KdLw4Hs9Bn3YfGc6Jp5Rt1EaUv"
FACT = "The pool of tracker-api holds sixty connections to the primary database"


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    return workspace({
        "MEMORY.md": f"# Rules\n\n- {FACT}\n- Deploy with {TOKEN}, see [[gone]]\n",
        "memory/2026-01-05.md": f"- {FACT}\n- [ ] Order labels for {TOKEN}\n",
        "memcli.toml": '[files]\nalways = ["RULES.md"]\n',
    })  # fmt: skip


LINES = """\
MEMORY.md:4: secret: github-token (07aa03)
memory/2026-01-05.md:2: secret: github-token (07aa03)
MEMORY.md:3: duplicate: it appears once more: memory/2026-01-05.md:1
MEMORY.md:4: broken-link: gone does not exist
memory/2026-01-05.md:2: stale-task: open since 2026-01-05, 36 days
unmatched-glob: files.always: RULES.md matches no document
"""
SUMMARY = """\
6 found in 2 documents. What a code means: memcli help secret
  2 secret          revoke it where it was issued, then take it out of the file
  1 duplicate       keep one place, and link to it from the others
  1 broken-link     put the file back, or take the link out
  1 unmatched-glob  correct the glob: memcli config files
  1 stale-task      tick it, drop it, or carry it on
"""


def test_each_line_has_a_place_a_code_and_what_it_is(notes: Path) -> None:
    before = {file: file.read_bytes() for file in notes.rglob("*") if file.is_file()}
    assert typed("lint --now 2026-02-10") == (0, LINES, SUMMARY)
    assert {file: file.read_bytes() for file in notes.rglob("*") if file.is_file()} == before


def test_json_has_the_same_and_its_citations_are_taken_by_get(notes: Path) -> None:
    code, out, err = typed("lint --json --now 2026-02-10")
    record = _checked("memcli.lint", out)
    assert (code, err) == (0, "")
    assert [each["code"] for each in record["findings"]] == [
        "secret", "secret", "duplicate", "broken-link", "stale-task", "unmatched-glob",
    ]  # fmt: skip
    assert sum(record["counts"].values()) == 6
    assert set(record["next"]) == {code for code, count in record["counts"].items() if count}
    assert TOKEN not in out
    for each in record["findings"]:
        for citation in filter(None, (each["citation"], *each["others"])):
            assert typed(f"get {citation}")[0] == 0


def test_of_many_of_one_kind_in_a_document_the_first_stand_for_all(notes: Path) -> None:
    tasks = [f"- [ ] Order labels of kind {at}\n" for at in range(1, 7)]
    write(notes, "memory/2026-01-06.md", "".join(tasks[:4]))
    write(notes, "memory/2026-01-07.md", "- so\n" + "".join(tasks).replace("labels", "toner"))
    name = "memory/2026-01-0"
    four = [f"{name}6.md:{at}: stale-task: open since {name[7:]}6, 35 days" for at in "1234"]
    six = [f"{name}7.md:{at}: stale-task: open since {name[7:]}7, 34 days" for at in "234567"]
    more = f"{name}7.md: stale-task: 3 more like these, which -v lists"
    found = typed("lint --now 2026-02-10")[1].splitlines()
    assert [line for line in found if name + "6" in line] == four
    assert [line for line in found if name + "7" in line] == [*six[:3], more]
    found = typed("lint -v --now 2026-02-10")[1].splitlines()
    assert [line for line in found if name + "7" in line] == six
    record = json.loads(typed("lint --json --now 2026-02-10")[1])
    assert record["counts"]["stale-task"] == len(four) + len(six) + 1


def test_every_secret_is_named(notes: Path) -> None:
    write(notes, "memory/keys.md", f"- {TOKEN}\n" * 9)
    found = typed("lint --now 2026-02-10")[1]
    assert found.count("memory/keys.md:") == 9


@pytest.mark.parametrize(
    ("gate", "code"),
    [
        ("secret", 1),
        ("near-duplicate", 0),
        ("near-duplicate,secret", 1),
        ("near-duplicate --fail-on broken-link", 1),
        ("all", 1),
        ("nosuch", 2),
    ],
)
def test_gates(notes: Path, gate: str, code: int) -> None:
    assert typed(f"lint -q --fail-on {gate}")[0] == code


def test_a_correction_in_words_and_by_a_link_is_one_finding(workspace: NewWorkspace) -> None:
    workspace({
        "memory/2025-07-01.md": "We use Asana for tickets.\n",
        "memory/2025-07-02.md": "We use Jira for tickets instead of Asana."
        " This replaces [[2025-07-01]], see [[a]] and [[b]].\n",
    })  # fmt: skip
    assert typed("lint")[1].splitlines()[:3] == [
        "memory/2025-07-01.md:1: contradiction: a newer note corrects it: memory/2025-07-02.md:1",
        "memory/2025-07-02.md:1: broken-link: a does not exist",
        "memory/2025-07-02.md:1: broken-link: b does not exist",
    ]


def test_a_clean_memory_passes_every_gate(tmp_path: Path) -> None:
    write(tmp_path, "MEMORY.md", "# Rules\n\nKeep the pool full.\n")
    code, out, err = typed(f"lint --fail-on all -w {tmp_path}")
    assert (code, out, err) == (0, "", "Nothing found in 1 document.\n")


def test_what_cannot_be_read_is_named(notes: Path) -> None:
    write(notes, "memory/odd.md", b"\0\0\0\0not text")
    record = json.loads(typed("lint --json")[1])
    (passed,) = record["skipped"]
    assert passed.startswith("memory/odd.md cannot be read: ")


def test_a_summary_that_was_edited_is_found(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    for day in range(1, 6):
        said = f"- We decided number {day}: the pool is dry.\n" + f"- padding {day}\n" * 30
        write(notes, f"memory/2025-01-0{day}.md", f"# A\n\n{said}")
    assert typed("compact --apply --tail 0 --tail-days 0 --cluster 2 --ratio 0.9")[0] == 0
    assert "invalid-summary" not in typed("lint")[1]
    summary = next((notes / "memory/summaries").glob("*.md"))
    write(notes, f"memory/summaries/{summary.name}", summary.read_text("utf-8") + "\nMore.\n")
    name = f"memory/summaries/{summary.name}"
    assert f"{name}: invalid-summary: edited: somebody has changed it" in typed("lint")[1]


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_a_page_with_an_example_of_its_own(code: str) -> None:
    assert typed(f"help {code}")[1] == page(code)
    assert page(code).startswith(f"# {code}: {CODES[code]}\n")
    assert f"{code}: " in page(code).partition("\n")[2]
    assert f"| [{code}](codes/{code}.md) | {CODES[code]} |\n" in page("lint")


def test_pages_are_those_of_the_codes_and_hide_no_topic() -> None:
    from memcli.cli.program import HELP_FOLDER, topics

    assert sorted(f.stem for f in Path(HELP_FOLDER, "codes").iterdir()) == sorted(CODES)
    assert set(CODES).isdisjoint(topics())
