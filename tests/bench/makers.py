"""Small makers of hits, answers, rows and receipts."""

from __future__ import annotations

from typing import Any

from memcli.bench.metrics import NAMES
from memcli.bench.traces import (
    SPEED,
    BenchMachine,
    CheckTrace,
    Cost,
    Floors,
    Row,
    SpeedTrace,
    decode,
    encode,
)
from memcli.search.pipeline import NOTHING, Answer
from memcli.search.ranked import RankedPassage
from memcli.types import SegmentScore
from tests.records import make_candidate


def passage(
    path: str, start: int, end: int, *, chunk: int = 0, score: float = 0.5
) -> RankedPassage:
    """Make a hit whose chunk is the lines it shows."""
    candidate = make_candidate(
        chunk_id=chunk, source="memory", path=path, anchor=f"a{chunk}", heading_path=(),
        title="t", start_line=start, end_line=end, tokens=1, text=f"words of {path}",
        date=None, document_date=None, kind="note", scope="global", source_kind="operator",
        trust="trusted", authority=None, importance=None, bm25=1.0, keyword_rank=1,
        semantic_rank=None, literal=False, segments=(SegmentScore(start, end, 0, 9, None),),
    )  # fmt: skip
    made = RankedPassage(candidate, 0, 0, 0.0, None, 1.0)
    return made.moved(score, "fuse", method="scaled", bm25=1.0, keyword_rank=1)


def answer(passages: list[RankedPassage], fused: list[RankedPassage] | None = None) -> Answer:
    return NOTHING._replace(
        passages=tuple(passages), fused=tuple(passages if fused is None else fused)
    )


def row(
    name: str, ndcg: float, *, rank: int | None = 1, importance: float = 0.5, stage: str = ""
) -> Row:
    """Make a row whose every metric is `ndcg`, the Hit@k aside."""
    found = {**dict.fromkeys(NAMES, ndcg), "Hit@5": float(rank is not None and rank <= 5)}
    return Row(name, f"{name}?", "-", importance, rank, found, stage, "why" if stage else "")


def receipt(
    now: str, rows: list[Row], *, revision: int = 1, accepted: bool = False, machine: str = "m1"
) -> CheckTrace:
    """Make the trace of a check."""
    overall = sum(r.scores["nDCG@10"] for r in rows) / len(rows)
    quality = {
        "schema": "memcli.bench-quality/1",
        "now": now,
        "questions": {"name": "q.jsonl", "judged": len(rows)},
        "index": {
            "revision": revision, "fingerprint": "hashing;dim=8", "documents": 3, "chunks": 4,
            "segments": 5, "embedded": 5,
        },
        "settings": {"search.fusion": "scaled"},
        "machine": {
            "id": machine, "system": "s", "cpu": "c", "cores": 2, "python": "3", "memcli": "0",
        },
        "latency_ms": {"p50": 1.0, "p95": 2.0},
        "categories": {
            "-": {"queries": len(rows), **dict.fromkeys(NAMES, overall)},
            "all": {"queries": len(rows), **dict.fromkeys(NAMES, overall)},
        },
        "hints": {"queries": 0, "missed": 0, "mended": 0, "rate": None},
        "queries": encode(rows),
    }  # fmt: skip
    record = {
        "schema": "memcli.bench-check/1", "now": now, "accepted": accepted, "sync": {},
        "quality": quality, "speed": None, "failures": [], "reference": None, "regressions": [],
    }  # fmt: skip
    trace: CheckTrace = decode(CheckTrace, record)
    return trace


def with_quality(trace: CheckTrace, **changes: Any) -> CheckTrace:
    return trace._replace(quality=trace.quality._replace(**changes))


def speed(now: str = "2026-01-01T00:00:00+00:00", **changes: Any) -> SpeedTrace:
    """Make the trace of a speed run."""
    cost = Cost(2, 0, *[1.0] * 8)
    machine = BenchMachine("m1", "s", "c", 2, "3", "0")
    floors = Floors(1.0, 1.0, None, 1.0, 1.0)
    usual = SpeedTrace(
        SPEED, now, None, machine, {}, {}, cost, {}, 1, 1, 1, 1, None, floors, {}, (), {}
    )
    return usual._replace(**changes)
