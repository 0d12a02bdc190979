"""Qualify names, and errors, with their workspace when several stores are searched together.

source of a document    workspace:source      e.g. `notes:memory`, `work:handbook`
path in a lineage       workspace:path        (`types.memory_path`)
number of a chunk       number in its store * stores + turn of its store
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from memcli.checking import TYPE_CHECKING, Any
from memcli.errors import DamagedError, MemcliError
from memcli.record import Record
from memcli.store.documents import with_chunks
from memcli.store.records import Key, Scope, Support
from memcli.types import PRIVATE, SCOPES, Filters, SourceLines, is_memory, memory_path

if TYPE_CHECKING:
    from memcli.store.port import Snapshot
    from memcli.types import About, Excerpt


class Qualified(str):
    """The name of a source after that of its workspace; sorts in the order of workspaces."""

    turn: int
    __slots__ = ("turn",)

    def __new__(cls, turn: int, workspace: str, source: str) -> Qualified:
        """Put workspace and source together."""
        made = super().__new__(cls, f"{workspace}:{source}")
        made.turn = turn
        return made

    def __lt__(self, other: str) -> bool:
        turn = other.turn if isinstance(other, Qualified) else self.turn
        return self.turn < turn or (self.turn == turn and str.__lt__(self, other))

    def __gt__(self, other: str) -> bool:
        return self != other and not self < other


class Naming(Record):
    """The names that one of several stores uses, and those of all together."""

    turn: int  # of the store
    workspaces: Sequence[str]  # of all stores, in order; none has a colon

    @property
    def workspace(self) -> str:
        """Name the workspace of the store."""
        return self.workspaces[self.turn]

    def source(self, source: str) -> str:
        """Name a source of the store."""
        return Qualified(self.turn, self.workspace, source)

    def path(self, path: str) -> str:
        """Name a path of the store."""
        return f"{self.workspace}:{path}"

    def chunk(self, chunk: int) -> int:
        """Return the number of a chunk of the store."""
        return chunk * len(self.workspaces) + self.turn

    def chunks(self, chunks: Iterable[int]) -> Iterator[int]:
        """Return the numbers of some chunks of the store."""
        return map(self.chunk, chunks)

    def about(self, about: About) -> About:
        """Add the name of the workspace to lines."""
        return about._replace(chunk_id=self.chunk(about.chunk_id), source=self.source(about.source))

    def excerpt(self, excerpt: Excerpt) -> Excerpt:
        """Add the name of the workspace to an excerpt."""
        return excerpt._replace(about=self.about(excerpt.about))

    def own_keys(self, keys: Sequence[Key]) -> list[Key]:
        """Return those documents that are of the store, as it knows them."""
        before = self.path("")
        return [
            (source.removeprefix(before), path)
            for source, path in keys
            if source.startswith(before)
        ]

    def own_scope(self, scope: Scope, hidden: Collection[str] | None) -> Scope | None:
        """Return what the store can find within reach; None if it is nothing.

        If there are `hidden` summaries, they and private notes are left out; None: everything may
        be shown.
        """
        filters = self._filters(scope.filters, is_open=hidden is None)
        if filters is None:
            return None
        before = self.path("")
        without = (p.removeprefix(before) for p in scope.without if p.startswith(before))
        return Scope(filters, (*without, *sorted(hidden or ())), self._lines(scope.beyond))

    def _filters(self, filters: Filters, *, is_open: bool) -> Filters | None:
        """Return the filters of the store; None if no document of it passes.

        A source or a path may begin with the name of a workspace; without one it applies to all.
        """
        sources = tuple(self._unnamed(filters.sources))
        paths = tuple(self._unnamed(filters.paths))
        lines = self._lines(filters.within)
        scopes = filters.scopes
        if not is_open:
            scopes = tuple(scope for scope in scopes or SCOPES if scope != PRIVATE)
        for values, own in (
            (filters.sources, sources),
            (filters.paths, paths),
            (filters.within, lines),
            (SCOPES, SCOPES if is_open else scopes),
        ):
            if values and not own:
                return None
        return filters._replace(sources=sources, paths=paths, scopes=scopes, within=lines)

    def _unnamed(self, names: Iterable[str]) -> Iterator[str]:
        """Remove the workspace's name from sources and paths; leave out those of others."""
        for name in names:
            workspace, colon, own = name.partition(":")
            if not colon or workspace not in self.workspaces:
                yield name
            elif workspace == self.workspace:
                yield own

    def _lines(self, lines: Iterable[SourceLines]) -> tuple[SourceLines, ...]:
        before = self.path("")
        return tuple(
            each._replace(path=each.path.removeprefix(before))
            for each in lines
            if each.path.startswith(before)
        )


def split(chunk_ids: Sequence[int], stores: int) -> dict[int, list[int]]:
    """Return the chunk numbers that each store uses, by its position."""
    by_turn: dict[int, list[int]] = {}
    for chunk in chunk_ids:
        by_turn.setdefault(chunk % stores, []).append(chunk // stores)
    return by_turn


def private_summaries(snapshot: Snapshot) -> frozenset[str] | None:
    """Name the summaries that rest on private documents, by path; None without such documents."""
    documents = with_chunks(snapshot.documents(Scope(Filters(scopes=(PRIVATE,)))))
    if not documents:
        return None
    logs = [memory_path(each.source, each.path) for each in documents if is_memory(each.source)]
    return resting_on(logs, snapshot.supports()) if logs else frozenset()


def resting_on(paths: Iterable[str], supports: Sequence[Support]) -> frozenset[str]:
    """Name the summaries that rest on some documents of the memory, however many levels above."""
    logs = frozenset(paths)
    result = logs
    while new := {each.summary for each in supports if each.lines.path in result} - result:
        result |= new
    return result - logs


class FailedStoreError(Exception):
    """One of several stores cannot be read, or all of one server; the others can."""

    def __init__(self, names: Sequence[str], cause: MemcliError) -> None:
        super().__init__(f"{', '.join(names)}: {cause.message}")
        self.names, self.cause = names, cause


@contextmanager
def failing(*names: str, with_it: Sequence[str] = ()) -> Iterator[None]:
    """Name the store in its errors, or the stores `with_it` unless its rows are damaged."""
    try:
        yield
    except MemcliError as error:
        is_own = isinstance(error, DamagedError) or not with_it
        raise FailedStoreError(names if is_own else with_it, error) from error


class NamedSnapshot:
    """A snapshot whose errors name its store; a `port.Snapshot`."""

    def __init__(self, name: str, snapshot: Snapshot, others: Sequence[str] = ()) -> None:
        """Take the snapshot of a workspace, and the others on its server, which fail with it.

        If its rows are damaged, it fails by itself.
        """
        self._name, self._snapshot, self._others = name, snapshot, others

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        with failing(self._name, with_it=self._others):
            return self._watched(getattr(self._snapshot, name))

    def _watched(self, value: Any) -> Any:  # noqa: ANN401
        """Guard what is called or iterated over later, too."""
        if callable(value):

            def call(*values: Any, **named: Any) -> Any:  # noqa: ANN401
                with failing(self._name, with_it=self._others):
                    return self._watched(value(*values, **named))

            return call
        return self._each(value) if isinstance(value, Iterator) else value

    def _each(self, values: Iterator[Any]) -> Iterator[Any]:
        with failing(self._name, with_it=self._others):
            yield from values
