"""Turns any text a user types into terms; stores know the syntax of an index.

Quoted phrases, `-word`, `-"a phrase"` and `prefix*` are operators only if they cannot be anything
else; everything else is plain text. Dates are ordinary terms here: the caller finds them with
`dates.find` and passes their places as `soft`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, count, islice, pairwise

from memcli.language import stopwords, words
from memcli.record import Record
from memcli.types import Term, TermQuery

MAX_CHARS = 100_000  # a longer text is a document: the words after it are left out
MAX_TERMS = 64  # each term is a walk over its rows; no question asks for more
MAX_MATCHES = 4 * MAX_TERMS  # terms and the pieces of compounds, in the widest expression
MAX_TERM_CHARS = 256  # longer words and phrases are in no index
MOST_BESIDE = 8  # more words than a search with a quoted phrase has
MAX_WHOLE_RUN = 4  # units of an unspaced run that form one phrase
SHORTEST_PLAIN = 4  # letters; of shorter words too many are one letter apart
SHORTEST_JOINED = 3  # letters of each of two words that may be one
JOINED = "joined"  # the kind of a term that is searched in addition to the words it joins
_KEEP_FIRST = {"identifier": 0, "phrase": 1, "prefix": 2}  # when there are too many terms

# Same length, and ASCII: in the pattern below other letters double the cost.
_AS_ASCII = dict.fromkeys(map(ord, "“”„"), '"') | dict.fromkeys(
    map(ord, "—…、。，；！？（）؟،؛।¿"), " "
)
# A quoted phrase (a quote inside a Latin word is text) or a word up to space or punctuation.
_SCAN = re.compile(r'(-(?<!\S-))?(?<![0-9A-Za-z])"([^"]*)"(?![0-9A-Za-z])|(?:[^\s",;]|,(?=\d))+')
# The next three are compiled by `re` at their first use: plain words never meet them.
# An identifier has a sign between letters or digits, a capital after a small letter (not
# McDonald), letters beside digits, or the end of C++ and C#.
_MARKED = (
    r"\w[./:\\]+\w|[^\W_]_+[^\W_]|(?<!Mc)(?<=[a-z])[A-Z]|[^\W\d_]-?\d|\d-?[^\W\d_]"
    r"|^\w(?:\+\+|#)$"
)
# Numbers, quantities, ordinals, dates, times and `e.g.` look like identifiers and are not.
_PLAIN = (
    r"\d+(?:[-.,]\d+)?(?:st|nd|rd|th|-?[a-z]{1,2}|-[a-z]+)?|\d{4}([-/])\d\d?\1\d\d?"
    r"|\d\d?\.\d\d?\.\d{4}|\d\d?:\d\d(?::\d\d)?|(?:[a-z]\.)+[a-z]?"
)
_DAY = r"(?:19|20)\d\d[01]\d[0-3]\d"
_LONG_NUMBER = 5  # a number is an id from so many digits; 2026 and 8080 are not
_SHORT_PIECE = 3  # letters a piece of a compound needs for a search of its own

_BRACKETS = " !\"$%&'()*,-./:;<=>?@[\\]^`{|}~¡¿«»‹›‘’‚·•–™®©"
_EDGES = _BRACKETS + "#+_"


class QueryTerm(Record):
    """One term of a search."""

    text: str  # as typed, without its operator
    kind: str  # word | phrase | prefix | identifier | pair | joined
    stop: bool = False  # a function word, or part of a date
    group: int = 0  # pairs of one long unspaced run share a number: any of them will do

    @property
    def index_term(self) -> Term | None:
        """Return the term as an index contains it."""
        return words.index_term(self.text, prefix=self.kind == "prefix")

    @property
    def pairs(self) -> tuple[Term, ...]:
        """Return the pairs of characters in a script without spaces, where words have no ends."""
        runs = (run for run, is_run in words.split_runs(self.text) if is_run)
        return _known(words.index_term(pair) for run in runs for pair in words.pairs(run))


class ParsedQuery(Record):
    """The parsed text of a search."""

    text: str  # natural text to embed: operators and excluded words removed
    terms: tuple[QueryTerm, ...]  # distinct, in the order of the query
    excluded: tuple[QueryTerm, ...]
    unspaced: float  # share of its letters in scripts written without spaces, 0 to 1

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to search for: no letter and no digit."""
        return not self.terms

    @property
    def counted_terms(self) -> tuple[QueryTerm, ...]:
        """Return the terms that count; stop words only if there is nothing else."""
        return tuple(term for term in self.terms if not term.stop) or self.terms

    @property
    def phrases(self) -> dict[str, Term]:
        """Return the phrases that count, as typed and as an index contains them."""
        terms = (
            (term.text, term.index_term) for term in self.counted_terms if term.kind == "phrase"
        )
        return {text: index_term for text, index_term in terms if index_term}

    @property
    def demanded(self) -> dict[str, Term]:
        """Return the phrases that a passage must contain; a long question only mentions them."""
        beside = sum(term.kind != "phrase" for term in self.counted_terms)
        return self.phrases if beside <= MOST_BESIDE else {}

    @property
    def asks_for_dates_alone(self) -> bool:
        """Return whether it has only stop words and dates, as in `what happened on 3 May?`."""
        return all(term.stop or term.text.lower() in stopwords.ANYTHING for term in self.terms)

    def beside_dates(self) -> ParsedQuery:
        """Count the words that ask for everything of a date as stop words."""
        terms = (
            term._replace(stop=term.stop or term.text.lower() in stopwords.ANYTHING)
            for term in self.terms
        )
        return self._replace(terms=tuple(terms))

    def in_pairs(self, runs: Collection[QueryTerm]) -> ParsedQuery:
        """Replace some runs of a script without spaces by their pairs."""
        group = max((term.group for term in self.terms), default=0)
        terms = (
            [QueryTerm(pair, "pair", group=group + place) for pair in words.pairs(term.text)]
            if term in runs
            else [term]
            for place, term in enumerate(self.terms, 1)
        )
        return self._replace(terms=tuple(chain.from_iterable(terms)))

    @property
    def plain(self) -> tuple[QueryTerm, ...]:
        """Return the plain words and the numbers, which may have another spelling."""
        return tuple(term for term in self.terms if not term.stop and _is_plain(term))

    @property
    def neighbours(self) -> dict[Term, tuple[QueryTerm, QueryTerm]]:
        """Return neighbouring words, by the word that they form together."""
        return {
            term: (a, b)
            for a, b in pairwise(self.terms)
            if not a.stop and not b.stop and _may_be_one(a, b) and f"{a.text} {b.text}" in self.text
            if (term := words.index_term(a.text + b.text))
        }

    @property
    def groups(self) -> tuple[tuple[Term, ...], ...]:
        """Return what a chunk with every term contains; one pair of a long run is enough."""
        groups: dict[object, list[Term | None]] = {}
        for term in self.counted_terms:
            if term.kind != JOINED:
                groups.setdefault(term.group or term, []).append(term.index_term)
        return tuple(known for group in groups.values() if (known := _known(group)))

    @property
    def alternatives(self) -> tuple[Term, ...]:
        """Return every term and every piece of a term."""
        every_term = chain(
            (t.index_term for t in self.counted_terms), *map(_pieces, self.counted_terms)
        )
        return _known(islice((term for term in every_term if term), MAX_MATCHES))

    @property
    def term_query(self) -> TermQuery:
        """Return the request for chunks with any alternative."""
        return TermQuery(any=self.alternatives, none=self.unwanted)

    @property
    def unwanted(self) -> tuple[Term, ...]:
        """Return the excluded terms."""
        return _known(term.index_term for term in self.excluded)


