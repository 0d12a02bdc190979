"""Cut ranked chunks down to the passages that answer: windows around their best segments; pure.

A whole chunk is ranked, and only the segments that answer are shown:

    own     = p * cosine + (1 - p) * c * bm25 / (best bm25 of a segment)
    segment = own + NEIGHBOUR_SHARE * own of its better neighbour
    passage = (chunk + best segment) / (its greatest value), in [0, 1]

p is min(1, SEGMENT_LEAN * w_v), and c is that of `fusion`. BM25 is Robertson's, with k1 1.2 and
b 0.75. A window adds the neighbours of the best segment that are worth their tokens. Other segments
form windows of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import fsum
from types import MappingProxyType

from memcli.language.stopwords import FILLERS
from memcli.language.tokens import FIRST_WIDE, K1, B
from memcli.record import Record
from memcli.search.fusion import NO_PRIOR, LengthPrior, Weights
from memcli.search.lines import Run, whole_thought
from memcli.search.ranked import RankedPassage, Step, ordered
from memcli.types import SUMMARY

# A segment is short: fewer words can match than in a chunk, and its vector says more. Weights
# fitted segment by segment on three LoCoMo conversations gave the same balance.
SEGMENT_LEAN = 1.25
NEIGHBOUR_SHARE = 0.3
# A neighbour joins from this share of the best segment of all chunks, so that strong passages are
# wide and doubtful ones narrow. Less gains ranks and loses recall within a token budget: on
# LoCoMo .28 gives nDCG@10 .784 and Recall@1000tok .826, .35 gives .777 and .833.
KEEP_SHARE = 0.32
PASSAGE_LINES = 8
NEIGHBOURS = 2  # segments on each side
SCRAP_SHARE = 0.5  # of the score of a passage that only repeats the query or says where to look
HEADING_SHARE = 1.0  # of a word in the headings, relative to one in the segment

Tokens = Sequence[str]
Window = tuple[int, int, int]  # first, last and best segment


class Width(Record):
    """How far a passage grows beyond its best segment."""

    lines: int = PASSAGE_LINES
    share: float = KEEP_SHARE  # of the best segment, from which a neighbour joins


WIDTH = Width()


class Adjustments(Record):
    """The changes to the scores of segments besides keywords and cosines, by chunk id."""

    factors: Mapping[int, Sequence[float]] = MappingProxyType({})
    lifts: Mapping[int, Sequence[float]] = MappingProxyType({})  # added, before a factor counts
    headings: Mapping[int, Tokens] = MappingProxyType({})  # other tokens of each segment
    named: Collection[int] = ()  # chunks whose best passage comes before all others
    prior: LengthPrior = NO_PRIOR


AS_THEY_ARE = Adjustments()


class WeightedTerm(Record):
    """A term of the query as the index tokenises it, and its IDF."""

    tokens: tuple[str, ...]
    idf: float
    starts: tuple[str, ...] = ()  # of a prefix: possible beginnings of its last token
    exact: str = ""  # phrase | identifier: a text that contains it is a literal match
    demanded: bool = False  # no passage without it
    text: str = ""  # as typed, or as corrected


def focus(
    chunks: Sequence[RankedPassage],
    tokens: Mapping[int, Sequence[Tokens]],
    terms: Sequence[WeightedTerm],
    *,
    weights: Weights,
    text_share: float,
    whole: bool,
    width: Width = WIDTH,
    adjusted: Adjustments = AS_THEY_ARE,
) -> list[RankedPassage]:
    """Turn chunks into passages; `tokens` has the tokens of every segment by chunk id.

    Lines that are only links count for less, and so does a chunk that only repeats the query.

    `whole` keeps each chunk in one piece, scored by its best segment. Otherwise a passage grows
    beyond its best segment to at most `width.lines`, by neighbours that reach `width.share` of the
    best segment of all chunks. A window without a demanded term is left out if another window of
    its chunk contains one.
    """
    lengths = [in_words(segment) for segments in tokens.values() for segment in segments]
    average = max(1.0, sum(lengths) / max(1, len(lengths)))
    query, headings, named = _Query(terms), adjusted.headings, adjusted.named
    by_chunk = {chunk: [*map(query.contained, segments)] for chunk, segments in tokens.items()}
    above = {chunk: query.contained(headings.get(chunk, ())) for chunk in tokens}
    texts = {
        chunk: [
            _bm25(segment, query.met(own | above[chunk]), average, headings.get(chunk, ()))
            for segment, own in zip(cut, by_chunk[chunk], strict=True)
        ]
        for chunk, cut in tokens.items()
    }
    best_text = max((score for scores in texts.values() for score in scores), default=0.0)
    leaning = min(1.0, SEGMENT_LEAN * weights.vector)
    per_text = (1.0 - leaning) * text_share / best_text if best_text > 0 else 0.0
    own = {
        each.about.chunk_id: _own_scores(each, text, leaning, per_text, adjusted)
        for each in chunks
        if (text := texts.get(each.about.chunk_id))
    }
    # Without vectors most segments contain no word of the query, and all neighbours join.
    best_segment = max((score for scores in own.values() for score in scores), default=0.0)
    enough = width.share * best_segment if weights.vector else 0.0
    full = 2.0 + NEIGHBOUR_SHARE
    demanded = [term for term in terms if term.demanded]
    passages: list[RankedPassage] = []
    for passage in chunks:
        chunk = passage.about.chunk_id
        scores = own.get(chunk)
        if scores is None:
            passages.append(passage.moved(passage.score / full, "focus", chunk=passage.score))
            continue
        segments, counts, holding = _with_neighbours(scores), tokens[chunk], by_chunk[chunk]
        windows = _windows(passage, scores, segments, enough, width.lines, whole=whole)
        if demanded:
            windows = [window for window in windows if _says(window, counts, demanded)] or windows
        is_scrap = query.covers(counts)
        is_literal = passage.candidate.literal
        literal = _literal_windows(windows, counts, holding, query) if is_literal else ()
        for window in windows:
            first, last, best = window
            score, shown = (passage.score + segments[best]) / full, {"part": segments[best]}
            if is_scrap or _is_links_only(passage, first, last):
                score, shown["factor"] = score * SCRAP_SHARE, SCRAP_SHARE
            passages.append(
                passage.moved(score, "focus", chunk=passage.score, **shown)._replace(
                    first=first,
                    last=last,
                    best=best,
                    own_cosine=_best_cosine(passage, first, last),
                    own_coverage=query.share([*holding[first : last + 1], above[chunk]]),
                    is_literal=window in literal,
                )
            )
    return ordered(_named_first(passages, named) if named else passages)


def _named_first(passages: Sequence[RankedPassage], named: Collection[int]) -> list[RankedPassage]:
    """Move the best passage of each chunk that the question names above all others."""
    top = max(passage.score for passage in passages)
    best: dict[int, RankedPassage] = {}
    for passage in ordered(passages):
        best.setdefault(passage.about.chunk_id, passage)
    raised = {id(best[chunk]) for chunk in named if chunk in best}
    return [_raised(p, top) if id(p) in raised else p for p in passages]


def _raised(passage: RankedPassage, top: float) -> RankedPassage:
    *before, last = passage.trace
    score = top + (1.0 - top) * passage.score
    step = Step(last.stage, score, (*last.inputs, ("named", "yes")))
    return passage._replace(score=score, trace=(*before, step))


def _is_links_only(passage: RankedPassage, first: int, last: int) -> bool:
    segments = passage.candidate.segments
    text = passage.candidate.text[segments[first].start : segments[last].end]
    if "](" not in text and "[[" not in text and "://" not in text:
        return False
    from memcli.markdown.links import is_links_only  # most passages have no link

    return is_links_only(text)


class _Query:
    """The terms of a query; it caches what hundreds of segments ask about the same tokens."""

    def __init__(self, terms: Sequence[WeightedTerm]) -> None:
        self.terms = terms
        self.tokens = frozenset(token for term in terms for token in term.tokens)
        self._prefixes = [term for term in terms if term.starts]
        self._total_idf = fsum(term.idf for term in terms)
        self._met: dict[frozenset[str], Sequence[WeightedTerm]] = {}
        self._shares: dict[frozenset[str], float] = {}

    def contained(self, segment: Tokens) -> frozenset[str]:
        """Return the tokens of the query in a segment, with those of a prefix that it continues."""
        own = self.tokens.intersection(segment)
        continued = [term.tokens for term in self._prefixes if occurrences(segment, term)]
        return own.union(*continued) if continued else own

    def met(self, content: frozenset[str]) -> Sequence[WeightedTerm]:
        """Return the terms that a segment may contain, by its tokens of the query."""
        terms = self._met.get(content)
        if terms is None:
            terms = self._met[content] = [
                term for term in self.terms if term.tokens and content.issuperset(term.tokens)
            ]
        return terms

    def covers(self, segments: Sequence[Tokens]) -> bool:
        """Return whether segments only repeat words of the query, as a bare heading does.

        A number says more than that: `burst 17` is what a search for it wants.
        """
        return all(
            t in FILLERS or (t in self.tokens and t.isalpha())
            for segment in segments
            for t in segment
        )

    def share(self, contents: Sequence[frozenset[str]]) -> float:
        """Return the share of the query's IDF that segments contain together."""
        together = contents[0] if len(contents) == 1 else frozenset[str]().union(*contents)
        share = self._shares.get(together)
        if share is None:
            terms = (t for t in self.terms if t.tokens and together.issuperset(t.tokens))
            weight = fsum(term.idf for term in terms)
            share = self._shares[together] = weight / self._total_idf if self._total_idf else 0.0
        return share


