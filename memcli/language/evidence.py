"""Weigh whether a line with a word of change corrects an older line; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from memcli.language.change import AMOUNT, GONE, NOT, NOW, chinese_cues
from memcli.language.compared_line import (
    DAYS,
    MOVES,
    OWN,
    STATES,
    ComparedLine,
    has_time,
    is_among,
    is_name,
    is_number,
    is_thing,
    phrases,
    table,
)
from memcli.language.terms import has_han
from memcli.record import Record

SHORT = 3  # words of content
NEAR = 3  # words behind a word of change that may name what is gone
NEAR_SIGNS = 8
LONG = 10  # words of content of a line that is about much
LONG_HAN = 22  # signs
# How much each kind of evidence counts for a correction: a logistic regression on 1,100 pairs of
# lines of `fixtures/eval/corrections` (all but `unseen`), and on 39,000 of nine chats, of which
# hardly any is a correction. A sum above 0 is one.
BIAS = -5.70
WEIGHTS = {
    "held": 2.65,  # share of the older line's content that the newer one has
    "held squared": 1.77,
    "shared": 1.16,  # words of content in both, of three
    "object": 1.39,  # something of the older line is next to a word that says it is gone
    "object of a short line": 0.73,  # of at most three words of content
    "object of one's own": 2.01,  # both lines begin with `I` or `we`
    "gone": 0.55,  # such a word, in any place
    "discarded": 1.35,  # things of the older line in a clause with such a word, of two
    "denied": 1.02,  # words of the older line behind `not`, of two
    "now": 1.61,
    "amount of it": 0.84,  # and the share of the older line's name that the newer one has
    "other amount": 1.06,  # and another number of the same unit
    "same verb": 0.62,  # both say by the same verb what is so
    "other verb": -0.38,  # each says it by a verb of its own
    "time": 1.24,  # both have a time
    "subject": 0.55,  # the newer line has the first thing of the older one
    "own subject": 1.48,  # the older line has the first thing of the newer one
    "foreign": -1.60,  # neither is so
    "foreign and gone": -1.07,
    "event": -1.70,  # the older line says what happened, which is seldom undone
    "novelty": -1.35,  # share of the newer line's content that the older one lacks
    "long": -1.71,  # the newer line is about much
    "exclaims": -1.48,  # the older line ends with `!`
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
    """How far two lines are about the same."""

    held: float  # share of the older line's content that the newer one has
    shared: float  # words of content in both
    novelty: float  # share of the newer line's content that the older one lacks
    named: float  # share of the older line's name that the newer one has
    has_subject: bool  # the newer line has the first thing of the older one
    has_own_subject: bool  # the older line has the first thing of the newer one
    is_foreign: bool  # both have a first thing, and neither is so
    discarded: int  # things of the older line in a clause that says something is gone
    denied: int  # words of the older line behind `not`
    is_object: float  # one of them is next to a word that says it is gone; .5: of its name
    is_of_one: bool  # both begin with `I` or `we`
    is_long: bool


def evidence(new: ComparedLine, old: ComparedLine) -> dict[str, float]:
    """Measure what speaks for and against a correction, by the names of WEIGHTS."""
    both_han = has_han(new.text) and has_han(old.text)
    overlap = _overlap_of_signs(new, old) if both_han else _overlap_of_words(new, old)
    numbers, others = dict(_amounts(new)), dict(_amounts(old))
    is_other_amount = any(numbers[unit] != others[unit] for unit in numbers.keys() & others)
    mine, theirs = new.terms & STATES, old.terms & STATES
    has_amount = float(AMOUNT in new.kinds)
    is_event = old.is_event and NOW not in old.kinds
    is_gone = max(overlap.is_object, min(overlap.denied, 1))
    return {
        "held": overlap.held,
        "held squared": overlap.held**2,
        "shared": min(overlap.shared, 3) / 3,
        "object": overlap.is_object,
        "object of a short line": overlap.is_object * (len(old.content) <= SHORT),
        "object of one's own": overlap.is_object * overlap.is_of_one,
        "gone": float(GONE in new.kinds),
        "discarded": min(overlap.discarded, 2) / 2,
        "denied": min(overlap.denied, 2) / 2,
        "now": float(NOW in new.kinds),
        "amount of it": has_amount * overlap.named,
        "other amount": has_amount * is_other_amount,
        "same verb": float(bool(mine & theirs)),
        "other verb": float(bool(mine and theirs) and not mine & theirs),
        "time": float(has_time(new) and has_time(old)),
        "subject": float(overlap.has_subject),
        "own subject": float(overlap.has_own_subject),
        "foreign": float(overlap.is_foreign),
        "foreign and gone": overlap.is_foreign * is_gone,
        "event": float(is_event),
        "novelty": overlap.novelty,
        "long": float(overlap.is_long),
        "exclaims": float(old.text.endswith("!")),
    }


def weight(new: ComparedLine, old: ComparedLine) -> float:
    """Add up the evidence that a line corrects an older one; above 0 it does."""
    return BIAS + sum(WEIGHTS[name] * value for name, value in evidence(new, old).items())


def _overlap_of_words(new: ComparedLine, old: ComparedLine) -> _Overlap:
    things, own = old.things, new.things
    both = [term for term in things if new.has(term)]
    come = [term for term in own if not old.has(term)]
    names = [term for term in old.name if term in things]
    named = names or things[:1]
    values = [term for term in old.content if is_thing(term) or not is_name(term)]
    gone = _gone_objects(new)
    gone_terms = [term for term in values if is_among(term, gone)]
    has_subject = bool(things) and new.has(things[0])
    has_own_subject = bool(own) and old.has(own[0])
    is_own = new.sequence[0] == old.sequence[0] and old.sequence[0] in OWN
    denied = [term for words, found in new.cues for cue in found if cue.kind == NOT
              for term in words[cue.end : cue.end + NEAR]]  # fmt: skip
    return _Overlap(
        held=len(both) / (len(things) + 0.5),
        shared=len(both),
        novelty=len(come) / max(1, len(own)),
        named=sum(new.has(term) for term in named) / max(1, len(named)),
        has_subject=has_subject,
        has_own_subject=has_own_subject,
        is_foreign=bool(things and own) and not (has_subject or has_own_subject or is_own),
        discarded=max((sum(is_among(term, words) for term in values) for words in _gone(new)),
                      default=0),
        denied=sum(is_among(term, denied) for term in old.content),
        is_object=(0.5 if all(term in names for term in gone_terms) else 1.0) * bool(gone_terms),
        is_of_one=is_own,
        is_long=len(new.content) > LONG,
    )  # fmt: skip


def _overlap_of_signs(new: ComparedLine, old: ComparedLine) -> _Overlap:
    """Compare two Chinese lines by the pairs of signs that they share."""
    mine = _covered(new.signs, old.signs)
    theirs = _covered(old.signs, new.signs)
    all_of_old = sum(sign not in _HAN_GRAMMAR and sign != " " for sign in old.signs)
    pairs = [a + b for a, b in pairwise(old.signs) if _HAN_GRAMMAR.isdisjoint((a, b, " "))
             and " " not in (a, b)]  # fmt: skip
    one, other = _han_subject(old.text), _han_subject(new.text)
    has_subject, has_own_subject = bool(one) and one in new.text, bool(other) and other in old.text
    changes = [(words[0], cue) for words, found in new.cues for cue in found]
    gone = [(text, cue) for text, cue in changes if cue.kind == GONE]
    denied = [text[cue.end : cue.end + NEAR_SIGNS] for text, cue in changes if cue.kind == NOT]
    near = [
        f"{text[max(0, cue.first - 4) : cue.first]} {text[cue.end : cue.end + 6]}"
        for text, cue in gone
    ]

    def most(texts: Sequence[str]) -> int:
        return max((sum(pair in text for pair in pairs) for text in texts), default=0)

    held = theirs / (all_of_old + 1)
    return _Overlap(
        held=held,
        shared=theirs / 2,
        novelty=1 - mine / max(1, sum(s not in _HAN_GRAMMAR and s != " " for s in new.signs)),
        named=held,
        has_subject=has_subject,
        has_own_subject=has_own_subject,
        is_foreign=bool(one and other) and not has_subject and not has_own_subject,
        discarded=most([text for text, _ in gone]),
        denied=most(denied),
        is_object=1.0 if most(near) else 0.0,
        is_of_one=new.text[:1] == old.text[:1] == "我",
        is_long=len(new.signs) > LONG_HAN,
    )


def _covered(signs: str, others: str) -> int:
    """Count the signs that are part of a pair which the others have."""
    covered: set[int] = set()
    for at, pair in enumerate(map("".join, pairwise(signs))):
        if pair in others and " " not in pair and not _HAN_GRAMMAR.issuperset(pair):
            covered |= {at, at + 1}
    return sum(signs[at] not in _HAN_GRAMMAR for at in covered)


def _gone(line: ComparedLine) -> Iterator[tuple[str, ...]]:
    """Give the words of each clause that says something is gone."""
    return (words for words, found in line.cues if any(cue.kind == GONE for cue in found))


def _gone_objects(line: ComparedLine) -> tuple[str, ...]:
    """Give the words next to those that say something is gone, which name it.

    Behind a preposition a word names something else: `the floor in the hall was replaced`.
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


