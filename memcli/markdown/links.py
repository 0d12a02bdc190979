"""Find the targets of authored links: `[text](target)`, `[[wiki link]]`, front matter `related`.

URLs with a scheme are left out. The caller resolves a target to a document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from memcli.checking import Any

# Bounded repeats that give nothing back keep hostile bracket runs linear. The patterns are compiled
# at first use, because most searches need none of them.
_INLINE = r"\]\(\s*+(?:<([^<>\n]{1,512}+)>|([^()<>\s]{1,512}+))[^()\n]{0,128}+\)"
_WIKI = r"\[\[([^\[\]|\n]{1,256}+)(?:\|[^\[\]\n]{0,256}+)?\]\]"
_SCHEME = r"[a-zA-Z][a-zA-Z0-9+.-]{1,31}:"
_TEXT_LINK = r"!?\[[^\[\]\n]{0,256}+\]\([^()\n]{0,768}+\)|https?://\S++"
_TASK = r"(?m)^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s)?"
RELATED = 100  # targets that one front matter may name


def link_targets(text: str) -> tuple[str, ...]:
    """List the local link targets of a text in order, each once."""
    if "](" not in text and "[[" not in text:
        return ()
    targets = [(m[1] or m[2]).strip() for m in re.finditer(_INLINE, text)]
    targets += [m[1].strip() for m in re.finditer(_WIKI, text)]
    local = (t for t in targets if t and not t.startswith("#") and not re.match(_SCHEME, t))
    return tuple(dict.fromkeys(local))


def is_links_only(text: str) -> bool:
    """Return whether a text contains only links: an index, a table of contents."""
    left = re.sub(_TASK, "", re.sub(_WIKI, "", re.sub(_TEXT_LINK, "", text)))
    return not any(map(str.isalnum, left))


def related_targets(metadata: Mapping[str, Any], key: str = "related") -> tuple[str, ...]:
    """List the targets of a key such as `related`: a path or `[[name]]`, or a list of them.

    YAML reads an unquoted `[[name]]` as a list in a list. Example: ["a.md", ["b"]] -> a.md, b
    """
    targets: list[str] = []
    for text in _texts(metadata.get(key)):
        targets += link_targets(text) or (() if re.match(_SCHEME, text) else (text.strip(),))
    return tuple(dict.fromkeys(filter(None, targets)))[:RELATED]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


CORRECTS = "corrects"  # before the citation of an older line, in parentheses
_CORRECTED = r"\(corrects (?P<path>[^()\n]{1,300}?):(?P<first>\d{1,7})(?:-(?P<last>\d{1,7}))?\)"


def corrected_lines(text: str) -> tuple[str, int, int] | None:
    """Read which older lines a line says that it corrects: path, first and last line.

    Example: `Logs stay 90 days (corrects memory/2025-09-02.md:11)`
    """
    if CORRECTS not in text or (match := re.search(_CORRECTED, text)) is None:
        return None
    return match["path"], int(match["first"]), int(match["last"] or match["first"])
