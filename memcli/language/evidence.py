"""Weigh whether a line with a word of change corrects an older line; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from memcli.language.change import AMOUNT, GONE, NOT, NOW, Cue, chinese_cues
from memcli.language.compared_line import (
    DAYS,
    MOVES,
    OWN,
    STATES,
    ComparedLine,
    has_time,
    is_among,
    is_content,
    is_name,
    is_number,
    is_thing,
    phrases,
    table,
)
from memcli.language.terms import has_han
from memcli.record import Record

NEAR = 3  # after a word of change; they may name what has ended
NEAR_SIGNS = 8
LONG = 10  # content words in a line about many things
LONG_HAN = 22  # characters
# The weight of each kind of evidence for a correction: a logistic regression on 400 pairs of lines
# from `fixtures/eval/corrections` (all but `unseen` and `blind`), and on 4,400 other pairs of lines
# from there, from four chats and from three sets of notes. Few of the other pairs are corrections.
# A sum above 0 means a correction.
BIAS = -6.85
WEIGHTS = {
    "coverage": 3.92,  # share of the older line's content that the newer one contains
    "shared": 3.16,  # content words in both lines, of three
    "object": 2.01,  # a word of the older line is next to a word that says it has ended
    "object of one's own": 2.43,  # both lines begin with `I` or `we`
    "gone": 0.51,  # such a word anywhere
    "denied": 2.41,  # words of the older line after `not`, of two
    "now": 1.33,
    "changed": 1.39,  # the older line contains what the newer one names before its word of change
    "other amount": 2.00,  # an amount changes to another number of the same unit
    "same verb": 1.18,  # both lines state something with the same verb
    "other verb": -0.42,  # each line has a verb of its own
    "time": 0.42,  # both lines contain a time
    "same type": 1.27,  # both contain a day, a time of day, a duration or a price
    "other type": -1.91,  # each line has its own type of value
    "own subject": 1.22,  # the older line contains the first thing of the newer one
    "foreign": -1.89,  # neither line contains the first thing of the other
    "foreign and gone": -1.09,
    "event": -1.57,  # the older line reports an event, which is rarely undone
    "novelty": -0.76,  # share of the newer line's content that the older one lacks
    "long": -1.65,  # the newer line is about many things
    "other thing": -3.59,  # see `is_of_other_thing`
}
OF = table("of for für des der vom von zum zur")
_BEFORE_A_PLACE = table("in im at of to zu zum zur am for für mit with by on auf")
_INSTEAD = phrases("instead of, rather than, in place of, statt, anstelle von")
_AUXILIARIES = table(
    """is are was were has have had been be will ist sind war waren wird wurde wurden hat haben the
    no also"""
)
_HAN_GRAMMAR = frozenset("我们的了是在用每和也都有不就这那一个")


class _Overlap(Record):
    """How far two lines are about the same thing."""

    coverage: float  # share of the older line's content that the newer one contains
    shared: float  # content words in both lines
    novelty: float  # share of the newer line's content that the older one lacks
    has_own_subject: bool  # the older line contains the first thing of the newer one
    is_foreign: bool  # both lines have a first thing, and neither contains that of the other
    is_changed: bool  # the older line contains all that the newer one names before a word of change
    denied: int  # words of the older line after `not`
    is_object: float  # 1: a word of the older line is next to a word of its end; .5: of its name
    is_of_one: bool  # both lines begin with `I` or `we`


def evidence(new: ComparedLine, old: ComparedLine) -> dict[str, float]:
    """Measure the evidence for and against a correction, by the keys of WEIGHTS."""
    both_han = has_han(new.text) and has_han(old.text)
    overlap = _overlap_of_signs(new, old) if both_han else _overlap_of_words(new, old)
    numbers, others = dict(_amounts(new)), dict(_amounts(old))
    is_other_amount = any(numbers[unit] != others[unit] for unit in numbers.keys() & others)
    mine, theirs = new.terms & STATES, old.terms & STATES
    types, others_types = new.value_types, old.value_types
    is_event = old.is_event and NOW not in old.kinds
    is_gone = max(overlap.is_object, min(overlap.denied, 1))
    return {
        "coverage": overlap.coverage,
        "shared": min(overlap.shared, 3) / 3,
        "object": overlap.is_object,
        "object of one's own": overlap.is_object * overlap.is_of_one,
        "gone": float(GONE in new.kinds),
        "denied": min(overlap.denied, 2) / 2,
        "now": float(NOW in new.kinds),
        "changed": float(overlap.is_changed),
        "other amount": float(AMOUNT in new.kinds and is_other_amount),
        "same verb": float(bool(mine & theirs)),
        "other verb": float(bool(mine and theirs) and not mine & theirs),
        "time": float(has_time(new) and has_time(old)),
        "same type": float(bool(types & others_types)),
        "other type": float(bool(types and others_types) and not types & others_types),
        "own subject": float(overlap.has_own_subject),
        "foreign": float(overlap.is_foreign),
        "foreign and gone": overlap.is_foreign * is_gone,
        "event": float(is_event),
        "long": float(len(new.signs) > LONG_HAN if both_han else len(new.content) > LONG),
        "novelty": overlap.novelty,
        "other thing": float(is_of_other_thing(new, old)),
    }


def weight(new: ComparedLine, old: ComparedLine) -> float:
    """Add up the evidence for a correction; a sum above 0 means that it is one."""
    return BIAS + sum(WEIGHTS[name] * value for name, value in evidence(new, old).items())


def _overlap_of_words(new: ComparedLine, old: ComparedLine) -> _Overlap:
    things, own = old.things, new.things
    both = [term for term in things if new.has(term)]
    come = [term for term in own if not old.has(term)]
    names = [term for term in old.name if term in things]
    values = [term for term in old.content if is_thing(term) or not is_name(term)]
    gone = _gone_objects(new)
    gone_terms = [term for term in values if is_among(term, gone)]
    has_subject = bool(things) and new.has(things[0])
    has_own_subject = bool(own) and old.has(own[0])
    is_own = new.sequence[0] == old.sequence[0] and old.sequence[0] in OWN
    denied = [term for words, found in new.cues for cue in found if cue.kind == NOT
              for term in words[cue.end : cue.end + NEAR]]  # fmt: skip
    return _Overlap(
        coverage=len(both) / (len(things) + 0.5),
        shared=len(both),
        novelty=len(come) / max(1, len(own)),
        has_own_subject=has_own_subject,
        is_foreign=bool(things and own) and not (has_subject or has_own_subject or is_own),
        is_changed=any(_is_known(words[: cue.first], old) for words, cue in _changes(new)),
        denied=sum(is_among(term, denied) for term in old.content),
        is_object=(0.5 if all(term in names for term in gone_terms) else 1.0) * bool(gone_terms),
        is_of_one=is_own,
    )  # fmt: skip


def _overlap_of_signs(new: ComparedLine, old: ComparedLine) -> _Overlap:
    """Compare two Chinese lines by the pairs of characters that they share."""
    mine = _covered(new.signs, old.signs)
    theirs = _covered(old.signs, new.signs)
    all_of_old = sum(sign not in _HAN_GRAMMAR and sign != " " for sign in old.signs)
    pairs = [a + b for a, b in pairwise(old.signs) if _HAN_GRAMMAR.isdisjoint((a, b, " "))
             and " " not in (a, b)]  # fmt: skip
    one, other = _han_subject(old.text), _han_subject(new.text)
    has_subject, has_own_subject = bool(one) and one in new.text, bool(other) and other in old.text
    changes = [(words[0], cue) for words, found in new.cues for cue in found]
    before = [
        "".join(filter(_is_content_sign, text[: cue.first]))
        for text, cue in changes
        if cue.kind != NOT
    ]
    gone = [(text, cue) for text, cue in changes if cue.kind == GONE]
    denied = [text[cue.end : cue.end + NEAR_SIGNS] for text, cue in changes if cue.kind == NOT]
    near = [
        f"{text[max(0, cue.first - 4) : cue.first]} {text[cue.end : cue.end + 6]}"
        for text, cue in gone
    ]

    def most(texts: Sequence[str]) -> int:
        return max((sum(pair in text for pair in pairs) for text in texts), default=0)

    coverage = theirs / (all_of_old + 1)
    return _Overlap(
        coverage=coverage,
        shared=theirs / 2,
        novelty=1 - mine / max(1, sum(s not in _HAN_GRAMMAR and s != " " for s in new.signs)),
        has_own_subject=has_own_subject,
        is_foreign=bool(one and other) and not has_subject and not has_own_subject,
        is_changed=any(len(b) > 1 and _covered(b, old.text) == len(b) for b in before),
        denied=most(denied),
        is_object=1.0 if most(near) else 0.0,
        is_of_one=new.text[:1] == old.text[:1] == "我",
    )


def _covered(signs: str, others: str) -> int:
    """Count the characters that are part of a pair which the others contain."""
    covered: set[int] = set()
    for at, pair in enumerate(map("".join, pairwise(signs))):
        if pair in others and " " not in pair and not _HAN_GRAMMAR.issuperset(pair):
            covered |= {at, at + 1}
    return sum(signs[at] not in _HAN_GRAMMAR for at in covered)


def _is_content_sign(sign: str) -> bool:
    return sign.isalnum() and sign not in _HAN_GRAMMAR


def _changes(line: ComparedLine) -> Iterator[tuple[tuple[str, ...], Cue]]:
    """Yield the words of each clause with a change, and its word of change."""
    return ((words, cue) for words, found in line.cues for cue in found if cue.kind != NOT)


def _is_known(words: Sequence[str], old: ComparedLine) -> bool:
    """Return whether an older line contains all of some words, one of them a main thing."""
    things = [term for term in words if is_thing(term) and is_content(term)]
    return all(map(old.has, things)) and any(is_among(term, things) for term in old.things[:2])


def _gone_objects(line: ComparedLine) -> tuple[str, ...]:
    """Return the words next to words such as `cancelled`; they name what has ended.

    A word after a preposition names something else: `the floor in the hall was replaced`.
    """
    found: list[str] = []
    for words, there in line.cues:
        is_moved = not MOVES.isdisjoint(words) or "umgestiegen" in words
        for cue in there:
            behind = words[cue.end : cue.end + NEAR]
            if cue.kind == NOT:
                is_from = words[cue.first] in ("from", "von", "vom")
                found += behind if is_moved or not is_from else ()
            elif cue.kind == GONE:
                for term in behind:
                    if term in _BEFORE_A_PLACE:
                        break
                    found.append(term)
                by = next(
                    (at for at, term in enumerate(words) if term in ("by", "durch")), cue.first
                )
                before = [t for t in words[: min(by, cue.first)] if t not in _AUXILIARIES]
                if before and not (len(before) > 1 and before[-2] in _BEFORE_A_PLACE):
                    found.append(before[-1])
    return tuple(found)


def is_instead_of_another(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether a line replaces something, and the older line does not contain it."""
    instead = () if has_han(new.text) else _instead(new)
    return bool(instead) and not any(map(old.has, instead))


