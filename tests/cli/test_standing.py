"""`status`, `search --no-sync` and `index --dry-run` tell what the next `memcli index` reports."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memcli.api import status
from tests.commands import say
from tests.store_check import open_writer
from tests.support import touch, write

LISTS = ("added", "changed", "reindexed", "moved", "removed")
SOURCE = '[[source]]\nname = "handbook"\npath = "docs"\n'
NO_TEXT = b"\0\0\0\0not text"


class Desk:
    """A workspace with a second source, indexed once, and the commands that tell of it."""

    def __init__(self, folder: Path, store: Path) -> None:
        self.root, self.store = folder, str(store)
        for name in "abc":
            self.write(f"memory/{name}.md", f"# {name}\n\nThe fox saw the {name}.\n")
        self.write("memory/disk/d.md", "# d\n\nA train.\n")
        self.write("memory/odd.md", NO_TEXT)
        self.write("docs/rules.md", "# Rules\n\nBe kind to the fox.\n")
        self.write("docs/style.md", "# Style\n\nShort words.\n")
        self.configure(SOURCE)

    def write(self, path: str, text: str | bytes) -> None:
        write(self.root, path, text)

    def configure(self, text: str) -> None:
        (self.root / "memcli.toml").write_text(text)

    def run(self, *arguments: str) -> tuple[int, str, str]:
        return say(*arguments)

    def json(self, *arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run(*arguments, "--json")[1])
        return found

    def unmount(self) -> None:
        """Take a folder away; the mount that is remembered is one no test can make."""
        writer = open_writer(self.store)
        writer.remember({"mounts": '[["memory", "memory/disk"]]'})
        writer.close()
        (self.root / "memory/disk").rename(self.root.parent / "away")
        (self.root / "memory/disk").mkdir()


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("MEMCLI_STORE", str(tmp_path / "store" / "index.sqlite"))
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    monkeypatch.setenv("MEMCLI_WORKSPACE", str(tmp_path / "notes"))
    made = Desk(tmp_path / "notes", tmp_path / "store" / "index.sqlite")
    made.run("index")
    return made


def nothing(desk: Desk) -> None:
    """Leave all as it is."""


def touched(desk: Desk) -> None:
    touch(desk.root / "memory/a.md")
    touch(desk.root / "memory/odd.md")
    touch(desk.root / "docs/rules.md")


def edited(desk: Desk) -> None:
    desk.write("memory/a.md", "# a\n\nAnother text.\n")
    desk.write("docs/rules.md", "# Rules\n\nOthers.\n")


def added(desk: Desk) -> None:
    desk.write("memory/n.md", "# n\n")
    desk.write("docs/n.md", "# n\n")


def added_but_no_text(desk: Desk) -> None:
    desk.write("memory/n.md", NO_TEXT)


def removed(desk: Desk) -> None:
    for path in ("memory/b.md", "memory/odd.md", "docs/style.md"):
        (desk.root / path).unlink()


def moved(desk: Desk) -> None:
    (desk.root / "memory/a.md").rename(desk.root / "memory/z.md")
    (desk.root / "docs/rules.md").rename(desk.root / "memory/rules.md")


def moved_and_edited(desk: Desk) -> None:
    moved(desk)
    desk.write("memory/z.md", "# z\n\nAnother text.\n")


def no_longer_text(desk: Desk) -> None:
    desk.write("memory/a.md", NO_TEXT)


def text_at_last(desk: Desk) -> None:
    desk.write("memory/odd.md", "# odd\n")


def other_chunks(desk: Desk) -> None:
    desk.configure("[chunk]\ntokens = 100\n" + SOURCE)


def other_kind(desk: Desk) -> None:
    desk.configure(SOURCE + 'kind = "rule"\n')


def other_settings(desk: Desk) -> None:
    desk.configure("[chunk]\ntokens = 100\n" + SOURCE + 'kind = "rule"\n')


def source_added(desk: Desk) -> None:
    desk.configure(SOURCE + '[[source]]\nname = "inner"\npath = "memory/disk"\n')


def source_gone(desk: Desk) -> None:
    desk.configure("")


def folder_gone(desk: Desk) -> None:
    (desk.root / "docs").rename(desk.root.parent / "docs")


def unmounted(desk: Desk) -> None:
    desk.unmount()


def everything(desk: Desk) -> None:
    """Change all at once; what was moved has a successor under its old name."""
    for change in (touched, added, moved, no_longer_text, text_at_last, other_kind, unmounted):
        change(desk)
    desk.write("memory/b.md", "# b\n\nAnother text.\n")
    (desk.root / "memory/c.md").unlink()


MEMORY = ["memory/a.md", "memory/b.md", "memory/c.md", "memory/disk/d.md"]
ALL = sorted(["handbook:rules.md", "handbook:style.md", *MEMORY])
DOCS = [(f"handbook:{name}.md", f"docs/{name}.md") for name in ("rules", "style")]
RULES, A = ("handbook:rules.md", "memory/rules.md"), ("memory/a.md", "memory/z.md")
# The lists that are not empty, and the settings that have changed.
TABLE: list[tuple[Callable[[Desk], None], dict[str, list[Any]]]] = [
    (nothing, {}),
    (touched, {}),
    (edited, {"changed": ["handbook:rules.md", "memory/a.md"]}),
    (added, {"added": ["handbook:n.md", "memory/n.md"]}),
    (added_but_no_text, {}),
    (removed, {"removed": ["handbook:style.md", "memory/b.md", "memory/odd.md"]}),
    (moved, {"moved": [RULES, A]}),
    (moved_and_edited, {"added": [A[1]], "moved": [RULES], "removed": [A[0]]}),
    (no_longer_text, {"changed": ["memory/a.md"]}),
    (text_at_last, {"changed": ["memory/odd.md"]}),
    (other_chunks, {"reindexed": ALL, "settings": ["chunking"]}),
    (other_kind, {"reindexed": ALL[:2], "settings": ["sources"]}),
    (other_settings, {"reindexed": ALL, "settings": ["chunking", "sources"]}),
    (source_gone, {"moved": DOCS}),
    (source_added, {"moved": [("memory/disk/d.md", "inner:d.md")]}),
    (folder_gone, {}),
    (unmounted, {}),
    (
        everything,
        {
            "added": ["handbook:n.md", "memory/n.md", "memory/z.md"],
            "changed": ["memory/a.md", "memory/b.md", "memory/odd.md"],
            "reindexed": ["handbook:style.md"],
            "moved": [RULES],
            "removed": ["memory/c.md"],
            "settings": ["sources"],
        },
    ),
]


@pytest.mark.parametrize(
    ("change", "expected"), TABLE, ids=[change.__name__ for change, _ in TABLE]
)
def test_every_command_tells_what_the_next_run_reports(
    desk: Desk, change: Callable[[Desk], None], expected: dict[str, list[Any]]
) -> None:
    change(desk)
    plan = desk.json("index", "--dry-run")
    assert plan.pop("schema") == "memcli.index-plan/1"
    told = {**plan, "moved": [(pair["from"], pair["to"]) for pair in plan["moved"]]}
    assert {name: names for name, names in told.items() if names} == expected
    status = desk.json("status")
    assert status["changes"] == plan
    fresh = desk.json("search", "fox", "--no-sync", "-v")["freshness"]
    pending = sum(len(plan[name]) for name in LISTS if name != "reindexed")
    state = "out_of_date" if pending or plan["reindexed"] else "up_to_date"
    assert (status["state"], fresh["state"], fresh["pending"]) == (state, state, pending)
    assert ("have changed" in str(fresh) or "has changed" in str(fresh)) == bool(plan["reindexed"])

    files = desk.json("index")["files"]
    assert files["changed"] == sorted([*plan["changed"], *plan["reindexed"]])
    assert [files[name] for name in ("added", "moved", "removed")] == [
        plan[name] for name in ("added", "moved", "removed")
    ]
    plan = desk.json("index", "--dry-run")
    assert [plan[name] for name in (*LISTS, "settings")] == [[]] * 6
    assert desk.json("status")["state"] == "up_to_date"


def test_the_dry_run_of_what_is_in_step_says_so(desk: Desk) -> None:
    assert desk.run("index", "--dry-run") == (0, "", "No file would be indexed or removed.\n")
    assert desk.run("index", "--dry-run", "--json")[2] == ""


def test_the_dry_run_in_words(desk: Desk) -> None:
    everything(desk)
    code, out, err = desk.run("index", "--dry-run")
    assert code == 0
    assert out.splitlines() == [
        "added     handbook:n.md",
        "added     memory/n.md",
        "added     memory/z.md",
        "changed   memory/a.md",
        "changed   memory/b.md",
        "changed   memory/odd.md",
        "reindexed handbook:style.md",
        "moved     handbook:rules.md -> memory/rules.md",
        "removed   memory/c.md",
    ]
    assert err.splitlines() == [
        "memcli: memory/disk cannot be listed: nothing is mounted there now;"
        " what is indexed of it stays",
        "memcli: the settings of sources have changed: 1 file is to be stored again."
        " Try: memcli index",
    ]


def test_status_in_words(desk: Desk) -> None:
    everything(desk)
    code, out, _ = desk.run("status", "--check")
    lines = out.splitlines()
    assert code == 1
    assert lines[1].endswith(", out of date")
    assert "moved      handbook:rules.md -> memory/rules.md" in lines
    assert "reindexed  handbook:style.md" in lines
    assert [line for line in lines if line.startswith("warning")] == [
        "warning    memory/disk cannot be listed: nothing is mounted there now;"
        " what is indexed of it stays",
        "warning    the settings of sources have changed: 1 file is to be stored again."
        " Try: memcli index",
        "warning    8 files differ from the index. Try: memcli index",
    ]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (nothing, []),
        (touched, []),
        (
            edited,
            [
                "2 changed files (handbook:rules.md and memory/a.md) are not in this answer"
                " (not synced). Try: memcli index"
            ],
        ),
        (
            other_settings,
            [
                "the settings of chunks and sources have changed:"
                " 6 files are to be stored again. Try: memcli index"
            ],
        ),
        (
            everything,
            [
                "memory/disk cannot be listed: nothing is mounted there now;"
                " what is indexed of it stays",
                "3 new files (handbook:n.md, memory/n.md and memory/z.md), 3 changed files"
                " (memory/a.md, memory/b.md and memory/odd.md), 1 moved file (memory/rules.md) and"
                " 1 deleted file (memory/c.md) are not in this answer (the settings of sources"
                " have changed: 1 file is to be stored again). Try: memcli index",
            ],
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_search_context_and_the_bench_in_words(
    desk: Desk, change: Callable[[Desk], None], told: list[str]
) -> None:
    desk.write(".memcli/questions.jsonl", '{"query": "kind", "relevant": "docs/style.md"}\n')
    change(desk)
    said = [f"memcli: {line}" for line in told]
    assert desk.run("search", "fox", "--no-sync", "--more")[2].splitlines() == said
    assert desk.run("context", "fox", "--no-sync", "--budget", "5000")[2].splitlines() == said
    bench = desk.run("bench", "quality", "--no-sync")[2].splitlines()
    assert bench == [line.replace("this answer", "these answers") for line in said]


def test_before_the_first_run(desk: Desk) -> None:
    Path(desk.store).unlink()
    plan = desk.json("index", "--dry-run")
    status = desk.json("status")
    assert (plan["added"], plan["settings"]) == (ALL, [])
    assert status["changes"] == {name: plan[name] for name in (*LISTS, "settings")}
    assert (status["state"], status["warnings"]) == (
        "not_indexed",
        ["there is no index yet. Try: memcli index"],
    )
    assert desk.json("index")["files"]["added"] == ALL


def test_settings_that_change_while_nothing_is_indexed_are_believed(desk: Desk) -> None:
    """A note that a search brings in is stored by the settings of today."""
    for path in (*MEMORY, "memory/odd.md"):
        (desk.root / path).unlink()
    desk.configure('[files]\nscope = "memory"\n')
    desk.run("index")
    assert desk.json("status")["state"] == "empty"
    other_kind(desk)
    results = desk.json("search", "kind", "-v")["results"]
    assert {result["kind"] for result in results} == {"rule"}
    assert desk.json("index", "--dry-run")["reindexed"] == []


def test_how_a_workspace_stands_is_told_without_a_command_line() -> None:
    tree = ast.parse(Path(status.__file__).read_text("utf-8"))
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not {name for name in imported if name.startswith(("typer", "memcli.cli"))}


def test_files_that_cannot_be_listed_are_not_counted_as_there(desk: Desk) -> None:
    folder_gone(desk)
    status = desk.json("status")
    (source,) = (each for each in status["sources"] if each["files"] < each["documents"])
    lines = desk.run("status")[1].splitlines()
    assert lines[1].endswith(", up to date as far as files can be read")
    told = f"{source['documents']} files, {source['files']} of them readable now, "
    assert any(line.startswith(f"source     {source['name']}: {told}") for line in lines)
