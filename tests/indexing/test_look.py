from __future__ import annotations

from pathlib import Path

import pytest

from memcli.indexing.comparison import IndexComparison, PlannedChanges, compare_index
from memcli.indexing.indexer import index
from memcli.indexing.notices import settings_changed
from memcli.indexing.planning import RenamedFile
from memcli.store.sqlite.reader import Reader
from memcli.types import Limits
from tests.store_check import open_writer
from tests.support import make_limits, make_settings, reason_text, touch, write

NOTHING = PlannedChanges()


class Place:
    def __init__(self, base: Path) -> None:
        self.root, self.store = base / "ws", base / "s" / "index.sqlite"
        self.root.mkdir()

    def write(self, *names: str) -> None:
        for name in names:
            write(self.root, f"{name}.md", f"{name} text\n")

    def index(self) -> None:
        writer = open_writer(str(self.store))
        index(writer, make_settings(self.root))
        writer.close()

    def look(self, most: int | None = None, limits: Limits | None = None) -> IndexComparison:
        reader = Reader(str(self.store)) if self.store.exists() else None
        try:
            return compare_index(reader, make_settings(self.root, limits=limits), most=most)
        finally:
            if reader:
                reader.close()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_the_states(place: Place) -> None:
    assert place.look().state == "empty"
    place.write("a")
    assert place.look().state == "not_indexed"
    place.index()
    assert (place.look().state, place.look().changes) == ("up_to_date", NOTHING)
    place.write("b")
    assert (place.look().state, place.look().pending) == ("out_of_date", 1)
    for name in "ab":
        (place.root / f"{name}.md").unlink()
    place.index()
    assert place.look().state == "empty"


def test_a_folder_that_nobody_can_see_is_not_an_empty_one(place: Place) -> None:
    place.root.rmdir()
    assert place.look().state == "not_indexed"


def test_files_beyond_the_bound_count_as_changed_and_added(place: Place) -> None:
    """Known files are read first: both have the same bytes; then `d`, which was `c`."""
    place.write("a", "b", "c")
    place.index()
    touch(place.root / "a.md")
    touch(place.root / "b.md")
    (place.root / "c.md").rename(place.root / "d.md")
    write(place.root, "e.md", b"\0\0\0\0not text")
    names, gone = ("a.md", "b.md"), ("c.md",)
    assert [place.look(most).changes for most in range(5)] == [
        PlannedChanges(("d.md", "e.md"), names, (), (), gone),
        PlannedChanges(("d.md", "e.md"), names[1:], (), (), gone),
        PlannedChanges(("d.md", "e.md"), (), (), (), gone),
        PlannedChanges(("e.md",), (), (), (RenamedFile("c.md", "d.md"),), ()),
        PlannedChanges((), (), (), (RenamedFile("c.md", "d.md"),), ()),
    ]
    assert place.look().changes == place.look(4).changes
    assert [(skip.path, skip.reason) for skip in place.look().listing.skips] == [
        ("e.md", "not-text")
    ]
    assert [place.look(most).pending for most in (0, 4)] == [5, 1]


def test_other_settings_store_every_text_again_and_no_file_twice(place: Place) -> None:
    place.write("a", "b", "c")
    write(place.root, "odd.md", b"\0\0\0\0not text")
    place.index()
    place.write("n")
    write(place.root, "b.md", "other text\n")
    touch(place.root / "c.md")
    comparison = place.look(limits=make_limits(chunk_tokens=100))
    assert comparison.changes == PlannedChanges(
        ("n.md",), ("b.md",), ("a.md", "c.md"), settings=("chunking",)
    )
    assert (comparison.state, comparison.pending) == ("out_of_date", 2)
    assert reason_text(settings_changed(comparison)) == (
        "the settings of chunks have changed: 2 files are to be stored again. Try: memcli index"
    )
    assert settings_changed(place.look()) is None


def test_settings_say_nothing_while_there_is_nothing_to_store_again(place: Place) -> None:
    write(place.root, "odd.md", b"\0\0\0\0not text")
    place.index()
    comparison = place.look(limits=make_limits(chunk_tokens=100))
    assert (comparison.changes.settings, comparison.state) == (("chunking",), "up_to_date")
    assert settings_changed(comparison) is None


def test_a_text_that_has_become_another_format_is_changed_once(place: Place) -> None:
    place.write("a", "b")
    place.index()
    write(place.root, "a.md", b"\0\0\0\0not text")
    assert place.look().changes == NOTHING._replace(changed=("a.md",))
    place.index()
    write(place.root, "a.md", b"\0\0\0\0\0not text")
    assert place.look().changes == NOTHING
