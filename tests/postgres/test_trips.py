"""How often a question waits for the server, which counts where that is far away.

A question with words that no other spelling is looked for, short ones and numbers, waits once more:
their chunks are looked up later.
"""

from __future__ import annotations

from datetime import date

import pytest

from memcli.config import settings
from memcli.search.dates import find_dates
from memcli.search.legs import Vector
from memcli.search.options import options_of
from memcli.search.pipeline import search
from memcli.search.query import parse
from memcli.store.port import Store
from memcli.store.postgres.address import Address
from memcli.store.postgres.store import PostgresStore
from memcli.types import Filters
from tests.hashing import HashingEncoder
from tests.postgres.proxy import proxy
from tests.postgres.server import server
from tests.postgres.stores import ORIGIN, make_store
from tests.store.contract.makers import Clock, changing, embed, put, search_by

LATENCY = 0.005  # seconds, of each message
TODAY = date(2026, 1, 1)
MOST_TRIPS = 4


def ask(store: Store, text: str, filters: Filters) -> list[str]:
    """Answer a question; give the places of its passages."""
    encoder = HashingEncoder()
    options = options_of(settings.load("/nowhere", {}, {}), filters=filters)
    vector = Vector(encoder.encode_query(text), encoder.fingerprint, None, 1.0)
    with store.snapshot() as snapshot:
        found = search(
            snapshot, parse(text), find_dates(text, TODAY), options._replace(encoder="hashing"),
            embed_query=lambda _: vector, age_days=lambda day: 1,
        )  # fmt: skip
    return [hit.about.citation for hit in found.hits]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> PostgresStore:
    store = make_store(tmp_path_factory.mktemp("trips"), Clock())
    with changing(store) as change:
        for number in range(40):
            text = f"# The pool {number}\n\nwhy it ran dry, fox {number % 5}\n\n## More\n\ntrain\n"
            put(change, f"memory/2025-01-{number % 28 + 1:02}-{number}.md", text)
        embed(change)
        search_by(change)
        change.mark_embedded()
    return store


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("why did the pool run dry", Filters()),
        ('"ran dry" fox', Filters()),
        ("pool train", Filters(paths=("memory/",))),
        ("pool", Filters(since="2025-01-05")),
        ("nothing of that is here", Filters()),
    ],
)
def test_a_question_waits_four_times(filled: PostgresStore, text: str, filters: Filters) -> None:
    expected = ask(filled, text, filters)
    requests = []
    for times in (1, 2):
        with proxy(server().port, delay=LATENCY) as far:
            address = Address(filled.address.url.replace(f":{server().port}/", f":{far.port}/"))
            store = PostgresStore(address, filled.name, filled._beside, Clock(), origin=ORIGIN)
            assert [ask(store, text, filters) for _ in range(times)] == [expected] * times
            store.close()
            far.until_passed()
            requests.append(far.requests)
    trips = requests[1] - requests[0] - 1  # nobody waits for the end of the transaction
    assert 0 < trips <= MOST_TRIPS
