"""Leave out of an answer what is not worth reading; pure.

A unit is a paragraph of a turn in a conversation, and elsewhere an item, a paragraph, a table or a
block of code.

    chance = logistic(-3.2 + 2.8 score / best score + .65 confidence
                      - 1.1 ln(rank), or - 0.5 ln(rank) if the question asks for several things
                      + 2 (its cosine - the best in the passage)
                      + 2.5 (its share of the question's words - the best in the passage)
                      - 2.2 if the question names other speakers
                      - 1.4 if an assistant says it and the question is about the user
                      - 0.8 beyond the first passage, if it is not the best unit
                      - 1.2 beyond the first passage, if it is one of several blocks of a note and
                        lacks a word of the question
                      - 0.7 if it asks something without a word of the question
                      - 1.5 if it is small talk without a word of the question, and no reply to one
                      - 3 if an assistant introduces what follows: "Here are some steps:"
                      - 6 if it is a greeting)
    gain   = chance - tokens / MISS

A passage keeps the units with a gain, and a short answer keeps the question before it. If it ends
with a question to a speaker whom the question names, the reply follows.
MISS is what a failed search costs: about 1,000 tokens more, and 1,500 in conversations, but there
too 1,000 for units that are not the likeliest of their passage. On 381 questions of LoCoMo, 1,000,
this, and 1,500 for all print 424, 483 and 516 tokens, .78, .79 and .81 of the evidence, and .66,
.66 and .64 in the first 200 tokens; on 282 of REALTALK .68, .70 and .72 of it, and .60, .61 and .60
in 400. In notes, 1,500 prints a tenth to a half more and 0 to .03 more evidence.
If a call asks several questions, the next call is shared too, and a miss costs 500. A query that is
not a question is mostly a second try, and costs 300: in recorded calls of readers its lines were
half as often evidence that was not printed yet.
A question for several things costs 1.4 times as much, and has up to 20 passages, because readers
lost most answers by one missing item: in a memory of nine chats, such an answer is complete for .36
of 127 questions instead of .25, and has 680 tokens instead of 530. Statements after it are other
wordings of it, and cost 1.4 times 400: with two of them an answer is complete for .53 of 74
questions instead of .44, and has 1,270 tokens instead of 900.

The weights are rounded from a logistic regression on LoCoMo, REALTALK, BEAM, QMSum, MADial and
chunking-eval. If a set is left out of the fit, the area under its ROC falls by .005 (chats) or .02
(meetings). Three changes did not print less for the same evidence: a probe for lines that state
something, a lower chance behind a sure first passage, and other weights for rank and cosine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import exp, log

from memcli.checking import TYPE_CHECKING
from memcli.language.tokens import price
from memcli.record import Record
from memcli.search.claims import blocks_of
from memcli.search.confidence import GOOD, MAY_ANSWER
from memcli.search.lines import by_line, introduces
from memcli.types import Turn

if TYPE_CHECKING:
    from memcli.search.ranked import RankedPassage
    from memcli.types import Candidate

MISS, MISS_OF_QUESTION, MISS_OF_STATEMENT = 1000, 500, 300  # tokens
MISS_IN_CONVERSATIONS = 1500
MISS_OF_WORDING = 400  # of a statement after a question for several things
SEVERAL = 1.4  # times as much if the question asks for several things
HEADING_TOKENS = 15  # of the line above a passage
SHORT_ANSWER = 20  # tokens; a shorter turn needs the question before it
MOST_WITHOUT_MATCH = 3  # passages of an answer without a match
ALSO_ANSWERS = 0.3  # minimum confidence of a passage without the identifier of the question
# Beyond the first lines of a list, this share of the question must be in a line of a conversation.
# In chats it halves the lists and costs a twelfth of their evidence, none in the first 800 tokens.
FIRST_LINES, MIN_SHARE = 5, 0.1
FITS = 0.05  # minimum share of a question whose reply is not small talk
ALL = 0.99  # the share of a line with all words of the question
UNKNOWN = 0.3  # confidence of a passage if the model is not calibrated
# What a lower rank takes from the chance. Of questions for several things, .5 prints all evidence
# of .32 in REALTALK (1.1: .12) and .43 in LoCoMo, for 350 and 190 tokens more.
RANK, RANK_OF_SEVERAL = 1.1, 0.5
# The loss of a unit that is not the best one of a later passage. In a memory of nine chats, such
# units are evidence a quarter as often as the other weights say.
BESIDE = 0.8
# The loss of a block of a later note without all words of the question. On the engineer notes, the
# vault, the documentation and chunking-eval, answers have 4 to 8 % fewer tokens than with whole
# passages, and 0 to .022 more of the evidence.
IN_NOTES = 1.2
_SEVERAL = (
    "activities", "hobbies", "events", "items", "places", "countries", "cities", "books", "things",
    "ways", "types", "kinds", "names", "all", "both", "every", "list", "summary", "welche", "alle",
    "nenne", "cuáles", "cuántos", "cuántas", "quels", "quelles", "combien",
)  # fmt: skip
PassageGains = tuple["RankedPassage", Sequence["ReadingUnit"], list[float]]  # with those of units
_QUESTION_END = re.compile(r"[?？](?:\s*\[[^\]\n]*\])?\s*$")  # a note on a picture may follow
_COUNTS = (
    "how many", "how often", "wie viele", "wie oft", "多少", "几次", "幾次", "いくつ", "哪些",
    "どれら",
)  # fmt: skip
_AMOUNT = r"多少[天年钱錢元岁歲]"  # one value: `how many days`, `how much money`
_LISTS = ("list ", "name all ", "nenne ")
_ASKS = ("what", "which", "whose")
_VERBS = ("did", "do", "does", "is", "was", "can", "could", "would", "will", "should", "had")
_NO_PLURAL = ("ss", "us", "is", "'s", "’s")


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
    of_writer: bool,
    of_several: bool = False,
    miss: int | None = None,
    apart: bool = False,
) -> tuple[Sequence[RankedPassage], int]:
    """Leave out what is not worth reading, and count the passages that are left out.

    Without a match (`matches`) three passages remain. With `is_exact`, a passage without the
    identifier is left out if another contains it. Passages are narrowed only if their scores are
    measured. With `apart`, each turn becomes a passage, and outside conversations none is left out,
    because only its best line is printed.
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
    most = len(passages)
    if any((each.confidence or 0.0) >= GOOD for each in passages):
        passages = [
            each for each in passages if each.turns or each.corrected_by or _may_answer(each)
        ]
    usual = MISS_IN_CONVERSATIONS if any(each.turns for each in passages) else MISS
    per_token = 1 / ((miss or usual) * (SEVERAL if of_several else 1.0))
    per_other_token = per_token if miss else per_token * usual / MISS
    gained = _with_gains(
        passages,
        per_token,
        per_other_token,
        apart=apart,
        of_writer=of_writer,
        of_several=of_several,
    )
    worth = list(_worth(gained, per_token * HEADING_TOKENS, apart=apart))
    result: list[RankedPassage] = []
    read = 0  # passages of which something is printed
    for place, (passage, units, gains) in enumerate(worth, start=1):
        runs = _runs(units, gains, apart=apart)
        if passage.corrected_by and not apart:
            runs = [_corrected(passage, units)]
        # A note is cut into no more runs than leave a place for each later passage.
        room = most - len(result) - (0 if passage.turns else len(worth) - place)
        if not passage.turns and len(runs) > room:
            runs = [range(runs[0].start, runs[-1].stop)]
        runs = sorted(runs, key=lambda run: -max(gains[at] for at in run))[: max(room, 0)]
        if not apart:  # lines of their own stay in the order of their value
            runs.sort(key=lambda run: run.start)
        result += [_part_of(passage, units, run) for run in runs]
        read += bool(runs)
    return result if apart else _with_replies(result), every - read


