"""The conversations of the repository, on which anybody can measure search."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from memcli.bench.queries import Query, read_queries
from tests.commands import say

SETS = Path(__file__).parents[2] / "fixtures" / "eval" / "conversations"


def _queries(name: str) -> dict[Path, list[Query]]:
    return {
        file.parent: read_queries(file.read_text("utf-8").splitlines(), str(file))
        for file in sorted(SETS.glob(f"*/{name}.jsonl"))
    }


def test_each_conversation_has_twenty_questions_and_one_without_an_answer() -> None:
    files = sorted(SETS.glob("*/workspace/memory/*.md"))
    for name, count in (("queries", 20), ("queries_abstention", 1)):
        found = [query.id for queries in _queries(name).values() for query in queries]
        about = Counter(each.rpartition("-")[0] for each in found)
        assert about == dict.fromkeys((file.stem for file in files), count)
        assert len(found) == len(set(found)) == 30 * count


def test_the_lines_of_each_answer_exist_and_are_not_empty() -> None:
    for folder, queries in _queries("queries").items():
        for query in queries:
            assert query.relevant, query.id
            for place in query.relevant:
                text = (folder / "workspace" / place.path).read_text("utf-8")
                lines = text.split("\n")[place.start - 1 : place.end]
                assert len(lines) == place.end - place.start + 1, query.id
                assert all(line.strip(" #>") for line in lines), query.id
    for queries in _queries("queries_abstention").values():
        assert not any(query.relevant for query in queries)


def test_bench_quality_asks_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_STORE", str(tmp_path / "index.sqlite"))
    folder = SETS / "friends"
    where = ("-w", str(folder / "workspace"))
    assert say("index", "-q", "--encoder", "none", *where).code == 0
    said = say("bench", "quality", str(folder / "queries.jsonl"), "--mode", "keyword", "--json",
               *where)  # fmt: skip
    queries = json.loads(said.out)["queries"]
    recall = sum(each["scores"]["Recall@1000tok"] for each in queries) / len(queries)
    assert (said.code, len(queries)) == (0, 120)
    assert recall > 0.75
