"""Add an entry to JSON and remove it again, without touching any other byte.

A new entry follows the last one, in the layout of the file: on a line of its own, indented like its
neighbours, or on the same line. Each edit is parsed again, and refused if the contents differ by
more than the entry.
"""

from __future__ import annotations

import json
import re

from memcli.agents import UnfitError
from memcli.agents.json_read import Content, Piece, content_of, read
from memcli.record import Record

USUAL_INDENT = "  "
WIDEST = 500  # of an indent; a wider one would be repeated on every line of an entry
# A comment on an entry, in the rest of its line.
_REMARK = re.compile(r"(?:[ \t]*/\*(?>[^*\r\n]+|\*(?!/))*\*/)*(?:[ \t]*//[^\r\n]*)?")
_SPACE = " \t\r\n"


class Slot(Record):
    """The place of an entry: the member at that path, or an item of the array there."""

    path: tuple[str, ...]
    is_item: bool = False


class AddedSpace(Record):
    """What was added with an entry, so that its removal leaves no trace."""

    lead: str = ""  # space before it
    tail: str = ""  # and after it, if it is the only entry
    depth: int = 0  # how many keys of its path were there


def entry_state(text: str, slot: Slot, value: str, *, is_json5: bool) -> str:
    """Look for a text of JSON at its place: "same", "other" or "absent".

    In an array it is "same" if an item equals it, and else "absent".
    """
    way = _way(read(text, is_json5=is_json5), slot.path)
    if len(way) <= len(slot.path):
        return "absent"
    content = content_of(value)
    if not slot.is_item:
        return "same" if way[-1].content == content else "other"
    return "same" if any(each.content == content for each in _items(way[-1], slot)) else "absent"


def entries_at(text: str, path: tuple[str, ...], *, is_json5: bool) -> list[tuple[str, str]]:
    """Return the keys and the entries of an object or an array, as they are written."""
    way = _way(read(text, is_json5=is_json5), path)
    if len(way) <= len(path):
        return []
    return [(each.key, text[each.opening : each.end]) for each in way[-1].children]


def put(text: str, slot: Slot, value: str, *, is_json5: bool) -> tuple[str, AddedSpace]:
    """Add a JSON value at its place; UnfitError if something else is in the way."""
    root = read(text, is_json5=is_json5)
    way = _way(root, slot.path)
    node, depth = way[-1], len(way) - 1
    missing = slot.path[depth:]
    entry = json.loads(value)
    if missing:
        entry = [entry] if slot.is_item else entry
        for each in reversed(missing[1:]):
            entry = {each: entry}
        key = missing[0]
    elif slot.is_item:
        key = ""
        _items(node, slot)
    else:
        raise UnfitError(f"has an entry {'.'.join(slot.path)} already")
    made, space = _appended(text, root, node, key, entry)
    is_there = entry_state(made, slot, value, is_json5=is_json5) == "same"
    left = read(made, is_json5=is_json5).content
    if not is_there or _without(left, slot, content_of(value), depth + 1) != root.content:
        raise UnfitError("cannot be edited without changing other content")
    return made, space._replace(depth=depth)


def take(text: str, slot: Slot, value: str, space: AddedSpace, *, is_json5: bool) -> str:
    """Remove what `put` added; UnfitError if it no longer exists."""
    root = read(text, is_json5=is_json5)
    way = _way(root, slot.path)
    if len(way) <= len(slot.path):
        raise UnfitError(f"has no entry {slot.path[len(way) - 1]} any longer")
    content = content_of(value)
    if slot.is_item:
        items = [each for each in _items(way[-1], slot) if each.content == content]
        if not items:
            raise UnfitError(f"has no such entry in {'.'.join(slot.path)}")
        way.append(items[-1])
    elif way[-1].content != content:
        raise UnfitError(f"has another entry {'.'.join(slot.path)}")
    at = len(way) - 1
    while at - 1 > space.depth and len(way[at - 1].children) == 1:
        at -= 1  # remove what was added around it, too
    made = _cut(text, way[at - 1], way[at], space)
    left = read(made, is_json5=is_json5).content
    if left != _without(root.content, slot, content, at):
        raise UnfitError("cannot be edited without changing other content")
    return made


def _way(root: Piece, path: tuple[str, ...]) -> list[Piece]:
    """List the pieces on a path, from the root as far as it goes."""
    way = [root]
    for key in path:
        if way[-1].kind != "object":
            where = ".".join(path[: len(way) - 1]) or "the whole of it"
            raise UnfitError(f"needs an object at {where}")
        child = way[-1].child(key)
        if child is None:
            break
        way.append(child)
    return way


def _items(node: Piece, slot: Slot) -> tuple[Piece, ...]:
    if node.kind != "array":
        raise UnfitError(f"needs a list at {'.'.join(slot.path)}")
    return node.children


