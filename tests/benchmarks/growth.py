"""Measure how a shared index grows: storage, searches and writes by workspaces and parts.

One workspace of a size is written as ever, and its rows are copied under the numbers of the others,
so words and vectors are as many as they would be, and alike. What is asked of one workspace and of
all is the best of three for each question; documents are written one by one, each a transaction.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memcli.bench.speed import SECTIONS, documents, queries
from memcli.store.postgres.address import Address
from memcli.store.postgres.schema import TABLES
from memcli.store.postgres.session import Name
from memcli.store.postgres.store import PostgresSharedIndex, PostgresStore
from memcli.store.union import Union
from tests.benchmarks.figures import option
from tests.benchmarks.shared import Asked, Trips, fill, opened, timed
from tests.postgres.server import server, set_up
from tests.store.contract.makers import changing, document, stamp_of

SIZES = ("10x10000", "200x10000", "10x100000", "200x100000")
QUESTIONS = 12
WRITTEN = 20
PARTS = 1.75  # of a chunk of these documents


class Together:
    """All workspaces of a tenant as a store that is asked."""

    def __init__(self, shared_index: PostgresSharedIndex) -> None:
        self._shared_index = shared_index

    @contextmanager
    def snapshot(self) -> Iterator[Union]:
        with self._shared_index.snapshots() as (readers, ask_many):
            names = sorted(name for name in readers if "/" in name)
            members = {name.replace("/", "."): readers[name] for name in names}
            yield Union(members, has_own=False, ask_many=ask_many)


def copies(url: str, first: PostgresStore, count: int) -> None:
    """Copy a workspace under other names."""
    database, own = url.rpartition("/")[2], f"w.name = '{first.name.workspace}'"
    told = "revision, changed_at, next_id, chunks, words, meta"
    server().sql(
        f"insert into memcli.workspaces (tenant, name, origin, {told}) select 'bench', 'copy' || n,"
        f" 'bench', {told} from memcli.workspaces w, generate_series(2, {count}) n where {own}",
        database,
    )
    for table in ("documents", "chunks", *(t for t in TABLES if t not in ("documents", "chunks"))):
        columns = server().sql(
            "select string_agg(quote_ident(column_name), ', ' order by column_name)"
            " from information_schema.columns where table_schema = 'memcli' and is_generated ="
            f" 'NEVER' and table_name = '{table}' and column_name <> 'workspace'",
            database,
        )
        server().sql(
            f"insert into memcli.{table} (workspace, {columns}) select c.number, {columns} from"
            f" (select * from memcli.{table} where workspace = (select id from memcli.workspaces w"
            f" where {own})) o, (select id as number from memcli.workspaces"
            " where name like 'copy%') c",
            database,
        )
    server().sql("vacuum analyze", database)


def best(store: Asked, trips: Trips) -> str:
    took: dict[str, float] = {}
    before, cpu = trips.count, time.process_time()
    for _ in range(3):
        for text in queries(QUESTIONS):
            took[text] = min(took.get(text, 1e9), timed(store, text)[0])
    ranked = sorted(took.values())
    asked = 3 * QUESTIONS
    own = (time.process_time() - cpu) * 1000 / asked
    return (
        f"p50 {statistics.median(ranked):.1f}, p95 {ranked[int(len(ranked) * 0.95)]:.1f} ms,"
        f" {own:.0f} ms CPU of the client, {(trips.count - before) / asked:.1f} trips"
    )


def measure(workspaces: int, parts: int, trips: Trips) -> None:
    """Make a store of a size and measure it."""
    database = f"growth_{workspaces}_{parts}"
    server().sql(f"create database {database}")
    url = set_up(server(), database, ["bench"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "one"
        first = opened(url, folder)
        assert isinstance(first, PostgresStore)
        server().sql(f"update memcli.workspaces set name = 'one' where name = '{folder}'", database)
        first.name = Name("bench", "one")
        fill(first, max(SECTIONS + 1, int(parts / workspaces / PARTS)))
        copies(url, first, workspaces)
        size = "select sum(pg_total_relation_size(c.oid)) from pg_class c join pg_namespace n on"
        size += " n.oid = c.relnamespace where n.nspname = 'memcli' and c.relkind = 'r'"
        held = int(server().sql("select count(*) from memcli.parts", database))
        taken = float(server().sql(size, database))
        alone = best(first, trips)
        shared_index = PostgresSharedIndex(Address(url), "bench")
        everybody = best(Together(shared_index), trips)
        shared_index.close()
        made = [(document(p, t), stamp_of(p, t)) for p, t in documents(WRITTEN, seed=7)]
        begun = time.perf_counter()
        with changing(first) as change:
            for each, stamp in made:
                change.put(each, stamp)
        took = time.perf_counter() - begun
        first.close()
    sys.stdout.write(
        f"{workspaces} workspaces, {held} parts: {taken / held / 1000:.2f} kB a part;"
        f" one asked: {alone}; all asked: {everybody};"
        f" {WRITTEN / took:.0f} documents/s by one writer\n"
    )
    sys.stdout.flush()
    server().sql(f"drop database {database} with (force)")


OPTIONS = (option("sizes", nargs="*", default=SIZES, metavar="WORKSPACESxPARTS"),)


def main(options: Namespace) -> None:
    trips = Trips()
    for size in options.sizes:
        workspaces, _, parts = size.partition("x")
        measure(int(workspaces), int(parts), trips)
