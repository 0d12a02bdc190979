"""Judge how sure a hit is, before its age counts, and drop what is below a floor; pure.

confidence = logistic(bias + a * cosine + b * coverage), both of the passage alone: its best part,
and the share of the query's IDF that it holds. The constants belong to one encoder: logistic
regression on 561 questions of four LoCoMo conversations (26, 30, 41, 43), each asked of the whole
workspace and of one without the files that answer it, the first passage of each. Fitted on 26 and
43 alone, the area under the ROC on 30 and 41 is .76. What a chunk holds beyond the passage told
less (.74), and no further figure of the legs brought more than .015.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import NamedTuple

from memcli.search.hits import Hit


class Calibration(NamedTuple):
    """The constants of the logistic for one encoder."""

    bias: float
    cosine: float
    coverage: float


# By model name, the first field of a fingerprint; "" serves keywords alone.
_MINILM = Calibration(bias=-4.13, cosine=4.50, coverage=3.25)
CALIBRATIONS = {
    "all-MiniLM-L6-v2-int8": _MINILM,
    "all-MiniLM-L6-v2-fp32": _MINILM,
    "": Calibration(bias=-2.06, cosine=0.0, coverage=3.54),
}
GOOD = 0.5
WEAK = 0.2


def calibration(fingerprint: str) -> Calibration | None:
    """Find the constants of an encoder; None for one that was never measured."""
    return CALIBRATIONS.get(fingerprint.split(";", 1)[0])


def judge(hits: Sequence[Hit], constants: Calibration | None) -> list[Hit]:
    """Give every hit its confidence in [0, 1], None where nothing is known of the encoder."""
    if constants is None:
        return list(hits)
    judged = []
    for hit in hits:
        cosine = hit.cosine if hit.own_cosine is None else hit.own_cosine
        coverage = hit.coverage if hit.own_coverage is None else hit.own_coverage
        z = constants.bias + constants.coverage * coverage + constants.cosine * (cosine or 0.0)
        judged.append(hit._replace(confidence=1.0 / (1.0 + exp(-z))))
    return judged


def apply_floor(hits: Sequence[Hit], *, min_score: float, on_score: bool = False) -> list[Hit]:
    """Drop hits whose confidence (or score so far) is below `min_score`; literal matches stay."""

    def worth(hit: Hit) -> float | None:
        return hit.score if on_score else hit.confidence

    return [
        hit
        for hit in hits
        if hit.candidate.literal or (value := worth(hit)) is None or value >= min_score
    ]


def verdict(hits: Sequence[Hit]) -> str:
    """Say whether anything good was found, by the first hit or a literal match: good|weak|none."""
    if not hits:
        return "none"
    best = 1.0 if any(hit.candidate.literal for hit in hits) else hits[0].confidence or 0.0
    return "good" if best >= GOOD else "weak" if best >= WEAK else "none"
