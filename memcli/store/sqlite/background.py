"""Query one state of a large index on a second connection, in the background.

Both retrievers take about as long in a large index, and SQLite releases the GIL while it works.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Thread

import apsw

from memcli.checking import TYPE_CHECKING
from memcli.errors import MemcliError
from memcli.store.sqlite.driver import connect, rows, understood

if TYPE_CHECKING:
    from memcli.store.sqlite.vectors import Nearest

OFTEN = 6  # questions about one state, after which memcli expects more from the process
_asked: dict[str, tuple[str, int]] = {}  # by path: the state, and the number of questions about it


def often(path: str, state: str) -> bool:
    """Count a question about a state of an index; return whether there were many."""
    before, count = _asked.get(path, ("", 0))
    count = count + 1 if before == state else 1
    _asked[path] = (state, count)
    return count >= OFTEN


class BackgroundQuery:
    """A query that runs in the background."""

    def __init__(self, path: str, revision: str, ask: Callable[[apsw.Connection], Nearest]) -> None:
        """Start the query on the index at `path`, if the index is at this revision."""
        self._path, self._revision, self._ask = path, revision, ask
        self._result: Nearest | None = None
        self._thread: Thread | None = Thread(target=self._run, daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # the system starts no thread
            self._thread = None

    def result(self) -> Nearest | None:
        """Wait for the answer; None if the index was in another state or the query failed."""
        if self._thread is not None:
            self._thread.join()
        return self._result

    def _run(self) -> None:
        # The caller's own connection gets the same error and reports it.
        with suppress(MemcliError, MemoryError), understood(self._path):
            connection = connect(self._path, write=False).connection
            try:
                connection.execute("BEGIN")
                at = rows(connection, "SELECT value FROM meta WHERE key = 'revision'")
                if at == [(self._revision,)]:
                    self._result = self._ask(connection)
            finally:
                connection.close(True)
