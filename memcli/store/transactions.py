"""Make changes as transactions, several of which may be together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager


class Transactions(ABC):
    """What writes a store, whose own ways to begin and to end a transaction it tells."""

    def __init__(self) -> None:
        """Begin with none."""
        self._is_together = self._is_torn = False  # see `together`
        self._revises = False  # what was done since the last commit: answers may differ

    @contextmanager
    def transaction(self, *, revise: bool = True) -> Iterator[None]:
        """Run statements as one change; unless no answer can differ it raises the revision."""
        with self._translated():
            try:
                if not (self._is_together and self._is_open()):
                    self._begin()
                yield
                self._revises |= revise
                if not self._is_together:
                    self._commit()
            except BaseException:
                self._is_torn = True
                self._roll_back()
                raise

    @contextmanager
    def together(self) -> Iterator[Callable[[], None]]:
        """Commit the changes made within at once, and before that when what is given is called.

        An error between two changes loses none of them, one within a change those since the last
        commit.
        """
        self._is_together, self._is_torn = True, False

        def commit() -> None:
            with self._translated():
                self._commit()

        try:
            yield commit
        finally:
            self._is_together = False
            if self._is_torn:
                self._roll_back()
            else:
                commit()

    @abstractmethod
    def _translated(self) -> AbstractContextManager[None]:
        """Raise what goes wrong within as an error of memcli."""

    @abstractmethod
    def _is_open(self) -> bool:
        """Tell whether a transaction is open, failed ones included."""

    @abstractmethod
    def _begin(self) -> None:
        """Begin a transaction that may write."""

    @abstractmethod
    def _commit(self) -> None:
        """Commit what is open, if anything is; where that fails nothing of it is left."""

    @abstractmethod
    def _roll_back(self) -> None:
        """Undo what is open, if anything is, whatever has become of it."""
