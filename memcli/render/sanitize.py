"""Make text harmless for a terminal: control, bidi and invisible characters become visible."""

from __future__ import annotations

import re

# C0 but tab and newline, DEL, C1; line separators; zero width, bidi marks, embeddings,
# overrides and isolates; tags; half surrogates, which no terminal can be sent.
# Compiled by `re` at its first use: most starts have nothing to make visible.
_UNSAFE = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Show what cannot be seen; an escape character becomes ␛."""
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_UNSAFE, _shown, text)


def visible_line(text: str) -> str:
    """Show what cannot be seen, on one line: a name may hold line ends too."""
    return visible(text).replace("\n", "␊")


def escaped(json: str) -> str:
    """Write what cannot be seen as JSON escapes: a text in JSON, its value the same."""
    if json.isascii() and json.isprintable():
        return json
    return re.sub(_UNSAFE, _as_json, json)


def _as_json(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return "" if code == 0x0D else chr(0x2400 + code)
    return "␡" if code == 0x7F else f"<U+{code:04X}>"
