"""Read the facets of a line: its terms, and what makes it a different fact; pure.

Two lines may share nearly all their words and state two facts. They differ in a number, a name, a
day, a `not`, or in `after` for `before`. These are facets, and lines with different facets are
never duplicates. The words are tables, in English, German and Chinese.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from memcli.language.discourse import without_speaker_mark
from memcli.language.salience import is_negated
from memcli.language.stopwords import ARTICLES, ENGLISH, GERMAN, MONTH_NAMES, WEEKDAYS, table
from memcli.language.terms import has_form, has_han, terms, tokens_of
from memcli.language.word_order import exchanged
from memcli.record import Record

# What `remember` itself writes before a note, and list markers.
_LEAD = re.compile(r"^\s*(?:>\s?)*(?:[-*+]\s+|\d{1,9}[.)]\s+|#{1,6}\s+)?(?:\[[ xX]\]\s+)?"
                   r"(?:\d\d:\d\d(?::\d\d)?\s+)?(?:\((?:user|feedback|project"
    r"|reference)\)\s+)?")  # fmt: skip
# An introduction such as `The notes say that`.
_AS_NOTED = (
    r"(?:as |like )?(?:the |my |our )?(?:notes?|memory|logs?) (?:say|mention)s?[,:]? (?:that )?"
    r"|according to (?:the |my |our )?(?:notes?|memory|logs?)[,:]? "
    r"|as (?:noted|mentioned|said)(?: before| above| earlier)?[,:] "
    r"|laut (?:den |meinen |unseren )?(?:Notiz(?:en)?|Gedächtnis)[,:]? "
    r"|(?:im Gedächtnis|in den Notizen) steht[,:]? (?:dass )?|wie (?:vermerkt|notiert|erwähnt)[,:] "
    r"|(?:根据|按照)(?:笔记|记忆|记录)[，,：:]?|如[前上]所述[，,：:]?"
    r"|(?:笔记|记忆|记录)[里中]?(?:说|提到|写着|写道|显示|记载)[，,：:]?"
)
# Any match of the pattern contains one of these. The pattern is slow to compile.
_NOTED_SIGNS = (
    "note", "memory", "log", "noted", "mention", "said", "notiz", "gedächtnis", "vermerkt",
    "erwähnt", "笔记", "记忆", "记录", "所述",
)  # fmt: skip
_NUMBER = re.compile(r"[A-Za-z]*\d[\w.,:/%-]*")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
# Letters and digits joined by a sign: paths, versions, options, names in code.
_IDENTIFIER = re.compile(
    r"(?<![\w-])-{0,2}\w+(?:[._/:@#+-]+\w+)+|\b[A-Z]?[a-z]+[A-Z]\w+|\b[A-Z]{2,}\b|`[^`\n]+`"
)
# An operator in code, without a word: `<` differs from `<=`, and `a =~ b` from `a !~ b`.
_CODE = re.compile(r"`([^`\n]+)`")
_SIGNS = re.compile(r"[^\w\s]{1,8}")
_OPERATOR = re.compile(r"(?<=\s)[=<>!~+*/%&|^?:-]{1,8}(?=\s)")
_CAPITAL = re.compile(r"[A-ZÄÖÜÀ-Þ]")
_HAN_NUMBER = re.compile("[〇零一二两三四五六七八九十百千万亿半]+")
# Words that make two facts different, as numbers do. Words that do so only at times (`in`, `all`,
# `always`) are not in the table.
_TELLING = table("""
    one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty
    hundred thousand million first second third fourth half twice once double
    eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig hundert tausend erste
    ersten zweite zweiten dritte dritten halb zweimal einmal doppelt
    morning evening noon midnight yesterday today tomorrow gestern heute
    before after until since above below over under off down left right more less fewer most least
    sometimes often rarely only true false enable enabled disable disabled allow allowed deny denied
    forbidden start started stop stopped open opened close closed add added remove removed increase
    increased decrease decreased raise raised lower lowered accept accepted reject rejected pass
    passed fail failed succeeded keep drop like likes dislike dislikes love loves hate hates
    maximum minimum max min older newer short long
    vor nach bis seit über unter mehr weniger manchmal oft selten nur wahr falsch erlaubt verboten
    aktiviert deaktiviert gestiegen gesunken mag hasst mit links rechts gestartet gestoppt geöffnet
    geschlossen angenommen abgelehnt
