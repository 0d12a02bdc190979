from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from memcli.errors import BusyError, IndexMissingError, StoreError
from memcli.indexing.freshness import Bounds, Freshness, freshen, look
from memcli.indexing.indexer import embed
from memcli.indexing.planning import Settings
from memcli.indexing.rebuild import rebuild
from memcli.store.lock import owner, show_work
from memcli.store.open import store_at
from memcli.store.port import Change
from memcli.store.records import Counts
from memcli.store.run_records import Work
from memcli.types import Encoder, Source
from tests.hashing import HashingEncoder
from tests.store_check import assert_sound, open_writer
from tests.support import FAR_FUTURE_NS, make_limits, make_settings, reason_text, touch, write

BOUNDS = Bounds(seconds=3, segments=2, first=10, wait_seconds=0, monotonic=lambda: 0.0)


def embed_by_words(change: Change) -> None:
    embed(change, HashingEncoder())


def no_encoder() -> Encoder | None:
    raise AssertionError("nothing is to be embedded")


def no_sleep(seconds: float) -> None:
    raise AssertionError("nothing is to be waited for")


class Place:
    def __init__(self, base: Path) -> None:
        self.root = base / "ws"
        self.root.mkdir()
        self.path = str(base / "s" / "index.sqlite")
        self.store = store_at(self.path, lambda: FAR_FUTURE_NS)
        self.settings = make_settings(self.root)
        self.seconds = 0.0

    def read(self, stage: str, done: int, total: int) -> None:
        """Take a second for each file."""
        self.seconds += stage == "reading"

    def freshen(
        self,
        bounds: Bounds = BOUNDS,
        settings: Settings | None = None,
        encoder: Callable[[], Encoder | None] = HashingEncoder,
    ) -> Freshness:
        return freshen(
            self.store,
            settings or self.settings,
            bounds._replace(monotonic=lambda: self.seconds),
            encoder,
            no_sleep,
            on_progress=self.read,
        )

    def write(self, *names: str, text: str = "some text\n") -> None:
        for name in names:
            write(self.root, f"{name}.md", f"{name} {text}")

    def counts(self) -> Counts:
        with self.store.snapshot() as snapshot:
            return snapshot.counts()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    place.store.close()


def test_a_first_search_embeds_all_or_nothing(place: Place) -> None:
    place.write("a", "b")
    assert place.freshen() == Freshness("up_to_date", 0, None, ())
    assert place.counts() == Counts(2, 2, 2, 2)
    place.write("c", "d", "e")
    assert place.freshen() == Freshness("up_to_date", 0, None, ())
    assert place.counts() == Counts(5, 5, 5, 2)  # a part of three would help nobody


def test_a_file_that_is_too_large_is_named_in_every_answer(place: Place) -> None:
    place.write("a", "b")
    place.write("big", text="x" * 100)
    small = place.settings._replace(max_bytes=50)
    for _ in range(2):
        state = place.freshen(settings=small)
        (notice,) = state.notices
        assert (notice.text, notice.hint) == ("big.md is not searched", "memcli status")
        assert not state.is_whole
        place.write("c")
    assert place.freshen().is_whole


def test_a_later_search_embeds_what_was_left(place: Place) -> None:
    place.write("a", "b", "c")
    place.freshen(BOUNDS._replace(segments=0), encoder=no_encoder)
    place.freshen()
    assert place.counts() == Counts(3, 3, 3, 0)
    assert place.freshen(BOUNDS._replace(segments=3)) == Freshness("up_to_date", 0, None, ())
    assert place.counts() == Counts(3, 3, 3, 3)
    place.freshen(BOUNDS._replace(segments=3), encoder=no_encoder)  # nothing waits now


def test_too_many_files_for_a_first_search_are_an_error(place: Place) -> None:
    place.write(*(f"n{number}" for number in range(11)))
    with pytest.raises(IndexMissingError, match="11 files"):
        place.freshen()
    assert not Path(place.path).exists()


def test_an_empty_workspace_is_empty_and_makes_no_index(place: Place) -> None:
    assert place.freshen(encoder=no_encoder).state == "empty"
    assert not Path(place.path).exists()


def test_a_first_search_that_can_see_nothing_says_so(place: Place) -> None:
    place.root.rmdir()
    with pytest.raises(IndexMissingError, match=r"nothing is indexed yet, and \. cannot be listed"):
        place.freshen(encoder=no_encoder)


def test_a_search_in_step_opens_no_encoder_and_changes_no_byte(place: Place) -> None:
    place.write("a")
    place.freshen()
    before = Path(place.path).read_bytes()
    assert place.freshen(encoder=no_encoder) == Freshness("up_to_date", 0, None, ())
    assert look(place.store, place.settings) == Freshness("up_to_date", 0, None, ())
    assert Path(place.path).read_bytes() == before


