"""Copy a workspace of a shared index into a store of another kind."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.store.postgres import lineage, vectors
from memcli.store.postgres.counting import read_known
from memcli.store.postgres.rows import encoder_of, read_documents

if TYPE_CHECKING:
    from memcli.store.port import Store
    from memcli.store.postgres.libpq import Connection
    from memcli.store.postgres.session import WorkspaceRow

BATCH = 1000  # vectors that are in memory at once


def copy(connection: Connection, row: WorkspaceRow, store: Store) -> None:
    """Copy all that is stored of a workspace into another store."""
    facts = row.facts
    with store.change(wait_seconds=0.0, sleep=_never) as change:
        with change.together():
            every = read_known(connection, row.id)
            for document, stamp, skip in read_documents(connection, row.id, every):
                change.put(document, stamp, skip=skip)
        if facts.fingerprint and facts.dimension is not None:
            last = b""
            while found := connection.rows(
                "select hash, vector_send(vector) from memcli.vectors where workspace = $1"
                " and encoder = $2 and hash > $3 order by hash limit $4",
                (row.id, encoder_of(facts.fingerprint), last, BATCH),
            ):
                made = [(hash_, vectors.read(sent)) for hash_, sent in found]
                change.put_vectors(facts.fingerprint, made)
                last = found[-1][0]
            change.search_by(facts.fingerprint, facts.dimension)
        told = {name: getattr(facts, name) for name in ("model", "chunking", "sources", "mounts")}
        change.remember({name: value for name, value in told.items() if value is not None})
        for summary in {each.summary for each in lineage.supports(connection, row.id)}:
            change.check(summary, lineage.looked(connection, row.id, summary))
    store.close()


def _never(seconds: float) -> None:
    """Stand for a sleep where nothing is to be waited for: the file is nobody else's."""
