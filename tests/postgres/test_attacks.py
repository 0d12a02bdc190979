"""A tenant attacks another one with plain SQL, as a role that the documented grants have made.

Bob writes the tenant beta. Alice writes alpha, and Carol reads it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memcli.store.postgres import schema
from memcli.store.postgres.address import Address
from memcli.store.postgres.admin import initialise
from memcli.store.postgres.libpq import Connection, ServerError
from tests.postgres.conftest import Memcli, database, make_notes, sql
from tests.postgres.server import server
from tests.support import by_night, write

DENIED, FORBIDDEN, NOTHING_THERE = "42501", "42501", "23503"
SECRET = "alphasecret"
COUNT = "select (select count(*) from memcli.workspaces), (select count(*) from memcli.documents)"
# What Bob tries to write, in the order of the columns of the tables.
DOCUMENT = (
    "insert into memcli.documents select {0}, 1, 'memory', 'planted.md', '', 1, 1, 1, 1, 1,"
    " 'Rules', null, null, 'note', 'shared', 'memory', 'trusted', null, null, true, false, '{{}}',"
    " ''"
)
VECTOR = "insert into memcli.vectors (workspace, encoder, hash, vector) values ({0}, 1, 'x', '[1]')"


class Tenants:
    """Two tenants with a workspace each, and what their roles may do."""

    def __init__(self, owner: str) -> None:
        self.database = database(owner)
        for role, tenant, writes in (
            ("alice", "alpha", True), ("bob", "beta", True), ("carol", "alpha", False),
        ):  # fmt: skip
            sql(owner, "; ".join(schema.joining(role, tenant, writes=writes)))

    def url(self, role: str) -> str:
        return server().url(self.database, role)

    def run(self, script: str, role: str = "bob") -> list[tuple[Any, ...]]:
        connection = Connection([("dbname", self.url(role))])
        try:
            return connection.run(script)
        finally:
            connection.close()

    def refusal(self, script: str, role: str = "bob") -> str:
        """Give the state that ends a script."""
        with pytest.raises(ServerError) as raised:
            self.run(script, role)
        return raised.value.state


@pytest.fixture
def tenants(memcli: Memcli, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tenants:
    made = Tenants(url)
    for role, name in (("bob", "beta"), ("alice", "alpha")):  # the environment stays Alice's
        folder = make_notes(tmp_path / name)
        write(folder, "own.md", f"# Own\n\n{name}secret budget\n")
        monkeypatch.setenv("MEMCLI_STORE_URL", made.url(role))
        assert memcli(f"store attach {name}/ops", folder).code == 0
        assert memcli("index", folder).code == 0
    return made


def test_a_row_is_written_only_into_a_workspace_of_the_role(url: str, tenants: Tenants) -> None:
    of = dict(server_rows(url, "select tenant, id from memcli.workspaces"))
    before = sql(url, COUNT)
    for number in (of["alpha"], 1, 2, of["alpha"] + 1):
        assert tenants.refusal(DOCUMENT.format(number)) == FORBIDDEN
        assert tenants.refusal(VECTOR.format(number)) == FORBIDDEN
        unread = f"insert into memcli.unread values ({number}, 1, 'x')"
        assert tenants.refusal(unread) == FORBIDDEN
    assert tenants.refusal(DOCUMENT.format(of["alpha"]), "carol") == FORBIDDEN  # who only reads
    assert sql(url, COUNT) == before
    # Their own rows cannot be given to another workspace, nor kept when theirs goes.
    for table in ("documents", "chunks", "vectors", "unread", "keywords", "parts", "lineage"):
        moving = f"update memcli.{table} set workspace = {of['alpha']}"
        assert tenants.refusal(moving) == DENIED
    tenants.run(f"select memcli.drop_workspace({of['beta']})")
    for table in schema.TABLES:
        assert sql(url, f"select count(*) from memcli.{table} where workspace = {of['beta']}") == (
            "0"
        )


def test_the_server_gives_the_number_of_a_workspace(url: str, tenants: Tenants) -> None:
    planted = "insert into memcli.workspaces (id, tenant, name) values (7, 'beta', 'p')"
    assert tenants.refusal(planted) == DENIED
    assert tenants.refusal("update memcli.workspaces set id = 7") == DENIED
    for name in "abcdefgh":
        tenants.run(f"insert into memcli.workspaces (tenant, name) values ('beta', '{name}')")
    numbers = [number for (number,) in tenants.run("select id from memcli.workspaces")]
    assert len(set(numbers)) == 9
    assert all(0 < number < 1 << 63 for number in numbers)
    assert max(numbers) - min(numbers) > 1 << 56
    assert "nextval" not in str(tenants.run("select column_default from information_schema.columns"
        " where table_schema = 'memcli'"))  # fmt: skip


def test_a_half_built_copy_belongs_to_its_workspace(
    memcli: Memcli, url: str, tenants: Tenants, tmp_path: Path
) -> None:
    ((alpha,),) = server_rows(url, "select id from memcli.workspaces where tenant = 'alpha'")
    trap = "insert into memcli.workspaces (tenant, name, beside_of) values ('{}', '{}', {})"
    assert tenants.refusal(trap.format("beta", "trap", alpha)) == NOTHING_THERE
    assert tenants.refusal(trap.format("beta", "ops", alpha)) == NOTHING_THERE
    assert tenants.refusal(trap.format("alpha", "ops", alpha)) == FORBIDDEN
    assert tenants.refusal(trap.format("beta", "ops", 12345)) == NOTHING_THERE  # tells nothing
    own = "update memcli.workspaces set beside_of = {0}"
    assert tenants.refusal(own.format(alpha)) == NOTHING_THERE
    assert memcli("index --full", tmp_path / "alpha").code == 0
    found = json.loads(memcli(f"search {SECRET} --json", tmp_path / "alpha").out)
    assert found["results"][0]["path"] == "own.md"
    assert tenants.run(f"select * from memcli.chunks where text like '%{SECRET}%'") == []


def test_what_a_workspace_had_goes_with_it(url: str, tenants: Tenants) -> None:
    sql(url, "delete from memcli.workspaces where tenant = 'alpha'")
    for table in schema.TABLES:
        left = f"select count(*) from memcli.{table} where workspace not in"
        assert sql(url, f"{left} (select id from memcli.workspaces)") == "0", table
    assert sql(url, "select count(*) from memcli.documents") == "5"  # those of beta


def test_nobody_stops_the_others(
    memcli: Memcli, url: str, tenants: Tenants, tmp_path: Path
) -> None:
    ((alpha,),) = server_rows(url, "select id from memcli.workspaces where tenant = 'alpha'")
    for mode in ("access exclusive", "exclusive", "share row exclusive", "share"):
        for table in ("workspaces", "members", "version", *schema.TABLES):
            locking = f"begin; lock table memcli.{table} in {mode} mode"
            assert tenants.refusal(locking) == DENIED, (table, mode)
    for table in ("workspaces", "members", "version", *schema.TABLES):
        for doing in (f"delete from memcli.{table}", f"truncate memcli.{table}"):
            assert tenants.refusal(doing) == DENIED
    assert tenants.refusal("create table memcli.mine ()") == DENIED
    assert tenants.refusal("update memcli.members set writes = true") == DENIED
    assert tenants.refusal("update memcli.version set least_reader = 9") == DENIED
    # Rows of others are not locked, changed or deleted; that they are there is not told.
    before = server_rows(url, "select id, epoch, holder, origin from memcli.workspaces"
                              " where tenant = 'alpha'")  # fmt: skip
    for number in (alpha, 12345):
        for name, values in (
            ("drop_workspace", f"{number}"), ("drop_rows", f"{number}"),
            ("drop_documents", f"{number}, (select array_agg(n) from generate_series(0, 99) n)"),
            ("drop_lineage", f"{number}, 1"), ("drop_unread", f"{number}, array['x']::bytea[]"),
            ("drop_vectors", f"{number}, 1, {1 << 60}, 0"),
        ):  # fmt: skip
            tenants.run(f"select memcli.{name}({values})")
            tenants.run(f"select memcli.{name}({values})", "carol")
        taken = f"update memcli.workspaces set epoch = 99, origin = 'bob' where id = {number}"
        assert tenants.run(f"{taken} returning id") == []
        assert tenants.run(f"{taken} returning id", "carol") == []
        assert tenants.run(f"select id from memcli.workspaces where id = {number} for update") == []
    assert server_rows(url, "select id, epoch, holder, origin from memcli.workspaces"
                            " where tenant = 'alpha'") == before  # fmt: skip
    assert sql(url, f"select count(*) from memcli.documents where workspace = {alpha}") == "5"
    folder = tmp_path / "alpha"
    for line in ("index --full", "store detach", "store attach alpha/second", "index"):
        assert memcli(line, folder).code == 0, line


def test_a_role_sees_its_own_tenant(url: str, tenants: Tenants) -> None:
    for table in (*schema.TABLES, "workspaces"):
        key = "id" if table == "workspaces" else "workspace"
        others = f"select count(*) from memcli.{table} where {key} not in (select id from"
        assert tenants.run(f"{others} memcli.workspaces where tenant = 'beta')") == [(0,)]
    assert tenants.run("select role, tenant from memcli.members") == [("bob", "beta")]
    assert tenants.run("select tenant from memcli.workspaces", "carol") == [("alpha",)]
    ((found,),) = tenants.run("select count(*) from memcli.documents", "carol")
    assert found == 5
    assert tenants.refusal("set role alice") == DENIED
    for name, tenant in (("ops", "alpha"), ("new", "alpha")):
        adding = f"insert into memcli.workspaces (tenant, name) values ('{tenant}', '{name}')"
        assert tenants.refusal(adding) == FORBIDDEN
        assert tenants.refusal(adding, "carol") == FORBIDDEN
    assert tenants.refusal("update memcli.workspaces set tenant = 'alpha'") == FORBIDDEN


@pytest.mark.parametrize(
    "forging",
    [
        "chunks set turns = '[[1,2,3]]'", "workspaces set meta = '{\"fingerprint\": 5}'",
        "workspaces set name = E'ops\\nalpha/ops'", "vectors set vector = '[1]'",
        *by_night(
            "documents set front_matter = '['", "workspaces set words = 0",
            "chunks set start_line = -2147483648",
            "chunks set end_line = 2147483647", "chunks set start_line = 2147483647",
            "chunks set text = repeat(E'\\n', 100000)", "documents set source = 'beta/ops:x'",
            "vectors set vector = array_fill(1::real, array[16000])::vector",
            "workspaces set words = -(select w.words from memcli.workspaces w where w.tenant ="
            " 'alpha')",
            "chunks set preferences = '[\"x\"]'", "chunks set links = '[5]'",
            "chunks set heading_path = '[[]]'", "chunks set date = 'x'",
            "chunks set first_day = '2025-13-40'", "documents set scope = 'x', trust = 'y'",
            "documents set date = 'x'", "workspaces set meta = '{\"sources\": \"[\"}'",
            "workspaces set meta = '{\"embedded_at\": \"5 x y z\"}'",
        ),
    ],
)  # fmt: skip
def test_forged_rows_change_no_answer_about_other_tenants(
    memcli: Memcli, url: str, tenants: Tenants, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    forging: str,
) -> None:  # fmt: skip
    """Dave reads both tenants. What Bob writes into his rows costs Dave only Bob's notes."""
    for tenant in ("alpha", "beta"):
        sql(url, "; ".join(schema.joining("dave", tenant, writes=False)))
    monkeypatch.setenv("MEMCLI_STORE_URL", tenants.url("dave"))
    folder = tmp_path / "dave"
    folder.mkdir()
    own = "id" if forging.startswith("workspaces") else "workspace"
    of_beta = f"where {own} in (select id from memcli.workspaces where tenant = 'beta')"
    sql(url, f"update memcli.{forging} {of_beta}")
    sql(url, "update memcli.workspaces set revision = revision + 1, meta = replace(meta,"
             " '\"embedded_at\": \"5', '\"embedded_at\": \"' || revision + 1)")  # fmt: skip
    lines = "search alphasecret", "context alphasecret", "context", "changes --since 2025-01-01"
    for line in lines:
        told = memcli(f"{line} --everywhere --now 2025-03-01", folder)
        assert told.code == 0, (line, told.err)
        assert "alpha" in told.out, line
        one = memcli(f"{line} --workspace-name beta/ops --now 2025-03-01", folder)
        assert one.code in (0, 4), (line, one.err)
        assert one.code == 0 or "Try: " in one.err
    assert memcli("search pool --workspace-name alpha/ops", folder).code == 0


