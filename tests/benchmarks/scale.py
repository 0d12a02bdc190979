"""Measure searches in one process, model warm, as the index grows; not part of the suite.

    python -m tests.benchmarks.scale VECTORS... [--store FILE] [--parts 1] [--words 60]
    python -m tests.benchmarks.scale --recall INDEX QUERIES

The first form grows one index of seeded synthetic vectors and Zipfian text and prints a row a size:
wall and CPU time of hybrid and keyword searches, the time a bare read of what is scanned takes, and
of all vectors, and the peak of memory. Queries are drawn like the text, so most hold some of its
commonest words.

The second form compares the coarse search of a real index with an exact one, for a file of
questions, one a line.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memcli.config import settings as configuration
from memcli.embedding.choice import Choice
from memcli.embedding.registry import open_encoder
from memcli.search.legs import Vector
from memcli.search.options import options_of
from memcli.search.pipeline import search
from memcli.search.query import parse
from memcli.search.query_vector import vector_of
from memcli.store.run_records import Stamp
from memcli.store.sqlite import coarse, vectors
from memcli.store.sqlite.driver import connect
from memcli.store.sqlite.reader import Reader
from memcli.store.sqlite.writer import Writer
from memcli.types import Chunk, Document, FileStat, Filters, Part

DIMENSION = 384
FINGERPRINT = f"synthetic;dim={DIMENSION}"
CHUNKS = 50  # a document
DOCUMENTS = 80  # a batch of vectors
VOCABULARY = 200_000
TOPICS = 500
SEARCHES = 60
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
                Part(number + 1, number + 1, at, at + len(line), "", name.to_bytes(16, "big"))
            )
            at += len(line) + 1
        text = "\n".join(lines)
        return Chunk(
            ordinal=ordinal, anchor=str(ordinal), heading_path=(self.text(2),), start_line=1,
            end_line=self.parts, start_byte=0, end_byte=len(text), tokens=len(text) // 4,
            text=text, text_hash=bytes(16), date=None, links=(), parts=tuple(parts),
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
    writer = Writer.open(path, time.time_ns)
    writer.search_by(FINGERPRINT, DIMENSION)
    known = len(writer.known())
    last = vectors_wanted // (CHUNKS * maker.parts)
    while known < last:
        batch = [maker.document(n) for n in range(known, min(known + DOCUMENTS, last))]
        for document in batch:
            stat = FileStat("memory", document.path, 1, 1, 1, 1)
            writer.put(document, Stamp(stat, b"h" * 32, 1))
        hashes = [p.hash for d in batch for chunk in d.chunks for p in chunk.parts]
        made = maker.vectors(len(hashes))
        pairs = [(hash_, row.tobytes()) for hash_, row in zip(hashes, made, strict=True)]
        writer.put_vectors(FINGERPRINT, pairs)
        writer.search_by(FINGERPRINT, DIMENSION)
        known += len(batch)
    writer.settle()
    writer.mark_embedded()
    writer.close()


def measure(path: str, maker: Maker, mode: str) -> tuple[list[float], list[float]]:
    config = configuration.load(tempfile.gettempdir(), {}, {})
    options = options_of(config, filters=Filters())._replace(mode=mode)
    encoder = open_encoder(Choice()).encoder
    texts = [maker.text(6) for _ in range(SEARCHES)]
    asked = maker.vectors(SEARCHES)
    reader = Reader(path)
    walls, cpus = [], []
    for text, vector in zip(texts, asked, strict=True):

        def embed_query(text: str, vector: Any = vector) -> Vector:
            if encoder is not None:
                vector_of(encoder, text)
            return Vector(vector.tobytes(), FINGERPRINT, None, 1.0)

        query = parse(text)
        began, cpu = time.perf_counter(), time.process_time()
        search(reader, query, (), options, embed_query=embed_query, age_days=lambda day: 0)
        cpus.append(time.process_time() - cpu)
        walls.append(time.perf_counter() - began)
    reader.close()
    first = SEARCHES // 6  # they fill the caches
    return walls[first:], cpus[first:]


def _timed(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _read_time(size: int) -> float:
    block = np.ones(READ // 8, dtype="<u8")
    return size / READ * min(_timed(block.sum) for _ in range(5))


def _ms(seconds: Sequence[float], share: float) -> float:
    return 1000 * float(np.quantile(seconds, share))


def curve(arguments: argparse.Namespace) -> None:
    folder = Path(tempfile.mkdtemp())
    path = arguments.store or str(folder / "index.sqlite")
    maker = Maker(arguments.words, arguments.parts)
    print(
        f"{'vectors':>9}{'build s':>9}{'mode':>9}{'p50 ms':>8}{'p95':>8}{'CPU p50':>9}{'p95':>8}"
        f"{'read ms':>9}{'floats':>8}{'MB peak':>9}"
    )
    for wanted in sorted(arguments.vectors):
        began = time.perf_counter()
        grow(path, maker, wanted)
        built = time.perf_counter() - began
        is_scanned = vectors.is_scanned(wanted, DIMENSION)
        codes = 4 * DIMENSION if is_scanned else coarse.bits(DIMENSION) // 8
        for mode in ("hybrid", "lexical"):
            wall, cpu = measure(path, maker, mode)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{wanted:9}{built:9.0f}{mode:>9}{_ms(wall, 0.5):8.1f}{_ms(wall, 0.95):8.1f}"
                f"{_ms(cpu, 0.5):9.1f}{_ms(cpu, 0.95):8.1f}"
                f"{1000 * _read_time(wanted * codes):9.1f}"
                f"{1000 * _read_time(wanted * 4 * DIMENSION):8.1f}{peak:9.0f}",
                flush=True,
            )
    shutil.rmtree(folder)


def recall(index: str, questions: str) -> None:
    """Print recall of the coarse search against the exact one, by how many are wanted."""
    copy = Path(tempfile.mkdtemp()) / "index.sqlite"
    shutil.copy(index, copy)
    writer = Writer.open(str(copy), time.time_ns)
    fingerprint, dimension = writer.meta("fingerprint"), writer.meta("dimension")
    assert fingerprint is not None
    assert dimension is not None
    writer.search_by(fingerprint, int(dimension))
    table, total = writer.meta("vec_table") or "", writer.counts().embedded
    writer.close()
    assert coarse.is_coarse(table), f"{total} vectors are searched exactly"
    connection = connect(str(copy), write=False).connection
    cursor = connection.execute(
        "SELECT s.hash, v.vector FROM slots s JOIN vectors v ON v.hash = s.hash"
        " AND v.fingerprint = ? ORDER BY s.id",
        (fingerprint,),
    )
    held: list[Any] = cursor.fetchall()
    matrix = np.frombuffer(b"".join(row[1] for row in held), "<f4").reshape(len(held), -1)
    encoder = open_encoder(Choice()).encoder
    assert encoder is not None
    asked = [line for line in Path(questions).read_text("utf-8").splitlines() if line]
    found: dict[int, list[float]] = {10: [], 50: [], 100: [], 200: []}
    for text in asked:
        query = encoder.encode_query(text)
        exact = np.sort(matrix @ np.frombuffer(query, "<f4"))[::-1]
        near = vectors.nearest(
            connection, table, coarse.Asked(fingerprint, query, 200), has_vec=True
        )
        for k, shares in found.items():
            # A tie is no loss: equal texts have equal vectors.
            shares.append(sum(cosine >= exact[k - 1] - 1e-6 for _, cosine in near[:k]) / k)
    print(f"{len(held)} vectors, {len(asked)} questions")
    for k, shares in found.items():
        print(f"recall@{k}: mean {np.mean(shares):.4f}, worst {min(shares):.2f}")
    connection.close()
    shutil.rmtree(copy.parent)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vectors", nargs="*", type=int)
    parser.add_argument("--store", help="an index of an earlier run to grow")
    parser.add_argument("--parts", type=int, default=1, help="vectors a chunk")
    parser.add_argument("--words", type=int, default=60, help="words a chunk")
    parser.add_argument("--recall", nargs=2, metavar=("INDEX", "QUERIES"))
    arguments = parser.parse_args()
    if arguments.recall:
        recall(*arguments.recall)
    else:
        curve(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
