"""`memcli related` finds what is like a place, by numbers that mean the same everywhere."""

from __future__ import annotations

import json
import re
import shutil
import struct
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memcli
from memcli.search.related import middle
from tests.cli.processes import on_terminal
from tests.commands import NewWorkspace, record
from tests.commands import run_here as run
from tests.hashing import HashingEncoder
from tests.support import write

POOL = "# Pool\n\nThe connection pool of the tracker ran dry at noon.\n"
NOTES = {
    "MEMORY.md": "---\ntags: [rules]\n---\n\n# Rules\n\nNever deploy on a Friday.\n",
    "memory/2025-06-12.md": POOL,
    "memory/2025-06-13.md": "# Pool again\n\nThe tracker had a pool of 40; it ran dry too.\n",
    "memory/2025-06-14.md": "# Lunch\n\nBeans, and a fox in the garden.\n",
    "memory/empty.md": "---\ntags: [rules]\n---\n",
    "memory/two.md": "# Deploy\n\nOn Monday.\n\n# Friday\n\nWe never deploy on a Friday.\n",
}


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    return workspace(NOTES, index=True, encoder="hashing")


told = partial(record, "related", "-v")


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_what_is_most_like_comes_first_and_the_place_itself_never(notes: Path, mode: str) -> None:
    found = told("memory/2025-06-12.md:3", "--mode", mode)
    assert found["place"]["citation"] == "memory/2025-06-12.md:1-3"
    citations = [each["citation"] for each in found["results"]]
    assert citations[0] == "memory/2025-06-13.md:1-3"
    assert "memory/2025-06-12.md:1-3" not in citations
    scores = [each["score"] for each in found["results"]]
    assert scores == sorted(scores, reverse=True)
    assert [found["retrievers"][retriever]["ran"] for retriever in ("keyword", "semantic")] == [
        mode != "semantic",
        mode != "keyword",
    ]


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_the_same_text_scores_1_and_likeness_goes_both_ways(notes: Path, mode: str) -> None:
    shutil.copy(notes / "memory/2025-06-12.md", notes / "memory/copy.md")
    first = told("memory/2025-06-12.md:3", "--mode", mode)["results"][0]
    back = told("memory/copy.md:1", "--mode", mode)["results"][0]
    assert (first["citation"], back["citation"]) == (
        "memory/copy.md:1-3",
        "memory/2025-06-12.md:1-3",
    )
    # The date of a document is embedded too, so that a vector may differ a little.
    assert first["score"] == pytest.approx(1.0, abs=0.2 if mode != "keyword" else 1e-9)
    assert first["cosine"] == pytest.approx(back["cosine"], abs=1e-6)


def test_a_score_is_that_of_the_pair_whatever_else_there_is(notes: Path) -> None:
    def pair() -> tuple[float, float]:
        found = told("memory/2025-06-12.md", "--mode", "semantic")["results"]
        return next((r["score"], r["cosine"]) for r in found if r["path"].endswith("06-13.md"))

    before = pair()
    shutil.copy(notes / "memory/2025-06-12.md", notes / "memory/copy.md")
    assert pair() == before


@pytest.mark.parametrize(
    ("place", "citation"),
    [
        ("MEMORY.md:1", "MEMORY.md:5-7"),  # front matter is in no chunk: the next one
        ("MEMORY.md:4", "MEMORY.md:5-7"),
        ("memory/two.md:3", "memory/two.md:1-3"),
        ("memory/two.md:4", "memory/two.md:5-7"),
        ("memory/two.md:3-5", "memory/two.md:1-7"),
        ("memory/two.md", "memory/two.md:1-7"),
        ("memory/two.md#friday", "memory/two.md:5-7"),
        ("memory:memory/two.md#friday", "memory/two.md:5-7"),
    ],
)
def test_a_place_is_what_get_takes(notes: Path, place: str, citation: str) -> None:
    found = told(place)
    assert found["place"]["citation"] == citation
    first, last = map(int, citation.rpartition(":")[2].split("-"))
    for each in found["results"]:
        inside = each["path"] == found["place"]["path"] and each["start_line"] <= last
        assert not (inside and first <= each["end_line"])


