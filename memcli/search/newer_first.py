"""Put newer passages before the older ones that they correct.

A wrong mark misleads the reader; a wrong order costs little, because memcli prints both lines. So a
line of a note comes first from a likelihood of LIKELY, and from half of it if its passage contains
all words of the question. In conversations that would cost .01 nDCG@10.

If passages share half of their words and their scores differ by less than NOISE, the newest comes
first, because such a difference means nothing. It means something between passages about different
things: to order them in the same way costs .007 nDCG@10 on MADial.

For a question about now, less evidence puts the newer of two answers first. See
`correction.evidence_of_order`. The newer passage needs half of the score. It stays behind if it
lacks a number of the question, or both the old value and a thing of the question. This order
alone marks nothing: in conversations such marks would be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from memcli.checking import TYPE_CHECKING
from memcli.search.claims import MARK, stems_of
from memcli.search.corrections import POOL, Corrections, chunk_of, is_about, is_newer, lines_of
from memcli.search.mmr import token_set
from memcli.search.proximity import Spans, is_of
from memcli.search.ranked import Correction, RankedPassage

if TYPE_CHECKING:
    from memcli.search.corrections import Turns

LIKELY = 0.2  # least likelihood of a note that comes before another
WITH_ALL_WORDS = 0.5  # of LIKELY, for a passage with all words of the question
NOISE = 0.015  # of a score: about how much the cosine of one text varies with its place
NOISE_NOW = 0.5  # instead of NOISE for a question about now
ALIKE = 0.5  # share of common words (Jaccard) of passages with nearly equal scores
# Least evidence that the newer of two answers comes first, and that it does so even if it lacks
# words of the question.
ENOUGH, PLENTY = -2.5, 1.0
FIRST = 10  # passages; a fixed number, so that --limit changes nothing


def newer_first(
    passages: Sequence[RankedPassage],
    *,
    turns: Turns,
    question: str = "",
    is_now: bool = False,
    spans: Spans = (),
) -> list[RankedPassage]:
    """Reorder the first passages; each rank keeps its score, and the trace says what moved.

    `spans` are the dates that the question names: a passage of another date does not come before
    one of these dates. A newer line comes first only if the line that it corrects contains at
    least half as many words of the question as each other line of that passage. Otherwise it
    corrects something else than the question asks for.
    """
    words = stems_of(question)
    inside = frozenset(each.about.chunk_id for each in passages[:POOL] if is_of(each, spans))
    recent = _recent_first(passages[:FIRST], turns, question, is_now=is_now, inside=inside)
    top = [*recent, *passages[FIRST:POOL]]
    newer, least = Corrections(map(chunk_of, top), turns), _needed_by(top, turns)
    rank = {(e.about.chunk_id, e.first): at for at, e in enumerate(passages[:FIRST])}
    order: list[RankedPassage] = []

    def shown(line: Correction) -> RankedPassage:
        own = [passage for passage in top if passage.about.chunk_id == line.chunk_id]
        return next((each for each in own if line.start_line in each.lines), own[0])

    def place(passage: RankedPassage, above: frozenset[int], before: RankedPassage | None) -> None:
        chunk, behind = passage.about.chunk_id, set[tuple[int, int]]()
        if any((chunk, passage.first) == (each.about.chunk_id, each.first) for each in order):
            return
        is_high = bool(above) or len(order) < FIRST
        for correction in newer.above(lines_of(passage), least, words) if is_high else ():
            line = shown(correction)
            if chunk in inside and correction.chunk_id not in inside:
                continue
            # A passage may contain its own correction.
            if line is not passage and correction.chunk_id not in above:
                place(line, above | {chunk}, passage)
                behind.add((correction.chunk_id, line.start_line))
        at = top.index(passage)
        moved = [before] if before and top.index(before) < at else []
        own = rank.get((chunk, passage.first), at)
        # The passages that `_recent_first` moved behind it.
        after = [
            each
            for each in (top[at + 1 : FIRST] if at < own else ())
            if rank[each.about.chunk_id, each.first] < own
        ]
        confidence = passage.confidence
        for older in moved or after:
            if (older.confidence or 0.0) > (confidence or 0.0) and any(
                shown(line) is passage for line in newer.of(lines_of(older), words)
            ):
                confidence = older.confidence  # it answers as surely as what it corrects
        passage = passage._replace(confidence=confidence)
        if before and moved:
            passage = passage.moved(passage.score, "newer", before=before.citation)
        order.append(passage._replace(must_follow=frozenset(behind)))

    for passage in top:
        place(passage, frozenset(), None)
    ranked = [passage._replace(score=at.score) for passage, at in zip(order, top, strict=True)]
    return [*ranked, *passages[POOL:]]


def _needed_by(passages: Sequence[RankedPassage], turns: Turns) -> dict[int, float]:
    """Return the likelihood that a line of each note needs to come first."""
    least = dict[int, float]()
    for passage in passages:
        chunk = passage.about.chunk_id
        if not turns.get(chunk):
            own = LIKELY * (1 - passage.term_share * (1 - WITH_ALL_WORDS))
            least[chunk] = min(own, least.get(chunk, LIKELY))
    return least


def _recent_first(
    passages: Sequence[RankedPassage],
    turns: Turns,
    question: str,
    *,
    is_now: bool,
    inside: frozenset[int],
) -> list[RankedPassage]:
    """Put the newest of alike passages with nearly equal scores before the first of them.

    For a question about now (`is_now`), a newer passage that may replace the first one also comes
    before it. A chunk that is not in `inside` never comes before a chunk that is.
    """
    left, order = list(passages), list[RankedPassage]()
    while left:
        first, newest = left[0], 0
        for at, other in enumerate(left):
            is_later = _day(other) > _day(left[newest]) != ""
            if first.about.chunk_id in inside and other.about.chunk_id not in inside:
                continue
            is_near = other.score >= first.score * (1 - NOISE)
            if is_later and (
                (is_near and _share_of(token_set(first.text), token_set(other.text)) >= ALIKE)
                or (is_now and _may_replace(other, first, turns, question))
            ):
                newest = at
        passage, before = left.pop(newest), first.citation
        order.append(passage.moved(passage.score, "newer", before=before) if newest else passage)
    return [passage._replace(score=at.score) for passage, at in zip(order, passages, strict=True)]


def _may_replace(newer: RankedPassage, older: RankedPassage, turns: Turns, question: str) -> bool:
    """Return whether the best line of a passage may correct that of an older one."""
    if newer.score < older.score * (1 - NOISE_NOW) or not is_newer(chunk_of(newer), older.about):
        return False
    line, text = _best_line(newer, turns), _best_line(older, turns)
    if stems_of(line).isdisjoint(stems_of(text)):
        return False
    from memcli.language.correction import evidence_of_order

    evidence, words = evidence_of_order(line, text), stems_of(question)
    return evidence > ENOUGH and is_about(line, text, words, is_same=evidence > PLENTY)


def _share_of(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / (len(one | other) or 1)


def _best_line(passage: RankedPassage, turns: Turns) -> str:
    """Return the line by which a passage was found, with its speaker."""
    line = passage.candidate.segments[passage.best]
    text = passage.candidate.text[line.start : line.end].strip()
    turns_here = turns.get(passage.about.chunk_id)
    if not turns_here or "**" in text[:MARK]:
        return text
    from memcli.markdown.turns import speaker_at

    who = speaker_at(turns_here, line.start_line)
    return f"**{who}**: {text}" if who else text


def _day(passage: RankedPassage) -> str:
    return passage.about.document_date or ""
