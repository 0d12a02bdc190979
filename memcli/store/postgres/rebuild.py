"""Build a workspace next to another one, then replace that one.

The copy has a row of its own in `workspaces`, which no search finds by name, and its own rows in
all tables. One transaction gives it the name and deletes the old one. A reader that has begun
continues with the old state; the next one finds the new state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager

from memcli.errors import RetryLaterError
from memcli.store.postgres import rows
from memcli.store.postgres.errors import translated
from memcli.store.postgres.session import WorkspaceRow, read_row, select_by_id
from memcli.store.postgres.statements import Statement
from memcli.store.postgres.writer import RowWriter
from memcli.store.records import Key
from memcli.store.run_records import AWAITED

PIECE = 20_000  # vectors that one statement copies


class SharedWriter(RowWriter):
    """The one writer of a workspace; a `port.Change`."""

    def rebuild(self) -> AbstractContextManager[SharedRebuild]:
        return _rebuilding(self)

    def drop_rebuild(self, *, seconds: float = 0.0, awaited_seconds: float | None = None) -> None:
        of_awaited = seconds if awaited_seconds is None else awaited_seconds
        beside = self._rows(
            "select id, left_ns, meta::json ->> $2 from memcli.workspaces where beside_of = $1",
            (self.id, AWAITED),
        )
        for number, left_ns, awaited in beside:
            least = of_awaited if awaited == "1" else seconds
            if abs(self.now_ns() - left_ns) >= least * 1e9:
                with self.transaction():
                    self.copy_vectors(number, self.facts.fingerprint or "")
                    self._rows("set local statement_timeout = 0")
                    self._rows("select memcli.drop_workspace($1)", (number,))

    def copy_vectors(self, workspace: int, fingerprint: str) -> None:
        """Copy the embedding cache of another workspace; other encoders count as unused.

        It is copied in batches, because no statement may take longer than 30 seconds.
        """
        own, last = rows.encoder_of(fingerprint), (-(1 << 63), b"")
        while batch := self._rows(
            "with piece as materialized (select v.* from memcli.vectors v where v.workspace = $2"
            " and (v.encoder, v.hash) > ($5, $6::bytea) order by v.encoder, v.hash limit $7),"
            " made as (insert into memcli.vectors (workspace, encoder, hash, vector, unused_since)"
            " select $1, v.encoder, v.hash, v.vector, case when v.encoder = $4 and exists"
            " (select 1 from memcli.parts p where p.workspace = $1 and p.hash = v.hash)"
            " then null else coalesce(v.unused_since, $3) end from piece v on conflict do nothing)"
            " select encoder, hash from piece order by encoder desc, hash desc limit 1",
            (self.id, workspace, self.now, own, *last, PIECE),
        ):
            last = batch[0]


class SharedRebuild(SharedWriter):
    """A workspace that is built next to another one; a `port.Rebuild`."""

    def __init__(self, main: SharedWriter, row: WorkspaceRow) -> None:
        """Share the connection and the write lease of the main workspace's writer."""
        super().__init__(main.connection, main.address, row, main.now_ns)
        self._main = main

    def take_over(self, hidden: Iterable[Key]) -> None:
        main = self._main
        with translated(self.address):
            for document, stamp, skip in rows.read_documents(self.connection, main.id, hidden):
                self.put(document, stamp, skip=skip)
        with self.transaction(revise=False):
            fingerprint = self.facts.fingerprint or main.facts.fingerprint or ""
            self.copy_vectors(main.id, fingerprint)
        self._inherit(main.facts)

    def publish(self) -> None:
        """Replace the other workspace by this one, in one transaction.

        The revision continues from the larger one, so no earlier answer looks like a current one.
        """
        main, side = self._main, self.row
        revision = 1 + max(side.revision, main.row.revision)
        is_embedded = self.is_embedded(self.facts.fingerprint)
        with main.transaction(revise=False):
            if is_embedded:
                self._put_embedded(revision)
            old = main.id
            self.connection.together(
                (
                    Statement("set local statement_timeout = 0"),
                    Statement(
                        "update memcli.workspaces set beside_of = $2 where id = $1", (old, side.id)
                    ),
                    Statement(
                        "update memcli.workspaces w set beside_of = null, origin = o.origin,"
                        " attached_at = o.attached_at, holder = o.holder, epoch = o.epoch,"
                        " lease_until = o.lease_until from memcli.workspaces o"
                        " where o.id = $1 and w.id = $2",
                        (old, side.id),
                    ),
                    Statement("select memcli.drop_workspace($1)", (old,)),
                )
            )
            main.row = main.row._replace(
                id=side.id, revision=revision, next_id=side.next_id, chunks=side.chunks,
                words=side.words, meta=self.row.meta,
            )  # fmt: skip


@contextmanager
def _rebuilding(main: SharedWriter) -> Iterator[SharedRebuild]:
    """Open the half-built workspace next to another one, or make a new one."""
    rebuild = _beside(main)
    if rebuild is None:
        with main.transaction(revise=False):
            main._rows(
                "insert into memcli.workspaces (tenant, name, beside_of, epoch, left_ns)"
                " values ($1, $2, $3, $4, $5)",
                (main.row.tenant, main.row.name, main.id, main.row.epoch, main.now_ns()),
            )
        rebuild = _beside(main)
    assert rebuild is not None
    side = SharedRebuild(main, rebuild)
    side.set_facts({"mounts": main.facts.mounts or "[]", AWAITED: ""})
    try:
        yield side
    except RetryLaterError:
        side.set_facts({AWAITED: "1"}, revise=False)
        raise
    finally:
        main._rows(
            "update memcli.workspaces set left_ns = $2 where beside_of = $1",
            (main.id, main.now_ns()),
        )


def _beside(main: SharedWriter) -> WorkspaceRow | None:
    """Find the workspace that is built next to another, and give it the writer's epoch."""
    copies = main._rows(
        "update memcli.workspaces set epoch = $2 where beside_of = $1 returning id",
        (main.id, main.row.epoch),
    )
    if not copies:
        return None
    (row,) = main._rows(select_by_id(lock=False), (copies[0][0], main.row.epoch))
    return read_row(row)
