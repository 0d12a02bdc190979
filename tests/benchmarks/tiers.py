"""Compare a search by first components first with one by whole vectors; not part of the suite.

    python -m tests.benchmarks.tiers [COUNT ...] [--tiers 64 256] [--thresholds 0.85 0.6]
        [--vectors FILE.npz]

COUNT texts (10,000 and 100,000) of `tests.store.nested`, or the first of an array `texts` in a
file of numpy, with the questions of its array `questions`. Every threshold stands beside the search
without tiers, in turns: the share of questions that each tier answers, the share of the ten nearest
texts that are found (against all vectors compared one by one), and the CPU time of a question,
median and 95 of 100, of a process that asks once and of one that goes on asking and keeps codes.
All tiers have the same threshold.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memcli.store.fixed import rounded
from memcli.store.records import Reach
from memcli.store.run_records import Stamp
from memcli.store.sqlite import aside
from memcli.store.sqlite.reader import Reader
from memcli.store.sqlite.writer import Writer
from memcli.store.tiers import Tier
from memcli.types import Chunk, Document, FileStat, Part
from tests.store.nested import nested, questions

DIMENSION, QUESTIONS = 384, 200
LIMIT = 200  # texts that a search asks for
THRESHOLDS = [1.0, 0.9, 0.85, 0.8, 0.75, 0.7, 0.6]
A_DOCUMENT = 1000
READ_EACH_TIME = 1 << 30  # questions from which on a process would keep codes


def grow(path: str, texts: Any, fingerprint: str) -> None:
    """Make an index of vectors, a document for each thousand."""
    writer = Writer.open(path, time.time_ns)
    for start in range(0, len(texts), A_DOCUMENT):
        hashes = [n.to_bytes(16, "big") for n in range(start, min(start + A_DOCUMENT, len(texts)))]
        parts = tuple(Part(1, 1, 0, 1, "", hash_) for hash_ in hashes)
        chunk = Chunk(0, "a", (), 1, 1, 0, 1, 1, str(start), bytes(16), None, (), parts)
        document = Document(
            "memory", f"{start}.md", str(start), None, "note", "global", "operator", "trusted",
            None, None, False, False, "{}", (chunk,),
        )  # fmt: skip
        stat = FileStat("memory", document.path, 1, 1, 1, 1)
        writer.put(document, Stamp(stat, b"h" * 32, 1))
        made = texts[start : start + A_DOCUMENT]
        pairs = [(hash_, row.tobytes()) for hash_, row in zip(hashes, made, strict=True)]
        writer.put_vectors(fingerprint, pairs)
    writer.search_by(fingerprint, texts.shape[1])
    writer.close()


def backfill(path: str, fingerprint: str, dimension: int, tiers: Sequence[int]) -> float:
    """Fill the tiers; give the seconds of CPU time."""
    writer = Writer.open(path, time.time_ns, tiers=tiers)
    began = time.process_time()
    writer.search_by(fingerprint, dimension)
    took = time.process_time() - began
    writer.close()
    return took


def asking(path: str, by: Sequence[Tier], *, again: bool) -> Reader:
    """Open an index as a process does that asks once, or as one that has asked often."""
    reader = Reader(path, by)
    aside.OFTEN = 1 if again else READ_EACH_TIME
    reader._was_asked = again
    return reader


def measure(path: str, asked: Any, exact: Any, ways: Sequence[Sequence[Tier]]) -> None:
    """Ask each question in every way, one after the other, and print a line for each way."""
    readers = [(by, again, asking(path, by, again=again)) for by in ways for again in (False, True)]
    spent: list[list[float]] = [[] for _ in readers]
    answered = [Counter[int]() for _ in readers]
    found: list[list[float]] = [[] for _ in readers]
    for number, query in enumerate(asked):
        for at, (_, again, reader) in enumerate(readers):
            aside.OFTEN = 1 if again else READ_EACH_TIME
            with reader.snapshot():
                began = time.process_time()
                near = reader.dense(query.tobytes(), LIMIT, Reach())()
                took = time.process_time() - began
            if number < len(asked) // 10:
                continue  # the first fill the caches
            spent[at].append(took * 1000)
            answered[at][near[0].tier] += 1
            best = {int.from_bytes(text.hash, "big") for text in near[:10]}
            found[at].append(len(best & set(exact[number])) / 10)
    for at, (by, again, reader) in enumerate(readers):
        reader.close()
        name = f"{by[0].threshold:.2f}" if by else "none"
        total = answered[at].total()
        shares = " ".join(f"{answered[at][tier.components] / total:5.2f}" for tier in by)
        times = f"{np.median(spent[at]):6.1f} {np.percentile(spent[at], 95):6.1f} ms"
        way = "keeps codes" if again else "asks once"
        print(f"  {name:5} {way:11} recall@10 {np.mean(found[at]):.3f} {times}  early {shares}")
    sys.stdout.flush()


def compare(texts: Any, asked: Any, tiers: Sequence[int], thresholds: Sequence[float]) -> None:
    """Build an index and measure it."""
    dimension = texts.shape[1]
    fingerprint = f"made-up;dim={dimension}"
    kept = np.stack([np.frombuffer(rounded(row.tobytes()), "<f4") for row in texts])
    exact = np.argsort(-(asked @ kept.T), axis=1)[:, :10]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "index.sqlite")
        grow(path, texts, fingerprint)
        before = Path(path).stat().st_size
        took = backfill(path, fingerprint, dimension, tiers)
        grown = Path(path).stat().st_size - before
        print(
            f"{len(texts)} texts of {dimension} components, tiers {tiers} filled in {took:.1f} s"
            f" of CPU time, {grown / 1e6:.1f} MB beside {before / 1e6:.1f}"
        )
        ways: list[Sequence[Tier]] = [()]
        ways += [[Tier(size, threshold) for size in tiers] for threshold in thresholds]
        measure(path, asked, exact, ways)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("counts", nargs="*", type=int, default=[10_000, 100_000])
    parser.add_argument("--vectors")
    parser.add_argument("--tiers", nargs="+", type=int, default=[64, 256])
    parser.add_argument("--thresholds", nargs="+", type=float, default=THRESHOLDS)
    given = parser.parse_args()
    for count in given.counts:
        if given.vectors:
            held = np.load(given.vectors)
            texts, asked = held["texts"][:count], held["questions"]
        else:
            texts, asked = nested(count, DIMENSION), questions(count, QUESTIONS, DIMENSION)
        tiers = [size for size in given.tiers if size < texts.shape[1]]
        compare(texts, asked, tiers, given.thresholds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
