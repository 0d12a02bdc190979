from __future__ import annotations

from pathlib import Path

import pytest

from memcli.errors import IncompleteError
from memcli.indexing.indexer import Report, embed, index
from memcli.store.sqlite.driver import connect, rows
from memcli.store.sqlite.reader import Reader
from memcli.store.sqlite.writer import Writer
from memcli.types import Source
from tests.hashing import HashingEncoder
from tests.store_check import assert_sound, dump, open_writer
from tests.support import FAR_FUTURE_NS, make_settings, touch, write

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


def run(
    root: Path, store: Path, *, vectors: bool = True, now_ns: int = FAR_FUTURE_NS
) -> tuple[Report, int]:
    writer = open_writer(str(store), lambda: now_ns)
    try:
        report = index(writer, make_settings(root))
        return report, embed(writer, HashingEncoder()) if vectors else 0
    finally:
        writer.close()


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws", tmp_path / "store" / "index.sqlite"


def test_front_matter_that_is_not_yaml_is_reported(place: tuple[Path, Path]) -> None:
    root, store = place
    write(root, "broken.md", "---\ntags: [pool, pump\n---\n\nThe pool.\n")
    write(root, "sound.md", "---\ntags: [pool, pump]\n---\n\nThe pool.\n")
    write(root, "rule.md", "---\n\nThe pool: a rule, and no front matter.\n\n---\n")
    report, _ = run(root, store)
    text = "broken.md:1: the front matter is not valid YAML, so memcli reads it as text"
    assert [reason.text for reason in report.flaws] == [text]


def test_a_second_run_changes_and_embeds_nothing(place: tuple[Path, Path]) -> None:
    root, store = place
    for number, text in enumerate(TEXTS):
        write(root, f"{number}.md", text)
    report, embedded = run(root, store)
    assert len(report.added) == len(TEXTS) - 1
    assert [(skip.path, skip.reason) for skip in report.skips] == [("7.md", "not-text")]
    assert [reason.text.partition(":")[0] for reason in report.flaws] == ["8.md"]
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


def test_a_new_stamp_embeds_nothing_and_a_new_description_does(place: tuple[Path, Path]) -> None:
    root, store = place
    text = "---\nmodified: {}\ndescription: {}\n---\n# Pool\n\nbeans\n\n## Later\n\nfox\n"
    write(root, "a.md", text.format("2026-02-10", "what is in it"))
    assert run(root, store)[1] == 2
    write(root, "a.md", text.format("2026-02-11T09:30:00", "what is in it"))
    report, embedded = run(root, store)
    assert (report.changed, embedded) == (("a.md",), 0)
    write(root, "a.md", text.format("2026-02-11", "what was in it"))
    assert run(root, store)[1] == 2
    assert_sound(str(store))


def test_a_touched_file_is_unchanged_and_no_new_revision(place: tuple[Path, Path]) -> None:
    root, store = place
    file = write(root, "a.md", TEXTS[0])
    run(root, store)
    writer = open_writer(str(store))
    before = writer.fact("revision")
    touch(file)
    report = index(writer, make_settings(root))
    assert (report.changed, report.unchanged, writer.fact("revision")) == ((), 1, before)
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


def test_a_change_of_a_source_reaches_files_that_are_no_text(place: tuple[Path, Path]) -> None:
    root, store = place
    write(root, "odd.md", b"\0\0\0\0not text")
    source = Source("memory", str(root), ("**/*.md",), kind="log")
    writer = open_writer(str(store))
    index(writer, make_settings(root, source))
    report = index(writer, make_settings(root, source._replace(kind="note")))
    writer.close()
    assert (report.changed, [skip.path for skip in report.skips]) == ((), ["odd.md"])
    new = store.with_name("new.sqlite")
    writer = open_writer(str(new))
    index(writer, make_settings(root, source._replace(kind="note")))
    writer.close()
    assert dump(str(store)) == dump(str(new))


def test_a_vector_that_nothing_uses_is_kept_for_thirty_days(place: tuple[Path, Path]) -> None:
    root, store = place
    file = write(root, "a.md", TEXTS[1])
    run(root, store)
    file.unlink()
    run(root, store)

    def cached() -> int:
        connection = connect(str(store), write=False).connection
        try:
            return int(rows(connection, "SELECT count(*) FROM vectors")[0][0])
        finally:
            connection.close()

    month = 30 * 86_400 * 10**9
    for later, left in ((month - 1, 2), (month, 0)):
        run(root, store, now_ns=FAR_FUTURE_NS + later)
        assert cached() == left


def test_an_index_names_its_folder_before_it_is_finished(place: tuple[Path, Path]) -> None:
    root, store = place
    write(root, "a.md", TEXTS[0])
    writer = open_writer(str(store))

    def stopped(stage: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index(writer, make_settings(root), on_progress=stopped)
    assert writer.known() == {}
    assert writer.fact("workspace") == str(root)  # so that it is not taken for one to delete
    writer.close()


def test_a_switch_that_was_given_up_leaves_nothing_for_ever(place: tuple[Path, Path]) -> None:
    root, store = place
    write(root, "a.md", TEXTS[0])
    run(root, store)
    other = HashingEncoder(32)
    writer = open_writer(str(store))
    assert embed(writer, other, most=1) == 1
    assert writer.fact("fingerprint") == HashingEncoder().fingerprint
    assert writer.tidy(unused_days=30) == 0
    assert embed(writer, other, most=1) == 1  # it goes on where it was
    assert writer.fact("fingerprint") == other.fingerprint
    assert writer.tidy(unused_days=0) == 2  # those of the first encoder
    assert embed(writer, HashingEncoder(), most=1) == 1
    assert embed(writer, other) == 0
    assert writer.tidy(unused_days=0) == 1
    assert writer.counts().embedded == 2
    writer.close()
    assert_sound(str(store))


def test_an_index_of_an_older_memcli_is_built_again(place: tuple[Path, Path]) -> None:
    root, store = place
    for number in range(2):
        write(root, f"{number}.md", f"---\ntags: [a, {number}]\nnumber: {number}\n---\n{number}\n")
    run(root, store)
    before = dump(str(store))
    writer = open_writer(str(store))
    writer.connection.execute("DROP TABLE unread; PRAGMA user_version = 1")
    writer.close()
    with pytest.raises(IncompleteError, match="was made by an older memcli"):
        Reader(str(store))
    writer = Writer(str(store), lambda: FAR_FUTURE_NS)
    assert writer.notices == [f"the index {store} was made by an older memcli and is built again"]
    writer.close()
    report, embedded = run(root, store)
    assert (report.added, embedded) == (("0.md", "1.md"), 2)
    assert_sound(str(store))
    assert dump(str(store)) == before
