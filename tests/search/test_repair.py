"""Words that nothing holds are looked for as they are most likely meant, and that is said."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.commands import indexed, printed, record
from tests.support import write

NOTES = {
    "memory/2025-06-12.md": "# Log\n\nThe education of the trainees begins in autumn.\n",
    "memory/2025-06-13.md": "# Log\n\nThe deployment waited for the staging database.\n",
    "memory/2025-06-14.md": "# Log\n\nThe environment needs a new certificate.\n",
    "memory/2025-06-15.md": "# Log\n\nThe bookshelf by the door, the ice cream and the book.\n",
    "memory/2025-06-16.md": "# Log\n\nDas Zimmer für die Arbeit, nach der Steuererklärung.\n",
    "memory/2025-06-17.md": "# Log\n\nThe invoice of 1,290 euros, 20417 cards; a wolf, selfcare.\n",
    "memory/2025-06-19.md": "# Log\n\nAt the check-in desk one has to check in early.\n",
    "memory/2025-06-18.md": "# Log\n\nA roadtrip: the road was wet, the trip was long.\n",
    "memory/2025-06-20.md": "# Log\n\nGrey skies from noon on, a rating of two.\n",
    "memory/2025-06-21.md": "# Log\n\nInstall the printer.\n",
    "memory/2025-06-22.md": "# Log\n\nA jar of pickles; the ball at the castle.\n",
    "memory/2025-06-23.md": "# Log\n\nA spoon for the entrepreneur at the Cove.\n",
    "memory/2025-06-24.md": "# Log\n\nA table, and sportsmenlike play.\n",
}
Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with notes and their index, which no test changes."""
    return indexed(tmp_path_factory.mktemp("base"), NOTES)


