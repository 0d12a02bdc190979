"""The bench compares source and path: two documents of one path are two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memcli.bench.metrics import Range, first_rank, score
from memcli.bench.quality import Loss, QuestionResult, lost_at, passages, run_line
from memcli.bench.queries import Query, read_queries
from memcli.bench.runs import read_baseline
from memcli.config.settings import load
from memcli.errors import UsageError
from memcli.search.options import SearchOptions, options_of
from memcli.search.ranked import RankedPassage
from memcli.search.why_not import Course
from memcli.types import Filters
from tests.bench.makers import answer, passage

NAMES = ("memory", "handbook")
OWN, OTHER = Range("a.md", 3, 4), Range("a.md", 3, 4, "handbook")


def _costs(document: tuple[str, str]) -> list[float]:
    """Lines of the handbook cost a hundred times as much."""
    return [100.0 if document[0] == "handbook" else 1.0] * 9


def _hit_of(source: str, path: str, first: int, last: int) -> RankedPassage:
    made = passage(path, first, last)
    about = made.about._replace(source=source)
    return made._replace(candidate=made.candidate._replace(about=about))


def test_lines_of_another_source_are_no_hit() -> None:
    assert set(score([OWN], [OTHER], _costs).values()) == {0.0}
    assert first_rank([OWN], [OTHER, OTHER, OWN]) == 3
    found = score([OWN], [OTHER, OWN], _costs)
    assert (found["Hit@1"], found["MRR@10"], found["Recall@500tok"]) == (0.0, 0.5, 1.0)


def test_tokens_are_those_of_the_document_that_was_found() -> None:
    """Two lines of the handbook take 200 of the tokens, the nine before them 900."""
    found = score([OTHER], [Range("a.md", 1, 9, "handbook")], _costs)
    assert (found["Recall@500tok"], found["Recall@2000tok"]) == (1.0, 1.0)
    late = score([Range("a.md", 6, 6, "handbook")], [Range("a.md", 1, 9, "handbook")], _costs)
    assert (late["Recall@500tok"], late["Recall@1000tok"]) == (0.0, 1.0)


def _one(line: str) -> Query:
    (query,) = read_queries([line], "q.jsonl", NAMES)
    return query


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("why -> MEMORY.md:1-3", Range("MEMORY.md", 1, 3)),
        ("why -> memory:MEMORY.md:1-3", Range("MEMORY.md", 1, 3)),
        ("why -> handbook:MEMORY.md:1-3", Range("MEMORY.md", 1, 3, "handbook")),
        ("why -> ./handbook:MEMORY.md:1-3", Range("handbook:MEMORY.md", 1, 3)),
        ("why -> elsewhere:MEMORY.md:1-3", Range("elsewhere:MEMORY.md", 1, 3)),
        ('{"query": "q", "relevant": "handbook:a.md"}', Range("a.md", 1, 10**9, "handbook")),
        (
            '{"query": "q", "relevant": [{"path": "./b/../a.md", "source": "handbook"}]}',
            Range("a.md", 1, 10**9, "handbook"),
        ),
    ],
)
def test_a_judged_place_is_written_as_it_is_printed(line: str, wanted: Range) -> None:
    assert _one(line).relevant == (wanted,)


def test_a_source_that_there_is_not_is_named() -> None:
    with pytest.raises(UsageError, match=r"q\.jsonl:1 .* no source 'web', only memory, handbook"):
        _one('{"query": "q", "relevant": [{"path": "a.md", "source": "web"}]}')


def test_passages_and_run_lines_name_a_source_that_is_not_the_memory() -> None:
    found = passages(answer([passage("a.md", 3, 4), _hit_of("handbook", "a.md", 3, 4)]))
    assert found == (OWN, OTHER)
    query = Query("q1", "q", "-", None, (OTHER,))
    line = run_line(QuestionResult(query, found, None, 0.0, None, None))
    assert line["results"] == [
        {"path": "a.md", "start_line": 3, "end_line": 4},
        {"path": "a.md", "source": "handbook", "start_line": 3, "end_line": 4},
    ]
    (row,) = read_baseline(_dumped(line), "run.jsonl", [query], _costs)
    assert (row.rank, row.scores["MRR@10"]) == (2, 0.5)


def _dumped(record: dict[str, Any]) -> str:
    from memcli.render.jsonio import dumps

    return dumps(record) + "\n"


def _lost(
    passages: list[RankedPassage],
    wanted: Range,
    options: SearchOptions,
    lines: dict[tuple[str, str], int],
) -> Loss | None:
    course = Course()
    course("recall", passages)
    course("budget", passages)
    costs = {document: [1.0] * count for document, count in lines.items()}
    return lost_at(course, answer(passages), [wanted], options, lambda d: costs.get(d, ()))


def test_lines_are_lost_though_another_source_has_the_same_path(tmp_path: Path) -> None:
    options = options_of(load(str(tmp_path), {}, {}), filters=Filters())
    other, lines = _hit_of("handbook", "a.md", 3, 4), {OTHER.document: 9}
    assert _lost([other], OTHER, options, lines) is None
    assert _lost([other], OWN, options, lines) == Loss("files", "a.md is not in the workspace")
    gone = _lost([], OTHER, options, {})
    assert gone == Loss("files", "handbook:a.md is not in the workspace")


def test_a_passage_is_folded_by_a_citation_of_its_own_source(tmp_path: Path) -> None:
    options = options_of(load(str(tmp_path), {}, {}), filters=Filters())
    shown = passage("b.md", 1, 1, chunk=7)._replace(duplicates=("handbook:a.md:4-6",))
    for wanted, held, stage in ((OTHER, "handbook", "mmr.fold"), (OWN, "memory", "mmr")):
        course = Course()
        course("recall", [shown, _hit_of(held, "a.md", 4, 6)])
        course("mmr", [shown])
        found = lost_at(course, answer([shown]), [wanted], options, lambda _: [1.0] * 9)
        assert found
        assert found.stage == stage