def _is_plain(term: QueryTerm) -> bool:
    text = term.text
    if len(text) < SHORTEST_PLAIN or term.kind not in ("word", "identifier"):
        return False
    if text[0].isdecimal():
        return text.replace(",", "").replace(".", "").isdecimal()
    is_word = term.kind == "word" and text.replace("-", "").isalpha()
    return is_word and (text.isascii() or not any(run for _, run in words.split_runs(text)))


def _may_be_one(a: QueryTerm, b: QueryTerm) -> bool:
    """Return whether two neighbours may be one word, or one number with separated thousands."""
    if not a.kind == b.kind == "word" or min(len(a.text), len(b.text)) < SHORTEST_JOINED:
        return a.text.isdecimal() and b.text.isdecimal() and len(b.text) == len("000")
    return a.text.isascii() and b.text.isascii() and (a.text + b.text).isalpha()


def _known(terms: Iterable[Term | None]) -> tuple[Term, ...]:
    """Leave out repetitions, and terms that no index can contain."""
    return tuple(dict.fromkeys(term for term in terms if term))


class _Piece(Record):
    """A part of the query between spaces or quotes."""

    start: int
    end: int
    text: str  # without its operator
    kind: str = "word"  # word | phrase | prefix
    out: bool = False


def parse(text: str, *, soft: Sequence[tuple[int, int]] = ()) -> ParsedQuery:
    """Parse a query; words inside a `soft` (start, end) span count as stop words.

    Example: `"exact words" deploy* -draft` is a phrase, a prefix and an exclusion.
    """
    text = text[:MAX_CHARS].encode("utf-8", "replace").decode().replace("\0", " ")
    pieces = list(_scan(text))
    if not any(words.is_searchable(piece.text) for piece in pieces if not piece.out):
        pieces = [piece._replace(out=False) for piece in pieces]
    stop_words = _stop_words(text)
    letters = sum(map(str.isalnum, text))
    unspaced = sum(len(run) for run, is_run in words.split_runs(words.compose(text)) if is_run)
    return ParsedQuery(
        text=_natural(text, pieces),
        terms=_distinct((p for p in pieces if not p.out), stop_words, soft),
        excluded=_distinct((p for p in pieces if p.out), stop_words, ()),
        unspaced=min(1.0, unspaced / letters) if letters else 0.0,
    )


