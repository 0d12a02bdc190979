"""One line per document: its date, kind and name, then its title and tags."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.record import Record
from memcli.render.width import columns, shortened, wrap

if TYPE_CHECKING:
    from memcli.render.text import Style

INDENT = "    "
LEAST_TITLE = 12  # columns; a shorter title is not shown


class DocumentRow(Record):
    """The properties of a document in a list."""

    days: str | None  # a day, a week or a month
    kind: str
    name: str  # the name that `memcli get` accepts
    title: str
    tags: tuple[str, ...]


def line(
    row: DocumentRow, kinds: int, width: int | None, *, style: Style, safe: Callable[[str], str]
) -> str:
    """Write one document; the date is `-` if it has none.

    The kind is padded to `kinds` characters. The title is shown if it differs from the file's name,
    cut to `width` columns. If there is no room for name and tags, they follow on a new line.
    """
    name = safe(row.name)
    head = f"{row.days or '-':10}  {safe(row.kind):{kinds}}  "
    tags = [f"#{safe(tag)}" for tag in row.tags]
    tagged = "".join(f"  {tag}" for tag in tags)
    title = safe(row.title)
    if row.title == os.path.splitext(os.path.basename(row.name))[0]:
        title = ""
    elif width is not None:
        room = width - columns(head + name + tagged) - 2
        title = shortened(title, room) if room >= LEAST_TITLE else ""
    if width is not None and columns(head + name + tagged) > width:
        below = "".join(f"{style.dim}{INDENT}{each}{style.end}\n" for each in _lines(tags, width))
        return f"{_above(head, name, width, style)}\n{below}"
    heading = f"  {style.heading}{title}{style.end}" if title else ""
    tagged = f"{style.dim}{tagged}{style.end}" if tagged else ""
    return f"{head}{style.path}{name}{style.end}{heading}{tagged}\n"


def _above(head: str, name: str, width: int, style: Style) -> str:
    """Put the name on lines of its own if it does not fit next to its head."""
    if columns(head + name) <= width:
        return f"{head}{style.path}{name}{style.end}"
    pieces = [name[start:end] for start, end in wrap(name, width - len(INDENT))]
    return "\n".join([head.rstrip(), *(f"{INDENT}{style.path}{p}{style.end}" for p in pieces)])


def _lines(tags: Sequence[str], width: int) -> list[str]:
    text = "  ".join(tags)
    return [text[start:end] for start, end in wrap(text, width - len(INDENT)) if tags]