def _appended(
    text: str, root: Piece, node: Piece, key: str, entry: object
) -> tuple[str, AddedSpace]:
    """Write an entry after the last one of an object or an array."""
    end = "\r\n" if "\r\n" in text else "\n"
    is_alone = node is not root and "\n" not in text.strip()
    is_flat = "\n" not in text[node.opening : node.end] and (bool(node.children) or is_alone)
    unit = _own_indent(text, root.children) or USUAL_INDENT
    outer = _line_indent(text, node.opening)
    inner = _own_indent(text, node.children)
    indent = outer + unit if inner is None else inner
    is_flat = is_flat or len(indent) + len(unit) > WIDEST
    name = f"{json.dumps(key, ensure_ascii=False)}: " if key else ""
    if is_flat:
        written = name + json.dumps(entry, ensure_ascii=False)
        lead = " " if node.children else ""
    else:
        written = name + _laid_out(entry, unit).replace("\n", end + indent)
        lead = end + indent
    if not node.children:
        inside = text[node.opening + 1 : node.end - 1]
        at = node.opening + 1 + len(inside.rstrip(_SPACE))
        has_end = is_flat or "\n" in text[at : node.end]
        space = AddedSpace(lead, "" if has_end else end + outer)
        return text[:at] + lead + written + space.tail + text[at:], space
    last = node.children[-1]
    behind = last.end if last.comma < 0 else last.comma + 1
    remark = None if is_flat else _REMARK.match(text, behind)
    at = remark.end() if remark else behind
    if last.comma >= 0:
        return text[:at] + lead + written + "," + text[at:], AddedSpace(lead)
    comma = text[: last.end] + "," + text[last.end : at]
    return comma + lead + written + text[at:], AddedSpace(lead)


def _laid_out(value: object, unit: str) -> str:
    """Write JSON with one line per entry, except lists of plain values."""
    if isinstance(value, dict) and value:
        lines = [
            f"{json.dumps(key, ensure_ascii=False)}: {_laid_out(each, unit)}"
            for key, each in value.items()
        ]
        left, right = "{", "}"
    elif isinstance(value, list) and any(isinstance(each, (dict, list)) for each in value):
        lines = [_laid_out(each, unit) for each in value]
        left, right = "[", "]"
    else:
        return json.dumps(value, ensure_ascii=False)
    inner = ",\n".join(lines).replace("\n", f"\n{unit}")
    return f"{left}\n{unit}{inner}\n{right}"


def _own_indent(text: str, pieces: tuple[Piece, ...]) -> str | None:
    """Return the space before the last piece that begins a line; None if no piece does."""
    for piece in reversed(pieces):
        before = text[text.rfind("\n", 0, piece.start) + 1 : piece.start]
        if not before.strip(" \t") and "\n" in text[: piece.start]:
            return before
    return None


def _line_indent(text: str, at: int) -> str:
    """Return the space that a line begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _cut(text: str, node: Piece, piece: Piece, space: AddedSpace) -> str:
    """Remove an entry, one comma, and the space that came with it."""
    spans = [(piece.start - len(_space_before(text, node, piece, space)), piece.end)]
    if piece.comma >= 0:
        spans.append((piece.comma, piece.comma + 1))
    elif piece is not node.children[0]:
        before = node.children[node.children.index(piece) - 1].comma
        spans.append((before, before + 1))
    behind = max(end for _, end in spans)
    if len(node.children) == 1 and space.tail and text.startswith(space.tail, behind):
        spans.append((behind, behind + len(space.tail)))
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    return text


def _space_before(text: str, node: Piece, piece: Piece, space: AddedSpace) -> str:
    """Return the space that belongs to an entry: what was added with it, else that of its line."""
    before = text[node.opening + 1 : piece.start]
    if piece is not node.children[-1]:
        after = node.children[node.children.index(piece) + 1]
        if "\n" not in text[piece.end : after.start]:  # the next entry moves to its line
            return ""
    if before.endswith(space.lead):
        return space.lead
    indent = before[len(before.rstrip(" \t")) :]
    for end in ("\r\n", "\n"):
        if before.endswith(end + indent):
            return end + indent
    return ""


def _without(content: Content, slot: Slot, value: Content, depth: int) -> Content:
    """Return a content without the piece that is `depth` levels down the way to an entry."""
    kind, inner = content
    if not slot.path:  # the last equal item
        items = list(inner)
        del items[len(items) - 1 - items[::-1].index(value)]
        return kind, tuple(items)
    key, rest = slot.path[0], slot._replace(path=slot.path[1:])
    if depth == 1:
        return kind, tuple((k, v) for k, v in inner if k != key)
    return kind, tuple(
        (k, _without(v, rest, value, depth - 1)) if k == key else (k, v) for k, v in inner
    )