def _scan(text: str) -> Iterator[_Piece]:
    marks = text.translate(_AS_ASCII)
    for match in _SCAN.finditer(marks):
        start, end = match.span()
        inside = match.span(2)
        phrase = text[slice(*inside)].strip()
        if match[2] is None:
            yield _word(text, start, end)
        elif len(phrase) <= MAX_TERM_CHARS and words.is_searchable(phrase):
            yield _Piece(start, end, phrase, "phrase", bool(match[1]))
        else:
            yield from (_word(text, *word.span()) for word in _SCAN.finditer(marks, *inside))


def _word(text: str, start: int, end: int) -> _Piece:
    raw = text[start:end]
    dashed = raw[0] == "-" and (start == 0 or text[start - 1].isspace())
    # `-5` is a number and `-v` a flag; `--flag` and a lone dash are text.
    rest = raw[1:]
    out = (
        dashed
        and rest[:1].isalnum()
        and not rest.replace(".", "").isdigit()
        and not (len(rest) == 1 and rest.isascii())
    )
    body = rest if out else raw
    # `**bold**` is Markdown, not a prefix.
    if body[-1:] == "*" and body.count("*") == 1 and body[-2:-1].isalnum():
        return _Piece(start, end, body[:-1], "prefix", out)
    return _Piece(start, end, body, "word", out)


def _distinct(
    pieces: Iterable[_Piece], stop_words: frozenset[str], soft: Sequence[tuple[int, int]]
) -> tuple[QueryTerm, ...]:
    """Return the distinct terms in order, at most MAX_TERMS."""
    by_text: dict[tuple[str, str], QueryTerm] = {}
    parts = dict.fromkeys(part for piece in pieces for part in _cut(piece, soft))
    groups = count(1)
    for text, kind, is_soft in parts:
        for term in _terms(text, kind, stop_words, groups):
            key = (term.text.casefold(), term.kind)
            if key not in by_text:
                by_text[key] = term._replace(stop=True) if is_soft else term
    fitting = [term for term in by_text.values() if len(term.text) <= MAX_TERM_CHARS]
    # Identifiers and operators first, then long words, which are rare.
    ranked = sorted(
        enumerate(fitting),
        key=lambda item: (item[1].stop, _KEEP_FIRST.get(item[1].kind, 3), -len(item[1].text)),
    )
    return tuple(term for _, term in sorted(ranked[:MAX_TERMS]))


def _cut(piece: _Piece, soft: Sequence[tuple[int, int]]) -> Iterator[tuple[str, str, bool]]:
    """Split a piece where a soft span begins or ends; a phrase stays whole."""
    spans = [span for span in soft if span[0] < piece.end and piece.start < span[1]]
    if not spans or piece.kind == "phrase":
        yield piece.text, piece.kind, False
        return
    ends = (min(max(end - piece.start, 0), len(piece.text)) for span in spans for end in span)
    for start, end in pairwise(sorted({0, *ends, len(piece.text)})):
        is_soft = any(a <= piece.start + start and piece.start + end <= b for a, b in spans)
        yield piece.text[start:end], "word", is_soft


def _terms(
    text: str, kind: str, stop_words: frozenset[str], groups: Iterator[int]
) -> Iterator[QueryTerm]:
    if kind == "phrase":
        yield QueryTerm(text, kind)
        return
    for part, is_run in words.split_runs(words.compose(text)):
        if is_run:
            yield from _run_terms(part, groups)
        elif term := _word_term(part, kind, stop_words):
            yield term