def test_a_line_of_several_is_compared_without_the_others(notes: Path) -> None:
    rota = "- The rota of the garden is weekly, as before.\n"
    pump = "- The pump is leased from Aquila until the end\n  of the year.\n"
    write(notes, "memory/2025-07-01.md", f"# Day\n\n{rota}{pump}")
    write(notes, "memory/2025-07-02.md", "# Rota\n\nThe rota of the garden is weekly, as ever.\n")
    write(notes, "memory/2025-07-03.md", "# Lease\n\n- Rain.\n- We pay Aquila for the pump.\n")
    for line, citation, first in (
        (3, "memory/2025-07-01.md:3", "memory/2025-07-02.md"),
        (4, "memory/2025-07-01.md:4-5", "memory/2025-07-03.md"),
        (5, "memory/2025-07-01.md:4-5", "memory/2025-07-03.md"),
        (1, "memory/2025-07-01.md:1-5", "memory/2025-07-03.md"),  # of a heading: all below it
    ):
        found = told(f"memory/2025-07-01.md:{line}", "--mode", "keyword")
        assert found["place"]["citation"] == citation
        assert found["results"][0]["path"] == first


def test_two_chunks_of_one_file_are_related(notes: Path) -> None:
    found = told("memory/two.md:5", "--more")["results"]
    assert found[0]["citation"] == "MEMORY.md:5-7"
    assert "memory/two.md:1-3" in [each["citation"] for each in found]


def test_json_has_the_keys_of_a_search_and_costs_little_more_than_the_text(notes: Path) -> None:
    few = record("related", "memory/2025-06-12.md:3")
    assert set(few) == {"schema", "place", "results"}
    assert few["place"] == {"citation": "memory/2025-06-12.md:1-3"}
    plain = json.loads(run("related", "memory/2025-06-12.md:3", "--json").stdout)["results"][0]
    place = {"path", "start_line", "end_line", "citation"}
    assert set(plain) == {*place, "snippet", "cosine", "coverage"}
    assert plain["cosine"] == round(plain["cosine"], 3)


def test_forms_are_those_of_search(notes: Path) -> None:
    asked = ("related", "memory/2025-06-12.md:3", "-n", "1")
    assert run(*asked, "-f", "paths").stdout == "memory/2025-06-13.md\n"
    assert run(*asked, "-f", "paths0").stdout == "memory/2025-06-13.md\0"
    assert run(*asked, "-f", "vimgrep").stdout.startswith("memory/2025-06-13.md:")
    assert json.loads(run(*asked, "-f", "jsonl", "-v").stdout) == told(*asked[1:])["results"][0]
    text = run(*asked).stdout
    assert text.startswith("memory/2025-06-13.md  Pool again\n3: ")
    assert "it ran dry too" in text
    assert "it ran dry too" in run(*asked, "-f", "markdown").stdout


def test_filters_hold_and_say_what_they_leave_out(notes: Path) -> None:
    place = "memory/2025-06-12.md:3"
    assert [each["path"] for each in told(place, "--tag", "rules")["results"]] == ["MEMORY.md"]
    assert told(place, "--path", "memory/two.md", "-n", "9")["results"]
    done = run("related", place, "--tag", "nosuch")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (
        "No passages found.\nmemcli: no document has the tag nosuch. Try: memcli ls --count tag\n"
    )
    assert told(place, "--tag", "nosuch")["empty_reason"]["code"] == "filter"


