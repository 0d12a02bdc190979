"""Read a question together with the two before it: "he", "there" and "that day" get their names.

Only questions that one process answers in turn can follow one another: over MCP and with --stdin.
Several on one command line are independent. A word is replaced only if an earlier question says
what it stands for, and the question is short and names nobody itself: in a longer one the word
mostly refers to something in it. English only: in German, `sie` is she, they and you.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from datetime import date

from memcli.checking import TYPE_CHECKING
from memcli.language.stopwords import ENGLISH
from memcli.search.question import Question

if TYPE_CHECKING:
    from memcli.config.settings import Config

EARLIER = 2  # questions to look back at
MOST_WORDS = 16  # of a question in which words are replaced
HINT = 'memcli search "some words"'

_PERSON = re.compile(r"\b(?:(he|him|she)|(his|hers?))\b", re.IGNORECASE)
_PEOPLE = re.compile(r"\b(?:(they|them)|(theirs?))\b", re.IGNORECASE)
# Not "is there" and "there is", which name no place.
_THERE = re.compile(
    r"(?<!\b[Ii]s )(?<!\b[Aa]re )(?<!\b[Ww]as )(?<!\b[Ww]ere )(?<!\bbe )(?<!\bbeen )"
    r"(?<!['’\"“])\bthere\b(?! (?:is|are|was|were|be|been|has|have|had)\b)"
)
_THAT_TIME = re.compile(
    r"\b(?:that|the same) (?:day|night|morning|afternoon|evening|weekend|week|month|year|time)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Z][^\W_]+(?:['’-][A-Z][^\W_]+)*(?: [A-Z][^\W_]+(?:-[A-Z][^\W_]+)*)*")
_OF_A_PLACE = re.compile(
    r"\b(?:in|at|near|around|into|(?:go|goes|going|went|gone|moved?|moving|trip|travel(?:l?ed)?"
    r"|fl(?:y|ew|ight)|dr(?:ive|ove)|c[ao]me|return(?:ed)?|way) to|visit(?:ed|ing|s)?) (?:the )?$",
    re.IGNORECASE,
)
_TRIP = re.compile(r" (?:trips?|visits?|flights?|tours?|holidays?|vacations?|weekends?|office)\b")
_HELPER = re.compile(
    r"\b(?:do|does|did|will|would|can|could|should|may|might|must) $", re.IGNORECASE
)
# A first word that may be a name, with a pronoun after it but not next to it: "Tom lost his job".
_OWN_PERSON = re.compile(
    r"\s*([A-Z][^\W_]+)\s+(?!(?:he|him|she|his|hers?)\b).*\b(?:he|him|she|his|hers?)\b"
)


def question_after(
    earlier: deque[Question], config: Config, text: str, question_date: date, *, hint: str = HINT
) -> Question:
    """Read a question as the settings want it, after `earlier` ones, and add it to them."""
    question = Question.by(config, text, question_date, hint=hint)
    if config("search.follow_up") and (meant := resolved(question, earlier)) != question.text:
        typed = question.text
        question = Question.by(config, meant, question_date, hint=hint)._replace(typed=typed)
    earlier.append(question)
    return question


def resolved(question: Question, earlier: Sequence[Question]) -> str:
    """Return the text of a question with names and dates in place of the words that refer to them.

    Example: after "When did Tom move to Oslo?", "Who helped him there?" is
    "Who helped Tom in Oslo?"
    """
    text, named = question.text, _names(question)
    if len(text.split()) > MOST_WORDS:
        return text
    before = [(_names(each), each) for each in reversed(earlier)]
    people = next((names[0] for names, _ in before if names[0]), ())
    places = next((names[1] for names, _ in before if names[1]), ())
    days = next((spans for _, each in before if (spans := _days(each))), ())
    own = _OWN_PERSON.match(text)
    names_somebody = bool(named[0]) or bool(own and own[1].lower() not in ENGLISH)
    if people and not names_somebody:
        text = _replaced(_PERSON, text, people[-1])
        if len(people) > 1:
            text = _replaced(_PEOPLE, text, " and ".join(people))
    if places and not named[1]:
        text = _THERE.sub(f"in {places[-1]}", text)
    if days and not _days(question):
        text = _THAT_TIME.sub(days[-1], text)
    return text


def _replaced(pattern: re.Pattern[str], text: str, name: str) -> str:
    return pattern.sub(lambda match: name if match[1] else f"{name}'s", text)


def _days(question: Question) -> tuple[str, ...]:
    """List the dates that a question names, as they were typed."""
    return tuple(span.text for span in question.dates if span.start or span.end)


def _names(question: Question) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List the people and the places that a question names, in their order."""
    text = question.text
    for span in question.dates:
        text = f"{text[: span.at]}{' ' * len(span.text)}{text[span.stops_at :]}"
    people: list[str] = []
    places: list[str] = []
    for match in _NAME.finditer(text):
        name, start = match[0].removesuffix("'s").removesuffix("’s"), match.start()
        first, _, rest = name.partition(" ")
        # The first word of a sentence is capitalised, name or not: "Did Tom", "Tell Tom".
        is_first = text[:start].rstrip()[-1:] in ("", ".", "!", "?")
        if is_first or first.lower() in ENGLISH:
            name, start = rest, start + len(first) + 1
        if name:
            before, behind = text[:start], text[match.end() :]
            # Not "did Jon visit": there it is a verb.
            is_trip = _TRIP.match(behind) and not _HELPER.search(before)
            is_place = _OF_A_PLACE.search(before) or is_trip
            (places if is_place else people).append(name)
    return _once(people), _once(places)


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
