"""Tell whether a newer line corrects an older one; pure. The only definition in memcli.

A line corrects an older one in three ways:

change   It has a word of change and at least HELD of the content of the older line. Less is enough
         if it names what it replaces (`instead of MySQL`), if it has the whole name of the older
         thing (`the wifi password is ...`), if that thing moves to another time, or if it changes
         an amount, a home, or what somebody uses. `New manager: Priya` needs no word of change.
value    The two lines are the same except for one value, and what comes before the value names the
         thing: `Rent is 980` and `Rent is 1,045`.
turn     They are the same except for a negation or the other side of two opposites.

Two events, two tickets, two speakers, two subjects, an addition, a greeting or an exception for a
day or a week are no correction. The caller
decides which of two lines is newer. `revokes` is for a link to an older document.

The words are tables, because a search must not wait until patterns are compiled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from memcli.language.change import spaced, speaks_of_change
from memcli.language.stopwords import ENGLISH
from memcli.language.stopwords import GERMAN as ALL_GERMAN
from memcli.language.terms import INFLECTED, content, has_form, has_han, terms, tokens_of
from memcli.record import Record

HELD = 0.5  # of the content of the older line
SUBJECTS_HELD = 0.4  # if each line has the subject of the other
HAN_SUBJECTS_HELD = 0.25  # half of the pairs of signs are no words
LEAST_SHARED = 2  # words of content
BEFORE_A_NUMBER = 2  # words of content that name what a number is of
BEFORE_A_HAN_NUMBER = 4  # signs
SURELY_HELD = 0.75  # of what happened, which is seldom corrected
SHORT = 3  # words of content of a line that is about little else than what is replaced
LONGEST_CHANGE = 300  # characters of a line whose word of change is about all of it
MOST_CHARACTERS = 600  # of a line that is compared
NEAR_A_LINK = 80  # characters on either side of a link that may speak of it
LONGEST_VALUE = 6  # tokens


GERMAN = ALL_GERMAN - {"bin", "hat", "man", "war"}  # nouns in English


def _table(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _phrases(words: str) -> tuple[str, ...]:
    return tuple(f" {' '.join(each.split())} " for each in words.split(","))


def _beginnings(words: str) -> tuple[str, ...]:
    return tuple(f" {each.strip()}" for each in words.split(","))


_ADDITIONS = _phrases("also, as well, besides, additionally, auch, ebenfalls, zusätzlich,"
                      " außerdem")  # fmt: skip
_HAN_ADDITIONS = ("也", "还", "另外")
# What follows one of these is replaced, and what comes before one of the others.
_REPLACES = _phrases(
    "instead of, rather than, in place of, off, replace, replaces, replaced, replacing, drop,"
    " dropped, dropping, left, stopped using, cancelled, canceled, no longer, not, goes from,"
    " statt, anstelle von, kein, keine, keinen"
)
_IS_REPLACED = _phrases(
    "no longer, nicht mehr, replaced, deprecated, obsolete, cancelled, canceled, retired, gone,"
    " uninstalled, gekündigt, durch, abgeschafft, fällt aus"
)
_PASSIVE = (" was", " were", " been")
_HAN_REPLACES = ("不再使用", "不再用", "不再", "取消了", "取消", "取代", "代替", "从")
_FROM = _phrases("from, von, vom")  # behind a verb of these
_MOVES = _table(
    "move moved moving switch switched changed migrated left umgestellt gewechselt umgezogen"
)
_FAR = 6  # words
_FRAMES = (
    *(
        f"{who} {verb} {what} "
        for who in ("we", "we have", "it was", "the team")
        for verb in ("decided", "agreed")
        for what in ("that", "to")
    ),
    "我们决定",
    "我们同意",
)
_LONGEST_FRAME = max(map(len, _FRAMES))
_NEW = ("new ", "neue", "新")
_OF = _table("of for für des der vom von zum zur")
_HOMES = _table("live lives living wohne wohnt wohnen lebe lebt leben")
_RESIZED = _table(
    """raised raises lowered lowers increased decreased reduced extended shortened cut erhöht
    gesenkt verlängert verkürzt"""
)
# What moves to another time.
_MOVED = _table("""postponed rescheduled brought moved moves moving switched switches extended
    shifted verschoben vorverlegt verlegt geändert""")
_HAN_MOVED = ("推迟", "改期", "提前", "改到", "改成", "改为", "改在", "调到")
_WEEKDAYS = _table(
    """monday tuesday wednesday thursday friday saturday sunday
    montag dienstag mittwoch donnerstag freitag samstag sonntag"""
)
_PLURAL_DAYS = frozenset(f"{day}s" for day in _WEEKDAYS)
_NUMBERS = _table(
    """one two three four five six seven eight nine ten eleven twelve eins zwei drei vier fünf sechs
    sieben acht neun zehn elf zwölf"""
)
# Words of time alone do not make two lines be about the same thing.
_TIME = (
    _WEEKDAYS
    | _PLURAL_DAYS
    | _table(
        """day days week weeks month months year years time today now
    january february march april may june july august september october november december
    second seconds minute minutes hour hours percent dollars euro euros sekunden minuten stunden
    morning mornings evening evenings noon spring summer autumn winter
    tag tage woche wochen monat jahr uhr heute
    周一 周二 周三 周四 周五 周六 周日 上午 下午 今天"""
    )
)
# A question and a request change nothing.
_REQUESTS = _phrases("can you, could you, help me, trying to, kannst du, hilf mir")
_COURTESIES = _table(
    "hey hi hello hope thanks thank congrats congratulations wow yeah yup hallo danke"
)
_OWN = _table("i my we our ich mein meine wir unser unsere")
# What happened, which another event does not correct.
_EVENT = _table(
    """was were had went ran took saw did came ate flew drove wrote gave slept felt today yesterday
    tonight war waren wurde wurden gestern heute habe"""
)
_PAST = _table("got met paid made bought lost won sent told said kept")
_HAN_EVENT = ("了", "过", "今天", "昨天")
_NO_PAST = _table("need feed speed embed seed breed shed bed red")
# Behind one of these it is a participle, of what is so.
_COPULAS = _table("is are be been am get gets not")
_AUXILIARIES = _table("is are was were has have been be ist sind war waren wird wurde wurden")
# Verbs of what is so until it changes, and has one value at a time.
_STATES = _table(
    """is are am be works work lives live runs run listens opens closes costs cost takes take needs
    need wears wear uses use starts ends expires expire belongs leads owns handles hosts comes goes
    drives drive drinks drink eats eat run prefers prefer stands sits release meets meet sleeps
    sleep allows has have
    ist sind bin beträgt kostet läuft laufen wohnt wohne arbeitet kommt steht liegt heißt beginnt
    endet öffnet schließt leitet nutzt nutzen verwenden verwendet braucht dauert trägt hat haben
    gilt"""
)
_HAN_STATES = ("是", "在", "为", "由", "住", "有", "每", "使用", "监听", "需要", "负责", "采用",
               ":", "：")  # fmt: skip
_ATTRIBUTES = _STATES | {"是", "为", ":", "："}
# A thing may have several of what follows these, except when it is a number.
_SEVERAL = _table("has have hat haben use uses nutzt nutzen takes take needs need")
# These name no thing: what happens to one, what is said of a new one, and titles.
_NO_SUBJECT = (
    _STATES
    | _MOVES
    | _MOVED
    | _table(
        """took over take raised raise lowered lower goes went change changes replaced replaces
        replacing renamed cancelled canceled dropped drop closed instead longer new old other
        another neue neuer neues neuen alte alter altes alten ersetzt abgeschafft gekündigt ab
        sofort statt mehr mr mrs ms dr frau herr as all every each our das die der nobody
        everybody everyone no never always usually often mostly normally currently still now immer
        meistens normalerweise derzeit noch"""
    )
)
# A new name may come before these, and then a thing of the older line.
_TAKES = _phrases(
    "took over, takes over, from now on, übernimmt, übernommen, ab jetzt, from this, as of"
)
# A line with one of the first and none of the others is an exception, which changes no rule.
_ONCE = _phrases(
    "this week, this time, tomorrow, tonight, for once, just today, only today, diese woche,"
    " diesmal, ausnahmsweise, nur heute, nur morgen"
)
_HAN_ONCE = ("这周", "本周", "明天", "这次", "本次")
_LASTING = _phrases(
    "from, as of, since, starting, no longer, any more, anymore, ab, seit, nicht mehr"
)
_HAN_LASTING = ("从", "起", "不再", "以后")
_EVERY = _PLURAL_DAYS | _table("every each weekly daily jeden jede jedes")
_OFTEN = (
    _EVERY
    | _TIME
    | _table(
        """never always usually often rarely sometimes now once twice times nie niemals immer oft
    selten manchmal meistens jetzt mal"""
    )
)
_INSTEAD = _phrases("instead of, rather than, in place of, replaces, statt, anstelle von")
_PULLS = ("pull", "pulls", "merge_requests", "commit")
# A line with one of these names no thing.
_LABELS_OF_ALL = _table(
    """decision decisions note notes todo status state result reason why update idea plan question
    answer fix cause owner next assistant user human ai system agent entscheidung notiz grund stand
    ergebnis 决定 备注 状态 原因"""
) | {""}
_LONGEST_LABEL = 42  # characters
_DIGITS = frozenset("0123456789一二两三四五六七八九十百千万")
_SPEAKER_MARKS = ("**", "- **", "* **", "+ **")


# Words before a link to what is replaced, and behind it, by their beginnings.
_REVOKES = _beginnings(
    "replaces, replaced, replacing, supersed, overrul, overrid, corrects, corrected, correcting,"
    " revok, withdr, instead of, no longer, not any more, not anymore, ersetzt, widerr, korrigiert,"
    " statt, anstelle, nicht mehr"
)
_HAN_REVOKES_LINK = ("取代", "代替", "替代", "更正", "推翻", "不再", "作废")
_IS_REVOKED = _beginnings(
    "no longer, not any more, not anymore, replaced by, superseded, obsolete, outdated, overruled,"
    " revoked, withdrawn, nicht mehr, überholt, ersetzt durch, widerrufen"
)
_HAN_IS_REVOKED = ("不再", "作废", "过时", "已被")


class _ComparedLine(Record):
    """A line as it is compared."""

    text: str  # without the mark of a list and the speaker
    speaker: str
    spaced: str  # its words in lower case, with a space before and behind each
    sequence: tuple[str, ...]
    terms: frozenset[str]
    content: tuple[str, ...]  # in its order
    by_beginning: dict[str, list[str]]  # its terms by the letters that two forms share

    @property
    def subject(self) -> str:
        """Give its first word that names a thing; "" if there is none."""
        return next((term for term in self.content if _is_thing(term)), "")


@lru_cache(maxsize=4096)  # a search compares the same lines when it ranks and when it marks
def corrects(newer: str, older: str) -> float:
    """Give how much of an older line a newer one corrects, 0 to 1; 0 if it does not."""
    if max(len(newer), len(older)) > MOST_CHARACTERS:
        return 0.0
    new, old = _read(newer), _read(older)
    if new.sequence == old.sequence or not (new.content and old.content):
        return 0.0
    if new.speaker and old.speaker and new.speaker != old.speaker:
        return 0.0
    gone = _left(old, new)
    if _is_task(new.text) or _is_task(old.text) or _asks(old) or _is_courtesy(old):
        return 0.0
    if _is_new_of(new, old):
        return HELD
    both = [term for term in old.content if term not in gone]
    if not any(map(_names, both)) or _is_of_other_kind(new, old):
        return 0.0
    held = len(both) / len(old.content)
    if speaks_of_change(newer) and len(new.text) <= LONGEST_CHANGE and not _asks(new):
        return _changed(new, old, held, len(both))
    if _adds(new) or _is_event(old) or _is_event(new):
        return 0.0
    if _is_another_value(new, old):
        return max(held, HELD)
    gone, come = ([term for term in each if term not in _OFTEN] for each in (gone, _left(new, old)))
    if not (gone or come):
        is_turned = sum(map(_names, both)) >= LEAST_SHARED and _is_turned(new, old)
        return max(held, HELD) if is_turned else 0.0
    is_same = sum(map(_is_thing, both)) >= LEAST_SHARED
    return held if is_same and _is_one_value(gone, come, new, old) else 0.0


def revokes(text: str, name: str) -> int | None:
    """Give the line of a text, from 0, that says of a link to a document that it is replaced.

    Example: `This replaces the decision of [[2025-03-03]].` of `2025-03-03.md`
    """
    stem = name.removesuffix(".md")
    wiki = (f"{opened}{stem}{end}" for opened in ("[[", "/") for end in ("]]", "#", "|"))
    links = (*wiki, f"/{name})", f"({name})", f"({name}#", f"/{name}#")
    for number, line in enumerate(text.split("\n")):
        if any(link in line and revokes_link(line, link) for link in links):
            return number
    return None


def revokes_link(line: str, link: str) -> bool:
    """Tell that a line says, in the clause around a link, that what it leads to is replaced."""
    before, is_in, behind = line.partition(link)
    if not is_in:
        return False
    before, behind = (spaced(_clauses(each)[at]) for each, at in (
        (before[-NEAR_A_LINK:], -1), (behind[:NEAR_A_LINK], 0)
    ))  # fmt: skip
    return any(each in before for each in (*_REVOKES, *_HAN_REVOKES_LINK)) or any(
        each in behind for each in (*_IS_REVOKED, *_HAN_IS_REVOKED)
    )


def _clauses(text: str) -> list[str]:
    for end in "!?;":
        text = text.replace(f"{end} ", ". ")
    for end in "！？；":
        text = text.replace(end, "。")
    return text.replace("。", ". ").split(". ")


def _changed(new: _ComparedLine, old: _ComparedLine, held: float, shared: int) -> float:
    named = frozenset[str]().union(*map(content, _replaced(new)))
    times = sum(_has(old, term) for term in named)
    is_named = times > 0
    # What happened is seldom undone by what happens later.
    is_sure = times > 1 or (is_named and (held >= HELD or has_han(old.text)))
    if _is_event(old) and not is_sure and held < SURELY_HELD:
        return 0.0
    if _is_resized(new, old) or _is_left(new, old, named):
        return HELD
    if _is_of_another(new, old, named):
        return 0.0
    is_of_one = _has(new, old.subject) and _has(old, new.subject)
    subjects_held = HAN_SUBJECTS_HELD if has_han(old.text) else SUBJECTS_HELD
    if held >= (subjects_held if is_of_one else HELD) and (shared >= LEAST_SHARED or is_named):
        return max(held, HELD)
    if is_named and (shared >= LEAST_SHARED or len(old.content) <= SHORT):
        return HELD
    behind = dict(zip(new.sequence, new.sequence[1:], strict=False)).get(old.subject, "")
    if _is_thing(behind) and not (_has(old, behind) or has_han(behind)):
        return 0.0  # a school trip is not a school
    name = _name(old)
    if len(name) > 1 and all(_has(new, term) for term in name):
        return HELD
    # What moves to another time is named first, and had a time.
    is_of_it = old.content[0] in new.terms and _has_time(old) and _has_time(new)
    return HELD if is_of_it and _is_moved(new) else 0.0


def _is_resized(new: _ComparedLine, old: _ComparedLine) -> bool:
    """Tell that an amount is changed: `50 mg of X` and `lowered X to 25 mg`."""
    at = next((n for n, term in enumerate(new.sequence) if term in _RESIZED), -1)
    mine, theirs = dict(_amounts(new)), dict(_amounts(old))
    behind = new.sequence[at + 1 : at + 1 + _FAR]
    thing = next((term for term in behind if _is_thing(term) and term not in mine), "")
    if at < 0 or not _has(old, thing):
        return False
    return any(mine[unit] != theirs[unit] for unit in mine.keys() & theirs)


def _amounts(line: _ComparedLine) -> Iterator[tuple[str, str]]:
    return ((unit, number) for number, unit in pairwise(line.sequence) if _is_number(number))


def _is_left(new: _ComparedLine, old: _ComparedLine, named: frozenset[str]) -> bool:
    """Tell that somebody leaves what the older line says of them.

    `I run in Brooks` and `I switched from Brooks`, `Tom lives in Bristol` and `Tom moved to York`.
    """
    if has_han(new.text) and has_han(old.text):
        home, place = old.text.partition("住在")[0], new.text.partition("搬到")[0]
        return home != old.text and home == place
    if not _has_same_start(new, old):
        return False
    verb = next((at for at, term in enumerate(old.sequence) if term in _STATES), len(old.sequence))
    value = next(filter(_is_content, old.sequence[verb + 1 :]), "")
    if value in named and not _MOVES.isdisjoint(new.sequence):
        return True
    behind = new.text.partition(" moved to ")[2] or new.text.partition(" nach ")[2]
    is_home = not _HOMES.isdisjoint(old.sequence[1 : 1 + _FAR])
    return is_home and behind[:1].isupper() and not _MOVES.isdisjoint(new.sequence[1:3])


def _has_same_start(new: _ComparedLine, old: _ComparedLine) -> bool:
    """Tell that both lines begin with the same name or with `I`."""
    first = old.sequence[0]
    return first == new.sequence[0] and (first in _OWN or _is_thing(first))


def _replaced(line: _ComparedLine) -> Iterator[str]:
    """Give the words of a line that name what is replaced."""
    yield from _behind(line, _REPLACES)
    for phrase in _IS_REPLACED:
        for before in line.spaced.split(phrase)[:-1]:
            yield " ".join([word for word in before.split() if word not in _AUXILIARIES][-1:])
    for phrase in _FROM:
        before, is_in, behind = line.spaced.partition(phrase)
        near = (*before.split()[-_FAR:], *(behind.split()[-_FAR:] if phrase != " from " else ()))
        if is_in and not _MOVES.isdisjoint(near):
            yield " ".join(behind.split()[:3])
    if has_han(line.text):
        for phrase in _HAN_REPLACES:
            for behind in line.text.split(phrase)[1:]:
                yield behind[:8].partition("改")[0].partition("换")[0]


def _behind(line: _ComparedLine, phrases: Sequence[str]) -> Iterator[str]:
    for phrase in phrases:
        pieces = line.spaced.split(phrase)
        for before, behind in pairwise(pieces):
            words = behind.split()[:3]
            if words and words[0].endswith("ing") and phrase in _INSTEAD:
                continue  # an action
            if not before.endswith(_PASSIVE):  # what is cancelled comes before it
                yield " ".join(words)


def _is_of_another(new: _ComparedLine, old: _ComparedLine, named: frozenset[str]) -> bool:
    """Tell that two lines are about two things.

    Neither has the subject of the other, or a word that both have follows two different words:
    the `web team` is not the `mobile team`.
    """
    if has_han(new.text) or has_han(old.text):
        one, other = map(_han_subject, (new.text, old.text))
        return bool(one and other) and one not in old.text and other not in new.text
    whose = dict(zip(new.sequence, new.sequence[2:], strict=False)).get(old.subject, "")
    if f" {old.subject} s {whose} " in f" {' '.join(new.sequence)} " and not _has(old, whose):
        return True  # Kim's sister is not Kim
    instead = {*filter(_is_thing, frozenset[str]().union(*map(content, _behind(new, _INSTEAD))))}
    if instead and not any(_has(old, term) for term in instead):
        return True
    is_foreign = not _has(new, old.subject) and not _has(old, new.subject)
    if is_foreign and not any(each in new.spaced for each in _TAKES):
        if _has_same_start(new, old) and any(_has(old, term) for term in named):
            return False
        if not instead:
            return True
    if len(name := _name(old)) > 1 and all(_has(new, term) for term in name):
        return False
    mine, theirs = dict(_attributes(new)), dict(_attributes(old))
    if any(term not in named for term, _ in mine.items() & theirs.items()):
        return False  # both of one thing, whatever title comes before its name
    return any(
        not _has(new, theirs[term]) and not _has(old, mine[term]) for term in mine.keys() & theirs
    )


def _han_subject(text: str) -> str:
    """Give the first two signs; "" if the line begins with a change."""
    start = text.removeprefix("我们").removeprefix("我")[:2]
    return "" if any(start.startswith(each[:2]) for each in _HAN_REPLACES) else start


def _attributes(line: _ComparedLine) -> Iterator[tuple[str, str]]:
    """Give things and what tells them from others: `mobile team`, `timeout of the client`."""
    words = line.sequence
    for at, (one, other) in enumerate(pairwise(words)):
        if _is_thing(one) and _is_thing(other):
            yield other, one
        elif _is_thing(one) and other in _OF:
            yield from ((one, term) for term in words[at + 2 : at + 4] if _is_thing(term))


def _is_thing(term: str) -> bool:
    return bool(term) and _is_content(term) and _names(term) and term not in _NO_SUBJECT


def _name(line: _ComparedLine) -> list[str]:
    """Give the words before the verb or the colon of a line that says what is so."""
    ends = (at for at, term in enumerate(line.sequence) if term in _STATES or term == "will")
    end = next(ends, 0)
    if not end and (label := _label(line.text)):
        end = len(terms(label))
    return [term for term in line.sequence[:end] if _is_content(term)]


def _has_time(line: _ComparedLine) -> bool:
    return not _DIGITS.isdisjoint(line.text) or not _TIME.isdisjoint(line.sequence)


def _is_moved(line: _ComparedLine) -> bool:
    return not _MOVED.isdisjoint(line.sequence) or any(each in line.text for each in _HAN_MOVED)


def _adds(line: _ComparedLine) -> bool:
    if line.spaced.endswith(" too ") or any(each in line.spaced for each in _ADDITIONS):
        return True
    return has_han(line.text) and any(each in line.text for each in _HAN_ADDITIONS)


def _asks(line: _ComparedLine) -> bool:
    return "?" in line.text or "？" in line.text or any(each in line.spaced for each in _REQUESTS)


def begins_with_new(text: str) -> bool:
    """Tell that a line may begin with a new thing of a name: `New manager: Priya`."""
    start = text.lstrip("-*+> ")[:4].casefold()
    return start.startswith(_NEW)


def _is_new_of(new: _ComparedLine, old: _ComparedLine) -> bool:
    """Tell that the newer line has the new thing of a name: `My manager is Colin` and it."""
    if not begins_with_new(new.text):
        return False
    if has_han(new.text):
        name = min((old.text.partition(sign)[0] for sign in "是在：:"), key=len)
        name = name.removeprefix("我们").removeprefix("我").removeprefix("的")
        label = new.text.removeprefix("新").removeprefix("的")
        return len(name) > 1 and name != old.text and label.startswith(name)
    words = _name(old)
    own = list(new.sequence[1 : 2 + len(words)])
    is_value = "is" in new.sequence or "ist" in new.sequence or _label(new.text)
    return bool(words and is_value) and own[:-1] == words and own[-1] not in _OF


def _is_of_other_kind(new: _ComparedLine, old: _ComparedLine) -> bool:
    """Tell that the newer line is of other tickets, another letter, or an exception.

    A change to code that both name is one event, reported twice.
    """
    mine, theirs = _tickets(new), _tickets(old)
    if theirs - mine or any("/" in each for each in mine):
        return True
    return _is_of_other_letter(new, old) or _is_once(new, old)


def _is_of_other_letter(new: _ComparedLine, old: _ComparedLine) -> bool:
    """Tell that two lines name two of a kind by letters: `team A` and `team B`."""
    mine = dict(_letters(new))
    theirs = dict(_letters(old)) if mine else {}
    return any(mine[word] != theirs[word] for word in mine.keys() & theirs)


def _letters(line: _ComparedLine) -> Iterator[tuple[str, str]]:
    if any(len(term) == 1 and term.isalpha() for term in line.sequence):
        for one, other in pairwise(line.text.split()):
            if len(letter := other.strip(".,;:()")) == 1 and letter.isupper() and letter.isascii():
                yield one.casefold(), letter


def _is_once(new: _ComparedLine, old: _ComparedLine) -> bool:
    """Tell that the newer line is an exception for a day or a week."""
    if any(each in new.spaced for each in _LASTING):
        return False
    if any(each in new.spaced for each in _ONCE):
        return not any(each in old.spaced for each in _ONCE)
    if has_han(new.text) and any(each in new.text for each in _HAN_ONCE):
        is_lasting = any(each in new.text for each in _HAN_LASTING)
        return not is_lasting and not any(each in old.text for each in _HAN_ONCE)
    return not _EVERY.isdisjoint(old.sequence) and any(
        one in _WEEKDAYS and other.isdigit() for one, other in pairwise(new.sequence)
    )


def _is_courtesy(line: _ComparedLine) -> bool:
    """Tell that a line greets or thanks, and says nothing of who writes it."""
    is_own = not _OWN.isdisjoint(line.sequence) or not _DIGITS.isdisjoint(line.text)
    return line.sequence[0] in _COURTESIES and not is_own


def _is_task(text: str) -> bool:
    return text.startswith("[") and text[1:3] in (" ]", "x]", "X]")


def _is_event(line: _ComparedLine) -> bool:
    """Tell that a line says what happened, by a verb of the past that is no participle."""
    if any(each in line.text for each in _HAN_EVENT) or " haben wir " in line.spaced:
        return True
    words = line.spaced.split()
    return not _EVENT.isdisjoint(words) or any(
        (before in ("am", "m") and word.endswith("ing"))
        or (len(word) > 5 and word.startswith("ge") and word.endswith(("t", "en")))
        or _is_past(word, before)
        for word, before in zip(words, ["", *words], strict=False)
    )


def _is_past(word: str, before: str) -> bool:
    is_past = (word.endswith("ed") and word not in _NO_PAST) or word in _PAST
    return is_past and before not in _COPULAS


def _is_turned(new: _ComparedLine, old: _ComparedLine) -> bool:
    from memcli.language.facts import facets_of  # its patterns take 10 ms to compile

    return facets_of(new.text).telling != facets_of(old.text).telling


def _is_another_value(new: _ComparedLine, old: _ComparedLine) -> bool:
    """Tell that two lines are the same up to a value, and after it."""
    if new.sequence[:1] != old.sequence[:1]:
        return False
    a, b = _tokens(old.text), _tokens(new.text)
    first = _same(a, b)
    last = _same(a[first:][::-1], b[first:][::-1])
    one, other = a[first : len(a) - last], b[first : len(b) - last]
    before = a[:first]
    is_han = any(map(has_han, before))
    if "," not in a and "," in other:
        other = other[: other.index(",")]  # what follows is a comment
    if not (one and other) or "," in one or _is_past(one[0], "") or _is_past(other[0], ""):
        return False
    are_numbers = one[0][0] in _DIGITS and other[0][0] in _DIGITS
    longest = LONGEST_VALUE * (2 if is_han else 1)
    if max(len(one), len(other)) > longest:
        return False
    if all(any(token in _ATTRIBUTES for token in each) for each in (one, other)):
        return False  # two attributes, each with its value
    if not are_numbers and not _ATTRIBUTES.isdisjoint(a[len(a) - last :]):
        return False  # two attributes with the same value
    name = [token for token in before if _is_content(token) and token not in _STATES]
    if len(name) < (LEAST_SHARED if is_han else 1):
        return False
    label = _label(new.text)
    has_label = label == _label(old.text) and label not in _LABELS_OF_ALL
    if is_han:
        words = "".join(before)
        is_several = words.endswith("有") and not are_numbers
        if are_numbers and len(name) >= BEFORE_A_HAN_NUMBER:
            return True
        return (any(state in words for state in _HAN_STATES) and not is_several) or has_label
    verbs = [token for token in before if token in _STATES]
    if verbs:
        return are_numbers or verbs[-1] not in _SEVERAL
    if are_numbers and max(len(one), len(other)) <= 2:
        return len(name) >= BEFORE_A_NUMBER or has_label
    return has_label


def _tokens(text: str) -> Sequence[str]:
    tokens: list[str] = []
    for token in tokens_of(text):
        is_number = token in _DIGITS and bool(tokens) and tokens[-1][-1] in _DIGITS
        if is_number and has_han(token):
            tokens[-1] += token
        else:
            tokens.append(token)
    return tokens[:-1] if tokens[-1:] == [","] else tokens


def _label(text: str) -> str:
    """Give the name of a line that is a name and a value, as `Team lead: Yusuf`; or ""."""
    start = text[:_LONGEST_LABEL].casefold()
    name = min(start.partition(": ")[0], start.partition("：")[0], key=len)
    is_name = len(name) < len(start) and name[:1].isalpha() and not any(s in name for s in ".!?\n")
    return name if is_name else ""


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
    speaker, said = "", text.lstrip()
    if said.startswith(_SPEAKER_MARKS):
        from memcli.language.discourse import SPEAKER_MARK, speaker_of

        line = said[said.index("*" * 2) :]
        if mark := SPEAKER_MARK.match(line):
            speaker, said = speaker_of(mark), line[mark.end() :]
    said = _without_frame(_without_lead(said))
    sequence = tuple(terms(said))
    own = tuple(term for term in dict.fromkeys(sequence) if _is_content(term))
    by_beginning: dict[str, list[str]] = {}
    for term in sequence:
        by_beginning.setdefault(term[:INFLECTED], []).append(term)
    return _ComparedLine(
        said, speaker, spaced(said), sequence, frozenset(sequence), own, by_beginning
    )


def _without_frame(text: str) -> str:
    """Leave out who decided what follows: `We agreed that`."""
    start = text[:_LONGEST_FRAME].casefold()
    frame = next((each for each in _FRAMES if start.startswith(each)), "")
    return text[len(frame) :]


def _without_lead(text: str) -> str:
    """Leave out the marks of a list, a heading or a quotation, and the time of an entry."""
    mark, _, rest = text.lstrip("> ").partition(" ")
    while rest and (
        mark in ("-", "+", "*")
        or not mark.strip("#")
        or (mark[:-1].isdigit() and mark[-1] in ".)")
        or (mark[:2].isdigit() and mark.replace(":", "").isdigit() and ":" in mark)
        or mark in ("(user)", "(feedback)", "(project)", "(reference)")
    ):
        mark, _, rest = rest.lstrip().partition(" ")
    return f"{mark} {rest}" if rest else mark


def _tickets(line: _ComparedLine) -> set[str]:
    """Give the numbers of tickets in a line, which name other things and are no values."""
    words = line.text.split() if "-" in line.text or "/" in line.text else ()
    return {word for each in words if _is_ticket(word := each.strip(".,;:()[]"))}


def _is_ticket(word: str) -> bool:
    key, _, number = word.rpartition("-")
    is_number = key[:1].isupper() and key[1:].isalpha() and number.isdigit()
    return is_number or any(f"/{kind}/" in word for kind in _PULLS)


def _is_one_value(
    gone: Sequence[str], come: Sequence[str], new: _ComparedLine, old: _ComparedLine
) -> bool:
    """Tell that one thing at most stands in the place of another, behind what names it."""
    if not (gone and come):
        return not gone and not come
    if max(len(gone), len(come)) > 1:
        return False
    before = old.content.index(gone[0])
    if gone[0].isdigit():
        return sum(map(_names, old.content[:before])) >= BEFORE_A_NUMBER
    is_behind = 2 * (before + 1) > len(old.content)
    return is_behind and 2 * (new.content.index(come[0]) + 1) > len(new.content)


def _left(a: _ComparedLine, b: _ComparedLine) -> list[str]:
    """List the content of a line which the other has no form of, in its order."""
    return [term for term in a.content if not _has(b, term)]


def _has(line: _ComparedLine, term: str) -> bool:
    if not term or term in line.terms:
        return bool(term)
    return not term.isdigit() and has_form(term, line.by_beginning.get(term[:INFLECTED], ()))


def _names(term: str) -> bool:
    """Tell that a word may name a thing: it is no number and no time."""
    return not _is_number(term) and term not in _TIME


def _is_number(term: str) -> bool:
    return term.isdigit() or term in _NUMBERS


def _is_content(term: str) -> bool:
    return term not in ENGLISH and term not in GERMAN
