"""What is asked is honoured: exclusions, phrases, filters, the verdict, lines by number."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli import processes
from tests.commands import indexed, say
from tests.support import cited, write

TOPICS = (
    "sourdough bread rises overnight, violin strings snap in winter, tulips want sandy soil, "
    "granite worktops stain easily, otters returned to the river, chess openings for beginners, "
    "income tax forms are due, harbour pilots board at dawn, felt hats shrink in rain, "
    "comets carry frozen gases, cheddar ripens for months, lighthouses went automatic, "
    "kites fly best at noon, ink fades under glass, bees swarm in May, marble quarries of Carrara, "
    "trams ran until midnight, owls hunt by ear, salted caramel burns quickly, "
    "paper cranes bring luck, glaciers carve valleys, the choir sings on Thursdays, "
    "vinegar cleans kettles, moss likes shade, copper roofs turn green"
)
Told = Callable[..., tuple[int, str, str]]
UNDATED = "; 1 undated document is left out. Try: the same with --undated"
TOGETHER = "no document passes all of these filters together"

NOTES = {
    "MEMORY.md": "# Memory\n\nThe pool is kept at 20 handles.\n",
    "memory/2025-06-12.md": "# Log\n\nThe pool ran dry at noon; we waited.\n",
    "memory/2025-06-13.md": "---\ntags: [infra]\nstatus: [open, Done]\n---\n# Log\n\n## Actions\n\n"
    "The pool has room for 40 now.\n",
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed(tmp_path_factory.mktemp("base"), NOTES)


@pytest.fixture
def notes(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(base, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("MEMCLI_STORE", str(tmp_path / "index.sqlite"))
    return tmp_path / "notes"


@pytest.fixture
def told(notes: Path, monkeypatch: pytest.MonkeyPatch) -> Told:
    """Run a command on the notes and give exit code, stdout and stderr."""
    monkeypatch.chdir(notes)
    monkeypatch.setenv("MEMCLI_WORKSPACE", str(notes))

    return lambda *arguments: say(*arguments, "--now", "2025-07-01")


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
@pytest.mark.parametrize("out", ["-dry", '-"ran dry"', "-wait*"])
def test_what_is_excluded_is_not_found_by_any_leg(told: Told, mode: str, out: str) -> None:
    everything = told("search", "pool", "--mode", mode)[1]
    assert "ran dry" in everything
    left = told("search", f"pool {out}", "--mode", mode)[1]
    assert "ran dry" not in left
    assert "20 handles" in left


def test_a_phrase_that_nothing_holds_is_said_and_not_guessed_at(told: Told) -> None:
    code, out, err = told("search", '"no such phrase"')
    assert (code, out) == (0, "")
    assert err == 'No passages found.\nmemcli: no document contains "no such phrase"\n'
    found = json.loads(told("search", '"no such phrase"', "--json", "-v")[1])
    reason = 'no document contains "no such phrase"'
    assert found["empty_reason"] == {"code": "phrase", "reason": reason}
    assert (found["query"], found["results"]) == ('"no such phrase"', [])
    code, out, err = told("search", 'pool "no such phrase"')
    assert "The pool ran dry" in out
    assert err.startswith('No passage contains "no such phrase"; these match the other words.\n')
    assert told("search", '"ran dry"')[1].startswith("memory/2025-06-12.md")


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
@pytest.mark.parametrize("more", ["", " pool", " notes of the shift"])
def test_what_is_quoted_has_to_be_in_every_passage(
    told: Told, notes: Path, mode: str, more: str
) -> None:
    between = "".join(f"Note {n} of the shift.\n\n" for n in range(30))
    text = f"# Shift\n\nThe steam valve leaks.\n\n{between}A valve for steam came.\n"
    write(notes, "memory/2025-06-14.md", text)
    found = json.loads(told("search", f'"steam valve"{more}', "--mode", mode, "--json")[1])
    assert found["results"]
    assert all("steam valve" in each["snippet"] for each in found["results"])


def test_a_long_question_that_quotes_something_asks_for_more(told: Told) -> None:
    eight = "room handles noon boiler oven ferry chain bell"

    def holding(words: str) -> set[bool]:
        found = json.loads(told("search", f'"ran dry" {words}', "--exact", "--json", "--more")[1])
        return {"ran dry" in each["snippet"] for each in found["results"]}

    assert holding(eight) == {True}
    assert holding(f"{eight} tide") == {True, False}


def test_phrases_that_no_passage_holds_together_are_said(told: Told) -> None:
    code, out, err = told("search", '"ran dry" "20 handles"')
    said = 'No passage contains all of "ran dry", "20 handles"; these contain one of them.\n'
    assert (code, err) == (0, said)
    assert ["ran dry" in out, "20 handles" in out, "room for 40" in out] == [True, True, False]
    found = json.loads(told("search", '"ran dry" "20 handles"', "--json")[1])
    assert found["split_phrases"] == ["ran dry", "20 handles"]
    out, err = told("search", '"ran dry" "at noon"')[1:]
    assert (out.count("memory/"), err) == (1, "")


@pytest.mark.parametrize(
    ("arguments", "by"),
    [
        (('"ran dry"', "--path", "MEMORY.md"), "the filters"),
        (('"ran dry" -noon',), "excluded words"),
    ],
)
def test_a_phrase_that_is_left_out_is_said(told: Told, arguments: tuple[str, ...], by: str) -> None:
    code, out, err = told("search", *arguments)
    said = f'No passages found.\nmemcli: passages with "ran dry" are removed by {by}\n'
    assert (code, out, err) == (0, "", said)


def test_a_prompt_that_quotes_something_is_not_held_to_it(told: Told) -> None:
    block = told("context", 'is "ran dry" why we keep 20 handles in the pool', "--budget", "300")[1]
    assert ["ran dry" in block, "20 handles" in block] == [True, True]


def test_no_passage_below_the_floor_is_let_through_for_its_neighbours(
    told: Told, notes: Path
) -> None:
    between = "".join(f"Note {n} of the shift.\n\n" for n in range(30))
    write(notes, "memory/2025-06-14.md", f"# Shift\n\nOPS-417 came back.\n\n{between}")
    for query in ("OPS-417", '"OPS-417 came"', "OPS-417 came back"):
        found = json.loads(told("search", query, "--min-score", "0.99", "--json")[1])
        assert ["OPS-417" in each["snippet"] for each in found["results"]] == [True]
    # Where its words are spread over a chunk, the best of its passages stands for it.
    found = json.loads(told("search", "valve 29 came", "--min-score", "0.99", "--json")[1])
    assert len(found["results"]) <= 1


def test_a_budget_is_not_filled_with_what_is_far_from_the_question(told: Told, notes: Path) -> None:
    for number, topic in enumerate(TOPICS.split(", "), start=1):
        write(notes, f"memory/topics/{number}.md", f"# {topic.title()}\n\n{topic}\n")
    assert told("index", "-q")[0] == 0
    asked = ("search", "why did the pool run dry", "--more", "--budget", "1500")
    out, err = told(*asked)[1:]
    asked = (*asked[:-1], "9000")
    found = json.loads(told(*asked, "--json", "-v")[1])
    assert (len(cited(out)), len(found["results"]), found["omitted_over_budget"]) == (10, 10, 0)
    far = found["omitted_low_confidence"]
    said = f"{far} more passages are weak and left out; -n 100 includes them.\n"
    assert (far > 10, err, said in told(*asked, "-v")[2]) == (True, "", True)
    everything = json.loads(told(*asked[:-1], "30000", "-n", "100", "--json")[1])
    assert (len(everything["results"]), "omitted_low_confidence" in everything) == (10 + far, False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--since", "2030-01"), f"there is no record from 2030-01-01 on{UNDATED}"),
        (("--until", "2020-01-31"), f"there is no record up to 2020-01-31{UNDATED}"),
        (("--on", "2025-06-14"), f"there is no record of 2025-06-14{UNDATED}"),
        (("--path", "nosuch/*"), "no path matches nosuch/*. Try: memcli ls"),
        (("--path", "mem"), "no path matches mem. Try: the same with --path 'mem*'"),
        (
            ("--heading", "nosuch"),
            "no document has the heading nosuch. Try: the same without --heading",
        ),
        (
            ("--trust", "untrusted"),
            "no document has the trust untrusted. Try: the same without --trust",
        ),
        (("--tag", "nosuch"), "no document has the tag nosuch. Try: memcli ls --count tag"),
        (
            ("--where", "nosuch=1"),
            "no document has a value for nosuch in its front matter. Try: memcli ls --count key",
        ),
        (
            ("--where", "nosuch"),
            "no document has a value for nosuch in its front matter. Try: memcli ls --count key",
        ),
        (("--where", "status=closed"), "no document has status=closed; its values are done, open"),
        (("--tag", "infra", "--where", "status!=open"), TOGETHER),
        (("--path", "MEMORY.md", "--heading", "Actions"), TOGETHER),
    ],
)
def test_a_filter_that_leaves_nothing_is_named(
    told: Told, arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = told("search", "pool", *arguments)
    assert (code, out, err) == (0, "", f"No passages found.\nmemcli: {message}\n")
    text, _, hint = message.partition(". Try: ")
    nothing = json.loads(told("search", "pool", *arguments, "--json")[1])["empty_reason"]
    assert nothing == {"code": "filter", "reason": text, **({"hint": hint} if hint else {})}


def test_a_kind_that_nothing_is_of_is_named_and_a_span_that_ends_first_is_an_error(
    told: Told,
) -> None:
    assert told("search", "pool", "--kind", "nosuch") == (
        0,
        "",
        "No passages found.\n"
        "memcli: no document has the kind nosuch. Try: memcli ls --count kind\n",
    )
    said = "memcli: the span from 2025-07-01 to 2025-06-01 ends before it begins\n"
    code, _, err = told("search", "pool", "--since", "2025-07-01", "--until", "2025-06-01")
    assert (code, err) == (2, f"{said}Try: --since 2025-06-01 --until 2025-07-01\n")


def test_the_exit_code_follows_the_verdict(told: Told) -> None:
    assert told("search", "pool", "--exit-code")[0] == 0
    code, out, err = told("search", "xyzzyplugh", "--exit-code")
    assert (code, out) == (1, "")
    assert err.startswith("No note contains: xyzzyplugh.\nNo passages found.\n")
    nearest = told("search", "xyzzyplugh", "--exit-code", "--more")
    assert (nearest[0], bool(nearest[1])) == (1, True)


def _asked(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    return processes.run("search", *arguments, input=stdin)


def test_each_line_of_stdin_is_a_question(notes: Path, tmp_path: Path) -> None:
    asked = ["pool", '"no such phrase"', "水池"]
    done = _asked("--stdin", "-v", "-n", "1", "-w", str(notes), stdin="\n".join(asked).encode())
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["query"] for each in found] == asked
    for question, answer in zip(asked, found, strict=True):
        alone = _asked(question, "--json", "-v", "-n", "1", "-w", str(notes))
        assert {**json.loads(alone.stdout), "now": answer["now"]} == answer
    done = _asked("--stdin", "-v", "-w", str(notes), stdin=b"pool\n\n\xff pool\n")
    first, error, last = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, first["query"], last["query"]) == (2, "pool", "\ufffd pool")
    assert error == {
        "schema": "memcli.error/1",
        "code": "usage",
        "message": "line 2 of stdin: the query contains nothing to search for",
        "hint": "remove this line",
    }
    assert _asked("--stdin", "-w", str(notes), stdin=b"\xff pool\n").returncode == 0


@pytest.mark.parametrize("rest", ["a8Kd92LmQ1", "a8Kd92LmQ1xyzt34"])
def test_a_question_does_not_tell_a_key_however_short(told: Told, rest: str) -> None:
    key = f"sk_test_{rest}"
    code, out, err = told("search", f"pool {key}", "--json", "-v")
    assert (code, key in out + err) == (0, False)
    assert json.loads(out)["query"] == "pool [secret: stripe-key]"


def test_several_documents_are_printed_below_their_citations(told: Told) -> None:
    code, out, err = told("get", "MEMORY.md:3", "nosuch.md", "memory/2025-06-12.md:3")
    assert (code, err) == (3, "memcli: there is no document nosuch.md. Try: memcli ls\n")
    assert out == (
        "==> MEMORY.md:3 <==\nThe pool is kept at 20 handles.\n"
        "==> memory/2025-06-12.md:3 <==\nThe pool ran dry at noon; we waited.\n"
    )
    found = told("get", "MEMORY.md:3", "memory/2025-06-12.md:3", "--json")[1].splitlines()
    assert [json.loads(line)["start_line"] for line in found] == [3, 3]


def test_a_context_says_how_dates_were_read(told: Told) -> None:
    asked = ("context", "why did the pool run dry last June", "--budget", "300")
    err = told(*asked)[2]
    assert 'Read "last June" as 2025-06-01 to 2025-06-30.\n' in err
    dates = json.loads(told(*asked, "--json")[1])["dates"]
    assert dates == [{"text": "last June", "start": "2025-06-01", "end": "2025-06-30"}]
    assert "dates" not in json.loads(told("context", "--json")[1])
