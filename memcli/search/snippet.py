"""Return the text of a passage with the places of the matched words; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import dropwhile, takewhile

from memcli.checking import TYPE_CHECKING
from memcli.language.words import split_runs
from memcli.markdown.comments import comments, visible
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.search.ranked import RankedPassage

_BEGIN = r"(?<![^\W_])"
_ENDING = r"(?:[^\W\d_]{0,4}(?![^\W_]))?"
_ENDINGS = ("ies", "ing", "es", "ed", "s")  # longer ones first
_OTHER_ENDING = r"(?:e|e?s|e?d|ing|y|ies|ied)?(?![^\W_])"
_VOWELS = frozenset("aeiouy")
_NAME = r"^ {0,3}(?:[-*+] +)?\*\*([^*\n]+)\*\*"  # of a speaker, with its marks
_LEAST = 3  # letters of a word without its ending
LEAD = 40  # characters before a mark in a shortened line


class Snippet(Record):
    """A text and the character spans in it that match the query."""

    text: str
    marks: tuple[tuple[int, int], ...]


def make_snippet(passage: RankedPassage, *, words: Sequence[str]) -> Snippet:
    """Return the text of a passage without comments, with the words marked.

    An ellipsis replaces the missing beginning or end of a line.
    """
    before, after = "…" * passage.continues_before, "…" * passage.continues_after
    return marked(before + visible(passage.shown).strip("\n") + after, words)


def headings(passage: RankedPassage) -> tuple[str, ...]:
    """Return the headings above the text of a passage, also those in its own first lines."""
    own, path = own_headings(passage), passage.about.heading_path
    return tuple(dict.fromkeys([*path, *own])) if own else path


def own_headings(passage: RankedPassage) -> list[str]:
    """Return the headings in the first lines of a passage; none in a conversation or in code."""
    if passage.turns or not (text := passage.text.lstrip()).startswith("#"):
        return []
    before = passage.candidate.text[: passage.starts_at]
    if passage.candidate.text.count("```") % 2 or before.count("```") % 2:
        return []
    lines = (each for each in text.split("\n") if each.strip())
    return [each.lstrip("#").strip() for each in takewhile(_is_heading, lines)]


def _is_heading(line: str) -> bool:
    return line.startswith("#") and line.lstrip("#").startswith(" ")


def numbered(
    passage: RankedPassage, *, words: Sequence[str], full: bool = False
) -> list[tuple[int, Snippet]]:
    """Return the lines of a passage with their numbers, without comments and blank lines.

    Unless they are `full`, the first lines are left out if they are headings, and all headings of
    a conversation: the line above the passage has them. The name of a speaker loses its marks:
    `- **Ann**: yes` is `Ann: yes`.
    """
    pieces, at, text = list[str](), 0, passage.shown
    for start, end in comments(text):
        pieces += text[at:start], "\n" * text.count("\n", start, end) or " "
        at = end
    lines = visible("".join([*pieces, text[at:]])).split("\n")
    lines[0] = "…" * passage.continues_before + lines[0]
    lines[-1] += "…" * passage.continues_after
    shown = [
        (number, line)
        for number, line in enumerate(lines, start=passage.start_line)
        if line.strip()
    ]
    if not full and shown and _is_heading(shown[0][1]) and own_headings(passage):
        shown = list(dropwhile(lambda each: _is_heading(each[1]), shown)) or shown
    if passage.turns:
        begin = {turn.start_line for turn in passage.turns}
        spoken = [each for each in shown if not each[1].startswith("#")]
        shown = [(n, re.sub(_NAME, r"\1", t) if n in begin else t) for n, t in spoken or shown]
    return [(number, marked(line, words)) for number, line in shown]


def clipped(line: Snippet, most: int) -> Snippet:
    """Shorten a line to its beginning and the part after that with the most marks."""
    text, half = line.text, most // 2
    if len(text) <= most:
        return line
    later = [start for start, _ in line.marks if start >= half]
    if not later:
        return Snippet(f"{text[:most]}…", ())
    best = max(later, key=lambda start: sum(start <= other < start + half for other in later))
    begin = max(half, text.rfind(" ", half, max(half, best - LEAD)) + 1)
    gap = " … " if begin > half else ""
    end = "…" if begin + half < len(text) else ""
    return Snippet(f"{text[:half]}{gap}{text[begin : begin + half]}{end}", ())


def marked(text: str, words: Sequence[str]) -> Snippet:
    """Mark words in a text."""
    pattern = pattern_of(tuple(words))
    return Snippet(text, tuple(match.span() for match in pattern.finditer(text)) if pattern else ())


@lru_cache(maxsize=16)  # for each passage of one question
def pattern_of(words: tuple[str, ...]) -> re.Pattern[str] | None:
    """Match words from their beginning with any ending, as the stemmer does; runs anywhere.

    An underscore ends a word, so `pool` matches in `pool_wait_ms`. Other forms match too: `backups`
    matches backup. Without words there is no pattern.
    """
    if not words:
        return None
    spaced, runs = list[str](), list[str]()
    for word in sorted(words, key=len, reverse=True):
        has_run = any(is_run for _, is_run in split_runs(word))
        (runs if has_run else spaced).append(re.escape(word))
    apart = [f"{_BEGIN}(?:{'|'.join(spaced)}){_ENDING}"] if spaced else []
    if bases := [base for word in spaced if (base := _base(word))]:
        apart.append(f"{_BEGIN}(?:{'|'.join(bases)}){_OTHER_ENDING}")
    return re.compile("|".join((*runs, *apart)), re.IGNORECASE)


def _base(word: str) -> str:
    """Return an English word without its ending; "" if it has none."""
    word = word.lower()
    for ending in _ENDINGS:
        base = word.removesuffix(ending)
        if base != word and base.isascii() and base.isalpha() and not _VOWELS.isdisjoint(base):
            break
    else:
        return ""
    if ending == "s" and base[-1] in "sui":  # class, status, this
        return ""
    if len(base) > _LEAST and base[-1] == base[-2] and base[-1] not in "aeioulsz":
        base = base[:-1]  # running: run
    return base if len(base) >= _LEAST else ""
