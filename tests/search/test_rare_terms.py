from __future__ import annotations

import json
from math import inf, log

import pytest

from memcli.search import rare_terms, recall
from memcli.search.query import parse
from memcli.search.rare_terms import (
    FEW_ROWS,
    GROUP_ROWS,
    MOST_ROWS,
    greatest_share,
    groups_of,
    parted,
    without_majority,
)
from memcli.types import Term
from tests.commands import NewWorkspace, printed, record

TOTAL = 100 * MOST_ROWS


def test_alternatives_that_bring_few_rows_all_find() -> None:
    third = MOST_ROWS // 3
    terms = Term("a"), Term("b"), Term("c")
    assert parted(dict.fromkeys(terms, third), TOTAL) == (terms, ())


def test_the_rarest_find_until_the_rows_are_used_up_and_in_their_order() -> None:
    rows = {Term("common"): MOST_ROWS, Term("rare"): 5, Term("mid"): MOST_ROWS - 5}
    assert parted(rows, TOTAL) == ((Term("rare"), Term("mid")), ((Term("common"), MOST_ROWS),))


def test_where_the_rarest_bring_few_rows_one_more_finds_that_brings_many() -> None:
    for rare, most in ((FEW_ROWS - 1, 2 * MOST_ROWS), (FEW_ROWS, MOST_ROWS)):
        rows = {Term("rare"): rare, Term("mid"): most - rare}
        assert parted(rows, TOTAL) == ((Term("rare"), Term("mid")), ())
        rows[Term("mid")] += 1
        assert parted(rows, TOTAL) == ((Term("rare"),), ((Term("mid"), most - rare + 1),))


def test_where_even_the_rarest_brings_too_many_rows_all_find_together_if_they_can() -> None:
    a, b = (Term("a"), 3 * MOST_ROWS), (Term("b"), 2 * MOST_ROWS + 1)
    assert parted(dict((a, b)), TOTAL) == ((), (a, b))
    assert parted(dict((a, b)), 6 * MOST_ROWS) == ((Term("b"),), (a,))


def test_the_rarest_finds_however_common_it_is() -> None:
    assert parted({Term("a"): 9 * MOST_ROWS}, TOTAL) == ((Term("a"),), ())
    rows = {Term("a"): 3 * MOST_ROWS, Term("b"): 2 * MOST_ROWS}
    assert parted(rows, TOTAL) == ((Term("b"),), ((Term("a"), 3 * MOST_ROWS),))
    assert parted({}, TOTAL) == ((), ())


def test_what_nothing_holds_is_not_the_rarest_that_finds() -> None:
    rows = {Term("unheard"): 0, Term("a"): 3 * MOST_ROWS, Term("b"): 2 * MOST_ROWS}
    assert parted(rows, TOTAL) == ((Term("unheard"), Term("b")), ((Term("a"), 3 * MOST_ROWS),))


