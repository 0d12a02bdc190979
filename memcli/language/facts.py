"""What a line says, as far as words can tell: its terms, and what makes it another fact; pure.

Two lines may share nearly all their words and say two things: another number, name or day, a `not`,
`after` for `before`. These are facets, and lines of different facets are never duplicates. The
words are a table, in English, German and Chinese.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from memcli.language.discourse import without_speaker_mark
from memcli.language.salience import is_negated
from memcli.language.stopwords import ENGLISH, GERMAN
from memcli.language.terms import has_form, has_han, terms, tokens_of
from memcli.language.word_order import exchanged
from memcli.record import Record

# What `remember` itself writes before a note, and the mark of a list.
_LEAD = re.compile(r"^\s*(?:>\s?)*(?:[-*+]\s+|\d{1,9}[.)]\s+|#{1,6}\s+)?(?:\[[ xX]\]\s+)?"
                   r"(?:\d\d:\d\d(?::\d\d)?\s+)?(?:\((?:user|feedback|project"
    r"|reference)\)\s+)?")  # fmt: skip
# Who says that it stands in the memory, and then what stands there.
_AS_NOTED = (
    r"(?:as |like )?(?:the |my |our )?(?:notes?|memory|logs?) (?:say|mention)s?[,:]? (?:that )?"
    r"|according to (?:the |my |our )?(?:notes?|memory|logs?)[,:]? "
    r"|as (?:noted|mentioned|said)(?: before| above| earlier)?[,:] "
    r"|laut (?:den |meinen |unseren )?(?:Notiz(?:en)?|Gedächtnis)[,:]? "
    r"|(?:im Gedächtnis|in den Notizen) steht[,:]? (?:dass )?|wie (?:vermerkt|notiert|erwähnt)[,:] "
    r"|(?:根据|按照)(?:笔记|记忆|记录)[，,：:]?|如[前上]所述[，,：:]?"
    r"|(?:笔记|记忆|记录)[里中]?(?:说|提到|写着|写道|显示|记载)[，,：:]?"
)
# One of these is in whatever the pattern finds, which is slow to compile.
_NOTED_SIGNS = (
    "note", "memory", "log", "noted", "mention", "said", "notiz", "gedächtnis", "vermerkt",
    "erwähnt", "笔记", "记忆", "记录", "所述",
)  # fmt: skip
_NUMBER = re.compile(r"[A-Za-z]*\d[\w.,:/%-]*")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
# Letters, digits and a sign between: paths, versions, options, names in code.
_IDENTIFIER = re.compile(
    r"(?<![\w-])-{0,2}\w+(?:[._/:@#+-]+\w+)+|\b[A-Z]?[a-z]+[A-Z]\w+|\b[A-Z]{2,}\b|`[^`\n]+`"
)
# An operator as code, which holds no word: `<` is not `<=`, nor `a =~ b` what `a !~ b` is.
_CODE = re.compile(r"`([^`\n]+)`")
_SIGNS = re.compile(r"[^\w\s]{1,8}")
_OPERATOR = re.compile(r"(?<=\s)[=<>!~+*/%&|^?:-]{1,8}(?=\s)")
_CAPITAL = re.compile(r"[A-ZÄÖÜÀ-Þ]")
_HAN_NUMBER = re.compile("[〇零一二两三四五六七八九十百千万亿半]+")
# Words that differ from one fact to another as numbers do. Those that merely may (`in`, `all`,
# `always`) are left out.
_TELLING = frozenset(
    """one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty
    hundred thousand million first second third fourth half twice once double
    eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig hundert tausend erste
    ersten zweite zweiten dritte dritten halb zweimal einmal doppelt
    january february march april may june july august september october november december
    januar februar märz mai juni juli oktober dezember
    morning evening noon midnight yesterday today tomorrow gestern heute
    before after until since above below over under off down left right more less fewer most least
    sometimes often rarely only true false enable enabled disable disabled allow allowed deny denied
    forbidden start started stop stopped open opened close closed add added remove removed increase
    increased decrease decreased raise raised lower lowered accept accepted reject rejected pass
    passed fail failed succeeded keep drop like likes dislike dislikes love loves hate hates
    maximum minimum max min older newer short long
    vor nach bis seit über unter mehr weniger manchmal oft selten nur wahr falsch erlaubt verboten
    aktiviert deaktiviert gestiegen gesunken mag hasst mit links rechts gestartet gestoppt geöffnet
    geschlossen angenommen abgelehnt""".split()  # noqa: SIM905 (a table to be read)
)
_DAYS = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag
    freitag samstag sonntag morgen abend mittag""".split()  # noqa: SIM905 (a table to be read)
)
# What stands behind one of these is named by it, and seldom one of two that might change places.
_ARTICLES = frozenset(
    """the a an our my of der die das den dem des ein eine einen einer einem im am zum zur beim ihre
    seine unsere""".split()  # noqa: SIM905 (a table to be read)
)
_NOT = "not"
_HAN_TELLING = re.compile(
    "上午|下午|早上|晚上|周.|之前|之后|以前|以后|以上|以下|开启|关闭|启用|禁用|允许|禁止|增加|减少|喜欢|讨厌|左|右|总是|从不|前|后|大于|小于|或"
)
_HAN_WEEK = re.compile("星期|礼拜")
# `both` is not `either`, though neither word is content.
_OR = frozenset(["or", "oder"])
# Words that say how much it is meant, or that it is so as of now, and nothing besides.
_FILLERS = frozenset(
    """now currently presently jetzt derzeit aktuell really actually basically simply indeed
    definitely certainly wirklich eigentlich einfach tatsächlich""".split()  # noqa: SIM905 (a table to be read)
)
_JUNCTIONS = frozenset(["and", "or", "und", "oder"])


