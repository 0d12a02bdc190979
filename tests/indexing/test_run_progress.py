"""What a run shows other processes of how far it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.indexing.progress import indexing, published_progress
from memcli.store.lock import owner
from memcli.store.open import store_at
from memcli.store.run_records import Owner, Work


def test_a_run_shows_its_pace_twice_a_second(tmp_path: Path) -> None:
    now = 100.0
    store = store_at(str(tmp_path / "index.sqlite"), lambda: 0)
    seen: list[tuple[str, int, int]] = []
    update = published_progress(store, lambda: now, lambda *progress: seen.append(progress))
    shown: list[Work | None] = []
    with store.locked(wait_seconds=0, sleep=lambda seconds: None):
        for done in range(9):
            update("embedding", 100 + done, 200)
            writer = owner(store.state_path)
            shown.append(writer.work if writer else None)
            now += 0.25
    assert len(seen) == 9
    assert shown[1] == Work("embedding", 100, 200, None)
    assert shown[-1] == Work("embedding", 108, 200, 2.0 / 8 * 92)
    assert len({*shown}) == 5
    with store.locked(wait_seconds=0, sleep=lambda seconds: None):
        for done in range(1, 9):  # of the next run, which has a pace of its own
            now += 3600.0 if done == 1 else 0.25
            update("embedding", done, 20)
        writer = owner(store.state_path)
        assert writer
        assert writer.work == Work("embedding", 7, 20, 1.5 / 6 * 13)
    store.close()


@pytest.mark.parametrize(
    ("left", "tail"),
    [
        (None, ""),
        (0.2, ", 261965 per second, about 1 second left"),
        (12.0, ", 4366 per second, about 12 seconds left"),
        (355.0, ", 148 per second, about 6 minutes left"),
        (7200.0, ", 7 per second, about 2 hours left"),
    ],
)
def test_progress_is_a_line(left: float | None, tail: str) -> None:
    reason = indexing(Owner(1, 0.0, Work("embedding", 14_882, 67_275, left)))
    assert reason is not None
    assert reason.text == f"indexing: 14,882 of 67,275 vectors{tail}"
    assert indexing(Owner(1, 0.0)) is None
