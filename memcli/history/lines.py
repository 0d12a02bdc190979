"""Follow lines of a file from one version to the one before; pure."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from memcli.types import Lines

ALIKE = 0.5  # least share of the lines of an earlier file that the later one has


def lines_before(old: Sequence[str], new: Sequence[str], lines: Lines) -> Lines | None:
    """Find the place of some lines in the version before; None if they are all new.

    If lines replaced as many others, each had the place of the line that it replaced. Otherwise
    they had the place of all those lines.
    """
    first, end = lines[0] - 1, lines[1]
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    places: list[int] = []
    middle = SequenceMatcher(
        None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False
    )
    shifted = (
        (tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in middle.get_opcodes()
    )
    blocks = [
        ("equal", 0, head, 0, head),
        *shifted,
        ("equal", len(old) - tail, len(old), len(new) - tail, len(new)),
    ]
    for tag, a, b, c, d in blocks:
        low, high = max(first, c), min(end, d)
        if low >= high or a == b:
            continue
        if tag == "equal" or b - a == d - c:
            places += [a + low - c, a + high - 1 - c]
        else:
            places += [a, b - 1]
    return (min(places) + 1, max(places) + 1) if places else None


def likeness(old: Sequence[str], new: Sequence[str]) -> float:
    """Return how much of two files is the same, by lines that are not blank."""
    ours, theirs = ({line.strip() for line in each if line.strip()} for each in (old, new))
    return len(ours & theirs) / max(1, len(ours), len(theirs))


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
