"""Fit the constants with which `search.confidence` judges passages, on judged questions; pure.

Each question is asked twice: normally, and without the chunks that contain its evidence. An answer
is right if its first FIRST passages contain a judged line; without the evidence, no answer is
right. Two logistic regressions separate right answers from the others:

    confidence  by the first passage's cosine and its coverage times rarity
    lead        by the lead of the first score over the tenth, and the thirtieth cosine; the line at
                which it gives SURE yields `lead` and `background`. It uses only the normal
                questions. If too few of their answers are wrong, no lead is needed

A slope with the wrong sign is left out, and the rest is fitted again. `near`, the cosine for
passages that are offered unasked, is the one that nine of ten right answers reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, fsum, log

from memcli.embedding.models import Calibration
from memcli.record import Record
from memcli.search.confidence import lead_of
from memcli.search.ranked import RankedPassage

FIRST = 5
LEAST = 10  # answers of each kind that a fit needs
LEAST_SLOPE = 0.01  # of the cosine; below it, vectors would not count
SURE = 0.76
RIDGE = 1.0
FOLDS = 5
ROUNDS = 60
NEAR_SHARE = 0.1


class Sample(Record):
    """An answer, and the figures that decide its match."""

    is_right: bool
    is_whole: bool  # no chunk was left out
    cosine: float  # of the first passage
    words: float  # its coverage times the rarity of the query's words
    lead: float  # lead of the first score over the tenth
    background: float  # the thirtieth cosine


class FittedConstants(Record):
    """The constants, and how well they separate answers that were not used to fit them."""

    constants: Calibration
    area: float  # area under the ROC curve, in cross-validation
    by_words: float  # the same with keyword matches only


def sample_of(
    passages: Sequence[RankedPassage],
    fused: Sequence[RankedPassage],
    *,
    rarity: float,
    is_right: bool,
    is_whole: bool,
) -> Sample:
    """Take the figures that decide a match: passages before decay, and fused chunks."""
    if not passages:
        return Sample(is_right, is_whole, 0.0, 0.0, 0.0, 0.0)
    first = passages[0]
    cosine = first.cosine if first.own_cosine is None else first.own_cosine
    lead, background = lead_of(passages, fused)
    return Sample(is_right, is_whole, cosine or 0.0, first.term_share * rarity, lead, background)


def fit(samples: Sequence[Sample]) -> FittedConstants | None:
    """Fit all constants; None if too few answers are right, or too few are not."""
    right = [each for each in samples if each.is_right]
    if len(right) < LEAST or len(samples) - len(right) < LEAST:
        return None
    labels = [float(each.is_right) for each in samples]
    rows = [(each.cosine, each.words) for each in samples]
    bias, cosine, words = logistic(rows, labels)
    lead, background = _line([each for each in samples if each.is_whole])
    cosines = sorted(each.cosine for each in right)
    constants = Calibration(
        bias, cosine, words, lead, background, near=cosines[int(NEAR_SHARE * len(cosines))]
    )
    scores = _unseen(rows, labels)
    return FittedConstants(constants, area(scores, labels), area([row[1] for row in rows], labels))


def _line(samples: Sequence[Sample]) -> tuple[float, float]:
    """Return the lead that an answer needs, and its increase for each 1.0 of the background."""
    labels = [float(each.is_right) for each in samples]
    if min(sum(labels), len(labels) - sum(labels)) < LEAST:
        return 0.0, 0.0
    bias, by_lead, by_distance = logistic([(s.lead, -s.background) for s in samples], labels)
    if by_lead <= 0.0:
        return 0.0, 0.0
    return max(0.0, (log(SURE / (1.0 - SURE)) - bias) / by_lead), by_distance / by_lead


def _unseen(rows: Sequence[tuple[float, float]], labels: Sequence[float]) -> list[float]:
    """Judge each answer by constants that were fitted on the others.

    The two answers to a question follow each other and stay in one fold.
    """
    scores = [0.0] * len(rows)
    for fold in range(FOLDS):
        training = [at for at in range(len(rows)) if at // 2 % FOLDS != fold]
        bias, *slopes = logistic([rows[at] for at in training], [labels[at] for at in training])
        for at in set(range(len(rows))).difference(training):
            scores[at] = bias + fsum(s * x for s, x in zip(slopes, rows[at], strict=True))
    return scores


def logistic(rows: Sequence[tuple[float, float]], labels: Sequence[float]) -> list[float]:
    """Fit a bias and two slopes of at least 0 by Newton's method, with a ridge on the slopes.

    The ridge weighs features of mean 0 and deviation 1.
    """
    import numpy as np

    x, y = np.array(rows, float), np.array(labels, float)
    mean, spread = x.mean(axis=0), x.std(axis=0)
    used = [at for at in range(x.shape[1]) if spread[at] > 0]
    while True:
        design = np.column_stack([np.ones(len(y)), (x[:, used] - mean[used]) / spread[used]])
        ridge = np.diag([1e-6] + [RIDGE] * len(used))
        fitted = np.zeros(design.shape[1])
        for _ in range(ROUNDS):
            share = 1.0 / (1.0 + np.exp(-np.clip(design @ fitted, -30, 30)))
            curve = design.T @ (design * (share * (1 - share))[:, None]) + ridge
            step = np.linalg.solve(curve, design.T @ (y - share) - ridge @ fitted)
            fitted += step
            if np.abs(step).max() < 1e-8:
                break
        worse = [at for at, slope in zip(used, fitted[1:], strict=True) if slope < 0]
        if not worse:
            break
        used = [at for at in used if at not in worse]
    slopes = np.zeros(x.shape[1])
    slopes[used] = fitted[1:] / spread[used]
    return [float(fitted[0] - slopes @ mean), *map(float, slopes)]


def area(scores: Sequence[float], labels: Sequence[float]) -> float:
    """Return the share of pairs of a right and a wrong answer in the right order; ties count half.

    Example: area([1, 1, 3, 2, 0], [1, 1, 1, 0, 0]) -> 0.667
    """
    right = [s for s, label in zip(scores, labels, strict=True) if label]
    others = [s for s, label in zip(scores, labels, strict=True) if not label]
    pairs = ((r > o) + 0.5 * (r == o) for r in right for o in others)
    return sum(pairs) / max(1, len(right) * len(others))


def text(record: dict[str, object], constants: Calibration) -> str:
    """Write the fitted constants, one per line."""
    sure = 1.0 / (1.0 + exp(-constants.bias - constants.cosine * 0.5))
    drawn = [
        f"{record['answers']} answers to {record['judged']} questions, {record['right']} right",
        f"area under the ROC {record['area']:.3f} in cross-validation,"
        f" {record['by_words']:.3f} by keywords only",
        f"confidence = logistic({constants.bias:.2f} + {constants.cosine:.2f} cosine"
        f" + {constants.coverage:.2f} coverage * rarity); {sure:.2f} at cosine .5 without a word",
        f"strong from a lead of {constants.lead:.3f}"
        f" + {constants.background:.3f} * the thirtieth cosine",
    ]
    return "".join(f"{line}\n" for line in drawn)