class Facets(Record):
    """A line as the gate compares it."""

    sequence: tuple[str, ...]  # terms in their order
    terms: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]  # words with a capital and identifiers, folded
    order: tuple[str, ...]  # of the names: who did it to whom, from where to where
    opening: str  # the first word, which has a capital whether it is a name or not; or empty
    telling: frozenset[str]  # negations, numbers and days as words, one side of opposites
    tokens: tuple[str, ...]  # words, signs of Chinese and the ends of clauses, in their order

    @property
    def content(self) -> frozenset[str]:
        """Give the terms that are no grammar."""
        return self.terms - ENGLISH - GERMAN


def facets_of(text: str) -> Facets:
    """Read a line; the mark of a list, its time and type and `as the notes say` do not count."""
    text = _HAN_WEEK.sub("周", without_speaker_mark(_LEAD.sub("", text, count=1)))
    start = text[:60].lower()
    if any(sign in start for sign in _NOTED_SIGNS) and (noted := re.match(_AS_NOTED, text, re.I)):
        text = text[noted.end() :]
    sequence = tuple(terms(text))
    words = _WORD.findall(text)
    folded = [word.casefold().replace("’", "'") for word in words]
    telling = {word for word in folded if word in _TELLING}
    telling |= {day for word in folded if (day := word.removesuffix("s")) in _DAYS}
    if is_negated(text):
        telling.add(_NOT)
    if not _OR.isdisjoint(folded):
        telling.add("or")
    telling |= set(_HAN_TELLING.findall(text))
    telling |= set(_operators(text))
    numbers = {found.strip(".,:;-/").casefold() for found in _NUMBER.findall(text)}
    numbers |= set(_HAN_NUMBER.findall(text))
    capitals = [
        low
        for word, low in zip(words, folded, strict=True)
        if _CAPITAL.match(word) and low not in ENGLISH and low not in GERMAN
    ]
    opening = capitals.pop(0) if capitals and folded[0] == capitals[0] else ""
    behind = dict(zip(folded[1:], folded, strict=False))
    order = [name for name in (opening, *capitals) if behind.get(name) not in _ARTICLES]
    names = set(capitals)
    names |= {found.strip("`").casefold() for found in _IDENTIFIER.findall(text)}
    return Facets(
        sequence,
        frozenset(sequence),
        frozenset(numbers),
        frozenset(names),
        tuple(filter(None, order)),
        opening,
        frozenset(telling),
        tuple(tokens_of(text)),
    )


