"""Make passages of whole lines: widen them to a thought, join them, narrow them; pure.

A segment may be a piece of a line, an introduction without its list, or a scrap of markup. memcli
cites the lines that it prints, so a passage has whole lines of its chunk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate

from memcli.checking import TYPE_CHECKING
from memcli.language.stopwords import FILLERS
from memcli.record import Record
from memcli.types import SUMMARY, Candidate, SegmentScore

if TYPE_CHECKING:
    from memcli.search.ranked import RankedPassage

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
    """Neighbouring segments of a chunk, both ends included."""

    first: int
    last: int


def by_line(candidate: Candidate) -> Candidate:
    """Cut the segments of a chunk at line ends; each piece keeps the cosine of its segment."""
    return candidate._replace(
        segments=tuple(
            each for segment in candidate.segments for each in _line_parts(candidate.text, segment)
        )
    )


def _line_parts(text: str, segment: SegmentScore) -> Iterable[SegmentScore]:
    lines = text[segment.start : segment.end].split("\n")
    if len(lines) != segment.end_line - segment.start_line + 1:
        return (segment,)
    starts = accumulate((len(line) + 1 for line in lines), initial=segment.start)
    return [
        segment._replace(start_line=at, end_line=at, start=start, end=start + len(line))
        for at, (line, start) in enumerate(zip(lines, starts, strict=False), segment.start_line)
        if line.strip()
    ]


def whole_lines(candidate: Candidate, run: Run) -> Run:
    """Add the other segments of the first and the last line of a run."""
    segments, first, last = candidate.segments, *run
    while first > 0 and segments[first - 1].end_line >= segments[first].start_line:
        first -= 1
    while last + 1 < len(segments) and segments[last + 1].start_line <= segments[last].end_line:
        last += 1
    return Run(first, last)


def whole_thought(candidate: Candidate, run: Run, is_free: Callable[[int], bool]) -> Run:
    """Complete a run: whole lines, what its last line introduces, the neighbour of a scrap.

    Segments that are not free belong to another passage.
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
    """Narrow a run until its text fits, or as far as possible."""
    runs = narrower(candidate, run, best)
    while not fits(_text(candidate, run)) and (shorter := next(runs, None)):
        run = shorter
    return run


def narrower(candidate: Candidate, run: Run, best: int) -> Iterator[Run]:
    """Remove one line after another from the ends of a run, the farthest from `best` first.

    The last line is then cut between its segments, around `best`.
    """
    segments = candidate.segments
    while True:
        heads = [i for i in range(run.first + 1, best + 1) if _begins(candidate, i)]
        tails = [i for i in range(best, run.last) if _begins(candidate, i + 1)]
        if not heads and not tails:
            break
        above = segments[best].start_line - segments[run.first].start_line
        below = segments[run.last].end_line - segments[best].end_line
        if heads and (above > below or not tails):
            run = run._replace(first=heads[0])
        else:
            run = run._replace(last=tails[-1])
        yield run
    for before, behind in ((1, 2), (1, 1), (0, 1), (0, 0)):
        shorter = Run(max(run.first, best - before), min(run.last, best + behind))
        if shorter != run:
            run = shorter
            yield run


def _begins(candidate: Candidate, segment: int) -> bool:
    """Return whether a segment begins on a new line."""
    return candidate.segments[segment].start_line > candidate.segments[segment - 1].end_line


def _text(candidate: Candidate, run: Run) -> str:
    """Return the text of a run; all segments together are the chunk with its headings."""
    segments = candidate.segments
    if run.first == 0 and run.last >= len(segments) - 1:
        return candidate.text
    return candidate.text[segments[run.first].start : segments[run.last].end]


def _is_scrap(text: str) -> bool:
    """Return whether a run is only a mark, `TODO`, or an introduction without its list."""
    if len(text) > MOST_FILLER:
        return introduces(text) or not any(map(str.isalnum, text))
    return introduces(text) or FILLERS.issuperset(_WORDS.findall(text.casefold()))


def introduces(text: str) -> bool:
    """Return whether a text ends with a colon, also in emphasis. Called for every segment."""
    has_colon = ":" in text or "：" in text  # the quick test: most have none
    return has_colon and text.removesuffix("\n").rstrip(" \t*_").endswith((":", "："))


def _with_next_line(candidate: Candidate, run: Run, is_free: Callable[[int], bool]) -> Run:
    """Add the line after a run, or else the line before it."""
    if run.last + 1 < len(candidate.segments) and is_free(run.last + 1):
        return whole_lines(candidate, run._replace(last=run.last + 1))
    if run.first > 0 and is_free(run.first - 1):
        return whole_lines(candidate, run._replace(first=run.first - 1))
    return run


def _with_announced(candidate: Candidate, run: Run, is_free: Callable[[int], bool]) -> Run:
    """Add the block after an introduction: to the end of a fence, or to the next blank line."""
    segments, text = candidate.segments, candidate.text
    most = segments[run.last].end_line + MOST_ANNOUNCED
    last, fence = run.last, ""
    while last + 1 < len(segments) and is_free(last + 1) and segments[last + 1].end_line <= most:
        gap = text[segments[last].end : segments[last + 1].start]
        if last > run.last and not fence and gap.count("\n") > 1:
            break
        last += 1
        for line in text[segments[last].start : segments[last].end].split("\n"):
            mark = _FENCE.match(line)
            if mark and not fence:
                fence = mark[1]
            elif mark and mark[1].startswith(fence):
                return whole_lines(candidate, run._replace(last=last))
    return whole_lines(candidate, run._replace(last=last))


def joined(passages: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Join passages that touch in the file if they follow each other in rank or score alike."""
    result: list[RankedPassage] = []
    for passage in passages:
        touching = (
            at
            for at, better in enumerate(result)
            if (at + 1 == len(result) or passage.score >= ALIKE * better.score)
            and _touch(better, passage)
        )
        at = next(touching, None)
        if at is None:
            result.append(passage)
            continue
        first, last = min(result[at].first, passage.first), max(result[at].last, passage.last)
        moved = result[at].moved(result[at].score, "join", added=passage.citation)
        result[at] = moved._replace(first=first, last=last)
    return result


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
