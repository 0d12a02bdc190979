"""Find out whether two lines are the same except for a value or a negation; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from memcli.language.change import NEW
from memcli.language.compared_line import (
    DIGITS,
    EVERY,
    MOVES,
    NUMBERS,
    OWN,
    STATES,
    TIME,
    ComparedLine,
    is_among,
    is_content,
    is_name,
    is_past,
    label_of,
)
from memcli.language.stopwords import ARTICLES, table
from memcli.language.terms import common_length, has_form, has_han, terms, tokens_of
from memcli.record import Record

BEFORE_A_NUMBER = 2  # content words that name the thing with the number
BEFORE_A_HAN_NUMBER = 3  # characters
LONGEST_VALUE = 8  # tokens
LONGEST_HAN_VALUE = 12  # characters
LONGEST_PHRASE = 4  # tokens; a longer text that begins with a verb is not a value
_HAN_STATES = ("是", "在", "为", "由", "住", "有", "每", "使用", "监听", "需要", "负责", "采用",
               ":", "：")  # fmt: skip
# After these words a thing may have several values, unless the value is a number.
_SEVERAL = table("has have hat haben use uses nutzt nutzen takes take needs need")
_OFTEN = (
    EVERY
    | TIME
    | table(
        """never always usually often rarely sometimes now once twice times nie niemals immer oft
    selten manchmal meistens jetzt mal"""
    )
)
_NEW_SIGNS = ("new ", "neue", "新")
_BEFORE_NEW = 40  # characters
_HOMES = table("live lives living wohne wohnt wohnen lebe lebt leben")
_HAN_MOVES = ("搬到", "搬家", "搬去", "搬回", "搬走")
_HAN_PARTICLES = "呢啊哦呀嘛"  # at the end
_FAR = 6  # words
OF = table("of for für des der vom von zum zur")
_COPULAS = table("is are ist sind")
# A new one does not replace another.
_MANY = table(
    """client customer colleague coworker friend member neighbor neighbour intern student guest
    kunde kundin kollege kollegin freund freundin mitglied nachbar nachbarin gast
    engineer developer designer analyst employee volunteer patient tenant daughter son child brother
    sister cousin branch product feature book entwickler entwicklerin mitarbeiter mitarbeiterin
    patientin mieter mieterin tochter sohn kind bruder schwester filiale produkt buch"""
)
_HAN_MANY = ("客户", "同事", "朋友", "邻居", "同学", "成员")
_A = table("a an ein eine einem einen einer")
_DETERMINERS = (ARTICLES - _A) | OWN
_WHOSE = ARTICLES | table("my our mein meine unser unsere")
_ABOUT = table("about roughly around approximately circa ca etwa ungefähr rund")
_NEGATIONS = table("no not kein keine keinen")
_PERIODS = table("week weekly woche month monthly monat year yearly jahr jährlich jährlicher")
PLACES = table("in at on by behind under above below near im in am auf hinter unter über neben bei")
# Verbs that only say where a thing is: `hangs by the door`, `lies in the drawer`.
_POSITIONS = table("stands sits lies hangs parks ist steht liegt hängt parkt sitzt")
_HAN_POSITIONS = ("放在", "停在", "挂在", "摆在", "位于")
# A line with one of these labels does not name a thing.
_LABELS_OF_ALL = table(
    """decision decisions note notes todo status state result reason why update idea plan question
    answer fix cause owner next assistant user human ai system agent entscheidung notiz grund stand
    ergebnis 决定 备注 状态 原因"""
) | {""}


class _Difference(Record):
    """The tokens in which two lines differ, and the tokens before and after them."""

    before: tuple[str, ...]  # in the same clause
    old: tuple[str, ...]
    new: tuple[str, ...]
    behind: tuple[str, ...]

    @property
    def is_han(self) -> bool:
        """Return whether the lines are Chinese."""
        return any(map(has_han, self.before))

    @property
    def are_numbers(self) -> bool:
        """Return whether both values are numbers."""
        return _is_amount(self.old[0]) and _is_amount(self.new[0])

    @property
    def is_of_one_unit(self) -> bool:
        """Return whether the values differ in their numbers only: not `5 mg A` and `20 mg B`."""
        one, other = ([e for e in side if not _is_amount(e)] for side in (self.old, self.new))
        return one == other

    @property
    def verbs(self) -> list[str]:
        """List the verbs of state before the value."""
        return [token for token in self.before if token in STATES]


def is_turned(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether two lines differ only in a negation or in one of two opposites."""
    gone, come = (
        {term for term in one.content if term not in _OFTEN and not other.has(term)}
        for one, other in ((old, new), (new, old))
    )
    both = sum(map(is_name, old.content)) - len(gone)
    if max(len(gone), len(come)) > 1 or both < 2 - len(gone):
        return False
    from memcli.language.facts import facets_of  # its patterns take 10 ms to compile

    mine, theirs = facets_of(new.text).telling, facets_of(old.text).telling
    is_framed = not (gone or come) or new.sequence[0] == old.sequence[0]
    return is_framed and mine != theirs and gone <= theirs and come <= mine


