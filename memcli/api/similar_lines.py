"""Find the lines that a new note may repeat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from math import fsum
from operator import mul

from memcli.api.ask import bring_up_to_date
from memcli.api.workspace import Workspace
from memcli.api.workspaces import Workspaces
from memcli.embedding.encoders import IndexModel
from memcli.embedding.models import is_readable, known
from memcli.errors import MemcliError, Reason
from memcli.language.facts import containment, facets_of, jaccard
from memcli.markdown.parse import parse
from memcli.markdown.units import units, with_speaker
from memcli.remember.admission import SimilarLine
from memcli.search.recall import RecallBounds, recall, scope_within
from memcli.search.related import words_of
from memcli.types import EMPTY, PRIVATE, Candidate, Filters

LOOKED_AT = 20  # chunks from each retriever
COMPARED = 16  # lines compared by vectors: about 5 ms each


class SimilarLines:
    """Finds the lines most similar to a text; updates the index once."""

    def __init__(self, workspace: Workspace) -> None:
        """Update the index as for a search; `notices` list what cannot be compared."""
        self._workspace = workspace
        self.notices: tuple[Reason, ...] = ()
        self._index: IndexModel | None = None
        try:
            mode = workspace.config("search.mode")
            freshness = bring_up_to_date(
                Workspaces(workspace), workspace.index_model(), mode, sync=None
            )
            if freshness.state != EMPTY:
                self._index = workspace.index_model()
        except MemcliError as error:
            self.notices = (error.reason,)

    @property
    def knows_cosines(self) -> bool:
        """Return whether the vectors are of a model whose cosines were calibrated here."""
        fingerprint = self._index.fingerprint if self._index else None
        return bool(fingerprint and known(fingerprint).calibration)

    def of(self, text: str) -> tuple[SimilarLine, ...]:
        """Return the lines, first those with the most words of the text or nearest in meaning."""
        chunks = self._recalled(text)
        near = [each for candidate in chunks for each in _lines_of(candidate, length(text))]
        return self._compared(text, near)

    def _recalled(self, text: str) -> Sequence[Candidate]:
        query, vector = words_of(text), self._vector(text)
        if query.is_empty or self._index is None:
            return ()
        with self._workspace.store.snapshot() as snapshot:
            return recall(
                snapshot,
                query,
                total=snapshot.counts().chunks,
                keyword=True,
                vector=vector,
                bounds=RecallBounds(LOOKED_AT, scope_within(snapshot, Filters(view="raw"))),
            ).candidates

    def _vector(self, text: str) -> bytes | None:
        """Embed a text; None if the index has no vectors of a model that can read it."""
        index, workspace = self._index, self._workspace
        if index is None or workspace.config("search.mode") == "keyword":
            return None
        if index.fingerprint is None or not is_readable(text, index.fingerprint):
            return None
        return workspace.query_encoder.encode_query(text, index).blob

    def _compared(self, text: str, lines: Sequence[SimilarLine]) -> tuple[SimilarLine, ...]:
        """Order lines by their likeness to a text; compare the first by their own vectors."""
        own = facets_of(text)
        facets = {each.text: facets_of(each.text) for each in lines}

        def alike(each: SimilarLine) -> tuple[float, float, str, int]:
            other = facets[each.text]
            likeness = max(jaccard(own, other), each.cosine or 0.0)
            return -likeness, -containment(own, other), each.path, each.start_line

        ordered = sorted(dict.fromkeys(lines), key=alike)
        vector = self._vector(text)
        vectors = (vector and self._vector(each.text) for each in ordered[:COMPARED])
        return tuple(
            each._replace(cosine=_cosine(vector, own))
            for each, own in zip_longest(ordered, vectors)
        )


def _lines_of(candidate: Candidate, count: int) -> Iterator[SimilarLine]:
    """Yield the items and paragraphs of a chunk, and every run of lines as long as the note.

    Their cosines are those of the segments with their lines.
    """
    about, lines = candidate.about, candidate.text.split("\n")
    is_private = about.scope == PRIVATE

    def cosine(first: int, last: int) -> float | None:
        segments = candidate.segments
        own = (s.cosine for s in segments if s.start_line <= last and first <= s.end_line)
        return max((each for each in own if each is not None), default=None)

    for block in parse(candidate.text).blocks:
        for unit in units(block, lines):
            first, last = (about.start_line + unit.numbers[at] - 1 for at in (0, -1))
            text = with_speaker(unit)
            yield SimilarLine(
                about.source, about.path, first, last, text, cosine(first, last),
                is_private=is_private, is_heading=block.kind == "heading",
                headings=about.heading_path,
            )  # fmt: skip
    if count > 1:
        for start, end, text in windows(lines, count):
            first, last = (about.start_line + number - 1 for number in (start, end))
            yield SimilarLine(
                about.source, about.path, first, last, text, cosine(first, last),
                is_private=is_private,
            )  # fmt: skip


def _cosine(a: bytes | None, b: bytes | None) -> float | None:
    if not (a and b):
        return None
    from struct import unpack

    one, other = (unpack(f"<{len(each) // 4}f", each) for each in (a, b))
    cosine: float = fsum(map(mul, one, other))
    return min(1.0, max(0.0, cosine))


def length(text: str) -> int:
    """Count the lines of a note, without blank ones."""
    return sum(bool(line.strip()) for line in text.split("\n"))


def windows(lines: Sequence[str], count: int) -> Iterator[tuple[int, int, str]]:
    """Yield every run of `count` lines that are not blank: first and last number from 1, text."""
    filled = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    for at in range(len(filled) - count + 1):
        run = filled[at : at + count]
        yield run[0][0], run[-1][0], "\n".join(line for _, line in run)
