"""The texts that wait for a vector, in the pieces they are embedded from."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.store.postgres.rows import encoder_of
from memcli.store.waiting import IMPORTANT, waiting

if TYPE_CHECKING:
    from memcli.store.postgres.libpq import Connection
    from memcli.store.run_records import Pending

# Each row is looked up by its key, whatever the server believes of how many there are: of a table
# that is being filled it believes there is one, and would compare every text with all.
_WAITING = (
    "not exists (select 1 from memcli.vectors v where v.workspace = p.workspace and v.encoder = $2"
    " and v.hash = p.hash offset 0) and not exists (select 1 from memcli.unread u"
    " where u.workspace = p.workspace and u.encoder = $2 and u.hash = p.hash offset 0)"
)


def read_pending(
    connection: Connection, workspace: int, fingerprint: str, limit: int
) -> list[Pending]:
    """List texts that wait for a vector, each once, in the order in which they are needed.

    Rules come first, then what is marked as more important than most; of each the undated ones,
    then the newest.
    """
    found = connection.rows(
        'select p.hash, p.prefix, substr(c.text, p."start" + 1, p."end" - p."start"), d.title,'
        " c.heading_path::json, coalesce(c.first_day, c.date), c.date,"
        " case when strpos(d.front_matter, '\"description\"') > 0 then d.front_matter else '{}' end"
        " from memcli.parts p cross join lateral (select * from memcli.chunks c"
        " where c.workspace = p.workspace and c.id = p.chunk offset 0) c"
        " cross join lateral (select * from memcli.documents d"
        " where d.workspace = c.workspace and d.id = c.document offset 0) d"
        f" where p.workspace = $1 and {_WAITING}"
        f" order by d.always desc, coalesce(d.importance, 0) > {IMPORTANT} desc,"
        " d.date is not null, d.date desc, d.path, d.source, p.chunk, p.no limit $3",
        (workspace, encoder_of(fingerprint), limit),
    )
    return waiting(found)


def count_waiting(connection: Connection, workspace: int, fingerprint: str) -> int:
    """Count the distinct texts that wait for a vector."""
    ((count,),) = connection.rows(
        f"select count(distinct p.hash) from memcli.parts p where p.workspace = $1 and {_WAITING}",
        (workspace, encoder_of(fingerprint)),
    )
    return int(count)
