"""One line for one document: its date, kind and name, then its title and tags."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from memcli.record import Record
from memcli.render.width import columns, shortened

if TYPE_CHECKING:
    from memcli.render.text import Style

LEAST_TITLE = 12  # columns; less says nothing


class DocumentRow(Record):
    """What is told of a document."""

    date: str | None
    kind: str
    name: str  # as `memcli get` takes it
    title: str
    tags: tuple[str, ...]


def line(
    row: DocumentRow, kinds: int, width: int | None, *, style: Style, safe: Callable[[str], str]
) -> str:
    """Show one document; its date is `-` where it has none.

    The kind is filled up to `kinds` characters. A title that is not the file's name is shown,
    within `width` columns as far as there is room.
    """
    name = safe(row.name)
    head = f"{row.date or '-':10}  {safe(row.kind):{kinds}}  "
    tags = "".join(f"  #{safe(tag)}" for tag in row.tags)
    title = safe(row.title)
    if row.title == os.path.splitext(os.path.basename(row.name))[0]:
        title = ""
    elif width is not None:
        room = width - columns(head + name + tags) - 2
        title = shortened(title, room) if room >= LEAST_TITLE else ""
    heading = f"  {style.heading}{title}{style.end}" if title else ""
    tagged = f"{style.dim}{tags}{style.end}" if tags else ""
    return f"{head}{style.path}{name}{style.end}{heading}{tagged}\n"
