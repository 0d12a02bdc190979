"""Decide whether a summary is valid; the only definition of it; pure.

A summary is valid if the logs still contain its source lines (they may have moved), nobody has
edited it, and it quotes whole sentences of the lines that it cites, with the right speaker. Anybody
can write a summary with a correct seal, but not change what the logs say.

A program may write a summary in its own words, which cannot be compared word for word. They must
have the names, the numbers and the negations of the lines that they cite, and all rules of these
lines word for word. Such a summary never replaces a line that contains a rule.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property

from memcli.language.salience import RULE, is_supported, keep_reason, sentences_of
from memcli.markdown.frontmatter import split
from memcli.markdown.lineage import (
    CitedLine,
    cited_lines,
    cited_place,
    locate,
    log_name,
    month_and_day,
    seal_of,
)
from memcli.markdown.parse import Block, parse
from memcli.markdown.units import Unit, units, with_speaker, without_data
from memcli.record import Record
from memcli.types import Lineage, SourceLines

BY_COMMAND = "command"  # written by the user's own program
BY_MODEL = "onnx"  # written by a local model
WORDED = frozenset({BY_COMMAND, BY_MODEL})  # methods that use their own words
NOTHING = "…"  # a line that only cites
TITLE_CHARS = 200  # a summary quotes at most so much of a heading
# A bound, because anybody can write a summary; those of memcli need far fewer steps.
MOST_CHARS = 400_000
MOST_STEPS = 100_000  # comparisons for one line

# The mark at the end of a summary's line: how often it recurs, and the line that replaced it.
_TIMES = re.compile(r" \[(\d{1,9}) times\]\Z")
_REPLACES = re.compile(r" \[replaces ([^\n]{1,1024}:\d{1,9}(?:-\d{1,9})?)\]\Z")
_END = re.compile(r"""[.!?…]["')\]*_]{0,3}(?=\s|\Z)|[。！？]""")
_CODE = re.compile(r"(?:^|(?<= ))(?:`(?=[^\n]*`\Z)|\[(?=[^\n]*\]\Z))")
_PLACEHOLDER = re.compile(r"\[(?:table|log|(?:[\w+-]{1,20} )?code), (\d+) (?:line|row)s?: (.*)\]")
_DATES = re.compile(r"\d{4}-\d{2}-\d{2}(?: to \d{4}-\d{2}-\d{2})?")


def mark(times: int, replaces: str) -> str:
    """Return the end of a line: how often it was said, and the citation of what it corrects."""
    often = f" [{times} times]" if times > 1 else ""
    return f"{often} [replaces {replaces}]" if replaces else often


def unmarked(line: str) -> tuple[str, int, str]:
    """Return a line without its mark, how often it was said and what it corrects."""
    old = _REPLACES.search(line)
    line = line[: old.start()] if old else line
    often = _TIMES.search(line)
    text = line[: often.start()] if often else line
    return text, int(often[1]) if often else 1, old[1] if old else ""


class Evidence(Record):
    """The result of checking a summary."""

    places: tuple[SourceLines | None, ...]  # the current places of its source lines; None: gone
    is_sealed: bool  # nobody has edited it
    invented: tuple[str, ...]  # its lines that the cited lines do not say
    reworded: tuple[str, ...] = ()  # its lines that cannot be compared word for word
    covered: tuple[SourceLines, ...] = ()  # the lines that it replaces, if not all

    @property
    def holds(self) -> bool:
        """Return whether the summary is valid, if the summaries below it are."""
        return None not in self.places and self.is_sealed and not self.invented


