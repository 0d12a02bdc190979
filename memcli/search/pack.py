"""Keep what fits a budget, in the order of its rank; pure."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.markdown.tokens import estimate
from memcli.search.hits import Hit


def pack(hits: Sequence[Hit], *, budget: int | None) -> tuple[list[Hit], int]:
    """Give the longest prefix that fits and how many were dropped; None is no budget."""
    if budget is None:
        return list(hits), 0
    left, kept = budget, []
    for hit in hits:
        left -= estimate(hit.text)
        if left < 0:
            break
        kept.append(hit)
    return kept, len(hits) - len(kept)
