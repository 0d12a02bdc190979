"""Find out whether a newer line is only an exception to an older one; pure.

It is one for a day or a week, or for a group: `This week we meet at 10`, `Free for kids`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from memcli.language.change import GONE, NEW, Cue, spaced
from memcli.language.compared_line import (
    DIGITS,
    TIME,
    ComparedLine,
    clauses_of,
    is_content,
    is_name,
    is_number,
    phrases,
    table,
)
from memcli.language.stopwords import ARTICLES, WEEKDAYS
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
# Before the group that a line is for, and before the group that it leaves out.
_FOR, _EXCEPT = table("for für"), table("except außer ausser ausgenommen 除了")
_HAN_ONLY_FOR = ("仅限", "只限", "仅供")
_HAN_NO_FOR = ("核对", "校对", "绝对", "相对", "面对", "反对", "应对", "派对", "配对", "结对",
               "对接", "对方", "对面", "对于", "对账", "对外", "对内", "对应", "对比", "对口",
               "对象", "对话", "对手", "对齐", "对照", "对称", "对付", "对抗")  # fmt: skip
_HAN_GROUP = 2  # characters
# A reason or everybody, not a group.
_NO_GROUP = TIME | table(
    """good free reason reasons lack fear safety repair repairs renovation renovations
    maintenance cleaning works refurbishment construction inventory holidays vacation surgery
    rest everyone everybody everything anyone alles gründe gründen reparatur reparaturen
    renovierung umbau wartung bauarbeiten inventur ferien urlaub"""
)
# So is this, unless a noun follows: `for security`, not `for security guards`.
_PURPOSES = table(
    """speed cost costs performance reliability stability simplicity durability scalability
    readability compatibility consistency convenience compliance clarity accuracy efficiency quality
    privacy security licensing latency health comfort fun money work business rent sale hire review
    reference record context example instance sure short breakfast lunch dinner kosten leistung
    sicherheit stabilität zuverlässigkeit geschwindigkeit qualität übersicht mittagessen
    beispiel verkauf"""
)
# After one of these words, one thing in a line of a value or a swap is no group: `for the flat`.
_THE_ONE = table("the das den")
_SWAPPED = table("instead rather from replaced replaces replacing statt anstatt anstelle ersetzt")
_NEXT = 3  # words, as in `for Chelsea instead of Arsenal`
_GROUPS = table(
    """team class group family staff crew squad department children people men women kids public
    press kinder leute"""
)
# Before the new thing: `ditched Sublime for Zed`.
_SWAPS = table(
    """swap swaps swapped swapping trade trades traded exchanged ditched dropped dumped scrapped
    abandoned left leaves leaving quit"""
)


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
        clause = next((clause for (clause,), _ in new.cues), new.text)
        for each in _HAN_NO_FOR:
            clause = clause.replace(each, "")
        behind = [clause.partition("对")[2], *(new.text.partition(s)[2] for s in _HAN_ONLY_FOR)]
        return not all(text[:_HAN_GROUP] in old.text for text in behind)
    start = tuple(spaced(clauses_of(new.text)[0]).split())
    clauses = {start: (), **dict(new.cues[:1])}
    groups = (group for clause in clauses.items() for group in _groups(*clause, new.kinds))
    return not all(any(map(old.has, group)) for group in groups)


def _groups(
    words: Sequence[str], cues: Sequence[Cue], kinds: frozenset[str]
) -> Iterator[Sequence[str]]:
    """Yield the words that name a group: `kids` of `for kids`, `new` of `for new users`."""
    for at, word in enumerate(words):
        if word not in _FOR or any(cue.first <= at < cue.end for cue in cues):
            continue
        if not (_SWAPS.isdisjoint(words[:at]) and _EXCEPT.isdisjoint(words[:at])):
            continue
        behind = words[at + 1 :]
        is_one = not _SWAPPED.isdisjoint((*words[:at], *behind[:_NEXT]))
        is_one |= GONE not in kinds and not _THE_ONE.isdisjoint(behind[:1])
        if has_article := not ARTICLES.isdisjoint(behind[:1]):
            behind = behind[1:]
        group = list(takewhile(lambda each: is_content(each) and each not in _SWAPPED, behind))
        if not group or is_number(group[0]) or (is_one and not _is_plural(group[-1])):
            continue
        if _NO_GROUP.isdisjoint(group) and group[-1] not in _PURPOSES:
            is_new = group[0] in NEW and not has_article
            yield group[:1] if is_new else list(filter(is_name, group))


def _is_plural(word: str) -> bool:
    return word in _GROUPS or (word.endswith("s") and not word.endswith(("ss", "us")))


def _keeps_amount(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether something ends, but the amount in the older line is left to a group."""
    is_end = GONE in new.kinds and not _EXCEPT.isdisjoint(new.terms)
    return is_end and not DIGITS.isdisjoint({*old.text} - {*new.text})
