"""Make passages of whole lines: widen them to a thought, join them, narrow them; pure.

A part of a chunk may be a piece of a line, an introduction without its list, or a scrap of markup.
memcli cites the lines that it prints, so a passage has whole lines of its chunk.
"""

from __future__ import annotations

import re
from itertools import accumulate

from memcli.checking import TYPE_CHECKING
from memcli.language.stopwords import FILLERS
from memcli.record import Record
from memcli.types import SUMMARY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memcli.search.ranked import RankedPassage
    from memcli.types import Candidate, PartScore

# Lines that an introduction brings with it: a short list or block of code.
MOST_ANNOUNCED = 12

# Passages ranked in addition to the limit; they replace those that are joined.
SPARE = 10
MOST_JOINED = 12  # lines
ALIKE = 0.75  # share of the score of a better passage that a neighbour needs to join it
# Length of a passage in the profile `classic`.
CLASSIC_CHARS = 700

MOST_FILLER = 20  # characters of a line that may have no content
_WORDS = re.compile(r"\w+")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")


class Run(Record):
    """Neighbouring parts of a chunk, both ends included."""

    first: int
    last: int


def by_line(candidate: Candidate) -> Candidate:
    """Cut the parts of a chunk at the ends of lines; each keeps the cosine of its part."""
    return candidate._replace(
        parts=tuple(each for part in candidate.parts for each in _line_parts(candidate.text, part))
    )


def _line_parts(text: str, part: PartScore) -> Iterable[PartScore]:
    lines = text[part.start : part.end].split("\n")
    if len(lines) != part.end_line - part.start_line + 1:
        return (part,)
    starts = accumulate((len(line) + 1 for line in lines), initial=part.start)
    return [
        part._replace(start_line=at, end_line=at, start=start, end=start + len(line))
        for at, (line, start) in enumerate(zip(lines, starts, strict=False), part.start_line)
        if line.strip()
    ]


def whole_lines(candidate: Candidate, run: Run) -> Run:
    """Add the other parts of the first and the last line of a run."""
    parts, first, last = candidate.parts, *run
    while first > 0 and parts[first - 1].end_line >= parts[first].start_line:
        first -= 1
    while last + 1 < len(parts) and parts[last + 1].start_line <= parts[last].end_line:
        last += 1
    return Run(first, last)


def whole_thought(candidate: Candidate, run: Run, is_free: Callable[[int], bool]) -> Run:
    """Complete a run: whole lines, what its last line introduces, the neighbour of a scrap.

    Parts that are not free belong to another passage.
    """
    run = whole_lines(candidate, run)
    text = _text(candidate, run)
    if introduces(text):
        run = _with_announced(candidate, run, is_free)
        text = _text(candidate, run)
    while _is_scrap(text) and (wider := _with_next_line(candidate, run, is_free)) != run:
        run = wider
        text = _text(candidate, run)
    return run


def narrowed(candidate: Candidate, run: Run, best: int, fits: Callable[[str], bool]) -> Run:
    """Remove lines from the ends of a run, the farthest from `best` first, until its text fits.

    A single line that is too long is cut between its parts, around `best`.
    """
    parts = candidate.parts
    while not fits(_text(candidate, run)):
        heads = [i for i in range(run.first + 1, best + 1) if _begins(candidate, i)]
        tails = [i for i in range(best, run.last) if _begins(candidate, i + 1)]
        if not heads and not tails:
            return _narrowed_line(candidate, run, best, fits)
        above = parts[best].start_line - parts[run.first].start_line
        below = parts[run.last].end_line - parts[best].end_line
        if heads and (above > below or not tails):
            run = run._replace(first=heads[0])
        else:
            run = run._replace(last=tails[-1])
    return run


def _narrowed_line(candidate: Candidate, run: Run, best: int, fits: Callable[[str], bool]) -> Run:
    found = Run(best, best)
    for wider in (Run(best, best + 1), Run(best - 1, best + 1), Run(best - 1, best + 2)):
        inside = Run(max(run.first, wider.first), min(run.last, wider.last))
        if fits(_text(candidate, inside)):
            found = inside
    return found


def _begins(candidate: Candidate, part: int) -> bool:
    """Return whether a segment begins on a new line."""
    return candidate.parts[part].start_line > candidate.parts[part - 1].end_line


