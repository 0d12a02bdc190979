"""Measure searches in one process, model warm, as the index grows; not part of the suite.

Both take `--write PAGE.md`.

The first form grows an index of seeded synthetic vectors and Zipfian text and prints a row a size:
wall and CPU time of hybrid and keyword searches with their spread, the load of the machine, the
time a bare read of what is scanned takes, and of all vectors, and the peak of memory. 200 queries
count, the same in each row; they are drawn like the text, so most hold some of its commonest words.
In FILE `{}` stands for the size; what holds as many vectors is searched as it is. `--profile` tells
where a hybrid search leaves its time: of each stage wall time and the CPU time of its thread; codes
are looked through in another one, so that of them only what is waited for counts twice.

The second form compares the coarse search of a real index with an exact one, for a file of
questions, one a line.
"""

from __future__ import annotations

import os
import resource
import shutil
import tempfile
import time
from argparse import Namespace
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from memcli.bench.quality import percentile
from memcli.config import settings as configuration
from memcli.embedding.encoders import Choice, Vector
from memcli.embedding.registry import open_encoder
from memcli.search import gathering, pipeline
from memcli.search.options import options_of
from memcli.search.pipeline import search
from memcli.search.query import parse
from memcli.store import quantize
from memcli.store.run_records import Stamp
from memcli.store.sqlite import coarse, large_index, vectors
from memcli.store.sqlite.driver import connect
from memcli.store.sqlite.reader import Reader
from memcli.store.sqlite.writer import Writer
from memcli.types import Chunk, Document, FileStat, Filters, Segment
from tests.benchmarks import figures
from tests.benchmarks.figures import option
from tests.support import vector_of

DIMENSION = 384
FINGERPRINT = f"synthetic;dim={DIMENSION}"
CHUNKS = 50  # a document
DOCUMENTS = 80  # a batch of vectors
VOCABULARY = 200_000
TOPICS = 500
WARMING, SEARCHES = 40, 240  # the first fill the caches and do not count
TIE = 1e-6  # cosines that differ by less are told apart by the order of a sum alone
READ = 64 << 20  # bytes, far more than a processor caches


