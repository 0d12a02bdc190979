r"""Templates of output, such as `{citation}\t{date}`: read once, filled for each passage; pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from memcli.errors import UsageError, quote
from memcli.record import Record

_PIECE = re.compile(
    r"\\(?P<escape>.?)|(?P<brace>\{\{|\}\})|\{(?P<key>[^{}]*)\}|(?P<loose>[{}])|[^\\{}]+", re.DOTALL
)
_ESCAPES = {"t": "\t", "n": "\n", "0": "\0", "\\": "\\"}
_JOINTS = {"heading_path": " > "}
_JOINT = ", "


class Template(Record):
    """Pieces of text and the keys between them."""

    pieces: tuple[tuple[str, bool], ...]  # (text or name of a key, whether it is a key)

    def filled(self, record: Mapping[str, Any], safe: Callable[[str], str]) -> str:
        """Fill in the values, made `safe` and each on one line without tabs."""
        return "".join(
            safe(_written(piece, record.get(piece))).replace("\t", " ") if is_key else piece
            for piece, is_key in self.pieces
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """Name the keys, in their order."""
        return tuple(piece for piece, is_key in self.pieces if is_key)


def parse(text: str, keys: Collection[str]) -> Template:
    """Parse a template; a line end is added unless it ends with one or with a NUL.

    UsageError for an unknown key, a single brace and an unknown escape.
    """
    pieces = [_piece(match, text, keys) for match in _PIECE.finditer(text)]
    if not pieces or not pieces[-1][0].endswith(("\n", "\0")) or pieces[-1][1]:
        pieces.append(("\n", False))
    return Template(tuple(pieces))


def _piece(match: re.Match[str], text: str, keys: Collection[str]) -> tuple[str, bool]:
    key, escape = match["key"], match["escape"]
    if key is not None:
        if key not in keys:
            raise _unknown(key, text, keys)
        return key, True
    if match["loose"] or (escape is not None and escape not in _ESCAPES):
        raise UsageError(
            f"{match[0]} is not allowed in a template: write a brace twice; escapes "
            r"are \t, \n, \0 and \\",
            hint=rf"--format '{{{_usual(keys)}}}\t{{date}}'",
        )
    if escape is not None:
        return _ESCAPES[escape], False
    return (match["brace"][0] if match["brace"] else match[0]), False


def _unknown(key: str, text: str, keys: Collection[str]) -> UsageError:
    """List the keys; the hint is the template with the nearest key.

    If no key is near, the hint is a template that works.
    """
    from difflib import get_close_matches

    message = f"a template takes {', '.join(keys)}, not {{{key}}}"
    meant = [known for known in keys if key and key in known] or get_close_matches(key, keys)
    if not meant:
        return UsageError(message, hint=f"--format '{{{_usual(keys)}}}'")
    return UsageError(
        message, hint=f"--format {quote(text.replace(f'{{{key}}}', f'{{{meant[0]}}}'))}"
    )


def _usual(keys: Collection[str]) -> str:
    """Choose the most useful key: the place, or the name."""
    return "citation" if "citation" in keys else next(iter(keys))


def _written(key: str, value: Any) -> str:  # noqa: ANN401
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return _JOINTS.get(key, _JOINT).join(value)
    return json.dumps(value, ensure_ascii=False)
