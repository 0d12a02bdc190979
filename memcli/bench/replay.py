"""Compare the trace of a search or a context with the same run again; pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from memcli.bench.traces import decode
from memcli.config.keys import BY_NAME
from memcli.errors import UsageError
from memcli.record import Record
from memcli.search.trace import CONTEXT_SCHEMA as CONTEXT_SCHEMA
from memcli.search.trace import SCHEMA, recorded_filters

# Beginnings of the settings for which search or context has an option.
_FLAGS = ("search.", "context.")


class IndexVersion(Record):
    """The revision of an index, and the model of its vectors."""

    revision: int
    fingerprint: str | None


class StageRun(Record):
    """A retriever or a reranker that ran, or the reason why it did not."""

    ran: bool
    reason: str
    by: str = ""  # the name of the reranker


class StageScore(Record):
    """A score after a stage."""

    stage: str
    score: float


class Reference(Record):
    """A chunk, named by its ref."""

    ref: str


class TracedPassage(Record):
    """A passage as it was shown."""

    rank: int
    ref: str
    citation: str
    score: float | None
    text_hash: str
    trace: tuple[StageScore, ...]
    section: str = "passages"  # of a context


class SearchTrace(Record):
    """The trace of a search or a context, as far as a replay uses it."""

    schema: str
    query: str | None
    now: str
    filters: Mapping[str, object]
    budget: int | None
    flags: Mapping[str, object]
    settings: Mapping[str, object]
    index_: IndexVersion
    match: str | None
    retrievers: Mapping[str, StageRun]
    fused: tuple[Reference, ...]
    passages: tuple[TracedPassage, ...]
    whole: bool = False
    sort: str = "score"
    ends: bool = False
    accesses: int | None = None
    calibration: Mapping[str, float] | None = None
    rerank: StageRun | None = None
    expanded: tuple[TracedPassage, ...] | None = None
    omitted: tuple[Reference, ...] = ()


Pair = tuple[TracedPassage | None, TracedPassage | None]


def read(text: str, name: str) -> SearchTrace:
    """Read the trace that `--trace` of search or context wrote; UsageError if it is not one.

    A trace may come from a stranger, so it can only set what has an option in these commands.
    """
    hint = "memcli search QUERY --trace FILE"
    trace: SearchTrace | None
    try:
        trace = decode(SearchTrace, json.loads(text))
        recorded_filters(trace._asdict())
    except (ValueError, TypeError, RecursionError):
        trace = None
    if (
        trace is None
        or trace.schema not in (SCHEMA, CONTEXT_SCHEMA)
        or trace.retrievers.keys() != {"keyword", "semantic"}
    ):
        raise UsageError(f"{name} is not the trace of a search or a context", hint=hint)
    for flag in trace.flags:
        if flag not in BY_NAME or not flag.startswith(_FLAGS) or BY_NAME[flag].user_only:
            raise UsageError(f"{name} has a flag that no search has: {flag}", hint=hint)
    return trace


def compare(before: SearchTrace, after: SearchTrace) -> dict[str, Any]:
    """Describe what moved as `memcli.bench-replay/1` does."""
    pairs = _pairs(before.passages, after.passages)
    behind = _pairs(before.expanded or (), after.expanded or ())
    added = {}
    if before.expanded is not None:
        why = "no summary leads to it now, or others answer better"
        added = {"expanded": [_move(pair, lambda _: why) for pair in behind]}
    return {
        "schema": "memcli.bench-replay/1",
        "query": before.query,
        "now": before.now,
        "changed": changes(before, after),
        "match": {"before": before.match, "after": after.match},
        "same": all(
            old is not None
            and new is not None
            and (old.rank, old.score, old.text_hash) == (new.rank, new.score, new.text_hash)
            for old, new in (*pairs, *behind)
        ),
        "passages": [_move(pair, partial(_why_gone, after)) for pair in pairs],
        **added,
    }


def changes(before: SearchTrace, after: SearchTrace) -> list[str]:
    """Name the differences that may explain others: index, model, settings, retrievers."""
    differing = []
    old, new = before.index_, after.index_
    if old.revision != new.revision:
        differing.append(f"index revision {old.revision} -> {new.revision}")
    if old.fingerprint != new.fingerprint:
        differing.append(f"model {old.fingerprint or 'none'} -> {new.fingerprint or 'none'}")
    if before.calibration is not None and before.calibration != after.calibration:
        differing.append("how sure the model's cosines make a passage (memcli bench calibrate)")
    uses = before.accesses, after.accesses
    if None not in uses and uses[0] != uses[1]:
        differing.append(f"counted uses {uses[0]} -> {uses[1]}")
    for name in sorted({*before.settings, *after.settings}):
        now = after.settings.get(name)
        was = before.settings.get(name, now)  # an earlier trace has fewer
        if was != now:
            differing.append(f"{name} {was} -> {now}")
    for name, later in after.retrievers.items():
        if before.retrievers.get(name, later).ran != later.ran:
            differing.append(f"{name} search: {later.reason or 'it runs now'}")
    reranks = before.rerank, after.rerank
    if reranks[0] and reranks[1] and reranks[0].ran != reranks[1].ran:
        differing.append(f"rerank by {reranks[1].by}: {reranks[1].reason or 'it runs now'}")
    return differing


def lines(record: Mapping[str, Any]) -> list[str]:
    """Write what moved: one line per passage, and one per stage whose score differs."""
    question = "no query" if record["query"] is None else f'"{record["query"]}"'
    drawn = [f"{question} as of {record['now']}"]
    drawn.append("changed: " + ("; ".join(record["changed"]) or "nothing"))
    match = record["match"]
    if match["before"] != match["after"]:
        drawn.append(f"match: {match['before']} -> {match['after']}")
    if record["same"]:
        drawn.append("The passages are the same, with the same scores.")
        return drawn
    for passage in (*record["passages"], *record.get("expanded", ())):
        before, after = passage["before"], passage["after"]
        ranks = f"{_rank(before):>2} -> {_rank(after):>2}"
        where = (after or before)["citation"]
        drawn.append(f"{ranks}  {where}{_note(passage)}")
        drawn += [
            f"          | {name:<12} {pair[0]:.4f} -> {pair[1]:.4f}  {pair[1] - pair[0]:+.4f}"
            for name, pair in passage["stages"].items()
            if pair[0] != pair[1]
        ]
    return drawn


def _note(passage: Mapping[str, Any]) -> str:
    before, after = passage["before"], passage["after"]
    if after is None:
        return f"  gone: {passage['why']}"
    if before is None:
        return "  new"
    if before["text_hash"] != after["text_hash"]:
        return "  its text changed"
    return f"  was {before['citation']}" if before["citation"] != after["citation"] else ""


def _rank(passage: Mapping[str, Any] | None) -> str:
    return "-" if passage is None else str(passage["rank"])


def _pairs(before: Sequence[TracedPassage], after: Sequence[TracedPassage]) -> list[Pair]:
    """Pair passages: the same text of the same chunk, then the same chunk by rank."""
    left = list(after)
    partners: dict[int, TracedPassage] = {}
    for keys in (("ref", "text_hash"), ("text_hash",), ("ref",)):
        for at, old in enumerate(before):
            if at in partners:
                continue
            match = next(
                (new for new in left if all(getattr(new, k) == getattr(old, k) for k in keys)), None
            )
            if match is not None:
                partners[at] = match
                left.remove(match)
    pairs: list[Pair] = [(old, partners.get(at)) for at, old in enumerate(before)]
    return pairs + [(None, new) for new in left]


def _move(pair: Pair, why_gone: Callable[[TracedPassage], str]) -> dict[str, Any]:
    old, new = pair
    was, now = ({s.stage: s.score for s in each.trace} if each else {} for each in pair)
    return {
        "before": _brief(old),
        "after": _brief(new),
        "stages": {stage: [was[stage], now[stage]] for stage in was if stage in now},
        "why": why_gone(old) if old and not new else "",
    }


def _why_gone(after: SearchTrace, old: TracedPassage) -> str:
    if any(old.ref == left.ref for left in after.omitted):
        return "it does not fit now"
    if old.section != "passages":
        return "it is not a rule and not one of the newest entries now"
    refs = [candidate.ref for candidate in after.fused]
    if old.ref not in refs:
        has_query = after.query is not None
        return "neither retriever finds its chunk now" if has_query else "it ranks below the rest"
    at = refs.index(old.ref) + 1
    return f"its record is number {at} of {len(refs)} when fused, behind the passages shown"


def _brief(passage: TracedPassage | None) -> dict[str, Any] | None:
    if passage is None:
        return None
    return {
        name: getattr(passage, name) for name in ("rank", "ref", "citation", "score", "text_hash")
    }
