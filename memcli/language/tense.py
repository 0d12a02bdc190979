"""Decide by its verbs whether a question is about the past; pure. English, German and Chinese."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from memcli.language.stopwords import ENGLISH, GERMAN, table

# A question with one of these is about the past; in German, `hat` and `ist` need a participle.
_PAST = table("""
    did didn't was wasn't were weren't had hadn't went gave took came saw ate began ran chose
    wrote broke drove drew fell flew grew knew rode sang spoke stole swam threw woke wore hid
    war waren hatte hatten wurde wurden geschah schrieb baute wohnte kaufte machte sagte arbeitete
    fuhr ging kam gab nahm sah traf fand blieb sprach verlor gewann lief rief hielt trug brachte
""")
# Participles too: `who kept the key`, but `where is the key kept`.
_PAST_OR_DONE = table("""
    said told bought won lost felt thought left found led held kept paid made met used spent
    fought built sent taught caught brought sold slept
""")
_DONE = table("""
    been gone done seen read taken written given chosen broken fallen driven grown known
    shown
""")
_ED = 5  # letters of `moved`
_NO_PAST = table("hundred speed indeed exceed proceed succeed embed")

_PRESENT = table("is are be will may can must should ist sind wird werden darf dürfen kann können")
# Before a participle: `where is it stored`, `what do we have planned`.
_STATES = _PRESENT | {"do", "does", "get", "gets"}
_HAVE = frozenset(("has", "have"))
_HABEN = frozenset(("hat", "hab", "habe", "haben", "hast", "habt"))
_SEIN = frozenset(("ist", "sind", "bin", "bist", "seid"))
_PARTICIPLE = (
    r"(?:ab|an|auf|aus|ein|fest|mit|vor|weg|zu)?(?:ge|be|ver|er|ent)[a-zäöüß]*(?:t|en)"
    r"|[a-zäöüß]+iert"
)
_OPEN = frozenset(("geöffnet", "geschlossen"))  # `hat geöffnet` is about the present
_GONE = (
    "passiert", "geschehen", "gewesen", "gestorben", "geblieben", "worden", "gekommen", "gegangen",
    "gefahren", "geflogen", "gefallen", "gelaufen", "gezogen", "gestiegen", "gesunken",
)  # fmt: skip
# Not before a day that comes: 周五之前.
_HAN_PAST = (
    r"(?<![为為除])了(?!解)|(?<![通经經超不])[过過](?![敏程期年节節生滤濾渡户戶])"
    r"|(?<![日号])(?<![周期].)(?<![^个]月)[以之]前|曾|原来|当[时初]|那时|最初|一开始|去年|昨天"
    r"|上(?:次|周|个月)"
)


def asks_about_past(text: str) -> bool:
    """Return whether a question is about what has happened: its last finite verb is in the past."""
    words = _words(text)
    verbs = [word for word in words if word in _PAST or word in _PRESENT]
    is_present = bool(verbs) and verbs[-1] in _PRESENT
    return _is_perfect(words, text) or (not is_present and _has_past(words, text))


def tells_of_past(text: str) -> bool:
    """Return whether a question has a verb in the past; others may be in the present."""
    words = _words(text)
    return _is_perfect(words, text) or _has_past(words, text)


def _words(text: str) -> list[str]:
    words = [word.strip(",.?!:;") for word in text.lower().replace("’", "'").split()]
    # `Was isst sie` asks `what`.
    is_german = words[:1] == ["was"] and not (GERMAN - ENGLISH | {"am"}).isdisjoint(words)
    return words[is_german:]


def _is_perfect(words: Sequence[str], text: str) -> bool:
    at = next((at for at, word in enumerate(words) if word in _HAVE), len(words))
    is_auxiliary = words[at + 1 : at + 2] != ["to"] and _STATES.isdisjoint(words[:at])
    if is_auxiliary and any(_is_done(word) or word in _DONE for word in words[at + 1 :]):
        return True
    last = words[:-2] if words[-2:-1] == ["am"] else words  # `wer hat angerufen am Montag`
    if not last or last[-2:-1] == ["zu"] or last[-1] in _OPEN:
        return False
    if last[-1].endswith(_GONE) and not _SEIN.isdisjoint(words):
        return True
    is_noun = last[-1] not in text  # with a capital letter, such as `Bereitschaft`
    return not (is_noun or _HABEN.isdisjoint(words)) and bool(re.fullmatch(_PARTICIPLE, last[-1]))


def _has_past(words: Sequence[str], text: str) -> bool:
    if not _PAST.isdisjoint(words):
        return True
    before = takewhile(lambda word: word not in _STATES, words)
    if any(map(_is_done, before)):
        return True
    return not text.isascii() and re.search(_HAN_PAST, text) is not None


def _is_done(word: str) -> bool:
    """Return whether it is a past form or a participle."""
    is_regular = len(word) >= _ED and word.endswith("ed") and word not in _NO_PAST
    return is_regular or word in _PAST_OR_DONE
