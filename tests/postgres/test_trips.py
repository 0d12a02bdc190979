"""How often a question waits for the server, which counts where that is far away.

A question with words that no other spelling is looked for, short ones and numbers, waits once more:
their chunks are looked up later.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memcli.store.port import Store
from memcli.store.postgres import reader
from memcli.store.postgres.address import Address
from memcli.store.postgres.store import PostgresStore
from memcli.store.records import First, Scope
from memcli.types import Filters
from tests.postgres.proxy import proxy
from tests.postgres.server import server
from tests.postgres.stores import ORIGIN, make_store
from tests.store.contract.makers import (
    Clock,
    ask,
    changing,
    cited,
    embed,
    options_for,
    put,
    search_by,
)

DOCUMENTS, PARTS = 400, 8
LATENCY = 0.005  # seconds, of each message
MOST_TRIPS = 9  # four to answer, five to find what corrects the answer


def places(store: Store, text: str, filters: Filters) -> list[str]:
    with store.snapshot() as snapshot:
        return [place for place, _ in cited(ask(snapshot, text, options_for(filters)))]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> PostgresStore:
    store = make_store(tmp_path_factory.mktemp("trips"), Clock())
    with changing(store) as change:
        for number in range(40):
            text = f"# The pool {number}\n\nwhy it ran dry, fox {number % 5}\n\n## More\n\ntrain\n"
            put(change, f"memory/2025-01-{number % 28 + 1:02}-{number}.md", text)
        embed(change)
        search_by(change, none_waits=True)
    return store


def waits(filled: PostgresStore, asking: Callable[[PostgresStore], object]) -> int:
    """Count the requests that something takes of a store that is opened for it."""
    with proxy(server().port, delay=LATENCY) as far:
        address = Address(filled.address.url.replace(f":{server().port}/", f":{far.port}/"))
        store = PostgresStore(address, filled.name, filled._local, Clock(), origin=ORIGIN)
        asking(store)
        store.close()
        far.until_passed()
        return far.requests


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("why did the pool run dry", Filters()),
        ("nothing of that is here", Filters()),
        pytest.param('"ran dry" fox', Filters(), marks=pytest.mark.nightly),
        pytest.param("pool train", Filters(paths=("memory/",)), marks=pytest.mark.nightly),
        pytest.param("pool", Filters(since="2025-01-05"), marks=pytest.mark.nightly),
    ],
)
def test_a_question_waits_nine_times_at_most(
    filled: PostgresStore, text: str, filters: Filters
) -> None:
    expected = places(filled, text, filters)

    def times(count: int) -> Callable[[PostgresStore], None]:
        def asking(store: PostgresStore) -> None:
            assert [places(store, text, filters) for _ in range(count)] == [expected] * count

        return asking

    opening = waits(filled, lambda store: store.exists())
    once, twice = (waits(filled, times(count)) for count in (1, 2))
    trips = once - opening + 1  # to begin is one, and nobody waits for the end
    assert 0 < trips <= MOST_TRIPS
    assert twice - once - 1 <= trips - (text != "nothing of that is here")  # words are known


def test_what_is_kept_is_that_of_one_state(
    filled: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, every = "why did the pool run dry", Filters()
    name, clock = filled.name, Clock()
    first, other, fresh = (
        PostgresStore(filled.address, name, filled._local, clock, origin=ORIGIN) for _ in range(3)
    )
    before = places(first, text, every)
    assert places(first, text, every) == before
    with changing(other) as change:
        put(change, "memory/2025-02-01.md", "# The pool\n\nwhy did the pool run dry\n")
        embed(change)
    after = places(first, text, every)
    assert after == places(fresh, text, every) != before
    assert after[0] == "memory/2025-02-01.md:1-3"
    monkeypatch.setattr(reader, "MOST_BYTES", 0)
    assert places(first, text, every) == after
    with changing(other) as change:
        change.remove(("memory", "memory/2025-02-01.md"))
    monkeypatch.undo()
    assert places(first, text, every) == before
    for store in (first, other, fresh):
        store.close()


def test_a_list_reads_each_chunk_a_few_times_while_the_server_knows_no_counts(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path, Clock())
    with changing(store) as change, change.together():
        for number in range(DOCUMENTS):
            put(change, f"{number}.md", "".join(f"# Part {n}\n\ntext\n\n" for n in range(PARTS)))
    reads = "select seq_tup_read + idx_tup_fetch from pg_stat_xact_user_tables where relname = $1"
    with store.snapshot() as snapshot:
        listed = snapshot.documents(Scope())
        first = snapshot.documents(Scope(), First(5, "path"))
        ((read,),) = snapshot.connection.rows(reads, ("chunks",))
    assert (len(listed), len(first)) == (DOCUMENTS, 5)
    assert {each.chunks for each in listed} == {PARTS}
    assert read <= 4 * DOCUMENTS * PARTS