def is_of_other_thing(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether a shared word belongs to two different names.

    Example: `web team` and `mobile team`
    """
    if has_han(new.text) or _instead(new):
        return False
    mine, theirs = (
        [b for a, b in pairwise(line.name) if b in DAYS or is_number(b)] for line in (new, old)
    )
    if mine and theirs and not old.has(mine[0]) and not new.has(theirs[0]):
        return True  # soup on Mondays and pizza on Fridays; release 4.1 and release 4.2
    before, others = ({b: a for a, b in pairwise(line.name)} for line in (new, old))
    heads = (head for head in before.keys() & others if is_thing(head))
    if any(not new.has(others[head]) and not old.has(before[head]) for head in heads):
        return True  # the big tent is not the small one
    behind = dict(pairwise(new.name)).get(old.subject, "")
    if behind in new.things and not old.has(behind):
        return True  # a school trip is not a school
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
        behind = line.spaced.partition(phrase)[2].split()[:NEAR]
        if found := [term for term in behind if is_thing(term) or term.endswith("ing")]:
            return found
    return []


def _attributes(line: ComparedLine) -> Iterator[tuple[str, str]]:
    """Yield things with their attributes: `mobile team`, `timeout of the client`."""
    words, things = line.sequence, frozenset(line.things)
    for at, (one, other) in enumerate(pairwise(words)):
        if one in things and other in things:
            yield other, one
        elif one in things and other in OF:
            yield from ((one, term) for term in words[at + 2 : at + 4] if term in things)


def _amounts(line: ComparedLine) -> Iterator[tuple[str, str]]:
    return ((unit, number) for number, unit in pairwise(line.sequence) if is_number(number))


def _han_subject(text: str) -> str:
    """Return the first two characters, or "" if the line begins with a change."""
    start = text.removeprefix("我们").removeprefix("我")[:2]
    return "" if any(cue.first == 0 for cue in chinese_cues(start)) else start
