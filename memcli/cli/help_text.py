"""Help as it is printed: folded to the width of the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import wrap

from memcli.record import Record

MOST_COLUMNS = 79
TIED = "\x1f"  # a space at which lines do not break
_ENTRY = re.compile(r"( *(?:[-*]|\d+\.) | *\S.*?  +)(\S.*)")
_STANDS_ALONE = re.compile(r"#|Usage:|[A-Z][a-z]+:$")
_CODE_INDENT = 4  # as Markdown has it
_GAP = "   "  # between the columns of a table


def folded(text: str, width: int) -> str:
    """Fold prose and lists to `width`; indented code and tables stay unchanged."""
    if all(len(line) <= width for line in text.split("\n")):
        return text.replace(TIED, " ")
    lines = [line for block in _blocks(text) for line in _lines(block, width)]
    return "\n".join(lines).replace(TIED, " ")


class _Block(Record):
    """A paragraph or an entry of a list, in one line."""

    text: str
    hang: int  # indent of continuation lines; -1 if there may be none
    is_code: bool = False


def _blocks(text: str) -> Iterator[_Block]:
    block = _Block("", -1)
    for number, line in enumerate(text.split("\n")):
        indent = len(line) - len(line.lstrip())
        entry = _ENTRY.fullmatch(line)
        if line and indent == block.hang and not (entry or _STANDS_ALONE.match(line)):
            block = block._replace(text=f"{block.text} {line.strip()}")
            continue
        if number:
            yield block
        has_lead = not block.text or _STANDS_ALONE.match(block.text.strip())
        is_code = indent >= _CODE_INDENT and (block.is_code or bool(has_lead))
        if not line or is_code or _STANDS_ALONE.match(line):
            block = _Block(line, -1, is_code or (block.is_code and not line))
        else:
            block = _Block(line, len(entry[1]) if entry else indent)
    yield block


def _lines(block: _Block, width: int) -> Iterator[str]:
    indent = len(block.text) - len(block.text.lstrip())
    entry = _ENTRY.fullmatch(block.text)
    is_table = entry is not None and _GAP in entry[2]
    if block.is_code or is_table or len(block.text) <= width:
        yield block.text
        return
    head, text, hang = " " * indent, block.text.strip(), indent
    if entry:
        head, text, hang = entry[1], entry[2], len(entry[1])
        longest = max(len(word) for word in text.split(" "))
        if hang > width // 2 or hang + longest > width:
            yield head.rstrip()
            hang = min(indent + 4, width // 2)
            head = " " * hang
    for line in wrap(text, width - hang, break_long_words=False, break_on_hyphens=False):
        yield head + line
        head = " " * hang
