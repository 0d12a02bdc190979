"""Append a block between marks to a text of lines, and remove it again.

In TOML the block is a table of its own, which may end any file. The file is parsed before and
after, and an edit that changes anything else is refused.
"""

from __future__ import annotations

import re

from memcli.agents import UnfitError
from memcli.checking import Any
from memcli.record import Record

MARKED = ("memcli: begin", "memcli: end")


MARKDOWN, TOML = "<!-- {} -->", "# {}"  # comments


class MarkedBlock(Record):
    """A block in a text, including its marks."""

    start: int
    end: int
    text: str  # between the marks, with line ends of one sign


def find(text: str, comment: str) -> MarkedBlock | None:
    """Find the block; UnfitError if marks are missing or more than two."""
    begin, end = (_places(text, comment.format(mark)) for mark in MARKED)
    if not begin and not end:
        return None
    if len(begin) != 1 or len(end) != 1 or begin[0].end() > end[0].start():
        raise UnfitError("has marks of memcli that make no pair")
    inside = text[begin[0].end() : end[0].start()].replace("\r\n", "\n")
    return MarkedBlock(begin[0].start(), end[0].end(), inside)


def put(text: str, inside: str, comment: str) -> tuple[str, str]:
    """Append a block to a text; also return what was put before the block."""
    if find(text, comment):
        raise UnfitError("has a block of memcli already")
    begin, end = (f"{comment.format(mark)}\n" for mark in MARKED)
    made = begin + inside + end
    lead = "" if not text.removeprefix("\ufeff") else "\n" if text.endswith("\n") else "\n\n"
    if "\r\n" in text:
        made, lead = made.replace("\n", "\r\n"), lead.replace("\n", "\r\n")
    return text + lead + made, lead


def take(text: str, inside: str, lead: str, comment: str) -> str:
    """Remove a block; UnfitError if it is missing, or was changed."""
    block = find(text, comment)
    if block is None or block.text != inside:
        raise UnfitError("has another block between the marks of memcli")
    before, behind = text[: block.start], text[block.end :]
    bare = before.removesuffix(lead)
    # Text after the block keeps its own line.
    if not behind or not bare or bare.endswith("\n"):
        before = bare
    return before + behind


def put_table(text: str, inside: str) -> tuple[str, str]:
    """Append a block of TOML to a text; UnfitError unless it adds its tables and nothing else."""
    merged = _merged(toml_of(text), toml_of(inside))
    made, lead = put(text, inside, TOML)
    if toml_of(made) != merged:
        raise UnfitError("cannot be edited without changing other content")
    return made, lead


def take_table(text: str, inside: str, lead: str) -> str:
    """Take a block of TOML out; UnfitError if something else would go with it."""
    before = toml_of(text)
    made = take(text, inside, lead, TOML)
    if _merged(toml_of(made), toml_of(inside)) != before:
        raise UnfitError("has more in the table of memcli than memcli wrote")
    return made


def toml_of(text: str) -> dict[str, Any]:
    """Parse TOML; UnfitError says where it is invalid."""
    import tomllib

    try:
        return tomllib.loads(text, parse_float=str)  # "nan" equals itself
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UnfitError(f"is not TOML: {error}") from None


def _merged(there: dict[str, Any], added: dict[str, Any]) -> dict[str, Any]:
    """Merge tables into tables; UnfitError if a key exists already."""
    made = dict(there)
    for key, value in added.items():
        if key not in made:
            made[key] = value
        elif isinstance(made[key], dict) and isinstance(value, dict):
            made[key] = _merged(made[key], value)
        else:
            raise UnfitError(f"has an entry {key} already")
    return made


def _places(text: str, mark: str) -> list[re.Match[str]]:
    """Find the lines that are a mark, even after a byte order mark."""
    line = rf"(?:^|(?<=\A\ufeff)){re.escape(mark)}[ \t]*(?:\r?\n|\Z)"
    return list(re.finditer(line, text, re.MULTILINE))
