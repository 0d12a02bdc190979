"""Ask the store for the candidates of a query and for their share of it.

The candidates are the union of what both retrievers find. Each candidate has the raw scores of
both, whichever found it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from math import fsum, log

from memcli.checking import TYPE_CHECKING
from memcli.language.words import index_term, prepare, stem
from memcli.markdown.comments import visible
from memcli.markdown.names import NAME_CHARS, headings_of, is_name
from memcli.record import Record
from memcli.search.focus import WeightedTerm, idf_share
from memcli.search.lines import by_line
from memcli.search.query import JOINED, ParsedQuery, QueryTerm
from memcli.search.ranked import RankedPassage
from memcli.search.rare_terms import SMALL, greatest_share, groups_of, parted, without_majority
from memcli.search.validity import scope_of
from memcli.store.records import Neighbour, RetrieverResults, Scope
from memcli.types import Candidate, Filters, Term, TermQuery, memory_path

if TYPE_CHECKING:
    from memcli.store.port import Snapshot

# Candidates per retriever beyond the universe: a vector table returns some thousand neighbours at
# most.
MOST_OUTSIDE = 1000
TEXTS_A_CHUNK = 4  # requested at first, if a retriever counts chunks


class RecallBounds(Record):
    """Which chunks may be candidates, and how many."""

    universe: int  # the limit of each retriever
    scope: Scope
    dates: Sequence[tuple[str, str]] = ()  # spans whose chunks are also candidates
    days: tuple[Term, ...] = ()  # names of days; chunks that contain one are also candidates
    outside: frozenset[int] = frozenset()  # chunks that are none
    demands_phrases: bool = False  # a phrase of the query that any chunk contains is required
    by_chunk: bool = False  # each retriever gives chunks; else the semantic one texts
    keywords_choose: bool = False  # vectors only score what keyword search finds


class RecallResult(Record):
    """Candidates, and how much of the query each matches, by chunk id."""

    candidates: tuple[Candidate, ...]
    missing_phrases: tuple[str, ...]  # phrases that no chunk contains
    qualities: Mapping[str, float]  # confidence of the summaries, by path
    tiers: tuple[int, ...]  # first components that found the nearest segments
    coverage: Mapping[int, float] = {}  # share of its IDF, without the common terms
    matched: Mapping[int, float] = {}  # share of its terms
    terms: tuple[WeightedTerm, ...] = ()
    unmatched: tuple[str, ...] = ()  # terms that no chunk contains
    split_phrases: tuple[str, ...] = ()  # required phrases that no chunk contains together
    common: tuple[str, ...] = ()  # terms that find nothing by themselves
    rarity: float = 0.0  # mean IDF of the terms over the greatest there could be, 0 to 1


def recall(
    snapshot: Snapshot,
    query: ParsedQuery,
    *,
    total: int,
    keyword: bool,
    vector: bytes | None,
    bounds: RecallBounds,
) -> RecallResult:
    """Run both retrievers over `total` chunks; a vector of None turns semantic search off."""
    # A retriever may find chunks that are left out, so it returns as many more.
    wide = bounds._replace(universe=bounds.universe + min(len(bounds.outside), MOST_OUTSIDE))
    neighbours = _begin_semantic(snapshot, vector, wide)
    words = _keyword_query(snapshot, query, total) if keyword else KeywordQuery(query, TermQuery())
    query = words.query
    demanded = query.demanded if bounds.demands_phrases else {}
    literal = _literal(query) if keyword else TermQuery(any=tuple(demanded.values()))
    both = RecallQuery(words.terms, literal, vector, neighbours, query.unwanted, demanded)
    united, split, tiers = _union(snapshot, both, wide)
    phrases = query.phrases if keyword or demanded else {}
    matches = zip(phrases, snapshot.matching_chunks(tuple(phrases.values()), ()), strict=True)
    missing = tuple(text for text, each in matches if not each.total)  # that no chunk contains
    # A phrase must match exactly: a similar text is a guess.
    is_guess = bool(missing) and len(missing) == len(query.counted_terms)
    candidates = tuple(c for c in united if not is_guess and c.about.chunk_id not in bounds.outside)
    recalled = RecallResult(candidates, missing, _qualities(snapshot, candidates), tiers)
    if not candidates or not (keyword or demanded):
        return recalled
    recalled = _with_coverage(snapshot, query, recalled, words.only_counted, total)
    if not keyword:  # words only show which lines contain a phrase
        recalled = recalled._replace(coverage={}, matched={}, unmatched=(), rarity=0.0)
    if demanded:
        terms = (term._replace(demanded=term.exact == "phrase") for term in recalled.terms)
        recalled = recalled._replace(terms=tuple(terms))
    last = next((c.bm25 for c in united if c.keyword_rank == wide.universe), None)
    is_complete = last is not None and last >= greatest_share(words.terms.also, total)
    common = words.majority if is_complete else words.unsearched
    return recalled._replace(common=common, split_phrases=split)


class KeywordQuery(Record):
    """The keyword search of a query."""

    query: ParsedQuery  # without the words of most chunks
    terms: TermQuery
    majority: tuple[str, ...] = ()  # the words of most chunks
    frequent: frozenset[Term] = frozenset()  # terms that find nothing by themselves
    only_counted: Mapping[Term, int] = {}  # those whose chunks are counted, but not looked up

    @property
    def unsearched(self) -> tuple[str, ...]:
        """List the words that find nothing by themselves."""
        terms = self.query.counted_terms
        return (*self.majority, *(t.text for t in terms if t.index_term in self.frequent))


def _keyword_query(snapshot: Snapshot, query: ParsedQuery, total: int) -> KeywordQuery:
    """Divide the terms by their frequency: rare ones find chunks, frequent ones only score."""
    if query.unspaced:
        query = _with_known_runs(snapshot, query)
    if total <= SMALL:
        return KeywordQuery(query, query.term_query)
    texts = query.alternatives
    frequencies = dict(zip(texts, snapshot.frequencies(texts), strict=True))
    narrowed = without_majority(query, frequencies, total)
    rare, also = parted(frequencies, total)
    frequent = {term: count for term, count in frequencies.items() if term not in rare}
    return KeywordQuery(
        narrowed,
        query.term_query._replace(
            any=rare, also=also, together=groups_of(also, total, alone=not rare)
        ),
        tuple(t.text for t in query.counted_terms if t not in narrowed.counted_terms),
        frozenset(frequent),
        # For terms found together, their share says enough.
        frequent if rare else {t: n for t, n in frequent.items() if (t, n) not in also},
    )


def _begin_semantic(
    snapshot: Snapshot, vector: bytes | None, bounds: RecallBounds
) -> Callable[[], Sequence[Neighbour]]:
    """Start to look for the nearest segments, and return a function that waits for them."""
    if bounds.keywords_choose:
        return list
    if bounds.by_chunk:
        return _near_chunks(snapshot, vector, bounds)
    return snapshot.by_vector(vector, bounds.universe, bounds.scope)


def _with_known_runs(snapshot: Snapshot, query: ParsedQuery) -> ParsedQuery:
    """Compare a run of a script without spaces by its pairs if no chunk contains the whole run."""
    runs = {t.index_term: t for t in query.counted_terms if t.kind == "word" and len(t.pairs) > 1}
    known = [term for term in runs if term]
    counts = snapshot.frequencies(known) if known else ()
    absent = {runs[term] for term, count in zip(known, counts, strict=True) if not count}
    divided = [term for term in absent if snapshot.occurring(term.pairs)]
    return query.in_pairs(divided) if divided else query


def _near_chunks(
    snapshot: Snapshot, vector: bytes | None, bounds: RecallBounds
) -> Callable[[], Sequence[Neighbour]]:
    """Start to look for the nearest segments, and return those of the nearest chunks.

    A chunk has many segments, so more of them are requested until there are enough chunks.
    """
    least = min(MOST_OUTSIDE, TEXTS_A_CHUNK * bounds.universe)
    first = snapshot.by_vector(vector, least, bounds.scope)

    def near() -> Sequence[Neighbour]:
        neighbours, limit = first(), least
        while (
            len(_first_chunks(neighbours, bounds.universe))
            == len(neighbours)
            == limit
            < MOST_OUTSIDE
        ):
            limit = min(MOST_OUTSIDE, 2 * limit)
            neighbours = snapshot.by_vector(vector, limit, bounds.scope)()
        return _first_chunks(neighbours, bounds.universe)

    return near


def _first_chunks(neighbours: Sequence[Neighbour], limit: int) -> list[Neighbour]:
    """Keep the segments that lead to the first `limit` chunks."""
    seen: set[int] = set()
    chunks = []
    for text in neighbours:
        if len(seen) == limit:
            break
        new = [chunk for chunk in text.chunk_ids if chunk not in seen]
        seen.update(new[: limit - len(seen)])
        chunks.append(text._replace(chunk_ids=tuple(c for c in text.chunk_ids if c in seen)))
    return chunks


class RecallQuery(Record):
    """The search of both retrievers."""

    terms: TermQuery
    literal: TermQuery
    vector: bytes | None
    near: Callable[[], Sequence[Neighbour]]  # returns the neighbours, which are looked up meanwhile
    unwanted: Sequence[Term]  # no candidate may contain them
    demanded: Mapping[str, Term]  # phrases that candidates must contain, as typed


def _union(
    snapshot: Snapshot, query: RecallQuery, bounds: RecallBounds
) -> tuple[list[Candidate], tuple[str, ...], tuple[int, ...]]:
    """Join the results of both retrievers, and chunks of the days that are named.

    Also return required phrases that no chunk contains together, and the tiers that answered.
    """
    limit, scope = bounds.universe, bounds.scope
    keyword = snapshot.by_keyword(query.terms, limit, scope)
    exact = snapshot.by_keyword(query.literal, limit, scope)
    nearest = query.near()
    owners = dict.fromkeys(chunk for text in nearest for chunk in text.chunk_ids)
    ranks = {match.chunk_id: rank for rank, match in enumerate(keyword, start=1)}
    semantic_ranks = {chunk: rank for rank, chunk in enumerate(owners, start=1)}
    if bounds.days:
        exact = (*exact, *snapshot.by_keyword(TermQuery(bounds.days), limit, scope))
    dated = snapshot.dated(bounds.dates, limit, scope)
    ids = sorted({*ranks, *semantic_ranks, *(match.chunk_id for match in exact), *dated})
    if query.unwanted and ids:
        unwanted = snapshot.matching_chunks(query.unwanted, ids)
        ids = sorted(set(ids).difference(*(each.chunk_ids for each in unwanted)))
    apart: tuple[str, ...] = ()
    if query.demanded and ids:
        ids, apart = _with_phrases(snapshot, query.demanded, ids)
    literals = snapshot.matching_chunks([query.literal], ids)[0].chunk_ids if ids else frozenset()
    candidates = [
        candidate._replace(
            keyword_rank=ranks.get(candidate.about.chunk_id),
            semantic_rank=semantic_ranks.get(candidate.about.chunk_id),
            literal=candidate.about.chunk_id in literals,
        )
        for candidate in snapshot.candidates(
            ids, RetrieverResults(query.terms, keyword, query.vector, nearest)
        )
    ]
    return candidates, apart, tuple(sorted({text.tier for text in nearest} - {0}))


def _qualities(snapshot: Snapshot, candidates: Sequence[Candidate]) -> dict[str, float]:
    """Return the confidence of the summaries among candidates, by path."""
    summaries = [c.about for c in candidates if c.about.is_summary]
    if not summaries:
        return {}
    linking = snapshot.links([about.chunk_id for about in summaries])
    matters = {
        memory_path(about.source, about.path): json.loads(linking[about.chunk_id].front_matter)
        for about in summaries
    }
    values = {path: matter.get("confidence") for path, matter in matters.items()}
    return {path: each for path, each in values.items() if isinstance(each, int | float)}


def _with_phrases(
    snapshot: Snapshot, phrases: Mapping[str, Term], ids: Sequence[int]
) -> tuple[list[int], tuple[str, ...]]:
    """Keep the chunks with all phrases that exist, or if there is none, those with any.

    In the second case also return those phrases.
    """
    matches = zip(phrases, snapshot.matching_chunks(tuple(phrases.values()), ids), strict=True)
    there = {text: each.chunk_ids for text, each in matches if each.total}
    if not there:
        return list(ids), ()
    together = frozenset.intersection(*there.values())
    if together or len(there) == 1:
        return sorted(together), ()
    return sorted(frozenset.union(*there.values())), tuple(there)


def _with_coverage(
    snapshot: Snapshot,
    query: ParsedQuery,
    recalled: RecallResult,
    only_counted: Mapping[Term, int],
    total: int,
) -> RecallResult:
    """Measure what each candidate contains of a query.

    Of the terms `only_counted`, with their number of chunks, it is not looked up which chunks
    contain them.
    """
    ids = [candidate.about.chunk_id for candidate in recalled.candidates]
    weighed = [
        (term, index_term) for term in query.counted_terms if (index_term := term.index_term)
    ]
    rare = [index_term for _, index_term in weighed if index_term not in only_counted]
    chunks_of = dict(zip(rare, snapshot.matching_chunks(rare, ids), strict=True))
    tokens = snapshot.tokens([stem(s.text) if s.prefix else s.text for _, s in weighed])
    terms: list[WeightedTerm] = []
    unmatched: list[str] = []
    idf_sums: dict[int, float] = {}
    counts: dict[int, int] = {}
    looked_up = 0.0
    for (term, index_term), cut in zip(weighed, tokens, strict=True):
        is_rare = index_term not in only_counted
        frequency = chunks_of[index_term].total if is_rare else only_counted[index_term]
        # Robertson and Sparck Jones, kept positive.
        idf = log(1 + (total - frequency + 0.5) / (frequency + 0.5))
        prefix = (index_term.text.split()[-1], cut[-1]) if index_term.prefix and cut else ()
        terms.append(WeightedTerm(cut, idf, prefix, _exact(term), text=term.text))
        if not is_rare:
            continue
        looked_up += idf * (term.kind != JOINED)
        # A sign is not a word, and a pair may join the ends of two words.
        is_word = term.kind != "pair" and (len(term.text) > 1 or term.text.isascii())
        if not frequency and is_word and not _has_other_form(snapshot, term.text):
            unmatched.append(term.text)
        for chunk_id in chunks_of[index_term].chunk_ids:
            idf_sums[chunk_id] = idf_sums.get(chunk_id, 0.0) + idf
            counts[chunk_id] = counts.get(chunk_id, 0) + 1
    greatest = log(1 + (total + 0.5) / 0.5)
    # A query of joined words only has no share.
    shares = idf_sums.items() if looked_up else ()
    return recalled._replace(
        coverage={chunk: min(1.0, idf / looked_up) for chunk, idf in shares},
        matched={chunk: times / len(terms) for chunk, times in counts.items()},
        terms=tuple(terms),
        unmatched=tuple(unmatched),
        rarity=fsum(term.idf for term in terms) / len(terms) / greatest if terms else 0.0,
    )


def _has_other_form(snapshot: Snapshot, word: str) -> bool:
    """Return whether a chunk contains another form of an irregular verb, such as `ran` of `run`."""
    from memcli.language.spelling import irregular

    forms = (index_term(form) for form in irregular(word.lower()))
    terms = [form for form in forms if form]
    return bool(terms and snapshot.occurring(terms))


def scope_within(snapshot: Snapshot, filters: Filters) -> Scope:
    """Return what a view can find in the documents that pass the filters.

    If a summary does not pass, its source lines are found instead.
    """
    supports = snapshot.supports()
    if filters.view != "active" or not supports or filters == Filters(view="active"):
        return scope_of(filters, supports)
    from memcli.store.documents import with_chunks

    documents = with_chunks(snapshot.documents(Scope(filters)))
    return scope_of(filters, supports, {memory_path(d.source, d.path) for d in documents})


def part_tokens(
    snapshot: Snapshot, candidates: Sequence[Candidate]
) -> dict[int, list[tuple[str, ...]]]:
    """Return the tokens of every segment of some candidates, by chunk id."""
    texts = [
        prepare(visible(c.text[segment.start : segment.end]))
        for c in candidates
        for segment in c.segments
    ]
    cut = iter(snapshot.tokens(texts))
    return {c.about.chunk_id: [next(cut) for _ in c.segments] for c in candidates}


def with_shares(
    snapshot: Snapshot, passages: Sequence[RankedPassage], terms: Sequence[WeightedTerm]
) -> tuple[RankedPassage, ...]:
    """Compute for each line of some passages which share of the IDF of some terms it contains."""

    def shared(passage: RankedPassage) -> RankedPassage:
        parts = by_line(passage.candidate).segments
        lines = [each for each in parts if each.start_line in passage.lines]
        texts = [passage.candidate.text[line.start : line.end] for line in lines]
        numbered = zip(lines, shares_of(snapshot, texts, terms), strict=True)
        return passage._replace(shares=tuple((line.start_line, share) for line, share in numbered))

    return tuple(map(shared, passages))


def shares_of(
    snapshot: Snapshot, texts: Sequence[str], terms: Sequence[WeightedTerm]
) -> list[float]:
    """Return the share of the IDF of some terms that each text contains, 0 to 1."""
    return [idf_share(tokens, terms) for tokens in snapshot.tokens([*map(prepare, texts)])]


def heading_tokens(
    snapshot: Snapshot, candidates: Sequence[Candidate]
) -> dict[int, tuple[str, ...]]:
    """Return the tokens of the headings of some candidates, by chunk id."""
    texts = [prepare(" ".join(headings(c))) for c in candidates]
    cut = snapshot.tokens(texts)
    return {c.about.chunk_id: tokens for c, tokens in zip(candidates, cut, strict=True)}


def named(candidates: Sequence[Candidate], question: str) -> frozenset[int]:
    """Return the first chunks of documents whose name is the question."""
    if len(question) > NAME_CHARS:
        return frozenset()
    return frozenset(
        c.about.chunk_id
        for c in candidates
        if c.named_by and is_name(question, c.about.title, c.about.path, c.named_by)
    )


def headings(candidate: Candidate) -> tuple[str, ...]:
    """List the headings of a candidate, and the names of its document for the first chunk."""
    about = candidate.about
    return headings_of(about.title, about.path, candidate.named_by, about.heading_path)


def _literal(query: ParsedQuery) -> TermQuery:
    """Return the request for chunks with all terms, a quoted phrase or an identifier."""
    exact = (term.index_term for term in query.counted_terms if _exact(term))
    return TermQuery(tuple(filter(None, exact)), query.groups, query.unwanted)


def _exact(term: QueryTerm) -> str:
    """Return why a chunk with only this term is a literal match: phrase, identifier or ""."""
    # C++ and C# are indexed as the letter c, which means nothing.
    is_exact = term.kind == "phrase" or sum(map(str.isalnum, term.text)) > 1
    return term.kind if term.kind in ("phrase", "identifier") and is_exact else ""


def with_moments(snapshot: Snapshot, passages: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Add the moment of their documents to passages, if the front matter has a time of day."""
    from memcli.workspace.dating import moment_of

    dated = {passage.about.chunk_id: passage.about.document_date for passage in passages}
    linking = snapshot.links([chunk for chunk, day in dated.items() if day])
    moments = {
        chunk: moment_of(about.front_matter, dated[chunk] or "") for chunk, about in linking.items()
    }
    return [
        passage._replace(moment=moments.get(passage.about.chunk_id, "")) for passage in passages
    ]
