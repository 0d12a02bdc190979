"""The tables of a shared index, as statements that their owner runs. A search never changes them.

Every key begins with the workspace, and no key leads from one workspace into another. So you can
split the tables into hash partitions by workspace. A workspace is a row of `workspaces`. Every
other row refers to it, directly or through its document or chunk, and is deleted with it.

The tables themselves separate the tenants:

- A role sees and writes the rows of the tenants that `members` grants it; policies check that.
- The server chooses the number of a workspace at random, and no role can write it.
- A half-built copy (`beside_of`) has the tenant and the name of its workspace, by a foreign key.
- A role has no table-level right to update or delete, because that right also locks a table for
  everybody. It deletes through functions that check whether the role may write the workspace.
"""

from __future__ import annotations

from collections.abc import Iterator

VERSION = 3  # of the tables
FIRST = 2  # the oldest tables that can be upgraded; no release has made older ones
LEAST_READER = 1  # the version of the tables that a client must know to read these
LEAST_WRITER = 2
FEW_PAGES = 8  # of chunks; with so few, any plan is fast enough
LEAST_SERVER = 150000  # PostgreSQL 15
LEAST_VECTOR = (0, 8)  # pgvector: the first version with iterative scans
MOST_PARTITIONS = 1024
# A role may write anything into its rows, and readers of several tenants cast it to JSON.
CHUNK_CHECK = "constraint chunks_lists check (" + " and ".join(
    f"json_typeof({column}::json) = 'array'"
    for column in ("heading_path", "links", "turns", "preferences")
) + ")"  # fmt: skip
META_CHECK = "constraint workspaces_meta check (json_typeof(meta::json) = 'object')"
CHECKS = (("chunks", CHUNK_CHECK), ("workspaces", META_CHECK))
# Tables that are partitioned by workspace, with their columns and keys. ISO dates are text, so they
# compare as in other stores. Values that must stay exactly the same are text, too.
_TABLES = {
    "documents": """
  workspace bigint not null references memcli.workspaces on delete cascade,
  id bigint not null,
  source text collate "C" not null, path text collate "C" not null, hash bytea not null,
  size bigint not null, mtime_ns bigint not null, ctime_ns bigint not null,
  inode bigint not null, indexed_ns bigint not null, title text not null,
  date text collate "C", first_day text collate "C", kind text not null, scope text not null,
  source_kind text not null, trust text not null, authority double precision,
  importance double precision, always boolean not null, soft boolean not null,
  front_matter text not null, skip text not null,
  primary key (workspace, id), unique (workspace, source, path)""",
    "chunks": f"""
  workspace bigint not null, id bigint not null, document bigint not null,
  ordinal int not null, anchor text not null, heading_path text not null,
  start_line int not null, end_line int not null, start_byte int not null,
  end_byte int not null, tokens int not null, text_hash bytea not null,
  date text collate "C", first_day text collate "C", links text not null, turns text not null,
  preferences text not null, text text not null,
  primary key (workspace, id),
  {CHUNK_CHECK},
  foreign key (workspace, document) references memcli.documents on delete cascade""",
    # If a chunk is `whole`, the row contains all its words with their places. A chunk that is too
    # long for a tsvector has none here, and its text is cut again for each search.
    "keywords": """
  workspace bigint not null, chunk bigint not null, length int not null,
  whole boolean not null, words tsvector not null,
  primary key (workspace, chunk),
  foreign key (workspace, chunk) references memcli.chunks on delete cascade""",
    "parts": """
  workspace bigint not null, chunk bigint not null, no int not null,
  start_line int not null, end_line int not null, "start" int not null, "end" int not null,
  prefix text not null, hash bytea not null,
  primary key (workspace, chunk, no),
  foreign key (workspace, chunk) references memcli.chunks on delete cascade""",
    "properties": """
  workspace bigint not null, document bigint not null, key text collate "C" not null,
  value text collate "C" not null,
  foreign key (workspace, document) references memcli.documents on delete cascade""",
    "speakers": """
  workspace bigint not null, name text collate "C" not null, document bigint not null,
  primary key (workspace, name, document),
  foreign key (workspace, document) references memcli.documents on delete cascade""",
    "lineage": """
  workspace bigint not null, document bigint not null, no int not null,
  path text collate "C" not null, start_line int not null, end_line int not null,
  hash bytea not null, checked bytea, matches boolean not null,
  primary key (workspace, document, no),
  foreign key (workspace, document) references memcli.documents on delete cascade""",
    # An encoder is the hash of its fingerprint; one table contains vectors of several dimensions.
    "vectors": """
  workspace bigint not null references memcli.workspaces on delete cascade,
  encoder bigint not null, hash bytea not null,
  vector vector not null, unused_since bigint,
  code bit varying generated always as (
    binary_quantize(vector - array_fill((0.5 / sqrt(vector_dims(vector)))::real,
      array[vector_dims(vector)])::vector)
    || binary_quantize(vector + array_fill((0.5 / sqrt(vector_dims(vector)))::real,
      array[vector_dims(vector)])::vector)) stored,
  primary key (workspace, encoder, hash)""",
    "unread": """
  workspace bigint not null references memcli.workspaces on delete cascade,
  encoder bigint not null, hash bytea not null,
  primary key (workspace, encoder, hash)""",
}
_INDEXES = (
    "create index chunks_document on memcli.chunks (workspace, document)",
    "create index chunks_date on memcli.chunks (workspace, date) where date is not null",
    "create index chunks_preferences on memcli.chunks (workspace, id) where preferences <> '[]'",
    "create index documents_rules on memcli.documents (workspace, id) where always or soft",
    "create index keywords_words on memcli.keywords using gin (words) with (fastupdate = off)",
    "create index keywords_long on memcli.keywords (workspace, chunk) where not whole",
    "create index parts_hash on memcli.parts (workspace, hash)",
    "create index properties_key on memcli.properties (workspace, key, value)",
    "create index properties_document on memcli.properties (workspace, document)",
    "create index speakers_document on memcli.speakers (workspace, document)",
    "create index lineage_path on memcli.lineage (workspace, path)",
    "create index vectors_codes on memcli.vectors (workspace, encoder, hash) include (code)"
    " where unused_since is null",
    "create index vectors_hash on memcli.vectors (encoder, hash)",
    "create index vectors_unused on memcli.vectors (workspace, unused_since)"
    " where unused_since is not null",
)
TABLES = tuple(_TABLES)
_BOTTOM_UP = TABLES[::-1]  # referring tables come first; whole workspaces are deleted in this order


