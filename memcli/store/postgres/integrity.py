"""Check what has to hold between the rows of a workspace."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.store.postgres.rows import encoder_of

if TYPE_CHECKING:
    from memcli.store.postgres.libpq import Connection
    from memcli.store.postgres.session import WorkspaceRow

# What is wrong where a SELECT finds anything. The server itself keeps types, keys and what hangs
# on what.
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
    """Check the rows of a workspace: "ok", or the first fault."""
    encoder = encoder_of(row.facts.fingerprint or "")
    for fault, query in _FAULTS.items():
        values = (row.id, encoder) if "$2" in query else (row.id,)
        if connection.rows(f"{query} limit 1", values):
            return fault
    return "ok"