class CitedFile:
    """A file that a summary cites, parsed as far as needed."""

    def __init__(self, path: str, lines: Sequence[str]) -> None:
        self.path, self.lines = path, lines

    @cached_property
    def blocks(self) -> Sequence[Block]:
        """Return the blocks of the file."""
        return parse("\n".join(self.lines)).blocks

    @cached_property
    def units(self) -> Sequence[Unit]:
        """Return the running text of the file."""
        return [unit for block in self.blocks for unit in units(block, self.lines)]

    @cached_property
    def headings(self) -> frozenset[str]:
        """Return the headings of the file, its title among them."""
        stem = os.path.splitext(os.path.basename(self.path))[0]
        title = split(tuple(self.lines))[0].get("title")
        named = [" ".join(title.split())] if isinstance(title, str) else []
        titles = [block.title for block in self.blocks if block.kind == "heading"]
        segments = (segment for title in titles for segment in title.split(" > "))
        names = (stem, *named, *titles, *segments)
        return frozenset(
            heading for name in names for heading in (name, name[:TITLE_CHARS].strip())
        )

    @cached_property
    def cited_lines(self) -> Sequence[tuple[int, CitedLine]]:
        """Return the text of each line of a summary, by its number."""
        return list(cited_lines("\n".join(self.lines)))


Open = Callable[[str], "CitedFile | None"]


def weigh(text: str, lineage: Lineage, read: Open, others: Sequence[str]) -> Evidence:
    """Check a summary; `read` returns a file of the memory, or None.

    `others` are files that a missing log may have been renamed to, the likeliest first.
    """
    read = cache(read)
    places: dict[SourceLines, SourceLines | None] = {}
    by_path: dict[str, list[SourceLines]] = {}
    for source in lineage.sources:
        by_path.setdefault(source.path, []).append(source)
    for path, sources in by_path.items():
        places |= zip(sources, _places_of(path, sources, read, others), strict=True)
    ordered = tuple(places[source] for source in lineage.sources)
    is_sealed = seal_of(text) == lineage.seal
    if len(text) > MOST_CHARS:
        return Evidence(ordered, is_sealed, (f"{len(text)} characters, {MOST_CHARS} are the most",))
    if None in ordered or not is_sealed:
        return Evidence(ordered, is_sealed, ())
    now = [
        CurrentLines(source, place, file, is_summary=source.path in lineage.parents)
        for source, place in places.items()
        if place and (file := read(place.path))
    ]
    if lineage.method not in WORDED:
        return Evidence(ordered, is_sealed, tuple(_invented(text, now)))
    reworded: list[str] = []
    invented = [*_invented(text, now, reworded), *_lost(text, now)]
    covered = [piece for each in now for piece in _without_rules(each)]
    return Evidence(ordered, is_sealed, tuple(invented), tuple(reworded), tuple(covered))


class CurrentLines(Record):
    """Source lines of a summary, and where they are now."""

    source: SourceLines
    place: SourceLines
    file: CitedFile  # of the place
    is_summary: bool  # the file is a summary too

    def contains(self, first: int, last: int) -> bool:
        """Return whether some lines of the file are among them."""
        return self.place.start_line <= first and last <= self.place.end_line


def _without_rules(lines: CurrentLines) -> tuple[SourceLines, ...]:
    """Remove the lines that contain a rule from a range; an empty range if none is left."""
    place, first, last = lines.place, lines.place.start_line, lines.place.end_line
    rules = {n for unit in _rules(lines) for n in unit.numbers}
    free = [n for n in range(first, last + 1) if n not in rules]
    begins = [n for n in free if n - 1 not in free]
    ends = [n for n in free if n + 1 not in free]
    pieces = zip(begins, ends, strict=True)
    places = tuple(place._replace(start_line=a, end_line=b) for a, b in pieces)
    return places or (place._replace(end_line=first - 1),)


def _rules(lines: CurrentLines) -> list[Unit]:
    units = _read(lines.file, lines.place.start_line, lines.place.end_line).units
    return [unit for unit in units if any(keep_reason(s) == RULE for s in sentences_of(unit.text))]


def _lost(text: str, now: Sequence[CurrentLines]) -> Iterator[str]:
    """Yield the rules that a reworded summary does not quote word for word."""
    for each in now:
        for unit in () if each.is_summary else _rules(each):
            for sentence in sentences_of(unit.text):
                if keep_reason(sentence) == RULE and sentence not in text:
                    yield f"- {sentence} ({each.source.path}:{unit.numbers[0]})"


