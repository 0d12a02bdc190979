"""The rows of a workspace that both its readers and its writer need, counted and checked."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from memcli.checking import TYPE_CHECKING, Any
from memcli.store.postgres.errors import understood
from memcli.store.postgres.rows import encoder_of
from memcli.store.postgres.schema import TABLES
from memcli.store.postgres.session import Name, WorkspaceRow
from memcli.store.postgres.statements import Row
from memcli.store.records import EMBEDDED_AT, Counts, Facts, Key, LineCheck, Support, counts_at
from memcli.types import MEMORY_SOURCE, KnownFile, SourceLines

if TYPE_CHECKING:
    from memcli.store.postgres.address import Address
    from memcli.store.postgres.libpq import Connection

# Each SELECT finds rows with a fault. The server itself checks types, keys and references.
_FAULTS = {
    "a chunk has no row of words": "select 1 from memcli.chunks c where c.workspace = $1"
    " and not exists (select 1 from memcli.keywords k where k.workspace = $1 and k.chunk = c.id)",
    "the chunks or words are not as many as was counted": "select 1 from memcli.workspaces w,"
    " (select count(*) as chunks, coalesce(sum(k.length), 0) as words from memcli.keywords k"
    " where k.workspace = $1) k where w.id = $1 and (w.chunks, w.words) <> (k.chunks, k.words)",
    "a row has a number that is still to be given": "select 1 from memcli.workspaces w"
    " where w.id = $1 and w.next_id <= (select max(greatest(c.id, c.document))"
    " from memcli.chunks c where c.workspace = $1)",
    "a vector that is in use counts as unused": "select 1 from memcli.vectors v"
    " join memcli.parts p on p.workspace = v.workspace and p.hash = v.hash"
    " where v.workspace = $1 and v.encoder = $2 and v.unused_since is not null",
}
SUMMARY = (
    "select d.id from memcli.documents d where d.workspace = $1 and d.source = $2 and d.path = $3"
)


class WorkspaceRows:
    """A workspace that is read or written through a connection."""

    def __init__(self, connection: Connection, address: Address, row: WorkspaceRow) -> None:
        self.connection, self.address, self.row = connection, address, row

    @property
    def id(self) -> int:
        """Return the number of the workspace."""
        return self.row.id

    @property
    def facts(self) -> Facts:
        return self.row.facts

    def known(self) -> dict[Key, KnownFile]:
        rows = self._rows(
            "select source, path, hash, size, mtime_ns, ctime_ns, inode, indexed_ns"
            " from memcli.documents where workspace = $1",
            (self.id,),
        )
        return {(source, path): KnownFile(*fields) for source, path, *fields in rows}

    def counts(self) -> Counts:
        """Count documents, chunks and segments; from the workspace row if no segment waits."""
        with self._asking():
            counts = counts_at(self.row.revision, self.row.meta.get(EMBEDDED_AT, ""))
        if counts is not None:
            return counts
        documents, chunks, segments, left_out = self._count_rows()
        ((embedded,),) = self._rows(
            "select count(*) from memcli.parts p join memcli.vectors v on v.workspace = p.workspace"
            " and v.encoder = $2 and v.hash = p.hash where p.workspace = $1",
            (self.id, self._encoder()),
        )
        return Counts(documents, chunks, segments, embedded, left_out)

    def _count_rows(self) -> tuple[int, int, int, int]:
        ((documents, chunks, segments, left_out),) = self._rows(
            "select (select count(*) from memcli.documents where workspace = $1 and skip = ''),"
            " (select count(*) from memcli.chunks where workspace = $1),"
            " (select count(*) from memcli.parts where workspace = $1),"
            " (select count(*) from memcli.unread u join memcli.parts p on p.workspace ="
            " u.workspace and p.hash = u.hash where u.workspace = $1 and u.encoder = $2)",
            (self.id, self._encoder()),
        )
        return documents, chunks, segments, left_out

    def integrity(self) -> str:
        for fault, query in _FAULTS.items():
            values = (self.id, self._encoder()) if "$2" in query else (self.id,)
            if self._rows(f"{query} limit 1", values):
                return fault
        return "ok"

    def bytes(self) -> int:
        """Add up the size of the rows, without their indexes."""
        sums = " + ".join(
            f"(select coalesce(sum(pg_column_size(t)), 0) from memcli.{table} t"
            " where t.workspace = $1)"
            for table in TABLES
        )
        ((size,),) = self._rows(f"select ({sums})::bigint", (self.id,))
        return int(size)

    def supports(self) -> list[Support]:
        if not self.row.has_summaries:
            return []
        rows = self._rows(
            "select d.path, l.matches and l.checked is not distinct from s.hash, l.path,"
            " l.start_line, l.end_line, l.hash from memcli.lineage l join memcli.documents d"
            " on d.workspace = l.workspace and d.id = l.document left join memcli.documents s"
            " on s.workspace = l.workspace and s.source = $2 and s.path = l.path"
            " where l.workspace = $1 and d.source = $2"
            " order by d.path, l.path, l.start_line, l.end_line",
            (self.id, MEMORY_SOURCE),
        )
        return [Support(summary, SourceLines(*lines), holds) for summary, holds, *lines in rows]

    def line_checks(self, summary: str) -> list[LineCheck]:
        """Read where the source lines of a summary were looked for last."""
        rows = self._rows(
            "select l.checked, l.matches, l.path, l.start_line, l.end_line, l.hash"
            f" from memcli.lineage l where l.workspace = $1 and l.document = ({SUMMARY})"
            " order by l.no",
            (self.id, MEMORY_SOURCE, summary),
        )
        return [LineCheck(SourceLines(*lines), file, holds) for file, holds, *lines in rows]

    def _encoder(self) -> int:
        """Return the number of the encoder whose vectors are searched."""
        return encoder_of(self.facts.fingerprint or "")

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        with self._asking():
            return self.connection.rows(sql, values)

    def _asking(self) -> AbstractContextManager[None]:
        return understood(self.address, Name(self.row.tenant, self.row.name))
