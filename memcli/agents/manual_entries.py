"""Find entries of memcli that somebody has added by hand, and quote them."""

from __future__ import annotations

import re

from memcli.agents import blocks, edits, json_edit
from memcli.agents.edits import JSON, JSON5, MARKDOWN, TOML, AgentEntry
from memcli.agents.table import NAME
from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SERVER = re.compile(r"memcli\b.*\bmcp\b", re.DOTALL)
_HOOK = re.compile(
    r"memcli\b.*\bhook\b.{1,6}\b(?:session-start|prompt|pre-compact|stop)\b", re.DOTALL
)
_SKILL = f"\nname: {NAME}\n"
_ASKED = re.compile(r"\bmemcli (?:search|context)\b|\bmemory_search\b")


def is_edited(text: str | None, entry: AgentEntry) -> bool:
    """Return whether an entry was replaced by another; an item of a list is known by its words.

    UnfitError as for the entry.
    """
    stands = edits.entry_state(text, entry)
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
        entries = json_edit.entries_at(text, path[:-1], is_json5=is_json5)
        return _named(path, ((key, each) for key, each in entries if _SERVER.search(each)))
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
