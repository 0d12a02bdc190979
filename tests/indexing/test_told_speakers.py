"""A document is one turn where its front matter or its source says who speaks."""

from __future__ import annotations

import pytest

from memcli.indexing.document import build_document
from memcli.types import FileStat, FileText, Source, Turn
from tests.support import make_limits

OWN = Source("memory", "/notes", ("**/*.md",))


def turns(text: str, source: Source = OWN) -> list[Turn]:
    stat = FileStat(source.name, "memory/a.md", len(text), 0, 0, 0)
    document = build_document(FileText(stat, b"h" * 32, text, False), source, make_limits())
    return [turn for chunk in document.chunks for turn in chunk.turns]


@pytest.mark.parametrize(
    ("said", "speaker"),
    [
        ("role: user", "user"),
        ("role: Assistant", "Assistant"),
        ("speaker: Kate", "Kate"),
        ("speaker: K", "K"),
        (f"speaker: {'x' * 40}", "x" * 40),
        ("role: Head of Sales\nspeaker: Kate", "Kate"),
    ],
)
def test_front_matter_says_who_speaks(said: str, speaker: str) -> None:
    lines = said.count("\n") + 4
    found = turns(f"---\n{said}\n---\nThe pool ran dry.\n")
    assert found == [Turn(lines, lines, speaker)]


@pytest.mark.parametrize(
    "said",
    [
        "role: Head of Sales",
        "role: [user]",
        "speaker: ''",
        "speaker: 7",
        f"speaker: {'x' * 41}",
        'speaker: "a\\eb"',
        "role: user\ntrust: untrusted",
        "author: Kate",
    ],
)
def test_what_names_no_speaker(said: str) -> None:
    assert turns(f"---\n{said}\n---\nThe pool ran dry.\n") == []


def test_what_tools_wrote_is_a_tools() -> None:
    source = OWN._replace(source_kind="tool")
    assert turns("The pool ran dry.\n", source) == [Turn(1, 1, "tool")]
    assert turns("---\nspeaker: Kate\n---\nDry.\n", source) == [Turn(4, 4, "Kate")]
    doubted = source._replace(trust="untrusted")
    assert turns("---\nspeaker: Kate\n---\nDry.\n", doubted) == [Turn(4, 4, "tool")]


def test_a_conversation_speaks_for_itself() -> None:
    text = "---\nspeaker: Kate\n---\nUser: Dry?\n\nAssistant: Dry.\n"
    assert [turn.speaker for turn in turns(text)] == ["User", "Assistant"]
