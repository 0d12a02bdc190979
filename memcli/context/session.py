"""Choose the beginning of an agent's session: open tasks, and what has changed; pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from memcli.context.assemble import tokens
from memcli.context.parts import CHANGED, TASKS, ContextPart, make_part
from memcli.types import Excerpt

NEWEST_FILES = 200  # files to search for open tasks and changes
MOST_TASKS = 10
MOST_TASK_TOKENS = 60
_TASK = re.compile(r"(?m)^[ \t]*(?:[-*+]|\d+[.)])[ \t]+\[ \][ \t]+\S[^\n]*")


def tasks_of(chunks: Iterable[Excerpt]) -> list[ContextPart]:
    """Return the first open tasks of some chunks."""
    tasks = (make_part(TASKS, each, window=at.span()) for each in chunks for at in _tasks(each))
    return [*islice(tasks, MOST_TASKS)]


def changed_parts(
    chunks: Sequence[Excerpt], changed: Collection[tuple[str, str]]
) -> Iterator[ContextPart]:
    """Yield the chunks of the changed documents, the newest document first.

    `chunks` are in this order too. A log grows at its end, so its last chunk comes first.
    """
    documents: dict[tuple[str, str], list[Excerpt]] = {}
    for each in chunks:
        if each.about.document in changed:
            documents.setdefault(each.about.document, []).append(each)
    for own in documents.values():
        for each in reversed(own):
            part = make_part(CHANGED, each)
            if part.text:
                yield part


def _tasks(chunk: Excerpt) -> Iterator[re.Match[str]]:
    for match in _TASK.finditer(chunk.text) if "[ ]" in chunk.text else ():
        if len(match[0]) <= 4 * MOST_TASK_TOKENS:
            yield match


def packed_in_order(
    fixed: Sequence[ContextPart], parts: Iterable[ContextPart], *, budget: int
) -> tuple[ContextPart, ...]:
    """Add parts in their order while they fit the budget; one that does not fit is left out."""
    packed, misses = [*fixed], 0
    for part in parts:
        if tokens([*packed, part]) <= budget:
            packed.append(part)
        else:
            misses += 1
            if misses > 5:  # the rest is as large
                break
    return tuple(packed)
