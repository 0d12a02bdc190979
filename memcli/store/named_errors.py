"""Add the name of the store to errors when several are searched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from memcli.checking import TYPE_CHECKING
from memcli.errors import DamagedError, MemcliError

if TYPE_CHECKING:
    from typing import Any

    from memcli.store.port import Snapshot


class FailedStoreError(Exception):
    """One of several stores cannot be read, or all of one server; the others can."""

    def __init__(self, names: Sequence[str], cause: MemcliError) -> None:
        """Take the names of the workspaces, and the error."""
        super().__init__(f"{', '.join(names)}: {cause.message}")
        self.names, self.cause = names, cause


@contextmanager
def failing(*names: str) -> Iterator[None]:
    """Add the name of a store to its errors."""
    try:
        yield
    except MemcliError as error:
        raise FailedStoreError(names, error) from error


class NamedSnapshot:
    """A snapshot whose errors name its store; a `port.Snapshot`."""

    def __init__(self, name: str, snapshot: Snapshot, others: Sequence[str] = ()) -> None:
        """Take the snapshot of a workspace, and the others on its server, which fail with it.

        If its rows are damaged, it fails by itself.
        """
        self._name, self._snapshot, self._others = name, snapshot, others

    def _failed(self, error: MemcliError) -> FailedStoreError:
        is_own = isinstance(error, DamagedError) or not self._others
        return FailedStoreError([self._name] if is_own else self._others, error)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """Ask the snapshot."""
        try:
            return self._watched(getattr(self._snapshot, name))
        except MemcliError as error:
            raise self._failed(error) from error

    def _watched(self, value: Any) -> Any:  # noqa: ANN401
        """Guard what is called or iterated over later, too."""
        if callable(value):

            def call(*values: Any, **named: Any) -> Any:  # noqa: ANN401
                try:
                    return self._watched(value(*values, **named))
                except MemcliError as error:
                    raise self._failed(error) from error

            return call
        return self._each(value) if isinstance(value, Iterator) else value

    def _each(self, values: Iterator[Any]) -> Iterator[Any]:
        try:
            yield from values
        except MemcliError as error:
            raise self._failed(error) from error
