"""What must hold in every index file, and a logical copy to compare two files by."""

from __future__ import annotations

from typing import Any

import apsw

from memcli.search.query import parse
from memcli.search.recall import RecallBounds, recall
from memcli.store import quantize
from memcli.store.change import Clock
from memcli.store.port import Snapshot
from memcli.store.records import Scope
from memcli.store.sqlite import coarse
from memcli.store.sqlite.driver import connect, rows
from memcli.store.sqlite.vectors import ENCODER, tiers_beside
from memcli.store.sqlite.writer import Writer
from memcli.types import Candidate, Filters, Term
from tests.support import FAR_FUTURE_NS

PROBES = ("pool", "deploy*", '"coffee beans"', "fox OR train", "東京")


def dump(path: str) -> dict[str, Any]:
    """Copy what an answer can depend on; ids, times and the cache are left out."""
    connection = connect(path, write=False).connection
    try:
        found: dict[str, Any] = {
            "documents": rows(
                connection,
                "SELECT source, path, hash, size, mtime_ns, title, date, first_day, kind, scope,"
                " source_kind, trust, authority, importance, always, front_matter, skip"
                " FROM documents"
                " ORDER BY source, path",
            ),
            "chunks": rows(
                connection,
                "SELECT d.source, d.path, c.ordinal, c.repeat, c.heading_path, c.start_line,"
                " c.end_line, c.start_byte, c.end_byte, c.tokens, c.date, c.links,"
                " CAST(inflate(c.text, -15) AS TEXT), c.first_day FROM chunks c"
                " JOIN documents d ON d.id = c.document_id"
                " ORDER BY d.source, d.path, c.ordinal",
            ),
            "parts": rows(
                connection,
                "SELECT d.source, d.path, c.ordinal, p.start_line, p.end_line, p.start, p.end,"
                " inflate(p.prefix, -15), p.hash FROM parts p JOIN chunks c ON c.id = p.chunk_id"
                " JOIN documents d ON d.id = c.document_id"
                " ORDER BY d.source, d.path, c.ordinal, p.no",
            ),
            "properties": rows(
                connection,
                "SELECT d.source, d.path, p.key, p.value FROM properties p"
                " LEFT JOIN documents d ON d.id = p.document_id ORDER BY 1, 2, 3, 4",
            ),
            "living": rows(
                connection,
                "SELECT hash, vector FROM vectors WHERE unused_since IS NULL ORDER BY hash",
            ),
        }
        for probe in PROBES:
            found[probe] = rows(
                connection,
                "SELECT d.source, d.path, c.ordinal, round(bm25(fts), 6) FROM fts"
                " JOIN chunks c ON c.id = fts.rowid JOIN documents d ON d.id = c.document_id"
                " WHERE fts MATCH ? ORDER BY 1, 2, 3",
                (probe,),
            )
        return found
    finally:
        connection.close()


def dump_without_times(path: str) -> dict[str, Any]:
    """Copy the same, without the times of files."""
    found = dump(path)
    found["documents"] = [(*row[:4], *row[5:]) for row in found["documents"]]
    return found


def assert_sound(path: str) -> None:
    """Hold parts, vectors and keyword rows against one another."""
    connection = connect(path, write=False).connection
    try:
        _assert_sound(connection)
    finally:
        connection.close()


def _assert_sound(connection: apsw.Connection) -> None:
    def column(sql: str) -> list[Any]:
        return [row[0] for row in rows(connection, sql)]

    assert column("PRAGMA integrity_check") == ["ok"]
    assert column("SELECT rowid FROM fts ORDER BY 1") == column("SELECT id FROM chunks ORDER BY 1")
    assert not column("SELECT no FROM parts WHERE chunk_id NOT IN (SELECT id FROM chunks)")
    assert not column("SELECT id FROM chunks WHERE document_id NOT IN (SELECT id FROM documents)")
    assert not column(
        "SELECT key FROM properties WHERE document_id NOT IN (SELECT id FROM documents)"
    )
    meta = dict(rows(connection, "SELECT key, value FROM meta"))
    if "fingerprint" not in meta:
        assert not column("SELECT id FROM vectors WHERE unused_since IS NULL")
        return
    living = set(
        row[0]
        for row in rows(
            connection,
            f"SELECT hash FROM vectors WHERE encoder = {ENCODER}"
            " AND hash IN (SELECT hash FROM parts)",
            (meta["fingerprint"],),
        )
    )
    assert set(column("SELECT hash FROM vectors WHERE unused_since IS NULL")) == living
    if meta.get("vec_behind") == "1":
        return
    tables = set(column("SELECT name FROM sqlite_master WHERE sql GLOB '*USING vec0*'"))
    if "vec_table" not in meta:
        assert not tables
        return
    table, dimension = meta["vec_table"], int(meta["dimension"])
    held = tiers_beside(connection, table) | {dimension: table}
    assert tables == {*held.values()}
    living_vectors = rows(
        connection, "SELECT id, vector FROM vectors WHERE unused_since IS NULL ORDER BY id"
    )
    for components, name in held.items():
        code = coarse.stored(components, dimension)
        expected = [
            (slot, rows(connection, f"SELECT {code}", (quantize.unpacked(vector),))[0][0])
            for slot, vector in living_vectors
        ]
        assert rows(connection, f"SELECT id, embedding FROM {name} ORDER BY id") == expected


def open_writer(path: str, now_ns: Clock = lambda: FAR_FUTURE_NS) -> Writer:
    writer = Writer(path, now_ns)
    assert writer.notices == [], writer.notices
    return writer


def recalled(
    snapshot: Snapshot,
    *,
    words: str = "",
    vector: bytes | None = None,
    universe: int = 10,
    filters: Filters | None = None,
) -> tuple[Candidate, ...]:
    """Find what a search would look at, by words, by a vector, or by both."""
    return recall(
        snapshot,
        parse(words),
        total=snapshot.counts().chunks,
        keyword=bool(words),
        vector=vector,
        bounds=RecallBounds(universe, Scope(filters or Filters())),
    ).candidates


def frequency(snapshot: Snapshot, word: str) -> int:
    """Count the chunks that hold a word."""
    ((total, _),) = snapshot.matching_chunks([Term(word)], ())
    return total
