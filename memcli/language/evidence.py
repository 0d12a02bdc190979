"""Weigh whether a line with a word of change corrects an older line; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from memcli.language.another_value import (
    OF,
    PLACES,
    is_another_value,
    is_home,
    is_new_of,
    is_turned,
)
from memcli.language.change import AMOUNT, GONE, NOT, NOW, Cue, chinese_cues
from memcli.language.compared_line import (
    DAYS,
    MOVES,
    OWN,
    STATES,
    TIME,
    ComparedLine,
    adds,
    clauses_of,
    is_among,
    is_content,
    is_name,
    is_number,
    is_thing,
    label_of,
    phrases,
)
from memcli.language.stopwords import table
from memcli.language.terms import has_han, terms
from memcli.record import Record

NEAR = 3  # after a word of change; they may name what has ended
LONG = 10  # content words in a line about many things
LONG_HAN = 22  # characters
LONGEST = 12  # content words that count for the length of a line
# The weight of each kind of evidence for a correction: a logistic regression on 640 pairs of lines
# from `fixtures/eval/corrections` (all but the held-out ones), and on 14,000 other pairs of lines
# from there, from chats and from notes. Few of the other pairs are corrections.
# A sum above 0 means a correction. "new value", "moved" and "other type" are set by hand: the first
# is rare there, and the others came later.
BIAS = -4.95
WEIGHTS = {
    "value": 4.20,  # the lines are the same except for a value or a negation
    "new value": 4.00,  # the newer line gives a new value to a name, or somebody a new home
    "coverage": 2.17,  # share of the things of the older line that the newer one contains
    "same words": 1.90,  # the same of all its content, with numbers
    "shared": 1.37,  # things in both lines, of three
    "object": 0.62,  # a word of the older line is next to a word that says it has ended
    "object of one's own": 1.36,  # both lines begin with `I` or `we`
    "change": 1.27,  # the newer line contains a word of change
    "gone": 0.67,  # it says that something has ended
    "now": 0.47,  # it says that something begins
    "changed": 0.94,  # the older line contains what the newer one names before its word of change
    "moved": 1.20,  # and a value that it changes to: `The launch is postponed to 5 May`
    "other amount": 1.14,  # an amount changes to another number of the same unit
    "split": 0.64,  # clauses of the newer line share the content: `Mora closed. Lunch is at Luigi.`
    "same type": 0.79,  # both contain a day, a time of day, a duration or a price
    "other type": -1.0,  # both contain values, of different types
    "same verb": 0.48,  # both lines state something with the same verb
    "has last": 0.53,  # the newer line contains the last word of the older one
    "own last": -0.52,  # the older line contains the last word of the newer one
    "long": -1.34,  # the newer line is about many things
    "length": -1.28,
    "other thing": -1.79,  # see `is_of_other_thing`
    "foreign": -2.41,  # neither line contains the first thing of the other
    "event": -1.97,  # the older line reports an event, which is rarely undone
}
MOST_OF_EVENT = -0.5  # of a line without a word of change
# More evidence that the newer of two lines that answer a question comes first: a logistic
# regression on 1,340 pairs of a statement and a newer one, and on 2,300 of an answer and a newer
# line that memcli printed too, from chats and notes. Without it, 1 to 14 % fewer of the pairs come
# first if a hundredth of the others do.
CHANGES, LABEL, SPEAKER = 1.75, 2.1, 2.0
# A line that begins with one of these names a reason or a time first.
_LEADS = table("since after because due given following wegen laut nach seit aufgrund weil")
_TO = table("to auf nach zu zum zur an")
_TO_BEFORE = table("auf nach")  # `auf Donnerstag verlegt`
_HAN_OBJECT = "把将"  # before what is replaced
_HAN_ATTRIBUTES = ("时间", "日期", "地点", "价格", "频率", "人选")
_HAN_TO = frozenset("到至为成由")
_INSTEAD = phrases(
    "instead of, rather than, in place of, replaces, replaced the, used to, statt, anstelle von"
)
_PRONOUNS = table("him her it them")
_BEFORE_AN_OBJECT = table("the his her its my our their der die das den seinen ihren")
_AUXILIARIES = table(
    """is are was were has have had been be will ist sind war waren wird wurde wurden hat haben the
    no also"""
)
HAN_GRAMMAR = frozenset("我们的了是在用每和也都有不就这那一个由到从去吧要给把被让")


class _Overlap(Record):
    """How far two lines are about the same thing."""

    coverage: float  # share of the older line's content that the newer one contains
    shared: float  # content words in both lines
    is_foreign: bool  # both lines have a first thing, and neither contains that of the other
    is_changed: bool  # the older line contains all that the newer one names before a word of change
    is_object: float  # 1: a word of the older line is next to a word of its end; .5: of its name
    is_of_one: bool  # both lines begin with `I` or `we`


def evidence(new: ComparedLine, old: ComparedLine) -> dict[str, float]:
    """Measure the evidence for and against a correction, by the keys of WEIGHTS."""
    both_han = new.is_han and old.is_han
    overlap = _overlap_of_signs(new, old) if both_han else _overlap_of_words(new, old)
    numbers, others = dict(_amounts(new)), dict(_amounts(old))
    is_other_amount = any(numbers[unit] != others[unit] for unit in numbers.keys() & others)
    same_types = not new.value_types.isdisjoint(old.value_types)
    is_new = is_new_of(new, old) or is_home(new, old)
    is_known = overlap.is_changed or overlap.is_of_one or is_new
    return {
        "value": float(
            not (adds(new) or old.is_event or new.is_event)
            and (is_another_value(new, old) or is_turned(new, old))
        ),
        "new value": float(is_new),
        "coverage": overlap.coverage,
        "shared": min(overlap.shared, 3) / 3,
        "object": overlap.is_object,
        "object of one's own": overlap.is_object * overlap.is_of_one,
        "change": float(bool(new.kinds)),
        "gone": float(GONE in new.kinds),
        "now": float(NOW in new.kinds),
        "changed": float(overlap.is_changed),
        "other amount": float(
            AMOUNT in new.kinds and (is_other_amount or (both_han and same_types))
        ),
        "same verb": float(not STATES.isdisjoint(new.terms & old.terms)),
        "same type": float(same_types),
        "other type": float(bool(new.value_types and old.value_types) and not same_types),
        "moved": float(_has_new_value(new, old, is_changed=overlap.is_changed)),
        "foreign": float(overlap.is_foreign and not is_known),
        "event": float(old.is_event and NOW not in old.kinds),
        "long": float(len(new.signs) > LONG_HAN if both_han else len(new.content) > LONG),
        "other thing": float(is_of_other_thing(new, old)),
        **_of_content(new, old),
    }


def _of_content(new: ComparedLine, old: ComparedLine) -> dict[str, float]:
    """Measure where the newer line contains the content of the older one."""
    theirs = [term for clause in _contents(old.text) for term in clause]
    mine = _contents(new.text)
    if not (theirs and mine):
        return {}
    shared = {term for term in theirs if new.has(term)}
    together = max(sum(is_among(term, clause) for term in shared) for clause in mine)
    return {
        "has last": float(theirs[-1] in shared),
        "own last": float(old.has(mine[-1][-1])),
        "split": float(len(shared) > 1 and together < len(shared)),
        "same words": len(shared) / (len(theirs) + 0.5),
        "length": min(sum(map(len, mine)), LONGEST) / LONGEST,
    }


@lru_cache(maxsize=1024)
def _contents(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the content words of each clause, or pairs of Chinese characters."""
    is_han = has_han(text)
    return tuple(filter(None, (
        tuple(
            term for term in terms(clause)
            if (len(term) > 1 or term.isdigit())
            and (HAN_GRAMMAR.isdisjoint(term) if is_han else is_content(term))
        )
        for clause in clauses_of(text)
    )))  # fmt: skip


