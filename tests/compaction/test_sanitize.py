"""What stands in a summary for a table: as many of its names as there is room for."""

from __future__ import annotations

from memcli.compaction.sanitize import placeholder
from memcli.markdown.parse import parse

ROOM = 120


def fenced(*body: str) -> str | None:
    lines = ["```sh", *body, "```"]
    (fence,) = parse("\n".join(lines) + "\n").blocks
    return placeholder(fence, lines)


def told(*columns: str) -> str | None:
    text = f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n"
    (table,) = parse(text).blocks
    return placeholder(table, text.split("\n"))


def test_a_name_that_fills_the_room_is_told_and_a_longer_one_is_not() -> None:
    assert told("x" * ROOM, "b") == f"[table, 0 rows: columns {'x' * ROOM}]"
    assert told("x" * (ROOM + 1)) == "[table, 0 rows: columns …]"


def test_behind_the_first_name_without_room_none_is_told() -> None:
    assert told("a", "x" * ROOM, "b") == "[table, 0 rows: columns a]"


def test_two_short_lines_of_code_are_quoted_and_more_are_counted() -> None:
    assert fenced("make all", "make test") == "`make all`; `make test`"
    assert fenced("make all", "make test", "make it") == "[sh code, 3 lines: make all]"
    long = "make " * 40
    assert fenced(long) == f"[sh code, 1 line: {long[:ROOM]}]"
    assert fenced(long, long) == f"[sh code, 2 lines: {long[:ROOM]}]"
