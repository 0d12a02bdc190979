"""Replace what no summary should quote by one line that describes it; pure.

Long code, logs and tables become a placeholder; data in a line becomes a note of its length. Only
the summariser sees this: the files stay as they are, and the placeholder cites the lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memcli.language.salience import values
from memcli.markdown.parse import Block
from memcli.markdown.units import without_data

# A fence of so many lines and characters is quoted itself.
SHORT_LINES = 2
SHORT_CHARS = 160
NAMED = 6  # column names or identifiers in a placeholder
NAMED_CHARS = 120

_FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})\s*([\w+-]{0,20})")
_PLACEHOLDER = re.compile(r"\[(?:table|log|(?:[\w+-]{1,20} )?code), \d+ |`[^`]*`(?:; `[^`]*`)*$")
_LOG = re.compile(r"\d\d:\d\d|\b(?:ERROR|WARN|INFO|DEBUG|Traceback)\b")


def placeholder(block: Block, lines: Sequence[str]) -> str | None:
    """Describe a fence or table in one line; None if it can be quoted."""
    body = [line.strip() for line in lines[block.start : block.end] if line.strip()]
    if block.kind == "table":
        cells = [cell.strip() for cell in body[0].strip("|").split("|") if cell.strip()]
        rows = max(0, len(body) - 2)
        names = [row.strip("|").split("|")[0].strip() for row in body[2:]]
        parts = [*([_listed(names)] if names else []), f"columns {_listed(cells)}"]
        return f"[table, {'1 row' if rows == 1 else f'{rows} rows'}: {'; '.join(parts)}]"
    if block.kind != "fence":
        return None
    opener = _FENCE.match(body[0]) if body else None
    if opener:
        body = body[1:]
        if body and _FENCE.match(body[-1]):
            body.pop()
    if not body:
        return None
    is_log = sum(bool(_LOG.search(line)) for line in body) * 2 >= len(body)
    if not is_log and len(body) <= SHORT_LINES and sum(map(len, body)) <= SHORT_CHARS:
        return "; ".join(f"`{line.replace('`', chr(39))}`" for line in body)
    kind = "log" if is_log else f"{opener[1]} code" if opener and opener[1] else "code"
    names = [value for line in body for value in values(line) if not value[0].isdigit()]
    about = _listed(dict.fromkeys(names)) if names else body[0][:NAMED_CHARS]
    count = "1 line" if len(body) == 1 else f"{len(body)} lines"
    return f"[{kind}, {count}: {without_data(about)}]"


def is_placeholder(text: str) -> bool:
    """Return whether a line is a placeholder for code, a log or a table, or is code itself."""
    return _PLACEHOLDER.match(text) is not None


def _listed(names: Sequence[str] | dict[str, None]) -> str:
    terms: list[str] = []
    for name in names:
        if len(terms) == NAMED or sum(map(len, terms)) + len(name) > NAMED_CHARS:
            break
        terms.append(name)
    return ", ".join(terms) or "…"
