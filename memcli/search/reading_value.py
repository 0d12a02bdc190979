"""Leave out of an answer what is not worth reading; pure.

A unit is a paragraph of a turn in a conversation. Outside conversations it is a whole passage.

    chance = logistic(-1.75 + .8 score / best score + 1.4 confidence
                      - .8 ln(rank of the passage)
                      + 2.1 (its cosine - the best), or without any 2 (score / best score - 1)
                      + 1.15 (its share of the question's words - the best share)
                      - .45 ln(1 + units with a greater share)
                      - 3 if the question names other speakers
                      - 1.35 if an assistant says it
                      - 1.3 if it is small talk without a word of the question, and no reply to one
                      - 3 if an assistant introduces what follows: "Here are some steps:"
                      - 6 if it is a greeting)
    gain   = chance - tokens / MISS

A passage keeps the units with a gain, and a short answer keeps the question before it. If it ends
with a question to a speaker whom the question names, the reply follows.
MISS is what a failed search costs, in tokens as the fit counts them. If a call asks several
questions, the next call is shared too, so a question costs less. A statement costs still less: it
is mostly a second try, and its lines are half as likely to be evidence that is not printed yet.

The weights are rounded from a logistic regression on LoCoMo, REALTALK, BEAM, and chats of both in
one memory. Three changes did not print less for the same evidence: a probe for lines that state
something, a lower chance behind a sure first passage, and more passages for questions that ask for
several things.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import exp, log

from memcli.checking import TYPE_CHECKING
from memcli.language.tokens import price
from memcli.record import Record
from memcli.search.lines import by_line, introduces
from memcli.types import Turn

if TYPE_CHECKING:
    from memcli.search.ranked import RankedPassage

MISS, MISS_OF_QUESTION, MISS_OF_STATEMENT = 1800, 900, 500  # tokens
HEADING_TOKENS = 15  # of the line above a passage
SHORT_ANSWER = 20  # tokens; a shorter turn needs the question before it
MOST_WITHOUT_MATCH = 3  # passages of an answer without a match
ALSO_ANSWERS = 0.3  # minimum confidence of a passage without the identifier of the question
MAY_ANSWER = 0.05  # minimum confidence of a line in a list
# Beyond the first lines of a list, this share of the question must be in a line of a conversation.
# In chats it halves the lists and costs a twelfth of their evidence, none in the first 800 tokens.
FIRST_LINES, MIN_SHARE = 5, 0.1
FITS = 0.05  # minimum share of a question whose reply is not small talk
ALL = 0.99  # the share of a line with all words of the question
UNKNOWN = 0.3  # confidence of a passage if the model is not calibrated
_QUESTION_END = re.compile(r"[?？](?:\s*\[[^\]\n]*\])?\s*$")  # a note on a picture may follow
_COUNTS = ("how many", "how often", "wie viele", "wie oft", "多少", "几次", "幾次", "いくつ")
_LISTS = ("list ", "name all ", "nenne ")


class ReadingUnit(Record):
    """Segments of a chunk that are printed or left out together."""

    text: str
    first: int
    last: int
    turn: Turn | None
    cosine: float
    share: float  # of the question's words
    is_greeting: bool = False

    @property
    def is_question(self) -> bool:
        """Return whether the turn ends with a question, except a greeting."""
        asks = self.turn is not None and self.text.rstrip().endswith(("?", "？"))
        return asks and not self.is_greeting


def worthwhile(
    passages: Sequence[RankedPassage],
    *,
    matches: bool,
    is_measured: bool,
    is_exact: bool,
    miss: int | None = None,
    apart: bool = False,
) -> tuple[Sequence[RankedPassage], int]:
    """Leave out what is not worth reading, and count the passages that are left out.

    Without a match (`matches`) three passages remain. With `is_exact`, a passage without the
    identifier is left out if another contains it. Passages are narrowed only if their scores are
    measured. With `apart`, each turn becomes a passage, and only passages of greetings are left
    out.
    """
    every = len(passages)
    passages = [passage for passage in passages if not _only_greets(passage)] or passages
    passages = passages if matches else passages[:MOST_WITHOUT_MATCH]
    if is_exact and any(passage.is_literal for passage in passages):
        passages = [
            passage
            for passage in passages
            if passage.is_literal or (passage.confidence or 0.0) >= ALSO_ANSWERS
        ]
    if not is_measured:
        return passages, every - len(passages)
    per_token = 1 / (miss or MISS)
    result: list[RankedPassage] = []
    read = 0  # passages of which something is printed
    cut = [_units(passage) for passage in passages]
    for passage, units, chances in zip(passages, cut, _chances(passages, cut), strict=True):
        gains = [
            chance - per_token * price(unit.text)
            for chance, unit in zip(chances, units, strict=True)
        ]
        is_same = bool(result) and result[-1].about.document == passage.about.document
        heading = 0.0 if is_same else per_token * HEADING_TOKENS
        is_worth = sum(gain for gain in gains if gain > 0.0) > heading
        if result and not is_worth and not apart:
            continue
        runs = _runs(units, gains, apart=apart)
        if passage.corrected_by and not apart:  # any of its lines may be the corrected one
            runs = [range(len(units))]
        room = len(passages) - len(result)
        runs = sorted(runs, key=lambda run: -max(gains[at] for at in run))[:room]
        result += [_part_of(passage, units, run) for run in sorted(runs, key=lambda run: run.start)]
        read += bool(runs)
    return result if apart else _with_replies(result), every - read


def _only_greets(passage: RankedPassage) -> bool:
    return bool(passage.greetings) and all(
        number in passage.greetings or not line.strip()
        for number, line in enumerate(passage.text.split("\n"), start=passage.start_line)
    )


def _with_replies(passages: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Add to a passage that ends with a question the first line that a named speaker replies."""
    shown = {
        (passage.about.chunk_id, line)
        for passage in passages
        for line in range(passage.start_line, passage.end_line + 1)
    }
    return [
        _until(passage, line)
        if (line := _reply(passage)) and (passage.about.chunk_id, line) not in shown
        else passage
        for passage in passages
    ]


