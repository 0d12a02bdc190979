"""The commands that faults are tried on, each from a workspace and an index of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import NamedTuple

from memcli.api.memory import Memory
from memcli.errors import ExitCode
from memcli.indexing.indexer import embed
from memcli.indexing.rebuild import rebuild
from memcli.store.port import Change
from memcli.store.sqlite import driver, vectors
from memcli.store.sqlite.driver import NEXT_SUFFIX, connect
from memcli.store.sqlite.writer import Writer
from tests.commands import typed
from tests.hashing import HashingEncoder
from tests.support import FAR_FUTURE_NS, write

NOW = "--now 2026-02-10"
GONE = b"xylophone"  # stands in notes that are deleted; deleted text leaves the index
DECIDED = "- We decided {n}: the pool of api-{n} holds {m} connections, and no more than that.\n"


class Verb(NamedTuple):
    """A command line, and how the workspace comes to be as it finds it."""

    line: str
    prepare: Callable[[Path], None]
    writes: bool = False  # Markdown files
    remote: bool = False  # on a network mount


def notes(base: Path) -> None:
    """Write a small workspace: rules, logs that can be condensed, a page with links."""
    for day in range(1, 6):
        said = "".join(DECIDED.format(n=day * 10 + n, m=60 + n) for n in range(6))
        more = "Nothing of note happened later, but the weather was fine and we talked.\n" * 4
        text = f"---\ntags: [infra, day{day}]\n---\n# Day {day}\n\n{said}\n## Later\n\n{more}"
        write(base / "ws", f"memory/2025-01-0{day}.md", text)
    write(base / "ws", "MEMORY.md", "---\nalways: true\n---\n# Rules\n\nKeep the pool full.\n")
    write(base / "ws", "memory/pool.md", "# Pool\n\nA [[rules]] pool.\n\n## Later\n\nMore of it.\n")
    write(base / "ws", "memory/gone.md", f"# Gone\n\nThe {GONE.decode()} is out of tune.\n" * 3)
    write(base / "ws", "memcli.toml", "")


def indexed(base: Path) -> None:
    """Index the workspace."""
    notes(base)
    run("index", base)


def edited(base: Path) -> None:
    """Change, add, rename and delete notes that are indexed."""
    indexed(base)
    root = base / "ws" / "memory"
    (root / "gone.md").unlink()
    (root / "pool.md").rename(root / "pools.md")
    write(base / "ws", "memory/new.md", "# New\n\nA pool of new things.\n" * 3)
    with (root / "2025-01-02.md").open("a") as log:
        log.write("\n## Last\n\n- We decided 99: a coffee beans deployment.\n")


def condensed(base: Path) -> None:
    """Leave summaries that are not indexed yet."""
    indexed(base)
    code, _, err = run(VERBS["compact"].line, base)
    assert code == ExitCode.OK, err


def unused(base: Path) -> None:
    """Leave vectors behind that no text uses."""
    edited(base)
    run("index", base)


def older(base: Path) -> None:
    """Leave an index of an older version, behind by some notes."""
    edited(base)
    writer = Writer(os.environ["MEMCLI_STORE"], lambda: FAR_FUTURE_NS)
    writer.connection.execute("PRAGMA user_version = 1")
    writer.close()


class Stopped(Exception):
    """A full run ends here."""


def begun(base: Path) -> None:
    """Leave what a full run has half built, with a note that only it knew and that is gone."""
    unused(base)
    write(base / "ws", "memory/late.md", "# Late\n\nA pool of late things.\n")
    alone = write(base / "ws", "memory/alone.md", f"---\ntags: [{GONE.decode()}]\n---\n")

    def stop(side: Change) -> None:
        embed(side, HashingEncoder())
        raise Stopped

    memory = Memory.open(base / "ws").workspaces.lead
    with suppress(Stopped), memory.store.change(wait_seconds=0, sleep=memory.clock.sleep) as change:
        rebuild(change, memory.index_settings(), embed_into=stop)
    assert Path(os.environ["MEMCLI_STORE"] + NEXT_SUFFIX).exists()
    alone.unlink()


def on_another_host(base: Path) -> None:
    """Leave an index on a network mount, which goes without a write-ahead log."""
    edited(base)
    store = os.environ["MEMCLI_STORE"]
    with on_network(base):
        connect(store, write=True).connection.close()


@contextmanager
def on_network(base: Path) -> Iterator[None]:
    """Let the index lie on another host."""
    table = base / "mounts"
    table.write_text(f"host:/x {base / 'store'} nfs4 rw 0 0\n")
    usual, driver.MOUNTS = driver.MOUNTS, str(table)
    try:
        yield
    finally:
        driver.MOUNTS = usual


VERBS = {
    "index": Verb("index", notes),
    "edit": Verb("index", edited),
    "full": Verb("index --full", edited),
    "begun": Verb("index", begun),
    "migrate": Verb("index", older),
    "prune": Verb("index --prune", unused),
    "remote edit": Verb("index", on_another_host, remote=True),
    "remote full": Verb("index --full", on_another_host, remote=True),
    "condensed": Verb("index", condensed),
    "search": Verb(f"search pool {NOW}", edited),
    "remember": Verb(f"remember 'Deploys are on Tuesdays, never on Fridays' {NOW}", edited, True),
    "compact": Verb(
        f"compact --apply --tail 0 --tail-days 0 --cluster 2 --ratio 0.9 {NOW}", edited, True
    ),
}


def run(line: str, base: Path, *, remote: bool = False) -> tuple[int, str, str]:
    """Run a command in the workspace, perhaps on a network mount."""
    with on_network(base) if remote else nullcontext():
        return typed(f"{line} -w {base / 'ws'}")


@contextmanager
def place(base: Path) -> Iterator[Path]:
    """Let memcli work below a folder: its index, its caches and its settings."""
    given = {
        "HOME": str(base / "home"), "XDG_CACHE_HOME": str(base / "home" / "cache"),
        "XDG_CONFIG_HOME": str(base / "home" / "config"),
        "MEMCLI_STORE": str(base / "store" / "index.sqlite"), "MEMCLI_EMBEDDING_ENCODER": "hashing",
    }  # fmt: skip
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    scanned, vectors.SCANNED_BYTES = vectors.SCANNED_BYTES, 0  # so that there is a table of codes
    try:
        yield base
    finally:
        vectors.SCANNED_BYTES = scanned
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
