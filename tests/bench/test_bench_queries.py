from __future__ import annotations

import pytest

from memcli.bench.metrics import Range
from memcli.bench.queries import Query, confirmed, read_queries
from memcli.errors import UsageError


def _one(line: str) -> Query:
    (query,) = read_queries([line], "q.jsonl")
    return query


def test_a_record_is_read_with_everything_it_may_hold() -> None:
    query = _one(
        '{"id": 7, "query": "q", "category": "c", "date": "2026-02-20", "hints": ["a", "b"],'
        ' "importance": "high", "relevant": [{"path": "./a\\\\b.md", "start_line": 3}]}'
    )
    assert query == Query(
        "7", "q", "c", "2026-02-20", (Range("a/b.md", 3, 3),), "a b", 1.0, draft=False
    )


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("why so -> a.md", Range("a.md", 1, 10**9)),
        ("why → so → memory/a.md:7", Range("memory/a.md", 7, 7)),
        ("a->b ->  c d.md:7-9", Range("c d.md", 7, 9)),
    ],
)
def test_the_short_form_is_a_question_an_arrow_and_a_place(line: str, wanted: Range) -> None:
    assert (_one(line).relevant, _one(line).draft) == ((wanted,), False)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("no arrow", "neither JSON nor"),
        ('{"query": "q", "category": "all"}', "is reserved for all of them"),
        ('{"query": "q", "importance": 2}', "importance is low, normal, high"),
        (
            '{"query": "q", "relevant": [{"path": "a", "start_line": 3, "end_line": 2}]}',
            "not a range",
        ),
        ('{"query": 3}', "not a text"),
        ("{}", "'query' is missing"),
        ('{"query": "q", "path": "a.md"}', "the key 'path' belongs in an item of 'relevant'"),
        ('{"query": "q", "relevent": []}', "no key 'relevent'; did you mean 'relevant'"),
        ('{"query": "q", "relevant": [{"path": "a", "lines": "3-4"}]}', "no key 'lines', only"),
        ('{"query": "q", "date": "2026-02-30"}', "day .*range"),
    ],
)
def test_a_line_that_cannot_be_meant_is_named_with_its_reason(line: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        _one(line)


@pytest.mark.parametrize(("told", "meant"), [("0", 0.0), ("1", 1.0), ("0.25", 0.25)])
def test_an_importance_reaches_from_nothing_to_one(told: str, meant: float) -> None:
    found = _one(f'{{"query": "q", "importance": {told}}}')
    assert (found.importance, found.draft) == (meant, False)


def test_an_id_that_comes_twice_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"q\.jsonl:2: the id '1' is used twice"):
        read_queries(["a -> b.md", '{"id": 1, "query": "c"}'], "q.jsonl")


def test_drafts_are_never_counted() -> None:
    lines = ['{"id": "d", "query": "a", "draft": true}', '{"id": "c", "query": "b"}']
    queries = read_queries(lines, "q.jsonl")
    assert [query.id for query in confirmed(queries, "q.jsonl")] == ["c"]
    with pytest.raises(UsageError, match=r"all 1 queries of q\.jsonl are drafts"):
        confirmed(queries[:1], "q.jsonl")
