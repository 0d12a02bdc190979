"""Measure searches and writers of a shared index beside those of a local index.

It tells, too, whether both give the same passages: beyond 8,192 texts both compare codes first.
It starts a server of its own on loopback. Searches of both are asked in turns, so a busy machine
slows both; a round trip is one wait for the server. Cold searches are whole processes by words
alone, and their CPU time is the client's.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from memcli.bench.speed import SECTIONS, documents, queries
from memcli.store.open import store_at
from memcli.store.port import Snapshot, Store
from memcli.store.postgres.address import Address
from memcli.store.postgres.libpq import Connection
from memcli.store.postgres.store import PostgresStore
from tests.benchmarks.figures import option
from tests.postgres.proxy import Proxy
from tests.postgres.server import Server, server, set_up
from tests.postgres.stores import make_store
from tests.store.contract.makers import (
    Clock,
    ask,
    changing,
    cited,
    document,
    embed,
    options_for,
    search_by,
    stamp_of,
)

QUERIES = 60
DELAY = 0.005  # seconds that each message to a server far away is kept for
RUNS = 7  # of a whole process
WRITERS = (1, 4, 16)
WRITTEN = 40  # documents of each writer
_COLD = "import sys; from memcli.cli.main import run; sys.exit(run(sys.argv[1:]))"
_WRITE = """
import sys
from pathlib import Path
from memcli.bench.speed import documents
from tests.benchmarks.shared import opened
from tests.store.contract.makers import changing, document, stamp_of
store, many = opened(sys.argv[1], Path(sys.argv[2])), int(sys.argv[3])
made = [(document(path, text), stamp_of(path, text)) for path, text in documents(many)]
print("ready", flush=True)
sys.stdin.readline()
with changing(store) as change:
    for each, stamp in made:
        change.put(each, stamp)
