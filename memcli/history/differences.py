"""Compare two states of a memory, passage by passage; pure.

A passage is a paragraph, an item, a row of a table, a fence or a line of front matter. Only its
words count: spaces and wrapping make no difference. A passage that left one place and appears at
another has moved. The remaining passages of a section are paired if their words are alike
(Jaccard, ALIKE): such a pair is a change from the old text to the new.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from memcli.markdown.frontmatter import split
from memcli.markdown.parse import parse
from memcli.record import Record
from memcli.types import cite

ADDED, CHANGED, REMOVED, MOVED = "added", "changed", "removed", "moved"
ALIKE = 0.4  # share of common words; another number changes most of a line
RENAMED = 0.5  # share of the passages of a file that the other has too
LEAST_MOVED = 3  # words; shorter passages occur in many places
FRONT_MATTER = "front matter"
_WORD = re.compile(r"\w+")
_BEGINS_WITH_TIME = re.compile(r"[\[(]?\d\d?:\d\d\b")  # as the lines of a chat

Name = tuple[str, str]  # (source, path)


class MemoryPassage(Record):
    """A passage of a document."""

    name: Name
    headings: tuple[str, ...]
    text: str  # its lines as they are
    start_line: int
    end_line: int

    @property
    def key(self) -> str:
        """Return the text without its line breaks."""
        return " ".join(self.text.split())

    @property
    def is_metadata(self) -> bool:
        """Return whether it is a line of front matter."""
        return self.headings == (FRONT_MATTER,)

    @property
    def words(self) -> frozenset[str]:
        """Return its words."""
        return frozenset(_WORD.findall(self.text.casefold()))

    @property
    def citation(self) -> str:
        """Name its lines."""
        return cite(*self.name, self.start_line, self.end_line)


class MemoryChange(Record):
    """One change; for a moved passage `old` and `new` have the same words."""

    kind: str
    old: MemoryPassage | None
    new: MemoryPassage | None
    more: int = 0  # passages that have moved along

    @property
    def place(self) -> MemoryPassage:
        """Return its place; for a removed passage, its former place."""
        return self.new or self.old or _NOWHERE

    @property
    def text(self) -> str:
        """Return the whole text, before and after."""
        return "\n".join(each.text for each in (self.old, self.new) if each)


class FileMove(Record):
    """A file that has another name now."""

    old: Name
    new: Name


class DayChanges(Record):
    """The changes from one state to the next."""

    moves: tuple[FileMove, ...]
    changes: tuple[MemoryChange, ...]  # by document and place


_NOWHERE = MemoryPassage(("", ""), (), "", 0, 0)


def common_start(one: Sequence[str], other: Sequence[str]) -> int:
    """Count the characters, or the lines, with which two texts both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def passages(name: Name, text: str) -> list[MemoryPassage]:
    """Cut a document into passages."""
    parsed = parse(text)
    lines = parsed.lines
    _, body = split(lines)
    result = [
        MemoryPassage(name, (FRONT_MATTER,), line, number, number)
        for number, line in enumerate(lines[: max(0, body - 1)], start=1)
        if number > 1 and line.strip()
    ]
    path: list[tuple[int, str]] = []
    for block in parsed.blocks:
        if block.kind == "heading":
            path = [each for each in path if each[0] < block.level] + [(block.level, block.title)]
            continue
        own = lines[block.start : block.end]
        is_chat = _BEGINS_WITH_TIME.match(own[0])
        starts = [
            block.start + at
            for at, line in enumerate(own)
            if not at or block.kind == "table" or (is_chat and _BEGINS_WITH_TIME.match(line))
        ]
        for start, end in zip(starts, [*starts[1:], block.end], strict=True):
            content = "\n".join(lines[start:end])
            if content.strip(" |:-\t\r"):
                headings = tuple(title for _, title in path)
                result.append(MemoryPassage(name, headings, content, start + 1, end))
    return result


def compare(
    before: Mapping[Name, Sequence[MemoryPassage]], after: Mapping[Name, Sequence[MemoryPassage]]
) -> DayChanges:
    """Compare the passages of all documents that are not the same in two states."""
    moves = _renamed(before, after)
    named = {move.old: move.new for move in moves}
    old = [each for name in sorted(before) for each in before[name]]
    new = [each for name in sorted(after) for each in after[name]]
    old, new, _ = _matched(old, new, lambda t: (named.get(t.name, t.name), t.headings, t.key))
    old, new, within = _matched(old, new, lambda t: (named.get(t.name, t.name), t.key), least=1)
    old, new, across = _matched(old, new, lambda t: t.key, least=LEAST_MOVED)
    changes = _grouped([*within, *across])
    for same_section in (True, False):
        old, new, pairs = _paired(old, new, named, same_section=same_section)
        changes += pairs
    # The front matter of a new or a removed file is not reported as a change of its own.
    is_news = {name: name in before and name in after for name in (*before, *after)}
    changes += [MemoryChange(REMOVED, t, None) for t in old if is_news[t.name] or not t.is_metadata]
    changes += [MemoryChange(ADDED, None, t) for t in new if is_news[t.name] or not t.is_metadata]
    changes.sort(key=lambda change: (change.place.name, change.place.start_line, change.kind))
    return DayChanges(tuple(moves), tuple(changes))


