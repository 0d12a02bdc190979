"""Let a local model write the lines of a summary, in the protocol of `command`; pure except for it.

The model reads the lines of a section and writes a few sentences, without citations. Each sentence
gets the citation of the lines that contain most of its words. A sentence that no lines support, by
its words and by its names, gets none and so counts as invented.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import exp
from typing import Protocol

from memcli.compaction.external_summarizer import WITHOUT, Rewrite
from memcli.compaction.sentences import split
from memcli.embedding.generator import Generated
from memcli.errors import RetrieverError, UsageError
from memcli.language.salience import names_in
from memcli.language.terms import content
from memcli.markdown.lineage import CitedLine, cited
from memcli.types import lines_of

SUPPORTED = 0.6  # share of a sentence's words that its lines contain
WIDEST = 3  # lines that a sentence may join
TEXT = "{text}"


class WritingModel(Protocol):
    """A model that writes."""

    @property
    def reads(self) -> int:
        """Return the most tokens that a text may have."""

    def count(self, text: str) -> int:
        """Count the tokens of a text."""

    def write(self, text: str) -> Generated:
        """Continue a text."""


def generating(model: WritingModel, prompt: str) -> Rewrite:
    """Return a function that lets the model write lines; its input replaces TEXT in the prompt."""
    prompt = prompt if TEXT in prompt else prompt + TEXT

    def rewrite(text: str) -> str:
        rows: list[str] = []
        likely, tokens = 0.0, 0
        for lines in _readable(text, model, prompt):
            try:
                made = model.write(_request(prompt, lines))
            except RetrieverError as error:
                raise UsageError(error.message, hint=WITHOUT) from error
            likely, tokens = likely + made.log_probability, tokens + made.tokens
            rows += (_line(sentence, lines) for sentence in split(made.text))
        sure = exp(likely / tokens) if tokens else 0.0
        return "\n".join([*rows, f"confidence: {min(1.0, sure):.6f}"])

    return rewrite


def _request(prompt: str, lines: Sequence[CitedLine]) -> str:
    return prompt.replace(TEXT, "\n".join(line.text for line in lines))


def _readable(text: str, model: WritingModel, prompt: str) -> Iterator[list[CitedLine]]:
    """Yield the lines of each section, in pieces that the model can read."""
    for is_line, section in groupby(
        map(cited, text.split("\n")), key=lambda line: line is not None
    ):
        piece: list[CitedLine] = []
        for line in filter(None, section if is_line else ()):
            is_full = model.count(_request(prompt, [*piece, line])) > model.reads
            if piece and (is_full or line.path != piece[0].path):
                yield piece
                piece = []
            piece.append(line)
        if piece:
            yield piece


def _line(sentence: str, lines: Sequence[CitedLine]) -> str:
    """Write a sentence with the citation of its support; without one if it has none."""
    run = _supporting(sentence, lines)
    if not run:
        return f"- {sentence}"
    first, last = min(line.first for line in run), max(line.last for line in run)
    return f"- {sentence} ({run[0].path}:{lines_of(first, last)})"


def _supporting(sentence: str, lines: Sequence[CitedLine]) -> Sequence[CitedLine]:
    """Find the fewest neighbouring lines that contain the most words of a sentence."""
    words, names = content(sentence), names_in(sentence)
    best: Sequence[CitedLine] = ()
    most = SUPPORTED * len(words)
    for width in range(1, WIDEST + 1):
        for at in range(len(lines) - width + 1):
            run = lines[at : at + width]
            text = " ".join(line.text for line in run)
            shared = len(words & content(text))
            is_better = shared > most if best else shared >= most > 0
            if is_better and all(name.casefold() in text.casefold() for name in names):
                best, most = run, shared
    return best
