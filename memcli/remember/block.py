"""Write a note as Markdown, and fit it to the end of a file; pure.

memcli only writes after the last byte. If the file needs it, a heading, a line end or a blank line
comes first. The result is parsed as the index will parse it: every block must be as it was before,
and the note must be a block of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memcli.errors import UsageError
from memcli.markdown.parse import Block, parse
from memcli.record import Record
from memcli.workspace.reading import UTF16, decode

TYPES = ("user", "feedback", "project", "reference")
# A line that begins a block of its own and is not running text.
_STRUCTURE = re.compile(r"\s*(?:#{1,6}\s|[-*+]\s|\d{1,9}[.)]\s|>|\||```|~~~|<|---|\s{4})")
_ITEM = re.compile(r"\A[-*+]\s+")
_BOX = re.compile(r"\[[ xX]\]\s")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_SENTINEL = "behind"


class Note(Record):
    """The note to save."""

    text: str
    heading: str = ""  # of the section it belongs to, without its marks
    type: str = ""  # one of TYPES
    time: str = ""  # when it was said, such as 14:03
    metadata: str = ""  # front matter of a new file, line by line


class PlacedNote(Record):
    """The text to write at the end of a file, and the lines that the note will have."""

    data: bytes
    first_line: int  # from 1
    last_line: int  # included
    text: str  # the note as the file will show it


def cleaned(text: str) -> str:
    """Return a note with one kind of line end and no blank edges; UsageError if it is not text."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if match := _CONTROL.search(text):
        raise UsageError(
            f"the note contains the character U+{ord(match[0]):04X}, which is not text",
            hint="remove that character",
        )
    lines = [line.rstrip() for line in text.split("\n")]
    return "\n".join(lines).strip("\n")


def worded(note: Note) -> str:
    """Write a note: running text becomes an item of a list, a block stays as it is.

    Example: `(14:03, feedback) -> - 14:03 (feedback) Answers in German, please.`
    """
    text = _without_sections(note.text)
    lines = text.split("\n")
    if len(lines) == 1:
        lines = [_ITEM.sub("", lines[0].strip(), count=1)]
        if _BOX.match(lines[0]):  # a task; with a time before its box it would be none
            return f"- {lines[0]}"
    if any(not line.strip() or _STRUCTURE.match(line) for line in lines):
        return text
    head = " ".join(filter(None, (note.time, f"({note.type})" if note.type else "")))
    first, *rest = (line.strip() for line in lines)
    return "\n".join([f"- {head} {first}" if head else f"- {first}", *(f"  {r}" for r in rest)])


def _without_sections(text: str) -> str:
    """Write headings in bold: below a heading in a note, later notes would be part of it."""
    lines: list[str] = text.split("\n")
    for block in parse(text).blocks:
        if block.kind == "heading":
            title = lines[block.start].strip().strip("#").strip()
            lines[block.start : block.end] = [
                f"**{title}**" if title else "", *[""] * (block.end - block.start - 1)
            ]  # fmt: skip
    return "\n".join(lines).strip("\n")


def place(data: bytes | None, note: Note, *, name: str, title: str) -> PlacedNote:
    """Fit a note to the end of a file, of which `data` are the bytes; None if it does not exist.

    `name` is for errors and `title` the heading of a new file. UsageError if the note would not be
    a block of its own there, or if the file is not text.
    """
    body = worded(note)
    if not data:
        data, before, encoding, eol = b"", "", "utf-8", "\n"
        matter = f"---\n{note.metadata}---\n\n" if note.metadata else ""
        lead = f"{matter}# {title}\n\n"
    else:
        before, encoding = _decoded(data, name)
        eol = "\r\n" if before.count("\r\n") * 2 > before.count("\n") else "\n"
        lead = "" if before.endswith("\n") else eol
    old = parse(before).blocks
    section = _section(old, note.heading)
    continues = bool(old) and old[-1].kind == "item" and body.startswith("- ") and not section
    for gap in ("", eol) if continues or not before.strip() else (eol,):
        added = f"{lead}{gap}{section}{body}\n"
        added = added.replace("\r\n", "\n").replace("\n", eol)
        if _stands(old, before, added, body):
            last = (before + added).count("\n")
            return PlacedNote(added.encode(encoding), last - body.count("\n"), last, body)
    raise _swallowed(old, name, body)


def _decoded(data: bytes, name: str) -> tuple[str, str]:
    """Decode a whole file; UsageError if bytes would be lost."""
    text = decode(data)
    if isinstance(text, str) or text[1]:
        why = "it contains bytes that are neither UTF-8 nor UTF-16"
        why = text if isinstance(text, str) else why
        raise UsageError(f"{name} is not text that memcli can add to: {why}", hint="--to MEMORY.md")
    return text[0], UTF16.get(data[:2], "utf-8")


def _section(old: Sequence[Block], heading: str) -> str:
    """Return the heading that a note needs before it; "" if the file ends in that section."""
    titles = [block.title for block in old if block.kind == "heading"]
    if not heading or (titles and titles[-1].casefold() == heading.casefold()):
        return ""
    return f"## {heading}\n\n"


def _stands(old: Sequence[Block], before: str, added: str, body: str) -> bool:
    """Return whether old blocks parse as before, and the note as closed blocks of its own."""
    new = parse(f"{before}{added}\n{_SENTINEL}\n").blocks
    whole = before + added
    first = whole.count("\n") - body.count("\n") - 1
    if new[: len(old)] != tuple(old) or len(new) < len(old) + 2:
        return False
    of_note = [block for block in new[len(old) : -1] if block.end > first]
    last = new[-1]
    is_behind = last.kind == "paragraph" and last.start == whole.count("\n") + 1
    return bool(of_note) and of_note[0].start == first and is_behind


def _swallowed(old: Sequence[Block], name: str, body: str) -> UsageError:
    """Name the open block that would contain the note: in the note or at the end of the file."""
    if not _stands((), "", f"{body}\n", body):
        return UsageError(
            "the note opens a block that it does not close",
            hint="close the code fence or the comment in the note",
        )
    line = old[-1].start + 1 if old else 1
    return UsageError(
        f"{name}:{line} opens a block that is never closed; the note would become part of it",
        hint="close the code fence or the comment there, or: --to MEMORY.md",
    )
