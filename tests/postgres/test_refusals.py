"""What a real server refuses: each time a clear error, and nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memcli.store.postgres.address import Address
from memcli.store.postgres.pool import pool_of
from tests.commands import Said
from tests.postgres.conftest import Memcli, database, sql
from tests.postgres.proxy import Proxy
from tests.postgres.server import AGENT, server, set_up
from tests.postgres.tls import EXPIRED, VALID, tls_server
from tests.support import write

FULL = Path("/dev/full")  # where every write finds the disk full; not on every system
NEW = "# New\n\nunheard of\n"


def test_a_server_that_is_too_old(
    memcli: Memcli, notes: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = Proxy(server().port, instead=(b"server_version\x0018", b"server_version\x0014"))
    monkeypatch.setenv("MEMCLI_STORE_URL", url.replace(f":{server().port}/", f":{old.port}/"))
    for line in ("store status", "store init", "store attach ops"):
        told = memcli(line, notes)
        assert (told.code, told.out) == (4, "")
        assert "is PostgreSQL 14, and a shared index needs 15 or newer" in told.err
    old.close()


def test_a_server_without_pgvector(
    memcli: Memcli, notes: Path, empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_STORE_URL", empty)
    sql(empty, f"alter database {database(empty)} set extension_control_path = '/nowhere'")
    told = memcli("store init", notes)
    assert told.code == 4
    assert "has no pgvector" in told.err
    assert told.err.endswith("Try: install pgvector 0.8 or newer on the server\n")
    assert sql(empty, "select count(*) from pg_namespace where nspname = 'memcli'") == "0"
    sql(empty, f"alter database {database(empty)} reset extension_control_path")
    assert memcli("store init", notes).code == 0


def test_a_pgvector_that_is_too_old(
    memcli: Memcli, notes: Path, empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_STORE_URL", empty)
    sql(empty, "create extension vector; update pg_extension set extversion = '0.7.4'"
        " where extname = 'vector'")  # fmt: skip
    told = memcli("store init", notes)
    assert (told.code, "has pgvector 0.7.4, and a shared index needs 0.8" in told.err) == (4, True)


def test_a_pgvector_that_was_dropped(memcli: Memcli, notes: Path, url: str) -> None:
    assert memcli("store attach ops", notes).code == 0
    assert memcli("index", notes).code == 0
    sql(url, "drop extension vector cascade")
    write(notes, "new.md", NEW)
    for line in ("search pool --no-sync", "index"):
        told = memcli(line, notes)
        assert (told.code, told.out) == (4, "")
        assert "has lost pgvector" in told.err
        assert "Try: let its owner run: drop schema memcli cascade; then memcli store" in told.err
    sql(url, "drop schema memcli cascade")
    set_up(server(), database(url))  # as the owner of the tables
    for line in ("store attach ops", "index"):
        assert memcli(line, notes).code == 0
    found = json.loads(memcli("search unheard --json", notes).out)
    assert found["results"][0]["path"] == "new.md"


def test_a_certificate_that_has_run_out(
    memcli: Memcli, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tls_server(tmp_path, EXPIRED) as (port, authority):
        monkeypatch.setenv(
            "MEMCLI_STORE_URL",
            f"postgresql://me@localhost:{port}/d?sslmode=verify-full&sslrootcert={authority}"
            "&hostaddr=127.0.0.1",
        )
        told = memcli("store status", notes)
    assert (told.code, told.out) == (4, "")
    assert "cannot be trusted" in told.err
    assert "certificate verify failed" in told.err  # libpq does not say why
    assert "Try: see when its certificate ends" in told.err


def test_a_server_elsewhere_proves_who_it_is(
    memcli: Memcli, notes: Path, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tls_server(tmp_path, VALID, to=server().port) as (port, authority):

        def told(host: str, *options: str) -> Said:
            place = f"postgresql://{AGENT}@{host}:{port}/{database(url)}?hostaddr=127.0.0.1"
            monkeypatch.setenv("MEMCLI_STORE_URL", "&".join((place, *options)))
            return memcli("store status", notes)

        trusted = f"sslrootcert={authority}"
        assert told("db.prod.example", trusted).code == 0
        for line in ("store attach ops", "index", "search pool", "store delete ops --apply"):
            assert memcli(line, notes).code == 0
        for host, options, why in (
            ("db.prod.example", (), "cannot be trusted"),
            ("db.other.example", (trusted,), "does not match host name"),
            ("db.prod.example", (trusted, "sslmode=require"), "needs verify-full"),
            ("db.prod.example", ("sslmode=disable",), "needs verify-full"),
        ):
            refused = told(host, *options)
            assert (refused.code in (2, 4), refused.out) == (True, "")
            assert why in refused.err
            assert "Try: " in refused.err


if FULL.exists():

    def test_a_disk_that_is_full(memcli: Memcli, notes: Path, url: str) -> None:
        assert memcli("store attach ops", notes).code == 0
        assert memcli("index", notes).code == 0
        ask = "search pool --json --no-sync --now 2025-03-01"
        before = json.loads(memcli(ask, notes).out)["results"]
        # A table that nothing was stored in yet lies where there is no room. A kept connection
        # would have its file open.
        pool_of(Address(url)).close()
        table = server().data / sql(url, "select pg_relation_filepath('memcli.properties')")
        assert table.stat().st_size == 0
        table.rename(f"{table}.kept")
        table.symlink_to(FULL)
        write(notes, "new.md", f"---\ntags: [new]\n---\n{NEW}")
        told = memcli("index", notes)
        assert (told.code, told.out) == (4, "")
        assert "is out of room" in told.err
        assert "Try: free some space on the server, then memcli index" in told.err
        assert json.loads(memcli(ask, notes).out)["results"] == before
        table.unlink()
        Path(f"{table}.kept").rename(table)
        pool_of(Address(url)).close()
        assert memcli("index", notes).code == 0
        found = json.loads(memcli("search unheard --json", notes).out)
        assert found["results"][0]["path"] == "new.md"
        state = json.loads(memcli("status --deep --json", notes).out)
        assert (state["state"], state["store"]["integrity"]) == ("up_to_date", "ok")
