"""The stores of several workspaces as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from memcli.checking import TYPE_CHECKING
from memcli.errors import IndexMissingError
from memcli.store.guarded import Guarded, failing
from memcli.store.union import Member, Union

if TYPE_CHECKING:
    from memcli.store.port import Crowd, Store


class UnionStore:
    """The stores of several workspaces, for reading only."""

    def __init__(
        self,
        stores: Sequence[tuple[str, Store]],
        *,
        is_asked_by_first: bool = True,
        crowd: Crowd | None = None,
        of_crowd: Sequence[str] = (),
    ) -> None:
        """Take them by the names of their workspaces, the primary one first if there is one.

        The workspaces `of_crowd` come last; a crowd has them by these names.
        """
        self._stores, self._is_asked_by_first = stores, is_asked_by_first
        self._crowd, self._of_crowd = crowd, of_crowd

    @property
    def local(self) -> str:
        """Name the path of the own store."""
        return self._stores[0][1].local if self._stores else ""

    def exists(self) -> bool:
        """Return whether any store has data."""
        return bool(self._of_crowd) or any(store.exists() for _, store in self._stores)

    @contextmanager
    def snapshot(self) -> Iterator[Union]:
        """Take a snapshot of each store that exists; IndexMissingError if none does.

        FailedStoreError if one cannot be read.
        """
        with ExitStack() as opened:
            members = []
            for name, store in self._stores:
                if store.exists():
                    with failing(name):
                        snapshot = opened.enter_context(store.snapshot())
                    members.append(Member(name, Guarded([name], snapshot)))
            is_own = self._is_asked_by_first and [m.name for m in members[:1]] == [
                name for name, _ in self._stores[:1]
            ]
            each = None
            if self._crowd:
                with failing(*self._of_crowd):
                    held, each = opened.enter_context(self._crowd.snapshots())
                members += [
                    Member(name, Guarded(self._of_crowd, held[name]))
                    for name in self._of_crowd
                    if name in held
                ]
            if not members:
                raise IndexMissingError("nothing is indexed yet", hint="memcli index --everywhere")
            yield Union(members, is_asked_by_first=is_own, each=each)

    def stand_in(self) -> None:
        """Return None: if one store is away, the others answer."""

    def close(self) -> None:
        """Close all stores."""
        for _, store in self._stores:
            store.close()
        if self._crowd:
            self._crowd.close()
