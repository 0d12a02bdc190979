"""The records that pass between the stages of a search."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.record import Record
from memcli.types import About, Candidate, Turn, cite


class Step(Record):
    """What one stage did to a passage: the score it left and the numbers it used."""

    stage: str
    score: float
    inputs: tuple[tuple[str, float | int | str | None], ...]


class Quotation(Record):
    """Lines of a document, and what is known about them."""

    about: About
    text: str
    supersedes: tuple[str, ...] = ()  # file names that its front matter lists as replaced


class Correction(Record):
    """A newer line that replaces a line of a passage."""

    chunk_id: int
    source: str
    path: str
    start_line: int
    end_line: int
    date: str
    text: str
    line: int = 0  # that it corrects, among several of a passage; 0: the only one, or all

    @property
    def citation(self) -> str:
        """Name the lines as `memcli get` takes them."""
        return cite(self.source, self.path, self.start_line, self.end_line)

    @property
    def document(self) -> tuple[str, str]:
        """Return its source and path."""
        return self.source, self.path

    @property
    def record(self) -> dict[str, str | int]:
        """Describe it for programs."""
        own = {key: value for key, value in self._asdict().items() if key != "chunk_id"}
        if not self.line:
            del own["line"]
        return {"citation": self.citation, **own}


def mark_of(lines: Sequence[Correction], whole: str = "") -> str:
    """Return the mark of a passage that some lines correct; "" if there are none.

    `whole` names the lines of the passage, for corrections of all of them.
    """
    places: dict[Correction, list[str]] = {}
    for each in sorted(lines, key=lambda each: each.line):
        places.setdefault(each._replace(line=0), []).append(str(each.line or whole))
    return ", ".join(
        f"{', '.join(older)} corrected by {newer.citation} ({newer.date})".lstrip()
        for newer, older in places.items()
    )


class RankedPassage(Record):
    """A run of segments of one candidate, with its score so far and how it came about."""

    candidate: Candidate
    first: int  # segment of the candidate, from 0
    last: int  # included
    score: float
    cosine: float | None  # of the best segment, clamped to [0, 1]; None without a vector
    coverage: float  # share of the query's IDF that the chunk matches, 0 to 1
    confidence: float | None = None
    duplicates: tuple[str, ...] = ()  # citations with the same content
    trace: tuple[Step, ...] = ()
    # Of the passage only, if it is less than its chunk; None: as above.
    own_cosine: float | None = None
    own_coverage: float | None = None
    best: int = 0  # the segment that it was found by
    is_literal: bool = False  # it contains what makes its chunk a literal match
    named_speakers: tuple[str, ...] = ()  # speakers whom the query names, if its chunk has turns
    # How much more of the query a line of a named speaker contains than a line of others, -1 to 1.
    speaker_match: float | None = None
    turns: tuple[Turn, ...] = ()  # the speakers in its chunk; only of shown passages
    # Its lines, each with its share of the question's IDF without speakers' names.
    shares: tuple[tuple[int, float], ...] = ()
    # Lines in which another speaker claims what is asked about `named_speakers`.
    claims: tuple[int, ...] = ()
    broken: tuple[bool, bool] = (False, False)  # the chunk begins, and ends, within a line
    assumed: float | None = None  # a cosine assumed for a missing one
    decay: float = 1.0  # the factor of its age, if ages count
    corrected_by: tuple[Correction, ...] = ()  # newest first
    must_follow: frozenset[tuple[int, int]] = frozenset()  # chunk and line of those before it
    moment: str = ""  # when its document was written, if ages count and a time is known
    gaps: tuple[tuple[int, int], ...] = ()  # spans of its chunk's text that an ellipsis replaces
    small_talk: frozenset[int] = frozenset()  # lines of a conversation that tell nothing
    greetings: frozenset[int] = frozenset()  # such lines that are only courtesies

    @property
    def about(self) -> About:
        """Return what is known about its chunk."""
        return self.candidate.about

    @property
    def written(self) -> str | None:
        """Return the ISO date of its document, with a time of day where ages are counted by it."""
        return self.moment or self.about.document_date

    @property
    def term_share(self) -> float:
        """Return the share of the query's IDF that the passage contains, 0 to 1."""
        return self.coverage if self.own_coverage is None else self.own_coverage

    def similarity(self, best_text: float) -> float:
        """Return the cosine, or the one assumed; in an answer by keywords only bm25 / best bm25."""
        for cosine in (self.cosine, self.assumed):
            if cosine is not None:
                return cosine
        return self.candidate.bm25 / best_text if best_text > 0 else 0.0

    @property
    def is_moved_newer(self) -> bool:
        """Return whether it comes first because it corrects another passage."""
        return any(step.stage == "newer" for step in self.trace)

    @property
    def is_whole(self) -> bool:
        """Return whether the passage is the whole chunk, headings and all."""
        return self.first == 0 and self.last >= len(self.candidate.segments) - 1

    @property
    def start_line(self) -> int:
        """Return the first line of the passage."""
        segments = self.candidate.segments
        return self.about.start_line if self.is_whole else segments[self.first].start_line

    @property
    def end_line(self) -> int:
        """Return the last line of the passage."""
        segments = self.candidate.segments
        return self.about.end_line if self.is_whole else segments[self.last].end_line

    @property
    def lines(self) -> range:
        """Return the numbers of its lines."""
        return range(self.start_line, self.end_line + 1)

    @property
    def text(self) -> str:
        """Return the text of the passage as it is in the file."""
        if self.is_whole:
            return self.candidate.text
        segments = self.candidate.segments
        return self.candidate.text[segments[self.first].start : segments[self.last].end]

    @property
    def starts_at(self) -> int:
        """Return the character of the chunk at which the passage begins."""
        return 0 if self.is_whole else self.candidate.segments[self.first].start

    @property
    def shown(self) -> str:
        """Return the text of the passage with an ellipsis in place of each gap."""
        start = self.starts_at
        return self.between(start, start + len(self.text))

    def between(self, start: int, end: int) -> str:
        """Return characters of the chunk with an ellipsis in place of each gap."""
        pieces = []
        for gap, stop in self.gaps:
            if start <= gap and stop <= end:
                pieces.append(self.candidate.text[start:gap])
                start = stop
        return "…".join([*pieces, self.candidate.text[start:end]])

    @property
    def is_cut(self) -> bool:
        """Return whether its first or last line continues outside the passage."""
        return self.continues_before or self.continues_after

    @property
    def continues_before(self) -> bool:
        """Return whether its first line begins before it."""
        start = self.starts_at
        return self.candidate.text[start - 1] != "\n" if start else self.broken[0]

    @property
    def continues_after(self) -> bool:
        """Return whether its last line ends behind it."""
        text = self.candidate.text
        end = len(text) if self.is_whole else self.candidate.segments[self.last].end
        return text[end] != "\n" if end < len(text) else self.broken[1]

    def touches(self, document: tuple[str, str], first: int, last: int) -> bool:
        """Return whether it shows one of some lines of a document (source, path)."""
        is_near = self.start_line <= last and first <= self.end_line
        return is_near and self.about.document == document

    def contains(self, other: RankedPassage) -> bool:
        """Return whether all lines of another passage are among its own."""
        return (
            self.about.chunk_id == other.about.chunk_id
            and self.start_line <= other.start_line
            and other.end_line <= self.end_line
        )

    @property
    def spoken(self) -> dict[str, int]:
        """Count the lines of the passage per speaker, in the order of their turns."""
        counts: dict[str, int] = {}
        for turn in self.turns:
            lines = min(turn.end_line, self.end_line) - max(turn.start_line, self.start_line) + 1
            if lines > 0:
                counts[turn.speaker] = counts.get(turn.speaker, 0) + lines
        return counts

    @property
    def is_claimed(self) -> bool:
        """Return whether one of its lines is among its claims."""
        return any(line in self.lines for line in self.claims)

    def claim_at(self, line: int) -> str:
        """Return the mark of a line in which another speaker claims what is asked; or ""."""
        return f"[not {' or '.join(self.named_speakers)}]" if line in self.claims else ""

    @property
    def citation(self) -> str:
        """Name the lines of the passage as `memcli get` takes them."""
        about = self.about
        return cite(about.source, about.path, self.start_line, self.end_line)

    def moved(self, score: float, stage: str, **inputs: float | int | str | None) -> RankedPassage:
        """Return the passage with a new score, and add the reason to the trace."""
        step = Step(stage, score, tuple(inputs.items()))
        return self._replace(score=score, trace=(*self.trace, step))

    def noted(self, name: str, value: float | str) -> RankedPassage:
        """Return the passage with a further input of the last step of its trace."""
        *before, last = self.trace
        step = last._replace(inputs=(*last.inputs, (name, value)))
        return self._replace(trace=(*before, step))


def ordered(passages: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Sort by score, ties by date, newest first, then by path and line."""
    if len({passage.score for passage in passages}) == len(passages):  # there are no ties
        return sorted(passages, key=_score, reverse=True)
    return sorted(passages, key=_key)


def _score(passage: RankedPassage) -> float:
    return passage.score


def _key(passage: RankedPassage) -> tuple[float, int, str, str, int, int]:
    about, day = passage.about, passage.about.document_date or "0"
    age = -int(day.replace("-", ""))
    return (-passage.score, age, about.source, about.path, passage.start_line, passage.first)
