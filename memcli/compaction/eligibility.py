"""Split records into what may be compacted and the recent tail that stays as it is; pure."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.compaction.records import LogRecord


def split_tail(
    records: Sequence[LogRecord], *, least: int, tokens: int
) -> tuple[list[LogRecord], list[LogRecord]]:
    """Give (eligible, tail) of records sorted by time.

    The tail is the shortest suffix of at least `least` records, extended back while it fits
    `tokens`; `least` wins over `tokens`. Records are whole bundles, so none is cut.
    """
    start = max(0, len(records) - least)
    spent = sum(record.tokens for record in records[start:])
    while start > 0 and spent + records[start - 1].tokens <= tokens:
        start -= 1
        spent += records[start].tokens
    return list(records[:start]), list(records[start:])
