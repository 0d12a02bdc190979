"""Read questions for the newest or the oldest, in English and German: `the last delivery`; pure.

`first` and `last` also count things without a date: pages, names, prizes. So they ask for an order
of time only at the start of the question's object (or `last` after an article), and only before a
word that is not in the tables of such things.
"""

from __future__ import annotations

from collections.abc import Sequence

from memcli.dates.words import MONTHS, UNITS, WEEKDAYS, Reading, as_number

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
_SUBJECTS = ("i", "you", "he", "she", "we", "they")
# Words that may come before the object of a question: `what was the`, `zeig mir die`.
_LEADS = (
    *_ARTICLES, *_OWNERS, "who", "what", "what's", "whats", "which", "where", "when", "is", "are",
    "was", "were", "show", "find", "give", "list", "get", "tell", "me", "us", "about", "please",
    "wer", "wann", "wo", "welche", "welcher", "welches", "ist", "war", "waren", "zeig", "zeige",
    "finde", "suche", "mir", "uns", "bitte",
)  # fmt: skip
# Things that are counted in a text, an object or a contest, or named by their place in a row.
_NOT_IN_TIME_TEXT = """
    place prize aid class floor name names half row rows line lines resort one ones stand page pages
    chapter chapters section sections paragraph column columns step steps word words letter letters
    item items element elements argument arguments parameter parameters character characters byte
    bytes bit bits digit digits field fields index node value values number numbers part parts thing
    things person people lady hand impression impressions principle principles responder edition
    gear grade cousin base order language mover straw supper minute mile leg will rites draft third
    quarter degree rate option choice priority match group child slide sheet cell tab
    bus train stop season term semester decade century morning afternoon evening glance

    platz preis hilfe klasse zeile zeilen seite seiten kapitel absatz abschnitt spalte spalten wort
    wörter worte buchstabe buchstaben name namen schritt schritte teil teile stelle reihe linie
    stock stockwerk etage minute moment ding dinge person ziffer zahl zahlen element argument
    zeichen wert werte ruhe wille abendmahl instanz endes ende wahl liga gang weltkrieg geige rang
    folie blatt zelle bus zug halt
"""
_NOT_IN_TIME = frozenset(_NOT_IN_TIME_TEXT.split())
# After `first` and `last`, these words show that nothing is counted: at first, last until spring.
_NO_THINGS_TEXT = """
    to of and but for or then than that the a an this these those it i we you he she they is are was
    were be been did do does has have had by in on at with from as so not all another more long
    longer forever until till through about ditch came come off few couple several

    und oder aber dann dass die der das dem den ein eine ist war sind waren hat haben im am in an
    auf bei mit von zu für bis als nicht recht
"""
_NO_THINGS = frozenset(_NO_THINGS_TEXT.split())


def read(
    low: Sequence[str], before: Sequence[str], *, asks_when: bool
) -> tuple[int, Reading] | None:
    """Read `latest`, `most recent`, `the first session`, `when did we first`, `last van problem`.

    `before` are the words before those in `low`; `asks_when` is true if the text asks for a time.
    """
    for words, order in ((NEWEST, "newest"), (OLDEST, "oldest")):
        count = 1 if low[0] in words else 2 if f"{low[0]} {low[1]}" in words else 0
        is_term = low[1] == "by" or before[-2:] == ["at", "the"]  # at the latest
        if count and not is_term and not _is_of_others(low[count:]):
            return count, Reading(order=order)
    if low[0] not in _LAST and low[0] not in _FIRST:
        return None
    order = "newest" if low[0] in _LAST else "oldest"
    if low[1] in _SEQUENCES or (asks_when and _is_when(low, before)):
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


def _is_when(low: Sequence[str], before: Sequence[str]) -> bool:
    """Return whether it is a time (when did we first meet), not a thing (our first car)."""
    return low[1] not in _NOT_IN_TIME and before[-1] not in _OWNERS


def _is_head(low: Sequence[str], before: Sequence[str], count: int) -> bool:
    """Return whether the words are the object of the question, and name a thing with a date."""
    thing, after = low[count], low[count + 1]
    if thing in _NOT_IN_TIME or thing in _NO_THINGS or not thing[:1].isalpha():
        return False
    if thing in UNITS or thing in MONTHS or thing in WEEKDAYS:
        return False
    # The first person to walk, the last verse of a song; but the first E17 of the oven.
    if after in ("of", "to") and thing.isalpha():
        return False
    lead = before[-1] if before else ""
    if low[0] in _FIRST and lead in _OWNERS and lead not in _TOGETHER:
        return False
    if all(word in _LEADS for word in before):
        return True
    return low[0] in _LAST and (lead in _ARTICLES or lead in _OWNERS or lead in _SUBJECTS)