def _run(window: Window, tokens: Sequence[Tokens]) -> list[str]:
    """Return the tokens of a window in order."""
    first, last, _ = window
    return [token for segment in tokens[first : last + 1] for token in segment]


def _says(window: Window, tokens: Sequence[Tokens], terms: Sequence[WeightedTerm]) -> bool:
    """Return whether a window contains any of some terms, word after word."""
    run = _run(window, tokens)
    return any(term.tokens and occurrences(run, term) for term in terms)


def _literal_windows(
    windows: Sequence[Window],
    tokens: Sequence[Tokens],
    contents: Sequence[frozenset[str]],
    query: _Query,
) -> Sequence[Window]:
    """Choose the windows that make their chunk a literal match, or the best if none does.

    They contain a phrase or an identifier of the query, or all words that the chunk contains.
    """
    exact = [term for term in query.terms if term.exact]
    literal = [window for window in windows if _says(window, tokens, exact)]
    if not literal:
        everything = query.share(contents)
        literal = [w for w in windows if query.share(contents[w[0] : w[1] + 1]) >= everything]
    return literal or windows[:1]


def _own_scores(
    passage: RankedPassage,
    texts: Sequence[float],
    leaning: float,
    per_text: float,
    adjusted: Adjustments,
) -> list[float]:
    """Score each segment by itself."""
    own = []
    stand_in = passage.assumed if passage.cosine is None else passage.cosine
    for segment, text in zip(passage.candidate.segments, texts, strict=True):
        cosine = stand_in
        if segment.cosine is not None:
            cosine = segment.cosine + adjusted.prior.of(passage.about.chunk_id, segment)
        own.append(leaning * min(1.0, max(0.0, cosine or 0.0)) + per_text * text)
    if lifts := adjusted.lifts.get(passage.about.chunk_id):
        own = [score + lift for score, lift in zip(own, lifts, strict=True)]
    if factors := adjusted.factors.get(passage.about.chunk_id):
        own = [score * factor for score, factor in zip(own, factors, strict=True)]
    return own


