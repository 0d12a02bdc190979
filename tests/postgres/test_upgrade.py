"""Older tables are read, and upgraded while others read and write them."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memcli import Memory
from memcli.store.postgres.libpq import Connection
from tests.postgres.conftest import Memcli, database, make_notes, sql
from tests.postgres.server import let_in, server
from tests.support import write

ASK = "search pool --json --no-sync --now 2025-03-01"
NOW = datetime(2025, 3, 1, tzinfo=UTC)
# What an older memcli asks before it reads, and what it reads.
OLD_ASKS = (
    "select w.id, w.tenant, w.name, w.origin, w.holder, w.epoch, w.revision, w.next_id, w.chunks,"
    " w.words, w.meta::json, w.left_ns, w.lease_until > now(), (select row_to_json(v)"
    " from memcli.version v) from (select 1) one left join memcli.workspaces w"
    " on w.tenant = 'default' and w.name = 'ops' and w.beside_of is null"
)
# What it asks before each change, and what it changes.
OLD_LEASE = (
    "update memcli.workspaces set holder = 'elsewhere boot 7', epoch = epoch + 1, lease_until ="
    " now() + '60 seconds' where name = 'ops' returning id, epoch"
)
OLD_LOCKS = (
    "select w.id from memcli.workspaces w where w.id = $1 and w.epoch = $2 for no key update"
)
OLD_PUTS = (
    "insert into memcli.documents select $1, -$2::bigint, 'memory', 'old-' || $2, '', 1, 1, 1, 1,"
    " 1, 'Old', null, null, 'note', 'shared', 'memory', 'untrusted', null, null, false, false,"
    " '{}', ''"
)
OLD_SETTLES = (
    "update memcli.workspaces set revision = revision + 1, changed_at = now() where id = $1"
)
# Older tables differ from the present ones only in these.
SECOND = """
alter table memcli.workspaces drop constraint workspaces_meta;
alter table memcli.chunks drop constraint chunks_lists;
drop function memcli.count_rows();
create function memcli.count_rows() returns void language plpgsql security definer
  set search_path = pg_catalog, pg_temp as $$ begin null; end $$;
