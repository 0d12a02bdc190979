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


def in_background(
    path: str, revision: str, ask: Callable[[apsw.Connection], Nearest]
) -> Callable[[], Nearest | None]:
    """Start a query on the index at `path`; return a function that waits for the answer.

    The answer is None if the index was not at this revision, or if the query failed.
    """
    answers: list[Nearest] = []

    def run() -> None:
        # The caller's own connection gets the same error and reports it.
        with suppress(MemcliError, MemoryError), understood(path):
            connection = connect(path, write=False).connection
            try:
                connection.execute("BEGIN")
                at = rows(connection, "SELECT value FROM meta WHERE key = 'revision'")
                if at == [(revision,)]:
                    answers.append(ask(connection))
            finally:
                connection.close(True)

    thread = Thread(target=run, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the system starts no thread
        return lambda: None

    def result() -> Nearest | None:
        thread.join()
        return answers[0] if answers else None

    return result