""").union(MONTH_NAMES)
_DAYS = WEEKDAYS.union(("morgen", "abend", "mittag"))
# An article and the word after it name a thing. Two such words rarely change places.
_ARTICLES = ARTICLES.union(
    ("our", "my", "of", "im", "am", "zum", "zur", "beim", "ihre", "seine", "unsere")
)
NOT = "not"  # in `Facets.telling`
_HAN_TELLING = re.compile(
    "上午|下午|早上|晚上|周.|之前|之后|以前|以后|以上|以下|开启|关闭|启用|禁用|允许|禁止|增加|减少|喜欢|讨厌|左|右|总是|从不|前|后|大于|小于|或"
)
_HAN_WEEK = re.compile("星期|礼拜")
# Words of emphasis or of the present that add nothing else.
_FILLERS = table("""
    now currently presently jetzt derzeit aktuell really actually basically simply indeed
    definitely certainly wirklich eigentlich einfach tatsächlich
""")
_JUNCTIONS = frozenset(["and", "or", "und", "oder"])


class Facets(Record):
    """A line, prepared for the comparison that `remember` makes."""

    sequence: tuple[str, ...]  # terms in their order
    terms: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]  # words with a capital and identifiers, folded
    order: tuple[str, ...]  # order of the names: who acts on whom, from where to where
    opening: str  # the first word, whose capital does not show whether it is a name; or empty
    telling: frozenset[str]  # negations, numbers and days as words, one of two opposites
    tokens: tuple[str, ...]  # words, Chinese characters and ends of clauses, in order

    @property
    def content(self) -> frozenset[str]:
        """Return the terms that are not function words."""
        return self.terms - ENGLISH - GERMAN


def facets_of(text: str) -> Facets:
    """Read a line without its list marker, its time and type, and `as the notes say`."""
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
        telling.add(NOT)
    if "or" in folded or "oder" in folded:  # unlike `both`; neither is a content word
        telling.add("or")
    telling |= set(_HAN_TELLING.findall(text))
    telling |= set(_operators(text))
    numbers = {number.strip(".,:;-/").casefold() for number in _NUMBER.findall(text)}
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
    names |= {identifier.strip("`").casefold() for identifier in _IDENTIFIER.findall(text)}
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
    """Return the share of the terms of either line that both contain, 0 to 1."""
    either = len(a.terms | b.terms)
    return len(a.terms & b.terms) / either if either else 0.0


def containment(a: Facets, b: Facets) -> float:
    """Return the share of the content of `a` that `b` contains, 0 to 1."""
    return len(a.content & b.terms) / len(a.content) if a.content else 0.0


def differs(a: Facets, b: Facets) -> str:
    """Name what makes two lines different facts, or "" if they do not differ.

    A first word counts as a name only if each line has its own.
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
    """Return whether `a` contains a number, a name or a negation that `b` lacks."""
    new = a.numbers - b.numbers or a.telling ^ b.telling or _unmatched(a.names, b)
    return bool(new or _turned(a, b) or exchanged(a.tokens, b.tokens))


def _turned(a: Facets, b: Facets) -> Sequence[str]:
    """Return the names that are in both lines but in another order."""
    one, other = ([n for n in dict.fromkeys(x.order) if n in y.order] for x, y in ((a, b), (b, a)))
    return one if one != other else []


def replaces(a: Facets, b: Facets) -> bool:
    """Return whether each line contains a content word that the other lacks or has less often."""
    return says_more(a, b) and says_more(b, a)


def says_more(a: Facets, b: Facets) -> bool:
    """Return whether `a` contains a content word that `b` lacks or has less often."""
    facts = (a.content | (a.terms & _JUNCTIONS)) - _FILLERS
    if any(not has_form(word, b.terms) for word in facts - b.terms):
        return True
    mine, theirs = Counter(a.sequence), Counter(b.sequence)
    return any(mine[word] > theirs[word] for word in facts & b.terms if not has_han(word))


def _unmatched(names: Collection[str], other: Facets) -> set[str]:
    known = {*other.names, *other.terms, other.opening, ""}
    return {name for name in names if name not in known and not _contains_name(name, known, other)}


def _contains_name(name: str, known: Collection[str], other: Facets) -> bool:
    """Return whether a line contains another form of a name, or all words of code in order."""
    words = terms(name)
    if " " in name:
        runs = zip(*(other.sequence[at:] for at in range(len(words))), strict=False)
        return tuple(words) in runs
    return has_form(name, known) or set(words) <= other.terms


def _listed(words: Collection[str]) -> str:
    return ", ".join(sorted(filter(None, words))[:4])
