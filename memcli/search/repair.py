"""Replace words that the notes do not contain by the words that were most likely meant.

For such a word memcli tries in turn: its plural or singular, a spelling one mistake away, two words
for a compound, and the word as the beginning of another. Numbers are tried with and without
separators of thousands. A word in the vocabulary of the bundled model is an English word that the
notes do not use: memcli tries only its plural. The vocabulary has few words of other languages, so
there a missing form is replaced by one that the notes contain. A minimum of six letters there
protected no Spanish question of XQuAD, and lost .014 of the .085 nDCG@10 that repair gains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice, takewhile
from operator import eq

from memcli.checking import TYPE_CHECKING
from memcli.embedding.wordpiece import whole_words
from memcli.language import spelling
from memcli.language.stopwords import ENGLISH, is_foreign
from memcli.language.words import fold, index_term, prepare
from memcli.markdown.comments import visible
from memcli.record import Record
from memcli.search.query import JOINED, ParsedQuery, QueryTerm
from memcli.store.records import Scope
from memcli.types import Term, TermQuery

if TYPE_CHECKING:
    from memcli.store.port import Snapshot

# Words of a query that the notes lack, and of these such as are not English, each of which takes
# some 500 look-ups: further words stay as they are.
MOST_LACKING, MOST_UNKNOWN = 16, 8
# Letters of a corrected spelling, and of its stem if it is not English: a shorter one is a letter
# away from too many words.
SHORTEST_MEANT, SHORTEST_STEM = 5, 4
SHORTEST_BEGINNING = 5  # letters
# From so many chunks, and such a share of them, a word is common.
COMMON_CHUNKS, COMMON_SHARE = 8, 0.02
MOST_ENDING = 0.2  # a smaller share of a spelling may be its ending: covid is not Cove
MOST_READ = 100_000  # characters of the chunk in which a word's spelling is looked up


class Repair(Record):
    """A word of the query, and what was searched instead or in addition."""

    typed: str
    searched: str
    how: str  # plural | spelling | split | beginning | number | joined | besides

    @property
    def is_instead(self) -> bool:
        """Return whether it was searched in place of the typed word."""
        return self.how != "besides"

    @property
    def is_another_word(self) -> bool:
        """Return whether it is worth a message: it is not a form of the same word."""
        is_form = self.how == "spelling" and spelling.are_forms(
            fold(self.typed), fold(self.searched)
        )
        return not is_form and self.how not in ("besides", "plural")


def repair(
    snapshot: Snapshot,
    query: ParsedQuery,
    absent: Sequence[QueryTerm],
    joined: Sequence[tuple[QueryTerm, QueryTerm]],
) -> tuple[ParsedQuery, tuple[Repair, ...]]:
    """Replace words that the index lacks by similar words that it has.

    `joined` are neighbours that it has as one word.
    """
    together = [_together(a, b, absent) for a, b in joined]
    whole = {term for pair in joined for term in pair}
    lone = (t.text for t in absent if t not in whole and not _is_code(t.text, query.text))
    words = {typed: fold(typed) for typed in islice(lone, MOST_LACKING)}
    known = whole_words(words.values())
    unknown = [typed for typed, word in words.items() if word not in known]
    last = query.terms[-1].text
    foreign = is_foreign(term.text for term in query.terms)
    alone = (
        Repair(typed, *meaning)
        for typed, word in words.items()
        if typed not in unknown[MOST_UNKNOWN:]
        if (
            meaning := _meant(
                snapshot, word, is_known=word in known, is_last=typed == last, is_foreign=foreign
            )
        )
    )
    made = (*alone, *together)
    return _rewritten(snapshot, query, made), made


def _is_code(word: str, question: str) -> bool:
    """Return whether a word is marked as a name: in backticks, or next to a sign of code."""
    name = re.escape(word)
    return re.search(rf"[`$@/\\]{name}(?!\w)|(?<!\w){name}[`(/\\]", question) is not None


def _together(a: QueryTerm, b: QueryTerm, absent: Sequence[QueryTerm]) -> Repair:
    """Join two neighbours: in their place if the notes lack one of them, else in addition."""
    how = "joined" if a in absent or b in absent else "besides"
    return Repair(f"{a.text} {b.text}", a.text + b.text, how)


def _rewritten(snapshot: Snapshot, query: ParsedQuery, made: Sequence[Repair]) -> ParsedQuery:
    """Replace words in the terms and in the text that is embedded."""
    new: dict[str, list[QueryTerm]] = {}
    also: list[QueryTerm] = []
    text = query.text
    for each in made:
        if not each.is_instead:
            also.append(QueryTerm(each.searched, JOINED))
            continue
        first, *rest = each.typed.split()
        new |= {first: _terms(each), **{word: [] for word in rest}}
        if each.how != "beginning":
            text = re.sub(rf"(?<!\w){re.escape(each.typed)}(?!\w)", each.searched, text)
    unchanged = [term for term in query.terms if term.kind == "phrase" or term.text not in new]
    stems = set(_stems(snapshot, unchanged))  # a word that occurs twice would count twice
    terms: list[QueryTerm] = []
    for term in query.terms:
        made_of = [term] if term in unchanged else new[term.text]
        for made_term, stem in zip(made_of, _stems(snapshot, made_of), strict=True):
            if made_term is term or stem not in stems:
                terms.append(made_term)
                stems.add(stem)
    return query._replace(text=text, terms=(*terms, *also))


def _terms(made: Repair) -> list[QueryTerm]:
    if made.how == "beginning":
        return [QueryTerm(made.typed, "prefix")]
    return [QueryTerm(word, "word") for word in made.searched.split()]


def _stems(snapshot: Snapshot, terms: Sequence[QueryTerm]) -> Sequence[tuple[str, ...]]:
    return snapshot.tokens([prepare(fold(term.text)) for term in terms])


def _meant(
    snapshot: Snapshot, word: str, *, is_known: bool, is_last: bool, is_foreign: bool
) -> tuple[str, str] | None:
    """Return the most likely meaning of a word, and how it was found; None if there is none.

    Only the last word of a query may be unfinished.
    """
    if "-" in word:
        joined = _first_known(snapshot, [word.replace("-", "")])
        return _correction(joined, "joined") or _correction(
            _respelt_pieces(snapshot, word), "spelling"
        )
    if not word.isalpha():
        return _correction(_first_known(snapshot, filter(None, [spelling.grouped(word)])), "number")
    english = _first_known(snapshot, spelling.numbers(word, spelling.ENGLISH_NUMBERS))
    if english or is_known:
        return _correction(english, "plural")
    may_be_begun = is_last and not _is_form(word)
    respelt = _respelt(snapshot, word, is_foreign=is_foreign)
    if respelt and (
        _ends_in_english(word, fold(respelt))
        if is_foreign
        else _is_form(word) and not spelling.are_forms(word, fold(respelt))
    ):
        respelt = None
    return (
        _correction(respelt, "spelling")
        or _correction(
            _first_known(snapshot, spelling.numbers(word, spelling.OTHER_NUMBERS)), "plural"
        )
        or _correction(_split(snapshot, word), "split")
        or _correction(_begun(snapshot, word) if may_be_begun else None, "beginning")
    )


def _correction(searched: str | None, how: str) -> tuple[str, str] | None:
    return (searched, how) if searched else None


def _first_known(snapshot: Snapshot, words: Iterable[str]) -> str | None:
    """Return the first of some words that the notes contain."""
    terms = {word: term for word in words if (term := index_term(word))}
    occurring = snapshot.occurring([*terms.values()])
    return next((word for word, term in terms.items() if term in occurring), None)


def _is_form(word: str) -> bool:
    """Return whether a word is a form of one of the vocabulary: sprinting, sportsmen."""
    bases = [word.removesuffix(end) for end in spelling.PLAIN_INFLECTIONS if word.endswith(end)]
    bases += spelling.numbers(word, spelling.ENGLISH_NUMBERS)
    return bool(whole_words(base for base in bases if len(base) >= spelling.SHORTEST_ROOT))


def _ends_in_english(word: str, meant: str) -> bool:
    """Return whether a word is English except for its last letter: instalo, install."""
    rest, _ = spelling.endings(word, meant)
    return len(rest) <= 1 and meant in whole_words([meant])


def _respelt(snapshot: Snapshot, word: str, *, is_foreign: bool = False) -> str | None:
    """Return the word of the notes that is one mistake away.

    A word of the vocabulary comes first, then the one with the most chunks times how likely the
    mistake is (the noisy channel of Kernighan, Church and Gale, COLING 1990). In a question that
    is not English few words are in the vocabulary, and a right word may be near to another: one
    that is common, or that has only another ending in English, is not what it means.
    """
    likely = spelling.spellings(word)
    long_enough = sorted(
        (each for each in likely if len(each) >= SHORTEST_MEANT), key=likely.__getitem__
    )
    terms = {term: each for each in long_enough if (term := index_term(each))}
    occurring = snapshot.occurring([*terms])
    candidates = [term for term in terms if term in occurring]
    stems = map("".join, snapshot.tokens([term.text for term in candidates]))
    english = whole_words(terms[term] for term in candidates)
    candidates = [
        term
        for term, stem in zip(candidates, stems, strict=True)
        if len(stem) >= SHORTEST_STEM or (terms[term] in english and stem not in ENGLISH)
    ]
    chunks = dict(zip(candidates, snapshot.frequencies(candidates), strict=True))
    if is_foreign:
        most = max(COMMON_CHUNKS, snapshot.counts().chunks * COMMON_SHARE)
        candidates = [
            term
            for term in candidates
            if chunks[term] <= most
            or spelling.INFLECTIONS.issuperset(spelling.endings(word, terms[term]))
        ]

    def rank(term: Term) -> tuple[bool, float, str]:
        spelt = terms[term]
        return spelt in english, chunks[term] * likely[spelt], spelt

    best = max(candidates, key=rank, default=None)
    if best is None:
        return None
    # The notes may contain only another word with that stem: `universe` for `university`, and for
    # `restic` the misspelling of `resetic`, which stems as reset.
    written = _as_written(snapshot, best, terms[best])
    low = fold(written)
    cut, _ = spelling.endings(terms[best], low)
    is_near = (
        low in likely
        or spelling.are_forms(low, terms[best])
        or low[:SHORTEST_MEANT] == word[:SHORTEST_MEANT]
        or len(cut) < MOST_ENDING * len(terms[best])
    )
    if not is_near:
        return None
    return terms[best] if low == terms[best] in english else written


def _respelt_pieces(snapshot: Snapshot, word: str) -> str | None:
    """Return the compound of the notes whose misspelt pieces are one mistake away."""
    pieces = word.split("-")
    known = whole_words(pieces)
    spelt = (p if p in known else _respelt(snapshot, p) or p for p in pieces)
    return _first_known(snapshot, ["-".join(spelt)])


def _as_written(snapshot: Snapshot, term: Term, spelling: str) -> str:
    """Return a word as a note spells it: the word with its stem that begins most alike.

    If workspaces have different models, each store counts words of the others too, but cannot
    find them.
    """
    best = next(iter(snapshot.by_keyword(TermQuery(any=(term,)), 1, Scope())), None)
    if best is None:
        return spelling
    excerpt = snapshot.excerpts([best.chunk_id])[best.chunk_id]
    text = " ".join((*excerpt.about.heading_path, visible(excerpt.text)))
    words = list(dict.fromkeys(re.findall(r"[^\W\d_]+", text[:MOST_READ])))
    stem, *stems = snapshot.tokens([prepare(fold(word)) for word in (spelling, *words)])
    alike = [word for word, own in zip(words, stems, strict=True) if own == stem]

    def in_common(word: str) -> int:
        return sum(takewhile(bool, map(eq, fold(word), spelling)))

    return max(alike, key=in_common, default=spelling)


def _split(snapshot: Snapshot, word: str) -> str | None:
    """Return the two words of a compound: the pair whose more common word is rarest.

    They must occur together in a chunk: a table and a spoon in two notes are not a tablespoon. On a
    tie the first word keeps its `e`: `pickle ball`, not `pickl ball`.
    """
    pairs = {(a, b): (Term(a), Term(b)) for a, b in spelling.compounds(word)}
    occurring = snapshot.occurring(
        [*dict.fromkeys(term for terms in pairs.values() for term in terms)]
    )
    known = {pair: terms for pair, terms in pairs.items() if occurring.issuperset(terms)}
    chunks = dict(zip(occurring, snapshot.frequencies([*occurring]), strict=True))

    def commoner(pair: tuple[str, str]) -> tuple[int, bool]:
        return max(chunks[term] for term in known[pair]), not pair[0].endswith("e")

    best = min(known, key=commoner, default=None)
    if best is None:
        return None
    together = TermQuery(all=tuple((term,) for term in known[best]))
    return " ".join(best) if snapshot.by_keyword(together, 1, Scope()) else None


def _begun(snapshot: Snapshot, word: str) -> str | None:
    """Return a word as a prefix if a word of the notes continues it."""
    if len(word) < SHORTEST_BEGINNING:
        return None
    return f"{word}*" if snapshot.occurring([Term(word, prefix=True)]) else None