def test_rows_that_no_cast_can_read_are_refused(tenants: Tenants) -> None:
    for table, column, states in (
        *(("chunks", name, ("23514", "22P02")) for name in ("turns", "links", "heading_path")),
        ("workspaces", "meta", ("23514", "22P02")),
    ):
        for value in ("{", "5", '"x"', "null" if table == "chunks" else "[]"):
            setting = f"update memcli.{table} set {column} = '{value}'"
            if table == "chunks":  # no role updates a chunk
                setting = (
                    f"insert into memcli.chunks select workspace, id + 1000, document, ordinal,"
                    f" anchor, {_other('heading_path', column, value)}, start_line, end_line,"
                    f" start_byte, end_byte, tokens, text_hash, date, first_day,"
                    f" {_other('links', column, value)}, {_other('turns', column, value)},"
                    " preferences, text from memcli.chunks"
                )
            assert tenants.refusal(setting) in states, (column, value)


def _other(name: str, column: str, value: str) -> str:
    return f"'{value}'" if name == column else name


def test_no_lock_of_a_tenant_holds_others_up(url: str, tenants: Tenants) -> None:
    holding = Connection([("dbname", tenants.url("bob"))])
    counting = "select memcli.count_rows()"
    locks = "select count(*) from pg_locks where mode = 'ShareUpdateExclusiveLock'"
    try:
        tenants.run("update memcli.workspaces set chunks = 1000000000000")
        holding.run(f"begin; {counting}; select pg_advisory_lock({0x6D656D63})")
        assert tenants.run(locks) == [(0,)]  # a count of his own does not start the work
        assert not initialise(Address(server().url(tenants.database)))
        holding.run("commit")
        more = ("insert into memcli.chunks select workspace, id + 1000 * n, document, ordinal,"
                " anchor, heading_path, 1, 1, 0, 1, 1, text_hash, null, null, '[]', '[]', '[]',"
                " repeat('x', 500) from memcli.chunks, generate_series(1, 500) n"
                " where id < 1000")  # fmt: skip
        holding.run(f"{more}; begin; {counting}")
        assert tenants.run(locks) != [(0,)]
        tenants.run(f"set statement_timeout = '20s'; {counting}", "alice")
        tenants.run(more.replace("1000 * n", "1000 * (n + 1000)"))
        tenants.run(f"set statement_timeout = '20s'; {counting}", "alice")  # waits for no lock
    finally:
        holding.close()


