"""How much of a store a workspace takes."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.store.postgres.schema import TABLES

if TYPE_CHECKING:
    from memcli.store.postgres.libpq import Connection


def bytes_of(connection: Connection, workspace: int) -> int:
    """Add up the rows of a workspace, without the indexes over them."""
    sums = " + ".join(
        f"(select coalesce(sum(pg_column_size(t)), 0) from memcli.{table} t where t.workspace = $1)"
        for table in TABLES
    )
    ((found,),) = connection.rows(f"select ({sums})::bigint", (workspace,))
    return int(found)