def weight(new: ComparedLine, old: ComparedLine) -> float:
    """Add up the evidence for a correction; a sum above 0 means that it is one.

    It is none without a word of change or a new value, or if it rests on two weekdays: many lines
    have some. Such evidence may only change an order.
    """
    pieces = evidence(new, old)
    total = _sum(pieces)
    is_change = pieces["change"] or pieces["value"] or pieces["new value"]
    by_days = WEIGHTS["same type"] * (new.value_types & old.value_types == {"day"})
    most = MOST_OF_EVENT if new.is_event and not is_change else 0.0
    return total if is_change and total > by_days else min(total, most)


def weight_of_order(new: ComparedLine, old: ComparedLine) -> float:
    """Add up the evidence for putting the newer of two answers first."""
    is_change = not new.kinds <= {NOT}
    has_label = bool(label_of(new.text) or label_of(old.text))
    is_same = bool(new.speaker) and new.speaker == old.speaker
    return _sum(evidence(new, old)) + CHANGES * is_change + LABEL * has_label + SPEAKER * is_same


def _sum(pieces: Mapping[str, float]) -> float:
    return BIAS + sum(WEIGHTS[name] * value for name, value in pieces.items())


def _overlap_of_words(new: ComparedLine, old: ComparedLine) -> _Overlap:
    things, own = old.things, new.things[new.sequence[0] in _LEADS :]
    both = [term for term in things if new.has(term)]
    names = [term for term in old.name if term in things]
    values = [term for term in old.content if is_thing(term) or not is_name(term)]
    gone = gone_objects(new)
    gone_terms = [term for term in values if is_among(term, gone)]
    is_subject = all(term in names for term in gone_terms)
    is_other = any(
        is_thing(term) and not old.has(term)
        for words, cue in _changes(new)
        for term in words[cue.end : cue.end + 1]
        if cue.kind == GONE
    )
    has_subject = bool(things) and new.has(things[0])
    has_own_subject = bool(own) and old.has(own[0])
    is_own = new.sequence[0] == old.sequence[0] and old.sequence[0] in OWN
    return _Overlap(
        coverage=len(both) / (len(things) + 0.5),
        shared=len(both),
        is_foreign=bool(things and own) and not (has_subject or has_own_subject or is_own),
        is_changed=any(
            _is_known(words[: cue.first], old) and not _has_other_object(words, cue.end, old)
            for words, cue in _changes(new)
        ),
        is_object=bool(gone_terms) * (0.5 * (not is_other) if is_subject else 1.0),
        is_of_one=is_own,
    )  # fmt: skip