def is_home(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether a person moves: `Tom lives in Bristol` and `Tom moved to York`."""
    if new.is_han:
        is_home = "住在" in old.text and any(each in new.text for each in _HAN_MOVES)
        return is_home and old.text[:1] == new.text[:1]
    at = next((at for at, term in enumerate(old.sequence[:_FAR]) if term in _HOMES), 0)
    behind = new.text.partition(" moved to ")[2] or new.text.partition(" nach ")[2]
    is_move = behind[:1].isupper() and not MOVES.isdisjoint(new.sequence[at : at + 2])
    return at > 0 and is_move and new.sequence[:at] == old.sequence[:at]


def names_new(text: str) -> bool:
    """Return whether a line may give a new value to a name: `Our new manager is Priya`."""
    start = text.lstrip("-*+> ")[:_BEFORE_NEW].casefold()
    if not any(map(start.__contains__, _NEW_SIGNS)):
        return False
    if has_han(start):
        return _han_name(start).startswith("新")
    return start.startswith(_NEW_SIGNS) or any(_new_things(text))


def is_new_of(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether the newer line gives a new value to a name in the older line.

    In a sentence both values are names or numbers: `The new car is red` corrects nothing.
    """
    if not names_new(new.text):
        return False
    if new.is_han:
        name, label = _han_name(old.text), _han_name(new.text)
        is_new = label.lstrip("新任的").startswith(name)
        return is_new and len(name) > 1 and name != old.text and not name.endswith(_HAN_MANY)
    label = label_of(new.text)
    if label.startswith(_NEW_SIGNS):  # `New manager since Monday: Priya`
        whose, own = list(old.name), terms(label)[1:]
        return bool(whose) and own[: len(whose)] == whose and OF.isdisjoint(own[len(whose) :][:1])
    older = {*_things(old.text), tuple(terms(label_of(old.text)))} - {()}
    return not older.isdisjoint(_new_things(new.text))


def _han_name(text: str) -> str:
    """Return what a Chinese line names: `项目经理` of `我们的项目经理是张伟`."""
    name = min((text.partition(sign)[0] for sign in "是在：:"), key=len)
    return name.removeprefix("我们").removeprefix("我").removeprefix("的")


def _new_things(text: str) -> Iterator[tuple[str, ...]]:
    """Yield what a sentence says is new: `release manager` of `Ann is the new release manager`."""
    return (thing[1:] for thing in _things(text, _A) if thing[0] in NEW and len(thing) > 1)


def _things(text: str, articles: frozenset[str] = frozenset()) -> Iterator[tuple[str, ...]]:
    """Yield what a name or a number in a sentence may be the value of, without its article.

    `Ann is the owner` and `The owner is Ann` name the owner, and with `articles` also `We have an
    owner, Ann`. Of `Tom is an engineer` there may be several.
    """
    pieces = [piece.split() for piece in text.rstrip(" .!").replace(":", ",").split(",")]
    for words, behind in zip(pieces, [*pieces[1:], []], strict=True):
        sides = [(words[-at:], behind, False) for at in (3, 4)]
        determiners = _DETERMINERS | articles
        if at := next((at for at, word in enumerate(words) if word in _COPULAS), 0):
            one, other = words[:at], words[at + 1 :]
            sides, determiners = [(one, other, True), (other, one, False)], _DETERMINERS
        for thing, value, at_start in sides:
            names = tuple(terms(" ".join(thing)))
            is_value = any(w[0].isupper() or not DIGITS.isdisjoint(w) for w in value[:1])
            has_article = not determiners.isdisjoint(names[:1])
            is_one = _MANY.isdisjoint(names[-1:])
            if is_value and is_one and names[has_article:] and (has_article or at_start):
                yield names[has_article:]


def is_another_value(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether two lines name the same thing and differ only in its value."""
    if _is_turned_around(new, old) or _is_of_another_holder(new, old):
        return True
    if "price" in new.value_types & old.value_types:
        one, two = ({e[:4] for e in _PERIODS.intersection(line.terms)} for line in (new, old))
        if one and two and one.isdisjoint(two):
            return False  # 29 a month, and 290 if billed yearly
    starts = [next((term for term in line.sequence[:2] if term not in _WHOSE), "")
              for line in (new, old)]  # fmt: skip
    if not is_among(starts[0], starts[1:]):
        return False
    label, theirs = label_of(new.text), label_of(old.text)
    has_label = _is_same_label(label, theirs) and label not in _LABELS_OF_ALL
    a, b, own = _tokens(old.text), _tokens(new.text), _tokens(label)
    if has_label:  # `Class teachers` is `Class teacher`
        b = [*_tokens(theirs), *b[len(own) :]]
    elif label and " ".join(a).startswith(f"{' '.join(own)} ") and len(a) > (at := len(own)):
        a = [*a[:at], *a[at + (a[at] in STATES) :]]  # `The fee is 12` and `The fee: 15`
        has_label = label not in _LABELS_OF_ALL
    there = _difference(a, b)
    if not _is_value(there, has_label=has_label):
        return False
    names = _names_chinese if there.is_han else _names
    return names(there, has_label=has_label)


def _is_turned_around(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether a line has the two parts of another in turn: `48 euros each member pays`."""
    if len(new.sequence) != len(old.sequence) or new.terms == old.terms:
        return False
    mine, theirs = (
        ["#" if _is_amount(each) else each for each in line.sequence] for line in (new, old)
    )
    is_one = mine.count("#") == 1 and len(old.content) > BEFORE_A_NUMBER
    return is_one and mine in (theirs[at:] + theirs[:at] for at in range(1, len(theirs)))


def _is_of_another_holder(new: ComparedLine, old: ComparedLine) -> bool:
    """Return whether two lines turn a role around: `Tom is our keeper`, `Our keeper is Ann`."""
    if new.is_han or _COPULAS.isdisjoint(new.terms & old.terms):
        return False
    role, same = next(_things(new.text), ()), next(_things(old.text), ())
    is_inverted = bool(role) and role[:1] in (new.name[:1], old.name[:1]) and new.name != old.name
    return is_inverted and role == same


def _difference(a: Sequence[str], b: Sequence[str]) -> _Difference:
    first = common_length(a, b)
    last = common_length(a[first:][::-1], b[first:][::-1])
    old, new = a[first : len(a) - last], b[first : len(b) - last]
    before = a[:first]
    clause = before[len(before) - before[::-1].index(",") :] if "," in before else before
    return _Difference(tuple(clause), tuple(old), tuple(new), tuple(a[len(a) - last :]))


def _is_value(there: _Difference, *, has_label: bool) -> bool:
    """Return whether two lines differ in one short value."""
    old, new = there.old, there.new
    longest = LONGEST_HAN_VALUE if there.is_han else LONGEST_VALUE
    if not (old and new) or max(len(old), len(new)) > longest or new[0] in _NEGATIONS:
        return False
    if has_label and any(
        len(each) > LONGEST_PHRASE and each[0].endswith("s") for each in (old, new)
    ):
        return False  # a description: `renders and prints shipping labels`
    if (old[0] in _A) != (new[0] in _A):
        return False  # `a flat` and `Gdansk` are not of one kind
    if there.before[-1:] in (("is",), ("ist",)) and (old[0] in PLACES) != (new[0] in PLACES):
        return False  # `is black` and `is in the hall`
    if new[1:2] in (("by",), ("to",)) and _is_amount(old[0]) and not any(map(_is_amount, new)):
        return False  # `is 980`, `is paid to Ann`
    if has_label and _names_measure(old) != _names_measure(new):
        return False  # `Warehouse: rent 900 a month`, `Warehouse: notice 3 months`
    past = [is_past(each[0], "") for each in (old, new)]
    if all(past) or (any(past) and not there.verbs):
        return False  # two events, or two participles
    is_moved = old[0] in TIME and len({*old} - {*new}) > 1
    return not is_moved or not _COPULAS.isdisjoint(there.before)  # else another event


def _names_measure(value: Sequence[str]) -> Sequence[str]:
    """Return the words before the number of a measure: `notice` of `notice 3 months`."""
    clause = value[: value.index(",")] if "," in value else value
    at = next((at for at, token in enumerate(clause) if _is_amount(token)), 0)
    return clause[:at] if len(clause) > at + 1 else ()


def _names(there: _Difference, *, has_label: bool) -> bool:
    """Return whether the words around a value name the thing that has it."""
    if verbs := there.verbs:
        return verbs[-1] not in _SEVERAL or (there.are_numbers and there.is_of_one_unit)
    is_short = there.are_numbers and max(len(there.old), len(there.new)) <= 2
    return has_label or (
        is_short and sum(map(is_content, (*there.before, *there.behind))) >= BEFORE_A_NUMBER
    )


def _names_chinese(there: _Difference, *, has_label: bool) -> bool:
    words = "".join(there.before)
    if there.are_numbers and len(there.before) >= BEFORE_A_HAN_NUMBER:
        return True
    is_several = words.endswith("有") and not there.are_numbers
    return has_label or (any(state in words for state in _HAN_STATES) and not is_several)


def _is_amount(token: str) -> bool:
    return token[0] in DIGITS or token in NUMBERS


def _tokens(text: str) -> Sequence[str]:
    tokens: list[str] = []
    for title in ("Mr", "Mrs", "Ms", "Dr"):
        text = text.replace(f"{title}. ", f"{title} ")
    for end in (". ", "! ", "? "):
        text = text.replace(end, ", ")  # the end of a clause
    for place in _HAN_POSITIONS:
        text = text.replace(place, "在")
    for token in tokens_of(text):
        if token in _ABOUT:
            continue
        is_number = token in DIGITS and bool(tokens) and tokens[-1][-1] in DIGITS
        if is_number and has_han(token):
            tokens[-1] += token
        else:
            tokens.append(token)
    if tokens and tokens[0] in _WHOSE:
        del tokens[0]
    if not _POSITIONS.isdisjoint(tokens):
        is_at = [a in _POSITIONS and b in PLACES for a, b in pairwise([*tokens, ""])]
        tokens = ["is" if each else token for token, each in zip(tokens, is_at, strict=True)]
    while tokens and (tokens[-1] == "," or tokens[-1] in _HAN_PARTICLES):
        tokens.pop()
    return tokens


def _is_same_label(one: str, other: str) -> bool:
    mine, theirs = one.split(), other.split()
    return len(mine) == len(theirs) > 0 and all(
        a == b or has_form(a, [b]) for a, b in zip(mine, theirs, strict=True)
    )
