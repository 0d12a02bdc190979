from __future__ import annotations

import json
from pathlib import Path

import pytest

from memcli.cli.main import run
from memcli.search import common, recall
from memcli.search.common import MOST_ROWS, affordable, without_majority
from memcli.search.query import parse
from memcli.types import Term


def test_alternatives_that_bring_few_rows_all_stay() -> None:
    third = MOST_ROWS // 3
    assert affordable({Term("a"): third, Term("b"): third, Term("c"): third}) == (
        Term("a"),
        Term("b"),
        Term("c"),
    )


def test_the_rarest_stay_until_the_rows_are_used_up_and_in_their_order() -> None:
    rows = {Term("common"): MOST_ROWS, Term("rare"): 5, Term("mid"): MOST_ROWS - 5}
    assert affordable(rows) == (Term("rare"), Term("mid"))


def test_the_rarest_stays_however_common_it_is() -> None:
    assert affordable({Term("a"): 3 * MOST_ROWS, Term("b"): 2 * MOST_ROWS}) == (Term("b"),)
    assert affordable({}) == ()


def test_a_term_of_the_majority_counts_as_a_stop_word() -> None:
    total = 4 * MOST_ROWS
    rows = {Term("pool"): 9, Term("note"): total * 3 // 4, Term("log"): total // 3}
    narrowed = without_majority(parse("pool note log"), rows, total)
    assert [term.text for term in narrowed.sought] == ["pool", "log"]
    assert narrowed.groups == ((Term("pool"),), (Term("log"),))


def test_the_rarest_of_terms_of_the_majority_is_looked_for() -> None:
    total = 4 * MOST_ROWS
    narrowed = without_majority(
        parse("note log"), {Term("note"): total, Term("log"): total - 1}, total
    )
    assert [term.text for term in narrowed.sought] == ["log"]


def test_in_a_small_index_every_term_counts() -> None:
    rows = {Term("note"): MOST_ROWS, Term("log"): MOST_ROWS - 1}
    query = parse("note log")
    assert without_majority(query, rows, MOST_ROWS) == query


def test_a_search_names_the_words_it_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "MEMORY.md").write_text(
        "".join(f"## {n}\n\nnote log entry{n}\n\n" for n in range(8)) + "## pool\n\npool log\n"
    )
    command = ["search", "pool note log", "-w", str(tmp_path), "--mode", "lexical", "--explain"]
    assert run(command) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(recall, "MOST_ROWS", 3)
    monkeypatch.setattr(common, "MOST_ROWS", 3)
    assert run([*command, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == "words: not looked for, too many chunks hold it: note, log\n"
    assert json.loads(out)["results"][0]["citation"] == "MEMORY.md:33-35"
