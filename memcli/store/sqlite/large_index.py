"""Search a large index: a second connection in the background, and codes in memory.

Both retrievers take about as long in a large index, and SQLite releases the GIL while it works. So
one of them uses a second connection.

vec0 counts the bits of 64 codes at a time and reads the file for each question: a million codes
take 95 ms of CPU time. numpy takes 26 for the same distances, but first 100 for its import and 340
to read the codes. So a process keeps the codes after a few questions about one state of an index.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Thread

import apsw

from memcli.checking import Any, Made
from memcli.errors import MemcliError
from memcli.record import Record
from memcli.store.sqlite.driver import connect, rows, understood

OFTEN = 6  # questions about one state, after which memcli expects more from the process
_asked: dict[str, tuple[str, int]] = {}  # by path: the state, and the number of questions about it


def often(path: str, state: str) -> bool:
    """Count a question about a state of an index; return whether there were many."""
    before, count = _asked.get(path, ("", 0))
    count = count + 1 if before == state else 1
    _asked[path] = (state, count)
    return count >= OFTEN


def in_background(
    path: str, revision: str, ask: Callable[[apsw.Connection], Made]
) -> Callable[[], Made | None]:
    """Start a query on the index at `path`; return a function that waits for the answer.

    The answer is None if the index was not at this revision, or if the query failed.
    """
    answers: list[Made] = []

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

    def result() -> Made | None:
        thread.join()
        return answers[0] if answers else None

    return result


MOST_BYTES = 256 << 20  # for all indexes of a process; a million codes are 96 MB
BLOCK = 1 << 15  # codes at once: larger blocks leave the cache, smaller ones wait for the GIL
_WORD = 8  # bytes that are counted in one step
_ID_BYTES = 8


class Codes(Record):
    """The codes of an index in one of its states."""

    state: str
    numbers: Any  # int64, the row of the vector of each code
    words: Any  # uint64, the first words of all codes, then the second ones, and so on


_kept: dict[str, Codes] = {}  # by the path of the index


def nearest(
    connection: apsw.Connection, table: str, state: str, code: bytes, limit: int
) -> list[tuple[int, int]] | None:
    """List the (row, hamming distance) of the nearest codes, with all ties with the last.

    `state` names the state that the connection sees, and is unique among all indexes. None if the
    codes cannot be kept.
    """
    codes = _codes(connection, table, state)
    if codes is None or len(code) != _WORD * len(codes.words):
        return None
    import numpy as np

    distances = _distances(codes.words, np.frombuffer(code, "<u8"))
    within = np.bincount(distances, minlength=1).cumsum()
    bound = np.searchsorted(within, min(limit, len(distances)))
    places = np.flatnonzero(distances <= bound)
    ordered = places[np.argsort(distances[places], kind="stable")]
    return list(zip(codes.numbers[ordered].tolist(), distances[ordered].tolist(), strict=True))


def _distances(words: Any, code: Any) -> Any:  # noqa: ANN401
    """Count the bits in which each code differs from that of the query."""
    import numpy as np

    distances = np.empty(words.shape[1], "<u2")
    differing = np.empty((len(words), BLOCK), "<u8")
    counts = np.empty(differing.shape, "u1")
    for start in range(0, len(distances), BLOCK):
        block = words[:, start : start + BLOCK]
        width = block.shape[1]
        np.bitwise_xor(block, code[:, None], out=differing[:, :width])
        np.bitwise_count(differing[:, :width], out=counts[:, :width])
        out = distances[start : start + width]
        np.add.reduce(counts[:, :width], axis=0, dtype="<u2", out=out)
    return distances


def _codes(connection: apsw.Connection, table: str, state: str) -> Codes | None:
    path = connection.filename
    known = _kept.get(path)
    if known is not None and known.state == state:
        return known
    _kept.pop(path, None)
    try:
        codes = _read(connection, table, state)
    except (ImportError, MemoryError):  # vec0 needs neither numpy nor the memory
        return None
    if codes is not None:
        _kept[path] = codes
    return codes


def _read(connection: apsw.Connection, table: str, state: str) -> Codes | None:
    """Read the codes from the blocks in which vec0 stores them."""
    import numpy as np

    blocks = f"FROM {table}_chunks c JOIN {table}_vector_chunks00 v ON v.rowid = c.chunk_id"
    of_each = f"length(v.vectors), length(c.rowids), (SELECT count(*) FROM {table}_chunks)"
    result = rows(connection, f"SELECT {of_each} {blocks} LIMIT 1")
    size, count, times = result[0] if result else (0, 0, 0)
    count //= _ID_BYTES
    used = sum(codes.words.nbytes for codes in list(_kept.values()))
    if not count or size % (_WORD * count) or used + size * times > MOST_BYTES:
        return None
    numbers, at = np.empty(count * times, "<i8"), 0
    words = np.empty((size // count // _WORD, count * times), "<u8")
    for validity, ids, vectors in connection.execute(
        f"SELECT c.validity, c.rowids, v.vectors {blocks} ORDER BY c.chunk_id"
    ):
        is_held = np.unpackbits(np.frombuffer(validity, "u1"), bitorder="little").astype(bool)
        if len(is_held) != count:
            raise ValueError("a block of codes does not tell which of its rows are held")
        end = at + int(is_held.sum())
        numbers[at:end] = np.frombuffer(ids, "<i8")[is_held]
        words[:, at:end] = np.frombuffer(vectors, "<u8").reshape(count, -1)[is_held].T
        at = end
    return Codes(state, numbers[:at], words[:, :at])
