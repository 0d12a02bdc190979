"""The grammar of dates in English and German, and of some in Russian and Arabic; pure.

The reader cuts a text into words and tries the rules at each word in order: first rules for two
joined dates and for bounds (`since May`), then rules for single dates. Ambiguous words (`may`,
`march`, `sun`, a year, `Q3`) are dates only next to a number or after a word such as `in`. Days
that are not in the calendar are not dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import pairwise

from memcli.dates import holidays, parts, words
from memcli.dates.absolute import ORDINAL
from memcli.dates.parts import ARTICLES, named
from memcli.dates.words import DateMatch, Days, Reading, Seen, as_number, as_year
from memcli.language.stopwords import ENGLISH, GERMAN, table

# A word with the characters attached to it, so that a path, a version or an id is one word; or a
# dash that joins two dates.
_WORD = re.compile(
    r"\d\d?\.\d\d?\.(?![\w.])|[0-9A-Za-z_À-ɏЀ-ӿء-ي]+(?:[./:'’–-][0-9A-Za-z_À-ɏЀ-ӿء-ي]+)*|(?<=\s)[-–—](?=\s)|(?<=\d\.)[-–](?=\d)|(?<=\w)\.\.(?=\w)"
)
_JOINED = ("..", ".-", ".–")  # what may end right before a date, for all of _BAD_BEFORE
_GAP = 3  # characters between the words of one date: a space, a comma, an ordinal's dot
_LONGEST = 14  # words: between the 11th of August 2023 and the 15th of August 2023
_BAD_BEFORE = tuple("#$€£¥@/\\~-.")
_BAD_AFTER = tuple("%°€£¥/\\")
# Before 21.09.; a weekday does as well.
_DAY_LEADS = (
    "am", "vom", "zum", "dem", "den", "seit", "bis", "vor", "nach", "ab", "von", "zwischen",
    *words.WEEKDAYS, "mo", "di", "mi", "do", "fr", "sa", "so",
)  # fmt: skip
_AND = ("und", "-", "–")
# Before a number that names a thing.
_NUMBERED = (
    "port", "room", "flat", "page", "chapter", "section", "version", "release", "build", "issue",
    "ticket", "invoice", "order", "question", "number", "no", "scale", "zimmer", "raum", "seite",
    "kapitel", "abschnitt", "rechnung", "auftrag", "frage", "nummer", "nr", "audi",
)  # fmt: skip
_SENTENCE_ENDS = tuple(".;:?!\n")
_NEARLY = ("shortly", "just", "right", "kurz")
# Names of other things, and recurring days: on a Friday, an einem Freitag.
_NAMES_BEFORE_A_WEEKDAY = (
    "every", "each", "a", "any", "some", "jeden", "jede", "einem", "einen", "black", "good",
    "cyber", "ash", "palm", "easter", "casual", "shrove", "maundy",
)  # fmt: skip
# Was it not in June? Haben wir nicht gestern gesagt ...? Why not today? They ask about that day.
_SUBJECTS = (
    "i", "you", "he", "she", "it", "we", "they", "this", "that", "there",
    "ich", "du", "er", "sie", "es", "wir", "ihr", "man", "das",
)  # fmt: skip
_WHY = ("why", "warum", "wieso", "weshalb", "or", "oder")


def read(text: str, today: date, *, day_first: bool) -> Iterator[tuple[int, int, Reading]]:
    """Yield the dates of a text: start, end and meaning."""
    tokens = [
        match
        for match in _WORD.finditer(text)
        if not text.startswith(_BAD_AFTER, match.end())
        and (
            not text.endswith(_BAD_BEFORE, 0, match.start())
            or text.endswith(_JOINED, 0, match.start())
            or match[0] in JOINTS
        )
    ]
    texts = _without_ends(tokens)
    seen, at = Seen(today, day_first), 0
    asks_when = text.lstrip().lower().startswith(("when ", "wann "))
    sentence: list[str] = []  # its words so far
    while at < len(tokens):
        near = _together(text, tokens[at : at + _LONGEST])
        raw = texts[at : at + len(near)] + [""] * 5
        low = [word.lower() for word in raw]
        skipped = 1 if _asks_of_the_day(low, sentence) else _other(low)
        date_match = None
        if not skipped:
            date_match = _read(raw, low, seen, alone=len(tokens) == 1)
            is_cut = text.startswith((",", *_SENTENCE_ENDS), near[0].end())
            beside = [low[0], *[""] * 3] if is_cut else low
            date_match = date_match or read_recency(beside, sentence, asks_when=asks_when)
        if date_match:
            count, reading = date_match
            yield near[0].start(), near[count - 1].start() + len(raw[count - 1]), reading
        count = date_match[0] if date_match else skipped or 1
        sentence += low[:count]
        at += count
        if text.startswith(_SENTENCE_ENDS, tokens[at - 1].end()):
            sentence = []


def _asks_of_the_day(low: list[str], before: list[str]) -> bool:
    """Return whether `not` does not exclude the date: was it not in June, why not today."""
    is_asked = len(before) == 2 and before[-1] in _SUBJECTS
    return low[0] in words.EXCEPT_WORDS and (is_asked or (before[-1:] or [""])[0] in _WHY)


def _together(text: str, tokens: list[re.Match[str]]) -> list[re.Match[str]]:
    """Return the first words, up to a gap that is too wide for a date."""
    for n, (one, two) in enumerate(pairwise(tokens), 1):
        gap = text[one.end() : two.start()]
        if len(gap) > _GAP or gap.strip() not in ("", ",", "."):
            return tokens[:n]
    return tokens


def _without_ends(tokens: list[re.Match[str]]) -> list[str]:
    """Remove the ending of a possessive, or the full stop after `3.2.` unless it is a day.

    It is a day after a word such as `on`, after another day, or at the start of the text if the
    year is given.
    """
    texts: list[str] = []
    for match in tokens:
        word, before = match[0].removesuffix("'s").removesuffix("’s"), texts[-1:] or [""]
        if word.endswith(".") and word not in JOINTS:
            lead = before[0].lower()
            is_day = (not lead and len(word) == len("21.09.")) or lead in _DAY_LEADS
            if not (is_day or (lead in _AND and texts[-2:][0].endswith("."))):
                word = word[:-1]
        texts.append(word)
    return texts


def _other(low: list[str]) -> int:
    """Count the words of a phrase that only looks like a date: every Monday, Black Friday."""
    if low[0] in _NUMBERED and re.fullmatch(r"q[1-4]|\d\d?/\d+", low[1]):
        return 2
    if low[0] in _NAMES_BEFORE_A_WEEKDAY and low[1] in words.WEEKDAYS:
        feast = holidays.named(low)  # Easter Monday 2024 is a date
        return 0 if feast and as_year(low[len(feast.split())]) else 2
    if low[0] == "new" and low[1] == "year" and as_year(low[2]):
        return 3
    # "Shortly before" a day means near that day, as the day itself does.
    if low[0] in _NEARLY and (low[1] in words.BEFORE_WORDS or low[1] in words.AFTER_WORDS):
        return 2
    return 2 if low[:2] == ["usa", "today"] else 0


def _read(raw: list[str], low: list[str], seen: Seen, *, alone: bool) -> tuple[int, Reading] | None:
    """Read the date that begins with the first word; `alone` if the text is nothing else."""
    try:
        if low[0] in words.EXCEPT_WORDS or low[0] == "no":
            return excepted(raw, low, seen)
        span = joined(raw, low, seen)
        if span:
            return span[0], Reading(*span[1])
        if match := parts.ago(raw, low, seen):  # vor drei Tagen; but vor 2023 is a bound
            return match[0], Reading(*match[1])
        if bound := bounded(raw, low, seen):
            return bound
        match = parts.one(raw, low, seen)
        if alone and not match and raw[0][:1].isdigit():  # `2026`, `7/12`
            match = parts.bare_date(raw, low, seen)
    except (ValueError, OverflowError):  # not in the calendar
        return None
    return match and (match[0], Reading(*match[1]))


JOINTS = frozenset("-–—") | {".."}
_BETWEEN = {"between": ("and",), "zwischen": ("und",)}
_FROM = {"from": ("to", "until", "till", "through"), "von": ("bis",), "vom": ("bis",)}
_TO = ("to", "through", "bis")
# Words for later or earlier than a day.
_EARLIER, _LATER, _THAN = ("earlier", "früher"), ("later", "später"), ("than", "als")


def joined(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read two dates with what joins them: `between May and July 2023`, `from A to B`, `A - B`."""
    ends = _BETWEEN.get(low[0]) or _FROM.get(low[0])
    lead = 1 if ends else 0
    first = named(raw[lead:], low[lead:], seen, bare=lead > 0)
    begin_day = None if first else _day_of_month(low[lead:])
    at = lead + (first or begin_day or (0,))[0]
    if at == lead or not (low[at] in (ends or _TO) or low[at] in JOINTS):
        return None
    last = named(raw[at + 1 :], low[at + 1 :], seen, bare=True)
    if last is None:
        return _to_day(raw, low, (lead, at), first[1], seen) if first else None
    after, end = at + 1 + last[0], last[1]
    if begin_day:  # from the 3rd to the 7th of May
        return (after, (end[0].replace(day=begin_day[1]), end[0])) if end[0] == end[1] else None
    if first is None:
        return None
    # Both dates share the year: between August 11 and August 15 2023.
    begin = first[1]
    first_year, last_year = _year_in(low[lead:at]), _year_in(low[at + 1 : after])
    if last_year and not first_year:
        begin = _with_year(raw[lead:at], last_year, seen) or begin
    elif first_year and not last_year:
        end = _with_year(raw[at + 1 : after], first_year, seen) or end
    elif not first_year and begin[0] > end[1]:
        years = (_with_year(raw[lead:at], str(end[1].year - n), seen) or begin for n in (0, 1))
        begin = next((days for days in years if days[0] <= end[1]), begin)
    return (after, (begin[0], end[1])) if begin[0] <= end[1] else None


