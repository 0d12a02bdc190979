"""Group what is to be summarised, oldest first; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def cluster(items: Sequence[T], size: int) -> tuple[list[list[T]], list[T]]:
    """Give (clusters, waiting) of items sorted by time.

    c = ceil(n / k) and item i goes to cluster floor(i * c / n): contiguous and even. The n items
    are those that fill whole clusters; the rest waits for more, so running twice is running once.
    """
    n = len(items) - len(items) % size
    count = -(-n // size)
    groups: list[list[T]] = [[] for _ in range(count)]
    for at, item in enumerate(items[:n]):
        groups[at * count // n].append(item)
    return groups, list(items[n:])
