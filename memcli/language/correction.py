"""Decide whether a newer line corrects an older one; pure. The only definition in memcli.

A line corrects an older one in four ways:

change   It contains a word of change (`language.change`) and is about the same thing. A weighted
         sum of the evidence decides (`language.evidence`).
value    The lines are the same except for a value (`language.another_value`): `Rent is 980` and
         `Rent is 1,045`.
turn     They are the same except for a negation or for one of two opposites.
new      It gives a new value to a name: `My manager is Colin` and `New manager: Priya`; or a new
         home: `Tom lives in Bristol` and `Tom moved to York`.

Two events, two tickets, two speakers, a question, an addition, a greeting or an exception for a day
or a week are never corrections. The caller decides which of two lines is newer.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from math import exp

from memcli.language.another_value import is_another_value, is_turned
from memcli.language.compared_line import (
    DIGITS,
    EVERY,
    MOVES,
    OWN,
    WEEKDAYS,
    ComparedLine,
    adds,
    asks,
    is_thing,
    label_of,
    phrases,
    read_line,
    table,
)
from memcli.language.evidence import OF, is_instead_of_another, weight
from memcli.language.terms import has_han

SURE = 0.9  # confidence of a correction without a word of change
MOST_CHARACTERS = 600  # of a line that is compared
LEAST_IN_TALK = 1.2  # evidence in a conversation: it marks four of 6,417 lines in nine chats
LONGEST_CHANGE = 300  # characters of a line that one word of change may be about
_NEW = ("new ", "neue", "新")
_HOMES = table("live lives living wohne wohnt wohnen lebe lebt leben")
_HAN_MOVES = ("搬到", "搬家", "搬去", "搬回", "搬走")
_FAR = 6  # words
_ASSISTANTS = table("assistant ai chatgpt claude")
_CODE = ("{", "\\", "==", "):", "('", '("', "`")
_COURTESIES = table(
    "hey hi hello hope thanks thank congrats congratulations wow yeah yup yep bye hallo danke"
)
# A line with one of the first and none of the others is an exception. It changes no rule.
_ONCE = phrases(
    "this week, this time, tomorrow, tonight, for once, just today, only today, diese woche,"
    " diesmal, ausnahmsweise, nur heute, nur morgen, heute"
)
_HAN_ONCE = ("这周", "本周", "明天", "这次", "本次")
_LASTING = phrases(
    "from, as of, since, starting, no longer, any more, anymore, ab, seit, nicht mehr"
)
_HAN_LASTING = ("从", "起", "不再", "以后")
_PULLS = ("pull", "pulls", "merge_requests", "commit")


@lru_cache(
    maxsize=4096
)  # a search compares the same lines when it ranks and when it marks corrections
def corrects(newer: str, older: str) -> float:
    """Return the confidence that a newer line corrects an older one, from 0 (it does not) to 1."""
    if max(len(newer), len(older)) > MOST_CHARACTERS:
        return 0.0
    new, old = read_line(newer), read_line(older)
    if _is_of_other_kind(new, old):
        return 0.0
    if _is_new_of(new, old) or _is_home(new, old):
        return SURE
    is_change = bool(new.kinds) and len(new.text) <= LONGEST_CHANGE and not asks(new)
    if is_change and not is_instead_of_another(new, old):
        evidence = weight(new, old)
        if evidence > (LEAST_IN_TALK if new.speaker else 0.0):
            return 1.0 / (1.0 + exp(-evidence))
    if adds(new) or old.is_event or new.is_event:
        return 0.0
    return SURE if is_another_value(new, old) or is_turned(new, old) else 0.0


def _is_home(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether a person moves: `Tom lives in Bristol` and `Tom moved to York`."""
    if has_han(new.text):
        is_home = "住在" in old.text and any(each in new.text for each in _HAN_MOVES)
        return is_home and old.text[:1] == new.text[:1]
    at = next((at for at, term in enumerate(old.sequence[:_FAR]) if term in _HOMES), 0)
    behind = new.text.partition(" moved to ")[2] or new.text.partition(" nach ")[2]
    is_move = behind[:1].isupper() and not MOVES.isdisjoint(new.sequence[at : at + 2])
    return at > 0 and is_move and new.sequence[:at] == old.sequence[:at]


def begins_with_new(text: str) -> bool:
    """Return whether a line may begin with a new value: `New manager: Priya`."""
    start = text.lstrip("-*+> ")[:4].casefold()
    return start.startswith(_NEW)