def _best_cosine(passage: RankedPassage, first: int, last: int) -> float | None:
    known = [p.cosine for p in passage.candidate.segments[first : last + 1] if p.cosine is not None]
    return min(1.0, max(0.0, *known)) if known else None


def _with_neighbours(own: Sequence[float]) -> list[float]:
    """Add to each segment a share of its better neighbour."""
    padded = [0.0, *own, 0.0]
    return [score + NEIGHBOUR_SHARE * max(padded[i], padded[i + 2]) for i, score in enumerate(own)]


def _windows(
    passage: RankedPassage,
    own: Sequence[float],
    scores: Sequence[float],
    enough: float,
    most_lines: int,
    *,
    whole: bool,
) -> list[Window]:
    """Return the windows of a chunk, the best first."""
    segments, last_part = passage.candidate.segments, len(own) - 1
    order = sorted(range(len(own)), key=scores.__getitem__, reverse=True)
    if whole or not last_part:
        return [(0, last_part, order[0])]
    used: set[int] = set()
    # A line of a summary is complete, and the next one is about something else.
    is_joined = [score >= enough and passage.about.kind != SUMMARY for score in own]
    windows = []
    for best in order:
        if best in used:
            continue
        first = last = best
        for _ in range(NEIGHBOURS):
            if first and is_joined[first - 1] and first - 1 not in used:
                lines = segments[last].end_line - segments[first - 1].start_line + 1
                first -= lines <= most_lines
            if last < last_part and is_joined[last + 1] and last + 1 not in used:
                lines = segments[last + 1].end_line - segments[first].start_line + 1
                last += lines <= most_lines
        run = whole_thought(passage.candidate, Run(first, last), lambda at: at not in used)
        first, last = run
        used.update(range(first, last + 1))
        windows.append((first, last, best))
    return windows


def _bm25(tokens: Tokens, terms: Sequence[WeightedTerm], average: float, headings: Tokens) -> float:
    norm = K1 * (1 - B + B * in_words(tokens) / average)
    score = 0.0
    for term in terms:
        frequency = occurrences(tokens, term) + HEADING_SHARE * occurrences(headings, term)
        score += term.idf * frequency * (K1 + 1) / (frequency + norm)
    return score


def in_words(tokens: Tokens) -> float:
    """Count tokens; in a script without spaces each counts half, because a word has about two."""
    if not tokens or max(tokens) < FIRST_WIDE:
        return len(tokens)
    return len(tokens) - 0.5 * sum(token >= FIRST_WIDE for token in tokens)


def idf_share(line: Tokens, terms: Sequence[WeightedTerm]) -> float:
    """Return the share of the IDF of some terms that a line contains, 0 to 1."""
    every = fsum(term.idf for term in terms)
    share = fsum(term.idf for term in terms if occurrences(line, term))
    return share / every if every else 0.0


def occurrences(tokens: Tokens, term: WeightedTerm) -> int:
    """Count how often tokens contain a term."""
    own_tokens = term.tokens
    if term.starts:
        before = own_tokens[:-1]
        return sum(
            token.startswith(term.starts) and tuple(tokens[at - len(before) : at]) == before
            for at, token in enumerate(tokens)
            if at >= len(before)
        )
    if len(own_tokens) == 1:
        return tokens.count(own_tokens[0])
    return sum(
        tuple(tokens[at : at + len(own_tokens)]) == own_tokens
        for at in range(len(tokens) - len(own_tokens) + 1)
    )
