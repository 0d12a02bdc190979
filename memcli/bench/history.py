"""The traces of nightly runs: which one a run is compared with, and what got worse; pure."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.bench.gates import important_misses, move_text, newly_missed, row_text
from memcli.bench.queries import OVERALL
from memcli.bench.rows import HEADLINE, drop, moves
from memcli.bench.traces import CheckTrace, QualityTrace, Run
from memcli.embedding.models import model_name

KEPT = 90  # nights that are kept
FAILURES = 10  # worst questions that a trace lists


def reference(history: Sequence[CheckTrace]) -> CheckTrace | None:
    """Return the best run since the last one that a person accepted; ties go to the older.

    Compared with the last run, a small decline every night would pass; so this returns the best.
    """
    since = 0
    for at, trace in enumerate(history):
        if trace.accepted:
            since = at
    candidates = history[since:]
    return max(candidates, key=_headline, default=None)


def regressions(before: Run, after: Run, max_drop: float) -> list[str]:
    """Return one line for each figure that got worse; empty if none did."""
    old, new = before.quality.queries, after.quality.queries
    when = before.now[:10]
    lines = []
    fell = drop(old, new)
    if fell > max_drop:
        changed = moves(old, new)
        lines.append(
            f"{HEADLINE} is {fell:.3f} lower than on {when}"
            f"{_causes(before, after)}; worst: {move_text(changed[0])}"
        )
    lines += [f"newly missed since {when}: {move_text(move)}" for move in newly_missed(old, new)]
    return lines


def unaccepted_misses(history: Sequence[CheckTrace], before: Run | None, after: Run) -> list[str]:
    """Return one line for each missed question of high importance whose miss nobody accepted.

    `regressions` reports questions that `before` answered and that now miss.
    """
    accepted = next((trace for trace in reversed(history) if trace.accepted), None)
    answered = before.quality.queries if before else ()
    known = {row.id for row in answered if row.scores["Hit@5"]}
    known |= {row.id for row in accepted.quality.queries} if accepted else set()
    missed = important_misses(after.quality.queries, known)
    return [f"of high importance and missed: {row_text(row)}" for row in missed]


def changes(before: Run, after: Run) -> list[str]:
    """Name what differs between two runs, apart from their figures."""
    old, new = before.quality, after.quality
    here, there = old.machine, new.machine
    differing = []
    if old.index_.revision != new.index_.revision:
        differing.append(f"index {old.index_.revision} -> {new.index_.revision}")
    if old.index_.fingerprint != new.index_.fingerprint:
        differing.append(f"model {_model(old)} -> {_model(new)}")
    for name in sorted({*old.settings, *new.settings}):
        was, now = old.settings.get(name), new.settings.get(name)
        if was != now:
            differing.append(f"{name} {was} -> {now}")
    if here.memcli != there.memcli:
        differing.append(f"memcli {here.memcli} -> {there.memcli}")
    if here.id != there.id:
        differing.append("another machine")
    if old.questions.judged != new.questions.judged:
        differing.append(f"questions {old.questions.judged} -> {new.questions.judged}")
    return differing


def surplus(names: Sequence[str], limit: int = KEPT) -> list[str]:
    """Return the file names that no longer fit a bounded history; names sort by time."""
    return sorted(names)[:-limit] if len(names) > limit else []


def _headline(trace: CheckTrace) -> float:
    return trace.quality.categories[OVERALL][HEADLINE]


def _causes(before: Run, after: Run) -> str:
    differing = changes(before, after)
    return f" ({', '.join(differing)})" if differing else ""


def _model(quality: QualityTrace) -> str:
    return model_name(quality.index_.fingerprint or "none")