def test_what_most_chunks_hold_does_not_count() -> None:
    rows = {Term("a"): 5, Term("b"): TOTAL // 2, Term("c"): TOTAL // 2 + 1}
    assert parted(rows, TOTAL) == ((Term("a"),), ((Term("b"), TOTAL // 2),))


def test_pairs_of_common_terms_find_as_far_as_they_bring_few_rows() -> None:
    a, b, c = Term("a"), Term("b"), Term("c")
    rows = 2 * GROUP_ROWS
    assert groups_of((), TOTAL, alone=False) == groups_of(((a, rows),), TOTAL, alone=True) == ()
    also = (c, 20 * rows), (a, rows), (b, 2 * rows)
    assert groups_of(also, 50 * rows, alone=False) == ((a, b), (a, c))


def test_where_a_pair_brings_many_rows_more_terms_find_together() -> None:
    terms = tuple((Term(name), TOTAL // 3) for name in "abcdef")
    (group,) = groups_of(terms, TOTAL, alone=False)
    assert len(group) == 6  # 250 / 3 ** 6 < 1
    assert groups_of(terms[:5], TOTAL, alone=False) == ()


def test_the_greatest_share_is_that_of_a_chunk_of_nothing_else() -> None:
    assert greatest_share((), 100) == 0.0
    assert greatest_share(((Term("a"), 9), (Term("b"), 49)), 100) == pytest.approx(
        2.2 * (log(91.5 / 9.5) + log(51.5 / 49.5))
    )
    assert greatest_share(((Term("a", prefix=True), 9),), 100) == inf  # each spelling counts


def test_a_term_of_the_majority_counts_as_a_stop_word() -> None:
    total = 4 * MOST_ROWS
    rows = {Term("pool"): 9, Term("note"): total * 3 // 4, Term("log"): total // 3}
    narrowed = without_majority(parse("pool note log"), rows, total)
    assert [term.text for term in narrowed.counted_terms] == ["pool", "log"]
    assert narrowed.groups == ((Term("pool"),), (Term("log"),))
    half = {Term("pool"): 9, Term("note"): total // 2}
    assert without_majority(parse("pool note"), half, total) == parse("pool note")


def test_the_rarest_of_terms_of_the_majority_is_looked_for() -> None:
    total = 4 * MOST_ROWS
    narrowed = without_majority(
        parse("note log"), {Term("note"): total, Term("log"): total - 1}, total
    )
    assert [term.text for term in narrowed.counted_terms] == ["log"]


def test_in_a_small_index_every_term_counts() -> None:
    rows = {Term("note"): MOST_ROWS, Term("log"): MOST_ROWS - 1}
    query = parse("note log")
    assert without_majority(query, rows, MOST_ROWS) == query


def _large(patch: pytest.MonkeyPatch, chunks: int, rows: int) -> None:
    """Let an index be a large one from so many chunks on, and words bring so many rows at most."""
    patch.setattr(recall, "SMALL", chunks)
    patch.setattr(rare_terms, "MOST_ROWS", rows)


def sections(*texts: str) -> dict[str, str]:
    return {"MEMORY.md": "".join(f"## {text}\n\nx\n\n" for text in texts)}


POOL = "## pool\n\npool log\n"


def test_a_search_names_the_words_it_left_out(
    workspace: NewWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = "".join(f"## {n}\n\nnote log entry{n}\n\n" for n in range(8))
    workspace({"MEMORY.md": notes + POOL})
    command = ("search", "pool note log", "--mode", "keyword", "--explain")
    assert printed(*command)[1] == ""
    _large(monkeypatch, 3, 3)
    out, err = printed(*command, "--json")
    assert err == "words: too many chunks contain these words to search for them: note, log\n"
    assert json.loads(out)["results"][0]["citation"] == "MEMORY.md:33-35"


def test_the_words_of_a_search_by_meaning_find_nothing_in_a_large_index_either(
    workspace: NewWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = "".join(f"## {n}\n\nnote log\n\n" for n in range(8))
    workspace({"MEMORY.md": notes + POOL}, encoder="hashing")
    _large(monkeypatch, 3, 3)
    asked = 'pool "note log"'  # the phrase says which chunks may be shown
    results = record("search", asked, "--mode", "semantic")["results"]
    assert {each["citation"] for each in results} == {
        f"MEMORY.md:{4 * n + 1}-{4 * n + 3}" for n in range(8)
    }


def test_two_words_that_are_found_only_as_one_are_no_share_of_a_query(
    workspace: NewWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace(sections("roadtrip", *["road", "trip"] * 4, *["fox"] * 9))
    _large(monkeypatch, 1, 1)
    found = record("search", "road trip", "--mode", "keyword")["results"]
    assert found[0]["citation"] == "MEMORY.md:1-3"


def test_common_words_that_find_only_together_are_believed(
    workspace: NewWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace(sections("pool log", *["pool"] * 7, *["log"] * 7, *["fox"] * 20))
    _large(monkeypatch, 1, 2)
    (found,) = record("search", "pool log", "--mode", "keyword", "-v")["results"]
    assert (found["citation"], found["score"] > 0) == ("MEMORY.md:1-3", True)