class Maker:
    """Text and vectors, the same for the same seed."""

    def __init__(self, words: int, parts: int) -> None:
        self.words, self.parts = words, parts
        self.random = np.random.default_rng(7)
        weights = 1.0 / np.arange(1, VOCABULARY + 1)
        self._cumulated = np.cumsum(weights / weights.sum())
        self._names = np.array([_word(number) for number in range(VOCABULARY)])
        self._topics = self._units(self.random.normal(size=(TOPICS, DIMENSION)))

    def text(self, words: int) -> str:
        drawn = np.searchsorted(self._cumulated, self.random.random(words))
        return " ".join(self._names[np.minimum(drawn, VOCABULARY - 1)])

    def vectors(self, count: int) -> Any:
        noise = self._units(self.random.normal(size=(count, DIMENSION)))
        return self._units(self._topics[self.random.integers(0, TOPICS, count)] * 0.7 + noise)

    def questions(self, count: int) -> tuple[list[str], Any]:
        """Give texts and vectors that are the same whatever has been drawn before."""
        kept, self.random = self.random, np.random.default_rng(11)
        drawn = [self.text(6) for _ in range(count)], self.vectors(count)
        self.random = kept
        return drawn

    def document(self, number: int) -> Document:
        chunks = tuple(self._chunk(number, ordinal) for ordinal in range(CHUNKS))
        return Document(
            source="memory", path=f"memory/{number:07}.md", title=f"Note {number}", date=None,
            kind="note", scope="global", source_kind="operator", trust="trusted", authority=None,
            importance=None, always=False, soft=False, front_matter="{}", chunks=chunks,
        )  # fmt: skip

    def _chunk(self, document: int, ordinal: int) -> Chunk:
        lines = [self.text(self.words // self.parts) for _ in range(self.parts)]
        at, parts = 0, []
        for number, line in enumerate(lines):
            name = (document * CHUNKS + ordinal) * self.parts + number
            parts.append(
                Segment(number + 1, number + 1, at, at + len(line), "", name.to_bytes(16, "big"))
            )
            at += len(line) + 1
        text = "\n".join(lines)
        return Chunk(
            ordinal=ordinal, anchor=str(ordinal), heading_path=(self.text(2),), start_line=1,
            end_line=self.parts, start_byte=0, end_byte=len(text), tokens=len(text) // 4,
            text=text, date=None, links=(), segments=tuple(parts),
        )  # fmt: skip

    @staticmethod
    def _units(values: Any) -> Any:
        return np.asarray(values / np.linalg.norm(values, axis=1, keepdims=True), dtype="<f4")


def _word(number: int) -> str:
    letters = ""
    while True:
        number, rest = divmod(number, 20)
        letters += "bcdfghjklmnpqrstvwxz"[rest] + "aeiou"[number % 5]
        if not number:
            return letters + "q"  # no stop word, and no suffix for the stemmer


def grow(path: str, maker: Maker, vectors_wanted: int) -> None:
    writer = Writer(path, time.time_ns)
    writer.search_by(FINGERPRINT, DIMENSION)
    known = len(writer.known())
    last = vectors_wanted // (CHUNKS * maker.parts)
    while known < last:
        batch = [maker.document(n) for n in range(known, min(known + DOCUMENTS, last))]
        for document in batch:
            stat = FileStat("memory", document.path, 1, 1, 1, 1)
            writer.put(document, Stamp(stat, b"h" * 32, 1))
        hashes = [p.hash for d in batch for chunk in d.chunks for p in chunk.segments]
        made = maker.vectors(len(hashes))
        pairs = [(hash_, row.tobytes()) for hash_, row in zip(hashes, made, strict=True)]
        writer.put_vectors(FINGERPRINT, pairs)
        writer.search_by(FINGERPRINT, DIMENSION)
        known += len(batch)
    writer.tidy()
    writer.search_by(FINGERPRINT, DIMENSION, none_waits=True)
    writer.close()


def measure(path: str, maker: Maker, mode: str, clock: Clock) -> tuple[list[float], list[float]]:
    config = configuration.load(tempfile.gettempdir(), {}, {})
    options = options_of(config, filters=Filters())._replace(mode=mode)
    encoder = open_encoder(Choice()).encoder
    texts, asked = maker.questions(SEARCHES)
    reader = Reader(path)
    walls, cpus = [], []
    for number, (text, vector) in enumerate(zip(texts, asked, strict=True)):
        if number == WARMING:
            clock.clear()

        def embed_query(text: str, vector: Any = vector) -> Vector:
            if encoder is not None:
                clock.timed("query vector", vector_of)(encoder, text)
            return Vector(vector.tobytes(), FINGERPRINT, None, 1.0)

        query = parse(text)
        began, cpu = time.perf_counter(), time.process_time()
        search(reader, query, (), options, embed_query=embed_query, age_days=lambda day: 0)
        cpus.append(time.process_time() - cpu)
        walls.append(time.perf_counter() - began)
    reader.close()
    return walls[WARMING:], cpus[WARMING:]


# Where a search leaves its time, as (owner, name) of what it calls. What is called by another one
# here is told with a dot before it and counts in both.
STAGES: tuple[tuple[str, Any, str], ...] = (
    ("words: repair", Reader, "occurring"),
    ("words: frequencies", Reader, "frequencies"),
    ("words: ranking", Reader, "by_keyword"),
    ("words: who holds what", Reader, "matching_chunks"),
    ("words: literal matches", Reader, "matching"),
    ("words: cutting", Reader, "tokens"),
    ("codes (in a thread)", coarse, "_coded"),
    ("kept codes (in a thread)", large_index, "nearest"),
    ("rescoring (in a thread)", coarse, "ranked"),
    ("hydration", Reader, "candidates"),
    (". scores by words", Reader, "_scores"),
    (". chunks and parts", Reader, "_chunk_rows"),
    (". cosines", Reader, "_cosines"),
    ("ends of lines", Reader, "broken"),
    ("summaries", Reader, "supports"),
    ("fusing", gathering, "fuse"),
    ("focus", pipeline, "focus"),
    ("MMR", pipeline, "diversify"),
)


class Clock:
    """Sums up the times of what is called, by a name."""

    def __init__(self) -> None:
        self.wall: dict[str, float] = defaultdict(float)
        self.cpu: dict[str, float] = defaultdict(float)

    def clear(self) -> None:
        self.wall.clear()
        self.cpu.clear()

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            began, cpu = time.perf_counter(), time.thread_time()
            try:
                return function(*given, **named)
            finally:
                self.wall[name] += time.perf_counter() - began
                self.cpu[name] += time.thread_time() - cpu

        return run

    def waiting(self, semantic: Callable[..., Any]) -> Callable[..., Any]:
        """Time how long the neighbours are waited for that were looked for meanwhile."""

        def begin(*given: Any, **named: Any) -> Any:
            return self.timed("waiting for neighbours", semantic(*given, **named))

        return begin

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Time the stages while the block runs."""
        kept = [(owner, name, getattr(owner, name)) for _, owner, name in STAGES]
        semantic = Reader.by_vector
        for stage, owner, name in STAGES:
            setattr(owner, name, self.timed(stage, getattr(owner, name)))
        Reader.by_vector = self.waiting(semantic)  # type: ignore[method-assign]
        try:
            yield
        finally:
            Reader.by_vector = semantic  # type: ignore[method-assign]
            for owner, name, function in kept:
                setattr(owner, name, function)


def profile(path: str, maker: Maker) -> None:
    """Print what each stage of a hybrid search takes, on average."""
    clock = Clock()
    with clock.watching():
        walls, cpus = measure(path, maker, "hybrid", clock)
    print(f"  {'ms of a hybrid search':26}{'wall':>8}{'CPU':>8}")
    names = [stage for stage, _, _ in STAGES]
    for name in ("query vector", *names, "waiting for neighbours"):
        wall, cpu = (1000 * times[name] / len(walls) for times in (clock.wall, clock.cpu))
        print(f"  {name:26}{wall:8.1f}{cpu:8.1f}")
    total = 1000 * sum(walls) / len(walls), 1000 * sum(cpus) / len(cpus)
    print(f"  {'all':26}{total[0]:8.1f}{total[1]:8.1f}", flush=True)


def _timed(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _read_time(size: int) -> float:
    block = np.ones(READ // 8, dtype="<u8")
    return size / READ * min(_timed(block.sum) for _ in range(5))


def curve(arguments: Namespace) -> str:
    folder = Path(tempfile.mkdtemp())
    maker = Maker(arguments.words, arguments.parts)
    print(
        f"{'vectors':>9}{'build s':>9}{'mode':>9}{'ms: least/p50/most':>24}{'p95':>7}"
        f"{'CPU: least/p50/most':>24}{'p95':>7}{'read ms':>9}{'floats':>8}{'MB peak':>9}{'load':>6}"
    )
    rows = []
    for wanted in sorted(arguments.vectors):
        path = (arguments.store or str(folder / "index.sqlite")).replace("{}", str(wanted))
        began = time.perf_counter()
        if not _holds(path, wanted):
            grow(path, maker, wanted)
        built = time.perf_counter() - began
        is_scanned = vectors.is_scanned(wanted, DIMENSION)
        codes = 4 * DIMENSION if is_scanned else coarse.bits(DIMENSION) // 8
        for mode in ("hybrid", "keyword"):
            wall, cpu = ([1000 * each for each in found] for found in measure(
                path, maker, mode, Clock()))  # fmt: skip
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{wanted:9}{built:9.0f}{mode:>9}"
                f"{figures.spread_text(wall, 1):>24}{percentile(wall, 0.95):7.1f}"
                f"{figures.spread_text(cpu, 1):>24}{percentile(cpu, 0.95):7.1f}"
                f"{1000 * _read_time(wanted * codes):9.1f}"
                f"{1000 * _read_time(wanted * 4 * DIMENSION):8.1f}{peak:9.0f}"
                f"{os.getloadavg()[0]:6.1f}",
                flush=True,
            )
            shares = (f"{percentile(of, at):.0f}" for of in (cpu, wall) for at in (0.5, 0.95))
            load = f"{os.getloadavg()[0]:.1f}"
            rows.append([f"{wanted:,}, {mode}", *shares, f"{peak:.0f}", load])
        if arguments.profile:
            profile(path, maker)
    shutil.rmtree(folder)
    head = [f"vectors, {SEARCHES - WARMING} questions", "CPU ms, median", "CPU ms, 95th percentile",
            "wall ms, median", "wall ms, 95th percentile", "MB, maximum", "load"]  # fmt: skip
    return figures.table(head, rows)


def _holds(path: str, vectors_wanted: int) -> bool:
    if not Path(path).exists():
        return False
    Writer(path, time.time_ns).close()  # brings it to the schema of today
    reader = Reader(path)
    embedded = reader.counts().embedded
    reader.close()
    return embedded >= vectors_wanted


def recall(index: str, questions: str) -> str:
    """Print recall of the coarse search against the exact one, by how many are wanted."""
    copy = Path(tempfile.mkdtemp()) / "index.sqlite"
    shutil.copy(index, copy)
    writer = Writer(str(copy), time.time_ns)
    fingerprint, dimension = writer.fact("fingerprint"), writer.fact("dimension")
    assert fingerprint is not None
    assert dimension is not None
    writer.search_by(fingerprint, int(dimension))
    table, total = writer.fact("vec_table") or "", writer.counts().embedded
    writer.close()
    assert table, f"{total} vectors are searched exactly"
    connection = connect(str(copy), write=False).connection
    cursor = connection.execute(
        "SELECT hash, vector FROM vectors WHERE unused_since IS NULL ORDER BY id"
    )
    held: list[Any] = cursor.fetchall()
    unpacked = b"".join(quantize.unpacked(row[1]) for row in held)
    matrix = np.frombuffer(unpacked, "<f4").reshape(len(held), -1)
    encoder = open_encoder(Choice()).encoder
    assert encoder is not None
    asked = [line for line in Path(questions).read_text("utf-8").splitlines() if line]
    found: dict[int, list[float]] = {10: [], 50: [], 100: [], 200: []}
    for text in asked:
        query = encoder.encode_query(text)
        # As the search has it, by distances: packed vectors are no longer of unit length.
        apart = np.square(matrix - np.frombuffer(query, "<f4")).sum(axis=1)
        exact = np.sort(1.0 - apart / 2.0)[::-1]
        _, near = vectors.nearest(connection, table, coarse.VectorQuery(fingerprint, query, 200))
        for k, shares in found.items():
            # A tie is no loss: equal texts have equal vectors.
            shares.append(sum(cosine >= exact[k - 1] - TIE for _, cosine in near[:k]) / k)
    print(f"{len(held)} vectors, {len(asked)} questions")
    for k, shares in found.items():
        print(f"recall@{k}: mean {np.mean(shares):.4f}, worst {min(shares):.2f}")
    rows = [
        [f"{k}", figures.share(float(np.mean(of)), 4), figures.share(min(of), 2)]
        for k, of in found.items()
    ]
    head = [f"nearest of {len(held):,} texts, {len(asked)} questions", "mean", "worst"]
    return figures.table(head, rows)
    connection.close()
    shutil.rmtree(copy.parent)


OPTIONS = (
    option("vectors", nargs="*", type=int),
    option("--store", help="an index of an earlier run to grow; {} is the size"),
    option("--profile", action="store_true", help="tell where the time goes"),
    option("--parts", type=int, default=1, help="vectors a chunk"),
    option("--words", type=int, default=60, help="words a chunk"),
    option("--recall", nargs=2, metavar=("INDEX", "QUERIES")),
)


KINDS = ("recall",)


def main(options: Namespace) -> str:
    return recall(*options.recall) if options.recall else curve(options)
