"""One entry of memcli in one file of any kind: find it, add it, remove it.

Entries that somebody added by hand are found too. This module changes texts; it knows no paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from memcli.agents import UnfitError, blocks, json_edit
from memcli.agents.json_edit import AddedSpace, Slot
from memcli.record import Record

NAME = "memcli"  # of the server and the skill; agents prefix the names of tools with it

JSON, JSON5, TOML, MARKDOWN, WHOLE = "json", "json5", "toml", "markdown", "file"
_SERVER = re.compile(r"memcli\b.*\bmcp\b", re.DOTALL)
_HOOK = re.compile(
    r"memcli\b.*\bhook\b.{1,6}\b(?:session-start|prompt|pre-compact|stop)\b", re.DOTALL
)
_SKILL = f"\nname: {NAME}\n"
_ASKED = re.compile(r"\bmemcli (?:search|context)\b|\bmemory_search\b")
_EMPTY = {JSON: "{}\n", JSON5: "{}\n"}  # the text for an entry if the file is missing or empty


class AgentEntry(Record):
    """An entry for a file."""

    format: str
    slot: Slot  # of JSON
    text: str  # a JSON value, the lines of a block, or the whole file


def entry_state(text: str | None, entry: AgentEntry) -> str:
    """Look for an entry: "same", "other" or "absent"; None means no file."""
    if text is None or (entry.format != WHOLE and not text.strip("\ufeff \t\r\n")):
        return "absent"
    if entry.format in _EMPTY:
        return json_edit.entry_state(text, entry.slot, entry.text, is_json5=entry.format == JSON5)
    if entry.format == WHOLE:
        return "same" if text == entry.text else "other"
    comment = blocks.TOML if entry.format == TOML else blocks.MARKDOWN
    block = blocks.find(text, comment)
    if entry.format == TOML and block is None:
        table = blocks.toml_of(text)
        for key in entry.slot.path:
            if not isinstance(table, dict) or key not in table:
                return "absent"
            table = table[key]
        return "other"
    if block is None:
        return "absent"
    return "same" if block.text == entry.text else "other"


def put(text: str | None, entry: AgentEntry) -> tuple[str, AddedSpace]:
    """Add an entry to a text; UnfitError if it does not fit."""
    if entry.format in _EMPTY:
        is_blank = text is None or not text.strip("\ufeff \t\r\n")
        base = _EMPTY[entry.format] if is_blank else text or ""
        return json_edit.put(base, entry.slot, entry.text, is_json5=entry.format == JSON5)
    if entry.format == WHOLE:
        if text is not None:
            raise UnfitError("is there already")
        return entry.text, AddedSpace()
    if entry.format == TOML:
        made, lead = blocks.put_table(text or "", entry.text)
    else:
        made, lead = blocks.put(text or "", entry.text, blocks.MARKDOWN)
    return made, AddedSpace(lead)


def file_of(entries: Iterable[AgentEntry]) -> str:
    """Return a file that contains only these entries."""
    text = None
    for entry in entries:
        text, _ = put(text, entry)
    return text or ""


def take(text: str, entry: AgentEntry, space: AddedSpace) -> str | None:
    """Remove an entry; None if it was the whole file, UnfitError if it was edited.

    A file with nothing else becomes "" or, for JSON, an empty object.
    """
    if entry.format in _EMPTY:
        return json_edit.take(text, entry.slot, entry.text, space, is_json5=entry.format == JSON5)
    if entry.format == TOML:
        return blocks.take_table(text, entry.text, space.lead)
    if entry.format == MARKDOWN:
        return blocks.take(text, entry.text, space.lead, blocks.MARKDOWN)
    if text != entry.text:
        raise UnfitError("has been edited")
    return None


def is_bare(text: str | None, entry: AgentEntry) -> bool:
    """Return whether the text is only what `put` begins a new file with."""
    return text is None or "".join(text.split()) == _EMPTY.get(entry.format, "").strip()


def is_edited(text: str | None, entry: AgentEntry) -> bool:
    """Return whether an entry was replaced by another; an item of a list is known by its words.

    UnfitError as for the entry.
    """
    stands = entry_state(text, entry)
    return stands == "other" or (
        stands == "absent" and entry.slot.is_item and bool(by_hand(text, entry))
    )


def by_hand(text: str | None, entry: AgentEntry) -> str:
    """Name an existing entry with the same effect, "" if none; UnfitError as for the entry."""
    if not text:
        return ""
    if entry.format in (JSON, JSON5):
        path, is_json5 = entry.slot.path, entry.format == JSON5
        if entry.slot.is_item:
            items = json_edit.entries_at(text, path, is_json5=is_json5)
            return ".".join(path) if any(_HOOK.search(each) for _, each in items) else ""
        listed = json_edit.entries_at(text, path[:-1], is_json5=is_json5)
        return _named(path, ((key, each) for key, each in listed if _SERVER.search(each)))
    if entry.format == TOML:
        table = blocks.toml_of(text).get(entry.slot.path[0])
        rows = table.items() if isinstance(table, dict) else ()
        found_rows = ((key, repr(row)) for key, row in rows if _SERVER.search(repr(row)))
        return _named(entry.slot.path, found_rows)
    if entry.format == MARKDOWN:
        if blocks.find(text, blocks.MARKDOWN):  # of somebody who shares the project
            return "a block of memcli"
        found_words = _ASKED.search(text)
        return f'"{found_words[0]}"' if found_words else ""
    return "a skill of this name" if _SKILL in text else ""


def _named(path: tuple[str, ...], entries: Iterator[tuple[str, str]]) -> str:
    first = next(entries, None)
    return ".".join((*path[:-1], first[0])) if first else ""
