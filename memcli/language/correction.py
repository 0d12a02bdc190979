"""Tell whether a newer line corrects an older one; pure. The only definition in memcli.

A line corrects an older one in three ways:

change   It has a word of change and at least HELD of the content of the older line. Less is enough
         if it names what it replaces (`instead of MySQL`) or what it moves to another day.
value    The two lines are the same except for one value, and what comes before the value names the
         thing: `Rent is 980` and `Rent is 1,045`.
turn     They are the same except for a negation or the other side of two opposites.

Two events, two tickets, two speakers or an addition are no correction. The caller decides which of
two lines is newer. `revokes` is for a link to an older document.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from memcli.language.change import speaks_of_change
from memcli.language.discourse import SPEAKER_MARK, speaker_of
from memcli.language.facts import INFLECTED, Facets, facets_of, has_form, has_han
from memcli.language.stopwords import ENGLISH, GERMAN
from memcli.language.terms import content
from memcli.record import Record

HELD = 0.5  # of the content of the older line
LEAST_SHARED = 2  # words of content
BEFORE_A_NUMBER = 2  # words of content that name what a number is of
SURELY_HELD = 0.75  # of what happened, which is seldom corrected
LONGEST_CHANGE = 300  # characters of a line whose word of change is about all of it
MOST_CHARACTERS = 600  # of a line that is compared
LONGEST_VALUE = 4  # tokens
# The number of a ticket names another thing, it is no value.
_TICKET = re.compile(r"\b[A-Z][A-Za-z]+-\d+\b|/(?:pull|pulls|merge_requests|commit)/\w+")
_ADDITION = (
    r"\b(?:also|too|as well|besides|additionally|auch|ebenfalls|zusätzlich|außerdem)\b|也|还|另外"
)
_TASK = re.compile(r"\[[ xX]\]")
_MARK = re.compile(r"\s*(?:[-+*]\s+)?(?=\*\*)")
# These are compiled when a line needs them first: a search that compares none saves 10 ms.
# What a line says is replaced.
_REPLACED = (
    r"\b(?:instead of|rather than|in place of"
    r"|(?:moved?|switched|changed|migrated)\b[^.;,\n]{0,30}? from|off|replac(?:es|ed|ing)"
    r"|dropp?(?:ed|ing)?|cancell?ed|no longer|not|goes from|statt|anstelle von)"
    r"\s+(\S+(?:\s+\S+)?(?:\s+\S+)?)"
    r"|\b(\w+)\s+(?:is|was|are|wurde|wird|ist)\s+(?:no longer|nicht mehr|replaced|deprecated"
    r"|obsolete|gekündigt|durch)"
)
_HAN_REPLACED = r"(?:不再(?:使用|用)?|取消|取代|代替|从)(\w{1,8})"
_MOVED = (
    r"\b(?:postponed|rescheduled|brought forward|verschoben|vorverlegt|moved to (?:\w+ )?"
    r"(?:\d|mon|tue|wed|thu|fri|sat|sun)\w*)\b|推迟|改期|提前"
)
# Words of time alone do not make two lines be about the same thing.
_TIME = frozenset(
    """monday mondays tuesday tuesdays wednesday wednesdays thursday thursdays friday fridays
    saturday saturdays sunday sundays day days week weeks month months year years time today now
    montag montags dienstag dienstags mittwoch mittwochs donnerstag donnerstags freitag freitags
    samstag samstags sonntag sonntags tag tage woche wochen monat jahr uhr heute
    周一 周二 周三 周四 周五 周六 周日 上午 下午 今天""".split()  # noqa: SIM905 (a table to be read)
)
# A question and a request change nothing.
_ASKS = r"[?？]|\b(?:can you|could you|help me|trying to|kannst du|hilf mir)\b"
# What happened, which another event does not correct.
_EVENT = (
    r"\b(?:was|were|had|went|ran|took|saw|did|came|ate|flew|drove|wrote|gave|slept|felt"
    r"|today|yesterday|tonight|war|waren|wurde|wurden"
    r"|gestern|heute|habe|haben wir|ge\w{3,}(?:t|en))\b|了|过|今天|昨天"
)
_WORD = re.compile(r"[^\W\d_]+")
_PAST = frozenset(
    ["got", "met", "paid", "made", "bought", "lost", "won", "sent", "told", "said", "kept"]
)
_NO_PAST = frozenset(["need", "feed", "speed", "embed", "seed", "breed", "shed", "bed", "red"])
# Behind one of these it is a participle, of what is so.
_COPULAS = frozenset(["is", "are", "be", "been", "am", "get", "gets", "not"])
# Verbs of what is so until it changes, and has one value at a time.
_STATES = frozenset(
    """is are am be works work lives live runs run listens opens closes costs cost takes take needs
    need wears wear uses use starts ends expires expire belongs leads owns handles hosts comes goes
    drives prefers stands sits release meets meet sleeps allows has have
    ist sind bin beträgt kostet läuft laufen wohnt wohne arbeitet kommt steht liegt heißt beginnt
    endet öffnet schließt leitet nutzt nutzen verwenden verwendet braucht dauert trägt hat haben
    gilt""".split()  # noqa: SIM905 (a table to be read)
)
_HAN_STATES = (
    "是",
    "在",
    "为",
    "由",
    "住",
    "有",
    "每",
    "使用",
    "监听",
    "需要",
    "负责",
    "采用",
    ":",
    "：",
)
# A thing may have several of what follows these, except when it is a number.
_SEVERAL = frozenset(
    [
        "has",
        "have",
        "hat",
        "haben",
        "use",
        "uses",
        "nutzt",
        "nutzen",
        "takes",
        "take",
        "needs",
        "need",
    ]
)
_LABEL = re.compile(r"[^\W\d][^:：.!?\n]{0,40}(?::\s|：)")
_DIGITS = frozenset("0123456789一二两三四五六七八九十百千万")


class _ComparedLine(Record):
    """A line as it is compared."""

    text: str  # without the mark of a list and the speaker
    speaker: str
    facets: Facets
    content: tuple[str, ...]  # in its order
    tokens: tuple[str, ...]
    by_beginning: dict[str, list[str]]  # its terms by the letters that two forms share


@lru_cache(maxsize=4096)  # a search compares the same lines when it ranks and when it marks
def corrects(newer: str, older: str) -> float:
    """Give how much of an older line a newer one corrects, 0 to 1; 0 if it does not."""
    if max(len(newer), len(older)) > MOST_CHARACTERS:
        return 0.0
    new, old = _read(newer), _read(older)
    if new.facets.sequence == old.facets.sequence or not (new.content and old.content):
        return 0.0
    if new.speaker and old.speaker and new.speaker != old.speaker:
        return 0.0
    if _TASK.match(new.text) or _TASK.match(old.text):
        return 0.0
    if re.search(_ADDITION, new.text, re.I) or _tickets(old) - _tickets(new):
        return 0.0
    gone, come = _left(old, new), _left(new, old)
    shared = len(old.content) - len(gone)
    if not shared:
        return 0.0
    held = shared / len(old.content)
    if not any(term not in gone and _names(term) for term in old.content):
        return 0.0
    if (
        speaks_of_change(newer)
        and len(new.text) <= LONGEST_CHANGE
        and not re.search(_ASKS, new.text, re.I)
    ):
        return _changed(new, old, held, shared)
    if _is_event(old.text) or _is_event(new.text):
        return 0.0
    if _is_another_value(new, old):
        return max(held, HELD)
    if shared < LEAST_SHARED or not _is_one_value(gone, come, old.content):
        return 0.0
    return held if gone or come or new.facets.telling != old.facets.telling else 0.0


def revokes(text: str, name: str) -> int | None:
    """Give the line of a text, from 0, that links to a document by name and has a word of change.

    Example: `This replaces the decision of [[2025-03-03]].` of `2025-03-03.md`
    """
    stem = name.removesuffix(".md")
    wiki = (f"{opened}{stem}{end}" for opened in ("[[", "/") for end in ("]]", "#", "|"))
    links = (*wiki, f"/{name})", f"({name})")
    for number, line in enumerate(text.split("\n")):
        if any(link in line for link in links) and speaks_of_change(line):
            return number
    return None


def _changed(new: _ComparedLine, old: _ComparedLine, held: float, shared: int) -> float:
    named = frozenset[str]().union(
        *(
            content(part)
            for found in re.findall(_REPLACED, new.text, re.I)
            for part in found
            if part
        ),
        *(
            content(part.partition("改")[0].partition("换")[0])
            for part in re.findall(_HAN_REPLACED, new.text)
        ),
    )
    is_named = any(_has(old, term) for term in named)
    if _is_event(old.text) and not is_named and held < SURELY_HELD:
        return 0.0
    if held >= HELD and (shared >= LEAST_SHARED or is_named):
        return held
    if is_named and shared >= LEAST_SHARED:
        return HELD
    # What moves to another day is named first, and had a day.
    has_day = not _DIGITS.isdisjoint(old.text) or not _TIME.isdisjoint(old.facets.sequence)
    is_of_it = old.content[0] in new.facets.terms and has_day
    return HELD if is_of_it and re.search(_MOVED, new.text, re.I) else 0.0


@lru_cache(maxsize=2048)
def _is_event(text: str) -> bool:
    """Tell that a text says what happened, by a verb of the past that is no participle."""
    if re.search(_EVENT, text, re.I):
        return True
    words = _WORD.findall(text.lower())
    return any(map(_is_past, words[1:], words)) or _is_past(words[0] if words else "", "")


def _is_past(word: str, before: str) -> bool:
    is_past = (word.endswith("ed") and word not in _NO_PAST) or word in _PAST
    return is_past and before not in _COPULAS


def _is_another_value(new: _ComparedLine, old: _ComparedLine) -> bool:
    """Tell that two lines are the same up to a value, and after it."""
    a, b = old.tokens, new.tokens
    first = _same(a, b)
    last = _same(a[first:][::-1], b[first:][::-1])
    one, other = a[first : len(a) - last], b[first : len(b) - last]
    before = a[:first]
    is_han = any(map(has_han, before))
    longest = LONGEST_VALUE * (2 if is_han else 1)
    if not (one and other and len(one) <= longest and len(other) <= longest):
        return False
    if "," in one or "," in other or _is_past(one[0], "") or _is_past(other[0], ""):
        return False
    name = [token for token in before if _is_content(token) and token not in _STATES]
    if len(name) < (LEAST_SHARED if is_han else 1):
        return False
    are_numbers = one[0][0] in _DIGITS and other[0][0] in _DIGITS
    if is_han:
        words = "".join(before)
        is_several = words.endswith("有") and not are_numbers
        return (any(state in words for state in _HAN_STATES) and not is_several) or _has_label(
            new, old, name
        )
    verbs = [token for token in before if token in _STATES]
    if verbs:
        return are_numbers or verbs[-1] not in _SEVERAL
    if are_numbers and max(len(one), len(other)) <= 2:
        return len(name) >= BEFORE_A_NUMBER or _has_label(new, old, name)
    return _has_label(new, old, name)


def _has_label(new: _ComparedLine, old: _ComparedLine, name: Sequence[str]) -> bool:
    """Tell that both lines are a name with a value, as `Team lead: Yusuf`."""
    one, other = _LABEL.match(new.text), _LABEL.match(old.text)
    return bool(one and other and one[0].casefold() == other[0].casefold() and name)


def _same(a: Sequence[str], b: Sequence[str]) -> int:
    """Count the tokens that two lines begin with."""
    count = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        count += 1
    return count


@lru_cache(maxsize=1024)  # one line is compared with many
def _read(text: str) -> _ComparedLine:
    mark = SPEAKER_MARK.match(text, found.end() if (found := _MARK.match(text)) else 0)
    said = text[mark.end() :] if mark else text.lstrip("-*+> ")
    facets = facets_of(said)
    own = tuple(term for term in facets.sequence if _is_content(term))
    tokens = facets.tokens[:-1] if facets.tokens[-1:] == (",",) else facets.tokens
    by_beginning: dict[str, list[str]] = {}
    for term in facets.terms:
        by_beginning.setdefault(term[:INFLECTED], []).append(term)
    return _ComparedLine(said, speaker_of(mark) if mark else "", facets, own, tokens, by_beginning)


def _tickets(line: _ComparedLine) -> set[str]:
    return set(_TICKET.findall(line.text))


def _is_one_value(gone: Sequence[str], come: Sequence[str], content: Sequence[str]) -> bool:
    """Tell that one thing at most stands in the place of another, behind what names it."""
    if max(len(gone), len(come)) > 1:
        return False
    if not gone:
        return not come
    before = content.index(gone[0])
    if gone[0].isdigit():
        return before >= BEFORE_A_NUMBER
    return 2 * (before + 1) > len(content)


def _left(a: _ComparedLine, b: _ComparedLine) -> list[str]:
    """List the content of a line which the other has no form of, in its order."""
    return [term for term in dict.fromkeys(a.content) if not _has(b, term)]


def _has(line: _ComparedLine, term: str) -> bool:
    if term in line.facets.terms:
        return True
    return not term.isdigit() and has_form(term, line.by_beginning.get(term[:INFLECTED], ()))


def _names(term: str) -> bool:
    """Tell that a word may name a thing: it is no number and no time."""
    return not term.isdigit() and term not in _TIME


def _is_content(term: str) -> bool:
    return term not in ENGLISH and term not in GERMAN
