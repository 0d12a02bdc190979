"""Every store there is. A new one is added to STORES, and passes what stands here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memcli.store.open import store_at
from memcli.store.port import Store
from tests.postgres.server import is_available
from tests.store.contract.makers import Clock
from tests.support import by_night

MakeStore = Callable[[Path, Clock], Store]

STORES: dict[str, MakeStore] = {
    "sqlite": lambda folder, clock: store_at(str(folder / "index.sqlite"), clock),
}
if is_available():
    from tests.postgres.stores import make_store as make_shared_store

    STORES["postgres"] = make_shared_store
# For what is slow with a server.
MOST_STORES = ["sqlite", *by_night(*STORES.keys() - {"sqlite"})]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Store]:
    """An empty store of each kind."""
    made = STORES[request.param](tmp_path / "store", clock)
    yield made
    made.close()


@pytest.fixture(params=STORES)
def make_store(request: pytest.FixtureRequest) -> MakeStore:
    return STORES[request.param]
