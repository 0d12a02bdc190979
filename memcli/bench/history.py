"""The receipts of nightly runs: which one a run is held against, and what got worse; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memcli.bench.gates import important_misses, newly_missed, told, told_move
from memcli.bench.rows import HEADLINE, drop, moves, quality_of, rows_of
from memcli.embedding.models import model_name

KEPT = 90  # receipts: three months of nights
FAILURES = 10  # worst questions a receipt lists

Receipt = Mapping[str, Any]


def reference(history: Sequence[Receipt]) -> Receipt | None:
    """Give the best run since the last one that a person accepted, oldest first on a tie.

    The best and not the last: a slow decline of a little every night would pass otherwise.
    """
    since = 0
    for at, receipt in enumerate(history):
        if receipt["accepted"]:
            since = at
    candidates = history[since:]
    return max(candidates, key=_headline, default=None)


def regressions(before: Receipt, after: Receipt, max_drop: float) -> list[str]:
    """Give one line for each thing that got worse; empty when all is well."""
    old, new = rows_of(before), rows_of(after)
    when = before["now"][:10]
    lines = []
    fell = drop(old, new)
    if fell > max_drop:
        changed = moves(old, new)
        lines.append(
            f"{HEADLINE} is {fell:.3f} lower than on {when}"
            f"{_causes(before, after)}; worst: {told_move(changed[0])}"
        )
    lines += [f"newly missed since {when}: {told_move(move)}" for move in newly_missed(old, new)]
    return lines


def unaccepted_misses(
    history: Sequence[Receipt], before: Receipt | None, after: Receipt
) -> list[str]:
    """Give one line for each question of high importance that misses, and was not accepted so.

    A question that `before` answered is newly missed, which `regressions` says.
    """
    accepted = next((receipt for receipt in reversed(history) if receipt["accepted"]), None)
    answered = rows_of(before) if before else []
    known = {row.id for row in answered if row.scores["Hit@5"]}
    known |= {row.id for row in rows_of(accepted)} if accepted else set()
    missed = important_misses(rows_of(after), known)
    return [f"of high importance and missed: {told(row)}" for row in missed]


def changes(before: Receipt, after: Receipt) -> list[str]:
    """Name what differs between two runs besides their figures."""
    old, new = quality_of(before), quality_of(after)
    found = []
    if old["index"]["revision"] != new["index"]["revision"]:
        found.append(f"index {old['index']['revision']} -> {new['index']['revision']}")
    if old["index"]["fingerprint"] != new["index"]["fingerprint"]:
        found.append(f"model {_model(old)} -> {_model(new)}")
    names = sorted({*old["settings"], *new["settings"]})
    for name in names:
        was, now = old["settings"].get(name), new["settings"].get(name)
        if was != now:
            found.append(f"{name} {was} -> {now}")
    if old["machine"]["memcli"] != new["machine"]["memcli"]:
        found.append(f"memcli {old['machine']['memcli']} -> {new['machine']['memcli']}")
    if old["machine"]["id"] != new["machine"]["id"]:
        found.append("another machine")
    if old["questions"]["judged"] != new["questions"]["judged"]:
        found.append(f"questions {old['questions']['judged']} -> {new['questions']['judged']}")
    return found


def surplus(names: Sequence[str], kept: int = KEPT) -> list[str]:
    """Give the file names that no longer fit a bounded history; names sort by time."""
    return sorted(names)[:-kept] if len(names) > kept else []


def _headline(receipt: Receipt) -> float:
    return float(quality_of(receipt)["categories"]["all"][HEADLINE])


def _causes(before: Receipt, after: Receipt) -> str:
    found = changes(before, after)
    return f" ({', '.join(found)})" if found else ""


def _model(quality: Receipt) -> str:
    return model_name(quality["index"]["fingerprint"] or "none")