def _text(candidate: Candidate, run: Run) -> str:
    """Return the text of a run; all parts together are the chunk with its headings."""
    parts = candidate.parts
    if run.first == 0 and run.last >= len(parts) - 1:
        return candidate.text
    return candidate.text[parts[run.first].start : parts[run.last].end]


def _is_scrap(text: str) -> bool:
    """Return whether a run has no content: a mark, `TODO`, or an introduction without its list."""
    if len(text) > MOST_FILLER:
        return introduces(text) or not any(map(str.isalnum, text))
    return introduces(text) or FILLERS.issuperset(_WORDS.findall(text.casefold()))


def introduces(text: str) -> bool:
    """Return whether a text ends with a colon, also in emphasis. Called for every segment."""
    has_colon = ":" in text or "：" in text  # the quick test: most have none
    return has_colon and text.removesuffix("\n").rstrip(" \t*_").endswith((":", "："))


def _with_next_line(candidate: Candidate, run: Run, is_free: Callable[[int], bool]) -> Run:
    """Add the line after a run, or else the line before it."""
    if run.last + 1 < len(candidate.parts) and is_free(run.last + 1):
        return whole_lines(candidate, run._replace(last=run.last + 1))
    if run.first > 0 and is_free(run.first - 1):
        return whole_lines(candidate, run._replace(first=run.first - 1))
    return run


def _with_announced(candidate: Candidate, run: Run, is_free: Callable[[int], bool]) -> Run:
    """Add the block after an introduction: to the end of a fence, or to the next blank line."""
    parts, text = candidate.parts, candidate.text
    most = parts[run.last].end_line + MOST_ANNOUNCED
    last, fence = run.last, ""
    while last + 1 < len(parts) and is_free(last + 1) and parts[last + 1].end_line <= most:
        gap = text[parts[last].end : parts[last + 1].start]
        if last > run.last and not fence and gap.count("\n") > 1:
            break
        last += 1
        for line in text[parts[last].start : parts[last].end].split("\n"):
            mark = _FENCE.match(line)
            if mark and not fence:
                fence = mark[1]
            elif mark and mark[1].startswith(fence):
                return whole_lines(candidate, run._replace(last=last))
    return whole_lines(candidate, run._replace(last=last))


def joined(passages: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Join passages that touch in the file if they follow each other in rank or score alike."""
    kept: list[RankedPassage] = []
    for passage in passages:
        touching = (
            at
            for at, better in enumerate(kept)
            if (at + 1 == len(kept) or passage.score >= ALIKE * better.score)
            and _touch(better, passage)
        )
        at = next(touching, None)
        if at is None:
            kept.append(passage)
            continue
        first, last = min(kept[at].first, passage.first), max(kept[at].last, passage.last)
        moved = kept[at].moved(kept[at].score, "join", added=passage.citation)
        kept[at] = moved._replace(first=first, last=last)
    return kept


def _touch(passage: RankedPassage, other: RankedPassage) -> bool:
    """Return whether two passages of one chunk are neighbours and short enough together."""
    if passage.about.chunk_id != other.about.chunk_id or passage.about.kind == SUMMARY:
        return False
    if _weights(passage) != _weights(other):  # one has lines of another speaker
        return False
    beside = passage.last + 1 == other.first or other.last + 1 == passage.first
    first, last = min(passage.start_line, other.start_line), max(passage.end_line, other.end_line)
    return beside and last - first < MOST_JOINED


def _weights(passage: RankedPassage) -> list[object]:
    return [step.inputs for step in passage.trace if step.stage == "speaker"]


def beginning(passages: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Narrow whole chunks to the first lines, up to CLASSIC_CHARS."""
    return [_shortened(passage, lambda text: len(text) <= CLASSIC_CHARS) for passage in passages]


def _shortened(passage: RankedPassage, fits: Callable[[str], bool]) -> RankedPassage:
    if fits(passage.text):
        return passage
    first, last = narrowed(passage.candidate, Run(passage.first, passage.last), passage.best, fits)
    return passage._replace(first=first, last=last)


def cut_down(passage: RankedPassage, fits: Callable[[str], bool]) -> RankedPassage | None:
    """Return the best lines of a passage that fit, or None if not even the best one does."""
    shorter = _shortened(passage, fits)
    return shorter if fits(shorter.text) else None
