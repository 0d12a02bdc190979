from __future__ import annotations

import json
from typing import Any

import pytest

from memcli.bench.replay import SearchTrace, compare, lines, read
from memcli.bench.traces import decode
from memcli.errors import UsageError
from memcli.search.query import parse
from memcli.search.trace import Inquiry, recorded_filters, search_trace
from memcli.types import Filters, Where
from tests.bench.makers import answer, passage

FIRST, SECOND, THIRD = (passage(f"{n}.md", 1, 2, chunk=n) for n in (1, 2, 3))
FILTERS = Filters(
    since="2026-01-01", paths=("memory/*",), undated=True, tags=("infra",),
    where=(Where("status", "open", negated=True), Where("severity")),
)  # fmt: skip


def receipt_of(*passages: Any, fused: list[Any] | None = None, **changes: Any) -> dict[str, Any]:
    asked = Inquiry("why", "2026-02-20T00:00:00+00:00", FILTERS, None, {}, {"search.limit": 2})
    given = answer(list(passages), fused)._replace(revision="3", fingerprint="f")
    made = search_trace(asked, parse("why"), (), given, whole=False, sort="score", ends=False)
    return {**made, **changes}


def compared(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    return compare(decode(SearchTrace, before), decode(SearchTrace, after))


def test_a_receipt_holds_its_filters_and_the_order_of_each_leg() -> None:
    made = receipt_of(FIRST, SECOND)
    assert recorded_filters(json.loads(json.dumps(made))) == FILTERS
    earlier = {k: v for k, v in made["filters"].items() if k not in ("tags", "where")}
    assert recorded_filters({"filters": earlier}) == FILTERS._replace(tags=(), where=())
    assert made["index"] == {"revision": 3, "fingerprint": "f"}
    assert [top["ref"] for top in made["retrievers"]["keyword"]["top"]] == [
        "memory:1.md#a1", "memory:2.md#a2"
    ]  # fmt: skip
    assert made["retrievers"]["semantic"]["top"] == []


@pytest.mark.parametrize("flag", ["openai.url", "secrets", "store.url", "no.such", "chunk.tokens"])
def test_a_receipt_sets_nothing_that_no_search_has_a_flag_for(flag: str) -> None:
    """Nor does one that a stranger has made, who would have passages and keys sent to him."""
    made = receipt_of(FIRST, flags={flag: "http://elsewhere.example/v1"})
    with pytest.raises(UsageError, match=f"r has a flag that no search has: {flag}"):
        read(json.dumps(made), "r")
    assert read(json.dumps(receipt_of(FIRST, flags={"search.limit": 3})), "r")


@pytest.mark.parametrize(
    "filters",
    [
        {"since": 1}, {"paths": "a"}, {"paths": [1]}, {"undated": 1}, {"nosuch": None},
        {"where": [["a"]]}, {"where": [["a", 1, False]]}, {"where": 1}, {"within": [["a", 1]]},
    ],
)  # fmt: skip
def test_filters_that_are_none_make_it_no_receipt(filters: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="r is not the trace"):
        read(json.dumps(receipt_of(FIRST, filters=filters)), "r")


def test_the_same_answer_is_said_to_be_the_same() -> None:
    found = compared(receipt_of(FIRST, SECOND), receipt_of(FIRST, SECOND))
    assert found["same"]
    assert "\n".join(lines(found)) + "\n" == (
        '"why" as of 2026-02-20T00:00:00+00:00\nchanged: nothing\n'
        "The passages are the same, with the same scores.\n"
    )


def test_moves_are_shown_with_the_stage_that_changed_the_score() -> None:
    risen = passage("2.md", 1, 2, chunk=2, score=0.75)
    index, settings = {"revision": 4, "fingerprint": "g"}, {"search.limit": 3}
    fused = [risen, THIRD, FIRST]
    after = receipt_of(risen, THIRD, fused=fused, index=index, settings=settings)
    found = compared(receipt_of(FIRST, SECOND), after)
    assert lines(found)[1:] == [
        "changed: index revision 3 -> 4; model f -> g; search.limit 2 -> 3",
        " 1 ->  -  1.md:1-2  gone: its record is number 3 of 3 when fused, behind the passages "
        "shown",
        " 2 ->  1  2.md:1-2",
        "          | fuse         0.5000 -> 0.7500  +0.2500",
        " - ->  2  3.md:1-2  new",
    ]


def test_a_passage_whose_text_changed_is_still_the_same_record() -> None:
    changed = FIRST._replace(candidate=FIRST.candidate._replace(text="other words"))
    found = compared(receipt_of(FIRST), receipt_of(changed))
    assert not found["same"]
    assert lines(found)[2] == " 1 ->  1  1.md:1-2  its text changed"


def test_of_several_passages_each_is_paired_by_what_stayed() -> None:
    """The first as it was, the second by its record, the third by its text."""
    other = SECOND._replace(candidate=SECOND.candidate._replace(text="other words"))
    found = compared(receipt_of(FIRST, SECOND, THIRD), receipt_of(FIRST, THIRD, other))
    ranks = [(p["before"]["rank"], p["after"]["rank"]) for p in found["passages"]]
    assert ranks == [(1, 1), (2, 3), (3, 2)]


@pytest.mark.parametrize("given", ["", "[]", "{}", '{"schema": "memcli.search/1"}'])
def test_a_file_that_is_no_receipt_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match=r"r\.json is not the trace of a search"):
        read(given, "r.json")


@pytest.mark.parametrize("names", [["keyword"], ["keyword", "semantic", "foo"]])
def test_a_trace_has_both_retrievers_and_no_other(names: list[str]) -> None:
    ran = {name: {"ran": True, "reason": ""} for name in names}
    with pytest.raises(UsageError, match=r"r\.json is not the trace of a search"):
        read(json.dumps(receipt_of(FIRST, retrievers=ran)), "r.json")
