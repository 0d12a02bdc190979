"""Make of rows what a text that waits for a vector is embedded from; pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache

from memcli.markdown.parts import description_of
from memcli.store.run_records import Pending
from memcli.types import named_days

# Of the importance that front matter may tell, 0 to 1: above it a document goes before newer ones.
IMPORTANT = 0.5

# Hash, prefix, text, title, headings, first and last day, and front matter that may describe it.
Row = tuple[bytes, str, str, str, Sequence[str], str | None, str | None, str]


def waiting(rows: Iterable[Row]) -> list[Pending]:
    """Give each text once, in the order of the rows."""
    described = cache(_description)
    texts = {
        hash_: Pending(
            hash_,
            prefix,
            text,
            title,
            tuple(headings),
            named_days((first_day, date)) if first_day and date else None,
            described(front_matter),
        )
        for hash_, prefix, text, title, headings, first_day, date, front_matter in rows
    }
    return list(texts.values())


def _description(front_matter: str) -> str:
    return description_of(json.loads(front_matter))