def _day_of_month(low: list[str]) -> tuple[int, int] | None:
    """Read `3`, `the 3rd`: how many words, and which day."""
    skip = 1 if low[0] in ARTICLES else 0
    match = ORDINAL.fullmatch(low[skip])
    return (skip + 1, int(match[1])) if match and not match[2] else None


def _to_day(
    raw: list[str], low: list[str], span: tuple[int, int], begin: Days, seen: Seen
) -> DateMatch | None:
    """Read the `7` of `May 3 to 7, 2023`, after the date in `span`."""
    lead, at = span
    end_day = _day_of_month(low[at + 1 :])
    if end_day is None or begin[0] != begin[1]:
        return None
    after = at + 1 + end_day[0]
    if as_year(low[after]):
        begin = _with_year(raw[lead:at], low[after], seen) or begin
        after += 1
    end = begin[0].replace(day=end_day[1])
    return (after, (begin[0], end)) if begin[0] <= end else None


def _year_in(low: list[str]) -> str:
    """Return the year in the words, as it is written."""
    return next((m[0] for word in low if (m := re.search(r"(?:19|20)\d\d", word))), "")


def _with_year(raw: list[str], year: str, seen: Seen) -> Days | None:
    tokens = [*raw, year]
    match = named([*tokens, *[""] * 5], [*(w.lower() for w in tokens), *[""] * 5], seen, bare=True)
    return match[1] if match and match[0] == len(tokens) else None


