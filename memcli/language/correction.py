"""Decide whether a newer line corrects an older one; pure. The only definition in memcli.

A weighted sum of pieces of evidence says how likely that is (`language.evidence`): words of change
(`language.change`), what both lines name, and whether they are the same except for a value or a
negation, such as `Rent is 980` and `Rent is 1,045` (`language.another_value`).

Two events, two tickets, two speakers, a question, an addition, a greeting, the way back, or an
exception are never corrections. The caller decides which of two lines is newer.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from math import exp, inf

from memcli.language.another_value import PLACES, is_another_value
from memcli.language.change import AMOUNT, GONE, NEW, NOW, spaced
from memcli.language.compared_line import (
    DIGITS,
    EVERY,
    MOVES,
    OWN,
    TIME,
    ComparedLine,
    adds,
    asks,
    is_number,
    is_thing,
    phrases,
    read_line,
)
from memcli.language.evidence import is_instead_of_another, weight, weight_of_order
from memcli.language.stopwords import WEEKDAYS, table
from memcli.language.terms import has_han, terms

SURE = 0.5  # a line that is likelier to be corrected is marked
MOST_CHARACTERS = 600  # of a line that is compared
LONGEST_ANSWER = 160  # characters of a line that comes before an older one
LEAST_IN_TALK = 0.3  # evidence that a conversation needs more, except for another value
# Least evidence of order that corrects an answer, and the words that its question needs.
LEAST_OF_ANSWER, LEAST_ASKED = -0.3, 2
LITTLE = -3.0  # evidence, a likelihood of .05; with less, it does not matter what a line is
LEAST_CONTENT = 2  # content words of a line that states something
_ASSISTANTS = table("assistant ai chatgpt claude")
_CODE = ("{", "\\", "==", "):", "('", '("')
_COURTESIES = table(
    "hey hi hello hope thanks thank congrats congratulations wow yeah yup yep bye hallo danke"
)
_FAREWELLS = (" see you ", " talk to you ", " talk soon ", " good night ", " have a great ",
              " have a good ", " have a lovely ", " have a nice ")  # fmt: skip
# A line with one of these words only considers something.
_PLANS = (
    *phrases(
        """might, maybe, perhaps, someday, some day, one day, would, thinking of, considering,
        thinking about, toying, floated, idea, suggested, suggests, proposed, proposes, proposal,
        we discussed, talked about, looked into, undecided, not decided, be decided, not agreed,
        nothing decided, nothing was decided, no decision, keine entscheidung, noch offen,
        besprochen, diskutiert, überlegt, überlegen, überlege, könnte, könnten, irgendwann, idee,
        vorschlag, vielleicht, noch nichts, nicht entschieden"""
    ),
    *table("打算 考虑 也许 可能 建议 提议 想换 将来 讨论 没定 未定 没有结论 的话"),
)
# Before the reason for a statement, or before another one.
_REASONS = (
    "; ", " because ", ", as ", ", since ", ", then ", ", so ", " so that ",
    " weil ", ", da ", ", damit ", "；", "，因为",
)  # fmt: skip
# Words before an old value, and words that only say since when a line is true.
_REPLACED = (" instead of ", " rather than ", " statt ", " anstatt ", " anstelle von ", "而不是")
_FROM_THEN = (" from today", " from now on", " as of today", " ab heute", " ab sofort", " ab jetzt")
_OF_ONE = table("i my me ich mein meine 我")  # two speakers mean two people
_TO, _FROM = table("to nach"), table("from von aus")
_ALL_DAYS = table("weekdays weekends werktags wochentags wochenende")
_DAYS = _ALL_DAYS | EVERY | WEEKDAYS
_WAY = 5  # words
# A line that begins with one of the words in a row is not about what the others name.
_SIDES = """our unser unsere/their ihr ihre, first erste ersten/second zweite zweiten/third dritte,
    adults erwachsene 成人/children kids kinder 儿童/seniors senioren rentner 老人, damen/herren,
    members mitglieder/guests visitors gäste, boys/girls, free/paid/standard/premium/basic,
    web/mobile/desktop, ios/android, staging/production, export/import, upload/download, day/night,
    morning/evening, summer/winter, left/right, upper/lower, north/south, indoor/outdoor"""
_SIDE_OF = {e: (row, a) for row in _SIDES.split(",") for a in row.split("/") for e in a.split()}
_PULLS = ("pull", "pulls", "merge_requests", "commit")
# A line with one of the first and none of the others is an exception. It changes no rule.
_ONCE = (
    *phrases(
        """this week, this time, tomorrow, tonight, for once, that once, just once, this once,
        just today, only today, just for, only that, one off, exception, exceptionally, next week,
        christmas, boxing day, new years eve, new year s eve, on easter, at easter, easter monday,
        thanksgiving, bank holiday, diese woche, nächste woche, diesmal, dieses mal, ausnahme,
        ausnahmsweise, einmalig, einzelfall, nur heute, nur morgen, heute, heiligabend, weihnachten,
        silvester, neujahr, karfreitag, ostern, ostermontag, himmelfahrt, pfingsten, feiertag"""
    ),
    *(f" {which} {day} " for which in ("this", "next", "diesen", "nächsten") for day in WEEKDAYS),
    *(" this weekend ", *(f" {day} s " for day in WEEKDAYS)),  # `Friday's demo`
    *table("这周 本周 下周 明天 今晚 这次 本次 那天 当天 临时 照旧 春节 国庆 中秋 端午 元旦 除夕"),
)  # fmt: skip
_LASTING = (
    *phrases("from, as of, since, starting, no longer, any more, anymore, ab, seit, nicht mehr"),
    *table("从 起 不再 以后"),
)
# With one of each, a line is about somebody who is away or something that is closed for a time.
_AWAY = (
    *phrases(
        """ill, off sick, out sick, is away, was away, flu, a cold, on leave, parental leave,
        maternity leave, on holiday, on vacation, honeymoon, is back, was repaired,
        for an hour, for two hours, for a day, for two days, for three days, for a week,
        for two weeks, krank, urlaub, elternzeit, zwei tage"""
    ),
    *table("休假 请假 出差 生病 修好"),
)
_BRIEFLY = (
    *phrases("until, till, while, during, meanwhile, meantime, was, were, had, bis, während"),
    *phrases("solange, so lange, war, waren, hatte"), *table("期间 回来 昨天"),
)  # fmt: skip
# Before the group that a line leaves out. A group is one of a few words, because what follows `for`
# is mostly a purpose or a thing: `for repairs`, `for the flat`.
_EXCEPT = table("except außer ausser ausgenommen 除了")
_GROUPS = table(
    """kids children students pupils members guests visitors adults seniors pensioners residents
    employees staff interns contractors beginners users customers subscribers partners vendors
    guards team teams department class project projects bugs
    kinder schüler schülerinnen studenten studierende mitglieder gäste besucher erwachsene senioren
    rentner anwohner angestellte mitarbeiter praktikanten anfänger nutzer kunden"""
)
_NEXT = 3  # words, as in `for the design team`
_HAN_ONLY_FOR = ("仅限", "只限", "仅供", "仅对", "只对")
_HAN_GROUP = 2  # characters


@lru_cache(maxsize=4096)  # a search compares the same lines to rank them and to mark them
def likelihood(newer: str, older: str) -> float:
    """Return how likely it is that a newer line corrects an older one, 0 to 1."""
    if max(len(newer), len(older)) > MOST_CHARACTERS:
        return 0.0
    new, old = read_line(newer), read_line(older)
    is_near = len(old.content) >= LEAST_CONTENT and any(map(new.has, old.content))
    if not is_near or asks(new) or _is_of_other_kind(new, old) or is_instead_of_another(new, old):
        return 0.0
    evidence = _evidence(new, old)
    rest = read_line(_without_replaced(older))
    if rest is not old and rest.sequence:
        evidence = max(evidence, _evidence(new, rest))
    if evidence > LITTLE and (_is_plan(new) or _is_exception(new, old)):
        return 0.0
    if evidence <= 0 and new.kinds and (_core(newer), _core(older)) != (newer, older):
        core = read_line(_core(newer))
        first, *others = (read_line(_core(each)) for each in older.split("; "))
        cores = [first, *(each for each in others if not each.kinds)]
        evidence = max([evidence, *(_evidence(core, each) for each in cores if each.sequence)])
    return 1.0 / (1.0 + exp(-evidence))


def _evidence(new: ComparedLine, old: ComparedLine) -> float:
    is_lower = new.speaker and (old.is_event or not is_another_value(new, old))
    return weight(new, old) - (LEAST_IN_TALK if is_lower else 0.0)


@lru_cache(maxsize=1024)
def _without_replaced(text: str) -> str:
    """Return a line without the value that it replaced: `90 days from today instead of 14`."""
    for phrase in _REPLACED:
        start = text.find(phrase)
        if start > 0:
            ends = (text.find(mark, start + len(phrase)) for mark in (", ", "; ", ". ", "，", "。"))
            text = text[:start] + text[min((at for at in ends if at > 0), default=len(text)) :]
    for phrase in _FROM_THEN:
        text = text.replace(phrase, "")
    return text


@lru_cache(maxsize=1024)
def _core(text: str) -> str:
    """Return a line without its reasons and what follows: `Rent is 980, because of the lift`."""
    ends = (text.find(each) for each in _REASONS)
    core = text[: min((at for at in ends if at > 0), default=len(text))]
    return core if len(read_line(core).content) >= LEAST_CONTENT else text


def corrects(newer: str, older: str) -> float:
    """Return the confidence that a newer line corrects an older one; 0 if it does not."""
    sure = likelihood(newer, older)
    return sure if sure > SURE else 0.0


def evidence_of_order(newer: str, older: str) -> float:
    """Weigh whether a newer line of an answer comes before an older one; -inf if it never does.

    A line without a word of change needs a value of its own. If the older line has a number, it
    needs one too, and it must not repeat all numbers and days of the older line.
    """
    if max(len(newer), len(older)) > LONGEST_ANSWER:
        return -inf
    new, old = read_line(newer), read_line(older)
    if not (new.sequence and old.sequence) or bool(new.signs) != bool(old.signs):
        return -inf
    is_of_one = not _OF_ONE.isdisjoint((*new.sequence, *old.sequence))
    is_other = is_of_one and new.speaker != old.speaker
    if not new.kinds and (is_other or not _has_own_value(new, old)):
        return -inf
    if asks(new) or _is_plan(new) or _is_exception(new, old):
        return -inf
    return weight_of_order(new, old)


def corrects_answer(newer: str, older: str, question: str) -> bool:
    """Return whether a newer line corrects an older one as the answer to a question about now.

    The older line contains most of the question's words, and the newer one all of these and the
    numbers of the question. Of 961 corrections written for tests it finds 38 more than the 617 of
    `likelihood`; of 598 pairs where both lines are true, it is wrong for 4 more. It marks nothing
    in 345 questions about conversations.
    """
    new, old, query = read_line(newer), read_line(older), read_line(question)
    words = [term for term in query.content if old.has(term)]
    numbers = filter(is_number, query.sequence)
    if len(query.content) < LEAST_ASKED or 2 * len(words) <= len(query.content):
        return False
    if not all(map(new.has, (*words, *numbers))) or adds(new):
        return False
    is_of_one = not _OF_ONE.isdisjoint((*new.sequence, *old.sequence))
    is_mood = new.speaker and new.kinds == {NOW}  # `work is stressful right now`
    if is_mood or (is_of_one and new.speaker != old.speaker) or _is_about_another(new, old):
        return False
    return evidence_of_order(newer, older) > LEAST_OF_ANSWER


def _has_own_value(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether a line may have another value than an older one."""
    values = [term for term in old.sequence if is_number(term) or term in TIME]
    is_without = DIGITS.isdisjoint(new.text) and not DIGITS.isdisjoint(old.text)
    return not is_without and not (values and all(map(new.has, values)))


