"""Who speaks in conversations: listed, read with chunks, let through by filters, forgotten."""

from __future__ import annotations

import pytest

from memcli.store.documents import turns_as_json, turns_of
from memcli.store.port import Store
from memcli.store.records import Scope
from memcli.types import Filters, Turn
from tests.store.contract.makers import any_of, changing, every_chunk, fill, found, put

CHAT = "- Kate: fox\n- Odette: hen\n" * 3
AGENT = "## One\n\nUser: fox?\n\n## Two\n\nAssistant: fox.\n\nMore fox.\n"


def filled(store: Store) -> Store:
    fill(store, {"memory/chat.md": CHAT, "memory/agent.md": AGENT, "memory/note.md": "fox\n"})
    return store


def test_who_speaks_in_documents_of_one_scope_alone_can_be_left_out(store: Store) -> None:
    own = "---\nscope: private\n---\n" + "- Kate: fox\n- Wolfram: hen\n" * 3
    fill(store, {"memory/chat.md": CHAT, "memory/own.md": own})
    with store.snapshot() as snapshot:
        assert snapshot.speakers() == ["Kate", "Odette", "Wolfram"]
        assert snapshot.speakers(but="private") == ["Kate", "Odette"]
        assert snapshot.speakers(but="user") == ["Kate", "Odette", "Wolfram"]


@pytest.mark.parametrize("text", ['[[1, "2", "Kate"]]', "[[1, 2, 3]]", '[[1.0, 2, "Kate"]]'])
def test_turns_of_other_types_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="holds something else"):
        turns_of(text)
    assert turns_of(turns_as_json([Turn(1, 2, "Kate")])) == (Turn(1, 2, "Kate"),)


def test_speakers_are_listed_once_and_turns_read_with_their_chunks(store: Store) -> None:
    with filled(store).snapshot() as snapshot:
        assert snapshot.speakers() == ["Assistant", "Kate", "Odette", "User"]
        paths = every_chunk(snapshot)
        lines = snapshot.lines_of([*paths])
        told = [(paths[chunk], own.turns) for chunk, own in lines.items() if own.turns]
        both = tuple(Turn(n, n, "Odette" if n % 2 == 0 else "Kate") for n in range(1, 7))
        assert sorted(told) == [
            ("memory/agent.md", (Turn(3, 3, "User"),)),
            ("memory/agent.md", (Turn(7, 9, "Assistant"),)),
            ("memory/chat.md", both),
        ]


def test_a_filter_lets_through_whose_lines_are_wanted_and_who_is_gone_is_forgotten(
    store: Store,
) -> None:
    with filled(store).snapshot() as snapshot:

        def by(*names: str) -> list[str]:
            return sorted(found(snapshot, any_of("fox"), scope=Scope(Filters(by=names))))

        assert by("Kate") == ["memory/chat.md"]
        assert by("User", "Kate") == ["memory/agent.md", "memory/chat.md"]
        assert by("User", "Assistant") == ["memory/agent.md", "memory/agent.md"]
        assert by("kate") == by("Nobody") == []
    with changing(store) as change:
        put(change, "memory/chat.md", "fox\n")
        change.remove(("memory", "memory/agent.md"))
    with store.snapshot() as snapshot:
        assert snapshot.speakers() == []
