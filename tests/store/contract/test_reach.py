"""What filters and a view let through, whoever asks: it is applied before anything is counted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memcli.store.documents import with_chunks
from memcli.store.port import Snapshot, Store
from memcli.store.records import Scope
from memcli.types import Filters, SourceLines, Where
from tests.store.contract.conftest import STORES
from tests.store.contract.makers import (
    Clock,
    any_of,
    changing,
    embed,
    found,
    near,
    places,
    put,
    search_by,
)

ALWAYS = (("0001-01-01", "9999-12-31"),)
DAYS = "## 2025-02-01\n\nmorning fox\n\n## 2025-02-02\n\nevening fox\n"
SUB = """---
Tags: [Infra/db, "#Über", 2024]
status: Open
severity: 2
opened: 2026-03-01T10:00:00
metadata: {type: feedback, by: [{name: Odette}]}
---
"""
DEEP = """---
tag: infra, machine learning
status: done
severity: 2.5
due: 2026-03-01
draft: yes
---
"""
ODD = """---
tags: infrared draft
status:
version: "1.10"
opened: 2026-03-01
"it's": '%_[x]*'
---
"""
NO_TEXT = "\udcff"  # half a surrogate
PATHS = {
    "one": "memory/2025-01-02.md",
    "two": "memory/2025-03-04.md",
    "days": "days.md",  # with two chunks of two days
    "sub": "sub/a.md",
    "deep": "sub/deep/b.md",
    "odd": 'it\'s "odd" [x].md',
    "other": "memory/o.md",
}


@pytest.fixture(scope="module", params=STORES)
def filled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """A store of each kind, which the tests only read."""
    store = STORES[request.param](tmp_path_factory.mktemp("reach") / "store", Clock())
    with changing(store) as change:
        put(change, PATHS["one"], "# Pool\n\nfox one\n")
        put(change, PATHS["two"], "# Train\n\nfox two\n", kind="event")
        put(change, PATHS["days"], DAYS)
        put(
            change,
            PATHS["sub"],
            SUB + '# The Other pool\n\n## Swim, or "not"\n\nfox\n',
            scope="user",
        )
        put(change, PATHS["deep"], DEEP + "deep fox\n")
        put(change, PATHS["odd"], ODD + "odd fox\n", trust="untrusted")
        put(change, PATHS["other"], "# POOL\n\nfox of another\n", "other", trust="untrusted")
        embed(change)
        search_by(change)
    yield store
    store.close()


TAGGED = {
    ("infra",): "sub deep",
    ("#INFRA/",): "sub deep",
    ("infra/db",): "sub",
    ("infra", "machine learning"): "deep",
    ("infra", "draft"): "",
    ("infr",): "",
    ("infrared",): "odd",
    ("ÜBER",): "sub",
    ("2024",): "sub",
    ("nosuch",): "",
    ("infra%",): "",
}
SAID = {
    (Where("status"),): "sub deep",  # an empty value is none
    (Where("status", "OPEN"),): "sub",
    (Where("STATUS", "open"),): "sub",
    (Where("status", "open", negated=True),): "one two days deep odd other",
    (Where("status"), Where("status", "open", negated=True)): "deep",
    (Where("status", negated=True),): "one two days odd other",
    (Where("severity", "2"),): "sub",
    (Where("severity", "2.0"),): "sub",
    (Where("severity", "2.50"),): "deep",
    (Where("version", "1.10"),): "odd",
    (Where("version", "1.1"),): "",  # it is a text
    (Where("opened", "2026-03-01"),): "sub odd",
    (Where("opened", "2026-03-01T10:00:00"),): "sub",
    (Where("due", "2026-03-01"),): "deep",
    (Where("due", "2026-03"),): "",
    (Where("draft", "yes"),): "deep",
    (Where("draft", "True"),): "deep",
    (Where("draft", "no"),): "",
    (Where("tag", "infra"),): "deep",
    (Where("tags", "infra/db"),): "sub",
    (Where("metadata.type", "feedback"),): "sub",
    (Where("metadata"),): "sub",
    (Where("meta"),): "",
    (Where("metadata.by.name", "odette"),): "sub",
    (Where("nosuch"),): "",
    (Where("nosuch", "1"),): "",
    (Where("it's", "%_[x]*"),): "odd",
    (Where("it's", "%"),): "",
}
ALL = "one two days sub deep odd other"
FILTERS = {
    Filters(): ALL,
    Filters(view="raw"): ALL,
    Filters(view="active"): ALL,
    Filters(since="2025-02-02"): "days two",
    Filters(until="2025-02-01"): "one days",
    Filters(since="2025-02-01", until="2025-02-01"): "days",
    Filters(since="2025-03-04", until="2025-03-04"): "two",
    Filters(since="2025-03-05"): "",
    Filters(since="2025-03-05", undated=True): "sub deep odd other",
    Filters(until="2025-01-31", undated=True): "one sub deep odd other",
    Filters(undated=True): ALL,
    Filters(sources=("other",)): "other",
    Filters(sources=("other", "memory")): ALL,
    Filters(sources=("nobody",)): "",
    Filters(kinds=("log",)): "one",
    Filters(kinds=("log", "event")): "one two",
    Filters(scopes=("session",)): "one two",
    Filters(scopes=("user", "session")): "one two sub",
    Filters(trusts=("untrusted",)): "odd other",
    Filters(trusts=("trusted", "untrusted")): ALL,
    Filters(paths=("sub/",)): "sub deep",
    Filters(paths=("./sub/",)): "sub deep",
    Filters(paths=("sub/*",)): "sub deep",
    Filters(paths=("**/a.md",)): "sub",
    Filters(paths=("*b.md",)): "deep",
    Filters(paths=("sub/?.md",)): "sub",
    Filters(paths=("SUB/",)): "",
    Filters(paths=("days.md", "sub/deep/")): "days deep",
    Filters(paths=('it\'s "odd"*',)): "odd",
    Filters(paths=("memory/*",)): "one two other",
    Filters(paths=("other:memory/*",)): "other",
    Filters(paths=("memory:memory/*",)): "one two",
    Filters(paths=("other:",)): "",
    Filters(paths=("[z-a]*",)): "",
    Filters(paths=("[!]",)): "",
    Filters(paths=("[!]*",)): "",
    Filters(paths=("[^]",)): "",
    Filters(paths=("[a-\\]]*",)): "",
    Filters(paths=("[",)): "",
    Filters(paths=("[]-]*",)): "",
    Filters(paths=("[r-t]ub/*", "[!!]nosuch")): "sub deep",
    Filters(paths=("[!a-rt-z]*",)): "sub deep",
    Filters(paths=("[^a-rt-z]*",)): "sub deep",
    Filters(paths=("[!!]ub*/?.md", "[+--]*")): "sub deep",
    Filters(headings=("pool",)): "one sub other",
    Filters(headings=("POO",)): "one sub other",
    Filters(headings=("pool", "swim")): "sub",
    Filters(headings=('or "not"',)): "sub",
    Filters(headings=(",",)): "sub",
    Filters(headings=("[",)): "",
    Filters(headings=("swan",)): "",
    **{Filters(tags=tags): names for tags, names in TAGGED.items()},
    **{Filters(where=where): names for where, names in SAID.items()},
    Filters(tags=("infra",), where=(Where("status", "done"),)): "deep",
    Filters(tags=("infra",), sources=("other",)): "",
    Filters(within=(SourceLines("days.md", 7, 9, b""),)): "days",
    Filters(within=(SourceLines("sub/a.md", 12, 12, b""), SourceLines("x", 1, 9, b""))): "sub",
    Filters(within=(SourceLines("sub/a.md", 50, 60, b""),)): "",
    Filters(within=(SourceLines("memory/o.md", 1, 9, b""),)): "",  # lines of the memory alone
    Filters(sources=("memory",), headings=("pool",), until="2025-02-01"): "one",
}
REACHES = {Scope(filters): names for filters, names in FILTERS.items()} | {
    Scope(without=("sub/a.md", "memory/o.md")): "one two days deep odd other",
    Scope(Filters(kinds=("log",)), without=(PATHS["one"],)): "",
    Scope(beyond=(SourceLines("memory/2025-01-02.md", 1, 3, b""),)): "two days sub deep odd other",
    Scope(beyond=(SourceLines("memory/2025-01-02.md", 1, 2, b""),)): ALL,  # a line sticks out
    Scope(beyond=(SourceLines("memory/o.md", 1, 99, b""),)): ALL,
    Scope(without=(PATHS["two"],), beyond=(SourceLines("days.md", 1, 99, b""),)): (
        "one sub deep odd other"
    ),
}


def test_whoever_asks_finds_what_is_within_reach(filled: Store) -> None:
    with filled.snapshot() as snapshot:
        for scope, names in REACHES.items():
            _check(snapshot, scope, names)


def _check(snapshot: Snapshot, scope: Scope, names: str) -> None:
    expected = {PATHS[name] for name in names.split()}
    dated = {PATHS[name] for name in names.split() if name in ("one", "two", "days")}
    assert set(found(snapshot, any_of("fox"), scope=scope)) == expected
    assert set(near(snapshot, "fox", scope=scope)) == expected
    assert {document.path for document in with_chunks(snapshot.documents(scope))} == expected
    assert [document.path for document in snapshot.documents(scope)] == sorted(
        expected, key=lambda path: (path == PATHS["other"], path)
    )
    every = list(snapshot.known())
    assert {e.about.path for e in snapshot.excerpts_of(every, scope)} == expected
    assert set(places(snapshot, snapshot.dated(ALWAYS, 99, scope))) == dated
    newest = {excerpt.about.path for excerpt in snapshot.newest(scope)}
    assert newest == dated - {PATHS["days"]}  # whose chunks have a day, and it has none


@pytest.mark.parametrize(
    ("scope", "lines"),
    [
        (Scope(Filters(since="2025-02-02")), [5]),
        (Scope(Filters(within=(SourceLines("days.md", 3, 4, b""),))), [1]),
        (Scope(Filters(within=(SourceLines("days.md", 3, 5, b""),))), [1, 5]),
        (Scope(beyond=(SourceLines("days.md", 1, 4, b""),)), [5]),
        (Scope(beyond=(SourceLines("days.md", 2, 99, b""),)), [1]),
    ],
    ids=str,
)
def test_a_document_may_be_within_reach_in_part(
    filled: Store, scope: Scope, lines: list[int]
) -> None:
    with filled.snapshot() as snapshot:
        excerpts = snapshot.excerpts_of([("memory", "days.md")], scope)
        assert [excerpt.about.start_line for excerpt in excerpts] == lines
        (rated,) = (
            found for found in with_chunks(snapshot.documents(scope)) if found.path == "days.md"
        )
        assert rated.chunks == len(lines)
        passages = snapshot.by_keyword(any_of("morning", "evening"), 9, scope)
        assert {passage.chunk_id for passage in passages} == {e.about.chunk_id for e in excerpts}


def test_reach_is_applied_before_the_nearest_are_chosen(filled: Store) -> None:
    with filled.snapshot() as snapshot:
        assert near(snapshot, "fox one pool", limit=1) == [PATHS["one"]]
        scope = Scope(Filters(paths=("sub/",)))
        assert near(snapshot, "fox one pool", limit=1, scope=scope)[0].startswith("sub/")
        assert len(near(snapshot, "fox one pool", limit=2, scope=scope)) == 2
        spans = (("2025-01-01", "2025-12-31"),)
        scope = Scope(Filters(kinds=("log",)))
        assert places(snapshot, snapshot.dated(spans, 1, scope)) == [PATHS["one"]]


def test_nothing_is_within_reach_of_what_is_no_text(filled: Store) -> None:
    """A byte of the command line that is no UTF-8, for one; nothing is wrong with the store."""
    for filters in (
        Filters(headings=(NO_TEXT,)), Filters(paths=(f"x{NO_TEXT}",)), Filters(tags=(NO_TEXT,)),
        Filters(by=(NO_TEXT,)), Filters(where=(Where(NO_TEXT, NO_TEXT),)), Filters(since=NO_TEXT),
    ):  # fmt: skip
        with filled.snapshot() as snapshot:
            assert not found(snapshot, any_of("fox"), scope=Scope(filters)), filters
