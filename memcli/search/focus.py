"""Cut ranked chunks down to the passages that answer: windows around their best parts; pure.

A chunk is ranked wide and shown narrow:

    part    = w_v * cosine + w_t * c * bm25 / (best bm25 of a part)
              + NEIGHBOUR_SHARE * its better neighbour
    passage = (CHUNK_SHARE * chunk + best part) / (its greatest value), in [0, 1]

c as in `fusion`; BM25 is Robertson's, k1 1.2, b 0.75. A window takes the parts beside the best
one that say something too, within PASSAGE_LINES; parts left over form windows of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memcli.search.fusion import Weights
from memcli.search.hits import Hit, ordered
from memcli.search.views import SUMMARY

# Chosen with four LoCoMo conversations, XQuAD and long documents in view, where shares of 0.25 to
# 1 and 0.2 to 0.5 moved nDCG@10 by about .01.
CHUNK_SHARE = 0.5
# Without vectors most parts hold no word of the query, so the chunk says more than a part.
CHUNK_SHARE_LEXICAL = 2.0
NEIGHBOUR_SHARE = 0.3
# Wider windows gain ranks and lose recall within a token budget; a neighbour that says little
# of what was asked (less than KEEP_SHARE of the best part) is not worth its tokens.
PASSAGE_LINES = 8
NEIGHBOURS = 2  # parts on each side
KEEP_SHARE = 0.15
K1 = 1.2
B = 0.75

Tokens = Sequence[str]


class SoughtTerm(NamedTuple):
    """A term of the query as the index tokenises it, and its IDF."""

    tokens: tuple[str, ...]
    idf: float


def focus(
    hits: Sequence[Hit],
    tokens: Mapping[int, Sequence[Tokens]],
    terms: Sequence[SoughtTerm],
    *,
    weights: Weights,
    text_share: float,
    whole: bool,
    most_lines: int = PASSAGE_LINES,
) -> list[Hit]:
    """Turn chunk hits into passages; `tokens` gives the tokens of every part by chunk id.

    `whole` keeps each chunk in one piece, scored by its best part; else a passage grows beyond
    its best part up to `most_lines`.
    """
    lengths = [len(part) for parts in tokens.values() for part in parts]
    average = max(1.0, sum(lengths) / max(1, len(lengths)))
    texts = {
        chunk: [_bm25(part, terms, average) for part in parts] for chunk, parts in tokens.items()
    }
    best_text = max((score for scores in texts.values() for score in scores), default=0.0)
    share = CHUNK_SHARE if weights.vector else CHUNK_SHARE_LEXICAL
    full = share + 1.0 + NEIGHBOUR_SHARE
    passages: list[Hit] = []
    for hit in hits:
        scored = texts.get(hit.candidate.chunk_id, [])
        if not scored:
            score = share * hit.score / full
            passages.append(hit.moved(score, "focus", chunk=hit.score))
            continue
        own = _part_scores(hit, scored, best_text, weights, text_share)
        parts = _with_neighbours(own)
        for first, last, best in _windows(hit, own, parts, whole=whole, most_lines=most_lines):
            score = (share * hit.score + parts[best]) / full
            moved = hit.moved(score, "focus", chunk=hit.score, part=parts[best])
            passages.append(moved._replace(first=first, last=last))
    return ordered(passages)


def _part_scores(
    hit: Hit, texts: Sequence[float], best_text: float, weights: Weights, text_share: float
) -> list[float]:
    """Score every part by itself."""
    parts = hit.candidate.parts
    own = []
    for part, text in zip(parts, texts, strict=True):
        cosine = hit.cosine if part.cosine is None else part.cosine
        score = weights.vector * min(1.0, max(0.0, cosine or 0.0))
        if best_text > 0:
            score += weights.text * text_share * text / best_text
        own.append(score)
    return own


def _with_neighbours(own: Sequence[float]) -> list[float]:
    """Add to every part a share of its better neighbour."""
    padded = [0.0, *own, 0.0]
    return [score + NEIGHBOUR_SHARE * max(padded[i], padded[i + 2]) for i, score in enumerate(own)]


def _windows(
    hit: Hit, own: Sequence[float], scores: Sequence[float], *, whole: bool, most_lines: int
) -> list[tuple[int, int, int]]:
    """Give (first, last, best) part of each window, best window first."""
    parts = hit.candidate.parts

    def joins(part: int, first: int, last: int) -> bool:
        lines = parts[max(last, part)].end_line - parts[min(first, part)].start_line + 1
        enough = hit.cosine is None or own[part] >= KEEP_SHARE * own[best]
        # A line of a summary stands alone, and what is beside it is another matter.
        joinable = hit.candidate.kind != SUMMARY
        return joinable and part not in taken and enough and lines <= most_lines

    order = sorted(range(len(parts)), key=lambda i: (-scores[i], i))
    if whole:
        return [(0, len(parts) - 1, order[0])]
    taken: set[int] = set()
    windows = []
    for best in order:
        if best in taken:
            continue
        first = last = best
        for _ in range(NEIGHBOURS):
            if first > 0 and joins(first - 1, first, last):
                first -= 1
            if last + 1 < len(parts) and joins(last + 1, first, last):
                last += 1
        taken.update(range(first, last + 1))
        windows.append((first, last, best))
    return windows


def _bm25(tokens: Tokens, terms: Sequence[SoughtTerm], average: float) -> float:
    held = set(tokens)
    norm = K1 * (1 - B + B * len(tokens) / average)
    score = 0.0
    for term in terms:
        if term.tokens and held.issuperset(term.tokens):
            frequency = _occurrences(tokens, term.tokens)
            score += term.idf * frequency * (K1 + 1) / (frequency + norm)
    return score


def _occurrences(tokens: Tokens, wanted: tuple[str, ...]) -> int:
    if len(wanted) == 1:
        return tokens.count(wanted[0])
    return sum(
        tuple(tokens[at : at + len(wanted)]) == wanted
        for at in range(len(tokens) - len(wanted) + 1)
    )