def _operators(text: str) -> Iterator[str]:
    for code in _CODE.findall(text):
        yield from [code] if _SIGNS.fullmatch(code) else _OPERATOR.findall(code)


def jaccard(a: Facets, b: Facets) -> float:
    """Give the share of the terms of either line that both hold, 0 to 1."""
    either = len(a.terms | b.terms)
    return len(a.terms & b.terms) / either if either else 0.0


def containment(a: Facets, b: Facets) -> float:
    """Give the share of the content of `a` that `b` holds, 0 to 1."""
    return len(a.content & b.terms) / len(a.content) if a.content else 0.0


def differs(a: Facets, b: Facets) -> str:
    """Name what makes two lines different facts; empty where nothing does.

    First words tell two names apart only where each line has its own.
    """
    for what, one, other in (
        ("number", a.numbers, b.numbers),
        ("word that turns the meaning", a.telling, b.telling),
    ):
        if one != other:
            return f"another {what}: {_listed(one ^ other)}"
    names = _unmatched(a.names, b) | _unmatched(b.names, a)
    openings = _unmatched({a.opening}, b) | _unmatched({b.opening}, a)
    if len(openings - {""}) > 1:
        names |= openings
    if not names and (turned := _turned(a, b)):
        return f"the names in another order: {', '.join(turned)}"
    if not names and (turned := exchanged(a.tokens, b.tokens)):
        return f"the words in another order: {', '.join(turned)}"
    return f"another name: {_listed(names)}" if names else ""


def adds(a: Facets, b: Facets) -> bool:
    """Tell that a line has a number, a name or a turn of the meaning that another has not."""
    new = a.numbers - b.numbers or a.telling ^ b.telling or _unmatched(a.names, b)
    return bool(new or _turned(a, b) or exchanged(a.tokens, b.tokens))


def _turned(a: Facets, b: Facets) -> Sequence[str]:
    """Give the names of both lines where they stand in another order."""
    one, other = ([n for n in dict.fromkeys(x.order) if n in y.order] for x, y in ((a, b), (b, a)))
    return one if one != other else []


def replaces(a: Facets, b: Facets) -> bool:
    """Tell that each line holds a content word which the other has no form of, or less often."""
    return says_more(a, b) and says_more(b, a)


def says_more(a: Facets, b: Facets) -> bool:
    """Tell that a line holds a content word which another has no form of, or less often."""
    told = (a.content | (a.terms & _JUNCTIONS)) - _FILLERS
    if any(not has_form(word, b.terms) for word in told - b.terms):
        return True
    mine, theirs = Counter(a.sequence), Counter(b.sequence)
    return any(mine[word] > theirs[word] for word in told & b.terms if not has_han(word))


def _unmatched(names: Collection[str], other: Facets) -> set[str]:
    known = {*other.names, *other.terms, other.opening, ""}
    return {name for name in names if name not in known and not _is_said(name, known, other)}


def _is_said(name: str, known: Collection[str], other: Facets) -> bool:
    """Tell that a line says a name in another form; of code, all words of it in their order."""
    words = terms(name)
    if " " in name:
        runs = zip(*(other.sequence[at:] for at in range(len(words))), strict=False)
        return tuple(words) in runs
    return has_form(name, known) or set(words) <= other.terms


def _listed(words: Collection[str]) -> str:
    return ", ".join(sorted(filter(None, words))[:4])
