"""A store in a file: which connections are kept, and what is said of its files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw
import pytest

from memcli.errors import MORE_FILES, IndexMissingError, StoreError
from memcli.store.sqlite.driver import DAMAGED_SUFFIX, connect, set_aside, translated
from memcli.store.sqlite.reader import Reader
from memcli.store.sqlite.store import SqliteStore
from tests.store.contract.makers import any_of, changing, fill, found, put
from tests.support import FAR_FUTURE_NS


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(str(tmp_path / "s" / "index.sqlite"), lambda: FAR_FUTURE_NS)
    yield made
    made.close()


def is_closed(reader: Reader) -> bool:
    try:
        found(reader, any_of("fox"))
    except apsw.ConnectionClosedError:
        return True
    return False


def test_a_connection_that_has_answered_is_kept_for_the_next_question(store: SqliteStore) -> None:
    fill(store, {"a.md": "the fox\n"})
    with store.snapshot() as first, store.snapshot() as second:
        assert first is not second
    with store.snapshot() as again:
        assert again in (first, second)
    store.close()
    assert all(map(is_closed, (first, second)))
    with store.snapshot() as new:
        assert new not in (first, second)


def test_an_index_can_have_no_other_file_beside_it(tmp_path: Path) -> None:
    connection = connect(str(tmp_path / "index.sqlite"), write=True).connection
    assert connection.limit(apsw.SQLITE_LIMIT_ATTACHED) == 0
    with pytest.raises(apsw.SQLError, match="too many attached"):
        connection.execute("ATTACH ':memory:' AS other")
    connection.close()


def test_a_damaged_file_that_cannot_be_moved_is_told_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    path.write_bytes(b"garbage")
    (tmp_path / f"index.sqlite{DAMAGED_SUFFIX}").mkdir()
    with pytest.raises(StoreError, match="cannot be moved to") as told:
        set_aside(str(path))
    assert told.value.hint == f"move {path}{DAMAGED_SUFFIX} away, then run memcli index"
    assert path.read_bytes() == b"garbage"


def test_a_file_beside_the_index_that_is_empty_holds_no_changes(store: SqliteStore) -> None:
    beside = Path(f"{store.path}-wal")
    assert not store.has_deleted_text()
    beside.parent.mkdir()
    for data in (b"", b"page"):
        beside.write_bytes(data)
        assert store.has_deleted_text() == bool(data)


def test_what_sqlite_kept_beside_a_damaged_index_is_not_left_to_the_next(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        (tmp_path / name).write_bytes(b"garbage")
    assert set_aside(str(path)) == str(path) + DAMAGED_SUFFIX
    assert [each.name for each in tmp_path.iterdir()] == [path.name + DAMAGED_SUFFIX]


def test_a_connection_that_has_failed_is_not_kept(store: SqliteStore) -> None:
    fill(store, {"a.md": "the fox\n"})
    readers: list[Reader] = []

    def fail() -> None:
        with store.snapshot() as snapshot:
            readers.append(snapshot)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert all(map(is_closed, readers))
    with store.snapshot() as snapshot:
        assert snapshot not in readers
        assert found(snapshot, any_of("fox")) == ["a.md"]


def test_a_connection_to_a_file_that_is_gone_is_not_asked_again(store: SqliteStore) -> None:
    fill(store, {"a.md": "the fox\n"})
    with store.snapshot() as old:
        assert found(old, any_of("fox")) == ["a.md"]
    Path(store.path).unlink()
    with pytest.raises(IndexMissingError), store.snapshot():
        pass
    fill(store, {"b.md": "the fox\n"})
    assert is_closed(old)
    with store.snapshot() as snapshot:
        assert snapshot is not old
        assert found(snapshot, any_of("fox")) == ["b.md"]


def test_what_is_said_of_the_files(store: SqliteStore) -> None:
    assert store.describe() == (store.path, "sqlite-vec", 0, "", 0)
    with changing(store) as change:
        put(change, "a.md", "the fox\n")
        log = Path(store.path + "-wal").stat().st_size
        assert log > 0
        assert store.describe().bytes == Path(store.path).stat().st_size + log
    fill(store, {"b.md": "the train\n"})
    assert store.describe().bytes == Path(store.path).stat().st_size
    Path(store.path).write_bytes(b"garbage" * 400)
    with changing(store) as change:
        (notice,) = change.notices
        assert f"kept as {store.path}.damaged-1" in notice
    assert store.describe().set_aside == store.path + ".damaged-1"


@contextmanager
def full_but_for(free: int) -> Iterator[None]:
    """Leave this process so many files that it can open."""
    import resource

    most, opened = resource.getrlimit(resource.RLIMIT_NOFILE), list[int]()
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most[0], 400), most[1]))
    try:
        with suppress(OSError):
            while True:
                opened.append(os.open(os.devnull, os.O_RDONLY))
        for _ in range(free):
            os.close(opened.pop())
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, most)
        for descriptor in opened:
            os.close(descriptor)


@pytest.mark.skipif(os.name != "posix", reason="Windows has no limit of open files")
@pytest.mark.parametrize(("free", "why"), [(3, ""), (2, ": Too many open files")])
def test_the_limit_of_open_files_is_named_only_where_three_are_too_many(
    free: int, why: str
) -> None:
    with full_but_for(free), pytest.raises(StoreError) as told, translated("i.sqlite"):
        raise apsw.CantOpenError
    assert told.value.message == f"the index i.sqlite cannot be opened{why}"
    assert told.value.hint == (MORE_FILES if why else "memcli index")
