"""Find HTML comments as CommonMark does: they are neither searched nor embedded.

The same applies to marks of editors: `collapsed:: true` and `id:: ...` of Logseq, and the block ids
of Logseq and Obsidian.

A comment at the start of a line ends at its `-->`, also after blank lines, or at the end of the
text. A comment inside a line must end before the next blank line; otherwise its `<!--` is text.
Code spans contain no comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Compiled at first use: most notes have none of these.
_OPENER = r"`[^`\n]{1,200}`|<!--"
_BLANK_LINE = r"\n[ \t\r]*\n"
# Indents, quote marks and list marks that may come before a block in its line.
_LINE_START = r"[ \t>*+\-0-9.)]{0,64}\Z"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_EDITORS_OWN = (
    r"(?m)^[ \t]*(?:[-*][ \t]+)?(?:collapsed|id|heading|created-at|updated-at|background-color"
    r"|logseq\.[\w.-]{1,60}|card-[a-z-]{1,30})::[ \t][^\n]*"
    rf"|[ \t]\^[A-Za-z0-9-]{{4,40}}[ \t]*$|\(\({_UUID}\)\)"
)


def comments(text: str) -> Iterator[tuple[int, int]]:
    """Yield the comments of a text as character ranges, in order."""
    if "<!--" not in text:
        return
    opener, blank_line = re.compile(_OPENER), re.compile(_BLANK_LINE)
    at = 0
    close: int | None = 0  # the next "-->", or None
    blank = -1  # the next blank line
    while match := opener.search(text, at):
        start, at = match.span()
        if match[0] != "<!--":
            continue
        if close is not None and close < start + 2:
            close = text.find("-->", start + 2)
            close = None if close < 0 else close
        line = text.rfind("\n", max(0, start - 64), start) + 1 or max(0, start - 64)
        if re.match(_LINE_START, text[line:start]):
            end = len(text) if close is None else close + 3
        elif close is None:
            continue
        else:
            if blank < start:
                gap = blank_line.search(text, start)
                blank = gap.start() if gap else len(text)
            if blank < close:
                continue
            end = close + 3
        yield start, end
        at = end


def visible(text: str) -> str:
    """Remove comments, marks of editors and carriage returns: the text to search and to embed."""
    if "<!--" in text:
        pieces, at = [], 0
        for start, end in comments(text):
            pieces.append(text[at:start])
            at = end
        text = " ".join([*pieces, text[at:]])
    text = text.replace("\r\n", "\n").replace("\r", " ") if "\r" in text else text
    has_marks = ":: " in text or " ^" in text or "((" in text  # most have none
    return re.sub(_EDITORS_OWN, "", text) if has_marks else text