def _with_gains(
    passages: Sequence[RankedPassage],
    per_token: float,
    per_other_token: float,
    *,
    apart: bool,
    of_writer: bool,
    of_several: bool,
) -> Iterator[PassageGains]:
    """Cut passages into units, and estimate what each gains.

    A token costs `per_token` in the likeliest unit of a passage, and `per_other_token` elsewhere.
    """
    best = max((passage.score for passage in passages), default=0.0)
    for rank, passage in enumerate(passages, start=1):
        units = _whole(passage) if apart and not passage.turns else _units(passage)
        chances = _chances(passage, units, rank, best, of_writer=of_writer, of_several=of_several)
        most = max(chances)
        yield (
            passage,
            units,
            [
                chance - price(unit.text) * (per_other_token if chance < most else per_token)
                for chance, unit in zip(chances, units, strict=True)
            ],
        )


def _worth(
    passages: Iterable[PassageGains], heading: float, *, apart: bool
) -> Iterator[PassageGains]:
    """Leave out passages that gain no more than the line above them costs, except the first one."""
    before = None
    for passage, units, gains in passages:
        cost = 0.0 if passage.about.document == before else heading
        is_worth = sum(gain for gain in gains if gain > 0.0) > cost
        if before and not is_worth and (passage.turns or not apart):
            continue
        before = passage.about.document
        yield passage, units, gains


