"""Judge whether a line says what a question asks about, or only contains its words; pure.

`Where does Tomas live?` finds notes with Tomas, and others with `live`. Its answer is a line with
the subject and what is asked about it, and names a place. So a question counts as supported if its
first passages have a line with most of the IDF of its words, with all its names, and with a value
of the wanted kind. A word in a heading counts less, and one elsewhere in the passage still less.

A passage that is near by its cosine may answer in other words, so no line of it is needed. But if
a question names exit code 12, or the cache of Nordpak, and the first passages only another exit
code, or the cache of somebody else, they are about another thing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from math import fsum

from memcli.checking import TYPE_CHECKING
from memcli.language.stopwords import ENGLISH, GERMAN
from memcli.language.terms import has_form, has_han, has_synonym, terms
from memcli.language.words import MONTHS
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.search.pipeline import Answer
    from memcli.search.ranked import RankedPassage

# On the conversations of the fixture, LoCoMo, BEAM, REALTALK and QMSum, these rules doubt about
# half of the strong answers to questions without an answer, and one right answer in eight.
PASSAGES = 3
IN_HEADING, IN_PASSAGE = 0.75, 0.4  # of a word's weight
LEAST_SHARE, FULL_SHARE = 0.6, 0.9
NEAR, NEAR_FOR_NAMES = 0.5, 0.55  # cosines, of a model with a calibration
_ASKING_SHARE = 0.3  # of the weight of a word that only asks for a kind of value
_ASKING = frozenset(
    """big called charge charges cost costs date day kind long many mean means month much name
    names number often old said say says time type
    year""".split()  # noqa: SIM905 (a table to be read)
)
USER = "USER.md"  # its lines are about the person whom it names
_OWNER = r"(?im)^\W*name\W{0,3}:\W{0,3}(\w[\w .'-]*)"
_NAME = r"[^\W\d_][\w'’-]*"
_MONTHS = MONTHS.replace("|may|", "|(?-i:May)|")  # the verb `may` is no month
# What a question asks for, and what a line with such a value contains.
_KINDS = (
    (
        r"(?i)^\W*(?:where|wo|wohin|woher)\b|\b(?:which|what) (?:city|town|country|place)\b",
        r"(?i)\b(?:in|at|to|from|near|on|into|under|above|behind|beside|nach|aus|bei|zu|auf|im"
        r"|unter|über|hinter|neben)\s+(?!\d|(?:the )?(?:end|start"
        rf"|morning|afternoon|evening|night|weekend|holidays?|{_MONTHS})\b)\w",
    ),
    (
        r"(?i)^\W*(?:when|wann|(?:since|until|till|by) when)\b"
        r"|\bwhat (?:time|date|day|year|month)\b",
        r"(?i)\d[:./-]\d|\b(?:19|20)\d\d\b|\b\d{1,2}(?:st|nd|rd|th)\b"
        rf"|\b(?:{_MONTHS})\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
        r"|\b(?:mon|diens|donners|frei|sams|sonn)tags?\b|\bmittwochs?\b"
        r"|\b\d+ ?(?:am|pm|uhr)\b|\b(?:yesterday|today|tomorrow|tonight|last|next|every|ago"
        r"|morning|evening|noon|midnight|night|spring|summer|autumn|fall|winter|weekend|weeks?"
        r"|months?|years?|days?|o'clock|gestern|heute|morgen|woche|monat|jahr)\b",
    ),
    (
        r"(?i)\bhow old\b|\bwie alt\b",
        r"(?i)\b(?:years?|old|aged?|born|birthday|turn(?:s|ed)|jahre?|alt|geboren)\b",
    ),
    (
        r"(?i)\bhow (?:many|much|long|often|big|far|tall|large|high)\b"
        r"|\bwie (?:viel\w*|lange|oft|hoch|groß)\b|\bphone number\b",
        r"(?i)\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty"
        r"|forty|fifty|hundred|thousand|half|dozen|once|twice|daily|weekly|every|couple|few"
        r"|several|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn)\b",
    ),
)  # fmt: skip
# exit code 12, p99, OPS-417; Nordpak quote
_NUMBERED = r"([^\W\d_]+)[ -]?(\d+)(?![\w%€$]|[.:,]\d)"
_NAMED = (
    r"(?i:\b(?:the|our|a|of|for|in|der|die|das|dem|den)) "
    r"([A-ZÄÖÜ][\w-]*?)(?:['’]s?)?\s+([^\W\d_A-Z][\w-]+)"
)
_ASKS_WHO = r"(?i)^\W*(?:who|whom|whose|wer|wen|wem)\b"
_PERSON = (
    r"(?i)\b(?:i|my|we|our|mum|mom|mother|father|dad|sister|brother|friend|wife|husband|son"
    r"|daughter|ich|wir|mutter|vater|schwester|bruder)\b"
)
_NO_NOUNS = ENGLISH | GERMAN
_CAPITALS = r"\b[A-ZÄÖÜ][\w'’-]+"


class _Word(Record):
    """A word of a question, by its terms, and what it weighs."""

    terms: tuple[str, ...]
    weight: float
    is_name: bool

    def is_in(self, words: Collection[str]) -> bool:
        return all(
            term in words or has_form(term, words) or has_synonym(term, words)
            for term in self.terms
        )


def is_supported(question: str, answer: Answer) -> bool:
    """Return whether a line of the first passages may answer; Chinese counts as supported.

    So does a question that names a day, because its passages are of that day.
    """
    if has_han(question) or answer.is_long or answer.is_exact or answer.dates:
        return True
    words = _words_of(question, answer)
    if not words:
        return True
    first = answer.passages[:PASSAGES]
    if _is_about_another(question, first):
        return False
    about_owner = (each.text for each in answer.passages if each.about.path == USER)
    owner = {term for text in about_owner for name in re.findall(_OWNER, text)
             for term in terms(name)}  # fmt: skip
    here = {*owner, *(term for passage in first[:1] for term in terms(_text_of(passage)))}
    if not all(word.is_in(here) for word in words if word.is_name):
        return False
    cosines = (passage.cosine or 0.0 for passage in first if answer.constants)
    cosine = max(cosines, default=0.0)
    if cosine >= NEAR_FOR_NAMES:
        return True
    share, line, names = max(
        (
            each
            for passage in first
            for each in _lines(passage, words, owner if passage.about.path == USER else ())
        ),
        key=lambda each: each[0], default=(0.0, "", set()),
    )  # fmt: skip
    if cosine < NEAR and share < LEAST_SHARE:
        return False
    if not all(word.is_in(names) for word in words if word.is_name):
        return False
    return share >= FULL_SHARE or _has_kind(question, line)


def _is_about_another(question: str, passages: Sequence[RankedPassage]) -> bool:
    """Return whether a thing that a question names by a number or a name is not in the passages.

    Another one with the same noun is.
    """
    lines = [
        f"{' '.join(each.about.heading_path)}\n{line}"
        for each in passages
        for line in each.text.split("\n")
    ]
    # What another thing looks like, and what a line with the named one has.
    things = [
        (rf"(?i)\b({noun})[ -]?\d", rf"(?is){noun}.*(?<!\d){number}\b|\b{number}\b.*{noun}")
        for noun, number in re.findall(_NUMBERED, question)
        if noun.casefold() not in _NO_NOUNS
    ] + [
        (rf"\b([A-ZÄÖÜ][\w'’-]+)\s+{noun}\b", rf"(?is){name}.*{noun}|{noun}.*{name}")
        for name, noun in re.findall(_NAMED, question)
        if noun not in _NO_NOUNS
    ]
    return any(
        any(
            word.casefold() not in _NO_NOUNS for line in lines for word in re.findall(another, line)
        )
        and not any(re.search(same, line) for line in lines)
        for another, same in things
    )


def _text_of(passage: RankedPassage) -> str:
    about = passage.about
    return " ".join((passage.text, about.title, about.path, *about.heading_path))


def _words_of(question: str, answer: Answer) -> list[_Word]:
    tokens = set(question.casefold().split())
    capitals = [word for word in re.findall(_NAME, question)[1:] if word[:1].isupper()]
    if tokens & GERMAN and not tokens & ENGLISH:
        capitals = []  # every noun has one
    names = {term for name in capitals for term in terms(re.sub("['’]s?$", "", name))}
    words = []
    for each in answer.terms:
        parts = tuple(terms(each.text))
        if parts and not each.starts:
            share = _ASKING_SHARE if _ASKING.issuperset(parts) else 1.0
            words.append(_Word(parts, each.idf * share, names.issuperset(parts)))
    return words


def _lines(
    passage: RankedPassage, words: list[_Word], owner: Collection[str]
) -> Iterator[tuple[float, str, Collection[str]]]:
    """Yield each line of a passage: its share of the words, its text, words in and above it."""
    whole, every = set(terms(passage.text)), fsum(word.weight for word in words) or 1.0
    above = {*terms(" ".join(passage.about.heading_path)), *owner}
    head = ""
    for line in passage.text.split("\n"):
        if line.lstrip().startswith("#"):
            above |= set(terms(line))
            continue
        row = line.lstrip().startswith("|")
        head = (head or line) if row else ""
        own = set(terms(f"{head} {line}" if row else line))
        counted = fsum(
            word.weight
            * (
                1.0 if word.is_in(own)
                else IN_HEADING if word.is_in(above)
                else IN_PASSAGE if word.is_in(whole)
                else 0.0
            )
            for word in words
        )  # fmt: skip
        if own:
            yield counted / every, line, own | above


def _has_kind(question: str, line: str) -> bool:
    """Return whether a line has a value of the kind that a question asks for."""
    for wish, value in _KINDS:
        if re.search(wish, question):
            return re.search(value, line) is not None
    if re.search(_ASKS_WHO, question):
        asked_words = set(terms(question))
        others = (term for name in re.findall(_CAPITALS, line) for term in terms(name))
        return any(term not in asked_words for term in others) or bool(re.search(_PERSON, line))
    return True
