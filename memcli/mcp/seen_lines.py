"""The lines that a session was given: what only says them again is not worth a note."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock

from memcli.markdown.parse import parse
from memcli.markdown.units import units, with_speaker

MOST_LINES = 20_000  # of the newest, which are all that is kept


class SeenLines:
    """Lines, items and paragraphs by their document, newest last; threads may add at once."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str, str], None] = {}
        self._adding = Lock()

    def add(self, source: str, path: str, text: str) -> None:
        """Note what a text of a document says."""
        with self._adding:
            for line in _sayings(text):
                key = source, path, line
                self._lines.pop(key, None)
                self._lines[key] = None
            while len(self._lines) > MOST_LINES:
                del self._lines[next(iter(self._lines))]

    def __call__(self, source: str, path: str, line: str) -> bool:
        """Tell whether a line was given, or what is left of it without its marks."""
        wanted = line.strip()
        with self._adding:
            return any(
                wanted in given and (source, path) == (its_source, its_path)
                for its_source, its_path, given in self._lines
            )


def _sayings(text: str) -> Iterator[str]:
    """Give each line as it is, and each item and paragraph on one line, as a note may repeat it."""
    lines = text.split("\n")
    yield from filter(None, map(str.strip, lines))
    for block in parse(text).blocks:
        yield from map(with_speaker, units(block, lines))