# The columns that a role may change in existing rows.
_UPDATED = {
    "workspaces": "tenant, name, beside_of, left_ns, origin, attached_at, holder, epoch,"
    " lease_until, revision, changed_at, next_id, chunks, words, meta",
    "documents": "size, mtime_ns, ctime_ns, inode, indexed_ns",
    "vectors": "unused_since",
}
GROUP = "memcli_agents"


def statements(partitions: int = 0) -> Iterator[str]:
    """Yield the statements that make an empty index, with so many partitions per table."""
    yield "create extension if not exists vector"
    yield "create schema memcli"
    yield "create table memcli.version (version int, least_reader int, least_writer int)"
    yield f"insert into memcli.version values ({VERSION}, {LEAST_READER}, {LEAST_WRITER})"
    yield f"""create table memcli.workspaces (
  id bigint primary key default {_RANDOM},
  tenant text collate "C" not null, name text collate "C" not null,
  beside_of bigint, left_ns bigint not null default 0,
  origin text not null default '', attached_at timestamptz not null default now(),
  holder text, epoch bigint not null default 0, lease_until timestamptz,
  revision bigint not null default 0, changed_at timestamptz,
  next_id bigint not null default 1, chunks bigint not null default 0,
  words bigint not null default 0, meta text not null default '{{}}',
  {META_CHECK})"""
    yield (
        "create unique index workspaces_name on memcli.workspaces (tenant, name)"
        " where beside_of is null"
    )
    yield (
        "create unique index workspaces_beside on memcli.workspaces (beside_of)"
        " where beside_of is not null"
    )
    yield "create unique index workspaces_same on memcli.workspaces (id, tenant, name)"
    yield (
        "alter table memcli.workspaces add constraint workspaces_same_name"
        " foreign key (beside_of, tenant, name) references memcli.workspaces (id, tenant, name)"
        " on update cascade on delete cascade"
    )
    for name, columns in _TABLES.items():
        cut = " partition by hash (workspace)" if partitions else ""
        yield f"create table memcli.{name} ({columns}){cut}"
        for rest in range(partitions):
            yield (
                f"create table memcli.{name}_{rest} partition of memcli.{name}"
                f" for values with (modulus {partitions}, remainder {rest})"
            )
            yield f"alter table memcli.{name}_{rest} enable row level security"
    yield from _INDEXES
    yield (
        'create table memcli.members (role text not null, tenant text collate "C" not null,'
        " writes boolean not null default false, primary key (role, tenant))"
    )
    for table in ("members", "workspaces", *TABLES):
        yield f"alter table memcli.{table} enable row level security"
        yield from policies(table)
    yield from functions()
    # The server reads a vector three times as slowly if it is stored outside its row.
    for table in [f"vectors_{rest}" for rest in range(partitions)] or ["vectors"]:
        yield f"alter table memcli.{table} alter column vector set storage main"


