"""Fold stored help and lay out pages for the width of the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import wrap

MOST_COLUMNS = 79
TIED = "\x1f"  # a space at which lines do not break
_ENTRY = re.compile(r"( *\S.*?  +)(\S.*)")  # of a list: a name, and a text
_EXAMPLE = "    "  # before an example


def folded(text: str, width: int) -> str:
    """Fold the lines of a help to `width`, except examples."""
    lines = (each for line in text.split("\n") for each in _lines(line, width))
    return "\n".join(lines).replace(TIED, " ")


def _lines(line: str, width: int) -> Iterator[str]:
    if len(line) <= width or line.startswith(_EXAMPLE):
        yield line
        return
    indent, entry = len(line) - len(line.lstrip()), _ENTRY.fullmatch(line)
    head, text, hang = " " * indent, line.strip(), indent
    if entry:
        head, text, hang = entry[1], entry[2], len(entry[1])
        longest = max(len(word) for word in text.split(" "))
        if hang > width // 2 or hang + longest > width:
            yield head.rstrip()
            hang = min(indent + 4, width // 2)
            head = " " * hang
    for part in wrap(text, width - hang, break_long_words=False, break_on_hyphens=False):
        yield head + part
        head = " " * hang


_FENCE = re.compile(r"`{3,}")
_ITEM = re.compile(r"(?:[-*]|\d+\.) ")
_PAGE = re.compile(r"\[[^\]]+\]\((?:[^)\s]*/)?([^)\s/]*?)\.md[^)\s]*\)")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]*)\)")
_CELL = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\|[-:| ]+\|")
_EDGE = "  "  # before code and tables, and between columns
_BREAK = re.compile(r"(?<=[ /])")  # where a cell may be broken


def laid_out(text: str, width: int) -> str:
    """Lay out a page; lines of code are never folded."""
    lines: list[str] = []
    for block in _page_blocks(text):
        if block != [""] or lines[-1:] != [""]:
            lines += _drawn(block, width)
    return "\n".join(lines).replace(TIED, " ").rstrip("\n") + "\n"


def _page_blocks(text: str) -> Iterator[list[str]]:
    """Cut a page into blocks: code, a table, a heading, a paragraph, an item of a list."""
    block: list[str] = []
    fence = ""
    for line in text.split("\n"):
        if fence:
            block.append(line)
            fence = "" if line == fence else fence
            continue
        if line.startswith("<!--"):  # marks of generated tables
            continue
        if block and not _goes_on(block, line):
            yield block
            block = []
        block.append(line)
        if match := _FENCE.match(line):
            fence = match[0]
    yield block


def _goes_on(block: Sequence[str], line: str) -> bool:
    first = block[0]
    if first.startswith("|") or line.startswith("|"):
        return first.startswith("|") and line.startswith("|")
    starts = _ITEM.match(line) or _FENCE.match(line) or line.startswith("#")
    return bool(first and line) and not (starts or _FENCE.match(first) or first.startswith("#"))


def _drawn(block: Sequence[str], width: int) -> list[str]:
    first = block[0]
    if _FENCE.match(first):
        return [f"{_EDGE}{line}".rstrip() for line in block[1:-1]]
    if first.startswith("|"):
        return _table([_cells(line) for line in block if not _RULE.fullmatch(line)], width)
    if first.startswith("#") or not first:
        return [_plain(first)]
    item = _ITEM.match(first)
    return _fold(" ".join(line.strip() for line in block), width, len(item[0]) if item else 0)


def _plain(text: str) -> str:
    """Write links as commands: `[ranking](ranking.md)` as `memcli help ranking`."""
    text = _PAGE.sub(rf"`memcli{TIED}help{TIED}\1`", text)
    return _LINK.sub(r"\1", text)


def _fold(text: str, width: int, hang: int = 0) -> list[str]:
    return wrap(
        _plain(text), width, subsequent_indent=" " * hang, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def _cells(line: str) -> list[str]:
    cells = [cell.strip().replace(r"\|", "|") for cell in _CELL.split(line)[1:-1]]
    return [_plain(re.sub(r"`([^`]+)`", r"\1", cell)) for cell in cells]


def _table(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Draw a table; one that is too wide becomes several with the same first column."""
    columns = list(zip(*rows, strict=True))
    count = len(columns)
    while count > 2 and sum(len(_EDGE) + _longest(each) for each in columns[:count]) > width:
        count -= 1
    lines, more = _grid(columns[:count], width), columns[count:]
    return [*lines, "", *_table([*zip(columns[0], *more, strict=True)], width)] if more else lines


def _grid(columns: Sequence[Sequence[str]], width: int) -> list[str]:
    head, *body = zip(*columns, strict=True)
    widths = _widths(columns, width)
    shown = [head, ["-" * wide for wide in widths], *body] if any(head) else body
    lines = []
    for row in shown:
        folded = [_narrow(cell, wide) for cell, wide in zip(row, widths, strict=True)]
        for at in range(max(map(len, folded))):
            parts = (
                (cell[at] if at < len(cell) else "").ljust(wide)
                for cell, wide in zip(folded, widths, strict=True)
            )
            lines.append(f"{_EDGE}{_EDGE.join(parts)}".rstrip())
    return lines


def _narrow(cell: str, wide: int) -> list[str]:
    """Fold a cell, also at the slashes of a path."""
    lines = [""]
    for piece in _BREAK.split(cell):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > wide:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def _longest(column: Sequence[str]) -> int:
    return max(len(piece.rstrip()) for cell in column for piece in _BREAK.split(cell))


def _widths(columns: Sequence[Sequence[str]], width: int) -> list[int]:
    """Narrow the widest columns until the table fits, if it can."""
    widths = [max(map(len, column)) for column in columns]
    least = [_longest(column) for column in columns]
    for _ in range(sum(len(_EDGE) + wide for wide in widths) - width):
        wide = [at for at, size in enumerate(widths) if size > least[at]]
        if not wide:
            break
        widths[max(wide, key=lambda at: widths[at])] -= 1
    return widths
