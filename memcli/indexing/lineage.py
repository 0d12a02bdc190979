"""Check the source lines of summaries after files have changed."""

from __future__ import annotations

from collections.abc import Iterable

from memcli.checking import TYPE_CHECKING
from memcli.indexing.planning import Settings, read
from memcli.markdown.lineage import is_place, read_lineage
from memcli.store.records import LineCheck
from memcli.types import MEMORY_SOURCE, Lineage, Skip
from memcli.workspace.dating import path_days

if TYPE_CHECKING:
    from memcli.markdown.evidence import CitedFile
    from memcli.store.port import Change


def check_lineage(change: Change, settings: Settings) -> None:
    """Record where the source lines of affected summaries are now, if these are still valid."""
    waiting = change.unchecked()
    if not waiting:
        return
    from memcli.markdown.evidence import CitedFile, weigh
    from memcli.markdown.parse import parse

    own = [path for source, path in change.known() if source == MEMORY_SOURCE]
    hashes: dict[str, bytes] = {}

    def opened(path: str) -> CitedFile | None:
        file = read(settings, MEMORY_SOURCE, path) if path in present else None
        if file is None or isinstance(file, Skip):
            return None
        hashes[path] = file.hash
        return CitedFile(path, file.text.split("\n"))

    present = frozenset(own)
    for summary in waiting:
        file = read(settings, MEMORY_SOURCE, summary)
        lineage = None if isinstance(file, Skip) else read_lineage(parse(file.text).front_matter)
        if isinstance(file, Skip) or lineage is None:
            continue  # its sources stay unchecked, so it is not valid
        weight = weigh(file.text, lineage, opened, successors(lineage, own))
        pairs = zip(weight.places, lineage.sources, strict=True)
        lines = weight.covered or [place or source for place, source in pairs]
        change.check(
            summary, [LineCheck(each, hashes.get(each.path), weight.holds) for each in lines]
        )


def successors(lineage: Lineage, paths: Iterable[str]) -> list[str]:
    """Name the log files that a summary's log may have become: those of the same days."""
    days = ((path, path_days(path)) for path in paths if not is_place(path))
    return sorted(
        path
        for path, days_ in days
        if days_ and lineage.earliest <= days_[1] and days_[0] <= lineage.latest
    )
