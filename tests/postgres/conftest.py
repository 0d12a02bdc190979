"""A database with the tables of a shared index, and a command line that uses it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path

import pytest

from tests.commands import Said, say
from tests.postgres.server import AGENT, Server, server, set_up
from tests.support import write_files

_numbers = count()
NOTES = {
    "MEMORY.md": "# Rules\n\nThe pool has 20 connections.\n",
    "memory/2025-01-02.md": "# Outage\n\nThe pool ran dry at noon.\n\n- fox 1\n- fox 2\n",
    "memory/2025-02-03.md": "# Later\n\nWe raised the limit of the pool to 40.\n",
    "memory/2025-02-04.md": "# 東京\n\n東京都の検索 of the coffee house.\n",
}


Memcli = Callable[..., Said]


@pytest.fixture
def memcli(monkeypatch: pytest.MonkeyPatch) -> Memcli:
    """Run a command line in a folder."""
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")

    return lambda line, folder: say(*line.split(), folder=folder)


@pytest.fixture
def empty() -> Iterator[str]:
    """The URL of an empty database, which is dropped again."""
    with _made() as name:
        yield server().url(name)


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a shared index, for the role that writes it; the environment names it."""
    with _made(f"template {_prepared()}") as name:
        made = server().url(name, AGENT)
        monkeypatch.setenv("MEMCLI_STORE_URL", made)
        yield made


@contextmanager
def _made(by: str = "") -> Iterator[str]:
    name = f"made_{next(_numbers)}"
    server().sql(f"create database {name} {by}")
    yield name
    server().sql(f"drop database {name} with (force)")


@cache
def _prepared() -> str:
    """Make the tables of a shared index once; databases are copies of this one."""
    server().sql("create database prepared")
    set_up(server(), "prepared")
    return "prepared"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return make_notes(tmp_path / "notes")


def make_notes(folder: Path) -> Path:
    return write_files(folder, NOTES)


def database(url: str) -> str:
    return url.rpartition("/")[2]


def sql(url: str, script: str) -> str:
    return server().sql(script, database(url))


__all__ = ["Memcli", "Server", "database", "make_notes", "sql"]