def _overlap_of_signs(new: ComparedLine, old: ComparedLine) -> _Overlap:
    """Compare two Chinese lines by the pairs of characters that they share."""
    theirs = _covered(old.signs, new.signs)
    all_of_old = sum(sign not in HAN_GRAMMAR and sign != " " for sign in old.signs)
    pairs = [a + b for a, b in pairwise(old.signs) if HAN_GRAMMAR.isdisjoint((a, b, " "))
             and " " not in (a, b)]  # fmt: skip
    one, other = _han_subject(old.text), _han_subject(new.text)
    has_subject, has_own_subject = bool(one) and one in new.text, bool(other) and other in old.text
    changes = [(words[0], cue) for words, cues in new.cues for cue in cues]
    before = [
        _without_attribute("".join(filter(_is_content_sign, text[: cue.first])))
        for text, cue in changes
        if cue.kind != NOT
    ]
    near = [
        f"{text[max(0, cue.first - 4) : cue.first]} {text[cue.end : cue.end + 6]}"
        for text, cue in changes
        if cue.kind == GONE
    ]
    near += [text[: cue.first].partition(sign)[2] for text, cue in changes for sign in _HAN_OBJECT]

    def most(texts: Sequence[str]) -> int:
        return max((sum(pair in text for pair in pairs) for text in texts), default=0)

    return _Overlap(
        coverage=theirs / (all_of_old + 1),
        shared=theirs / 2,
        is_foreign=bool(one and other) and not has_subject and not has_own_subject,
        is_changed=any(len(b) > 1 and _covered(b, old.text) == len(b) for b in before),
        is_object=1.0 if most(near) else 0.0,
        is_of_one=new.text[:1] == old.text[:1] == "我",
    )


def _covered(signs: str, others: str) -> int:
    """Count the characters that are part of a pair which the others contain."""
    covered: set[int] = set()
    for at, pair in enumerate(map("".join, pairwise(signs))):
        if pair in others and " " not in pair and not HAN_GRAMMAR.issuperset(pair):
            covered |= {at, at + 1}
    return sum(signs[at] not in HAN_GRAMMAR for at in covered)


def _without_attribute(subject: str) -> str:
    """Remove a word for what changes: `例会` of `例会时间`."""
    return next((subject.removesuffix(a) for a in _HAN_ATTRIBUTES if subject.endswith(a)), subject)


def _is_content_sign(sign: str) -> bool:
    return sign.isalnum() and sign not in HAN_GRAMMAR


def _changes(line: ComparedLine) -> Iterator[tuple[tuple[str, ...], Cue]]:
    """Yield the words of each clause with a change, and its word of change."""
    return ((words, cue) for words, cues in line.cues for cue in cues if cue.kind != NOT)


def _is_known(words: Sequence[str], old: ComparedLine) -> bool:
    """Return whether an older line contains all of some words, one of them a main thing."""
    things = [term for term in words if is_thing(term) and is_content(term)]
    return all(map(old.has, things)) and any(is_among(term, things) for term in old.things[:2])


def _has_other_object(words: Sequence[str], at: int, old: ComparedLine) -> bool:
    """Return whether an object follows that an older line lacks: `Tom moved his desk`."""
    is_object = words[at : at + 1] and words[at] in _BEFORE_AN_OBJECT and words[at - 1] not in _TO
    return bool(is_object) and not any(map(old.has, words[at + 1 : at + 1 + 2 * NEAR]))


def gone_objects(line: ComparedLine) -> tuple[str, ...]:
    """Return the words next to words such as `cancelled`; they name what has ended."""
    objects: list[str] = []
    for words, there in line.cues:
        is_moved = not MOVES.isdisjoint(words) or "umgestiegen" in words
        for cue in there:
            behind = words[cue.end : cue.end + NEAR]
            if cue.kind == NOT:
                is_from = words[cue.first] in ("from", "von", "vom")
                objects += behind if is_moved or not is_from else ()
            elif cue.kind == GONE:
                objects += behind
                by = next(
                    (at for at, term in enumerate(words) if term in ("by", "durch")), cue.first
                )
                before = [t for t in words[: min(by, cue.first)] if t not in _AUXILIARIES]
                objects += before[-1:]
    return tuple(objects)


