"""Query the FTS5 table: which chunks match, how well, and how many.

For each row of a `rowid IN (…)`, FTS5 starts its query again, and bm25 counts every term again. A
`+` keeps the condition out of FTS5: one pass over all matches, 100 times faster for 500 rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing

import apsw

from memcli.checking import TYPE_CHECKING
from memcli.store.records import TermChunks
from memcli.store.sqlite.driver import marks, rows
from memcli.store.sqlite.fts_query import TOKENIZER, phrase
from memcli.types import Term

if TYPE_CHECKING:
    from memcli.store.sqlite.filters import Select

WINDOWS = 5  # of rows, from which a frequency is estimated
# Rows in all windows: the estimate for a term in 5 % of the chunks is within 9 %. Fewer matches are
# counted exactly, which takes .2 ms and less than the windows.
SAMPLE = 2500
MANY_TERMS = 50  # more terms than this are not looked up one by one
MOST_WALKED = 20_000  # chunks; in a larger index, terms are not listed
LAST = "\U0010ffff"
BM25 = "-bm25(fts)"  # larger is better; headings weigh as much as text


def scores(
    connection: apsw.Connection, match: str | None, within: Select | None, score: str = BM25
) -> dict[int, float]:
    """Return the scores of all matches by chunk id.

    `within` selects the chunks to search in, or has marks for their ids.
    """
    if match is None:
        return {}
    select, values = within or ("", ())
    among = f" AND +fts.rowid IN ({select})" if select else ""
    sql = f"SELECT rowid, {score} FROM fts WHERE fts MATCH ?{among}"
    return dict(rows(connection, sql, (match, *values)))


def best(
    connection: apsw.Connection, scores: Mapping[int, float], limit: int
) -> list[tuple[int, float]]:
    """List the best chunks with their scores, best first; ties by source, path and place."""
    if len(scores) > limit:
        least = sorted(scores.values())[-limit]
        scores = {chunk_id: score for chunk_id, score in scores.items() if score >= least}
    if len({*scores.values()}) < len(scores):
        result = rows(
            connection,
            "SELECT c.id FROM chunks c JOIN documents d ON d.id = c.document_id WHERE c.id IN"
            " (SELECT value FROM json_each(?)) ORDER BY d.source, d.path, c.ordinal",
            (json.dumps([*scores]),),
        )
        scores = {chunk_id: scores[chunk_id] for (chunk_id,) in result}
    return sorted(scores.items(), key=lambda each: -each[1])[:limit]


def count_matches(connection: apsw.Connection, match: str, ids: Sequence[int]) -> TermChunks:
    """Count the chunks that match, and return the matches among some chunks."""
    ((count, listed),) = rows(
        connection,
        f"SELECT count(*), group_concat(iif(rowid IN ({marks(ids)}), rowid, NULL)) FROM fts"
        " WHERE fts MATCH ?",
        (*ids, match),
    )
    return TermChunks(count, frozenset(map(int, listed.split(",") if listed else ())))


def occurring(connection: apsw.Connection, terms: Sequence[Term]) -> frozenset[Term]:
    """Return the terms that any chunk contains; each lookup ends at the first chunk."""
    one = "SELECT 1 FROM fts WHERE fts MATCH ? LIMIT 1"
    candidates = _listed(connection, terms) if len(terms) > MANY_TERMS else terms
    return frozenset(term for term in candidates if rows(connection, one, (phrase(term),)))


def _listed(connection: apsw.Connection, terms: Sequence[Term]) -> Sequence[Term]:
    """Leave out most of the terms that no chunk contains; deleted words may still be listed.

    The terms of an index are read by their first letters, which costs a tenth of looking up the
    spellings of a word. In a large index this takes longer, because it counts their rows.
    """
    ((last,),) = rows(connection, "SELECT max(id) FROM chunks")
    if (last or 0) > MOST_WALKED:
        return terms
    cut = tokens(connection, [term.text for term in terms])
    letters = {token[0] for stems in cut for token in stems}
    walk = "SELECT term FROM terms WHERE term BETWEEN ? AND ?"
    listed = {
        stem for letter in letters for (stem,) in rows(connection, walk, (letter, letter + LAST))
    }
    return [
        term
        for term, stems in zip(terms, cut, strict=True)
        if term.prefix or listed.issuperset(stems)
    ]


def frequency(connection: apsw.Connection, match: str) -> int:
    """Count the chunks that match; if there are many, estimate from windows over the index."""
    ((first, last),) = rows(  # one query for both would read every row
        connection, "SELECT (SELECT min(id) FROM chunks), (SELECT max(id) FROM chunks)"
    )
    if first is None:
        return 0
    step, width = (last - first + 1) / WINDOWS, SAMPLE // WINDOWS
    few = "SELECT count(*) FROM (SELECT 1 FROM fts WHERE fts MATCH ? LIMIT ?)"
    ((matches,),) = rows(connection, few, (match, SAMPLE if step > width else last - first + 1))
    if step <= width or matches < SAMPLE:
        return int(matches)
    sql = "SELECT count(*) FROM fts WHERE fts MATCH ? AND rowid BETWEEN ? AND ?"
    starts = [first + int(number * step) for number in range(WINDOWS)]
    counts = [rows(connection, sql, (match, start, start + width - 1)) for start in starts]
    estimate: int = round(sum(count for ((count,),) in counts) * step / width)
    return max(SAMPLE, estimate)


def merge(connection: apsw.Connection, pages: int) -> bool:
    """Merge segments within `pages`; return whether one is left, without deleted words.

    FTS5 marks a deleted row and keeps its words until all older segments are merged into one.
    """
    for _ in range(2):  # a merge that changes fewer than two rows had nothing to do
        before = connection.total_changes()
        connection.execute("INSERT INTO fts (fts, rank) VALUES ('merge', ?)", (-pages,))
        if connection.total_changes() - before < 2:
            return True
    return False


def tokens(connection: apsw.Connection, prepared: Sequence[str]) -> list[tuple[str, ...]]:
    """Cut texts from `words.prepare` into tokens, stemmed as in the table."""
    tokenizer = connection.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
    try:
        without = {"include_offsets": False, "include_colocated": False}
        made = (
            tokenizer(text.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_DOCUMENT, None, **without)
            for text in prepared
        )
        return [tuple(map(str, tokens)) for tokens in made]
    finally:
        del tokenizer  # it must not outlive the connection, for example in a stored traceback


def cut(prepared: Sequence[str]) -> list[tuple[str, ...]]:
    """Cut texts from `words.prepare` into tokens, stemmed as in every index."""
    with closing(apsw.Connection(":memory:")) as connection:
        return tokens(connection, prepared)