def test_a_new_file_is_brought_in_and_without_that_it_is_said(notes: Path) -> None:
    write(notes, "memory/new.md", POOL)
    done = run("related", "memory/new.md", "--no-sync")
    assert (done.returncode, done.stderr) == (
        3,
        "memcli: memory/new.md is not indexed yet\nTry: memcli index\n",
    )
    assert told("memory/new.md")["results"][0]["path"] == "memory/2025-06-12.md"


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_lines_are_of_the_chunks_that_were_ranked(
    workspaces: Path, workspace: NewWorkspace, mode: str
) -> None:
    workspace(workspaces / "engineer", index=True, encoder="hashing")
    for place in ("MEMORY.md:25", "memory/2025-08-18.md:10", "memory/2025-05-06.md"):
        options = (place, "--mode", mode)
        narrow = told(*options, "--more", "-n", "100")["results"]
        chunks = told(*options, "--full", "-n", "100")["results"]
        for each, chunk in zip(narrow, chunks, strict=True):
            assert (each["path"], each["score"]) == (chunk["path"], chunk["score"])
            assert chunk["start_line"] <= each["start_line"] <= each["end_line"]
            assert each["end_line"] <= chunk["end_line"]
            assert each["snippet"].strip("…\n") in chunk["text"]
            for newer in each.get("corrected_by", ()):
                assert each["start_line"] <= newer.get("line", each["end_line"]) <= each["end_line"]
        best = [each for each in narrow if each["score"] >= narrow[0]["score"] / 2]
        shown = told(*options, "-n", "100")["results"]
        assert [each for each in shown if each in best] == best
        lines = {(each["path"], number) for each in shown for number in _lines_of(each)}
        printed = _printed(run("related", *options).stdout)
        assert printed
        assert printed <= lines


def _lines_of(result: dict[str, Any]) -> range:
    return range(result["start_line"], result["end_line"] + 1)


def _printed(text: str) -> set[tuple[str, int]]:
    """Return the path and number of each line that is printed below the name of its file."""
    path, lines = "", set()
    for line in text.splitlines():
        if name := re.match(r"(\S+\.md)(?:  |$)", line):
            path = name[1]
        elif number := re.match(r"\d+(?=:)", line):
            lines.add((path, int(number[0])))
    return lines


def test_what_is_hardly_related_needs_more_unless_it_is_linked(workspace: NewWorkspace) -> None:
    workspace({
        "restic.md": "We back up with it every night at two.\n",
        "a.md": "We back up with it every night at three.\n",
        "b.md": "The night was cold.\n",
        "c.md": "The night was warm, see [[Restic]].\n",
    })  # fmt: skip
    asked = ("restic.md", "--mode", "keyword")
    assert [each["path"] for each in told(*asked)["results"]] == ["a.md", "c.md"]
    assert [each["path"] for each in told(*asked, "--more")["results"]] == ["a.md", "c.md", "b.md"]


def test_what_is_left_out_is_counted(workspace: NewWorkspace) -> None:
    workspace({
        "restic.md": "We back up with it every night at two.\n",
        "a.md": "We back up with it every night at three.\n",
        "b.md": "The night was cold.\n",
        "c.md": "The night was warm.\n",
    })  # fmt: skip
    asked = ("restic.md", "--mode", "keyword")
    assert (told(*asked)["weaker"], told(*asked, "-n", "2")["weaker"]) == (2, 1)
    assert "weaker" not in told(*asked, "-n", "1")
    two = "2 passages are hardly related; --more shows them.\n"
    assert two in run("related", *asked, "-v").stderr
    assert "1 passage is hardly related; --more shows it.\n" in (
        run("related", *asked, "-v", "-n", "2").stderr
    )
    assert "hardly" not in run("related", *asked).stderr
    for every in ("--more", "--full"):
        assert "weaker" not in told(*asked, every)
        assert len(told(*asked, every)["results"]) == 3
        assert "hardly" not in run("related", *asked, every, "-v").stderr


def test_a_copy_hides_nothing(workspace: NewWorkspace) -> None:
    folder = workspace({
        "restic.md": "We back up with it every night at two.\n",
        "b.md": "The night was cold.\n",
    })  # fmt: skip
    asked = ("restic.md", "--mode", "keyword")
    assert [each["path"] for each in told(*asked)["results"]] == ["b.md"]
    shutil.copy(folder / "restic.md", folder / "copy.md")
    assert [each["path"] for each in told(*asked)["results"]] == ["copy.md", "b.md"]
    (folder / "b.md").unlink()
    assert [each["path"] for each in told(*asked)["results"]] == ["copy.md"]


