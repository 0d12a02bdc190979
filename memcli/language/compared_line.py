"""Read a line for a comparison with others: what it names, states and changes; pure.

The words are tables, because a search must not wait until patterns are compiled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

from memcli.language.change import Cue, chinese_cues, cues, spaced
from memcli.language.stopwords import ENGLISH, GERMAN_MONTHS, MONTH_NAMES, WEEKDAYS, table
from memcli.language.stopwords import GERMAN as ALL_GERMAN
from memcli.language.terms import INFLECTED, has_form, has_han, terms


def phrases(words: str) -> tuple[str, ...]:
    """Make a list from phrases separated by commas, with spaces around each phrase."""
    return tuple(f" {' '.join(each.split())} " for each in words.split(","))


GERMAN = ALL_GERMAN - {"bin", "hat", "man", "war"}  # nouns in English
_ADDITIONS = (
    *phrases(
        "also, as well, besides, additionally, a second, auch, ebenfalls, zusätzlich, außerdem,"
        " eine zweite, einen zweiten, ein zweites"
    ),
    "也", "还", "另外", "又", "第二",
)  # fmt: skip
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
MOVES = table("move moved moving switch switched changed migrated left gewechselt umgezogen")
PLURAL_DAYS = frozenset(f"{day}s" for day in WEEKDAYS)
DAYS = WEEKDAYS | PLURAL_DAYS
NUMBERS = table(
    """one two three four five six seven eight nine ten eleven twelve eins zwei drei vier fünf sechs
    sieben acht neun zehn elf zwölf"""
)
# Two lines are not about the same thing if they share only words of time.
TIME = (
    WEEKDAYS
    | PLURAL_DAYS
    | MONTH_NAMES
    | table(
        """day days week weeks month months year years time today now
    second seconds minute minutes hour hours percent dollars euro euros sekunden minuten stunden
    morning mornings evening evenings noon spring summer autumn winter
    tag tage woche wochen monat jahr uhr heute
    周一 周二 周三 周四 周五 周六 周日 上午 下午 今天"""
    )
)
# Types of values, with the words that show them.
_TYPES = {
    "day": DAYS,
    "time of day": table("uhr am pm noon"),
    "date": MONTH_NAMES - {"may"},  # a verb
    "price": table("euro euros dollars pounds francs percent prozent"),
}
_UNITS_OF_TIME = table(
    """second seconds minute minutes hour hours day days week weeks month months year years sekunden
    minuten stunde stunden tag tage tagen woche wochen monat monate monaten jahr jahre jahren"""
)
_A = table("a an ein eine einen")
_HAN_TYPES = {
    "day": [day + sign for day in ("周", "星期") for sign in "一二三四五六日天"],
    "time of day": ("点", "上午", "下午"),
    "date": [month + "月" for month in "一二三四五六七八九十0123456789"],
    "duration": [
        number + unit
        for number in "一二两三四五六七八九十半0123456789"
        for unit in ("天", "年", "分钟", "小时", "个月")
    ],
    "price": ("元", "块"),
}
# A question or a request changes nothing.
_REQUESTS = phrases(
    "can you, could you, help me, trying to, feel free, let me know, kannst du, hilf mir"
)
OWN = table("i my we our ich mein meine wir unser unsere")
# Verbs of events. A later event does not correct an earlier one.
_EVENT = table(
    """was were had went ran took saw did came ate flew drove wrote gave slept felt today yesterday
    tonight war waren wurde wurden gestern heute habe"""
)
_PAST = table("got met paid made bought lost won sent told said kept")
_HAN_EVENT = ("了", "过了", "去过", "来过", "看过", "吃过", "今天", "昨天")
_NO_PAST = table(
    "need feed speed embed seed breed shed bed red included excluded required needed limited based"
)
# After one of these words a verb of the past is a participle, which describes a state.
_BEFORE_PARTICIPLES = table(
    "is are be been am get gets not the a an our my your his her its their when if as until"
)
# Verbs of states that last until they change, and that have one value at a time.
STATES = table(
    """is are am be works work lives live runs run listens opens closes costs cost takes take needs
    need wears wear uses use starts ends expires expire belongs leads owns handles hosts comes goes
    drives drive drinks drink eats eat prefers prefer stands sits release meets meet sleeps
    sleep allows has have get gets reads plays pays keeps stored retries teaches walks
    ist sind bin beträgt kostet läuft laufen wohnt wohne arbeite arbeitet kommt steht stehen liegt
    liegen heisst beginnt endet öffnet schliesst leitet nutzt nutzen verwenden verwendet braucht
    dauert trägt hat haben gilt fahre fährt fahren trifft treffen antwortet hängt parken park parks
    kaufen rehearses trains bakes sings teaches coaches cooks waters cleans delivers signs sends
    send leaves leave arrives departs prüft giesst gießt putzt macht betreut holt bringt kocht
    pflegt parkt trainiert probt übt mäht kommen come unterrichtet sitzt unterschreibt wartet
    schreibt studiere studiert"""
)
# The name of a thing ends before one of these words.
_ENDS = STATES | table(
    """will must may can should was were wurde wurden moved switched replaced changed closed darf
    dürfen muss müssen kann können soll geht gehen gibt macht machen spielt trinkt trinke"""
)
# These words do not name a thing: titles, events, and attributes of a new thing.
_NO_SUBJECT = (
    STATES
    | MOVES
    | table(
        """took over raise raised lower lowered went change changes replaces replacing renamed
        cancelled canceled dropped drop closed instead longer other another ersetzt abgeschafft
        gekündigt statt mr mrs ms dr frau herr herrn as all every each das die der nobody everybody
        everyone no never often mostly normally normalerweise derzeit noch postponed rescheduled
        brought extended shifted verschoben vorverlegt verlegt geändert"""
    )
)
# Common words of a conversation. Two lines that share them need not be about the same thing.
_COMMON = table(
    """great like really up make makes thanks love wow keep awesome good amazing way going hey
    see people lot favorite got definitely cool fun experience last let made enjoy something
    sure know well feel hear anything making things thing glad nice appreciate best find
    together important different hard special try think difference right around incredible look
    looks looking moments positive absolutely give long share journey back taking seeing care
    quite big hope getting part feeling means talk exciting sitting come want wait few others
    helps lately soon little happy haven forget staying down went better truly kind trying found
    bit watching super worth free beautiful perfect brings mind words idea remember finding
    wonderful first two small bring pretty helping maybe totally tried felt same forward started
    thinking real future add stuff create start done sharing top offer true plus far later
    chance someone coming blast inspired easy ready check date next ago year years week month
    day days yep no yes worries tips support supporting appreciated stay optimistic sorry spend
    encouragement encouraging nature inspire inspires sounds reminds remind currently again
    since just finally completely still because already enough nur doch noch wieder immer
    usually always wegen uns new neu neue neuer neues"""
)
EVERY = PLURAL_DAYS | table("every each weekly daily jeden jede jedes")
_NO_CONTENT = ENGLISH | GERMAN | _COMMON
_NO_THING = ENGLISH | GERMAN | TIME | NUMBERS | _NO_SUBJECT | {""}
_MONTHS = tuple(sorted(map(str.capitalize, GERMAN_MONTHS)))
_IMAGE = "[image:"  # a caption follows
_LONGEST_LABEL = 42  # characters
DIGITS = frozenset("0123456789一二两三四五六七八九十百千万")
_SPEAKER_MARKS = ("**", "- **", "* **", "+ **")
_CLAUSE_ENDS = str.maketrans(dict.fromkeys("，；。！？、：", "\n"))


class ComparedLine:
    """A line, prepared for comparisons."""

    def __init__(self, text: str) -> None:
        """Read a line without its speaker, its list marker and its caption."""
        self.speaker, body = "", text.lstrip()
        if body.startswith(_SPEAKER_MARKS):
            from memcli.language.discourse import SPEAKER_MARK, speaker_of

            line = body[body.index("*" * 2) :]
            if mark := SPEAKER_MARK.match(line):
                self.speaker, body = speaker_of(mark), line[mark.end() :]
        self.text = _without_frame(_without_lead(body.partition(_IMAGE)[0].rstrip()))
        self.is_han = has_han(self.text)
        self.spaced = spaced(self.text)  # in lower case, with a space before and after each word
        self.sequence = tuple(terms(self.text))
        self.terms = frozenset(self.sequence)
        self.cues = tuple(_changes(self.text, is_han=self.is_han))  # clauses with words of change

    @cached_property
    def _by_beginning(self) -> dict[str, list[str]]:
        """Sort its terms by the letters that two forms of a word share."""
        by_beginning: dict[str, list[str]] = {}
        for term in self.sequence:
            by_beginning.setdefault(term[:INFLECTED], []).append(term)
        return by_beginning

    @cached_property
    def content(self) -> tuple[str, ...]:
        """List its words, except function words, words of change and common words."""
        of_change = (
            word for clause, own_cues in self.cues for c in own_cues
            for word in clause[c.first : c.end]
        )  # fmt: skip
        left_out = _NO_CONTENT.union(() if self.is_han else terms(" ".join(of_change)))
        return tuple(
            term for term in dict.fromkeys(self.sequence)
            if term not in left_out and (len(term) > 1 or term.isdigit())
        )  # fmt: skip

    @cached_property
    def signs(self) -> str:
        """Return the characters of a Chinese line, without its words of change."""
        signs = self.text if self.is_han else ""
        for clause, own_cues in self.cues if self.is_han else ():
            for cue in own_cues:
                signs = signs.replace(clause[0][cue.first : cue.end], " ")
        return "".join(sign for sign in signs if sign.isalnum() or sign == " ")

    def has(self, term: str) -> bool:
        """Return whether the line contains a term, or another form of it."""
        if not term or term in self.terms:
            return bool(term)
        forms = self._by_beginning.get(term[:INFLECTED], ())
        return not term.isdigit() and has_form(term, forms)

    @property
    def things(self) -> list[str]:
        """List the words that may name a thing."""
        return [term for term in self.content if is_thing(term)]

    @cached_property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """Return the words before the verb or the colon of each clause."""
        names: list[tuple[str, ...]] = []
        for clause in clauses_of(self.text):
            words = terms(clause)
            if ends := _ENDS.intersection(words):
                names.append(tuple(filter(is_content, words[: min(map(words.index, ends))])))
        label = tuple(filter(is_content, terms(label_of(self.text))))
        return tuple(filter(None, names)) or (label,)

    @cached_property
    def is_event(self) -> bool:
        """Return whether the line reports an event."""
        words = self.spaced.split()
        if any(each in self.text for each in _HAN_EVENT) or ("haben", "wir") in pairwise(words):
            return True
        # `wird geschlossen` and `montags geschlossen` last.
        is_over = "wird" not in words and "werden" not in words and PLURAL_DAYS.isdisjoint(words)
        return not _EVENT.isdisjoint(words) or any(
            (before in ("am", "m") and word.endswith("ing"))
            or (before and is_over and _is_german_participle(word))
            or is_past(word, before)
            for word, before in zip(words, ["", *words], strict=False)
        )

    @property
    def name(self) -> tuple[str, ...]:
        """Return the words before the first verb or colon."""
        return self.names[0]

    @property
    def subject(self) -> str:
        """Return the first word that names a thing, or ""."""
        return next(iter(self.things), "")

    @cached_property
    def value_types(self) -> frozenset[str]:
        """Return the types of its values: day, time of day, date, duration, price."""
        text, words = self.text, self.sequence
        if self.is_han:
            return frozenset(
                kind for kind, signs in _HAN_TYPES.items() if any(map(text.__contains__, signs))
            )
        types = {kind for kind, table_of in _TYPES.items() if not table_of.isdisjoint(words)}
        numbered = [b for a, b in pairwise(words) if is_number(a) or a in _A]
        if not _UNITS_OF_TIME.isdisjoint(numbered):
            types.add("duration")
        if ":" in text and any(a.isdigit() and b.isdigit() for a, b in pairwise(words)):
            types.add("time of day")
        if any(map(text.__contains__, "€$£%")):
            types.add("price")
        return frozenset(types)

    @property
    def kinds(self) -> frozenset[str]:
        """Return the kinds of its words of change."""
        return frozenset(cue.kind for _, cues in self.cues for cue in cues)


read_line = lru_cache(maxsize=1024)(ComparedLine)  # one line is compared with many others


def is_among(term: str, words: Sequence[str]) -> bool:
    """Return whether some words contain a term, or another form of it."""
    return term in words or has_form(term, words)


def is_thing(term: str) -> bool:
    """Return whether a word may name a thing."""
    return term not in _NO_THING and not term.isdigit()


def adds(line: ComparedLine) -> bool:
    """Return whether a line adds something, as with `also`."""
    return line.spaced.endswith(" too ") or any(each in line.spaced for each in _ADDITIONS)


def asks(line: ComparedLine) -> bool:
    """Return whether a line is a question."""
    if "?" in line.text or "？" in line.text or any(each in line.spaced for each in _REQUESTS):
        return True
    return " let s " in line.spaced and " instead " not in line.spaced


def _is_german_participle(word: str) -> bool:
    return len(word) > 5 and word.startswith("ge") and word.endswith(("t", "en"))


def is_past(word: str, before: str) -> bool:
    """Return whether a word is a past-tense verb, by its ending and the word before it."""
    is_past = (word.endswith("ed") and word not in _NO_PAST) or word in _PAST
    return is_past and before not in _BEFORE_PARTICIPLES


def label_of(text: str) -> str:
    """Return the name in a line of name and value, such as `Team lead: Yusuf`, or ""."""
    start = text[:_LONGEST_LABEL].casefold()
    name = min(start.partition(": ")[0], start.partition("：")[0], key=len)
    is_name = len(name) < len(start) and name[:1].isalpha() and not any(s in name for s in ".!?\n")
    return name if is_name else ""


def _changes(text: str, *, is_han: bool) -> Iterator[tuple[tuple[str, ...], tuple[Cue, ...]]]:
    """Yield the clauses with words of change: their words, or the clause itself in Chinese."""
    for clause in clauses_of(text):
        words = spaced(clause)
        if marks := (chinese_cues(clause) if is_han else cues(words)):
            yield (clause,) if is_han else tuple(words.split()), tuple(marks)


def clauses_of(text: str) -> list[str]:
    """Split a text into its clauses."""
    text = text.translate(_CLAUSE_ENDS)
    if ". " in text and not DIGITS.isdisjoint(text):  # `am 1. August` is one clause
        for month in _MONTHS:
            text = text.replace(f". {month}", f" {month}")
    for end in (", ", ". ", "; ", ": ", "! ", "? ", " (", ") ", " - ", " – ", " — "):
        text = text.replace(end, "\n")
    return text.split("\n")


def _without_frame(text: str) -> str:
    """Remove an introduction such as `We agreed that`."""
    start = text[:_LONGEST_FRAME].casefold()
    frame = next((each for each in _FRAMES if start.startswith(each)), "")
    return text[len(frame) :]


def _without_lead(text: str) -> str:
    """Remove list, heading and quotation markers, and the time of an entry."""
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


def is_name(term: str) -> bool:
    """Return whether a word may name a thing: it is not a number or a time."""
    return not is_number(term) and term not in TIME


def is_number(term: str) -> bool:
    """Return whether a word is a number."""
    return term.isdigit() or term in NUMBERS


def is_content(term: str) -> bool:
    """Return whether a word is not a function word."""
    return term not in ENGLISH and term not in GERMAN