def test_a_search_brings_in_so_many_files_and_says_what_is_left(place: Place) -> None:
    place.write("a")
    place.freshen()
    place.write("b", "c", "d", "e", "f")
    assert look(place.store, place.settings).pending == 5
    answer = place.freshen()
    assert (answer.state, answer.pending) == ("out_of_date", 2)
    assert (
        reason_text(answer.reason)
        == "a search reads changed files for 3 seconds. Try: memcli index"
    )
    assert place.counts() == Counts(4, 4, 4, 1)
    assert place.freshen() == Freshness("up_to_date", 0, None, ())


def test_what_is_missing_is_named_and_what_is_new_is_called_new(place: Place) -> None:
    place.write(*"abcd")
    place.freshen()
    place.write(*"abcdefghi", text="other text\n")
    assert look(place.store, place.settings).missing == (
        "5 new files (e.md, f.md, g.md and 2 more)"
        " and 4 changed files (a.md, b.md, c.md and 1 more)"
    )
    answer = place.freshen(BOUNDS._replace(seconds=5))
    assert answer.missing == "4 changed files (a.md, b.md, c.md and 1 more)"
    (place.root / "a.md").unlink()
    (place.root / "b.md").rename(place.root / "z.md")
    place.write(*"cd", text="more text\n")
    assert look(place.store, place.settings).missing == (
        "1 new file (z.md), 2 changed files (c.md and d.md) and 2 deleted files (a.md and b.md)"
    )


def test_a_first_reading_that_was_cut_off_goes_on_whatever_its_time(place: Place) -> None:
    place.write(*"abcdefghi", text="word " * 20_000)

    def stop(stage: str, done: int, total: int) -> None:
        if done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        freshen(place.store, place.settings, BOUNDS, no_encoder, no_sleep, on_progress=stop)
    assert 0 < place.counts().documents < 9
    assert place.freshen(BOUNDS._replace(seconds=1, segments=0)).state == "up_to_date"
    assert place.counts().documents == 9


def test_texts_wait_for_no_other_search_where_files_only_look_changed(place: Place) -> None:
    place.write("a", "b")
    place.freshen(BOUNDS._replace(segments=0))
    place.write("a", "b")  # the same bytes, just now
    assert place.freshen().state == "up_to_date"
    assert place.counts() == Counts(2, 2, 2, 2)


def test_files_that_only_look_changed_do_not_count(place: Place) -> None:
    names = "abcdefghij"
    place.write(*names)
    place.freshen(BOUNDS._replace(segments=0))
    place.write(*names)
    write(place.root, "j.md", "new text\n")
    assert look(place.store, place.settings).pending == 1
    assert place.freshen(BOUNDS._replace(seconds=10)) == Freshness("up_to_date", 0, None, ())
    place.write(*(f"{name}{number}" for name in names for number in range(3)))
    answer = place.freshen(BOUNDS._replace(seconds=1))
    assert (answer.state, answer.pending) == ("out_of_date", 29)


def test_removals_are_brought_in_whatever_the_bounds(place: Place) -> None:
    place.write("a", "b", "c")
    place.freshen(BOUNDS._replace(segments=3))
    for name in "bc":
        (place.root / f"{name}.md").unlink()
    bounds = BOUNDS._replace(seconds=0, segments=0)
    assert place.freshen(bounds, encoder=no_encoder).state == "up_to_date"
    assert place.counts() == Counts(1, 1, 1, 1)


def test_without_an_encoder_the_words_are_brought_in(place: Place) -> None:
    place.write("a")
    assert place.freshen(encoder=lambda: None).state == "up_to_date"
    assert place.counts() == Counts(1, 1, 1, 0)


def test_a_title_that_a_rename_changes_is_embedded_anew(place: Place) -> None:
    place.write("a")
    place.freshen()
    (place.root / "a.md").rename(place.root / "z.md")
    assert place.freshen().state == "up_to_date"
    assert place.counts() == Counts(1, 1, 1, 1)


def test_a_locked_index_answers_stale_at_once(place: Place) -> None:
    place.write("a")
    place.freshen()
    place.write("b")
    with place.store.locked(wait_seconds=0, sleep=no_sleep):
        answer = place.freshen(encoder=no_encoder)
    assert (answer.state, answer.pending) == ("out_of_date", 1)
    assert "is writing the index" in reason_text(answer.reason)
    assert place.freshen().state == "up_to_date"


def test_a_search_waits_for_the_first_reading_by_another(place: Place) -> None:
    place.write(*"abc")
    shown: list[tuple[str, int, int]] = []
    slept: list[float] = []

    with ExitStack() as other:
        other.enter_context(place.store.locked(wait_seconds=0, sleep=no_sleep))

        def sleep(seconds: float) -> None:
            slept.append(seconds)
            show_work(place.store.state_path, Work("reading", 2, 3, None))
            if len(slept) == 8:
                other.close()

        searcher = store_at(place.path, lambda: FAR_FUTURE_NS)
        found = freshen(
            searcher,
            place.settings,
            BOUNDS,
            lambda: None,
            sleep,
            on_progress=lambda *progress: shown.append(progress),
        )
        searcher.close()
    assert found == Freshness("up_to_date", 0, None, ())
    assert shown[:3] == [("waiting", 2, 3)] * 3  # after half a second
    assert len(slept) == 8


