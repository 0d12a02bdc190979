"""The course of hits through stages, which somebody may watch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.search.hits import Hit

if TYPE_CHECKING:
    from memcli.search.options import SearchOptions

Observer = Callable[[str, Sequence[Hit]], None]  # a stage, what it left
Step = tuple[str, Callable[[Sequence[Hit]], Sequence[Hit]]]  # a stage, what it makes of hits


def unobserved(stage: str, hits: Sequence[Hit]) -> None:
    """Take no notice: the observer of a search that nobody follows."""


def through(
    steps: Iterable[Step], hits: Sequence[Hit], options: SearchOptions, observe: Observer
) -> Sequence[Hit]:
    """Take hits through those steps whose stages take part."""
    for stage, step in steps:
        if options.has(stage):
            hits = step(hits)
            observe(stage, hits)
    return hits
