"""What stands in a summary for code."""

from __future__ import annotations

from memcli.compaction.sanitize import placeholder
from memcli.markdown.parse import parse

ROOM = 120


def fenced(*body: str) -> str | None:
    lines = ["```sh", *body, "```"]
    (fence,) = parse("\n".join(lines) + "\n").blocks
    return placeholder(fence, lines)


def test_two_short_lines_of_code_are_quoted_and_more_are_counted() -> None:
    assert fenced("make all", "make test") == "`make all`; `make test`"
    assert fenced("make all", "make test", "make it") == "[sh code, 3 lines: make all]"
    long = "make " * 40
    assert fenced(long) == f"[sh code, 1 line: {long[:ROOM]}]"
    assert fenced(long, long) == f"[sh code, 2 lines: {long[:ROOM]}]"
