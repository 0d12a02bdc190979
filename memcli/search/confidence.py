"""Compute the confidence of each passage and the match of an answer; pure.

confidence = decay * logistic(bias + a * cosine + b * coverage * rarity)

All of these belong to the passage: the decay is what its age leaves of its score, the cosine that
of its best segment, and the coverage the share of the query's IDF that it contains. Coverage says
more if the query's words are rare: rarity is their mean IDF, divided by the greatest possible one.
The constants belong to one model. They come from a logistic regression on the 760 questions of five
LoCoMo conversations, each asked once of the whole workspace and once without the files that answer
it. Fitted on three conversations, the area under the ROC on the other two is .795, or .765 without
the rarity.

Confidence says how well one passage fits, and not whether others fit as well. In notes about one
subject many do. So a match is strong only if the first score leads the tenth by enough, and by more
if the thirtieth chunk is still near: lead >= constants.lead + constants.background * cosine. On
that line a logistic regression on fourteen collections gives a right answer .76. The program
`tests.benchmarks.match` fits it on all collections except one, and reports on that one. In a
keyword search no chunk is near; a lead of .2 raises the precision from .70 to .76 on BEAM, .78 to
.81 on half of QMSum and .86 to .88 on REALTALK.

The cosines of a model that nobody has measured say nothing about confidence. Then only the words
count. They may miss an answer, so such a match is never below `weak`, and gives its reason.
`memcli bench calibrate` fits the constants to the user's own questions.

Words that no note contains make a match weak only if they are names or quoted. 44 of 108 questions
about a person whom no note names would be strong. The rule also makes 9 of 649 right matches weak.
Two other rules were wrong as often as right: that any word is in no note (wrong in 71 matches,
right in 33), and that no line has the names, most words and the kind of value (76 and 46).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import exp

from memcli.checking import TYPE_CHECKING
from memcli.embedding.models import Calibration, known, model_name
from memcli.errors import Reason
from memcli.language.stopwords import ENGLISH, GERMAN
from memcli.search.ranked import RankedPassage

if TYPE_CHECKING:
    from memcli.search.recall import RecallResult

WORDS_ALONE = Calibration(bias=-2.37, cosine=0.0, coverage=12.24, lead=0.2)
LOW = Reason("low", "low confidence")
ONE_WORD = Reason("one-word", "the best passage contains only one of the words")
ONE_LETTER = Reason("one-letter", "one character occurs in notes on any subject")
# Words joined by the one who asks, such as Wars-related: that no note has this form says nothing.
_COMPOUND = re.compile(r"[^\W\d_]+(?:[-/][^\W\d_]+)+")
# Words that only ask, as in "how much memory", "what kind of", "what was said regarding".
_WORDS = """
    according actually average based briefly conclusion considered currently describe described
    discuss discussed exactly far general happen happened kind long many mention mentioned much
    often particularly please recently regarding sort specifically summarise summarize terms type
    types various
