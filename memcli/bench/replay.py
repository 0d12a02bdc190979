"""Hold the receipt of a search or a context against the same run again; pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from memcli.bench.shape import fits
from memcli.config.keys import BY_NAME
from memcli.errors import UsageError
from memcli.search.receipt import SCHEMA, filters_of
from memcli.search.stages import current

CONTEXT_SCHEMA = "memcli.context-receipt/1"

# Beginnings of the settings that a search or a context has flags for.
_FLAGS = ("search.", "context.")

Receipt = Mapping[str, Any]
Passage = Mapping[str, Any]


def read(text: str, name: str) -> dict[str, Any]:
    """Read what `--receipt` of search or context has written; UsageError where it is none.

    A receipt may be a stranger's: it sets nothing that no flag of these sets.
    """
    hint = "memcli search QUERY --receipt FILE"
    try:
        record = json.loads(text)
        if fits(record) and record["schema"] in (SCHEMA, CONTEXT_SCHEMA):
            filters_of(record)
            for flag in record["flags"]:
                if flag not in BY_NAME or not flag.startswith(_FLAGS) or BY_NAME[flag].user_only:
                    raise UsageError(f"{name} has a flag that no search has: {flag}", hint=hint)
            return dict(record)
    except (ValueError, TypeError, RecursionError):
        pass
    raise UsageError(f"{name} is not the receipt of a search or a context", hint=hint)


def compare(before: Receipt, after: Receipt) -> dict[str, Any]:
    """Describe what moved as `memcli.bench-replay/1` does."""
    pairs = _pairs(before["passages"], after["passages"])
    moved = [_move(old, new, after) for old, new in pairs]
    behind = _pairs(before.get("expanded", ()), after.get("expanded", ()))
    added = {} if "expanded" not in before else {"expanded": [_behind(*pair) for pair in behind]}
    return {
        "schema": "memcli.bench-replay/1",
        "query": before["query"],
        "now": before["now"],
        "changed": changes(before, after),
        "verdict": {"before": before["verdict"], "after": after["verdict"]},
        "same": all(
            old is not None
            and new is not None
            and (old["rank"], old["score"], old["text_hash"])
            == (new["rank"], new["score"], new["text_hash"])
            for old, new in (*pairs, *behind)
        ),
        "passages": moved,
        **added,
    }


def changes(before: Receipt, after: Receipt) -> list[str]:
    """Name what the two answers rest on and do not share: index, model, settings, legs."""
    found = []
    old, new = before["index"], after["index"]
    if old["revision"] != new["revision"]:
        found.append(f"index revision {old['revision']} -> {new['revision']}")
    if old["fingerprint"] != new["fingerprint"]:
        found.append(f"model {old['fingerprint'] or 'none'} -> {new['fingerprint'] or 'none'}")
    if "calibration" in before and before["calibration"] != after.get("calibration"):
        found.append("how sure the model's cosines make a passage (memcli bench calibrate)")
    uses = before.get("accesses"), after.get("accesses")
    if None not in uses and uses[0] != uses[1]:
        found.append(f"counted uses {uses[0]} -> {uses[1]}")
    for name in sorted({*before["settings"], *after["settings"]}):
        now = after["settings"].get(name)
        was = before["settings"].get(name, now)  # an earlier receipt knows fewer of them
        if was != now:
            found.append(f"{name} {was} -> {now}")
    for leg in ("lexical", "dense"):
        if before["legs"][leg]["ran"] != after["legs"][leg]["ran"]:
            why = after["legs"][leg]["reason"] or "it runs now"
            found.append(f"{leg} leg: {why}")
    was, now = before.get("rerank"), after.get("rerank")
    if was and now and was["ran"] != now["ran"]:
        found.append(f"rerank by {now['by']}: {now['reason'] or 'it runs now'}")
    return found


def lines(record: Mapping[str, Any]) -> list[str]:
    """Draw what moved, a line a passage and one for each stage whose score differs."""
    asked = "no query" if record["query"] is None else f'"{record["query"]}"'
    drawn = [f"{asked} as of {record['now']}"]
    drawn.append("changed: " + ("; ".join(record["changed"]) or "nothing"))
    verdict = record["verdict"]
    if verdict["before"] != verdict["after"]:
        drawn.append(f"verdict: {verdict['before']} -> {verdict['after']}")
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


def _rank(passage: Passage | None) -> str:
    return "-" if passage is None else str(passage["rank"])


def _pairs(
    before: Sequence[Passage], after: Sequence[Passage]
) -> list[tuple[Passage | None, Passage | None]]:
    """Pair passages: the same text of the same record, then the same record in order of rank."""
    left = list(after)
    partners: dict[int, Passage] = {}
    for keys in (("ref", "text_hash"), ("text_hash",), ("ref",)):
        for at, old in enumerate(before):
            if at in partners:
                continue
            match = next((new for new in left if all(new[k] == old[k] for k in keys)), None)
            if match is not None:
                partners[at] = match
                left.remove(match)
    pairs: list[tuple[Passage | None, Passage | None]] = [
        (old, partners.get(at)) for at, old in enumerate(before)
    ]
    return pairs + [(None, new) for new in left]


def _move(old: Passage | None, new: Passage | None, after: Receipt) -> dict[str, Any]:
    stages = {}
    if old is not None and new is not None:
        was, now = _scores(old), _scores(new)
        stages = {stage: [was[stage], now[stage]] for stage in was if stage in now}
    return {
        "before": _brief(old),
        "after": _brief(new),
        "stages": stages,
        "why": _why_gone(old, after) if old is not None and new is None and after else "",
    }


def _behind(old: Passage | None, new: Passage | None) -> dict[str, Any]:
    """Describe what became of raw lines behind a summary."""
    why = "no summary leads to it now, or others answer better"
    return {**_move(old, new, {}), "why": why} if new is None else _move(old, new, {})


def _scores(passage: Passage) -> dict[str, float]:
    return {current(step["stage"]): step["score"] for step in passage["trace"]}


def _why_gone(old: Passage, after: Receipt) -> str:
    if any(old["ref"] == left["ref"] for left in after.get("left_out", ())):
        return "it has no room now"
    if old.get("section", "found") != "found":
        return "it is no rule and none of the newest records now"
    refs = [candidate["ref"] for candidate in after["fused"]]
    if old["ref"] not in refs:
        asked = after["query"] is not None
        return "its record is no candidate of any leg now" if asked else "it ranks below the rest"
    at = refs.index(old["ref"]) + 1
    return f"its record is number {at} of {len(refs)} when fused, behind the passages shown"


def _brief(passage: Passage | None) -> dict[str, Any] | None:
    if passage is None:
        return None
    return {name: passage[name] for name in ("rank", "ref", "citation", "score", "text_hash")}