# 63 random bits: the first and the last 32 bits of a random UUID are random.
_RANDOM = (
    "(('x' || left(gen_random_uuid()::text, 8) || right(gen_random_uuid()::text, 8))::bit(64)"
    "::bigint & 9223372036854775807)"
)


def policies(table: str) -> Iterator[str]:
    """Yield the policies that limit a role to its tenants.

    They check the role that has logged in. A session setting would protect nothing, because any
    login can set one.
    """
    own = "select m.tenant from memcli.members m where m.role = session_user"
    if table == "members":
        reads = "role = session_user"
    elif table == "workspaces":
        reads = f"tenant in ({own}{{0}})"
    else:
        reads = (
            f"workspace in (select w.id from memcli.workspaces w where w.tenant in ({own}{{0}}))"
        )
    yield f"create policy reads on memcli.{table} for select using ({reads.format('')})"
    if table != "members":
        writes = reads.format(" and m.writes")
        yield f"create policy writes on memcli.{table} for all using ({writes})"


UNUSED = "not exists (select 1 from memcli.parts p where p.workspace = $1 and p.hash = v.hash)"
_WITHOUT_VECTORS = tuple(table for table in _BOTTOM_UP if table != "vectors")
# Functions that delete rows of one workspace: parameters, result, and statements. They run with the
# rights of the owner, so each statement checks that the caller may write the workspace.
_FUNCTIONS = {
    "drop_workspace": (
        "workspace bigint",
        "void",
        (
            *(f"delete from memcli.{table} t where t.workspace = $1" for table in _BOTTOM_UP),
            "delete from memcli.workspaces t where t.id = $1",
        ),
    ),
    "drop_rows": (
        "workspace bigint",
        "void",
        [f"delete from memcli.{table} t where t.workspace = $1" for table in _WITHOUT_VECTORS],
    ),
    "drop_documents": (
        "workspace bigint, numbers bigint[]",
        "void",
        ["delete from memcli.documents d where d.workspace = $1 and d.id = any($2)"],
    ),
    "drop_lineage": (
        "workspace bigint, document bigint",
        "void",
        ["delete from memcli.lineage l where l.workspace = $1 and l.document = $2"],
    ),
    "drop_unread": (
        "workspace bigint, hashes bytea[]",
        "void",
        [f"delete from memcli.unread v where v.workspace = $1 and v.hash = any($2) and {UNUSED}"],
    ),
    "drop_vectors": (
        "workspace bigint, encoder bigint, before bigint, after bigint",
        "bigint",
        (
            "delete from memcli.unread u where u.workspace = $1 and u.encoder <> $2",
            "with gone as (delete from memcli.vectors v where v.workspace = $1"
            " and (v.unused_since <= $3 or v.unused_since >= $4)"
            f" and (v.encoder <> $2 or {UNUSED})"
            " and memcli.may_write($1) returning 1) select count(*) from gone",
        ),
    ),
}


