"""Build the whole index from scratch next to the present one, then replace that in one step.

If it is killed, the next full run continues: the half-built store is an index like any other. If
another kind of run comes first, it removes the half-built store and keeps its vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memcli.checking import TYPE_CHECKING
from memcli.errors import DamagedError
from memcli.indexing.indexer import Progress, Report, bring_up_to_date, index
from memcli.indexing.lineage import check_lineage
from memcli.indexing.planning import Settings, pair_moves
from memcli.store.records import Key
from memcli.types import KnownFile, Listing, shown
from memcli.workspace.diff import diff, out_of_scope

if TYPE_CHECKING:
    from memcli.store.port import Change

# A half-built store older than this has forgotten why it was begun.
STALE_SECONDS = 24 * 3600.0


def rebuild(
    main: Change,
    settings: Settings,
    *,
    embed_into: Callable[[Change], None],
    on_progress: Progress = lambda stage, done, total: None,
) -> Report:
    """Read every file again; `main` answers from its old rows until all is done.

    `embed_into` makes the missing vectors. A damaged store is set aside first.
    """
    notices: tuple[str, ...] = ()
    if fault := _fault(main):
        notices = (main.start_over(fault),)
    known = main.known()
    if not known:  # no index yet, so nothing to preserve
        main.drop_rebuild()
        report = index(main, settings, on_progress=on_progress)
        embed_into(main)
        return report._replace(notices=(*notices, *report.notices))
    main.drop_rebuild(seconds=STALE_SECONDS)
    with main.rebuild() as side:
        begun = len(side.known())
        if begun:
            notices = (*notices, f"went on with a full run that had read {begun} files")
        report = bring_up_to_date(side, settings, on_progress=on_progress)
        side.take_over(_hidden(known, side.known(), report))
        check_lineage(side, settings)
        embed_into(side)
        now = side.known()
        side.publish()
    main.drop_rebuild()
    return _compared(report, settings, known, now)._replace(notices=notices)


def _fault(main: Change) -> str:
    try:
        fault = main.integrity()
        main.known()
    except DamagedError as error:
        return error.message
    return "" if fault == "ok" else f"the index is damaged: {fault}"


def _hidden(
    known: Mapping[Key, KnownFile], now: Mapping[Key, KnownFile], report: Report
) -> list[Key]:
    """List the documents that are not gone: their folder or file could not be read."""
    unseen = Listing((), report.skips, report.unlisted)
    lost = {key: row for key, row in known.items() if key not in now}
    return sorted(lost.keys() - set(diff(unseen, lost).removed))


def _compared(
    report: Report,
    settings: Settings,
    before: Mapping[Key, KnownFile],
    now: Mapping[Key, KnownFile],
) -> Report:
    """Report what a run has changed, by the bytes of each file before and now."""
    passed = {(skip.source, skip.path) for skip in report.skips}
    new = [key for key in now.keys() - before.keys() - passed if now[key].hash]  # else no text
    gone = sorted(before.keys() - now.keys())
    both = now.keys() & before.keys()
    changed = [shown(*key) for key in both if now[key].hash != before[key].hash]
    moves = pair_moves({key: now[key].hash for key in new}, {key: before[key].hash for key in gone})
    return report._replace(
        **moves._asdict(),
        changed=tuple(sorted(changed)),
        unchanged=len(both) - len(changed),
        out_of_scope=out_of_scope(gone, now, report.skips, settings.sources),
    )
