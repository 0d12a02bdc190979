"""Read JSON as people write it into settings, with the place of each piece.

Comments and trailing commas are read everywhere, because agents that document JSON accept them too;
with `is_json5` also single quotes, bare keys and the numbers of JSON5. Values are compared by
content: objects keep the order and the repetition of their keys, numbers their spelling.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

from memcli.agents import UnfitError
from memcli.checking import Any
from memcli.record import Record

# The content of a piece: ("string", text), ("literal", spelling), ("array", its contents) or
# ("object", pairs of key and content).
Content = tuple[str, Any]

DEEPEST = 200  # levels; Python's own stack ends at five times as many
_SPACE = re.compile(r"(?>[ \t\r\n]+|//[^\r\n]*|/\*(?>[^*]+|\*(?!/))*\*/)*")
_SPACE_5 = re.compile(r"(?>[\s\ufeff]+|//[^\r\n\u2028\u2029]*|/\*(?>[^*]+|\*(?!/))*\*/)*")
_STRING = re.compile(r'"(?>[^"\\\x00-\x1f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_STRING_5 = re.compile(
    r'"(?>[^"\\\r\n]+|\\(?:\r\n|[\s\S]))*"' "|" r"'(?>[^'\\\r\n]+|\\(?:\r\n|[\s\S]))*'"
)
_LITERAL = re.compile(
    r"(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w$.])"
)
_LITERAL_5 = re.compile(
    r"(?:true|false|null|[+-]?(?:Infinity|NaN|0[xX][0-9a-fA-F]+"
    r"|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?))(?![\w$.])"
)
_BARE_KEY = re.compile(r"[^\W\d][\w$\u200c\u200d]*|\$[\w$\u200c\u200d]*")
_ESCAPE_5 = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|[\s\S])")
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_LINE_ENDS = ("\r\n", "\n", "\r", "\u2028", "\u2029")


class Piece(Record):
    """A value and its place: `start` is that of its key in an object."""

    kind: str
    start: int
    end: int
    key: str  # "" in an array
    opening: int  # start of the value itself
    text: str  # of a string or a literal
    children: tuple[Piece, ...]
    comma: int  # position of the comma after it; -1 if it has none

    @property
    def content(self) -> Content:
        """Return the content without positions."""
        if self.kind == "object":
            return self.kind, tuple((each.key, each.content) for each in self.children)
        if self.kind == "array":
            return self.kind, tuple(each.content for each in self.children)
        return self.kind, self.text

    def child(self, key: str) -> Piece | None:
        """Find a member; UnfitError if the key occurs more than once."""
        children = [each for each in self.children if each.key == key]
        if len(children) > 1:
            raise UnfitError(f"has the key {json.dumps(key)} more than once")
        return children[0] if children else None


@lru_cache(maxsize=4)  # one file is read several times, and may have megabytes
def read(text: str, *, is_json5: bool) -> Piece:
    """Parse a text; UnfitError says at which line it is not JSON."""
    reader = _Reader(text, is_json5=is_json5)
    reader.at = 1 if text.startswith("\ufeff") else 0
    reader.skip()
    root = reader.value(reader.at, "", 0)
    reader.skip()
    if reader.at < len(text):
        raise reader.error()
    return root


def content_of(value: str) -> Content:
    """Return the content of one of our own JSON texts."""
    return read(value, is_json5=False).content


class _Reader:
    """A place in a text."""

    def __init__(self, text: str, *, is_json5: bool) -> None:
        self.text, self.at, self.is_json5 = text, 0, is_json5
        self.space = _SPACE_5 if is_json5 else _SPACE
        self.string = _STRING_5 if is_json5 else _STRING
        self.literal = _LITERAL_5 if is_json5 else _LITERAL

    def skip(self) -> None:
        """Skip space and comments."""
        match = self.space.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def error(self) -> UnfitError:
        line = self.text.count("\n", 0, self.at) + 1
        return UnfitError(f"is not JSON at line {line}")

    def value(self, start: int, key: str, depth: int) -> Piece:
        """Read a value and the comma after it; `start` is where its key began."""
        if depth > DEEPEST:
            raise UnfitError(f"is nested more than {DEEPEST} levels deep")
        opening = self.at
        sign = self.text[opening : opening + 1]
        text = ""
        children: tuple[Piece, ...] = ()
        if sign and sign in "{[":
            self.at += 1
            children = self.children(sign, depth)
            kind = "object" if sign == "{" else "array"
        elif match := self.string.match(self.text, opening):
            self.at = match.end()
            kind, text = "string", self.unquoted(match[0])
        elif match := self.literal.match(self.text, opening):
            self.at = match.end()
            kind, text = "literal", match[0]
        else:
            raise self.error()
        end, comma = self.at, -1
        self.skip()
        if depth and self.text[self.at : self.at + 1] == ",":
            comma = self.at
            self.at += 1
        return Piece(kind, start, end, key, opening, text, children, comma)

    def children(self, sign: str, depth: int) -> tuple[Piece, ...]:
        """Read the children of an opening bracket, up to the closing one."""
        closing = "}" if sign == "{" else "]"
        children: list[Piece] = []
        while True:
            self.skip()
            if self.text[self.at : self.at + 1] == closing:
                self.at += 1
                return tuple(children)
            if children and children[-1].comma < 0:
                raise self.error()
            start = self.at
            key = self.key() if sign == "{" else ""
            children.append(self.value(start, key, depth + 1))

    def key(self) -> str:
        """Read a key and its colon."""
        if match := self.string.match(self.text, self.at):
            key = self.unquoted(match[0])
        elif self.is_json5 and (match := _BARE_KEY.match(self.text, self.at)):
            key = match[0]
        else:
            raise self.error()
        self.at = match.end()
        self.skip()
        if self.text[self.at : self.at + 1] != ":":
            raise self.error()
        self.at += 1
        self.skip()
        return key

    def unquoted(self, quoted: str) -> str:
        if not self.is_json5:
            return quoted[1:-1] if "\\" not in quoted else str(json.loads(quoted))
        return _ESCAPE_5.sub(_unescaped, quoted[1:-1])


def _unescaped(match: re.Match[str]) -> str:
    """Return the character of a JSON5 escape."""
    escape = match[1]
    if len(escape) > 1 and escape[0] in "ux":
        return chr(int(escape[1:], 16))
    return "" if escape in _LINE_ENDS else _ESCAPED.get(escape, escape)