def _reply(passage: RankedPassage) -> int:
    """Return the line of the reply; 0 if there is none, or the question is by a named speaker."""
    named, end = passage.named_speakers, passage.end_line
    if not named or passage.is_cut or not _QUESTION_END.search(passage.text):
        return 0
    asks = next((turn for turn in passage.turns if turn.start_line <= end <= turn.end_line), None)
    reply = next((turn for turn in passage.turns if turn.start_line > end), None)
    if asks is None or reply is None or asks.speaker in named or reply.speaker not in named:
        return 0
    return reply.start_line


def _until(passage: RankedPassage, line: int) -> RankedPassage:
    """Extend a passage to a later line of its chunk."""
    candidate = by_line(passage.candidate)
    lines = [part.start_line for part in candidate.segments]
    if passage.start_line not in lines or line not in lines:
        return passage
    first, last = lines.index(passage.start_line), len(lines) - 1 - lines[::-1].index(line)
    best = max(range(first, last + 1), key=lambda at: candidate.segments[at].cosine or 0.0)
    return passage._replace(candidate=candidate, first=first, last=last, best=best)


def counts(question: str) -> bool:
    """Return whether a question asks for a number or for all of something."""
    low = question.casefold()
    return any(map(low.__contains__, _COUNTS)) or low.startswith(_LISTS)


def best_lines(
    passages: Sequence[RankedPassage], words: Sequence[str], *, by_keyword: bool = False
) -> tuple[RankedPassage, ...]:
    """Narrow each passage that matches to its best line; without a match, the first three.

    Each line that contains all words of the question is kept too. After the first lines, or in a
    search `by_keyword`, a line must contain a word of the question.
    """
    near = [passage for passage in passages if _may_answer(passage)] or passages[
        :MOST_WITHOUT_MATCH
    ]
    lines = [line for passage in near for line in _lines(passage, words)]
    first = 0 if by_keyword else FIRST_LINES
    return (*lines[:first], *filter(_says_some, lines[first:]))


def _says_some(line: RankedPassage) -> bool:
    shares = [share for at, share in line.shares if line.start_line <= at <= line.end_line]
    return not shares or max(shares) >= MIN_SHARE


def _may_answer(passage: RankedPassage) -> bool:
    return passage.confidence is None or passage.confidence >= MAY_ANSWER or passage.is_literal


def _lines(passage: RankedPassage, words: Sequence[str]) -> list[RankedPassage]:
    from memcli.search.cursor import cursor_of

    whole = {
        at
        for at, share in passage.shares
        if share > ALL and passage.start_line <= at <= passage.end_line
    }
    candidate = by_line(passage.candidate)
    # A passage with all segments prints the whole chunk with its headings; so an empty
    # segment comes first.
    empty = candidate.segments[0]._replace(start=0, end=0)
    narrow = candidate._replace(segments=(empty, *candidate.segments))
    result: list[RankedPassage] = []
    for line in sorted({cursor_of(passage, words).line, *whole}):
        at = [n for n, p in enumerate(narrow.segments) if n and p.start_line == line == p.end_line]
        if passage.is_cut or not at:
            return [passage]
        result.append(passage._replace(candidate=narrow, first=at[0], last=at[-1], best=at[0]))
    return result


