"""Count and check the rows of a workspace, and read what it stores about its documents."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.store.postgres.rows import encoder_of
from memcli.store.postgres.schema import TABLES
from memcli.store.records import EMBEDDED_AT, Counts, Key, counts_at
from memcli.types import KnownFile

if TYPE_CHECKING:
    from memcli.store.postgres.libpq import Connection
    from memcli.store.postgres.session import WorkspaceRow


def read_known(connection: Connection, workspace: int) -> dict[Key, KnownFile]:
    """Read hash, stat and time of every document."""
    rows = connection.rows(
        "select source, path, hash, size, mtime_ns, ctime_ns, inode, indexed_ns"
        " from memcli.documents where workspace = $1",
        (workspace,),
    )
    return {(source, path): KnownFile(*fields) for source, path, *fields in rows}


def read_counts(connection: Connection, row: WorkspaceRow) -> Counts:
    """Count documents, chunks and segments; from the workspace row if no segment waits."""
    counts = counts_at(row.revision, row.meta.get(EMBEDDED_AT, ""))
    if counts is not None:
        return counts
    documents, chunks, segments, left_out = count_rows(connection, row)
    encoder = encoder_of(row.facts.fingerprint or "")
    ((embedded,),) = connection.rows(
        "select count(*) from memcli.parts p join memcli.vectors v on v.workspace = p.workspace"
        " and v.encoder = $2 and v.hash = p.hash where p.workspace = $1",
        (row.id, encoder),
    )
    return Counts(documents, chunks, segments, embedded, left_out)


def count_rows(connection: Connection, row: WorkspaceRow) -> tuple[int, int, int, int]:
    """Count documents, chunks, segments, and segments that are left out."""
    encoder = encoder_of(row.facts.fingerprint or "")
    ((documents, chunks, segments, left_out),) = connection.rows(
        "select (select count(*) from memcli.documents where workspace = $1 and skip = ''),"
        " (select count(*) from memcli.chunks where workspace = $1),"
        " (select count(*) from memcli.parts where workspace = $1),"
        " (select count(*) from memcli.unread u join memcli.parts p on p.workspace = u.workspace"
        " and p.hash = u.hash where u.workspace = $1 and u.encoder = $2)",
        (row.id, encoder),
    )
    return documents, chunks, segments, left_out


def bytes_of(connection: Connection, workspace: int) -> int:
    """Add up the size of the rows of a workspace, without their indexes."""
    sums = " + ".join(
        f"(select coalesce(sum(pg_column_size(t)), 0) from memcli.{table} t where t.workspace = $1)"
        for table in TABLES
    )
    ((size,),) = connection.rows(f"select ({sums})::bigint", (workspace,))
    return int(size)


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


def first_fault(connection: Connection, row: WorkspaceRow) -> str:
    """Return "ok", or the first fault in the rows of a workspace."""
    encoder = encoder_of(row.facts.fingerprint or "")
    for fault, query in _FAULTS.items():
        values = (row.id, encoder) if "$2" in query else (row.id,)
        if connection.rows(f"{query} limit 1", values):
            return fault
    return "ok"
