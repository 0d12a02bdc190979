"""`status`, `search --no-sync` and `index --dry-run` tell what the next `memcli index` reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.commands import record, say
from tests.store_check import open_writer
from tests.support import touch, write

LISTS = ("added", "changed", "reindexed", "moved", "removed")
SOURCE = '[[source]]\nname = "handbook"\npath = "docs"\n'
NO_TEXT = b"\0\0\0\0not text"
UNSEARCHED = "memory/odd.md is not searched. Try: memcli status"


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
        self.write("memcli.toml", SOURCE)

    def write(self, path: str, text: str | bytes) -> None:
        write(self.root, path, text)

    def change(self, *names: str) -> None:
        """Do what stands under these names in the tables: first the moves, then the texts."""
        for name in names:
            for path in TOUCHED.get(name, ()):
                touch(self.root / path)
            if name == "unmounted":
                self.unmount()
            for old, new in MOVES.get(name, ()):
                (self.root / old).rename(self.root / new)
            for path, text in TEXTS.get(name, {}).items():
                if text is None:
                    (self.root / path).unlink()
                else:
                    self.write(path, text)

    def unmount(self) -> None:
        """Take a folder away; the mount that is remembered is one no test can make."""
        writer = open_writer(self.store)
        writer.set_facts({"mounts": '[["memory", "memory/disk"]]'})
        writer.close()
        (self.root / "memory/disk").rename(self.root.parent / "away")
        (self.root / "memory/disk").mkdir()


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("MEMCLI_STORE", str(tmp_path / "store" / "index.sqlite"))
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    monkeypatch.setenv("MEMCLI_WORKSPACE", str(tmp_path / "notes"))
    made = Desk(tmp_path / "notes", tmp_path / "store" / "index.sqlite")
    say("index")
    return made


CHUNKS, KIND = "[chunk]\ntokens = 100\n", 'kind = "rule"\n'
TEXTS: dict[str, dict[str, str | bytes | None]] = {
    "edited": {"memory/a.md": "# a\n\nAnother text.\n", "docs/rules.md": "# Rules\n\nOthers.\n"},
    "added": {"memory/n.md": "# n\n", "docs/n.md": "# n\n"},
    "added but no text": {"memory/n.md": NO_TEXT},
    "removed": dict.fromkeys(("memory/b.md", "memory/odd.md", "docs/style.md")),
    "moved and edited": {"memory/z.md": "# z\n\nAnother text.\n"},
    "no longer text": {"memory/a.md": NO_TEXT},
    "text at last": {"memory/odd.md": "# odd\n"},
    "other chunks": {"memcli.toml": CHUNKS + SOURCE},
    "other kind": {"memcli.toml": SOURCE + KIND},
    "other settings": {"memcli.toml": CHUNKS + SOURCE + KIND},
    "source added": {"memcli.toml": f'{SOURCE}[[source]]\nname = "inner"\npath = "memory/disk"\n'},
    "source gone": {"memcli.toml": ""},
    "others edited and removed": {"memory/b.md": "# b\n\nAnother text.\n", "memory/c.md": None},
}
TOUCHED = {"touched": ("memory/a.md", "memory/odd.md", "docs/rules.md")}
MOVED = (("memory/a.md", "memory/z.md"), ("docs/rules.md", "memory/rules.md"))
MOVES = {"moved": MOVED, "moved and edited": MOVED, "folder gone": (("docs", "../docs"),)}
# What was moved has a successor under its old name.
EVERYTHING = (
    "touched", "added", "moved", "no longer text", "text at last", "other kind", "unmounted",
    "others edited and removed",
)  # fmt: skip
MEMORY = ["memory/a.md", "memory/b.md", "memory/c.md", "memory/disk/d.md"]
ALL = sorted(["handbook:rules.md", "handbook:style.md", *MEMORY])
DOCS = [(f"handbook:{name}.md", f"docs/{name}.md") for name in ("rules", "style")]
A, RULES = MOVED[0], ("handbook:rules.md", "memory/rules.md")
# The lists that are not empty, and the settings that have changed.
TABLE: dict[str, dict[str, list[Any]]] = {
    "nothing": {},
    "touched": {},
    "edited": {"changed": ["handbook:rules.md", "memory/a.md"]},
    "added": {"added": ["handbook:n.md", "memory/n.md"]},
    "added but no text": {},
    "removed": {"removed": ["handbook:style.md", "memory/b.md", "memory/odd.md"]},
    "moved": {"moved": [RULES, A]},
    "moved and edited": {"added": [A[1]], "moved": [RULES], "removed": [A[0]]},
    "no longer text": {"changed": ["memory/a.md"]},
    "text at last": {"changed": ["memory/odd.md"]},
    "other chunks": {"reindexed": ALL, "settings": ["chunking"]},
    "other kind": {"reindexed": ALL[:2], "settings": ["sources"]},
    "other settings": {"reindexed": ALL, "settings": ["chunking", "sources"]},
    "source gone": {"moved": DOCS},
    "source added": {"moved": [("memory/disk/d.md", "inner:d.md")]},
    "folder gone": {},
    "unmounted": {},
    "everything": {
        "added": ["handbook:n.md", "memory/n.md", "memory/z.md"],
        "changed": ["memory/a.md", "memory/b.md", "memory/odd.md"],
        "reindexed": ["handbook:style.md"],
        "moved": [RULES],
        "removed": ["memory/c.md"],
        "settings": ["sources"],
    },
}


@pytest.mark.parametrize("change", TABLE)
def test_every_command_tells_what_the_next_run_reports(desk: Desk, change: str) -> None:
    desk.change(*(EVERYTHING if change == "everything" else (change,)))
    plan = record("index", "--dry-run")
    assert plan.pop("schema") == "memcli.index-plan/1"
    told = {**plan, "moved": [(pair["from"], pair["to"]) for pair in plan["moved"]]}
    assert {name: names for name, names in told.items() if names} == TABLE[change]
    status = record("status")
    assert status["changes"] == plan
    fresh = record("search", "fox", "--no-sync", "-v")["freshness"]
    pending = sum(len(plan[name]) for name in LISTS if name != "reindexed")
    state = "out_of_date" if pending or plan["reindexed"] else "up_to_date"
    assert (status["state"], fresh["state"], fresh["pending"]) == (state, state, pending)
    assert ("have changed" in str(fresh) or "has changed" in str(fresh)) == bool(plan["reindexed"])

    files = record("index")["files"]
    assert files["changed"] == sorted([*plan["changed"], *plan["reindexed"]])
    assert [files[name] for name in ("added", "moved", "removed")] == [
        plan[name] for name in ("added", "moved", "removed")
    ]
    plan = record("index", "--dry-run")
    assert [plan[name] for name in (*LISTS, "settings")] == [[]] * 6
    assert record("status")["state"] == "up_to_date"


def test_the_dry_run_of_what_is_in_step_says_so(desk: Desk) -> None:
    assert say("index", "--dry-run") == (0, "", "No file would be indexed or removed.\n")
    assert say("index", "--dry-run", "--json")[2] == ""


def test_the_dry_run_in_words(desk: Desk) -> None:
    desk.change(*EVERYTHING)
    code, out, err = say("index", "--dry-run")
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
    desk.change(*EVERYTHING)
    code, out, _ = say("status", "--check")
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
    ("changes", "told"),
    [
        ((), [UNSEARCHED]),
        (("touched",), [UNSEARCHED]),
        (
            ("edited",),
            [
                UNSEARCHED,
                "2 changed files (handbook:rules.md and memory/a.md) are not in this answer"
                " (not synced). Try: memcli index",
            ],
        ),
        (
            ("other settings",),
            [
                UNSEARCHED,
                "the settings of chunks and sources have changed:"
                " 6 files are to be stored again. Try: memcli index",
            ],
        ),
        (
            EVERYTHING,
            [
                "memory/disk cannot be listed: nothing is mounted there now;"
                " what is indexed of it stays",
                "memory/a.md and memory/odd.md are not searched. Try: memcli status",
                "3 new files (handbook:n.md, memory/n.md and memory/z.md), 3 changed files"
                " (memory/a.md, memory/b.md and memory/odd.md), 1 moved file (memory/rules.md) and"
                " 1 deleted file (memory/c.md) are not in this answer (the settings of sources"
                " have changed: 1 file is to be stored again). Try: memcli index",
            ],
        ),
    ],
)
def test_search_context_and_the_bench_in_words(
    desk: Desk, changes: tuple[str, ...], told: list[str]
) -> None:
    desk.write(".memcli/questions.jsonl", '{"query": "kind", "relevant": "docs/style.md"}\n')
    desk.change(*changes)
    said = [f"memcli: {line}" for line in told]
    assert say("search", "fox", "--no-sync", "--more")[2].splitlines() == said
    assert say("context", "fox", "--no-sync", "--budget", "5000")[2].splitlines() == said
    bench = say("bench", "quality", "--no-sync")[2].splitlines()
    assert bench == [line.replace("this answer", "these answers") for line in said]


def test_before_the_first_run(desk: Desk) -> None:
    Path(desk.store).unlink()
    plan = record("index", "--dry-run")
    status = record("status")
    assert (plan["added"], plan["settings"]) == (ALL, [])
    assert status["changes"] == {name: plan[name] for name in (*LISTS, "settings")}
    assert (status["state"], status["warnings"]) == (
        "not_indexed",
        ["there is no index yet. Try: memcli index"],
    )
    assert record("index")["files"]["added"] == ALL


def test_settings_that_change_while_nothing_is_indexed_are_believed(desk: Desk) -> None:
    """A note that a search brings in is stored by the settings of today."""
    for path in (*MEMORY, "memory/odd.md"):
        (desk.root / path).unlink()
    desk.write("memcli.toml", '[files]\nscope = "memory"\n')
    say("index")
    assert record("status")["state"] == "empty"
    desk.change("other kind")
    results = record("search", "kind", "-v")["results"]
    assert {result["kind"] for result in results} == {"rule"}
    assert record("index", "--dry-run")["reindexed"] == []


def test_files_that_cannot_be_listed_are_not_counted_as_there(desk: Desk) -> None:
    desk.change("folder gone")
    status = record("status")
    (source,) = (each for each in status["sources"] if each["files"] < each["documents"])
    lines = say("status")[1].splitlines()
    assert lines[1].endswith(", up to date as far as files can be read")
    told = f"{source['documents']} files, {source['files']} of them readable now, "
    assert any(line.startswith(f"source     {source['name']}: {told}") for line in lines)