def bounded(raw: list[str], low: list[str], seen: Seen) -> tuple[int, Reading] | None:
    """Read `since May`, `until 2023`, `before last week`, `after 5 May`, `seit drei Tagen`."""
    skip = 1
    if low[1] in _THAN and low[0] in (*_EARLIER, *_LATER):
        raw = ["before" if low[0] in _EARLIER else "after", *raw[2:]]
        low = [raw[0], *low[2:]]
        skip = 2
    tables = (words.SINCE_WORDS, words.UNTIL_WORDS, words.BEFORE_WORDS, words.AFTER_WORDS)
    which = next((n for n, table in enumerate(tables) if low[0] in table), None)
    if which is None or low[1] in JOINTS:
        return None
    number, unit = as_number(low[1]), words.UNITS.get(low[2], words.WEEKEND)
    if low[0] == "seit" and number is not None and unit != words.WEEKEND:
        return 3, Reading(words.before(unit, number, seen.today), None)
    if low[1] in ARTICLES and _is_event(low[2:]):
        return None
    match = named(raw[1:], low[1:], seen, bare=True)
    if match is None:
        return None
    count, (first, last) = match
    day = timedelta(1)
    bounds = ((first, None), (None, last), (None, first - day), (last + day, None))
    return skip + count, Reading(*bounds[which])


