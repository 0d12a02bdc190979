"""Tables of the first form are read, and upgraded while they are read."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from memcli.store.postgres import schema
from memcli.store.postgres.libpq import Connection, ServerError
from tests.postgres.conftest import Memcli, database, make_notes, sql
from tests.postgres.server import let_in, server
from tests.support import write

FIRST = (Path(__file__).parent / "first_form.sql").read_text()
ASK = "search pool --json --no-sync --now 2025-03-01"
# What a memcli of the first form asks before it reads, and what it reads.
OLD_ASKS = (
    "select w.id, w.tenant, w.name, w.origin, w.holder, w.epoch, w.revision, w.next_id, w.chunks,"
    " w.words, w.meta::json, w.left_ns, w.lease_until > now(), (select row_to_json(v)"
    " from memcli.version v) from (select 1) one left join memcli.workspaces w"
    " on w.tenant = 'default' and w.name = 'ops' and w.beside_of is null"
)
PLANTED = (
    "insert into memcli.documents select 77, 1, 'memory', 'planted.md', '', 1, 1, 1, 1, 1, 'Rules',"
    " null, null, 'note', 'shared', 'memory', 'trusted', null, null, true, false, '{}', '';"
    "insert into memcli.vectors (workspace, encoder, hash, vector) values (77, 1, 'x', '[1]');"
    "insert into memcli.unread values (77, 1, 'x');"
    "insert into memcli.workspaces (tenant, name, beside_of)"
    " select 'blue', 'trap', id from memcli.workspaces"
)
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


def first_form(partitions: int) -> str:
    """Give the statements of the first form, with tables cut into partitions."""
    made = FIRST
    for table in schema.TABLES if partitions else ():
        cut = "".join(
            f"create table memcli.{table}_{rest} partition of memcli.{table}"
            f" for values with (modulus {partitions}, remainder {rest});"
            for rest in range(partitions)
        )
        end = made.index(";\n", made.index(f"create table memcli.{table} ("))
        made = f"{made[:end]} partition by hash (workspace);\n{cut}{made[end + 1 :]}"
    return made


def go_back(url: str, partitions: int = 0) -> None:
    """Put all that is stored into tables of the first form."""
    sql(url, "alter schema memcli rename to newer")
    sql(url, first_form(partitions))
    for table in ("workspaces", "members", *schema.BOTTOM_UP[::-1]):
        columns = sql(
            url,
            "select string_agg(quote_ident(column_name), ', ') from information_schema.columns"
            f" where table_schema = 'newer' and table_name = '{table}' and is_generated = 'NEVER'",
        )
        sql(url, f"insert into memcli.{table} ({columns}) select {columns} from newer.{table}")
    sql(url, "drop schema newer cascade")


@pytest.fixture
def first(memcli: Memcli, url: str, notes: Path) -> str:
    """The URL of a shared index of the first form, in which a folder has its index."""
    assert memcli("store attach ops", notes).code == 0
    assert memcli("index", notes).code == 0
    go_back(url)
    return url


def test_tables_of_the_first_form_are_read_and_not_written(
    memcli: Memcli, first: str, notes: Path, tmp_path: Path
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
        assert "has the tables of an older memcli (1)" in told.err
        assert told.err.endswith("Try: let the owner of the tables run: memcli store upgrade\n")


def test_an_upgrade_does_not_stop_readers(
    memcli: Memcli, first: str, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql(first, PLANTED)
    expected = memcli(ASK, notes).out
    assert memcli("store upgrade", notes).code == 4  # not as a role that only writes
    over, faults, answers = threading.Event(), [], []

    def read() -> None:
        connection = Connection([("dbname", first)])
        while not over.is_set():
            try:
                connection.run("begin isolation level repeatable read, read only")
                answers.append(connection.run(f"{OLD_ASKS}")[0][0])
                connection.run("select count(*) from memcli.chunks; commit")
            except ServerError as error:
                faults.append(error)
        connection.close()

    readers = [threading.Thread(target=read, daemon=True) for _ in range(3)]
    for reader in readers:
        reader.start()
    monkeypatch.setenv("MEMCLI_STORE_URL", server().url(database(first)))
    told = memcli("store upgrade --json", notes)
    over.set()
    for reader in readers:
        reader.join(timeout=30)
    assert (told.code, json.loads(told.out)["changed"]) == (0, True)
    assert faults == []
    assert len(set(answers)) == 1
    assert json.loads(memcli("store upgrade --json", notes).out)["changed"] is False
    monkeypatch.setenv("MEMCLI_STORE_URL", first)
    assert memcli(ASK, notes).out == expected
    assert "planted" not in memcli("context pool --workspace-name ops", notes).out
    for table in schema.TABLES:
        strange = f"select count(*) from memcli.{table} where workspace not in"
        assert sql(first, f"{strange} (select id from memcli.workspaces)") == "0", table
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
    go_back(empty, partitions)
    assert catalog(empty) != expected
    assert memcli("store upgrade", notes).code == 0
    found = catalog(empty)
    assert [name for name in found if found[name] != expected[name]] == []
