"""Leave sentences out of the lines of a conversation that say nothing for a question; pure.

A message is often a greeting, a fact and a compliment. Of a message on one line remain its first
LEAD characters, the sentences with a word of the question, what these refer to, what follows the
best of them, and what has a number, a name or a time, tells a deed, shows something, or says
something of the speaker or of other people. An ellipsis stands for the rest, but a line with a
numbered list stays whole. `get` prints whole lines.

On LoCoMo and REALTALK an answer has 10 % fewer tokens by it; of 100 lines with words of the answer
1 loses them all and 3 lose some.

A line without number, name (except those of the speakers), time and deed is small talk. A line
of courtesies is a greeting.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import cache

from memcli.checking import TYPE_CHECKING
from memcli.language.stopwords import is_foreign
from memcli.markdown.turns import spoken
from memcli.search.snippet import pattern_of

if TYPE_CHECKING:
    from memcli.search.ranked import RankedPassage

LEAD = 80  # characters of a line that stay, with the name of the speaker
LEAST_GAP = 15  # characters
# Also before and after a remark in brackets, as on a picture.
_SENTENCE_END = r"(?<=[.!?…])[ \t]+(?=\S)|[ \t]+(?=\[)|(?<=\])[ \t]+(?=\S)"
_TELLS = (
    r"\d|(?<=[\w,;] )(?!I\b)[A-Z]\w|[\u0370-\u1fff\u2c00-\ud7ff]|\b(?i:yesterday|today|tonight"
    r"|tomorrow|ago|recently|weekend|week|month|year|last|next|summer|spring|fall|winter|morning"
    r"|night|one|two|three|four|five|six|once|twice|named|called)\b|day\b"
    r"|(?<=[.!?] )(?:Look at|Check out|Here['’]s) \w+ \w"
    r"|(?<=[.!?] )(?:(?:I|We) (?:just |finally )?|(?:Just|Finally) (?!wanted))"
    r"(?:[a-z]{3,}ed|won|went|got|made|met|found|bought|lost|took) "
)
_ADVERBS = (
    r"(?:(?:also|just|even|really|always|never|usually|still|finally|actually|definitely|totally"
    r"|absolutely|truly|highly|so|too|all|both|often|sometimes|been|very|super) )*"
)
# What follows `I` or `we` in a wish, a compliment or an opinion.
_OPINES = (
    r"(?:glad|happy|proud|excited|thrilled|grateful|thank\w*|sure|sorry|stoked|pumped|honou?red"
    r"|blessed|lucky|impressed|determined|rooting|here|there|hop(?:e|ing)|agree|appreciate"
    r"|recommend|think|guess|bet|know|believe|can\w*|could\w*|feel|understand|wish|let|see|mean"
    r"|imagine|must|should|would|will|won|might|may|do|don|did|didn|hear|looking forward|need"
    r"|got? this|gotta|gonna|seem\w*|sounds?|looks?|staying|trying|forget|bring"
    r"|love (?:how|that|your|it|this|the))\b"
)
# `Well, I'm off to the gym`, `They're tough kids`; not `We can do it`.
_STATES = (
    r"(?:[\w'’]+[,:;]? (?:- )?){0,2}?(?:I|(?:[Ww]e|[Hh]e|[Ss]he|[Tt]hey)(?=['’ ]))"
    rf"(?:['’](?:m|ve|re|s|d|ll))? (?!{_ADVERBS}{_OPINES}){_ADVERBS}[a-z]+"
)
_YOU = r"(?:['’](?:ve|s|re)| are| have| is)"
_GREETS = (
    r"(?i:(?:(?:and|well|oh|ok|okay|aw+|anyway|hey)[,! ]+)*(?:(?:hey|hi|hello|(?:good)?bye|cheers"
    r"|congrat\w*|thanks?|thank you|wow|yay|haha+|lol|agreed|cool|awesome|great|nice|exactly|sure"
    r"|likewise|same here|you too|of course|for sure|no (?:problem|worries)|take care"
    r"|good (?:morning|afternoon|evening|night|luck|job)|(?:i['’]ll )?(?:see|talk to|catch) you"
    r"|talk soon|keep|have (?:a|fun)|let me know|enjoy|long time|sounds|you(?:['’]re| are) welcome"
    rf"|how{_YOU} (?:you|it|things|everything)|what['’]?s (?:up|new)|that['’]s (?:so |really )?"
    r"(?:great|awesome|cool|amazing|nice|good)|i['’]m (?:so |really )?(?:glad|here|good|fine|great"
    r"|doing)|(?:it['’]s )?(?:good|nice|great) to (?:hear|see|meet|talk))\b))"
)
COURTESY = 9  # most words of a sentence that greets
_REFERS = r"(?:It|That|This|They|These|Those)\b"  # to the sentence before
_NUMBERED = r"(?<!\S)1[.)] .*(?<!\S)2[.)] "
_WORD = r"[^\W_]{2,}"


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


def without_filler(
    passages: Sequence[RankedPassage], words: Sequence[str]
) -> tuple[RankedPassage, ...]:
    """Mark gaps, small talk and greetings in passages of conversations.

    `words` are those of the question.
    """
    if not words or is_foreign(words):
        return tuple(passages)
    return tuple(
        passage
        if passage.is_cut or not passage.turns
        else passage._replace(
            gaps=_gaps(passage, words),
            small_talk=_lines(passage, _is_small_talk),
            greetings=_lines(passage, _is_greeting),
        )
        for passage in passages
    )


def _lines(
    passage: RankedPassage, is_one: Callable[[str, Collection[str]], bool]
) -> frozenset[int]:
    """Return the lines of turns for which `is_one` is true of the line and folded speakers."""
    names = {turn.speaker.casefold() for turn in passage.turns}
    return frozenset(
        number
        for number, line in enumerate(passage.text.split("\n"), start=passage.start_line)
        if any(turn.start_line <= number <= turn.end_line for turn in passage.turns)
        and is_one(line, names)
    )


def _is_greeting(text: str, names: Collection[str]) -> bool:
    """Return whether a turn has only short courtesies: `Hey Ann! How are you? Talk soon!`."""
    body = spoken(text).strip()
    if _pattern(r"\d|\[").search(body):
        return False
    greets = False
    for sentence in _pattern(_SENTENCE_END).split(body):
        words = [word for word in _pattern(_WORD).findall(sentence) if word.casefold() not in names]
        if words and (len(words) > COURTESY or not _pattern(_GREETS).match(sentence)):
            return False
        greets = greets or bool(words)
    return greets


def _is_small_talk(text: str, names: Collection[str]) -> bool:
    """Return whether a line of a turn tells nothing; the `names` of speakers are folded.

    A short form is a name too: Mel for Melanie.
    """

    def without_name(word: re.Match[str]) -> str:
        short = word[0].casefold()
        return "you" if any(name.startswith(short) for name in names) else word[0]

    return not _pattern(_TELLS).search(_pattern(_WORD).sub(without_name, spoken(text)))


def _gaps(passage: RankedPassage, words: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Find the spans to leave out, as characters of the chunk."""
    names = {name.casefold() for name in passage.named_speakers}
    pattern = pattern_of(tuple(word for word in words if word.casefold() not in names))
    alone = {turn.start_line for turn in passage.turns if turn.start_line == turn.end_line}
    lines, at = passage.text.split("\n"), passage.starts_at
    gaps: list[tuple[int, int]] = []
    for number, line in enumerate(lines, start=passage.start_line):
        if number in alone:
            is_last = number == passage.end_line
            gaps += ((at + a, at + b) for a, b in _idle(line, pattern, is_last=is_last))
        at += len(line) + 1
    return tuple(gaps)


