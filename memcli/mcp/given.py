"""The lines that a session was given: what only says them again is not worth a note."""

from __future__ import annotations

from threading import Lock

MOST_LINES = 20_000  # of the newest, which are all that is kept


class GivenLines:
    """Lines by the document they stand in, newest last; threads may add at once."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str, str], None] = {}
        self._adding = Lock()

    def add(self, source: str, path: str, text: str) -> None:
        """Note the lines of a text of a document."""
        with self._adding:
            for line in filter(None, map(str.strip, text.split("\n"))):
                key = source, path, line
                self._lines.pop(key, None)
                self._lines[key] = None
            while len(self._lines) > MOST_LINES:
                del self._lines[next(iter(self._lines))]

    def __call__(self, source: str, path: str, line: str) -> bool:
        """Tell whether a line was given, or what is left of it without its marks."""
        said = line.strip()
        with self._adding:
            return any(
                said in given and (source, path) == (its_source, its_path)
                for its_source, its_path, given in self._lines
            )