def _is_event(low: Sequence[str]) -> bool:
    """Return whether a month, weekday or year only names a thing, as in `after the June outage`.

    Notes on it may be of any day.
    """
    is_period = low[0] in words.MONTHS or low[0] in words.WEEKDAYS or as_year(low[0]) is not None
    is_noun = low[1].isalpha() and low[1] not in ENGLISH and low[1] not in GERMAN
    return is_period and is_noun and low[1] not in words.UNITS and low[1] not in words.SEASONS


def excepted(raw: list[str], low: list[str], seen: Seen) -> tuple[int, Reading] | None:
    """Read `not before August`, `no later than May`, `nicht im Juni`, `except last week`."""
    inner = bounded(raw[1:], low[1:], seen)
    if inner is not None:
        count, bound = inner
        if low[1] == "until":  # not until August is in August or later
            match = named(raw[2:], low[2:], seen, bare=True)
            return match and (1 + count, Reading(match[1][0]))
        day = timedelta(1)
        if bound.last:
            return 1 + count, Reading(bound.last + day)
        return (1 + count, Reading(None, bound.first - day)) if bound.first else None
    if low[0] == "no":
        return None
    if match := joined(raw[1:], low[1:], seen):
        return 1 + match[0], Reading(*match[1], excluded=True)
    at = 2 if low[1] in words.AT_WORDS else 1
    is_bare = at > 1 or low[0] not in ("not", "nicht")  # not 2000 but 3000 are amounts
    match = named(raw[at:], low[at:], seen, bare=is_bare)
    return match and (at + match[0], Reading(*match[1], excluded=True))


NEWEST = (
    "latest", "newest", "most recent", "most recently", "last time", "neueste", "neuesten",
    "neuester", "neuestes", "jüngste", "jüngsten", "zuletzt", "letztes mal", "letzten mal",
)  # fmt: skip
OLDEST = ("earliest", "oldest", "first time", "früheste", "frühesten", "erstes mal", "ersten mal")
_LAST = ("last", "letzte", "letzten", "letzter", "letztes", "letztem")
_FIRST = ("first", "erste", "ersten", "erster", "erstes", "erstem")
# Kinds of entries that follow each other in time.
_SEQUENCES = (
    "session", "sessions", "meeting", "meetings", "entry", "entries", "note", "notes",
    "conversation", "conversations", "chat", "message", "mention", "sitzung", "treffen",
    "besprechung", "eintrag", "notiz", "gespräch",
)  # fmt: skip
# Possessions are not an order of time: his first car.
_OWNERS = (
    "my", "your", "his", "her", "its", "our", "their", "mein", "meine", "meinen", "sein", "seine",
    "seinen", "ihr", "ihre", "ihren", "unser", "unsere", "unseren",
)  # fmt: skip
_LINKS = ("that", "which")
_OF_A_THING = ("a", "an", "the", "this", "each", "every")
_PEOPLE = ("team", "people", "user", "customer", "client", "boss", "board")
_TOGETHER = ("our", "unser", "unsere", "unseren")  # our first E17 is not a possession
_ARTICLES = ("the", "der", "die", "das", "den", "dem")
_ASKERS = ("i", "you", "he", "she", "we", "they")
# Words that may come before the object of a question: `what was the`, `zeig mir die`.
_LEADS = (
    *_ARTICLES, *_OWNERS, "who", "what", "what's", "whats", "which", "where", "when", "is", "are",
    "was", "were", "show", "find", "give", "list", "get", "tell", "me", "us", "about", "please",
    "wer", "wann", "wo", "welche", "welcher", "welches", "ist", "war", "waren", "zeig", "zeige",
    "finde", "suche", "mir", "uns", "bitte",
)  # fmt: skip
# Things that are counted in a text, an object or a contest, or named by their place in a row.
_NOT_IN_TIME = table("""
    place prize aid class floor name names half row rows line lines resort one ones stand page pages
    chapter chapters section sections paragraph column columns step steps word words letter letters
    item items element elements argument arguments parameter parameters character characters byte
    bytes bit bits digit digits field fields index node value values number numbers part parts thing
    things person people lady hand impression impressions principle principles responder edition
    gear grade cousin base order language mover straw supper minute mile leg will rites draft third
    quarter degree rate option choice priority match group child slide sheet cell tab
    bus train stop season term semester decade century morning afternoon evening glance response
    responses

    platz preis hilfe klasse zeile zeilen seite seiten kapitel absatz abschnitt spalte spalten wort
    wörter worte buchstabe buchstaben name namen schritt schritte teil teile stelle reihe linie
    stock stockwerk etage minute moment ding dinge person ziffer zahl zahlen element argument
    zeichen wert werte ruhe wille abendmahl instanz endes ende wahl liga gang weltkrieg geige rang
    folie blatt zelle bus zug halt
""")
# Before one of these words, `first` and `last` do not count: at first, last until spring.
_NO_THINGS = table("""
    to of and but for or then than that the a an this these those it i we you he she they is are was
    were be been did do does has have had by in on at with from as so not all another more long
    longer forever until till through about ditch came come off few couple several

    und oder aber dann dass die der das dem den ein eine ist war sind waren hat haben im am in an
    auf bei mit von zu für bis als nicht recht
""")