def _is_of_other_kind(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether a line cannot correct any line, or not this one.

    This excludes tasks, questions, greetings, and lines of different speakers, tickets or letters.
    A change to code that both lines name is one event, reported twice.
    """
    if new.sequence == old.sequence or not (new.sequence and old.sequence):
        return True
    if bool(new.signs) != bool(old.signs):
        return True  # two languages
    if new.speaker and old.speaker and new.speaker != old.speaker:
        return True
    if new.sequence[0] in _ASSISTANTS or old.sequence[0] in _ASSISTANTS:
        return True  # the answer of a program is not a statement of a person
    for text in (new.text, old.text):
        if text.endswith((":", "：")) or _is_code(text):
            return True  # it only introduces what follows
    if _is_task(new.text) or _is_task(old.text) or asks(old) or _is_courtesy(old):
        return True
    mine, theirs = _tickets(new.text), _tickets(old.text)
    if theirs - mine or any("/" in each for each in mine):
        return True
    if adds(new) and new.kinds.isdisjoint((GONE, AMOUNT)):
        return True
    if new.speaker and new.kinds == {NOW} and all(map(new.has, old.content)):
        return True  # an example: `I like fantasy novels`, `I am now reading Emma`
    return _is_about_another(new, old)


def _is_about_another(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether a line is about another person, side, way or day."""
    if _is_way_back(new, old) or _is_of_other_days(new, old):
        return True
    return _is_of_other_letter(new, old) or _is_of_somebody_else(new, old)


def _is_plan(line: ComparedLine) -> bool:
    """Return whether a line only considers something."""
    return any(each in line.spaced for each in _PLANS)


def _is_exception(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether the newer line is only for a time or a group."""
    if _is_once(new, old) or _is_for_others(new, old) or _keeps_amount(new, old):
        return True
    is_away = any(each in new.spaced for each in _AWAY) and "duration" not in old.value_types
    return ", back to " in new.text or (is_away and any(e in new.spaced for e in _BRIEFLY))


def _is_once(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether the newer line is an exception for a day or a week."""
    if any(each in new.spaced for each in _LASTING):
        return False
    # In a sentence about something else, `this week` limits nothing.
    sentences = (f" {' '.join(terms(each))} " for each in new.text.split(". "))
    about = [each for each in sentences if has_han(each) or any(e in each for e in old.content)]
    is_once = any(once in each for each in about for once in _ONCE)
    return is_once and not any(once in old.spaced for once in _ONCE)


def _is_for_others(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether the newer line is for a group that the older one does not name."""
    if new.signs:
        behind = (new.text.partition(only)[2] for only in _HAN_ONLY_FOR)
        return not all(text[:_HAN_GROUP] in old.text for text in behind)
    words = spaced(new.text).split()
    for at, word in enumerate(words):
        near = words[at + 1 : at + 1 + _NEXT] if word in ("for", "für") else []
        groups = [each for each in near if each in _GROUPS]
        if groups and not old.has(near[0] if near[0] in NEW else groups[0]):
            return True
    return False


def _keeps_amount(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether something ends, but the amount in the older line is left to a group."""
    is_end = GONE in new.kinds and not _EXCEPT.isdisjoint(new.terms)
    return is_end and not DIGITS.isdisjoint({*old.text} - {*new.text})


def _is_of_somebody_else(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether the newer line is about another person, such as `Kim's sister`."""
    first = new.sequence[0]
    if old.sequence[0] in ("my", "our") and new.sequence[1:2] == ("s",):  # `Rob's eye test`
        return not old.has(first)
    if old.sequence[0] in ("i", "ich") and OWN.isdisjoint(new.sequence):
        return is_thing(first) and not old.has(first) and first in new.content
    whose = (other for one, s, other in zip(new.sequence, new.sequence[1:], new.sequence[2:],
             strict=False) if s == "s" and one == old.subject)  # fmt: skip
    return not all(old.has(term) for term in whose)


def _is_of_other_letter(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether two lines name different ones of a kind: `team A` and `team B`, `web-01`."""
    mine = dict(_letters(new))
    theirs = dict(_letters(old)) if mine else {}
    is_value = GONE not in new.kinds and sum(not old.has(term) for term in new.content) == 1
    others = {mine[word] for word in mine.keys() & theirs if mine[word] != theirs[word]}
    return any(not (is_value and is_number(other)) for other in others)


def _is_way_back(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether one line begins with a way to a place, and the other with one from it."""
    if not MOVES.isdisjoint((*new.sequence, *old.sequence)):
        return False
    one, other = (
        {(word in _TO, place) for word, place in pairwise(line.sequence[:_WAY])
         if word in _TO or word in _FROM}
        for line in (new, old)
    )  # fmt: skip
    return any((not is_to, place) in other for is_to, place in one)


def _is_of_other_days(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether one line is about all weekdays or weekends, and the other about other days."""
    one, other = (frozenset(_DAYS.intersection(line.sequence)) for line in (new, old))
    is_all = not _ALL_DAYS.isdisjoint(one | other)
    return (
        bool(one and other)
        and is_all
        and one.isdisjoint(other)
        and not (new.kinds & {GONE, AMOUNT})
    )


def _letters(line: ComparedLine) -> Iterator[tuple[str, str]]:
    """Yield the letters of a line and the numbers in its name, with the words before, and `_SIDES`.

    An article and `I` are no letters.
    """
    yield from (_SIDE_OF[word] for word in line.sequence[:2] if word in _SIDE_OF)
    for one, number in () if DIGITS.isdisjoint(line.text) else pairwise(line.sequence):
        if is_number(number) and number in line.name and is_thing(one) and one not in PLACES:
            yield one, number
    if any(len(term) == 1 and term.isalpha() for term in line.sequence):
        for before, after in pairwise(line.text.casefold().split()):
            letter = after.strip(".,;:()")
            is_letter = len(letter) == 1 and letter.isalpha() and letter.isascii()
            if is_letter and (letter not in ("a", "i") or is_thing(before)):
                yield before, letter


def _is_courtesy(line: ComparedLine) -> bool:
    """Return whether a line greets or thanks, and states nothing about its author."""
    is_own = not OWN.isdisjoint(line.sequence) or not DIGITS.isdisjoint(line.text)
    is_courtesy = line.spaced.startswith(_FAREWELLS) or line.sequence[0] in _COURTESIES
    return is_courtesy and not is_own


def _is_code(text: str) -> bool:
    """Return whether a line is or contains code; a name or a value between backticks is not."""
    is_long = text.count("`") % 2 or any(" " in span for span in text.split("`")[1::2])
    return bool(is_long) or any(map(text.__contains__, _CODE))


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
