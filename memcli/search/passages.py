"""The passage as programs receive it: the record of `memcli.search/1` and of Python; pure."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.checking import TYPE_CHECKING
from memcli.language.tokens import estimate
from memcli.markdown.segments import digest
from memcli.record import Record
from memcli.search.snippet import make_snippet
from memcli.types import split_source

if TYPE_CHECKING:
    from memcli.search.ranked import RankedPassage, Step


# Fields that are those of the chunk and of the ranked passage.
OF_CHUNK = ("ref", "path", "heading_path", "title", "date", "kind", "source_kind", "scope", "trust")
OF_PASSAGE = (
    "start_line", "end_line", "score", "confidence", "citation", "text", "speaker_match",
    "duplicates", "trace",
)  # fmt: skip


class Passage(Record):
    """Lines that answer a question, and the reasons for their rank."""

    rank: int  # from 1
    ref: str  # names the record, and stays when lines move
    workspace: str | None  # its name, if several are searched
    path: str
    source: str
    start_line: int  # from 1; both ends are included
    end_line: int
    heading_path: tuple[str, ...]
    title: str
    date: str | None
    date_from: str | None  # the first day of a week or a month; its last day is the date
    score: float  # orders the passages of one question, and no others
    confidence: float | None  # 0 to 1; None for a model that nobody has measured
    citation: str  # the argument for `get`
    snippet: str  # the shown text, without comments
    text_hash: str
    tokens: int  # of the text, as estimated
    kind: str
    source_kind: str
    scope: str
    trust: str
    text: str  # the text of the file
    cut: bool  # a line too long for the passage continues outside it
    speakers: tuple[str, ...]  # of its lines, if it is of a conversation
    # How much more of the question's words the best line of a named speaker contains than the best
    # of others, as a share of their IDF from -1 to 1; None if it names nobody who speaks.
    speaker_match: float | None
    duplicates: tuple[str, ...]  # citations of passages with the same content
    corrected_by: tuple[dict[str, str | int], ...]  # newer lines that replace lines of it
    trace: tuple[Step, ...]


def passages_of(passages: Sequence[RankedPassage]) -> tuple[Passage, ...]:
    """Describe passages, best first."""
    return tuple(_passage(rank, passage) for rank, passage in enumerate(passages, start=1))


def _passage(rank: int, passage: RankedPassage) -> Passage:
    about, text = passage.about, passage.text
    workspace, source = split_source(about.source)
    return Passage(
        rank=rank,
        workspace=workspace or None,
        source=source,
        date_from=about.first_day,
        snippet=make_snippet(passage, words=()).text,
        text_hash=digest(text).hex(),
        tokens=estimate(text),
        cut=passage.is_cut,
        speakers=tuple(passage.spoken),
        corrected_by=tuple(each.record for each in passage.corrected_by),
        **{name: getattr(about, name) for name in OF_CHUNK},
        **{name: getattr(passage, name) for name in OF_PASSAGE},
    )