def read_recency(
    low: Sequence[str], before: Sequence[str], *, asks_when: bool
) -> tuple[int, Reading] | None:
    """Read `latest`, `most recent`, `the first session`, `when did we first`, `last van problem`.

    `before` are the words before those in `low`; `asks_when` is true if the text asks for a time.
    """
    for tokens, order in ((NEWEST, "newest"), (OLDEST, "oldest")):
        count = 1 if low[0] in tokens else 2 if f"{low[0]} {low[1]}" in tokens else 0
        is_term = low[1] == "by" or before[-2:] == ["at", "the"]  # at the latest
        if count and not is_term and not _is_of_others(low[count:]):
            return count, Reading(order=order)
    if low[0] not in _LAST and low[0] not in _FIRST:
        return None
    order = "newest" if low[0] in _LAST else "oldest"
    # It is a time (when did we first meet), not a thing (our first car).
    is_when = asks_when and low[1] not in _NOT_IN_TIME and not set(before[-1:]) & set(_OWNERS)
    if low[1] in _SEQUENCES or is_when:
        return 1, Reading(order=order)
    count = 2 if as_number(low[1]) is not None else 1  # the last two deliveries
    return (count, Reading(order=order)) if _is_head(low, before, count) else None


def _is_of_others(after: Sequence[str]) -> bool:
    """Return whether it is the oldest or newest of something else, not of the notes.

    Example: the oldest compiler version that a package supports. But `the latest decision that we
    made` is in the notes.
    """
    links = (at for at, word in enumerate(after) if word in _LINKS)
    at = next(links, 0)
    return at > 0 and after[at + 1] in _OF_A_THING and after[at + 2] not in _PEOPLE


def _is_head(low: Sequence[str], before: Sequence[str], count: int) -> bool:
    """Return whether the words are the object of the question, and name a thing with a date."""
    thing, after = low[count], low[count + 1]
    if thing in _NOT_IN_TIME or thing in _NO_THINGS or not thing[:1].isalpha():
        return False
    if thing in words.UNITS or thing in words.MONTHS or thing in words.WEEKDAYS:
        return False
    # The first person to walk, the last verse of a song; but the first E17 of the oven.
    if after in ("of", "to") and thing.isalpha():
        return False
    lead = before[-1] if before else ""
    if low[0] in _FIRST and lead in _OWNERS and lead not in _TOGETHER:
        return False
    if all(word in _LEADS for word in before):
        return True
    return low[0] in _LAST and (lead in _ARTICLES or lead in _OWNERS or lead in _ASKERS)