def _idle(line: str, pattern: re.Pattern[str] | None, *, is_last: bool) -> list[tuple[int, int]]:
    """Return the spans of the sentences of a line that say nothing; a reply needs its question."""
    if _pattern(_NUMBERED).search(line):
        return []
    ends = [(match.start(), match.end()) for match in _pattern(_SENTENCE_END).finditer(line)]
    spans = list(zip([0, *(b for _, b in ends)], [*(a for a, _ in ends), len(line)], strict=True))
    counts = [
        len({match[0].casefold() for match in pattern.finditer(line, *span)}) if pattern else 0
        for span in spans
    ]
    most = max(counts) or 1
    refers = [
        n and _pattern(_REFERS).match(line, *span) for n, span in zip(counts, spans, strict=True)
    ]
    is_referred = [*map(bool, refers[1:]), False]
    idle = [
        span
        for at, span in enumerate(spans)
        if span[0] >= LEAD
        and at
        and not counts[at]
        and counts[at - 1] < most
        and not is_referred[at]
        and not _pattern(_TELLS).search(line, *span)
        and not _pattern(_STATES).match(line, *span)
        and (is_last or span[1] < len(line) or line[-1] not in "?？")
    ]
    joined: list[tuple[int, int]] = []
    for begin, end in idle:
        if joined and begin - joined[-1][1] <= 2:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((begin, end))
    return [(begin, end) for begin, end in joined if end - begin >= LEAST_GAP]
