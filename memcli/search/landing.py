"""Where in a passage a cursor is set: the line that matches best, and the word in it; pure."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.markdown.parse import visible
from memcli.record import Record
from memcli.search.snippet import marked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.search.hits import Hit


class Landing(Record):
    """A place in a file."""

    line: int  # from 1
    column: int  # bytes of UTF-8, from 1, as editors count in quickfix lists
    text: str  # of the line, as far as the passage holds it


def landing(hit: Hit, words: Sequence[str]) -> Landing:
    """Find the line with the most of the words, the first of several, and its first match.

    Where no word matches it is the first line of the part that was found by its meaning. The
    column is 1 where that is not known: no match, or a line that begins before its chunk.
    """
    lines = hit.text.split("\n")
    seen = visible(hit.text).split("\n")  # a word in a comment has found nothing
    seen = seen if len(seen) == len(lines) else lines
    wanted = [hit.is_wanted(hit.start_line + at) for at in range(len(lines))]
    at = _best([line if own else "" for line, own in zip(seen, wanted, strict=True)], words)
    if at is None:
        at = _found_by_meaning(hit, lines)
    text = lines[at].removesuffix("\r")
    marks = marked(text, words).marks
    before = _before(hit) if at == 0 else ""
    known = before is not None and marks
    column = len(f"{before}{text[: marks[0][0]]}".encode()) + 1 if known else 1
    return Landing(hit.start_line + at, column, text)


def _kinds(line: str, words: Sequence[str]) -> int:
    """Count the different words in a line."""
    return len({line[start:end].casefold() for start, end in marked(line, words).marks})


def _best(lines: Sequence[str], words: Sequence[str]) -> int | None:
    """Choose a line; a heading or a fence only where it holds more words than any other line."""
    counts = [2 * _kinds(line, words) - _is_frame(line) for line in lines]
    most = max(counts)
    return counts.index(most) if most > 0 else None


def _is_frame(line: str) -> bool:
    return line.startswith(("#", "```", "~~~"))


def _found_by_meaning(hit: Hit, lines: Sequence[str]) -> int:
    """Give the first line of the best part that has a text, a heading only where no other has."""
    parts = hit.candidate.parts
    inside = parts and hit.first <= hit.best <= hit.last
    start = parts[hit.best].start_line - hit.start_line if inside else 0
    texts = [at for at in range(start, len(lines)) if lines[at].strip()]
    return next((at for at in texts if not lines[at].startswith("#")), texts[0] if texts else 0)


def _before(hit: Hit) -> str | None:
    """Give what stands in front of the passage on its first line; None where nobody knows."""
    text, parts = hit.candidate.text, hit.candidate.parts
    start = 0 if hit.is_whole or not parts else parts[hit.first].start
    line = text.rfind("\n", 0, start) + 1
    return None if line == 0 and hit.broken[0] else text[line:start]
