"""Ask several stores in as few round trips as the slowest of them needs.

Stores that wait for the same server share a connection. The statements of all stores are collected
and sent together. Then each store that had to wait is asked again, and finds its answer. So a
question must be the same each time, and must not change anything that it depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Protocol, TypeVar

    Given = TypeVar("Given")
    Made = TypeVar("Made")

    class AskMany(Protocol):
        """Asks several, and returns the answers in order."""

        def __call__(self, ask: Callable[[Given], Made], items: Sequence[Given]) -> list[Made]:
            """Ask each of those in `items`."""


class StatementPendingError(Exception):
    """The question was noted; ask again after it was sent."""


def one_by_one(ask: Callable[[Given], Made], items: Sequence[Given]) -> list[Made]:
    """Ask one after the other."""
    return [ask(each) for each in items]


def ask_in_batches(
    ask: Callable[[Given], Made], items: Sequence[Given], send: Callable[[], None]
) -> list[Made]:
    """Ask until all have answered; `send` gets the answers to the noted questions."""
    made: dict[int, Made] = {}
    while True:
        for place, each in enumerate(items):
            if place not in made:
                try:
                    made[place] = ask(each)
                except StatementPendingError:
                    continue
        if len(made) == len(items):
            return [made[place] for place in range(len(items))]
        send()