def test_partitions_are_as_closed_as_their_table(
    memcli: Memcli, empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_STORE_URL", empty)
    assert memcli("store init --partitions 3", make_notes(tmp_path / "alpha")).code == 0
    made = Tenants(empty)
    monkeypatch.setenv("MEMCLI_STORE_URL", made.url("alice"))
    for line in ("store attach alpha/ops", "index", "index --full", "index"):
        assert memcli(line, tmp_path / "alpha").code == 0, line
    sql(empty, f"grant select on all tables in schema memcli to {schema.GROUP}")
    assert sql(empty, "select count(*) from memcli.chunks") != "0"
    for table in schema.TABLES:
        for rest in range(3):
            assert made.run(f"select count(*) from memcli.{table}_{rest}") == [(0,)], table
    assert made.run("select count(*) from memcli.chunks", "carol") != [(0,)]


def test_the_owner_of_the_tables_does_not_index(
    memcli: Memcli, url: str, tenants: Tenants, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_STORE_URL", server().url(database(url)))
    before = sql(url, COUNT)
    for line in ("index", "index --full", "store attach alpha/new"):
        told = memcli(line, tmp_path / "alpha")
        if line == "store attach alpha/new":
            assert (told.code, "is attached as alpha/ops already" in told.err) == (2, True)
        else:
            assert (told.code, told.out) == (2, "")
            assert "the rules between tenants do not bind it" in told.err
            assert "memcli store grants --role agent --tenant alpha --write" in told.err
    assert sql(url, COUNT) == before
    assert memcli("search budget", tmp_path / "alpha").code == 0  # it may read


def server_rows(url: str, script: str) -> list[tuple[Any, ...]]:
    """Read as the owner of the tables."""
    connection = Connection([("dbname", server().url(database(url)))])
    try:
        return connection.run(script)
    finally:
        connection.close()