def test_a_search_that_cannot_wait_longer_is_an_error_while_nothing_is_indexed(
    place: Place,
) -> None:
    place.write(*"abc")
    searcher = store_at(place.path, lambda: FAR_FUTURE_NS)
    slept: list[float] = []
    with place.store.locked(wait_seconds=0, sleep=no_sleep):
        show_work(place.store.state_path, Work("reading", 1, 3, 240.0))
        with pytest.raises(BusyError, match="indexing: 1 of 3 files, about 4 minutes left"):
            freshen(searcher, place.settings, BOUNDS, no_encoder, slept.append)
    assert 59 < sum(slept) < 61
    assert owner(searcher.state_path) is None  # what a dead process has shown is not believed
    searcher.close()


def test_changed_settings_reach_the_whole_index_within_the_bound(place: Place) -> None:
    place.write("a", "b", "c", "d", "e", text="word " * 200)
    place.freshen()
    chunks = place.counts().chunks
    other = make_settings(place.root, limits=make_limits(chunk_tokens=100))
    few = BOUNDS._replace(first=4)
    touch(place.root / "a.md")
    (place.root / "b.md").rename(place.root / "z.md")
    answer = place.freshen(few, other, no_encoder)
    assert answer == look(place.store, other)
    assert (answer.state, answer.pending) == ("out_of_date", 1)
    assert reason_text(answer.reason) == (
        "the settings of chunks have changed: 4 files are to be stored again. Try: memcli index"
    )
    assert place.freshen(BOUNDS, other, lambda: None).state == "up_to_date"
    assert place.counts().chunks > chunks
    assert place.freshen(few, other, no_encoder).state == "up_to_date"


def test_what_a_reader_keeps_beside_the_index_is_not_waited_for(place: Place) -> None:
    place.write("a")
    place.freshen()
    other = store_at(place.path, lambda: FAR_FUTURE_NS)
    with other.snapshot():
        place.write("a", text="other text\n")
        assert place.freshen().state == "up_to_date"
    assert place.store.has_deleted_text()
    with place.store.locked(wait_seconds=0, sleep=no_sleep):
        assert place.freshen(encoder=no_encoder) == Freshness("up_to_date", 0, None, ())
    other.close()
    assert place.store.has_deleted_text()
    assert place.freshen(encoder=no_encoder) == Freshness("up_to_date", 0, None, ())
    assert not place.store.has_deleted_text()


def test_what_a_source_says_is_known_from_the_first_search_on(place: Place) -> None:
    (own,), shelf = place.settings.sources, place.root.with_name("shelf")
    place.write("a")
    write(shelf, "b.md", "a book\n")
    place.freshen()
    book = Source("book", str(shelf), ("**/*.md",))
    assert place.freshen(settings=make_settings(place.root, own, book)).state == "up_to_date"
    spec = make_settings(place.root, own, book._replace(kind="spec"))
    found = look(place.store, spec)
    assert reason_text(found.reason) == (
        "the settings of sources have changed: 1 file is to be stored again. Try: memcli index"
    )
    assert place.freshen(settings=spec).state == "up_to_date"


def test_pages_that_are_damaged_inside_are_found_by_the_next_full_index(place: Place) -> None:
    place.write(*(f"n{number}" for number in range(9)), text="some words here. " * 200)
    place.freshen(BOUNDS._replace(segments=0))
    data = bytearray(Path(place.path).read_bytes())
    for page in range(30 * 4096, len(data), 4096):  # behind what tells of the tables
        data[page : page + 4096] = b"\xff" * len(data[page : page + 4096])
    Path(place.path).write_bytes(data)
    writer = open_writer(place.path)
    report = rebuild(writer, place.settings, embed_into=embed_by_words)
    writer.close()
    (notice,) = report.notices
    assert "is damaged" in notice
    assert len(report.added) == 9
    assert_sound(place.path)


def test_a_file_of_another_program_is_left_alone(place: Place) -> None:
    import apsw

    place.write("a")
    Path(place.path).parent.mkdir()
    connection = apsw.Connection(place.path)
    connection.execute("CREATE TABLE bookmarks (url)")
    connection.close()
    before = Path(place.path).read_bytes()
    with pytest.raises(StoreError, match="another program"):
        place.freshen()
    assert Path(place.path).read_bytes() == before


def test_an_index_that_is_made_meanwhile_is_not_taken_for_another_program(place: Place) -> None:
    import apsw

    from memcli.store.sqlite import driver, schema

    Path(place.path).parent.mkdir()
    Path(place.path).touch(0o600)
    reader = apsw.Connection(place.path, flags=apsw.SQLITE_OPEN_READONLY)
    asked: list[str] = []

    def between(_: object, sql: str, __: object) -> bool:
        asked.append(sql)
        if len(asked) == 2:
            schema.make(driver.connect(place.path, write=True).connection, place.path)
        return True

    reader.exec_trace = between
    driver._refuse_foreign(reader, place.path)
    assert len(asked) == 2
