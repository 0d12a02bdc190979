"""Carry out a plan: write the state first, then each file as a whole.

If it is killed, each file is either old or new, and the state lists everything that may have been
written. The same command then continues.
"""

from __future__ import annotations

from memcli.agents import disk, state
from memcli.agents.plan import WiringPlan
from memcli.agents.state import State
from memcli.errors import UsageError


def carry_out(plan: WiringPlan, before: State, path: str) -> None:
    """Write the files of a plan; `path` is that of the state, which the caller has locked."""
    known = before.and_also(plan.state)
    if known != before:
        state.save(path, known)
    for named in {*(kept.path for kept in known.kept), *(began.path for began in known.began)}:
        disk.remove_unfinished(named)
    for change in plan.changes:
        try:
            if change.after is None:
                disk.remove(change.found)
            else:
                disk.write(change.found, change.after)
        except OSError as error:
            raise UsageError(
                f"{change.found.path} cannot be written: {error.strerror}",
                hint="the same command again, once it can be",
            ) from None
    disk.remove_empty(plan.folders)
    if plan.state == known:
        disk.remove_unfinished(path)
    else:
        state.save(path, plan.state)
