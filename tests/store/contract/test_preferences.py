"""Lines in which somebody says how they want things: given with their chunks, forgotten."""

from __future__ import annotations

from memcli.store.port import Snapshot, Store
from memcli.store.records import Scope
from memcli.types import Filters
from tests.store.contract.makers import changing, every_chunk, fill, put

FILES = {
    "memory/2025-03-01.md": "I prefer trains.\n",
    "memory/2025-05-01.md": "It rains.\n\nI'd rather walk.\nMy preference: early.\n",
    "MEMORY.md": "The user wants short answers.\n",
    "memory/2025-06-01.md": "Nothing of that kind.\n",
}
EVERYTHING = Scope()


def told(snapshot: Snapshot, limit: int = 9, scope: Scope = EVERYTHING) -> list[tuple[str, object]]:
    paths = every_chunk(snapshot)
    found = snapshot.preferences(limit, scope)
    return [(paths[chunk], tuple(lines)) for chunk, lines in found.items()]


def test_undated_ones_come_first_then_the_newest(store: Store) -> None:
    fill(store, FILES)
    until = Scope(Filters(until="2025-04-01"))
    with store.snapshot() as snapshot:
        assert told(snapshot) == [
            ("MEMORY.md", ((1, 1),)),
            ("memory/2025-05-01.md", ((3, 4),)),
            ("memory/2025-03-01.md", ((1, 1),)),
        ]
        assert [path for path, _ in told(snapshot, 2)] == ["MEMORY.md", "memory/2025-05-01.md"]
        assert [path for path, _ in told(snapshot, scope=until)] == ["memory/2025-03-01.md"]
    with changing(store) as change:
        put(change, "memory/2025-05-01.md", "It rains.\n")
        change.remove(("memory", "MEMORY.md"))
    with store.snapshot() as snapshot:  # what is gone is forgotten
        assert [path for path, _ in told(snapshot)] == ["memory/2025-03-01.md"]