def _is_new_of(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether the newer line gives a new value to a name in the older line."""
    if not begins_with_new(new.text):
        return False
    if has_han(new.text):
        name = min((old.text.partition(sign)[0] for sign in "是在：:"), key=len)
        name = name.removeprefix("我们").removeprefix("我").removeprefix("的")
        label = new.text.removeprefix("新").removeprefix("的")
        return len(name) > 1 and name != old.text and label.startswith(name)
    words = list(old.name)
    own = list(new.sequence[1 : 2 + len(words)])
    is_value = "is" in new.sequence or "ist" in new.sequence or label_of(new.text)
    return bool(words and is_value) and own[:-1] == words and own[-1] not in OF


def _is_of_other_kind(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether a line cannot correct any line, or not this one.

    This excludes tasks, questions, greetings, exceptions, and lines of different speakers, tickets
    or letters. A change to code that both lines name is one event, reported twice.
    """
    if new.sequence == old.sequence or not (new.sequence and old.sequence):
        return True
    if bool(new.signs) != bool(old.signs):
        return True  # two languages
    if new.speaker and old.speaker and new.speaker != old.speaker:
        return True
    if new.sequence[0] in _ASSISTANTS or old.sequence[0] in _ASSISTANTS:
        return True  # the answer of a program is not a statement of a person
    if any(line.text.endswith((":", "：")) or _is_code(line.text) for line in (new, old)):
        return True  # it only introduces what follows
    if _is_task(new.text) or _is_task(old.text) or asks(old) or _is_courtesy(old):
        return True
    mine, theirs = _tickets(new.text), _tickets(old.text)
    if theirs - mine or any("/" in each for each in mine):
        return True
    return _is_of_other_letter(new, old) or _is_of_somebody_else(new, old) or _is_once(new, old)


def _is_of_somebody_else(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether the newer line is about another person, such as `Kim's sister`."""
    first = new.sequence[0]
    if old.sequence[0] in ("i", "ich") and OWN.isdisjoint(new.sequence):
        return is_thing(first) and not old.has(first) and first in new.content
    whose = (other for one, s, other in zip(new.sequence, new.sequence[1:], new.sequence[2:],
             strict=False) if s == "s" and one == old.subject)  # fmt: skip
    return not all(old.has(term) for term in whose)


def _is_of_other_letter(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether two lines name different letters of one kind: `team A` and `team B`."""
    mine = dict(_letters(new))
    theirs = dict(_letters(old)) if mine else {}
    return any(mine[word] != theirs[word] for word in mine.keys() & theirs)


def _letters(line: ComparedLine) -> Iterator[tuple[str, str]]:
    if any(len(term) == 1 and term.isalpha() for term in line.sequence):
        for one, other in pairwise(line.text.split()):
            if len(letter := other.strip(".,;:()")) == 1 and letter.isupper() and letter.isascii():
                yield one.casefold(), letter


def _is_once(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether the newer line is an exception for a day or a week."""
    if any(each in new.spaced for each in _LASTING):
        return False
    if any(each in new.spaced for each in _ONCE):
        return not any(each in old.spaced for each in _ONCE)
    if has_han(new.text) and any(each in new.text for each in _HAN_ONCE):
        is_lasting = any(each in new.text for each in _HAN_LASTING)
        return not is_lasting and not any(each in old.text for each in _HAN_ONCE)
    return not EVERY.isdisjoint(old.sequence) and any(
        one in WEEKDAYS and other.isdigit() for one, other in pairwise(new.sequence)
    )


def _is_courtesy(line: ComparedLine) -> bool:
    """Return whether a line greets or thanks, and states nothing about its author."""
    is_own = not OWN.isdisjoint(line.sequence) or not DIGITS.isdisjoint(line.text)
    return line.sequence[0] in _COURTESIES and not is_own


def _is_code(text: str) -> bool:
    return any(map(text.__contains__, _CODE))


def _is_task(text: str) -> bool:
    return text.startswith("[") and text[1:3] in (" ]", "x]", "X]")


@lru_cache(maxsize=1024)
def _tickets(text: str) -> frozenset[str]:
    """Return the ticket numbers in a line. They name things and are not values."""
    words = text.split() if "-" in text or "/" in text else ()
    return frozenset(word for each in words if _is_ticket(word := each.strip(".,;:()[]")))


def _is_ticket(word: str) -> bool:
    key, _, number = word.rpartition("-")
    is_number = key[:1].isupper() and key[1:].isalpha() and number.isdigit()
    return is_number or any(f"/{kind}/" in word for kind in _PULLS)
