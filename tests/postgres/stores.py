"""Shared stores for tests: one database a process, and in it a workspace for each store."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from memcli.store.open import store_at
from memcli.store.postgres.address import Address
from memcli.store.postgres.admin import attach
from memcli.store.postgres.session import Name
from memcli.store.postgres.store import PostgresStore
from tests.postgres.server import server, set_up
from tests.store.contract.makers import Clock

ORIGIN = "this machine"


@cache
def address() -> Address:
    """Give a database with the tables of a shared index."""
    server().sql("create database contract")
    return Address(set_up(server(), "contract"))


def make_store(folder: Path, clock: Clock) -> PostgresStore:
    """Open a workspace of its own for a folder."""
    name = Name("tests", str(folder))
    attach(address(), name, ORIGIN, take_over=False)
    local = store_at(str(folder / "index.sqlite"), clock)
    return PostgresStore(address(), name, local, clock, origin=ORIGIN)