def _places_of(
    path: str, sources: Sequence[SourceLines], read: Open, others: Sequence[str]
) -> list[SourceLines | None]:
    """Find lines in their file, or, if it is gone, in another file that has all of them."""
    file = read(path)
    if file is not None:
        return locate(sources, file.lines)
    for other in others:
        moved = read(other)
        moves = locate(sources, moved.lines) if moved else []
        if moves and None not in moves:
            return [place and place._replace(path=other) for place in moves]
    return [None] * len(sources)


def _invented(
    text: str, now: Sequence[CurrentLines], reworded: list[str] | None = None
) -> Iterator[str]:
    """Yield the lines of a summary that the cited lines do not say.

    Lines that may say the same in other words are added to `reworded`, unless it is None.
    """
    lines = tuple(text.split("\n"))
    titles = {heading for each in now for heading in each.file.headings}
    headings = {heading for title in titles for heading in (title, _undated(title))}
    cites = dict(cited_lines(text))
    names = {log_name(cite.path) for cite in cites.values()}
    names |= {month_and_day(name)[0] for name in names}
    for number, line in list(enumerate(lines, start=1))[split(lines)[1] :]:
        if not line.strip():
            continue
        if line.startswith("#"):
            is_supported = _is_heading(line, headings, names)
        else:
            cite = cites.get(number)
            here = _cited(cite, now) if cite else None
            is_supported = bool(cite and here and _is_supported(cite, here, now))
            if cite and here and not is_supported and reworded is not None:
                is_supported = _is_close(cite, here)
                reworded += [line] * is_supported
        if not is_supported:
            yield line


def _is_heading(line: str, headings: set[str], names: set[str]) -> bool:
    title = line.lstrip("#").strip()
    name, _, rest = title.partition(" ")
    for text in (title, rest) if name in names else (title,):
        if not _undated(text) or not headings.isdisjoint((text, _undated(text))):
            return True
    return all(segment in headings for segment in title.split(" > "))


def _undated(title: str) -> str:
    match = _DATES.match(title)
    return title[match.end() :].strip() if match else title


class CitedContent(Record):
    """The content of the lines that a line of a summary cites."""

    units: tuple[Unit, ...]
    lines: tuple[str, ...]  # of the file
    has_other: bool  # they contain code or tables


def _cited(cite: CitedLine, now: Sequence[CurrentLines]) -> CitedContent | None:
    """Read the cited lines at their current place; None if they are not a source."""
    units: list[Unit] = []
    for lines in now:
        if lines.is_summary:
            units += [
                Unit(text, "", (0,), (number,))
                for number, each in lines.file.cited_lines
                for text in dict.fromkeys((each.text, unmarked(each.text)[0]))
                if lines.contains(number, number)
                and each.path == cite.path
                and cite.first <= each.first <= each.last <= cite.last
            ]
        elif _is_inside(cite, lines.source):
            shift = lines.place.start_line - lines.source.start_line
            return _read(lines.file, cite.first + shift, cite.last + shift)
    return CitedContent(tuple(units), (), has_other=False) if units else None


def _read(file: CitedFile, first: int, last: int) -> CitedContent:
    at = bisect_left(file.units, first, key=lambda unit: unit.numbers[-1])
    to = bisect_right(file.units, last, key=lambda unit: unit.numbers[0])
    begin = bisect_left(file.blocks, first, key=lambda block: block.end)
    end = bisect_left(file.blocks, last, key=lambda block: block.start)
    return CitedContent(
        units=tuple(file.units[at:to]),
        lines=tuple(file.lines[first - 1 : last]),
        has_other=any(block.kind in ("fence", "table") for block in file.blocks[begin:end]),
    )


def _is_supported(cite: CitedLine, here: CitedContent, now: Sequence[CurrentLines]) -> bool:
    """Return whether the cited lines say what a line says."""
    text = cite.text
    if text == NOTHING or any(text == unit.text for unit in here.units):
        return True
    if _consists_of(text, here.units):  # it may end like a mark
        return True
    text, times, replaces = unmarked(text)
    if replaces:
        old = cited_place(replaces)
        if old is None or not any(_is_inside(old, each.source) for each in now):
            return False
    if times > 1 and _times(text, now) < times:
        return False
    if _consists_of(text, here.units):
        return True
    return here.has_other and _is_described(text, here)


