"""Read the YAML front matter of a document as plain JSON values.

Front matter is untrusted, so its size, nesting and aliases are bounded. Many tools write lines of
`key: text` that YAML rejects (`globs: *.ts`); these are read literally. Anything that is not a
mapping stays in the body as text. A value that does not fit its YAML tag is read as text.

`scope: private` counts even if nothing else can be read. Otherwise an unclosed bracket or a second
`scope` would reveal a private note.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date
from functools import cache
from itertools import accumulate, takewhile

from memcli.checking import TYPE_CHECKING, Any
from memcli.types import PRIVATE

if TYPE_CHECKING:
    from yaml import SafeLoader

MAX_CHARS = 65_536
MOST_PROPERTIES = 50  # lines
# The scanner of PyYAML is quadratic in brackets that are open at once.
MAX_BRACKETS = 1000
MAX_OPEN = 100
_KEY = re.compile(r"[A-Za-z][\w-]{0,99}")
_BEGUN = ("[", "{", "&", "!", "|", ">")  # a value of more than a line of text
_WORDS = {"true": True, "false": False, "": None}
# Lines that YAML reads literally: plain words, or a day. Most front matter has only such lines, and
# importing YAML takes longer than indexing an edited note.
_OTHERWISE = "(?i:yes|no|on|off|true|false|null)"
_AS_IT_STANDS = (
    rf"(?!{_OTHERWISE}:)[A-Za-z][\w-]{{0,99}}: *"
    rf"(?:true|false|[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}"
    rf"|(?!{_OTHERWISE} *$)[^\W\d_][\w ,./()-]*)? *"
)
# At the beginning of a line no other key, comment or value of YAML can look like it.
_SAID_PRIVATE = rf"(?im)^[\"']?scope[\"']?[ \t]*:[^\w#]*{PRIVATE}(?![\w-])"
# Longer numbers are not metadata, and Python refuses to print some of them.
_MAX_NUMBER = 2**63


def split(lines: tuple[str, ...]) -> tuple[dict[str, Any], int]:
    """Return the metadata and its number of lines, 0 if it stays in the body."""
    if lines[0].rstrip() != "---":
        return _page_properties(lines) if "::" in lines[0] else {}, 0
    size, blank = 0, len(lines)
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() in ("---", "..."):
            text = "\n".join(lines[1:number])
            metadata = _mapping(text)
            return _private(metadata or {}, text), 0 if metadata is None else number + 1
        if not line.strip():
            blank = min(blank, number)
        size += len(line)
        if size > MAX_CHARS:
            break
    # Without an end mark it may be the text itself; then it ends before the first blank line.
    return _private({}, "\n".join(lines[1:blank])[:MAX_CHARS]), 0


def is_broken(lines: Sequence[str], first: int) -> bool:
    """Return whether YAML could not read the front matter, so that text begins in it.

    `first` is the first line of text, from 0.
    """
    if lines[0].rstrip() != "---":
        return False
    block = [*takewhile(lambda line: line.rstrip() not in ("---", "..."), lines[1:])]
    if not first <= len(block) < len(lines) - 1:
        return False
    start = next((line for line in block if line.strip() and not line.startswith("#")), "")
    return bool(re.match(rf"{_KEY.pattern}:(?:\s|$)", start))


def _page_properties(lines: tuple[str, ...]) -> dict[str, Any]:
    """Read the lines `key:: text` at the start of a Logseq page; they stay in the body."""
    properties: dict[str, Any] = {}
    for line in lines[:MOST_PROPERTIES]:
        match = re.fullmatch(r"([A-Za-z][\w-]{0,99}):: *(.{1,1000}?)\s*", line)
        if not match:
            break
        words = [word.strip(" #[]") for word in match[2].split(",")]
        properties.setdefault(match[1], words if len(words) > 1 else words[0])
    return _private(properties, "\n".join(f"{key}: {value}" for key, value in properties.items()))


def _private(metadata: dict[str, Any], text: str) -> dict[str, Any]:
    """Apply `scope: private` of a line, whatever the other lines contain."""
    if PRIVATE not in text.casefold() or not re.search(_SAID_PRIVATE, text):
        return metadata
    return {**metadata, "scope": PRIVATE}


def _mapping(text: str) -> dict[str, Any] | None:
    if not text.strip():
        return {}
    brackets = [1 if char in "[{" else -1 for char in text if char in "[]{}"]
    if brackets.count(1) > MAX_BRACKETS or max(accumulate(brackets), default=0) > MAX_OPEN:
        return None
    if all(re.fullmatch(_AS_IT_STANDS, line) for line in text.split("\n")):
        return _lines(text)
    import yaml

    try:
        # An alias can make a small text expand without bound.
        if "*" in text and any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            return _lines(text)
        value = yaml.load(text, _loader())
        return _plain(value) if isinstance(value, dict) else None
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return _lines(text)


def _lines(text: str) -> dict[str, Any] | None:
    """Read lines of `key: text` literally; None if there are other lines."""
    properties: dict[str, Any] = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        key, colon, value = line.partition(":")
        if not colon or not _KEY.fullmatch(key) or (value and value[0] not in " \t"):
            return None
        value = value.strip()
        if value.startswith(_BEGUN):
            return None
        properties[key] = _WORDS.get(value, value)
    return properties


@cache
def _loader() -> type[SafeLoader]:
    """Make a loader to which no tag is an error; YAML is imported for the first front matter."""
    import yaml

    standard = "tag:yaml.org,2002:"
    # Other errors that the constructors of scalars can raise.
    misfits = (yaml.YAMLError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)

    class Lenient(yaml.SafeLoader):
        """Build a list or a mapping, whatever its tag."""

        def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: ANN401
            if isinstance(node, yaml.ScalarNode):
                try:
                    return super().construct_object(node, deep=True)
                except misfits:
                    return node.value
            if isinstance(node, yaml.SequenceNode):
                node.tag = f"{standard}seq"
            elif node.tag != f"{standard}set":
                node.tag = f"{standard}map"
            return super().construct_object(node, deep=deep)

    return Lenient


def _plain(value: Any) -> Any:  # noqa: ANN401  (whatever YAML makes)
    """Convert a YAML value to JSON types; other types become text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        # An escape in YAML can write half a surrogate pair, which UTF-8 cannot.
        return value.encode("utf-8", "replace").decode() if not value.isascii() else value
    if isinstance(value, int):
        return value if abs(value) < _MAX_NUMBER else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, date):  # a datetime is one
        return value.isoformat()
    if isinstance(value, dict):
        return {str(_plain(key)): _plain(each) for key, each in value.items()}
    if isinstance(value, set):
        return sorted(str(_plain(each)) for each in value)
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value)