def functions() -> Iterator[str]:
    """Yield the functions with which a role deletes the rows that it may write, and no others.

    `count_rows` lets the server count the rows of a table that has doubled, because the server
    plans by that count. It measures the table, because a role can write any count into its own row.
    It does not wait for a lock, because a role could hold one.
    """
    safe = "security definer set search_path = pg_catalog, pg_temp"
    owner = "select c.relowner from pg_class c where c.oid = 'memcli.workspaces'::regclass"
    yield f"""create or replace function memcli.may_write(workspace bigint) returns boolean
language sql stable {safe} as $$
select exists (select 1 from memcli.workspaces w where w.id = $1 and (
  pg_has_role(session_user, ({owner}), 'member') or exists (select 1 from memcli.members m
    where m.role = session_user and m.tenant = w.tenant and m.writes))) $$"""
    every = ", ".join(f"memcli.{table}" for table in TABLES)
    yield f"""create or replace function memcli.count_rows() returns void
language plpgsql {safe} set lock_timeout = '100ms' as $$ begin
  if (select sum(pg_relation_size(c.oid)) > 2 * greatest(sum(c.relpages), {FEW_PAGES})
      * current_setting('block_size')::int from pg_class c where c.relkind = 'r'
      and (c.oid = 'memcli.chunks'::regclass or c.oid in
        (select i.inhrelid from pg_inherits i where i.inhparent = 'memcli.chunks'::regclass)))
  then analyze {every}; end if;
exception when lock_not_available then null;
end $$"""
    for name, (parameters, result, deleting) in _FUNCTIONS.items():
        checked = (
            each if "may_write" in each else f"{each} and memcli.may_write($1)" for each in deleting
        )
        yield (
            f"create or replace function memcli.{name}({parameters}) returns {result}"
            f" language sql {safe} as $$ {'; '.join(checked)} $$"
        )


def _grants() -> Iterator[str]:
    """Yield the statements that let the group use the index, as far as `members` allows."""
    every = ", ".join(f"memcli.{table}" for table in TABLES)
    yield f"grant usage on schema memcli to {GROUP}"
    yield f"grant select on memcli.version, memcli.members, memcli.workspaces, {every} to {GROUP}"
    yield f"grant insert on {every} to {GROUP}"
    yield (
        "grant insert (tenant, name, beside_of, origin, epoch, left_ns) on memcli.workspaces"
        f" to {GROUP}"
    )
    for table, columns in _UPDATED.items():
        yield f"grant update ({columns}) on memcli.{table} to {GROUP}"


def joining(role: str, tenant: str, *, writes: bool) -> Iterator[str]:
    """Yield the statements that grant a role a tenant, each of which can run again."""
    yield _role(f"{GROUP} nologin")
    yield from _grants()
    yield _role(f'"{role}" login')
    yield f'grant {GROUP} to "{role}"'
    yield (
        f"insert into memcli.members values ('{role}', '{tenant}', {str(writes).lower()})"
        " on conflict (role, tenant) do update set writes = excluded.writes"
    )


def leaving(role: str, tenant: str) -> Iterator[str]:
    """Yield the statements that remove a role from a tenant."""
    yield f"delete from memcli.members where role = '{role}' and tenant = '{tenant}'"


def _role(role: str) -> str:
    missing = f"create role {role}; exception when duplicate_object then null"
    return f"do $do$ begin {missing}; end $do$"
