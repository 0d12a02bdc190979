"""Find out whether a newer line is only an exception to an older one; pure.

It is one for a day or a week, or for a group: `This week we meet at 10`, `Free for kids`.
"""

from __future__ import annotations

from memcli.language.change import GONE, NEW, spaced
from memcli.language.compared_line import DIGITS, ComparedLine, phrases, table
from memcli.language.stopwords import WEEKDAYS
from memcli.language.terms import has_han, terms

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
    *table("这周 本周 下周 明天 这次 本次 那天 当天 临时 照旧 春节 国庆 中秋 端午 元旦 除夕"),
)  # fmt: skip
_LASTING = (
    *phrases("from, as of, since, starting, no longer, any more, anymore, ab, seit, nicht mehr"),
    *table("从 起 不再 以后"),
)
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


def is_exception(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether the newer line is only for a time or a group."""
    return _is_once(new, old) or _is_for_others(new, old) or _keeps_amount(new, old)


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