def _word_term(raw: str, kind: str, stop_words: frozenset[str]) -> QueryTerm | None:
    word, shown = raw.strip(_EDGES), raw.strip(_BRACKETS)
    if word.lower().endswith(("'s", "’s")):  # the possessive would be a token of its own
        word, shown = word[:-2], shown[:-2]
    if not words.is_searchable(word):
        return None
    if kind == "prefix":
        return QueryTerm(word, kind)
    # In a query with small letters too, IT and US are names; AND, OR and NOT are not.
    is_name = len(word) > 1 and word.isupper() and word not in stopwords.OPERATORS
    plain = (word if is_name else word.lower()).replace("’", "'")
    if stop_words.issuperset(plain.split("/")):
        return QueryTerm(word, "word", stop=True)
    if _is_identifier(word, shown):
        return QueryTerm(shown, "identifier")
    return QueryTerm(word, "word")


def _is_identifier(word: str, shown: str) -> bool:
    if shown[0] == "#":
        return True
    if word == shown and word.isalpha() and word[1:] in (word[1:].lower(), word[1:].upper()):
        return False
    if word.isdecimal():
        return len(word) >= _LONG_NUMBER and not re.fullmatch(_DAY, word)
    return bool(re.search(_MARKED, shown)) and not re.fullmatch(_PLAIN, word.lower())


def _run_terms(run: str, groups: Iterator[int]) -> Iterator[QueryTerm]:
    """Split a run at function words; a short part is one term, a long part gives its pairs."""
    if run in stopwords.OTHER_SCRIPTS:
        yield QueryTerm(run, "word", stop=True)
        return
    for piece in [piece for piece in re.split(_cutting(run), run) if piece] or [run]:
        if len(words.units(piece)) <= MAX_WHOLE_RUN:
            is_stop = piece in stopwords.CHINESE_ALONE or piece in stopwords.OTHER_SCRIPTS
            yield QueryTerm(piece, "word", stop=is_stop)
            continue
        group = next(groups)
        for pair in _telling(list(dict.fromkeys(words.pairs(piece)))):
            yield QueryTerm(pair, "pair", group=group)


def _cutting(run: str) -> str:
    """Return the pattern that splits a run, by its most likely language."""
    if _has(run, "\u3041", "\u30ff"):
        return stopwords.JAPANESE
    if _has(run, "\uac00", "\ud7a3"):
        return stopwords.KOREAN
    return stopwords.THAI if _has(run, "\u0e01", "\u0e4e") else stopwords.CHINESE


def _telling(pairs: list[str]) -> list[str]:
    """Leave out pairs of only hiragana, with which Japanese writes its endings."""
    return [p for p in pairs if not all("\u3041" <= c <= "\u3096" for c in p)] or pairs


def _has(text: str, first: str, last: str) -> bool:
    return any(first <= char <= last for char in text)


def _pieces(term: QueryTerm) -> Iterator[Term | None]:
    """Return the pieces of a term."""
    if term.kind not in ("word", "identifier"):
        return
    for part, is_run in words.split_runs(term.text):
        if is_run:
            yield from map(words.index_term, _telling(words.pairs(part)))
            continue
        letters = re.findall(r"[^\W\d_]+", part)
        telling = (
            w for w in letters if len(w) >= _SHORT_PIECE and w.lower() not in stopwords.ENGLISH
        )
        yield from map(words.index_term, telling)


def _stop_words(text: str) -> frozenset[str]:
    typed = text.lower().split()
    known = (
        stopwords.ENGLISH
        if stopwords.GERMAN_SIGNS.isdisjoint(typed)
        else stopwords.ENGLISH | stopwords.GERMAN
    )
    if "¿" in text or not stopwords.SPANISH_SIGNS.isdisjoint(typed):
        known |= stopwords.SPANISH
    if not text.isascii():
        known |= stopwords.OTHER_SCRIPTS
    # If everything is in capitals, they mean nothing.
    return known if text != text.upper() else known | {word.upper() for word in known}


def _natural(text: str, pieces: list[_Piece]) -> str:
    """Return the query as a sentence, without operators and excluded words."""
    out, at = [], 0
    for piece in pieces:
        if piece.out or piece.kind != "word":
            out += [text[at : piece.start], "" if piece.out else piece.text]
            at = piece.end
    return " ".join("".join([*out, text[at:]]).split())