def _corrected(passage: RankedPassage, units: Sequence[ReadingUnit]) -> range:
    """Return the units of a corrected passage that are printed: all, as any may be corrected.

    If all of a note is corrected, it is the first unit with the most of the question.
    """
    if passage.turns or any(each.line for each in passage.corrected_by):
        return range(len(units))
    shares = [unit.share for unit in units]
    at = shares.index(max(shares))
    return range(at, at + 1)


def _only_greets(passage: RankedPassage) -> bool:
    return bool(passage.greetings) and all(
        number in passage.greetings or not line.strip()
        for number, line in enumerate(passage.text.split("\n"), start=passage.start_line)
    )


def _with_replies(passages: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Add to a passage that ends with a question the first line of the reply.

    A named speaker must reply, or ask in the first passage: then the reply tells who really did
    what the query says of them.
    """
    shown = {(each.about.chunk_id, line) for each in passages for line in each.lines}
    return [
        _until(passage, line)
        if (line := _reply(passage, to_named=not at))
        and (passage.about.chunk_id, line) not in shown
        else passage
        for at, passage in enumerate(passages)
    ]


def _reply(passage: RankedPassage, *, to_named: bool) -> int:
    """Return the line of a reply by a named speaker, or with `to_named` to one; 0 without one."""
    named, end = passage.named_speakers, passage.end_line
    if not named or passage.is_cut or not _QUESTION_END.search(passage.text):
        return 0
    asks = next((turn for turn in passage.turns if turn.start_line <= end <= turn.end_line), None)
    reply = next((turn for turn in passage.turns if turn.start_line > end), None)
    if asks is None or reply is None or reply.speaker == asks.speaker:
        return 0
    is_wanted = to_named if asks.speaker in named else reply.speaker in named
    return reply.start_line if is_wanted else 0


def _until(passage: RankedPassage, line: int) -> RankedPassage:
    """Extend a passage to a later line of its chunk."""
    candidate = by_line(passage.candidate)
    lines = [part.start_line for part in candidate.segments]
    if passage.start_line not in lines or line not in lines:
        return passage
    first, last = lines.index(passage.start_line), len(lines) - 1 - lines[::-1].index(line)
    return _within(passage, candidate, first, last)


def _within(passage: RankedPassage, candidate: Candidate, first: int, last: int) -> RankedPassage:
    """Return a passage of some segments of a candidate."""
    best = max(range(first, last + 1), key=lambda at: candidate.segments[at].cosine or 0.0)
    return passage._replace(candidate=candidate, first=first, last=last, best=best)


def asks_for_several(question: str) -> bool:
    """Return whether the answer to a question is probably in several places, by its words.

    Example: "Which cities has Kate visited?"
    """
    low = question.casefold()
    words = [word.strip(",.?!") for word in low.split()]
    counted = re.sub(_AMOUNT, "", low) if "多少" in low else low
    is_count = low.startswith(_LISTS) or any(map(counted.__contains__, _COUNTS))
    if is_count or any(word in _SEVERAL for word in words):
        return True
    for at, word in enumerate(words[:4]):
        if word in _ASKS:
            return _is_of_several(words[at + 1 : at + 5])
    return words[:2] in (["where", "has"], ["where", "have"])


def _is_of_several(words: Sequence[str]) -> bool:
    """Return whether the words after `what` or `which` begin with a plural: the books that Kate."""
    for at, word in enumerate(words):
        if word in _VERBS:
            return False
        if at == 0 and word in ("are", "were", "has", "have"):
            return True
        if word.endswith("s") and len(word) > 3 and not word.endswith(_NO_PLURAL):
            return True
    return False


def best_lines(
    passages: Sequence[RankedPassage],
    words: Sequence[str],
    *,
    is_measured: bool = False,
    by_keyword: bool = False,
    of_writer: bool = False,
    of_several: bool = False,
) -> tuple[RankedPassage, ...]:
    """Return the lines of a list: the best one of each passage that matches, and others worth it.

    If no passage matches, the first three count as matches. Lines with all words of the question
    are kept too. If scores are measured, so are lines with a gain: those of conversations and, if
    the question asks for several things, those of passages that match. The best lines keep the
    order of their passages; the other lines are sorted in by their gain. After the first lines, or
    in a search `by_keyword`, one of a conversation needs a gain or a word of the question.
    """
    is_near = any(map(_may_answer, passages))
    passages = passages if is_near else passages[:MOST_WITHOUT_MATCH]
    best, most = max((passage.score for passage in passages), default=0.0), 1.0
    first = 0 if by_keyword else FIRST_LINES
    result: list[tuple[float, RankedPassage]] = []
    for rank, passage in enumerate(passages, start=1):
        own = _lines(passage, words) if _may_answer(passage) or not is_near else []
        own = [line for line in own if line.start_line not in passage.greetings]
        lines = {line.start_line: line for line in own}
        gains = dict.fromkeys(lines, 0.0)
        units = _units_of_list(passage, words, rank, best, of_writer) if is_measured else ()
        for line, gain in units:
            gains[line.start_line] = gain
            if gain > 0.0 and (passage.turns or (own and of_several)):
                lines.setdefault(line.start_line, line)
        for at in sorted(lines, key=lambda at: -gains[at]):
            if len(result) < first or gains[at] > 0.0 or _has_word(lines[at]):
                result.append((min(most, gains[at]), lines[at]))
        most = min(most, max(map(gains.__getitem__, lines), default=most))
    by_place: dict[tuple[tuple[str, str], int], RankedPassage] = {}
    for _, line in sorted(result, key=lambda each: -each[0]):  # a long one may be in several chunks
        by_place.setdefault((line.about.document, line.start_line), line)
    return tuple(by_place.values())


def _units_of_list(
    passage: RankedPassage, words: Sequence[str], rank: int, best: float, of_writer: bool
) -> Iterator[tuple[RankedPassage, float]]:
    """Yield the best line of each unit of a passage, if it states something, and its gain."""
    from memcli.search.cursor import says

    units = _units(passage, of_list=True)
    chances = _chances(passage, units, rank, best, of_writer=of_writer, of_several=True)
    for at, chance in enumerate(chances):
        for line in _lines(_part_of(passage, units, range(at, at + 1)), words):
            if says(line.text, 0) > 1:
                yield line, chance - price(line.text) / (MISS * SEVERAL)


def _has_word(line: RankedPassage) -> bool:
    """Return whether a line of a conversation has a word of the question; True for any other."""
    shares = [share for at, share in line.shares if at in line.lines]
    return not (line.turns and shares) or max(shares) >= MIN_SHARE


def _may_answer(passage: RankedPassage) -> bool:
    return passage.confidence is None or passage.confidence >= MAY_ANSWER or passage.is_literal


def _lines(passage: RankedPassage, words: Sequence[str]) -> list[RankedPassage]:
    from memcli.search.cursor import corrections_at, cursor_of

    whole = {at for at, share in passage.shares if share > ALL and at in passage.lines}
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
        newer = corrections_at(passage, line)
        result.append(
            passage._replace(
                candidate=narrow, first=at[0], last=at[-1], best=at[0], corrected_by=newer
            )
        )
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


def _whole(passage: RankedPassage) -> list[ReadingUnit]:
    return [ReadingUnit(passage.text, passage.first, passage.last, None, 0.0, 0.0)]


def _units(passage: RankedPassage, *, of_list: bool = False) -> list[ReadingUnit]:
    """Cut a passage of a conversation into paragraphs of turns, and any other into blocks.

    For a list, the units of any other passage are its lines. A note with an identifier of the
    question is one unit.
    """
    is_note = not (passage.turns or of_list)
    if passage.is_cut or (is_note and passage.is_literal):
        return _whole(passage)
    candidate, shares = by_line(passage.candidate), dict(passage.shares)
    starts = blocks_of(candidate.text) if is_note else []
    segments, top = passage.candidate.segments, passage.about.start_line
    begin, end, line = segments[passage.first].start, segments[passage.last].end, 0
    units: list[ReadingUnit] = []
    for at, segment in enumerate(candidate.segments):
        if not begin <= segment.start < end:
            continue
        first = segment.start_line
        turn = next((t for t in passage.turns if t.start_line <= first <= t.end_line), None)
        share = shares.get(first, 0.0)
        text, cosine = passage.between(segment.start, segment.end), segment.cosine or 0.0
        greets = first in passage.greetings
        unit = ReadingUnit(text, at, at, turn, cosine, share, greets)
        before = units[-1] if units else None
        if starts:
            is_next = before is not None and starts[first - top] == starts[line - top]
        else:
            is_next = bool(passage.turns) and first <= line + 1
        if before is not None and before.turn == turn and is_next:
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
    return units if not is_note or len(units) > 1 else _whole(passage)


def _chances(
    passage: RankedPassage,
    units: Sequence[ReadingUnit],
    rank: int,
    best: float,
    *,
    of_writer: bool,
    of_several: bool,
) -> list[float]:
    """Estimate how likely each unit contains an answer that is not printed yet."""
    after = (RANK_OF_SEVERAL if of_several else RANK) * log(rank)
    beside = 0.0 if rank == 1 else BESIDE
    ratio = passage.score / best if best > 0.0 else 1.0
    confidence = UNKNOWN if passage.confidence is None else passage.confidence
    base = -3.2 + 2.8 * ratio + 0.65 * confidence - after
    if len(units) > 1:
        base -= 2.0 * max(each.cosine for each in units) + 2.5 * max(each.share for each in units)
    logits, talk = list[float](), _small_talk(passage, units)
    for at, unit in enumerate(units):
        z = base - 1.5 * (at in talk)
        if len(units) > 1:
            z += 2.0 * unit.cosine + 2.5 * unit.share
            z -= IN_NOTES * (rank > 1 and unit.turn is None and unit.share < ALL)
        if unit.turn is not None:
            z -= 2.2 * (
                bool(passage.named_speakers) and unit.turn.speaker not in passage.named_speakers
            )
            from memcli.markdown.turns import is_machine

            by_machine = is_machine(unit.turn.speaker)
            z -= 1.4 * (of_writer and by_machine)
            z -= 0.7 * (len(units) > 1 and unit.is_question and not unit.share)
            z -= 3.0 * (by_machine and introduces(unit.text))
            z -= 6.0 * unit.is_greeting
        logits.append(z)
    most = max(logits)
    return [1.0 / (1.0 + exp(beside * (z < most) - z)) for z in logits]


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


def _part_of(passage: RankedPassage, units: Sequence[ReadingUnit], run: range) -> RankedPassage:
    if len(run) == len(units):
        return passage
    last = units[run.stop - 1].last
    return _within(passage, by_line(passage.candidate), units[run.start].first, last)
