"""The records that pass between the stages of a search."""

from __future__ import annotations

from typing import NamedTuple

from memcli.types import Candidate


class Step(NamedTuple):
    """What one stage did to a hit: the score it left and the numbers it used."""

    stage: str
    score: float
    inputs: tuple[tuple[str, float | int | str | None], ...]


class Hit(NamedTuple):
    """A candidate with its score so far and how it came about."""

    candidate: Candidate
    score: float
    cosine: float | None  # of the best part, clamped to [0, 1]; None without a vector
    coverage: float  # share of the query's IDF that the chunk matches, 0 to 1
    confidence: float | None
    duplicates: tuple[str, ...]  # citations that say the same
    trace: tuple[Step, ...]

    def focus(self) -> tuple[int, int]:
        """Give the characters of the part nearest to the query, or of the whole chunk."""
        parts = [p for p in self.candidate.parts if p.cosine is not None]
        if not parts:
            return 0, len(self.candidate.text)
        best = max(parts, key=lambda part: part.cosine or 0.0)
        return best.start, best.end

    def moved(self, score: float, stage: str, **inputs: float | int | str | None) -> Hit:
        """Give the hit a new score and say why in the trace."""
        step = Step(stage, score, tuple(inputs.items()))
        return self._replace(score=score, trace=(*self.trace, step))


def ordered(hits: list[Hit]) -> list[Hit]:
    """Sort by score, ties by path and line: the same query gives the same bytes."""
    return sorted(hits, key=_key)


def _key(hit: Hit) -> tuple[float, str, str, int, int]:
    candidate = hit.candidate
    return (-hit.score, candidate.source, candidate.path, candidate.start_line, candidate.chunk_id)


def citation(candidate: Candidate) -> str:
    """Name the lines of a candidate: `path:start-end`."""
    return f"{candidate.path}:{candidate.start_line}-{candidate.end_line}"
