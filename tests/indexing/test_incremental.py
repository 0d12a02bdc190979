from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memcli.embedding.hashing import HashingEncoder
from memcli.indexing.indexer import Report, embed, index
from memcli.types import Source
from tests.store_check import assert_sound, dump, open_writer
from tests.support import make_settings, touch, write

PATHS = ("a.md", "2025-06-12.md", "sub/b.md", "sub/2025-01-02-x.md", "sub/deep/c.md")
TEXTS: tuple[str | bytes, ...] = (
    "# Pool\n\nThe pool is full of coffee beans.\n\n## Later\n\nWe deploy on Fridays.\n",
    "fox\n\ntrain\n",
    "# Pool\n\nThe pool is full of coffee beans.\n",
    "---\ndate: 2025-03-03\ntitle: Trains\nauthority: 0.5\n---\n- one train\n- two foxes\n",
    "東京都の検索と deployment\n",
    "",
    "".join(f"- item {number} of the deployed list\n" for number in range(40)),
    b"\0\0\0\0not text",
    b"caf\xe9 train\n",
)
EDITS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(PATHS), st.sampled_from(TEXTS)),
        st.tuples(st.just("append"), st.sampled_from(PATHS), st.sampled_from(TEXTS[:3])),
        st.tuples(st.just("rename"), st.sampled_from(PATHS), st.sampled_from(PATHS)),
        st.tuples(st.just("delete"), st.sampled_from(PATHS), st.just("")),
        st.tuples(st.just("touch"), st.sampled_from(PATHS), st.just("")),
        st.tuples(st.just("folder"), st.sampled_from(["sub", "sub/deep"]), st.just("moved")),
        st.tuples(st.just("index"), st.booleans(), st.just("")),
    ),
    max_size=14,
)


def edit(root: Path, action: str, path: str, value: str | bytes) -> None:
    file = root / path
    if action == "write":
        write(root, path, value)
    elif action == "folder":
        target = root / str(value)
        if file.is_dir() and not target.exists():
            file.rename(target)
    elif not file.is_file():
        return
    elif action == "append":
        assert isinstance(value, str)
        write(root, path, b"".join([file.read_bytes(), value.encode()]))
    elif action == "rename":
        target = root / str(value)
        target.parent.mkdir(parents=True, exist_ok=True)
        file.rename(target)
    elif action == "delete":
        file.unlink()
    else:
        touch(file)


def run(root: Path, store: Path, *, vectors: bool = True) -> tuple[Report, int]:
    writer = open_writer(str(store))
    try:
        report = index(writer, make_settings(root))
        return report, embed(writer, HashingEncoder()) if vectors else 0
    finally:
        writer.close()


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws", tmp_path / "store" / "index.sqlite"


@given(EDITS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_edits_leave_the_index_that_a_rebuild_gives(edits: list[tuple[str, str, str]]) -> None:
    base = Path(tempfile.mkdtemp())
    try:
        root, store = base / "ws", base / "store" / "index.sqlite"
        root.mkdir()
        for action, path, value in edits:
            if action == "index":
                run(root, store, vectors=bool(path))
                assert_sound(str(store))
            else:
                edit(root, action, path, value)
        run(root, store)
        assert_sound(str(store))
        run(root, base / "new" / "index.sqlite")
        assert dump(str(store)) == dump(str(base / "new" / "index.sqlite"))
    finally:
        shutil.rmtree(base)


def test_a_second_run_changes_and_embeds_nothing(place: tuple[Path, Path]) -> None:
    root, store = place
    for number, text in enumerate(TEXTS):
        write(root, f"{number}.md", text)
    report, embedded = run(root, store)
    assert len(report.added) == len(TEXTS) - 1
    assert [(skip.path, skip.reason) for skip in report.skips] == [("7.md", "not-text")]
    assert report.damaged == ("8.md",)
    assert embedded > 0
    before = dump(str(store))
    report, embedded = run(root, store)
    assert (report.unchanged, report.added, report.changed, embedded) == (len(TEXTS), (), (), 0)
    assert dump(str(store)) == before


def test_an_edit_embeds_only_the_parts_it_changes(place: tuple[Path, Path]) -> None:
    root, store = place
    sections = [f"# S{number}\n\nsome text of section {number}\n" for number in range(20)]
    write(root, "a.md", "---\ntitle: T\n---\n" + "\n".join(sections))
    assert run(root, store)[1] == 20
    sections[7] = "# S7\n\nother text\n"
    write(root, "a.md", "---\ntitle: T\n---\n" + "\n".join(sections))
    report, embedded = run(root, store)
    assert (report.changed, embedded) == (("a.md",), 1)


def test_a_rename_embeds_nothing_unless_the_title_changes(place: tuple[Path, Path]) -> None:
    root, store = place
    write(root, "a.md", "# Title\n\ntext\n")
    write(root, "b.md", "no heading\n")
    assert run(root, store)[1] == 2
    (root / "a.md").rename(root / "c.md")
    report, embedded = run(root, store)
    assert (report.moved, report.added, report.removed, embedded) == (
        (("a.md", "c.md"),),
        (),
        (),
        0,
    )
    (root / "b.md").rename(root / "d.md")
    assert run(root, store)[1] == 1


def test_a_revert_embeds_nothing(place: tuple[Path, Path]) -> None:
    root, store = place
    write(root, "a.md", TEXTS[0])
    first = run(root, store)[1]
    write(root, "a.md", TEXTS[1])
    run(root, store)
    write(root, "a.md", TEXTS[0])
    assert (first > 0, run(root, store)[1]) == (True, 0)
    assert_sound(str(store))


def test_a_touched_file_is_unchanged_and_no_new_revision(place: tuple[Path, Path]) -> None:
    root, store = place
    file = write(root, "a.md", TEXTS[0])
    run(root, store)
    writer = open_writer(str(store))
    before = writer.meta("revision")
    touch(file)
    report = index(writer, make_settings(root))
    assert (report.changed, report.unchanged, writer.meta("revision")) == ((), 1, before)
    writer.close()


def test_a_folder_that_cannot_be_listed_removes_nothing(place: tuple[Path, Path]) -> None:
    root, store = place
    write(root, "a.md", TEXTS[0])
    other = root.parent / "other"
    write(other, "b.md", TEXTS[1])
    sources = Source("memory", str(root), ("**/*.md",)), Source("o", str(other), ("**/*.md",))
    writer = open_writer(str(store))
    index(writer, make_settings(root, *sources))
    other.rename(root.parent / "unmounted")
    report = index(writer, make_settings(root, *sources))
    assert (report.removed, [skip.source for skip in report.unlisted]) == ((), ["o"])
    assert writer.counts().documents == 2
    writer.close()


def test_a_change_of_a_source_reaches_its_stored_documents(place: tuple[Path, Path]) -> None:
    root, store = place
    write(root, "a.md", "---\nalways: true\n---\ntext\n")
    source = Source("memory", str(root), ("**/*.md",))
    writer = open_writer(str(store))
    index(writer, make_settings(root, source))
    settings_ = make_settings(root, source._replace(trust="untrusted"))
    assert index(writer, settings_).changed == ("a.md",)
    assert index(writer, settings_).changed == ()
    writer.close()
    ((*_, trust, _, _, always, _, _),) = dump(str(store))["documents"]
    assert (trust, always) == ("untrusted", 0)
