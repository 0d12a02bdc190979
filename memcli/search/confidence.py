"""Compute the confidence of each hit and the verdict on an answer; pure.

confidence = decay * logistic(bias + a * cosine + b * coverage * rarity), of the passage alone: what
its age leaves of its score, its best part, and the share of the query's IDF that it holds, which
says more where the query's words are rare (their mean IDF over the greatest there could be). The
constants belong to one model: logistic regression on the 760 questions of five LoCoMo
conversations, each asked of the whole workspace and of one without the files that answer it. Fitted
on three conversations, the area under the ROC on the other two is .795; without the rarity it is
.765.

That says how well a passage fits, and not whether another fits as well: in notes of one subject
many do, and the first of them is no surer to hold the answer than the tenth. So an answer is only
`good` where the first score leads the tenth by enough, and by more where the thirtieth chunk is
still near: lead >= constants.lead + constants.crowd * cosine. That line is where a logistic
regression on fourteen collections gives a right answer .76; `tests.benchmarks.verdict` fits it on
all but one and tells of the one that is left out. By words alone no chunk is near, and .2 raises
the precision from .70 to .76 on BEAM, .78 to .81 on half of QMSum and .86 to .88 on REALTALK.

Of a model that was never measured it is not known what its cosines mean. How sure a hit is is then
told by its words, which may say less than there is: such an answer is `weak` at the least, and says
what it rests on. `memcli bench calibrate` fits the constants on the user's own questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp

from memcli.checking import TYPE_CHECKING
from memcli.embedding.models import Calibration, known, model_name
from memcli.errors import Reason
from memcli.search.hits import Hit

if TYPE_CHECKING:
    from memcli.search.recall import Recalled

WORDS_ALONE = Calibration(bias=-2.37, cosine=0.0, coverage=12.24, lead=0.2)
LOW = Reason("low", "low confidence")
ONE_WORD = Reason("one-word", "the best passage contains only one of the words")
SEVERAL_WORDS = 3
# A passage contains few of more words than these, whether it answers or not. If the first one has a
# low confidence, 3 in 10 questions with fewer words are answered, in chats and in meetings, and 7
# in 10 longer ones.
MANY_WORDS = 8
GOOD = 0.4
WEAK = 0.2
LARGEST = 700.0  # the greatest exponent of a float
# Ranks that define the lead. The eighth or fifteenth, the fiftieth or hundredth do about as well;
# nothing else that was tried improves results on a collection that was left out.
TENTH, THIRTIETH = 10, 30


def calibration(fingerprint: str, own: Mapping[str, Calibration]) -> Calibration | None:
    """Return the constants of a model, or of keyword search; None for a model without calibration.

    `own` are those that the user fitted, by fingerprint.
    """
    if fingerprint in own:
        return own[fingerprint]
    return known(fingerprint).calibration if fingerprint else WORDS_ALONE


def uncalibrated(fingerprint: str, *, has_words: bool) -> Reason:
    """Explain the confidence of a model that was never calibrated."""
    name = model_name(fingerprint)
    what = "uses keywords only" if has_words else "is unknown, and min_score drops nothing"
    return Reason(
        "uncalibrated",
        f"confidence {what}: the model {name} was never calibrated",
        "memcli bench calibrate --help",
    )


def judge(hits: Sequence[Hit], constants: Calibration | None, *, rarity: float) -> list[Hit]:
    """Compute the confidence of each hit, from 0 to 1; None without calibration.

    `rarity` is that of the query's words, 0 to 1.
    """
    if constants is None:
        return list(hits)
    judged = []
    for hit in hits:
        cosine = hit.cosine if hit.own_cosine is None else hit.own_cosine
        z = constants.bias + constants.cosine * (cosine or 0.0)
        z += constants.coverage * hit.held * rarity
        judged.append(hit._replace(confidence=hit.faded / (1.0 + exp(min(LARGEST, -z)))))
    return judged


def sure_of_its_day(hit: Hit) -> Hit:
    """Raise the confidence of a hit on the requested day to its share of the query's words."""
    if hit.confidence is None:
        return hit
    return hit._replace(confidence=max(hit.confidence, hit.held))


def apply_threshold(hits: Sequence[Hit], *, min_score: float, on_score: bool = False) -> list[Hit]:
    """Drop hits whose confidence (or score so far) is below `min_score`; literal matches stay."""

    def worth(hit: Hit) -> float | None:
        return hit.score if on_score else hit.confidence

    return [
        hit for hit in hits if hit.is_literal or (value := worth(hit)) is None or value >= min_score
    ]


def stands_out(hits: Sequence[Hit], fused: Sequence[Hit], constants: Calibration | None) -> bool:
    """Return whether the first passage leads by enough; always without calibration.

    `hits` are all passages by their score, `fused` the chunks that contain them. If most of the
    first ten are of one document, it is compared with the others, because its own passages say
    nothing against it. If it has most of the chunks too, it is a collection of many subjects, and
    they do.
    """
    if constants is None or not hits:
        return True
    own = hits[0].about.document

    def share(some: Sequence[Hit]) -> float:
        return sum(hit.about.document == own for hit in some) / max(1, len(some))

    if share(hits[:TENTH]) > 0.5 >= share(fused):
        hits = [hits[0], *(hit for hit in hits if hit.about.document != own)]
        fused = [hit for hit in fused if hit.about.document != own]
    tenth = hits[TENTH - 1].score if len(hits) >= TENTH else 0.0
    near = sorted((hit.cosine or 0.0 for hit in fused), reverse=True)
    crowd = near[THIRTIETH - 1] if len(near) >= THIRTIETH else 0.0
    return hits[0].score - tenth >= constants.lead + constants.crowd * crowd


def rests_on_one_word(hit: Hit, recalled: Recalled) -> bool:
    """Return whether a passage contains only one of several words of the query, and no phrase."""
    several = len(recalled.terms)
    words = round(recalled.matched.get(hit.about.chunk_id, 0.0) * several)
    return words == 1 and several >= SEVERAL_WORDS and not hit.candidate.literal


def verdict(hits: Sequence[Hit], *, is_measured: bool = True) -> tuple[str, Reason | None]:
    """Judge what is shown by its first hit or a literal match: good|weak|none, and why it is low.

    Only an empty answer is `none`. A low confidence does not mean that the notes lack the answer:
    of questions whose first passage had less than `WEAK`, .44 to .57 were answered by the first
    five passages in LoCoMo, REALTALK, BEAM and QMSum, .83 in MADial and all in MemDaily. A literal
    match counts as much as its age leaves of it. Without calibration no confidence is low, because
    a semantic match may be right.
    """
    if not hits:
        return "none", None
    literal = max((hit.faded for hit in hits if hit.candidate.literal), default=0.0)
    best = max(literal, hits[0].confidence or 0.0)
    if best >= GOOD:
        return "good", None
    return "weak", LOW if best < WEAK and is_measured else None