def is_instead_of_another(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether a line replaces or ends something, and the older line does not contain it.

    `We no longer pin pandas` does not end `We pin numpy`, and `He used to be a cook` no other job.
    """
    if new.is_han:
        return False
    ended = list[str]()
    for phrase in (" no longer ", " don t ", " doesn t "):
        verb, *objects = new.spaced.partition(phrase)[2].split()[:2] or [""]
        if phrase != " no longer " or old.has(verb):
            ended += [term for term in objects if is_thing(term) and not term.endswith("ly")]
    return any(things and not any(map(old.has, things)) for things in (_instead(new), ended))


def is_of_other_thing(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether a shared word belongs to two different names.

    Example: `web team` and `mobile team`
    """
    if new.is_han:
        return False
    mine, theirs = (
        [b for a, b in pairwise(line.name) if b in DAYS or is_number(b)] for line in (new, old)
    )
    if mine and theirs and not old.has(mine[0]) and not new.has(theirs[0]):
        return True  # soup on Mondays and pizza on Fridays; release 4.1 and release 4.2
    things = new.things
    is_all = all(new.has(term) for term in old.name if term in old.things)
    for name in () if is_all else new.names:
        is_in = [old.has(term) for term in name if term in things]
        if any(is_in) and not all(is_in):
            return True
    one, other = dict(_attributes(new)), dict(_attributes(old))
    return any(not new.has(other[term]) and not old.has(one[term]) for term in one.keys() & other)


def _instead(line: ComparedLine) -> list[str]:
    """List the things or the action that a line replaces: `instead of MySQL`."""
    for phrase in _INSTEAD:
        behind = line.spaced.partition(phrase)[2].replace("/", " ").split()[:NEAR]
        if any(is_number(term) or term in _PRONOUNS for term in behind[:1]):
            return []  # a value or somebody; what follows is another clause
        if things := [term for term in behind if is_thing(term) or term.endswith("ing")]:
            return things
    return []


def _attributes(line: ComparedLine) -> Iterator[tuple[str, str]]:
    """Yield things with their attributes: `mobile team`, `timeout of the client`."""
    words, things = line.sequence, frozenset(line.things)
    for at, (one, other) in enumerate(pairwise(words)):
        if one in things and other in things:
            yield other, one
        elif one in things and other in OF:
            yield from ((one, term) for term in words[at + 2 : at + 4] if term in things)


def _has_new_value(new: ComparedLine, old: ComparedLine, *, is_changed: bool) -> bool:
    """Return whether a thing of the older line changes to a value that this line lacks."""
    if new.is_han:
        return any(
            not _HAN_TO.isdisjoint(text[cue.end - 1 : cue.end + 1])
            and (is_changed or text[: cue.first][-2:] in old.text)
            and not _covered(text[cue.end : cue.end + 3], old.text) > 2
            for (text,), cues in new.cues
            for cue in cues
        )
    for words, cue in _changes(new):
        for at in range(max(0, cue.first - NEAR - 1), min(cue.end + NEAR, len(words))):
            if words[at] not in _TO or (at < cue.first and words[at] not in _TO_BEFORE):
                continue
            near = words[cue.end : at] if at > cue.first else words[max(0, at - NEAR) : at]
            is_known = is_changed or _is_known(near, old)
            value = [term for term in words[at + 1 : at + 1 + NEAR] if is_content(term)]
            if is_known and _may_become(value, new, old):
                return True
    return False


def _may_become(value: Sequence[str], new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether an older line has another value of the same kind."""
    first = next((at for at, term in enumerate(value) if not old.has(term)), None)
    if first is None:
        return False
    if is_number(value[first]) or value[first] in TIME:
        if new.value_types and old.value_types and new.value_types.isdisjoint(old.value_types):
            return False
        return any(is_number(term) or term in TIME for term in old.sequence)
    is_numbered = any(map(is_number, value[first + 1 : first + 2]))  # `version 3`
    return first > 0 or not (is_numbered or PLACES.isdisjoint(old.sequence))


def _amounts(line: ComparedLine) -> Iterator[tuple[str, str]]:
    return ((unit, number) for number, unit in pairwise(line.sequence) if is_number(number))


def _han_subject(text: str) -> str:
    """Return the first two characters, or "" if the line begins with a change."""
    start = text.removeprefix("我们").removeprefix("我")[:2]
    return "" if any(cue.first == 0 for cue in chinese_cues(start)) else start