def _runs(units: Sequence[ReadingUnit], gains: Sequence[float], *, apart: bool) -> list[range]:
    """Return the runs of units with a gain, or the best unit; a short one keeps its question."""
    places = {at for at, gain in enumerate(gains) if gain > 0.0}
    places = places or {max(range(len(units)), key=gains.__getitem__)}
    if apart:
        return [range(at, at + 1) for at in sorted(places)]
    places |= {
        at - 1
        for at in places
        if at and units[at - 1].is_question and price(units[at].text) < SHORT_ANSWER
    }
    runs: list[range] = []
    for at in sorted(places):
        if runs and runs[-1].stop == at:
            runs[-1] = range(runs[-1].start, at + 1)
        else:
            runs.append(range(at, at + 1))
    return runs


def _units(passage: RankedPassage) -> list[ReadingUnit]:
    """Cut a passage of a conversation into paragraphs of turns; any other is one unit."""
    if not passage.turns or passage.is_cut:
        fit = passage.own_cosine or 0.0, passage.own_coverage or 0.0
        return [ReadingUnit(passage.text, passage.first, passage.last, None, *fit)]
    units: list[ReadingUnit] = []
    candidate, shares = by_line(passage.candidate), dict(passage.shares)
    segments = passage.candidate.segments
    begin, end, line = segments[passage.first].start, segments[passage.last].end, 0
    for at, segment in enumerate(candidate.segments):
        if not begin <= segment.start < end:
            continue
        turn = next(
            (t for t in passage.turns if t.start_line <= segment.start_line <= t.end_line), None
        )
        share = shares.get(segment.start_line, 0.0)
        text, cosine = passage.between(segment.start, segment.end), segment.cosine or 0.0
        greets = segment.start_line in passage.greetings
        unit = ReadingUnit(text, at, at, turn, cosine, share, greets)
        before = units[-1] if units else None
        if before is not None and before.turn == turn and segment.start_line <= line + 1:
            start = candidate.segments[before.first].start
            units[-1] = before._replace(
                text=passage.between(start, segment.end),
                last=at,
                cosine=max(before.cosine, unit.cosine),
                share=max(before.share, share),
                is_greeting=before.is_greeting and greets,
            )
        else:
            units.append(unit)
        line = segment.end_line
    return units


def _chances(
    passages: Sequence[RankedPassage], cut: Sequence[Sequence[ReadingUnit]]
) -> list[list[float]]:
    """Estimate how likely each unit of each passage contains an answer that is not printed yet."""
    best = max((passage.score for passage in passages), default=0.0)
    every = [unit for units in cut for unit in units]
    cosine = max((unit.cosine for unit in every), default=0.0)
    shares = sorted((unit.share for unit in every), reverse=True)
    result = []
    for rank, (passage, units) in enumerate(zip(passages, cut, strict=True), start=1):
        ratio = passage.score / best if best > 0.0 else 1.0
        confidence = UNKNOWN if passage.confidence is None else passage.confidence
        base = -1.75 + 0.8 * ratio + 1.4 * confidence - 0.8 * log(rank)
        named, talk = passage.named_speakers, _small_talk(passage, units)
        chances = []
        for at, unit in enumerate(units):
            z = base + (2.1 * (unit.cosine - cosine) if cosine else 2.0 * (ratio - 1.0))
            z += 1.15 * (unit.share - shares[0])
            z -= 0.45 * log(1 + shares.index(unit.share)) + 1.3 * (at in talk)
            if unit.turn is not None:
                is_machine = _is_machine(unit.turn)
                z -= 3.0 * (bool(named) and unit.turn.speaker not in named)
                z -= 1.35 * is_machine + 3.0 * (is_machine and introduces(unit.text))
                z -= 6.0 * unit.is_greeting
            chances.append(1.0 / (1.0 + exp(-z)))
        result.append(chances)
    return result


def _small_talk(passage: RankedPassage, units: Sequence[ReadingUnit]) -> frozenset[int]:
    """Return the places of the units that are small talk and do not reply to a fitting question."""
    if len(units) < 2 or not passage.small_talk:
        return frozenset()
    segments = by_line(passage.candidate).segments
    return frozenset(
        at
        for at, unit in enumerate(units)
        if not unit.share and not (at and units[at - 1].is_question and units[at - 1].share > FITS)
        if all(
            part.start_line in passage.small_talk for part in segments[unit.first : unit.last + 1]
        )
    )


def _is_machine(turn: Turn) -> bool:
    from memcli.markdown.turns import ASSISTANT, TOOL, role_of

    return role_of(turn.speaker) in (ASSISTANT, TOOL)


def _part_of(passage: RankedPassage, units: Sequence[ReadingUnit], run: range) -> RankedPassage:
    if len(run) == len(units):
        return passage
    first, last = units[run.start].first, units[run.stop - 1].last
    candidate = by_line(passage.candidate)
    best = max(range(first, last + 1), key=lambda at: candidate.segments[at].cosine or 0.0)
    return passage._replace(candidate=candidate, first=first, last=last, best=best)
