"""Read the claims of a text, and find those that share enough words with another line.

A claim is an item, a short paragraph, a sentence of a long one, or a heading: what one line of
notes states. A line with a word of change, or a note with a number, is compared with the lines
that share its words, any other line with lines that begin as it does or share its longest words.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

from memcli.record import Record
from memcli.search.lines import introduces
from memcli.search.mmr import KEPT_TEXTS, token_set

SpokenLines = tuple[int, int, str]  # the first and the last line of a turn, from 0, and its speaker

SURE = 0.4  # likelihood of a correction from which a line marks another
MOST_CLAIMS = 40  # in a chunk
MOST_LINES = 24  # a word in more lines than this finds none of them
SHORT = 5  # words of a line for which one shared word is enough; a longer line needs two
MOST_STEMS = 2  # longest words by which a line without a word of change is found
STEM = 5  # letters by which two forms of a word are compared
HAN_BEGINNING = 2  # characters
LONG = 240  # characters; a longer paragraph is compared by its sentences
MARK = len("- **")  # a speaker mark begins within these characters

_ITEMS = ("- ", "* ", "+ ", "#", ">", "|")
_FENCES = ("```", "~~~")
_ENDS = (".", "!", "?", "。", "！", "？")  # of a sentence
# The first word of a sentence that refers to the one before; a table, as a pattern costs 30,000
# executed lines.
_REFERRING = (
    " it its this that these those they them their he his she her so then there but and or also"
    " das dies diese dieser dieses es sie er ihn ihr ihre sein und aber oder auch dann dort "
)
_HAN_REFERRING = ("这", "那", "它", "他", "她", "但", "所以")
_SENTENCE = r"(?<=[.!?])\s+(?=[A-ZÄÖÜ])|(?<=[。！？])"  # compiled for a long paragraph only


class Claim(Record):
    """An item, a short paragraph, a sentence of a long one, or a heading."""

    first: int  # line, from 0
    last: int
    text: str
    is_heading: bool = False  # it names what comes below it, and states nothing

    @property
    def stems(self) -> frozenset[str]:
        """Return the beginnings of its words, without function words."""
        return stems_of(self.text)


@lru_cache(maxsize=KEPT_TEXTS)  # a process with many searches meets the same passages
def claims_of(
    text: str, headings: Sequence[str] = (), turns: tuple[SpokenLines, ...] = ()
) -> tuple[Claim, ...]:
    """Divide a text into claims to compare; only the last heading is used.

    The answers of an assistant in a conversation are left out.
    """
    result = list(_claims(text, turns))
    if headings and not text.startswith("#"):
        result.append(Claim(0, 0, headings[-1], is_heading=True))
    return tuple(result[:MOST_CLAIMS])


def item_at(text: str, line: int) -> range | None:
    """Return the lines of the item or paragraph with a line of a text; all from 0."""
    items = (
        range(claim.first, claim.last + 1) for claim in claims_of(text) if not claim.is_heading
    )
    return next((item for item in items if line in item), None)


def blocks_of(text: str) -> list[int]:
    """Return for each line the first line of its block, both from 0.

    A block is an item with what is indented below it, a paragraph, a table, or a block of code. A
    heading or an introduction is in the same block as the next line.
    """
    starts, start, before = list[int](), 0, ""
    is_code = joins = False
    for at, line in enumerate(text.split("\n")):
        if line.strip() and not (is_code or joins or _continues(line, before)):
            start = at
        starts.append(start)
        is_code ^= line.lstrip().startswith(_FENCES)
        if line.strip():
            joins = not is_code and (_is_heading(line) or introduces(line))
        before = line
    return starts


def _continues(line: str, before: str) -> bool:
    """Return whether a line belongs to the item, paragraph or table of the line before it."""
    if line[0].isspace():
        return True
    is_same = line[0] == before[:1] and line[0] in "|>"
    return bool(before.strip()) and (is_same or not _is_item(line))


def _claims(text: str, turns: Sequence[SpokenLines]) -> Iterator[Claim]:
    first, lines, is_code = 0, list[str](), False
    for number, line in enumerate([*text.split("\n"), ""]):
        is_fence = line.lstrip().startswith(_FENCES)
        is_next = is_fence or _is_item(line) or not line.strip()
        if lines and (is_next or _is_heading(lines[-1]) or _is_new(line, lines[-1])):
            whole = _attributed(" ".join(each.strip() for each in lines), first, turns)
            body = whole.lstrip("# ")
            for sentence in _sentences(body) if len(body) > LONG else filter(None, (body,)):
                yield Claim(first, number - 1, sentence, is_heading=whole.startswith("#"))
            lines = []
        is_code ^= is_fence
        if line.strip() and not (is_code or is_fence or line.startswith("|")):
            first = first if lines else number
            lines.append(line)


def _attributed(text: str, line: int, turns: Sequence[SpokenLines]) -> str:
    """Add the speaker mark to a line of a conversation; "" if the speaker is a machine."""
    turn = next((each for each in turns if each[0] <= line <= each[1]), None)
    if turn is None or text.startswith("#"):
        return text
    from memcli.markdown.turns import is_machine, marked

    first, _, speaker = turn
    if is_machine(speaker):
        return ""
    name = text.partition("**")[2].partition("**")[0] if "**" in text[:MARK] else ":"
    return marked(text, speaker, opens=first == line) if name.endswith((":", "：")) else text


def _sentences(paragraph: str) -> list[str]:
    """Cut a paragraph into sentences; each begins with the speaker if the paragraph does."""
    first, *rest = re.split(_SENTENCE, paragraph)
    if "**" in paragraph[:MARK]:
        from memcli.language.discourse import SPEAKER_MARK

        if mark := SPEAKER_MARK.match(paragraph[paragraph.index("**") :]):
            rest = [f"{mark[0]}{each}" for each in rest]
    return [first, *rest]


def _is_new(line: str, before: str) -> bool:
    """Return whether a line of a paragraph begins a sentence that needs no earlier one.

    An indented line belongs to its item. A line that begins with a small letter, unless the one
    before does too, or with a number that is not a time, continues the sentence: `the deploy takes
    approx.`, `20 minutes`.
    """
    first = line[:1]
    is_small = first.islower() and not before[:1].islower()
    if not before.rstrip().endswith(_ENDS) or first.isspace() or is_small or first == "(":
        return False
    if first.isdigit() and ":" not in line[: len("14:02")]:
        return False
    word = line.casefold().split()[0].strip(",")
    return f" {word} " not in _REFERRING and not line.startswith(_HAN_REFERRING)


def _is_heading(line: str) -> bool:
    return line.lstrip().startswith("#")


def _is_item(line: str) -> bool:
    mark = line.lstrip()[:4].partition(" ")[0]
    return line.lstrip().startswith(_ITEMS) or (mark[:-1].isdigit() and mark[-1] in ".)")


class Claims:
    """Lines that may correct others, indexed by their words."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        """Index the lines."""
        self._claims = claims
        self._by_key: defaultdict[str, list[int]] = defaultdict(list)
        for place, claim in enumerate(claims):
            for key in _keys(claim.text):
                self._by_key[key].append(place)

    def correcting(
        self,
        text: str,
        may: Callable[[int], bool],
        least: Callable[[int], float] = lambda _: SURE,
        question: str = "",
    ) -> Iterator[int]:
        """Yield the places of the lines that correct a text, also as the answer to a question.

        `may` returns whether the line at a place may correct it, because it is newer, and `least`
        the likelihood that it needs.
        """
        for place in filter(may, self._near(text)):
            from memcli.language.correction import corrects_answer, likelihood  # rarely needed

            newer = self._claims[place].text
            is_likely = likelihood(newer, text) > least(place)
            if is_likely or (question and corrects_answer(newer, text, question)):
                yield place

    def _near(self, text: str) -> list[int]:
        """List the lines that share enough words with a text for a comparison."""
        stems = stems_of(text)
        groups = (self._by_key[stem] for stem in stems if stem in self._by_key)
        counts = Counter(chain.from_iterable(each for each in groups if len(each) <= MOST_LINES))
        least = 1 if len(stems) <= SHORT else 2
        near = {place for place, count in counts.items() if count >= least}
        alike = self._by_key.get(_start(text), ())

        def is_half(place: int) -> bool:
            claim = self._claims[place]
            is_short = max(len(stems), len(claim.stems)) <= SHORT
            if place in alike and (is_short or not (text.isascii() or claim.text.isascii())):
                return True  # a value may be most of a short line, and of Chinese pairs
            return 2 * len(stems & claim.stems) + 1 >= len(stems)

        changed = {place for place in near if has_change(self._claims[place].text)}
        others = near.difference(changed).union(alike if len(alike) <= MOST_LINES else ())
        return sorted(changed.union(filter(is_half, others)))


@lru_cache(maxsize=KEPT_TEXTS)
def _keys(text: str) -> tuple[str, ...]:
    """Return the keys that find a line: its beginning and its stems.

    A line without a word of change has only its longest stems, unless it is a note with a number.
    """
    stems = sorted(sorted(stems_of(text)), key=len)
    has_number = "**" not in text[:MARK] and any(map(str.isdigit, stems))
    return (_start(text), *(stems if has_number or has_change(text) else stems[-MOST_STEMS:]))


@lru_cache(maxsize=KEPT_TEXTS)
def _start(text: str) -> str:
    """Return `^` and the beginning of the first word of a line; of two words if it is short.

    The speaker and the list marker are left out.
    """
    line = text.lstrip("-*+> ")
    body = line.partition(": ")[2] if "**" in text[:MARK] else line
    if not body.isascii() and (start := body[:HAN_BEGINNING]) and not start.isascii():
        return f"^{start}"
    first, second, *_ = [*body.casefold().split(None, 2), "", ""]
    is_enough = len(first) > STEM or first.endswith(":")
    return f"^{first[:STEM]}" if is_enough else f"^{first} {second.strip('.,:;')[:STEM]}"


@lru_cache(maxsize=KEPT_TEXTS)
def has_change(text: str) -> bool:
    """Return whether a line contains a word of change or names a new thing."""
    from memcli.language.another_value import names_new
    from memcli.language.change import speaks_of_change

    return speaks_of_change(text) or names_new(text)


@lru_cache(maxsize=KEPT_TEXTS)
def stems_of(text: str) -> frozenset[str]:
    """Return the beginnings of the words of a line, without function words."""
    from memcli.language.stopwords import ENGLISH, GERMAN

    return frozenset(
        word[:STEM] for word in token_set(text) if word not in ENGLISH and word not in GERMAN
    )