grant execute on function memcli.count_rows() to memcli_agents;
update memcli.version set version = 2
"""
CATALOG = {
    "columns": "select table_name, column_name, data_type, column_default, is_identity"
    " from information_schema.columns where table_schema = 'memcli'",
    "constraints": "select conrelid::regclass, conname, convalidated, pg_get_constraintdef(oid)"
    " from pg_constraint where connamespace = 'memcli'::regnamespace and contype <> 'n'",
    "indexes": "select tablename, indexname, indexdef from pg_indexes where schemaname = 'memcli'",
    "policies": "select tablename, policyname, cmd, qual, with_check from pg_policies"
    " where schemaname = 'memcli'",
    "secured": "select relname, relrowsecurity from pg_class"
    " where relnamespace = 'memcli'::regnamespace and relkind in ('r', 'p')",
    "functions": "select proname, pg_get_functiondef(oid) from pg_proc"
    " where pronamespace = 'memcli'::regnamespace",
    "tables": "select c.relname, a.privilege_type from pg_class c, aclexplode(c.relacl) a"
    " where c.relnamespace = 'memcli'::regnamespace and a.grantee = 'memcli_agents'::regrole",
    "granted": "select table_name, column_name, privilege_type"
    " from information_schema.column_privileges"
    " where table_schema = 'memcli' and grantee = 'memcli_agents'",
    "version": "select version, least_reader, least_writer from memcli.version",
}


def catalog(url: str) -> dict[str, list[str]]:
    """Describe all that makes the tables."""
    return {name: sorted(sql(url, query).split("\n")) for name, query in CATALOG.items()}


@pytest.fixture
def older(memcli: Memcli, url: str, notes: Path) -> str:
    """The URL of a shared index with older tables, in which a folder has its index."""
    assert memcli("store attach ops", notes).code == 0
    assert memcli("index", notes).code == 0
    sql(url, SECOND)
    return url


def test_older_tables_are_read_and_not_written(
    memcli: Memcli, older: str, notes: Path, tmp_path: Path
) -> None:
    told = memcli("search pool --json --now 2025-03-01", notes)
    assert told.code == 0, told.err
    assert json.loads(told.out)["results"]
    write(notes, "new.md", "# New\n\nunheard of\n")
    told = memcli("search pool --json --now 2025-03-01", notes)
    assert (told.code, json.loads(told.out)["freshness"]["pending"]) == (0, 1)
    for line in ("get MEMORY.md", "ls", "context pool", "search pool"):
        assert memcli(f"{line} --workspace-name ops", tmp_path).code == 0, line
    for line in ("index", "index --full", "store attach other", "store delete ops --apply"):
        told = memcli(line, notes if "attach" not in line else make_notes(tmp_path / "new"))
        assert told.code == 4, line
        assert "has the tables of an older memcli (2)" in told.err
        assert told.err.endswith("Try: let the owner of the tables run: memcli store upgrade\n")


class Others:
    """Readers and a writer of an older memcli, and a reader of this one, each with its thread."""

    def __init__(self, url: str) -> None:
        """Start them; all have worked once when this returns."""
        self.faults: list[Exception] = []
        self.answers: set[str] = set()
        self.written, self.is_fenced = 0, False
        self._url, self._over = url, threading.Event()
        rounds = (self._old_reads, self._old_reads, self._new_reads, self._old_writes)
        self._began = threading.Barrier(len(rounds) + 1)
        self._threads = [
            threading.Thread(target=self._loop, args=(each,), daemon=True) for each in rounds
        ]
        for thread in self._threads:
            thread.start()
        self._began.wait(timeout=30)

    def end(self) -> None:
        """Let each work once more, and end."""
        self._over.set()
        for thread in self._threads:
            thread.join(timeout=30)
        assert not any(thread.is_alive() for thread in self._threads)

    def _loop(self, works: Callable[[], Iterator[None]]) -> None:
        try:
            rounds = works()
            next(rounds)
            self._began.wait(timeout=30)
            while not self._over.is_set():
                next(rounds)
            next(rounds)
        except Exception as error:
            self.faults.append(error)

    def _old_reads(self) -> Iterator[None]:
        with closing(Connection([("dbname", self._url)])) as connection:
            while True:
                connection.run("begin isolation level repeatable read, read only")
                assert connection.run(OLD_ASKS)
                connection.run("select count(*) from memcli.chunks; commit")
                yield

    def _new_reads(self) -> Iterator[None]:
        memory = Memory.open(shared="ops", environ={**os.environ, "MEMCLI_STORE_URL": self._url})
        while True:
            found = memory.search("pool", now=NOW).results
            self.answers.add(" ".join(each.citation for each in found))
            yield

    def _old_writes(self) -> Iterator[None]:
        with closing(Connection([("dbname", self._url)])) as connection:
            ((number, epoch),) = connection.run(OLD_LEASE)
            while True:
                connection.run("begin")
                self.is_fenced = not connection.rows(OLD_LOCKS, (number, epoch))
                if not self.is_fenced:
                    connection.rows(OLD_PUTS, (number, self.written + 1))
                    connection.rows(OLD_SETTLES, (number,))
                connection.run("commit")
                self.written += not self.is_fenced
                yield


def test_an_upgrade_stops_no_reader_and_a_writer_only_if_it_must(
    memcli: Memcli, older: str, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = older
    expected = json.loads(memcli(ASK, notes).out)["results"]
    assert memcli("store upgrade", notes).code == 4  # not as a role that only writes
    others = Others(url)
    monkeypatch.setenv("MEMCLI_STORE_URL", server().url(database(url)))
    told = memcli("store upgrade --json", notes)
    others.end()
    assert (told.code, json.loads(told.out)["changed"]) == (0, True)
    assert others.faults == []
    assert len(others.answers) == 1
    assert not others.is_fenced
    stored = sql(url, "select count(*) from memcli.documents where path like 'old-%'")
    assert int(stored) == others.written
    assert others.written > 1
    assert json.loads(memcli("store upgrade --json", notes).out)["changed"] is False
    monkeypatch.setenv("MEMCLI_STORE_URL", url)
    assert json.loads(memcli(ASK, notes).out)["results"] == expected
    sql(url, "update memcli.workspaces set lease_until = now()")  # of the old writer, which ended
    write(notes, "new.md", "# New\n\nunheard of\n")
    for line in ("index", "index --full"):
        assert memcli(line, notes).code == 0
    found = json.loads(memcli("search unheard --json", notes).out)
    assert found["results"][0]["path"] == "new.md"
    assert json.loads(memcli("status --deep --json", notes).out)["store"]["integrity"] == "ok"


@pytest.mark.parametrize("partitions", [0, 2])
def test_upgraded_tables_are_those_that_init_makes(
    memcli: Memcli, empty: str, notes: Path, partitions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_STORE_URL", empty)
    assert memcli(f"store init --partitions {partitions}", notes).code == 0
    let_in(server(), database(empty))
    expected = catalog(empty)
    sql(empty, SECOND)
    assert catalog(empty) != expected
    assert memcli("store upgrade", notes).code == 0
    found = catalog(empty)
    assert [name for name in found if found[name] != expected[name]] == []


def test_tables_that_no_release_has_made_are_not_upgraded(
    memcli: Memcli, older: str, notes: Path
) -> None:
    sql(older, "update memcli.version set version = 1")
    told = memcli("store upgrade", notes)
    assert told.code == 4
    assert "tables that no release of memcli made" in told.err
