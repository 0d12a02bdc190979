"""Keep the longest ranked prefix of passages whose tokens fit a budget; pure."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.markdown.tokens import estimate
from memcli.search.hits import Hit


def pack(hits: Sequence[Hit], *, budget: int | None) -> tuple[list[Hit], int]:
    """Give the hits that fit and how many were dropped; None is no budget."""
    if budget is None:
        return list(hits), 0
    spent, kept = 0, 0
    for hit in hits:
        spent += estimate(hit.text)
        if spent > budget:
            break
        kept += 1
    return list(hits[:kept]), len(hits) - kept