def is_of_other_thing(new: ComparedLine, old: ComparedLine) -> bool:
    """Tell that a word that both have follows two different words, or is part of another name.

    Example: the `web team` is not the `mobile team`
    """
    if has_han(new.text):
        return False
    if instead := _instead(new):
        return not any(old.has(term) for term in instead)
    mine, theirs = (
        [b for a, b in pairwise(line.name) if b in DAYS or is_number(b)] for line in (new, old)
    )
    if mine and theirs and not old.has(mine[0]) and not new.has(theirs[0]):
        return True  # soup on Mondays and pizza on Fridays, release 4.1 and release 4.2
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
    """List the things, or the action, in whose place something comes: `instead of MySQL`."""
    for phrase in _INSTEAD:
        behind = line.spaced.partition(phrase)[2].split()[:NEAR]
        if found := [term for term in behind if is_thing(term) or term.endswith("ing")]:
            return found
    return []


def _attributes(line: ComparedLine) -> Iterator[tuple[str, str]]:
    """Give things and what tells them from others: `mobile team`, `timeout of the client`."""
    words, things = line.sequence, frozenset(line.things)
    for at, (one, other) in enumerate(pairwise(words)):
        if one in things and other in things:
            yield other, one
        elif one in things and other in OF:
            yield from ((one, term) for term in words[at + 2 : at + 4] if term in things)


def _amounts(line: ComparedLine) -> Iterator[tuple[str, str]]:
    return ((unit, number) for number, unit in pairwise(line.sequence) if is_number(number))


def _han_subject(text: str) -> str:
    """Give the first two signs; "" if the line begins with a change."""
    start = text.removeprefix("我们").removeprefix("我")[:2]
    return "" if any(cue.first == 0 for cue in chinese_cues(start)) else start
