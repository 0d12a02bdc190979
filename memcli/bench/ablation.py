"""Change retrievers, stages and profiles one at a time, and compare each with the settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum

from memcli.bench.metrics import NAMES, paired
from memcli.record import Record
from memcli.search.options import PROFILES
from memcli.search.stages import SWITCHES

SHOWN = ("Hit@1", "Hit@5", "Recall@10", "nDCG@10", "Recall@500tok", "Recall@1000tok",
         "Recall@2000tok")  # fmt: skip
JUDGED_BY = "nDCG@10"  # the metric with an interval


class Variant(Record):
    """One way to search that differs from the settings in one thing."""

    name: str
    settings: Mapping[str, str]
    without: frozenset[str] = frozenset()  # of `stages.SWITCHES`


ABLATIONS = (
    Variant("keyword only", {"search.mode": "keyword"}),
    Variant("semantic only", {"search.mode": "semantic"}),
    Variant("fusion weighted", {"search.fusion": "weighted"}),
    Variant("fusion rrf", {"search.fusion": "rrf"}),
    *(
        Variant(f"without {switch}", {}, frozenset((switch,)))
        for switch in SWITCHES
        if switch in PROFILES["default"].stages
    ),
)
BY_PROFILE = {name: Variant(f"profile {name}", {"search.profile": name}) for name in PROFILES}


def row(
    name: str, scores: Sequence[Mapping[str, float]], before: Sequence[Mapping[str, float]]
) -> dict[str, object]:
    """Describe a variant by its means, and by the difference in nDCG@10 per question."""
    change = paired([each[JUDGED_BY] for each in before], [each[JUDGED_BY] for each in scores])
    means = {metric: fsum(s[metric] for s in scores) / max(1, len(scores)) for metric in NAMES}
    return {"variant": name, **means, "change": change.mean, "low": change.low, "high": change.high}


def table(rows: Iterable[Mapping[str, object]]) -> str:
    """Draw one line per variant; the last column is the change of nDCG@10 and its interval."""
    listed = list(rows)
    width = max(len(str(each["variant"])) for each in listed)
    heads = [name.replace("Recall", "R").replace("tok", "t") for name in SHOWN]
    lines = [f"{'':{width}}  {'  '.join(f'{head:>7}' for head in heads)}  {JUDGED_BY}, 95 %"]
    for each in listed:
        figures = "  ".join(f"{each[metric]:7.3f}" for metric in SHOWN)
        change = f"{each['change']:+.3f} [{each['low']:+.3f}, {each['high']:+.3f}]"
        lines.append(f"{each['variant']:{width}}  {figures}  {change}")
    return "\n".join(lines) + "\n"
