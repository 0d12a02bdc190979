"""Show the progress of an index run to its caller and to other processes."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from memcli.checking import TYPE_CHECKING
from memcli.errors import Reason
from memcli.store.lock import show_work
from memcli.store.run_records import Owner, Work

if TYPE_CHECKING:
    from memcli.indexing.indexer import Progress
    from memcli.store.port import Store

EVERY_SECONDS = 0.5
TELLING_SECONDS = 1.0  # after so long, the pace of a stage allows an estimate
COUNTED = {"reading": "files", "embedding": "vectors"}  # by stage


def published_progress(
    store: Store, monotonic: Callable[[], float], on_progress: Progress
) -> Progress:
    """Show progress to other processes too, twice a second; several runs may share it."""
    stage_now, began, before, done_now, last = "", 0.0, 0, 0, -inf

    def update(stage: str, done: int, total: int) -> None:
        nonlocal stage_now, began, before, done_now, last
        on_progress(stage, done, total)
        now = monotonic()
        if stage != stage_now or done <= done_now:  # the same stage of another run
            stage_now, began, before, last = stage, now, done, -inf
        done_now = done
        if now - last < EVERY_SECONDS:
            return
        last, seconds = now, now - began
        is_known = done > before and seconds >= TELLING_SECONDS
        left = seconds / (done - before) * (total - done) if is_known else None
        show_work(store.state_path, Work(stage, done, total, left))

    return update


def indexing(writer: Owner | None) -> Reason | None:
    """Describe the progress of another process; None if none shows any.

    Example: `indexing: 14,882 of 67,275 vectors, 145 a second, about 6 minutes left`.
    """
    if writer is None or writer.work is None:
        return None
    stage, done, total, left = writer.work
    text = f"indexing: {done:,} of {total:,} {COUNTED.get(stage, stage)}"
    if left is not None:
        pace = (total - done) / left if left > 0 else 0.0
        text += f", {pace:.0f} per second" if pace >= 1 else ""
        text += f", about {_length(left)} left"
    return Reason("indexing", text)


def _length(seconds: float) -> str:
    """Write a length of time. Example: `6 minutes`."""
    if seconds < 90:
        count, unit = max(1, round(seconds)), "second"
    elif seconds < 5400:
        count, unit = round(seconds / 60), "minute"
    else:
        count, unit = round(seconds / 3600), "hour"
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
