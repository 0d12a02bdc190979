"""What is said to change nothing stands in the code as it is said."""

from __future__ import annotations

from pathlib import Path

from tests.mutants.places import changed, equivalents, find

ROOT = Path(__file__).parents[2]


def test_every_change_that_is_said_to_be_none_can_be_made() -> None:
    known = equivalents()
    assert all(known.values()), "each has a reason"
    for path in {path for path, _ in known}:
        text = (ROOT / path).read_bytes()
        made = {changed(mutant, text) for mutant in find(ROOT, path)}
        assert {shown for of, shown in known if of == path} <= made, path
