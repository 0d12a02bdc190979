"""No damage of an index is called a bug, and in the end each is mended: a sample of the cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import typed
from tests.store.damage import AFTER, cases, findings, make_index, results, versions
from tests.support import by_night


# Cases besides the versions, evenly from all cells and pages.
@pytest.mark.timeout(600)
@pytest.mark.parametrize("sample", [4, *by_night(24)])
def test_a_damaged_index_is_no_bug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sample: int
) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    monkeypatch.setenv("MEMCLI_STORE", "")  # set by what makes the index, and put back
    root = tmp_path / "ws"
    store = make_index(root)
    right = results(typed(f"{AFTER} -w {root}")[1])
    assert right
    every = cases(store)
    tried = 0
    for damage in (*versions(), *every[:: len(every) // sample]):
        found = findings(damage, store, root, right)
        tried += found is not None
        assert not found
    assert tried >= sample
