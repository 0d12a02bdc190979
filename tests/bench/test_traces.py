"""A receipt that is damaged anywhere is read as it was meant, or refused; nothing else escapes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import islice
from typing import Any

import pytest

from memcli.bench import replay
from memcli.bench.compare import compare, pooled, read_sets, sets_text, text
from memcli.bench.report import report
from memcli.bench.report import text as report_text
from memcli.bench.report_html import page
from memcli.bench.runs import read_run, reference, regressions
from memcli.bench.traces import (
    CheckTrace,
    QualityTrace,
    SetsTrace,
    SpeedTrace,
    Spread,
    decode,
    encode,
)
from memcli.bench.traces import read as read_trace
from memcli.errors import UsageError
from tests.bench.makers import passage, receipt, row, speed
from tests.bench.test_pooled import record as sets
from tests.bench.test_replay import receipt_of

CHECK = receipt("2026-01-01T03:00:00+00:00", [row("a", 1.0), row("b", 0.5, rank=2)])
SETS = sets([1.0, 0.0])
SPEED = speed(ratios={"help": 1.0}, spread={"ratios.help": Spread(2, 1.0, 1.0, 1.0, 1.0, 0)})
SEARCH = receipt_of(passage("1.md", 1, 2, chunk=1))
OTHERS: tuple[Any, ...] = (None, "x", -1, 10**400, [], {}, [[1]], {"a": "b"}, float("nan"), True)


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Name each member and item of a record by the way to it."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield (*way, key)
            yield from places(value[key], (*way, key))


def damaged(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the record without each of its members, and with something else there."""
    for number, way in enumerate(places(record)):
        for other in (..., OTHERS[number % len(OTHERS)], OTHERS[(7 * number + 3) % len(OTHERS)]):
            made = deepcopy(record)
            node: Any = made
            for key in way[:-1]:
                node = node[key]
            if other is ...:
                del node[way[-1]]
            else:
                node[way[-1]] = other
            yield made


def of_checks(told: str) -> None:
    read = read_run(told, "r")
    compare(CHECK, read)
    text(read, CHECK)
    found = report([CHECK, read])
    report_text(found)
    page(found, {})
    regressions(CHECK, read, 0.01)
    assert not isinstance(read, CheckTrace) or reference([CHECK, read])


def of_sets(told: str) -> None:
    read = read_sets(told, "r")
    assert sets_text(pooled({"set0": SETS.sets["set0"]}, read, "2026-02-01"))


def of_speed(told: str) -> None:
    read = read_trace(told, SpeedTrace)
    if read is None:
        raise UsageError("no trace", hint="")
    compare(SPEED, read)
    text(read, CHECK)


def of_searches(told: str) -> None:
    read = replay.read(told, "r")
    assert replay.lines(replay.compare(read, decode(replay.SearchTrace, SEARCH)))


@pytest.mark.parametrize(
    ("record", "use", "step"),  # to draw intervals takes long
    [
        (encode(CHECK), of_checks, 1), (encode(CHECK.quality), of_checks, 1),
        (encode(SETS), of_sets, 20), (encode(SPEED), of_speed, 1),
        (SEARCH, of_searches, 1),
    ],
    ids=["check", "quality", "sets", "speed", "search"],
)  # fmt: skip
def test_a_receipt_that_is_damaged_anywhere_is_refused_or_harmless(
    record: dict[str, Any], use: Callable[[str], None], step: int
) -> None:
    use(json.dumps(record))
    refused = 0
    for made in islice(damaged(record), 0, None, step):
        try:
            use(json.dumps(made))
        except UsageError:
            refused += 1
    assert refused > 10


@pytest.mark.parametrize("other", [None, [], {}, {"schema": []}, {"schema": "../x/1"}, 3])
def test_what_has_no_schema_of_ours_is_no_receipt(other: object) -> None:
    assert read_trace(json.dumps(other), CheckTrace, QualityTrace, SetsTrace, SpeedTrace) is None
