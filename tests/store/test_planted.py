"""An index that somebody else made, or changed, is refused or built anew, and runs nothing."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from memcli.errors import DamagedError, StoreError
from memcli.indexing.indexer import embed, index
from memcli.store.records import Scope
from memcli.store.sqlite import driver, schema
from memcli.store.sqlite.driver import connect
from memcli.store.sqlite.reader import Reader
from memcli.store.sqlite.schema import first_fault
from memcli.store.sqlite.writer import Writer
from tests.hashing import HashingEncoder
from tests.store_check import assert_sound, dump, open_writer, recalled
from tests.support import FAR_FUTURE_NS, make_settings, write

ENCODER = HashingEncoder()
Attack = Callable[[apsw.Connection, Path], object]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An index of three notes, its folder holding nothing else."""
    for number in range(3):
        write(tmp_path / "ws", f"{number}.md", f"# Note {number}\n\nthe pool ran dry {number}\n")
    path = tmp_path / "store" / "index.sqlite"
    refill(path)
    return path


def refill(path: Path) -> str:
    writer = Writer(str(path), lambda: FAR_FUTURE_NS)
    index(writer, make_settings(path.parents[1] / "ws"))
    embed(writer, ENCODER)
    writer.close()
    return "".join(writer.notices)


def planted(path: Path, attack: Attack) -> None:
    """Change the file as somebody would who has all of SQLite."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA writable_schema = ON")
    attack(connection, path.parent)
    connection.close()


def ask(path: Path, *, near: str = "pool dry", universe: int = 10) -> list[str]:
    reader = Reader(str(path))
    vector = ENCODER.encode_query(near)
    try:
        with reader.snapshot():
            found = recalled(reader, words="pool", vector=vector, universe=universe)
        return [candidate.about.path for candidate in found]
    finally:
        reader.close()


def sql(*statements: str) -> Attack:
    def attack(connection: apsw.Connection, folder: Path) -> None:
        for statement in statements:
            connection.execute(statement.replace("FOLDER", str(folder)))

    return attack


REPLACED = "ALTER TABLE {0} RENAME TO other; CREATE VIEW {0} AS SELECT * FROM other"
INJECTED = "{}; ATTACH ''FOLDER/stolen'' AS x; CREATE TABLE x.t_1 (a)"
SCHEMAS: dict[str, Attack] = {
    "trigger": sql("CREATE TRIGGER t AFTER UPDATE ON meta BEGIN DELETE FROM documents; END"),
    "temporary name": sql("CREATE TRIGGER fts_x AFTER INSERT ON meta BEGIN SELECT 1; END"),
    "view": sql(REPLACED.format("chunks")),
    "view of lineage": sql(REPLACED.format("lineage")),
    "table": sql("CREATE TABLE mine (a)"),
    "index": sql("CREATE INDEX fts_y ON documents (abs(size))"),
    "column": sql("ALTER TABLE chunks ADD COLUMN more AS (abs(id))"),
    "virtual table": sql("CREATE VIRTUAL TABLE vec_9 USING fts5 (a)"),
    "no meta": sql("DROP TABLE meta"),
    "other types": sql("UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', 'CHECK (1)')"
                       " WHERE name = 'parts'"),
    "name of the vector table": sql(
        f"INSERT INTO meta VALUES ('vec_table', '{INJECTED.format('vec_1')}')"
    ),
    "name of another table": sql(
        f"INSERT INTO meta VALUES ('vec_table', '{INJECTED.format('meta')}')",
        "UPDATE meta SET value = '1' WHERE key = 'vec_behind'",
    ),
    "dimension": sql("UPDATE meta SET value = 'many' WHERE key = 'dimension'"),
    "great dimension": sql("UPDATE meta SET value = '99999999999' WHERE key = 'dimension'"),
    "revision": sql("UPDATE meta SET value = '-1' WHERE key = 'revision'"),
}  # fmt: skip


@pytest.mark.parametrize("attack", SCHEMAS.values(), ids=SCHEMAS)
def test_a_file_with_tables_of_another_hand_is_built_anew(path: Path, attack: Attack) -> None:
    before = dump(str(path))
    planted(path, attack)
    with pytest.raises(DamagedError, match=r"memcli did not (make|write)"):
        Reader(str(path))
    assert "it is kept as" in refill(path)
    assert_sound(str(path))
    assert dump(str(path)) == before
    assert not (path.parent / "stolen").exists()
    assert ask(path)


ROWS = {
    "short vectors": "UPDATE vectors SET vector = x'00'",
    "vectors of another length": "UPDATE vectors SET vector = x'00000000'",
    "vectors of text": "UPDATE vectors SET vector = 'abc'",
    "headings": "UPDATE chunks SET heading_path = '{not json'",
    "nested headings": f"UPDATE chunks SET heading_path = '{'[' * 100_000}'",
    "text of bytes": "UPDATE chunks SET text = x'ff00'",
    "lines of text": "UPDATE parts SET start_line = 'one', start = 'x'",
    "days": "UPDATE chunks SET date = char(27) || ']0;x'",
    "first days": "UPDATE chunks SET first_day = char(27) || ']0;x'",
    "spans": "UPDATE documents SET date = '2026-01-01', first_day = '2026-01-02'",
}


def test_a_span_that_no_note_has_is_not_walked(path: Path) -> None:
    planted(path, sql("UPDATE documents SET date = '9999-12-31', first_day = '0001-01-01'"))
    reader = Reader(str(path))
    with pytest.raises(DamagedError, match="has foreign content"):
        reader.documents(Scope())
    reader.close()


@pytest.mark.parametrize("statement", ROWS.values(), ids=ROWS)
def test_a_row_of_another_hand_is_found_by_the_check(path: Path, statement: str) -> None:
    planted(path, sql(statement))
    reader = Reader(str(path))
    assert reader.integrity().startswith(("a row of", f"the index {path} has foreign content"))
    reader.close()


@pytest.mark.parametrize(
    "name",
    ["short vectors", "vectors of text", "headings", "nested headings", "days", "first days"],
)
def test_a_search_says_that_a_row_cannot_be_read(path: Path, name: str) -> None:
    planted(path, sql(ROWS[name]))
    with pytest.raises(DamagedError, match="has foreign content") as raised:
        ask(path, near="note 2", universe=1)  # words find another note than the vector does
    assert raised.value.hint == "memcli index --full"


@pytest.mark.parametrize("suffix", ["", "-wal", "-journal"])
def test_files_of_others_are_refused(
    path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(f"{path}{suffix}").touch()
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    if own == 0:  # what root made anybody may read
        real = os.lstat
        monkeypatch.setattr(os, "lstat", lambda p: _of_user(real(p), 4242))
    with pytest.raises(StoreError, match="belongs to another user") as raised:
        driver.refuse_others(f"{path}{suffix}")
    assert raised.value.hint == "set MEMCLI_STORE to a file in a folder of your own"


def _of_user(status: os.stat_result, uid: int) -> os.stat_result:
    return os.stat_result((*status[:4], uid, *status[5:10]))


@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_a_file_that_others_can_write_is_refused(
    path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Path(f"{path}{suffix}")
    file.touch()
    file.chmod(0o666)
    for write_ in (False, True):
        with pytest.raises(StoreError, match=r"is writable by other users \(mode 666\)"):
            connect(str(path), write=write_)
    table = path.with_name("mounts")
    table.write_text("host:/share / nfs rw 0 0\n")  # there the mode says little
    monkeypatch.setattr(driver, "MOUNTS", str(table))
    connect(str(path), write=False).connection.close()


@pytest.mark.parametrize("suffix", ["", "-wal", ".next"])
@pytest.mark.parametrize("kind", ["fifo", "folder", "socket", "loop"])
def test_what_is_no_file_is_refused_and_never_waited_for(
    path: Path, suffix: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Path(f"{path}{suffix}")
    place.unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    elif kind == "loop":
        place.symlink_to(place)
    else:
        monkeypatch.chdir(place.parent)  # the path of a socket is short
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(place.name)
    opened = str(place) if suffix == ".next" else str(path)
    for write_ in (False, True):
        with pytest.raises(StoreError, match=r"is not a regular file|cannot be opened"):
            connect(opened, write=write_)


def test_what_a_file_can_ask_of_sqlite_is_cut_down(path: Path) -> None:
    connection = connect(str(path), write=True).connection
    for option, value in driver._DEFENCES:
        assert connection.config(option, -1) == value
    for forbidden in (
        f"ATTACH '{path.parent}/stolen' AS x",
        "SELECT load_extension('x')",
        "UPDATE fts_data SET block = x''",
        "UPDATE sqlite_master SET sql = ''",
    ):
        with pytest.raises(apsw.Error):
            connection.execute(forbidden).fetchall()
    assert connection.pragma("cell_size_check") == 1
    assert connection.pragma("secure_delete") == 1
    connection.close()
    assert not (path.parent / "stolen").exists()


def test_the_shape_is_that_of_the_migrations(path: Path) -> None:
    connection = connect(str(path), write=False).connection
    assert schema.shape(connection) == schema.SHAPE
    assert first_fault(connection, str(path)) == "ok"
    connection.close()
    writer = open_writer(str(path))  # a table of coarse vectors, and another number, are ours too
    writer.connection.execute("CREATE VIRTUAL TABLE codes_7 USING vec0(id INTEGER PRIMARY KEY,"
                              " embedding bit[128])")  # fmt: skip
    assert schema.shape(writer.connection) == schema.SHAPE
    writer.close()


def test_a_schema_that_somebody_else_made_calls_no_function_that_could_do_harm(path: Path) -> None:
    """A view may call what is innocuous alone; memcli's own statements may call all."""
    called: list[object] = []
    planted(path, sql("CREATE VIEW trap AS SELECT harm('planted')"))
    connection = connect(str(path), write=False).connection
    connection.create_scalar_function("harm", lambda *told: called.extend(told), 1)
    with pytest.raises(apsw.SQLError, match=r"unsafe use of harm\(\)"):
        connection.execute("SELECT * FROM trap").fetchall()
    assert called == []
    connection.execute("SELECT harm('our own')").fetchall()
    assert called == ["our own"]
    connection.close()


@pytest.mark.parametrize(
    "attack",
    [sql("PRAGMA application_id = 7"), sql("PRAGMA user_version = 999")],
    ids=["another program's", "a newer memcli's"],
)
def test_what_is_refused_does_not_stay_open(path: Path, attack: Attack) -> None:
    """Nor while somebody keeps the error, with all that it tells of."""
    planted(path, attack)
    name = str(path)
    for opens in (Reader, lambda name: Writer(name, lambda: FAR_FUTURE_NS)):
        with pytest.raises(StoreError) as kept:
            opens(name)
        assert name in str(kept.value)
        assert [each for each in apsw.connections() if each.filename == name] == []