@pytest.fixture
def notes(base: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMCLI_STORE", str(base / "index.sqlite"))
    return base / "notes"


@pytest.fixture
def ask(notes: Path) -> Ask:
    """Search the notes and give the record of the JSON."""
    return partial(record, "search", "-w", str(notes))


def repaired(found: dict[str, Any]) -> dict[str, str]:
    return {each["typed"]: each["searched"] for each in found.get("repairs", [])}


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
@pytest.mark.parametrize(
    ("typed", "meant", "path"),
    [
        ("educaton", "education", "memory/2025-06-12.md"),
        ("edcuation", "education", "memory/2025-06-12.md"),
        ("deploymwnt", "deployment", "memory/2025-06-13.md"),
        ("Envirronment", "environment", "memory/2025-06-14.md"),
    ],
)
def test_one_mistake_in_a_word_is_as_good_as_none(
    ask: Ask, mode: str, typed: str, meant: str, path: str
) -> None:
    found = ask(f"notes of the {typed}", "--mode", mode, "-v")
    assert repaired(found) == {typed: meant}
    right = ask(f"notes of the {meant}", "--mode", mode, "-v")
    assert "repairs" not in right
    assert right["results"][0]["path"] == path
    told = ("citation", "score", "confidence")
    assert [[r[key] for key in told] for r in found["results"]] == [
        [r[key] for key in told] for r in right["results"]
    ]
    assert found["match"] == right["match"]


@pytest.mark.parametrize(
    ("typed", "meant"), [("deploymet", "Deployments"), ("universty", "universe")]
)
def test_a_correction_is_a_word_of_a_note(tmp_path: Path, typed: str, meant: str) -> None:
    """The notes may contain only another word with the stem of the likeliest one."""
    text = "Deployments and the universe; a generation of pumps.\n"
    write(tmp_path, "memory/2025-06-12.md", text)
    found = record("search", f"pumps {typed}", "-w", str(tmp_path), "--mode", "keyword", "-v")
    assert repaired(found) == {typed: meant}


@pytest.mark.parametrize(
    ("query", "typed", "searched", "how", "day"),
    [
        ("the wolves", "wolves", "wolf", "plural", 17),
        ("where is the icecream", "icecream", "ice cream", "split", 15),
        ("Arbeitszimmer", "Arbeitszimmer", "arbeit zimmer", "split", 16),
        ("who plays pickleball", "pickleball", "pickle ball", "split", 22),
        ("Steuererklärungen", "Steuererklärungen", "Steuererklärung", "spelling", 16),
        ("the book shelf", "book shelf", "bookshelf", "joined", 15),
        ("self-care", "self-care", "selfcare", "joined", 17),
        ("the chekc-in desk", "chekc-in", "check-in", "spelling", 19),
        ("grey skiies", "skiies", "skies", "spelling", 20),  # short without its ending, but English
        ("about the envir", "envir", "envir*", "beginning", 14),
        ("1290 euros", "1290", "1,290", "number", 17),
        ("20,417 cards", "20,417", "20417", "number", 17),
        ("20 417 cards", "20 417", "20417", "besides", 17),
        ("my road trip", "road trip", "roadtrip", "besides", 18),
    ],
)
def test_other_ways_to_write_what_the_notes_hold(
    ask: Ask, query: str, typed: str, searched: str, how: str, day: int
) -> None:
    found = ask(query, "--mode", "keyword")
    assert found["repairs"] == [{"typed": typed, "searched": searched, "how": how}]
    assert found["match"] == "strong"
    assert found["results"][0]["path"] == f"memory/2025-06-{day}.md"


@pytest.mark.parametrize("query", ["1.290 euros", "1 290 euros", "1,290 euros"])
def test_a_number_is_found_however_its_thousands_are_set_apart(ask: Ask, query: str) -> None:
    found = ask(query, "--mode", "keyword")
    assert "repairs" not in found
    assert found["results"][0]["path"] == "memory/2025-06-17.md"


def test_a_word_that_is_asked_for_already_does_not_count_twice(ask: Ask) -> None:
    twice = ask("education and educaton", "--mode", "keyword", "-v")
    assert repaired(twice) == {"educaton": "education"}
    once = ask("education", "--mode", "keyword", "-v")
    assert twice["results"][0]["score"] == once["results"][0]["score"]


def test_of_a_long_question_in_other_words_the_first_are_looked_at(ask: Ask) -> None:
    wrong = [f"zyxw{letter}vut" for letter in "abcdefgh"]
    assert "repairs" not in ask(" ".join([*wrong, "deploymwnt"]), "--mode", "keyword")
    found = ask(" ".join([*wrong[1:], "deploymwnt"]), "--mode", "keyword")
    assert repaired(found) == {"deploymwnt": "deployment"}


@pytest.mark.parametrize(
    "query",
    [
        "¿cómo instalo la impresora?",  # ends as a word of Spanish does
        "where is `educaton` set",
        "call educaton() now",
        "who goes rafting",  # of the vocabulary, but for its ending
        "a tablespoon of oil",  # a table and a spoon in two notes
        "who had covid",  # the Cove has two other letters
        "the sportsmen",  # a plural is a whole word
    ],
)
def test_a_word_that_may_be_right_as_it_is_gives_way_to_no_other(ask: Ask, query: str) -> None:
    assert "repairs" not in ask(query, "--mode", "keyword")


@pytest.mark.parametrize(
    ("typed", "meant", "is_announced"),
    [
        ("certificated", "certificate", False),
        ("wolves", "wolf", False),
        ("entrepreneurial", "entrepreneur", False),
        ("certifcate", "certificate", True),
        ("certificat", "certificate", True),
    ],
)
def test_another_form_of_a_word_is_searched_and_not_announced(
    notes: Path, typed: str, meant: str, is_announced: bool
) -> None:
    out, err = printed("search", f"needs a {typed}", "-w", str(notes))
    assert (meant in out, "instead of" in err) == (True, is_announced)


def test_only_the_last_word_may_be_unfinished(ask: Ask) -> None:
    assert "repairs" not in ask("envir database", "--mode", "keyword")


def test_what_was_searched_for_is_marked_and_said(notes: Path) -> None:
    for line, shown in (
        (("search", "educaton", "-n", "1", "--color", "always"), "education\x1b[0m"),
        (("context", "educaton"), "education of the trainees"),
    ):
        out, err = printed(*line, "-w", str(notes))
        assert shown in out
        assert err == "Searched for education instead of educaton.\n"


@pytest.mark.parametrize(
    "asked",
    [
        ["educaton", "--exact"],  # as it is typed
        ["educaton", "--profile", "classic"],
        ['"educaton"'],  # a phrase
        ["educaton*"],  # a prefix
        ["edu_caton"],  # an identifier
        ["log -educaton"],  # excluded
        ["umbrella"],  # a word of English that the notes do not use
        ["wits"],  # too short: a letter from too many words
        ["education"],
    ],
    ids=" ".join,
)
def test_what_is_left_as_it_is(ask: Ask, asked: list[str]) -> None:
    assert "repairs" not in ask(*asked)


def test_a_name_does_not_become_a_word_that_only_shares_its_stem(tmp_path: Path) -> None:
    write(tmp_path, "memory/2025-06-21.md", "# Log\n\nReset the pump, and reset the clock.\n")
    found = record("search", "restic unlock", "--mode", "keyword", "-w", str(tmp_path))
    assert "repairs" not in found


def test_what_is_searched_for_besides_is_told_to_who_asks(notes: Path) -> None:
    line = ("search", "road trip", "-w", str(notes), "-n", "1")
    assert "roadtrip" not in printed(*line)[1]
    out, err = printed(*line, "--explain")
    assert err == "Searched for roadtrip besides road trip.\n"
    assert "repaired=roadtrip for road trip" in out


def test_a_repair_is_told_in_python_too(notes: Path) -> None:
    import memcli

    with memcli.Memory.open(notes) as memory:
        (repair,) = memory.search("educaton").repairs
        assert repair == ("educaton", "education", "spelling")
        assert memory.context("educaton").repairs == (repair,)
        assert memory.search("education").repairs == ()