@pytest.mark.parametrize("form", [("-1",), ("-f", "vimgrep")])
def test_one_line_is_that_for_which_a_passage_was_found(
    workspace: NewWorkspace, form: tuple[str, ...]
) -> None:
    window = "- The deploy window is Tuesday at 14:00."
    lamp = "- The lamp in the hall is red, and somebody who left bought it at the market last year."
    newer = "- The deploy window is now Thursday at 10:00 instead of Tuesday at 14:00."
    notes = {
        "memory/2025-01-01.md": f"# Storage\n\n{window}\n{lamp}\n",
        "memory/2025-03-01.md": f"# Storage\n\n{newer}\n",
    }
    workspace(notes, index=True, encoder="hashing")
    (line,) = run("related", "memory/2025-03-01.md:3", *form).stdout.splitlines()
    assert line.startswith("memory/2025-01-01.md:3:")
    assert "[corrected by memory/2025-03-01.md:3 (2025-03-01)]" in line


def test_without_vectors_words_decide_and_that_is_said(workspace: NewWorkspace) -> None:
    workspace(NOTES)
    done = run("related", "memory/2025-06-12.md:3", "-n", "1")
    assert done.stdout.startswith("memory/2025-06-13.md  Pool again\n3: ")
    assert done.stderr.startswith("memcli: keywords only: these lines are not embedded yet.")


def test_python_is_told_the_same(notes: Path) -> None:
    with memcli.Memory.open(str(notes)) as memory:
        found = memory.related("memory/2025-06-12.md:3", kinds=["log"])
        assert found.place == "memory/2025-06-12.md:1-3"
        told_then = told("memory/2025-06-12.md:3", "--kind", "log")["results"]
        assert [(each.citation, each.score) for each in found.results] == [
            (each["citation"], each["score"]) for each in told_then
        ]
        assert memory.related("memory/2025-06-12.md:3", limit=1).results == found.results[:1]
        assert (found.retrievers.keyword.ran, found.retrievers.semantic.ran) == (True, True)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=5))
def test_the_middle_of_vectors_is_a_direction(texts: list[str]) -> None:
    vectors = HashingEncoder(16).encode(texts)
    found = middle(vectors)
    assert found is None or sum(each * each for each in found) == pytest.approx(1.0)
    again = middle([*vectors, *vectors])
    assert (found is None) == (again is None)
    if found and again:
        assert again == pytest.approx(found)
    assert middle([]) is None


def test_a_middle_is_the_same_whatever_the_order_and_the_python() -> None:
    """Before 3.12 `sum` rounds after each number."""
    far = [struct.pack("<2f", *each) for each in ((1e17, 0.0), (1.0, 1.0), (-1e17, 0.0))]
    for vectors in permutations(far):
        assert middle(vectors) == pytest.approx((0.5**0.5, 0.5**0.5))


def test_what_is_related_is_written_in_every_form(notes: Path) -> None:
    place = "memory/2025-06-12.md"
    found = told(place, "-n", "2")
    cited = [each["citation"] for each in found["results"]]
    out = run("related", place, "-n", "2", "-f", "{citation}\\t{cosine}").stdout
    assert out == "".join(f"{each['citation']}\t{each['cosine']}\n" for each in found["results"])
    assert told(place, "-n", "2", "--fields", "citation,text")["results"] == [
        {"citation": each["citation"], "text": each["snippet"]} for each in found["results"]
    ]
    brief = run("related", place, "-n", "2", "-1").stdout.splitlines()
    assert [line.split(": ")[0].rpartition(":")[0] for line in brief] == [
        each.rpartition(":")[0] for each in cited
    ]
    for arguments in (("-f", "{confidence}"), ("--fields", "confidence")):
        assert run("related", place, *arguments).returncode == 2


def test_what_is_related_fits_its_screen_unless_more_is_asked_for(notes: Path) -> None:
    for number in range(8):
        write(notes, f"memory/note-{number}.md", f"# Pool {number}\n\nPool {number} ran dry.\n" * 3)
    assert run("index", "-q").returncode == 0
    screen = {"COLUMNS": "60", "LINES": "16"}
    shown = on_terminal("related", "memory/2025-06-12.md", **screen)
    assert "--more" in shown
    assert shown.count("\n") <= 16
    shown = on_terminal("related", "memory/2025-06-12.md", "--more", **screen)
    assert "--more" not in shown
    assert shown.count("\n") > 16