def _renamed(
    before: Mapping[Name, Sequence[MemoryPassage]], after: Mapping[Name, Sequence[MemoryPassage]]
) -> list[FileMove]:
    """Pair removed files with new ones that have most of the same text."""
    gone = {name: Counter(t.key for t in before[name]) for name in before.keys() - after.keys()}
    come = {name: Counter(t.key for t in after[name]) for name in after.keys() - before.keys()}
    shares = sorted(
        (-share, old, new)
        for old, theirs in gone.items()
        for new, ours in come.items()
        if (share := (theirs & ours).total() / max(1, theirs.total(), ours.total())) >= RENAMED
    )
    moves: list[FileMove] = []
    names: set[Name] = set()
    for _, old, new in shares:
        if names.isdisjoint((old, new)):
            moves.append(FileMove(old, new))
            names |= {old, new}
    return sorted(moves)


def _matched(
    old: Sequence[MemoryPassage],
    new: Sequence[MemoryPassage],
    key: Callable[[MemoryPassage], object],
    *,
    least: int = 0,
) -> tuple[list[MemoryPassage], list[MemoryPassage], list[tuple[MemoryPassage, MemoryPassage]]]:
    """Take out passages with the same key on both sides; return the others, and the pairs.

    A passage of fewer than `least` words stays.
    """
    waiting: dict[object, list[MemoryPassage]] = {}
    for each in reversed(new):
        if len(each.words) >= least:
            waiting.setdefault(key(each), []).append(each)
    left, pairs = [], []
    for each in old:
        candidates = waiting.get(key(each))
        if candidates and len(each.words) >= least:
            pairs.append((each, candidates.pop()))
        else:
            left.append(each)
    paired = {id(there) for _, there in pairs}
    return left, [each for each in new if id(each) not in paired], pairs


def _grouped(pairs: Iterable[tuple[MemoryPassage, MemoryPassage]]) -> list[MemoryChange]:
    """Report a run of passages that went from one section to another as one change."""
    groups: dict[object, list[tuple[MemoryPassage, MemoryPassage]]] = {}
    for old, new in pairs:
        groups.setdefault((old.name, old.headings, new.name, new.headings), []).append((old, new))
    return [MemoryChange(MOVED, *each[0], len(each) - 1) for each in groups.values()]


def _paired(
    old: Sequence[MemoryPassage],
    new: Sequence[MemoryPassage],
    named: Mapping[Name, Name],
    *,
    same_section: bool,
) -> tuple[list[MemoryPassage], list[MemoryPassage], list[MemoryChange]]:
    """Pair the remaining passages of a section, then of a document, if their words are alike."""
    there: dict[object, list[MemoryPassage]] = {}
    for each in new:
        there.setdefault((each.name, each.headings if same_section else ()), []).append(each)
    likeness = []
    for at, each in enumerate(old):
        place = (named.get(each.name, each.name), each.headings if same_section else ())
        for number, other in enumerate(there.get(place, ())):
            if (share := _likeness(each, other)) >= ALIKE:
                likeness.append((-share, at, number, other))
    taken_old: set[int] = set()
    taken_new: set[int] = set()
    pairs = []
    for _, at, _, other in sorted(likeness, key=lambda each: each[:3]):
        if at not in taken_old and id(other) not in taken_new:
            pairs.append(MemoryChange(CHANGED, old[at], other))
            taken_old.add(at)
            taken_new.add(id(other))
    left = [each for at, each in enumerate(old) if at not in taken_old]
    return left, [each for each in new if id(each) not in taken_new], pairs


def _likeness(one: MemoryPassage, other: MemoryPassage) -> float:
    """Return the share of words that both have; lines of front matter are alike by their key."""
    if one.is_metadata and other.is_metadata:
        return float(one.text.partition(":")[0] == other.text.partition(":")[0])
    either = one.words | other.words
    return len(one.words & other.words) / len(either) if either else 0.0