def _is_close(cite: CitedLine, here: CitedContent) -> bool:
    """Return whether a line has the names, numbers and negations of its citation, and no mark."""
    lines = [*map(with_speaker, here.units), *here.lines]
    return unmarked(cite.text) == (cite.text, 1, "") and is_supported(cite.text, lines)


def _is_inside(cite: CitedLine, source: SourceLines) -> bool:
    is_within = source.start_line <= cite.first <= cite.last <= source.end_line
    return source.path == cite.path and is_within


def _times(line: str, now: Iterable[CurrentLines]) -> int:
    """Count how often a text can appear in the source lines of a summary."""
    count = 0
    for lines in now:
        if lines.is_summary:
            cites = (unmarked(e.text) for n, e in lines.file.cited_lines if lines.contains(n, n))
            count += sum(times for text, times, _ in cites if text == line)
            continue
        count += sum(
            unit.text.count(line.removeprefix(f"{unit.speaker}: "))
            for unit in lines.file.units
            if lines.contains(unit.numbers[0], unit.numbers[-1]) and _consists_of(line, [unit])
        )
    return count


def _consists_of(text: str, units: Sequence[Unit]) -> bool:
    """Return whether a text consists of whole sentences of units, each with its speaker."""
    todo, seen = [(0, "")], set()
    steps = iter(range(MOST_STEPS))
    while todo and next(steps, None) is not None:
        at, who = todo.pop()
        if at == len(text):
            return True
        if (at, who) in seen:
            continue
        seen.add((at, who))
        for unit in units:
            name = f"{unit.speaker}: "
            if unit.speaker and text.startswith(name, at):
                begin = at + len(name)
            elif unit.speaker == who or not unit.speaker:
                begin = at
            else:
                continue
            for end in _ends(text, begin, unit.text, steps):
                todo += [(on, unit.speaker) for on in _behind(text, end)]
    return False


def _ends(line: str, begin: int, text: str, steps: Iterator[int]) -> Iterator[int]:
    """Yield the ends of whole sentences of a unit that begin at a place of the text."""
    marks = [match.end() for match in _END.finditer(text)]
    starts = [0, *marks]
    ends = sorted({*marks, len(text)})
    for start in starts:
        first = start + len(text[start:]) - len(text[start:].lstrip())
        if not line.startswith(text[first : first + 1], begin):
            continue
        for end in ends:
            if end <= first:
                continue
            if next(steps, None) is None:
                return
            if line.startswith(text[first:end], begin):
                yield begin + end - first


def _behind(text: str, end: int) -> Iterator[int]:
    """Yield where the next sentence may begin: after a space or a semicolon, or at once."""
    if end == len(text) or text[end - 1] in "。！？…":
        yield end
    if text.startswith(" ", end):
        yield end + 1
    if text.startswith("; ", end):
        yield end + 2


def _is_described(text: str, here: CitedContent) -> bool:
    """Return whether a line that describes code, a log or a table names its content."""
    for match in _CODE.finditer(text):
        lead, body = text[: match.start()].strip(), text[match.start() :]
        if lead and not _consists_of(lead, here.units):
            continue
        if body[0] == "`":
            if all(_stands(line, here) for line in body[1:-1].split("`; `")):
                return True
            continue
        placeholder = _PLACEHOLDER.fullmatch(body)
        if placeholder and int(placeholder[1]) <= len(here.lines):
            names = re.split("(?:^|; )columns |, ", placeholder[2])
            return all(_stands(name, here) for name in names if name != NOTHING)
    return False


def _stands(text: str, here: CitedContent) -> bool:
    """Return whether a line contains a few words exactly."""
    sentence = text.strip()
    rows = [*(without_data(line) for line in here.lines), *(unit.text for unit in here.units)]
    return any(sentence in row or sentence in row.replace("`", "'") for row in rows)
