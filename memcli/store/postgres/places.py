"""Where chunks stand, as one snapshot has learned it, and which of them are within reach.

Places decide between chunks of one score. They are asked for along with whatever else is asked, for
all chunks that hold a word of the question, before anybody knows which of them will have one score:
another wait for the server takes longer than to place a thousand.
"""

from __future__ import annotations

from collections.abc import Collection

from memcli.checking import TYPE_CHECKING
from memcli.store.postgres.filters import NAMED_CHUNKS, PLACED, within
from memcli.store.postgres.statements import Statement, Values
from memcli.store.records import Reach

if TYPE_CHECKING:
    from memcli.store.postgres.libpq import Connection, Promised
    from memcli.store.postgres.statements import Row

MOST_AHEAD = 1000  # chunks that are placed before anybody asks


class Places:
    """Source, path and ordinal of chunks, and whether they are within one reach."""

    def __init__(self, connection: Connection, workspace: int) -> None:
        """Take what is asked and where."""
        self._connection, self._workspace = connection, workspace
        self._places: dict[int, tuple[str, str, int]] = {}
        self._reach = Reach()  # the last one that was asked for
        self._tried: set[int] = set()  # chunks that are known to be within it or not
        self._promised: tuple[Collection[int], Promised] | None = None

    def ask_ahead(self, chunk_ids: Collection[int], reach: Reach) -> None:
        """Let chunks be placed along with what is asked next, unless they are too many."""
        if 0 < len(chunk_ids) <= MOST_AHEAD:
            self._turn_to(reach)
            if self._promised is None and not self._tried.issuperset(chunk_ids):
                self._promised = chunk_ids, self._connection.promise(*self._asking(chunk_ids))

    def ordered(self, chunk_ids: Collection[int], reach: Reach) -> list[int]:
        """Give those of some chunks that are within reach, by source, path and place."""
        self._turn_to(reach)
        if self._promised is not None and chunk_ids:
            asked, promised = self._promised
            self._take(asked, promised.rows())
            self._promised = None
        if new := [chunk_id for chunk_id in chunk_ids if chunk_id not in self._tried]:
            self._take(new, self._connection.rows(*self._asking(new)))
        held = [chunk_id for chunk_id in chunk_ids if chunk_id in self._places]
        return sorted(held, key=self._places.__getitem__)

    def forget_promised(self) -> None:
        """Ask anew what was asked ahead: nobody has taken it before the transaction ended."""
        self._promised = None

    def _turn_to(self, reach: Reach) -> None:
        """Forget what was within another reach."""
        if reach != self._reach:
            self._reach, self._tried, self._places, self._promised = reach, set(), {}, None

    def _asking(self, chunk_ids: Collection[int]) -> Statement:
        values = Values()
        test = within(self._reach, values, self._workspace)
        return Statement(
            f"select c.id, {PLACED} from {NAMED_CHUNKS} where c.workspace ="
            f" {values(self._workspace)} and c.id = any({values([*chunk_ids])}::bigint[])"
            f"{f' and {test}' if test else ''}",
            values,
        )

    def _take(self, asked: Collection[int], found: list[Row]) -> None:
        self._tried.update(asked)
        self._places |= {chunk_id: (source, path, at) for chunk_id, source, path, at in found}
