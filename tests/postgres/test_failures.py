"""Each failure is a clear error with what to do next, and nothing is lost by it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.config.attached import masked
from memcli.errors import BusyError, ConfigError, RefusedError, StoreError
from memcli.store.open import store_at
from memcli.store.postgres import rows as document_rows
from memcli.store.postgres import schema, writer
from memcli.store.postgres.address import Address, checked
from memcli.store.postgres.libpq import ServerError, read_url
from memcli.store.postgres.session import Name, holder, is_dead
from memcli.store.postgres.store import PostgresStore
from tests.postgres.conftest import Memcli, database, sql
from tests.postgres.server import server
from tests.store.contract.makers import Clock, changing, put
from tests.support import write

ROOT = Path(__file__).parents[2]


def test_a_workspaces_own_file_names_no_store(memcli: Memcli, notes: Path) -> None:
    write(notes, "memcli.toml", 'store.url = "postgresql://elsewhere/memory"\n')
    told = memcli("search pool", notes)
    assert told.code == 2
    assert "store.url is allowed only in your own configuration" in told.err


def test_a_configuration_file_holds_no_password(
    memcli: Memcli, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(os.environ["XDG_CONFIG_HOME"]) / "memcli"
    write(folder, "config.toml", 'store.url = "postgresql://me:hunter2@127.0.0.1:1/memory"\n')
    told = memcli("store status", notes)
    assert (told.code, "hunter2" in told.err + told.out) == (2, False)
    assert "PGPASSWORD" in told.err
    shown = memcli("config store.url", notes).out
    assert "me:***@127.0.0.1" in shown
    assert "hunter2" not in shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:a%40b@h/d", "postgresql://me:***@h/d"),
        ("postgresql://me:p@ss@h/d", "postgresql://me:***@h/d"),
        ("postgresql://me:@h/d", "postgresql://me:***@h/d"),
        ("postgresql://me:a?b#c@h/d", "postgresql://me:***@h/d"),
        ("postgresql://me@h/d?password=x&user=y", "postgresql://me@h/d?password=***&user=y"),
        ("postgresql://h/d?sslpassword=x", "postgresql://h/d?sslpassword=***"),
        ("postgresql://me@h:1,i:2/d", "postgresql://me@h:1,i:2/d"),
        ("postgresql://me:Ab3/xY9@127.0.0.1:1/d", "postgresql://***"),
        ("postgresql://h/d?passwor%64=x&sslmode=require", "postgresql://h/d?***&sslmode=require"),
        ("postgresql://h/d?oauth_client_secret=x", "postgresql://h/d?oauth_client_secret=***"),
        ("host=127.0.0.1 user=owner password=x", "postgresql://***"),
        ("postgresql:///d?service=prod", "postgresql:///d?service=prod"),
    ],
)
def test_passwords_are_masked(url: str, shown: str) -> None:
    assert masked(url) == shown
    assert Address(url).masked == shown


SIGNS = "aZ9:/@?#%&=.,-_~+[]'\" \\"


@given(st.text(SIGNS), st.text(SIGNS), st.text(SIGNS), st.booleans())
def test_what_libpq_takes_as_secret_is_never_shown(
    user: str, word: str, rest: str, in_options: bool
) -> None:
    secret = f"Kx7{word}Kx7"
    url = f"postgresql://{user}:{secret}@h/{rest}"
    if in_options:
        url = f"postgresql://{user}@h/d?{rest}&sslpassword={secret}&passwor%64={secret}"
    found = ["Kx7"]
    with suppress(ServerError):
        found += [each.value for each in read_url(url).values() if each.is_secret]
    assert not any("Kx7" in value and value in masked(url) for value in found)


@pytest.mark.parametrize(
    ("url", "variables"),
    [
        ("postgresql:///?service=prod", {}),
        ("postgresql:///memory", {"PGHOST": "db.example.org", "PGHOSTADDR": "127.0.0.1"}),
        ("postgresql:///memory", {"PGSERVICE": "prod"}),
        ("postgresql://127.0.0.1,db.example.org/memory", {}),
        ("postgresql:///memory?hostaddr=10.0.0.1", {"PGSSLMODE": "prefer"}),
    ],
)
def test_a_server_elsewhere_is_known_however_it_is_named(
    url: str, variables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "pg_service.conf"
    file.write_text("[prod]\nhost=db.example.org\nhostaddr=127.0.0.1\nsslmode=disable\n")
    for name, value in {"PGSERVICEFILE": str(file), **variables}.items():
        monkeypatch.setenv(name, value)
    address = checked(url, from_environment=True)
    assert not address.is_loopback
    assert ("sslmode", "verify-full") in address.parameters(write=False)


@pytest.mark.parametrize(
    "url",
    ["http://h/d", "h", "postgresql://db.example.org/d?sslmode=require",
     "postgresql://127.0.0.1,db.example.org/d?sslmode=prefer",
     "postgresql:///d?host=db.example.org&sslmode=disable",
     "postgresql://owner:Ab3/xY9@127.0.0.1:1/d", "postgresql://me:p@ss@127.0.0.1/d",
     "host=127.0.0.1 dbname=d password=x", "postgresql://127.0.0.1/d?nosuch=1"],
)  # fmt: skip
def test_urls_that_cannot_be_used(url: str) -> None:
    with pytest.raises(ConfigError) as raised:
        checked(url, from_environment=True)
    assert "xY9" not in raised.value.message
    assert raised.value.hint


def test_a_server_elsewhere_has_to_prove_who_it_is() -> None:
    modes = {
        url: dict(checked(url, from_environment=True).parameters(write=False)).get("sslmode")
        for url in ("postgresql://db.example.org/d", "postgresql://127.0.0.1/d",
                    "postgresql://[::1]:5432/d", "postgresql:///d", "postgresql://localhost:1/d")
    }  # fmt: skip
    assert [*modes.values()] == ["verify-full", None, None, None, None]


def test_a_server_that_is_away(
    memcli: Memcli, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "MEMCLI_STORE_URL", "postgresql://me:hunter2@127.0.0.1:1/memory?connect_timeout=0"
    )
    told = memcli("store status", notes)
    assert told.code == 4
    assert "cannot be reached" in told.err
    assert "hunter2" not in told.err


def test_a_database_that_is_not_there(
    memcli: Memcli, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_STORE_URL", server().url("nosuch"))
    told = memcli("store status", notes)
    assert (told.code, "has no such database" in told.err) == (2, True)


def test_a_store_that_is_not_set_up(
    memcli: Memcli, notes: Path, empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_STORE_URL", empty)
    for line in ("store status", "store attach ops"):
        told = memcli(line, notes)
        assert told.code == 4, told.err
        assert told.err.endswith("Try: let the owner of the tables run: memcli store init\n")


def test_a_user_that_is_refused(
    memcli: Memcli, notes: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = server().data / "pg_hba.conf"
    before = rules.read_text()
    sql(url, "create role locked login password 'right'")
    rules.write_text("host all locked 127.0.0.1/32 scram-sha-256\n" + before)
    sql(url, "select pg_reload_conf()")
    try:
        monkeypatch.setenv("MEMCLI_STORE_URL", server().url(database(url), "locked:wrong9"))
        told = memcli("store status", notes)
        assert told.code == 2, told.err
        assert "refuses this user" in told.err
        assert "wrong9" not in told.err
        monkeypatch.setenv("MEMCLI_STORE_URL", server().url(database(url), "locked"))
        monkeypatch.setenv("PGPASSWORD", "right")
        told = memcli("store status", notes)
        assert told.code == 4, told.err
        assert "does not let this user" in told.err
    finally:
        rules.write_text(before)
        sql(url, "drop role locked; select pg_reload_conf()")


def test_a_user_who_may_make_no_extension(
    memcli: Memcli, notes: Path, empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql(empty, f"create role plain login; grant create on database {database(empty)} to plain")
    monkeypatch.setenv("MEMCLI_STORE_URL", server().url(database(empty), "plain"))
    try:
        told = memcli("store init", notes)
        assert told.code == 4
        assert told.err.endswith("Try: let its administrator run: create extension vector\n")
        sql(empty, "create extension vector")
        assert memcli("store init", notes).code == 0
    finally:
        sql(empty, "drop owned by plain; drop role plain")


def test_tables_of_a_newer_memcli(memcli: Memcli, notes: Path, url: str) -> None:
    memcli("store attach ops", notes)
    memcli("index", notes)
    newer = schema.VERSION + 1
    sql(url, f"update memcli.version set version = {newer}, least_writer = {newer}")
    told = memcli("store upgrade", notes)
    assert f"needs no upgrade (tables {newer}); nothing was changed" in told.err
    assert memcli("search pool", notes).code == 0
    write(notes, "new.md", "# New\n")
    assert memcli("index", notes).code == 4
    sql(url, f"update memcli.version set least_reader = {newer}")
    told = memcli("search pool --no-sync", notes)
    assert told.code == 4
    assert "was set up by a newer memcli" in told.err


def make_store(url: str, folder: Path, name: str = "ops", origin: str = "here") -> PostgresStore:
    from memcli.store.postgres.admin import attach

    clock = Clock()
    attach(Address(url), Name("t", name), origin, take_over=False)
    local = store_at(str(folder / "i.sqlite"), clock)
    return PostgresStore(Address(url), Name("t", name), local, clock, origin=origin)


def test_a_connection_that_dies_in_a_search(url: str, tmp_path: Path) -> None:
    store = make_store(url, tmp_path)
    with changing(store) as change:
        put(change, "a.md", "the fox\n")
    end = "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()"
    with store.snapshot() as snapshot:
        assert len(snapshot.known()) == 1
        sql(url, f"{end} and datname = current_database()")
        with pytest.raises(StoreError, match="went away"):
            snapshot.known()
    with store.snapshot() as snapshot:
        assert len(snapshot.known()) == 1
    sql(url, f"{end} and datname = current_database()")  # one that is kept for the next question
    with store.snapshot() as snapshot:
        assert len(snapshot.known()) == 1
    sql(url, f"{end} and datname = current_database()")
    with changing(store) as change:
        put(change, "b.md", "the train\n")
    store.close()


def test_who_lost_the_lease_changes_nothing_more(url: str, tmp_path: Path) -> None:
    store = make_store(url, tmp_path)
    with changing(store) as change:
        put(change, "a.md", "the fox\n")
        sql(url, "update memcli.workspaces set epoch = epoch + 1")
        with pytest.raises(BusyError, match="has taken over"):
            put(change, "b.md", "the train\n")
    with store.snapshot() as snapshot:
        assert {path for _, path in snapshot.known()} == {"a.md"}
    store.close()


def test_the_lease_of_another_machine_is_waited_for(url: str, tmp_path: Path) -> None:
    store = make_store(url, tmp_path)
    elsewhere = "update memcli.workspaces set holder = 'elsewhere boot 7', lease_until = now() + "
    sql(url, f"{elsewhere} '60 seconds'")
    with pytest.raises(BusyError, match="another memcli writes"):
        changing(store).__enter__()
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        sql(url, f"{elsewhere} '-1 second'")

    with store.change(wait_seconds=9, sleep=sleep) as change:
        put(change, "a.md", "the fox\n")
    assert len(waited) == 1
    store.close()


def test_a_dead_process_of_this_machine_is_not_waited_for(url: str, tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    place = holder().rpartition(" ")[0]
    assert is_dead(f"{place} {ended.pid}")
    assert not is_dead(f"{place} {os.getppid()}")
    assert not is_dead(f"elsewhere {ended.pid}")
    store = make_store(url, tmp_path)
    sql(url, f"update memcli.workspaces set holder = '{place} {ended.pid}',"
        " lease_until = now() + '60 seconds'")  # fmt: skip
    with changing(store) as change:
        put(change, "a.md", "the fox\n")
    store.close()


def test_a_killed_writer_leaves_whole_documents(
    memcli: Memcli, notes: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memcli("store attach ops", notes)
    for number in range(120):
        write(notes, f"many/{number}.md", f"# N {number}\n\nthe fox {number}\n\n## More\n\ntrain\n")
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    for rows in (5, 40):
        child = subprocess.Popen(
            [sys.executable, str(ROOT / "tests" / "launch.py"), "index", "--wait", "60"],
            cwd=notes, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        count = "select count(*) from memcli.documents"
        while child.poll() is None and int(sql(url, count)) < rows:
            pass
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert memcli("index", notes).code == 0
    found = json.loads(memcli("status --deep --json", notes).out)
    assert (found["state"], found["store"]["integrity"]) == ("up_to_date", "ok")
    assert sql(url, "select count(*) from memcli.documents") == "124"


def test_a_disk_that_is_full_is_said() -> None:
    from memcli.store.postgres.errors import of
    from memcli.store.postgres.libpq import ServerError

    address = Address("postgresql://me:hunter2@127.0.0.1/d")
    for state, kind, words in (
        ("53100", StoreError, "is out of room"),
        ("53300", BusyError, "is busy"),
        ("55P03", BusyError, "is busy"),
        ("57P01", StoreError, "went away"),
        ("XX001", StoreError, "is damaged"),
        ("28P01", RefusedError, "refuses this user"),
        ("XX000", StoreError, "is damaged"),
    ):
        error = of(ServerError("no hunter2 here", state), address)
        assert type(error) is kind or issubclass(type(error), kind)
        assert words in error.message
        assert "hunter2" not in error.message
        assert error.hint
    for state in ("XX000", "58030"):
        said = ServerError('could not extend file "base/5/1": File too large', state)
        assert "is out of room" in of(said, address).message


def test_vectors_are_copied_in_pieces(
    memcli: Memcli, notes: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "PIECE", 3)
    monkeypatch.setattr(document_rows, "LOT", 2)
    assert memcli("store attach ops", notes).code == 0
    assert memcli("index", notes).code == 0
    vectors = "select count(*) from memcli.vectors where unused_since is null"
    before = sql(url, vectors)
    assert int(before) > 3
    assert json.loads(memcli("index --full --json", notes).out)["embedded"] == 0
    assert sql(url, vectors) == before
    assert json.loads(memcli("status --deep --json", notes).out)["store"]["integrity"] == "ok"
