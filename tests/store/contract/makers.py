"""Documents made of their text, as the indexer makes them, and ways to ask for them and a store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, date, datetime
from hashlib import sha256
from struct import unpack
from typing import Any

from memcli.config import settings
from memcli.dates.find import find_dates
from memcli.embedding.encoders import Vector
from memcli.indexing.document import build_document
from memcli.indexing.indexer import text_of
from memcli.language import words
from memcli.markdown.lineage import SCHEMA, lines_hash
from memcli.search.options import SearchOptions, options_of
from memcli.search.pipeline import Answer, search
from memcli.search.query import parse
from memcli.store.port import Change, Snapshot, Store
from memcli.store.records import Key, Scope
from memcli.store.run_records import Stamp
from memcli.types import (
    MEMORY_SOURCE,
    Document,
    Encoder,
    FileStat,
    FileText,
    Filters,
    Source,
    SourceLines,
    Term,
    TermQuery,
)
from memcli.workspace.dating import age_days
from tests.hashing import HashingEncoder
from tests.support import make_limits

ENCODER = HashingEncoder()
EVERYTHING = Scope()
DAY_NS = 86_400 * 10**9
TODAY = date(2025, 7, 1)


class Clock:
    """A clock that stands until it is told to go on."""

    def __init__(self) -> None:
        self.ns = int(datetime(2026, 2, 10, 9, tzinfo=UTC).timestamp()) * 10**9

    def __call__(self) -> int:
        return self.ns

    def pass_days(self, days: float) -> None:
        self.ns += round(days * DAY_NS)


def never(seconds: float) -> None:
    """Stand for a sleep where nothing is to be waited for."""
    raise AssertionError("nothing is to be waited for")


def changing(store: Store) -> AbstractContextManager[Change]:
    return store.change(wait_seconds=0.0, sleep=never)


def stamp_of(path: str, text: str, source: str = MEMORY_SOURCE) -> Stamp:
    data = text.encode()
    return Stamp(FileStat(source, path, len(data), 1, 2, 3), sha256(data).digest(), 4)


def document(path: str, text: str, source: str = MEMORY_SOURCE, **fields: Any) -> Document:
    """Make a document of a text; fields of it may be said otherwise."""
    stamp = stamp_of(path, text, source)
    made = build_document(
        FileText(stamp.stat, stamp.hash, text, damaged=False),
        Source(source, "/nowhere", ("**/*.md",)),
        make_limits(),
    )
    return made._replace(**fields)


def put(
    change: Change, path: str, text: str, source: str = MEMORY_SOURCE, **fields: Any
) -> Document:
    made = document(path, text, source, **fields)
    change.put(made, stamp_of(path, text, source))
    return made


def fill(store: Store, documents: dict[str, str]) -> None:
    """Store documents of the memory by path."""
    with changing(store) as change:
        for path, text in documents.items():
            put(change, path, text)


def fill_embedded(store: Store, documents: dict[str, str]) -> None:
    """Store documents with their vectors, and search by these."""
    fill(store, documents)
    with changing(store) as change:
        embed(change)
        search_by(change)


def embed(change: Change, encoder: Encoder = ENCODER) -> int:
    """Give every text that waits its vector, without switching; say how many there were."""
    waiting = change.pending(encoder.fingerprint, 1000)
    made = encoder.encode([text_of(item) for item in waiting])
    pairs = [(item.hash, vector) for item, vector in zip(waiting, made, strict=True)]
    change.put_vectors(encoder.fingerprint, pairs)
    return len(pairs)


def search_by(change: Change, encoder: Encoder = ENCODER, *, none_waits: bool = False) -> None:
    change.search_by(encoder.fingerprint, encoder.dimension, none_waits=none_waits)


def lines_of(path: str, text: str, first: int, last: int) -> SourceLines:
    """Name lines of a text as a summary does."""
    return SourceLines(path, first, last, lines_hash(text.split("\n"), first, last))


def summary(*rests_on: SourceLines, confidence: float = 0.5, said: str = "said") -> str:
    """Write a summary that rests on some lines; it stands in `memory/summaries/`."""
    metadata = {
        "schema": SCHEMA,
        "tokens": {"sources": 9, "summary": 3},
        "lineage": [
            {"path": s.path, "lines": f"{s.start_line}-{s.end_line}", "hash": s.hash.hex()}
            for s in rests_on
        ],
        "earliest": "2025-01-01",
        "latest": "2025-01-31",
        "compacted": "2025-02-01T09:00:00",
        "method": "extract",
        "seal": "0" * 32,
        "confidence": confidence,
        "level": 1,
        "parents": [],
    }
    first = rests_on[0]
    line = f"- {said} ({first.path}:{first.start_line}-{first.end_line})"
    return f"---\n{json.dumps(metadata)}\n---\n{line}\n"


def term(text: str, *, prefix: bool = False) -> Term:
    """Give a term as a query asks for it."""
    found = words.index_term(text, prefix=prefix)
    assert found is not None
    return found


def any_of(*texts: str) -> TermQuery:
    return TermQuery(any=tuple(map(term, texts)))


def every_chunk(snapshot: Snapshot) -> dict[int, str]:
    """Name every chunk with the path of its document."""
    excerpts = snapshot.excerpts_of(list(snapshot.known()), EVERYTHING)
    return {excerpt.about.chunk_id: excerpt.about.path for excerpt in excerpts}


def places(snapshot: Snapshot, chunk_ids: Iterable[int]) -> list[str]:
    """Name chunks by the path of their document, in the order they are given."""
    ids = list(chunk_ids)
    excerpts = snapshot.excerpts(ids)
    return [excerpts[chunk_id].about.path for chunk_id in ids]


def found(
    snapshot: Snapshot, wanted: TermQuery, limit: int = 100, scope: Scope = EVERYTHING
) -> list[str]:
    """Name what is found by words, best first."""
    return places(snapshot, (r.chunk_id for r in snapshot.by_keyword(wanted, limit, scope)))


def near(snapshot: Snapshot, text: str, limit: int = 100, scope: Scope = EVERYTHING) -> list[str]:
    """Name what is found by a vector, best first."""
    texts = snapshot.by_vector(ENCODER.encode_query(text), limit, scope)()
    return places(snapshot, dict.fromkeys(c for text in texts for c in text.chunk_ids))


def cosine(a: bytes, b: bytes) -> Any:
    """Give the cosine as every store does: by the distance, as if both were of unit length."""
    one, other = (unpack(f"<{len(each) // 4}f", each) for each in (a, b))
    return 1.0 - sum((x - y) ** 2 for x, y in zip(one, other, strict=True)) / 2.0


def keys(*paths: str, source: str = MEMORY_SOURCE) -> Sequence[Key]:
    return [(source, path) for path in paths]


def options_for(filters: Filters = EVERYTHING.filters) -> SearchOptions:
    """Give the default options of a search, with filters."""
    options = options_of(settings.load("/nowhere", {}, {}), filters=filters)
    return options._replace(encoder="hashing")


def ask(
    snapshot: Snapshot, text: str, options: SearchOptions | None = None, encoder: Encoder = ENCODER
) -> Answer:
    """Answer a question on the day TODAY."""
    dates = find_dates(text, TODAY)
    return search(
        snapshot,
        parse(text, soft=[(span.at, span.at + len(span.text)) for span in dates]),
        dates,
        options or options_for(),
        embed_query=lambda text: Vector(encoder.encode_query(text), encoder.fingerprint, None, 1.0),
        age_days=lambda day: age_days(day, TODAY.isoformat()),
    )


def cited(answer: Answer) -> list[tuple[str, float]]:
    """Name the passages of an answer, each with its score."""
    return [(passage.about.citation, passage.score) for passage in answer.passages]
