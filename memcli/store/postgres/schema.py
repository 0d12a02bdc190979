"""The tables of a shared index, as statements that its owner runs: a search never migrates.

Every key begins with the workspace, no table has a sequence but `workspaces`, and no key leads from
one workspace into another. So the tables can be cut into hash partitions by their workspace, or
dealt out over machines, without a change.

documents -> chunks -> keywords, parts; a part points by the hash of its embedded text to `vectors`,
the embedding cache. A workspace that is built beside another one is a row of its own until it takes
the other's place.
"""

from __future__ import annotations

from collections.abc import Iterator

VERSION = 1  # of the tables; see `READS` and `WRITES`
LEAST_SERVER = 150000  # PostgreSQL 15
LEAST_VECTOR = (0, 8)  # pgvector: what searches on until enough is found came with it
MOST_PARTITIONS = 1024
# Tables that are cut by workspace, each with its columns and its key. ISO dates are text, so that
# they compare as everywhere else; so is what must be given back to the letter.
_TABLES = {
    "documents": """
  workspace bigint not null, id bigint not null,
  source text collate "C" not null, path text collate "C" not null, hash bytea not null,
  size bigint not null, mtime_ns bigint not null, ctime_ns bigint not null,
  inode bigint not null, indexed_ns bigint not null, title text not null,
  date text collate "C", first_day text collate "C", kind text not null, scope text not null,
  source_kind text not null, trust text not null, authority double precision,
  importance double precision, always boolean not null, soft boolean not null,
  front_matter text not null, skip text not null,
  primary key (workspace, id), unique (workspace, source, path)""",
    "chunks": """
  workspace bigint not null, id bigint not null, document bigint not null,
  ordinal int not null, anchor text not null, heading_path text not null,
  start_line int not null, end_line int not null, start_byte int not null,
  end_byte int not null, tokens int not null, text_hash bytea not null,
  date text collate "C", first_day text collate "C", links text not null, turns text not null,
  preferences text not null, text text not null,
  primary key (workspace, id),
  foreign key (workspace, document) references memcli.documents on delete cascade""",
    # Words of a chunk that is `whole` are all there with their places; of another one, which is
    # longer than a tsvector holds, none is, and its text is cut anew.
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
    # An encoder is the hash of its fingerprint; vectors of several dimensions lie in one table.
    "vectors": """
  workspace bigint not null, encoder bigint not null, hash bytea not null,
  vector vector not null, unused_since bigint,
  code bit varying generated always as (
    binary_quantize(vector - array_fill((0.5 / sqrt(vector_dims(vector)))::real,
      array[vector_dims(vector)])::vector)
    || binary_quantize(vector + array_fill((0.5 / sqrt(vector_dims(vector)))::real,
      array[vector_dims(vector)])::vector)) stored,
  primary key (workspace, encoder, hash)""",
    "unread": """
  workspace bigint not null, encoder bigint not null, hash bytea not null,
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
    "create index vectors_unused on memcli.vectors (workspace, unused_since)"
    " where unused_since is not null",
)
TABLES = tuple(_TABLES)
# From what refers to what is referred to, so that whole workspaces are deleted in this order.
BOTTOM_UP = (
    "keywords", "parts", "properties", "speakers", "lineage", "chunks", "documents", "vectors",
    "unread",
)  # fmt: skip


def statements(partitions: int = 0) -> Iterator[str]:
    """Give the statements that make an empty store, each table cut into so many partitions."""
    yield "create extension if not exists vector"
    yield "create schema memcli"
    yield "create table memcli.version (version int, least_reader int, least_writer int)"
    yield f"insert into memcli.version values ({VERSION}, {VERSION}, {VERSION})"
    yield """create table memcli.workspaces (
  id bigint generated by default as identity primary key,
  tenant text collate "C" not null, name text collate "C" not null,
  beside_of bigint, left_ns bigint not null default 0,
  origin text not null default '', attached_at timestamptz not null default now(),
  holder text, epoch bigint not null default 0, lease_until timestamptz,
  revision bigint not null default 0, changed_at timestamptz,
  next_id bigint not null default 1, chunks bigint not null default 0,
  words bigint not null default 0, meta text not null default '{}')"""
    yield (
        "create unique index workspaces_name on memcli.workspaces (tenant, name)"
        " where beside_of is null"
    )
    yield (
        "create unique index workspaces_beside on memcli.workspaces (beside_of)"
        " where beside_of is not null"
    )
    for name, columns in _TABLES.items():
        cut = " partition by hash (workspace)" if partitions else ""
        yield f"create table memcli.{name} ({columns}){cut}"
        for rest in range(partitions):
            yield (
                f"create table memcli.{name}_{rest} partition of memcli.{name}"
                f" for values with (modulus {partitions}, remainder {rest})"
            )
    yield from _INDEXES
    yield from _policies()
    # A vector that lies elsewhere than its row is read three times as slowly.
    for table in [f"vectors_{rest}" for rest in range(partitions)] or ["vectors"]:
        yield f"alter table memcli.{table} alter column vector set storage main"


def _policies() -> Iterator[str]:
    """Let each role see the workspaces of its tenants alone, and write where it may.

    The owner of the tables is not bound by it. A policy that read a setting of the session would
    be no fence: any login can set one.
    """
    yield (
        'create table memcli.members (role text not null, tenant text collate "C" not null,'
        " writes boolean not null default false, primary key (role, tenant))"
    )
    own = "select m.tenant from memcli.members m where m.role = current_user"
    rules = {
        "members": "role = current_user",
        "workspaces": f"tenant in ({own}{{0}})",
        **dict.fromkeys(
            TABLES,
            f"workspace in (select w.id from memcli.workspaces w where w.tenant in ({own}{{0}}))",
        ),
    }
    for table, rule in rules.items():
        yield f"alter table memcli.{table} enable row level security"
        yield f"create policy reads on memcli.{table} for select using ({rule.format('')})"
        if table != "members":
            writes = rule.format(" and m.writes")
            yield f"create policy writes on memcli.{table} for all using ({writes})"


def grants(role: str = "memcli_agents") -> Iterator[str]:
    """Give the statements that make a group of agents, for whoever may make roles."""
    written = ", ".join(f"memcli.{table}" for table in ("workspaces", *TABLES))
    yield f"create role {role} nologin"
    yield f"grant usage on schema memcli to {role}"
    yield f"grant select on memcli.version, memcli.members to {role}"
    yield f"grant select, insert, update, delete on {written} to {role}"
