"""Change a workspace of a shared index, or build one next to it and then replace that one.

A change is one transaction per document, and batches of vectors.

The copy has a row of its own in `workspaces`, which no search finds by name, and its own rows in
all tables. One transaction gives it the name and deletes the old one. A reader that has begun
continues with the old state; the next one finds the new state.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress

from memcli.checking import TYPE_CHECKING
from memcli.errors import BusyError, RetryLaterError
from memcli.store.change import IMPORTANT, BaseChange, Clock, waiting
from memcli.store.postgres import rows, session, vectors
from memcli.store.postgres.errors import translated
from memcli.store.postgres.libpq import Connection, ServerError
from memcli.store.postgres.reader import COARSE
from memcli.store.postgres.rows import encoder_of
from memcli.store.postgres.schema import UNUSED
from memcli.store.postgres.statements import Statement
from memcli.store.postgres.workspace_rows import SUMMARY, WorkspaceRows
from memcli.store.quantize import rounded
from memcli.store.records import Key, LineCheck
from memcli.store.run_records import AWAITED, Pending, Stamp
from memcli.types import MEMORY_SOURCE, Document

if TYPE_CHECKING:
    from memcli.store.postgres.address import Address

# Each row is looked up by its key, whatever row counts the server assumes. For a table that is
# being filled it assumes one row, and would compare every text with all others.
_WAITING = (
    "not exists (select 1 from memcli.vectors v where v.workspace = p.workspace and v.encoder = $2"
    " and v.hash = p.hash offset 0) and not exists (select 1 from memcli.unread u"
    " where u.workspace = p.workspace and u.encoder = $2 and u.hash = p.hash offset 0)"
)
PIECE = 20_000  # vectors that one statement copies


class SharedWriter(WorkspaceRows, BaseChange):
    """The only writer of a workspace; a `port.Change`."""

    def __init__(
        self, connection: Connection, address: Address, row: session.WorkspaceRow, now_ns: Clock
    ) -> None:
        WorkspaceRows.__init__(self, connection, address, row)
        BaseChange.__init__(self, now_ns)
        self._begin_from(row)

    def _begin_from(self, row: session.WorkspaceRow) -> None:
        """Continue from a row as it is stored; settings that cannot be read are begun again."""
        self.row = self._stored = row._replace(meta=dict(row.meta))

    def _translated(self) -> AbstractContextManager[None]:
        return translated(self.address)

    def _is_open(self) -> bool:
        return self.connection.in_transaction

    def _begin(self) -> None:
        """Lock the row of the workspace under this writer's epoch."""
        *_, rows = self.connection.together(
            (
                Statement("begin"),
                Statement(session.BOUNDS),
                Statement(session.select_by_id(lock=True), (self.id, self.row.epoch)),
            )
        )
        if not rows:
            raise BusyError(
                f"another memcli has taken over writing {self.row.tenant}/{self.row.name}",
                hint="memcli store status",
            )
        self._begin_from(session.read_row(rows[0]))

    def _end(self) -> None:
        row, revision = self.row, self.row.revision + self._revises
        self.connection.together(
            (
                Statement(
                    "update memcli.workspaces set revision = $2, next_id = $3, chunks = $4,"
                    " words = $5, meta = $6, changed_at = now(), left_ns = $7, lease_until ="
                    " case when holder is null then lease_until"
                    f" else now() + '{session.LEASE_SECONDS} seconds' end where id = $1",
                    (row.id, revision, row.next_id, row.chunks, row.words,
                     json.dumps(row.meta, ensure_ascii=False, sort_keys=True), self.now_ns()),
                ),
                Statement("commit"),
            )
        )  # fmt: skip
        self.row = self._stored = row._replace(revision=revision)

    def _roll_back(self) -> None:
        self._revises, self.row = False, self._stored
        with suppress(ServerError):
            if self._is_open():
                self.connection.run("rollback")

    def fact(self, key: str) -> str | None:
        """Read the meta value of a key."""
        return self.row.meta.get(key)

    def put_fact(self, key: str, value: str) -> None:
        """Write a meta value inside a transaction of the caller."""
        self.row = self.row._replace(meta={**self.row.meta, key: value})

    def put(self, document: Document, stamp: Stamp, *, skip: str = "") -> None:
        living = [segment.hash for chunk in document.chunks for segment in chunk.segments]
        with self.transaction():
            gone = self._drop((document.source, document.path))
            row, chunks = self.row, len(document.chunks)
            statements, words = rows.putting(row.id, row.next_id, document, stamp, skip)
            self.connection.together([*statements, *self._usage_statements(gone, living)])
            self.row = row._replace(
                next_id=row.next_id + 1 + chunks,
                chunks=row.chunks + chunks,
                words=row.words + words,
            )

    def touch(self, key: Key, stamp: Stamp) -> None:
        stat = stamp.stat
        with self.transaction(revise=False):
            self._rows(
                "update memcli.documents set size = $4, mtime_ns = $5, ctime_ns = $6, inode = $7,"
                " indexed_ns = $8 where workspace = $1 and source = $2 and path = $3",
                (self.id, *key, stat.size, stat.mtime_ns, stat.ctime_ns, stat.inode,
                 stamp.indexed_ns),
            )  # fmt: skip

    def remove(self, key: Key) -> None:
        with self.transaction():
            self.connection.together(self._usage_statements(self._drop(key), []))

    def pending(
        self, fingerprint: str, limit: int, *, within: Sequence[int] | None = None
    ) -> list[Pending]:
        among = "" if within is None else " and p.chunk = any($4::bigint[])"
        listed = () if within is None else (within,)
        result = self._rows(
            'select p.hash, p.prefix, substr(c.text, p."start" + 1, p."end" - p."start"), d.title,'
            " c.heading_path::json, coalesce(c.first_day, c.date), c.date,"
            " case when strpos(d.front_matter, '\"description\"') > 0 then d.front_matter"
            " else '{}' end"
            " from memcli.parts p cross join lateral (select * from memcli.chunks c"
            " where c.workspace = p.workspace and c.id = p.chunk offset 0) c"
            " cross join lateral (select * from memcli.documents d"
            " where d.workspace = c.workspace and d.id = c.document offset 0) d"
            f" where p.workspace = $1 and {_WAITING}{among}"
            f" order by d.always desc, coalesce(d.importance, 0) > {IMPORTANT} desc,"
            " d.date is not null, d.date desc, d.mtime_ns desc, d.path, d.source, p.chunk, p.no"
            " limit $3",
            (self.id, encoder_of(fingerprint), limit, *listed),
        )
        return waiting(result)

    def borrow(self, fingerprint: str) -> int:
        """Copy vectors that the tenant has for waiting texts; return how many.

        Other tenants are left out: a role could learn what they have written.
        """
        if self.is_embedded(fingerprint):
            return 0
        unused = None if self.facts.fingerprint == fingerprint else self.now
        with self.transaction(revise=False):
            ((count,),) = self._rows(
                "with made as (insert into memcli.vectors"
                " (workspace, encoder, hash, vector, unused_since)"
                " select distinct on (v.hash) $1, $2, v.hash, v.vector, $4::bigint"
                " from memcli.workspaces w join memcli.vectors v on v.workspace = w.id"
                " and v.encoder = $2 where w.tenant = $3 and w.name <> $5 and v.hash in"
                " (select p.hash from memcli.parts p where p.workspace = $1 and not exists"
                " (select 1 from memcli.vectors o where o.workspace = $1 and o.encoder = $2"
                " and o.hash = p.hash)) on conflict do nothing returning 1)"
                " select count(*) from made",
                (self.id, encoder_of(fingerprint), self.row.tenant, unused, self.row.name),
            )
            self._revises |= count > 0
        return int(count)

    def _count_waiting(self, fingerprint: str) -> int:
        ((count,),) = self._rows(
            "select count(distinct p.hash) from memcli.parts p where p.workspace = $1"
            f" and {_WAITING}",
            (self.id, encoder_of(fingerprint)),
        )
        return int(count)

    def put_vectors(self, fingerprint: str, made: Sequence[tuple[bytes, bytes | None]]) -> None:
        """Store vectors; those of another encoder than the one in use count as unused."""
        with self.transaction():
            unused = None if self.facts.fingerprint == fingerprint else self.now
            encoder = encoder_of(fingerprint)
            pairs = [(hash_, vectors.written(rounded(v))) for hash_, v in made if v is not None]
            for at in range(0, len(pairs), vectors.AT_ONCE):
                hashes, texts = zip(*pairs[at : at + vectors.AT_ONCE], strict=True)
                self._rows(
                    "insert into memcli.vectors (workspace, encoder, hash, vector, unused_since)"
                    " select $1, $2, u.hash, u.vector::vector, $5 from"
                    " unnest($3::bytea[], $4::text[]) u(hash, vector) on conflict do nothing",
                    (self.id, encoder, hashes, texts, unused),
                )
            if unread := [hash_ for hash_, vector in made if vector is None]:
                self._rows(
                    "insert into memcli.unread (workspace, encoder, hash)"
                    " select $1, $2, unnest($3::bytea[]) on conflict do nothing",
                    (self.id, encoder, unread),
                )

    def _switch_to(self, fingerprint: str, dimension: int) -> None:
        """Search by the vectors of this encoder; if there are many, by codes first."""
        is_same = self.facts.fingerprint == fingerprint
        is_coarse = self._has_many(fingerprint)
        if is_same and is_coarse == (COARSE in self.row.meta):
            return
        with self.transaction():
            if not is_same:
                encoder = encoder_of(fingerprint)
                self._rows(
                    "update memcli.vectors set unused_since = $3 where workspace = $1"
                    " and encoder <> $2 and unused_since is null",
                    (self.id, encoder, self.now),
                )
                self._rows(
                    "update memcli.vectors v set unused_since = null where v.workspace = $1"
                    f" and v.encoder = $2 and v.unused_since is not null and not {UNUSED}",
                    (self.id, encoder),
                )
                self.put_fact("fingerprint", fingerprint)
                self.put_fact("dimension", str(dimension))
            meta = {key: value for key, value in self.row.meta.items() if key != COARSE}
            self.row = self.row._replace(meta={**meta, COARSE: "1"} if is_coarse else meta)

    def _has_many(self, fingerprint: str) -> bool:
        """Return whether codes are compared first; near the limit, nothing changes."""
        most = vectors.MANY * 3 // 4 if COARSE in self.row.meta else vectors.MANY
        result = self._rows(
            "select count(*) from (select 1 from memcli.vectors v where v.workspace = $1"
            " and v.encoder = $2 and exists (select 1 from memcli.parts p where p.workspace = $1"
            " and p.hash = v.hash) limit $3) x",
            (self.id, encoder_of(fingerprint), most),
        )
        return bool(result[0][0] >= most)

    def unchecked(self) -> list[str]:
        # The lines may be in another file now, so a file that the front matter names counts, too.
        result = self._rows(
            "select d.path from memcli.documents d where d.workspace = $1 and d.source = $2"
            " and exists (select 1 from memcli.lineage l where l.workspace = $1"
            " and l.document = d.id) and (exists (select 1 from memcli.lineage l"
            " left join memcli.documents s on s.workspace = $1 and s.source = $2"
            " and s.path = l.path where l.workspace = $1 and l.document = d.id"
            " and (s.hash is null or l.checked is distinct from s.hash))"
            " or exists (select 1 from json_array_elements(d.front_matter::json -> 'lineage') w"
            " join memcli.documents s on s.workspace = $1 and s.source = $2"
            " and s.path = w ->> 'path' where s.path not in (select path from memcli.lineage l"
            " where l.workspace = $1 and l.document = d.id))) order by d.path",
            (self.id, MEMORY_SOURCE),
        )
        return [path for (path,) in result]

    def _put_line_checks(self, summary: str, checks: Sequence[LineCheck]) -> None:
        ((document,),) = self._rows(SUMMARY, (self.id, MEMORY_SOURCE, summary))
        places = [
            (document, no, *each.lines, each.file, each.holds) for no, each in enumerate(checks)
        ]
        dropping = Statement("select memcli.drop_lineage($1, $2)", (self.id, document))
        self.connection.together((dropping, rows.inserting("lineage", self.id, places)))

    def tidy(self, *, pages: int | None = None, unused_days: int | None = None) -> int:
        """Let the server count its rows if they were few; its vacuum removes deleted words."""
        with suppress(ServerError):
            self.connection.run("select memcli.count_rows()")
        if unused_days is None:
            return 0
        before, after = self._bounds(unused_days)
        with self.transaction(revise=False):
            result = self._rows(
                "select memcli.drop_vectors($1, $2, $3, $4)",
                (self.id, self._encoder(), before, after),
            )
        return int(result[0][0])

    def start_over(self, fault: str) -> str:
        """Check the rows again; if they are damaged, delete all except vectors."""
        if self.integrity() == "ok":
            return f"{fault}, but a second check found it intact"
        with self.transaction():
            self._rows("set local statement_timeout = 0")
            self._rows("select memcli.drop_rows($1)", (self.id,))
            self._rows(
                "update memcli.vectors set unused_since = $2 where workspace = $1"
                " and unused_since is null",
                (self.id, self.now),
            )
            self.row = self.row._replace(chunks=0, words=0)
        return f"{fault}; what is stored of the workspace was deleted and is built again"

    @contextmanager
    def rebuild(self) -> Iterator[SharedRebuild]:
        """Open the half-built workspace next to this one, or a new one, under the same epoch."""
        with self.transaction(revise=False):
            ((number,),) = self._rows(
                "insert into memcli.workspaces (tenant, name, beside_of, epoch, left_ns)"
                " values ($1, $2, $3, $4, $5) on conflict (beside_of) where beside_of is not null"
                " do update set epoch = excluded.epoch returning id",
                (self.row.tenant, self.row.name, self.id, self.row.epoch, self.now_ns()),
            )
        (row,) = self._rows(session.select_by_id(lock=False), (number, self.row.epoch))
        side = SharedRebuild(self, session.read_row(row))
        side.set_facts({"mounts": self.facts.mounts or "[]", AWAITED: ""})
        try:
            yield side
        except RetryLaterError:
            side.set_facts({AWAITED: "1"}, revise=False)
            raise
        finally:
            self._rows(
                "update memcli.workspaces set left_ns = $2 where beside_of = $1",
                (self.id, self.now_ns()),
            )

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
        own, last = encoder_of(fingerprint), (-(1 << 63), b"")
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

    def _drop(self, key: Key) -> list[bytes]:
        """Delete a document inside a transaction; return the hashes of its segments."""
        ((chunks, words, hashes),) = self.connection.rows(*rows.dropping(self.id, key))
        self.row = self.row._replace(chunks=self.row.chunks - chunks, words=self.row.words - words)
        return [bytes.fromhex(hash_) for hash_ in hashes]

    def _usage_statements(self, gone: Sequence[bytes], living: Sequence[bytes]) -> list[Statement]:
        """Mark the vectors that no text uses any more, and those in use."""
        statements: list[Statement] = []
        if gone:
            forgetting = "select memcli.drop_unread($1, $2::bytea[])"
            statements.append(Statement(forgetting, (self.id, gone)))
        if self.facts.fingerprint is None:
            return statements
        encoder, own = self._encoder(), "v.encoder = $3 and v.hash = any($2::bytea[])"
        if gone:
            sql = (
                "update memcli.vectors v set unused_since = $4 where v.workspace = $1"
                f" and {own} and v.unused_since is null and {UNUSED}"
            )
            statements.append(Statement(sql, (self.id, gone, encoder, self.now)))
        if living:
            sql = (
                "update memcli.vectors v set unused_since = null where v.workspace = $1"
                f" and {own} and v.unused_since is not null"
            )
            statements.append(Statement(sql, (self.id, living, encoder)))
        return statements


class SharedRebuild(SharedWriter):
    """A workspace that is built next to another one; a `port.Rebuild`."""

    def __init__(self, main: SharedWriter, row: session.WorkspaceRow) -> None:
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