"""
_ASKING = frozenset(_WORDS.split())
SEVERAL_WORDS = 3
# A passage contains few of more words than these, whether it answers or not. If the first one has a
# low confidence, 3 in 10 questions with fewer words are answered, in chats and in meetings, and 7
# in 10 longer ones.
MANY_WORDS = 8
GOOD = 0.4
MAY_ANSWER = 0.05  # minimum of a line in a list, and next to a good passage
WEAK = 0.2
LARGEST = 700.0  # the greatest exponent of a float
# Ranks that define the lead. The eighth or fifteenth, the fiftieth or hundredth do about as well.
# Nothing else that was tried improves results on collections that were left out: the words that the
# first passage, its best line or the first five lack, and the rarest of these; agreement of both
# retrievers; the lead over the second; the expected kind of answer (a number, a name, a time); the
# similarity of tokens; the cosine without each word of the question; fewer rivals, if most of the
# first ten passages are of one document.
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


def judge(
    passages: Sequence[RankedPassage], constants: Calibration | None, *, rarity: float
) -> list[RankedPassage]:
    """Compute the confidence of each passage, from 0 to 1; None without calibration.

    `rarity` is that of the query's words, 0 to 1.
    """
    if constants is None:
        return list(passages)
    judged = []
    for passage in passages:
        cosine = passage.cosine if passage.own_cosine is None else passage.own_cosine
        z = constants.bias + constants.cosine * (cosine or 0.0)
        z += constants.coverage * passage.term_share * rarity
        judged.append(passage._replace(confidence=passage.decay / (1.0 + exp(min(LARGEST, -z)))))
    return judged


def sure_of_its_day(passage: RankedPassage) -> RankedPassage:
    """Raise the confidence of a passage on the requested day to its share of the query's words.

    Without any of them it may still answer.
    """
    if passage.confidence is None:
        return passage
    return passage._replace(confidence=max(passage.confidence, passage.term_share, MAY_ANSWER))


def apply_threshold(
    passages: Sequence[RankedPassage], *, min_score: float, on_score: bool = False
) -> list[RankedPassage]:
    """Drop passages with a confidence (or score) below `min_score`; literal matches stay."""
    worth = ((p, p.score if on_score else p.confidence) for p in passages)
    return [p for p, value in worth if p.is_literal or value is None or value >= min_score]


def stands_out(
    passages: Sequence[RankedPassage], fused: Sequence[RankedPassage], constants: Calibration | None
) -> bool:
    """Return whether the first passage leads by enough; always without calibration.

    `passages` are all passages by their score, `fused` the chunks that contain them.
    """
    if constants is None or not passages:
        return True
    lead, background = lead_of(passages, fused)
    return lead >= constants.lead + constants.background * background


def lead_of(
    passages: Sequence[RankedPassage], fused: Sequence[RankedPassage]
) -> tuple[float, float]:
    """Return the lead of the first score over the tenth, and the thirtieth cosine."""
    tenth = passages[TENTH - 1].score if len(passages) >= TENTH else 0.0
    near = sorted((passage.cosine or 0.0 for passage in fused), reverse=True)
    return passages[0].score - tenth, near[THIRTIETH - 1] if len(near) >= THIRTIETH else 0.0


def rests_on_one_word(passages: Sequence[RankedPassage], recalled: RecallResult) -> bool:
    """Return whether the best passage contains only one of several words of the query, no phrase.

    Words that only ask do not count. If the passage comes first because it corrects another, the
    words of that one count too.
    """
    terms = len(recalled.terms)
    several = terms - sum(term.text.lower() in _ASKING for term in recalled.terms)
    return several >= SEVERAL_WORDS and all(
        round(recalled.matched.get(passage.about.chunk_id, 0.0) * terms) == 1
        and not passage.candidate.literal
        for passage in passages[: 1 + passages[0].is_moved_newer]
    )


def match_of(
    passages: Sequence[RankedPassage], *, is_measured: bool = True
) -> tuple[str, Reason | None]:
    """Judge an answer by its first passage or a literal match: good|weak|none, and why it is low.

    Only an empty answer is `none`. A low confidence does not mean that the notes lack the answer:
    of questions whose first passage had less than `WEAK`, .44 to .57 were answered by the first
    five passages in LoCoMo, REALTALK, BEAM and QMSum, .83 in MADial and all in MemDaily. A literal
    match counts as much as its age leaves of it. Without calibration no confidence is low, because
    a semantic match may be right.
    """
    if not passages:
        return "none", None
    literal = max((passage.decay for passage in passages if passage.candidate.literal), default=0.0)
    best = max(literal, passages[0].confidence or 0.0)
    if best >= GOOD:
        return "strong", None
    return "weak", LOW if best < WEAK and is_measured else None


def absent_words(unmatched: Sequence[str], phrases: Sequence[str]) -> list[str]:
    """Leave out words that only ask, and phrases, from the terms that no note contains."""
    return [
        word
        for word in unmatched
        if word not in phrases
        and word.lower() not in _ASKING
        and word.lower() not in ENGLISH
        and not _COMPOUND.fullmatch(word)
    ]


def doubt_of_words(question: str, recalled: RecallResult) -> Reason | None:
    """Return what a question quotes or names that no note contains, or that it is a letter.

    A long question always has such words, and every German noun looks like a name.
    """
    if len(question.strip()) == 1 and question.isascii():
        return ONE_LETTER
    if recalled.missing_phrases or recalled.split_phrases:
        return Reason("phrase", "no passage contains what the question quotes")
    words = {*question.casefold().split()}
    if len(recalled.terms) > MANY_WORDS or (words & GERMAN and not words & ENGLISH):
        return None
    names = [word for word in absent_words(recalled.unmatched, ()) if word[:1].isupper()]
    return Reason("absent", f"no note contains {', '.join(names)}") if names else None