store.close()
"""


def opened(url: str, folder: Path) -> Store:
    """Open a workspace of a store that is set up."""
    from memcli.store.postgres.admin import attach
    from memcli.store.postgres.session import Name

    address, clock, name = Address(url), Clock(), Name("bench", str(folder))
    attach(address, name, "bench", take_over=False)
    local = store_at(str(folder / "i.sqlite"), clock)
    return PostgresStore(address, name, local, clock, origin="bench")


def fill(store: Store, chunks: int) -> None:
    with changing(store) as change, change.together():
        for path, text in documents(chunks // (SECTIONS + 1)):
            change.put(document(path, text), stamp_of(path, text))
    with changing(store) as change:
        while embed(change):
            pass
        search_by(change, none_waits=True)


class Asked(Protocol):
    """What can be asked: a store, or all workspaces of a tenant."""

    def snapshot(self) -> AbstractContextManager[Snapshot]: ...


class Trips:
    """Counts the waits for a server."""

    def __init__(self) -> None:
        self.count = 0
        for name in ("run", "rows", "_pipeline"):
            setattr(Connection, name, self._counted(name, getattr(Connection, name)))

    def _counted(self, name: str, function: object) -> object:
        def call(connection: Connection, *values: object) -> object:
            # With what was promised it is sent by the pipeline, which counts itself.
            alone = not (connection._promised or connection._gathering)
            self.count += name != "rows" or alone
            return function(connection, *values)  # type: ignore[operator]

        return call


def timed(store: Asked, text: str) -> tuple[float, list[tuple[str, float]]]:
    """Answer a question; give the milliseconds, and the places of passages with their scores."""
    options, begun = options_for(), time.perf_counter()
    with store.snapshot() as snapshot:
        found = ask(snapshot, text, options)
    return (time.perf_counter() - begun) * 1000, cited(found)


def compared(local: Store, shared: Store, asked: Sequence[str]) -> str:
    """Tell whether both give the same passages in the same order, and how far scores are apart."""
    same, most = 0, 0.0
    for text in asked:
        there, here = timed(shared, text)[1], timed(local, text)[1]
        same += [place for place, _ in there] == [place for place, _ in here]
        apart = (abs(a - b) for (_, a), (_, b) in zip(there, here, strict=False))
        most = max(most, *apart, 0.0)
    with local.snapshot() as one, shared.snapshot() as other:
        coarse = [each.vector_search().is_exact for each in (one, other)].count(False)
    return (
        f"{same} of {len(asked)} questions have the same passages in the same order, scores at"
        f" most {most:.1e} apart; {coarse} of 2 stores compare codes first"
    )


def percentiles(took: Sequence[float]) -> str:
    ranked = sorted(took)
    return f"p50 {statistics.median(ranked):.1f}, p95 {ranked[int(len(ranked) * 0.95)]:.1f} ms"


def searches(folder: Path, chunks: int, trips: Trips) -> None:
    stores = {
        "local": store_at(str(folder / "local.sqlite"), Clock()),
        "shared": make_store(folder / "shared", Clock()),
    }
    for store in stores.values():
        fill(store, chunks)
    shared, far = stores["shared"], Proxy(server().port, delay=DELAY)
    assert isinstance(shared, PostgresStore)
    there = Address(shared.address.url.replace(f":{server().port}/", f":{far.port}/"))
    away = f"shared, {DELAY * 1000:g} ms away"
    stores[away] = PostgresStore(there, shared.name, shared._local, Clock())
    asked = queries(QUERIES)
    took: dict[str, dict[str, float]] = {name: {} for name in stores}
    waits = 0
    for _ in range(3):  # the best of three for each question
        for text in asked:
            for name, store in stores.items():
                before = trips.count
                best = took[name].get(text, float("inf"))
                took[name][text] = min(best, timed(store, text)[0])
                waits += (trips.count - before) * (name == "shared")
    for name in stores:
        print(f"{chunks} chunks, {name}: {percentiles([*took[name].values()])}")
    print(f"{chunks} chunks, shared: {waits / (3 * QUERIES):.1f} round trips a search")
    print(f"{chunks} chunks: {compared(stores['local'], shared, asked)}")
    for store in stores.values():
        store.close()
    far.close()


def cold(folder: Path, url: str) -> None:
    notes = folder / "notes"
    for path, text in documents(800):
        (notes / path).parent.mkdir(parents=True, exist_ok=True)
        (notes / path).write_text(text)
    base = {
        **os.environ, "XDG_CONFIG_HOME": str(folder), "XDG_CACHE_HOME": str(folder),
        "MEMCLI_EMBEDDING_ENCODER": "none", "MEMCLI_WORKSPACE": str(notes),
    }  # fmt: skip
    base.pop("PYTHONDONTWRITEBYTECODE", None)
    kinds = {"local": base, "shared": {**base, "MEMCLI_STORE_URL": url}}
    line = ("search", "why did the pool move", "--mode", "keyword", "--no-sync", "-q")

    def run(environ: dict[str, str], *words: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-c", _COLD, *words], env=environ, check=True, cwd=notes,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000

    run(kinds["local"], "index")
    run(kinds["shared"], "store", "attach", "bench/cold")
    run(kinds["shared"], "index")
    took: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(RUNS):
        for name, environ in kinds.items():
            took[name].append(run(environ, *line))
    least = {name: min(found) for name, found in took.items()}
    ratio = least["shared"] / least["local"]
    print(f"cold search by words, least of {RUNS}, CPU ms: {json.dumps(least)}, ratio {ratio:.2f}")


def writers(folder: Path, url: str) -> None:
    for count in WRITERS:
        children = [
            subprocess.Popen(
                [sys.executable, "-c", _WRITE, url, str(folder / f"w{count}-{number}"),
                 str(WRITTEN)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )
            for number in range(count)
        ]  # fmt: skip
        for child in children:
            assert child.stdout
            child.stdout.readline()
        begun = time.perf_counter()
        for child in children:
            child.communicate("go\n")
        seconds = time.perf_counter() - begun
        print(f"{count} writers: {count * WRITTEN / seconds:.0f} documents a second")


OPTIONS = (option("chunks", nargs="*", type=int, default=[2500]),)


def main(options: Namespace) -> None:
    own: Server = server()
    own.sql("create database bench")
    url = set_up(own, "bench", ["bench"])
    trips = Trips()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for chunks in options.chunks:
            searches(folder / str(chunks), chunks, trips)
        cold(folder, url)
        writers(folder, url)
