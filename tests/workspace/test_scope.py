"""Files that leave the index while they lie where they lay: how many, which, and why."""

from __future__ import annotations

from pathlib import Path

from memcli.types import Source
from memcli.workspace.diff import left
from memcli.workspace.discover import discover

from .tree import make


def told(removed: list[tuple[str, str]], *sources: Source) -> list[str]:
    listing = discover(sources, max_bytes=20)
    present = [(file.source, file.path) for file in listing.files]
    return [reason.text for reason in left(removed, present, listing.skips, sources)]


def test_each_reason_is_told_once(tmp_path: Path) -> None:
    make(
        tmp_path, *(f"docs/{name}.md" for name in "abcd"), "e.md", ".f.md", "g/h.md", "memory/i.md"
    )
    make(tmp_path, "large.md", text="x" * 30)
    (tmp_path / ".memcliignore").write_text("g/\n")
    source = Source("memory", str(tmp_path), ("**/*.md",), exclude=("docs/", "e.md"))
    paths = [
        "docs/a.md",
        "docs/b.md",
        "docs/c.md",
        "docs/d.md",
        "e.md",
        ".f.md",
        "g/h.md",
        "large.md",
    ]
    assert told([("memory", path) for path in [*paths, "gone.md", "memory/i.md"]], source) == [
        "5 files are no longer in scope because exclude leaves them out: docs/a.md, docs/b.md,"
        " docs/c.md and 2 more",
        "1 file is no longer in scope because it is hidden: .f.md",
        "1 file is no longer in scope because .memcliignore leaves it out: g/h.md",
        "1 file is no longer in scope because it is skipped as too-large"
        " (30 bytes, the limit is 20): large.md",
    ]


def test_what_no_glob_names_any_more(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "docs/b.md")
    memory = Source("memory", str(tmp_path), ("memory/**/*.md",))
    docs = Source("docs", str(tmp_path / "docs"), ("*.markdown",))
    assert told(
        [("memory", "a.md"), ("docs", "b.md"), ("web", "x.md"), ("codex", "y.md")], memory, docs
    ) == [
        "1 file is no longer in scope because files.scope and files.include do not name it: a.md",
        "1 file is no longer in scope because the include globs of the source docs do not name it:"
        " docs:b.md",
        "1 file is no longer in scope because its source is no longer set: web:x.md",
        "1 file is no longer in scope because agent memory is searched only outside workspaces or"
        " with --with: codex:y.md",
    ]


def test_what_another_source_lists_has_not_left(tmp_path: Path) -> None:
    make(tmp_path, "docs/b.md")
    memory = Source("memory", str(tmp_path), ("**/*.md",))
    docs = Source("docs", str(tmp_path / "docs"), ("**/*.md",))
    assert told([("memory", "docs/b.md")], memory, docs) == []
