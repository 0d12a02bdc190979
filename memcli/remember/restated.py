"""Decide whether a note of an agent only says what an existing line says; pure.

A line is read by its clauses, because each may be a fact. A clause says the same if it contains
all words of the note, or other forms or synonyms of them, with the same numbers, names and
negations. If the line is near by its cosine, one or two plain words may be missing: `they hear bad
news early` says the same as `they want bad news early`. The subject may come from the first clause,
from a heading, or, if the line is about its owner, from USER.md.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

from memcli.language.change import speaks_of_change
from memcli.language.facts import NOT, Facets, facets_of
from memcli.language.stopwords import ARTICLES
from memcli.language.terms import content, has_form, has_han, has_synonym, terms, tokens_of
from memcli.language.word_order import exchanged

_CLAUSES = r"[;；。！？，、|()]|[.:!?,](?=\s|$)|\s[-–—]\s|\s(?:and|und|but|aber)\s"
MOST_CLAUSES = 10
LEAST_SHARED = 2  # words that a clause and a note share
# From this cosine of the bundled model on, a clause says the same without a few words of the note.
NEAR_SAME = 0.77
MOST_MISSING, LEAST_COVERED = 2, 0.7
_TAG = r"(?<!\w)[#@][\w-]+"
_NAME = r"(?i)\s*(?:name|vorname|姓名|名字)\W{0,3}[:：]\W{0,3}(\w[\w .'-]*)"  # a line of USER.md
_OF_OWNER = r"(?i)\b(?:i|i'm|my|me|mine|ich|mein\w*|mir|mich)\b|我(?!们)"
_OWNERS = frozenset(
    "user nutzer nutzerin benutzer 用户 i my ich mein meine 我".split()  # noqa: SIM905
)
# Words that a clause may lack, and verbs that it may lack if it has no other word in their place.
_FREE = frozenset("should must shall always there".split())  # noqa: SIM905 (a table to be read)
_VERBS = frozenset(
    """use uses used using need needs have has call called name named stay stays located go goes
    make makes made set sets provide provides run runs work works become becomes became permitted
    nutzt benutzt heißt liegt ist hat macht läuft arbeitet wird wurde""".split()  # noqa: SIM905 (a table to be read)
)
_LIGHT = _FREE | _VERBS
_NO = _FREE | frozenset(["no", "none", "kein", "keine", "keinen"])
_ARTICLES = ARTICLES.union(("our", "my", "his", "her", "their", "unser", "unsere"))
# Words that two lines may differ in, and pairs that mean the same.
_EVEN = frozenset(["like", "likes", "love", "loves"])
_SAME = {"over": "above", "under": "below", "fewer": "less", "off": "left"}
# Chinese may put a time before the subject or after it.
_HAN_TIME = (
    r"每(?:天|年|月|晚|早)|每?(?:个)?(?:周|星期|礼拜)[一二三四五六日天末]"
    r"|[早晚]上|[上下]午|[今明昨]天"
)
_TWELVE_HOURS = r"(?i)\b(1[0-2]|[1-9])(?::([0-5]\d))? ?([ap])\.?m\b\.?"
_LINK = r"\[\[[^\]]*\]\]"
_FORBIDDEN = r"(?i) (?:is|are) (?:not (?:allowed|permitted)|forbidden|prohibited)\b"
_DO_NOT = r"(?i) (?:do|does|did|is|are|was|were|will)(?:n't|n’t| not) "
_ASIDES = r"(?i),? ?\b(?:as you know|by the way|of course|wie du weißt|übrigens)\b,?"
# What a value was before: `from 500 ms to 800 ms`, `90 days instead of 14`.
_BEFORE = r"(?i)\bfrom [^;,]{1,30}? (?=to )|\b(?:instead of|rather than|statt) [^;,.]{1,30}"


def owner_names(lines: Sequence[tuple[str, str]]) -> frozenset[str]:
    """Return what the owner is called in some lines; each is the path and the text of a line."""
    stated = [re.match(_NAME, text) for path, text in lines if path == "USER.md"]
    return _OWNERS | {term for name in stated if name for term in terms(name[1])}


def restates(
    note: str, older: str, *, context: Sequence[str], owner: Collection[str], cosine: float = 0.0
) -> bool:
    """Return whether an older line says what a note says; `context` are the headings above it.

    `owner` are the words for the owner if the line is about the owner, else it is empty.
    """
    note, older = _plain(note), _plain(older)
    most_missing = MOST_MISSING if cosine >= NEAR_SAME else 0
    if has_han(note) and _without_time(note) == _without_time(older):
        return True
    facets, around = facets_of(note), {*terms(" ".join(context)), *owner}
    if exchanged(facets.tokens, tokens_of(older)):
        return False
    if not set(re.findall(_TAG, note)) <= set(re.findall(_TAG, older)):
        return False
    if older.endswith(("?", "？")) or older.startswith(("[ ]", "[x]", "[X]")):
        return False
    if not _covers({*terms(older), *around}, facets, older, most_missing):
        return False
    return any(
        _says(facets, note, each, around, most_missing=most_missing) for each in _parts(older)
    )


def _plain(text: str) -> str:
    """Write times of day in one form, and leave out words that add nothing."""
    text = re.sub(_TWELVE_HOURS, _in_24_hours, text)
    text = re.sub(_DO_NOT, " not ", re.sub(_FORBIDDEN, " not permitted", text))
    return re.sub(_ASIDES, "", text)


def _in_24_hours(match: re.Match[str]) -> str:
    hour = int(match[1]) % 12 + 12 * (match[3].lower() == "p")
    return f"{hour:02}:{match[2] or '00'}"


def _without_time(text: str) -> tuple[str, list[str]]:
    """Return the characters of a line without its times, and the times."""
    return "".join(re.findall(r"\w", re.sub(_HAN_TIME, "", text))), re.findall(_HAN_TIME, text)


def ends(note: str, older: str, *, owner: frozenset[str]) -> bool:
    """Return whether a note says that something of a line about the owner is over, by its name.

    Example: `Runa no longer uses Helix`, and `Editor: Helix`
    """
    from memcli.language.compared_line import read_line
    from memcli.language.evidence import gone_objects

    if not (owner and speaks_of_change(note)) or owner.isdisjoint(terms(note)):
        return False
    names = {term for name in facets_of(note).names for term in terms(name)}
    return any(term in names for term in gone_objects(read_line(note)) if term in terms(older))


def has_new_value(newer: str, older: str) -> bool:
    """Return whether a newer line has none of the numbers that an older line states."""
    values = facets_of(re.sub(_LINK, " ", older)).numbers
    return bool(values) and values.isdisjoint(facets_of(re.sub(_BEFORE, " ", newer)).numbers)


def is_of_owner(path: str, text: str) -> bool:
    """Return whether a line is about the owner of the memory."""
    return path == "USER.md" or re.search(_OF_OWNER, text) is not None


def _parts(older: str) -> Iterator[tuple[str, str]]:
    """Yield runs of clauses, each with the clause that may have its subject; else with ""."""
    rows = re.split(r"\|\s+\|", older) if older.startswith("|") else [older]
    for row in rows:
        yield "", row
        clauses = [each.strip() for each in re.split(_CLAUSES, row) if each and each.strip()]
        for first, last in combinations(range(len(clauses[:MOST_CLAUSES]) + 1), 2):
            run = " ; ".join(clauses[first:last])
            yield "", run
            if first > 0:
                yield clauses[0], run


def _says(
    note: Facets, text: str, clauses: tuple[str, str], around: Collection[str], *, most_missing: int
) -> bool:
    """Return whether a run of clauses says what a note says; the other clause has its subject."""
    subject, run = clauses
    values = re.sub(_BEFORE, " ", run)
    if subject and speaks_of_change(subject) and not speaks_of_change(text):
        return False
    if speaks_of_change(run) and not speaks_of_change(text) and values == run:
        return False
    for each in dict.fromkeys((run, values)):
        part = facets_of(each)
        if _has_same_facts(note, part, (subject, each), around, most_missing):
            return not subject or not _has_own_subject(note, part)
    return False


def _has_own_subject(note: Facets, part: Facets) -> bool:
    """Return whether a clause begins with a thing that the note does not name."""
    first, *rest = part.sequence
    subject = rest[0] if first in _ARTICLES and rest else part.opening
    return bool(subject) and subject not in note.terms and not has_form(subject, note.terms)


def _has_same_facts(
    note: Facets, part: Facets, clauses: tuple[str, str], around: Collection[str], most_missing: int
) -> bool:
    subject, text = clauses
    around = {*terms(subject), *around}
    known = {*part.terms, *around}
    names = {*note.terms, *around}
    is_of_another = any(
        not names.issuperset(terms(name)) and not has_form(name, names) for name in part.names
    )
    shared = {word for word in note.content if word in known or has_form(word, known)}
    return (
        note.numbers == part.numbers
        and _tell_the_same(note, part, is_near=most_missing > 0)
        and not is_of_another
        and len(shared) >= LEAST_SHARED
        and any(word in part.terms or has_form(word, part.terms) for word in shared - _LIGHT)
        and _covers(known, note, text, most_missing)
        and not _has_another_word(known, note, clauses)
        and not exchanged(note.tokens, part.tokens)
    )


def _telling(facets: Facets) -> set[str]:
    same = {_SAME.get(word, word) for word in facets.telling} - _EVEN
    # "Neither of two" is also "not the one and not the other".
    return same - {"or"} if "not" in same else same


def _tell_the_same(note: Facets, part: Facets, *, is_near: bool) -> bool:
    """Return whether two lines agree in negations, days and opposites, in any form.

    A clause that is near may have more of these, except for a negation.
    """
    own, other = _telling(note), _telling(part)
    mine = {word for word in own - other if not has_form(word, part.terms)}
    theirs = {word for word in other - own if not has_form(word, note.terms)}
    return not mine and (not theirs or (is_near and theirs.isdisjoint((NOT, "or"))))


def _covers(known: Collection[str], note: Facets, text: str, most_missing: int = 0) -> bool:
    """Return whether words contain those of a note, in any form, or words that mean the same.

    Plain words, neither names nor numbers, may be missing: at most `most_missing`.
    """
    missing = [word for word in note.content - _FREE if not _is_known(word, known, text)]
    names = {term for name in note.names for term in terms(name)}
    is_plain = not any(word in names or word[:1].isdigit() for word in missing)
    share = 1 - len(missing) / (len(note.content) or 1)
    is_enough = share >= LEAST_COVERED and len(missing) <= most_missing
    return _VERBS.issuperset(missing) or (is_plain and is_enough)


def _has_another_word(known: Collection[str], note: Facets, clauses: tuple[str, str]) -> bool:
    """Return whether a clause has a word that the note lacks, in place of one that it lacks.

    If both have the same numbers, this counts only for a light verb.
    """
    text = " ; ".join(clauses)
    words = note.content & _VERBS if note.numbers else note.content - _FREE
    if all(_is_known(word, known, text) for word in words):
        return False
    named = [content(each) for each in re.split(_CLAUSES, text) if each]
    others = [[word for word in words if not _is_known(word, note.terms, "")] for words in named]
    return any(
        len(new) < len(words) and not _NO.issuperset(new)
        for new, words in zip(others, named, strict=True)
    )


def _is_known(word: str, known: Collection[str], text: str) -> bool:
    return (
        word in known
        or _SAME.get(word) in known
        or has_form(word, known)
        or has_synonym(word, known)
        or _abbreviates(word, text)
    )


def _abbreviates(word: str, text: str) -> bool:
    """Return whether a word consists of the first letters of words in a text."""
    initials = "".join(each[0] for each in re.findall(r"\w+", text.casefold()))
    return len(word) > 2 and word.isalpha() and word in initials
