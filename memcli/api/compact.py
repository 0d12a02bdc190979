"""Plan and write summaries of old logs, check them, and take the last ones back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memcli.api.opened import OpenedWorkspace
from memcli.compaction import folder

if TYPE_CHECKING:
    from memcli.compaction.plan import CompactionPlan
    from memcli.compaction.summaries import Problem, Summary
    from memcli.errors import Reason
    from memcli.types import Skip

LOCK_SECONDS = 60.0


class Compaction(NamedTuple):
    """A plan, and what it could not rest on."""

    plan: CompactionPlan
    skips: tuple[Skip, ...]  # files that are left out
    without_vectors: Reason | None  # why sentences are placed by words alone


class Checked(NamedTuple):
    """The summaries there are, and what does not hold of them."""

    summaries: tuple[Summary, ...]
    problems: tuple[Problem, ...]


class Undone(NamedTuple):
    """What was taken back of the last run."""

    is_empty: bool  # there was nothing to take back
    removed: tuple[Summary, ...]
    edited: tuple[Summary, ...]  # left, for a person has changed them


def plan_compaction(
    memory: OpenedWorkspace, *, now: str, depth: int = 1, by_command: bool = False
) -> Compaction:
    """Say which summaries a run would write; `now` is its ISO time.

    With `by_command` the program of `compact.command` words them.
    """
    from memcli.compaction.command import program
    from memcli.compaction.draft import CompactionSettings
    from memcli.compaction.plan import make_plan
    from memcli.compaction.similarity import embedder

    config = memory.config
    found = folder.read(memory.index_settings())
    settings = CompactionSettings(
        tail_records=config("compact.tail_records"),
        tail_tokens=config("compact.tail_tokens"),
        cluster=config("compact.cluster"),
        ratio=config("compact.ratio"),
        context_tokens=config("compact.context_tokens"),
        depth=depth,
    )
    opened = memory.open_encoder()
    plan = make_plan(
        found.logs,
        found.summaries,
        settings,
        folder=folder.folder_of(config.workspace),
        now=now,
        embed=embedder(opened.encoder) if opened.encoder else None,
        rewrite=program(config("compact.command")) if by_command else None,
    )
    return Compaction(plan, found.skips, None if opened.encoder else opened.reason)


def apply_compaction(
    memory: OpenedWorkspace, *, now: str, depth: int = 1, by_command: bool = False
) -> Compaction:
    """Write the summaries of a plan; no other run writes meanwhile."""
    with memory.store.locked(wait_seconds=LOCK_SECONDS, sleep=memory.clock.sleep):
        made = plan_compaction(memory, now=now, depth=depth, by_command=by_command)
        folder.write(memory.config.workspace, made.plan.drafts)
    return made


def check_compaction(memory: OpenedWorkspace) -> Checked:
    """Hold every summary against the lines it was made of."""
    from memcli.compaction.summaries import problems

    summaries = folder.read(memory.index_settings()).summaries
    return Checked(summaries, tuple(problems(summaries)))


def undo_compaction(memory: OpenedWorkspace) -> Undone:
    """Remove what the last run wrote, but not what a person has edited since."""
    with memory.store.locked(wait_seconds=LOCK_SECONDS, sleep=memory.clock.sleep):
        summaries = folder.read(memory.index_settings()).summaries
        last = max((summary.lineage.compacted for summary in summaries), default="")
        written = [summary for summary in summaries if summary.lineage.compacted == last]
        removed = tuple(summary for summary in written if not summary.is_edited)
        folder.remove(memory.config.workspace, [summary.path for summary in removed])
    edited = tuple(summary for summary in written if summary.is_edited)
    return Undone(not summaries, removed, edited)
