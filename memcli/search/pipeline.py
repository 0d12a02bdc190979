"""The one path of a search: through the stages of `stages.TABLE`, in their order.

`gathering` reads the store; everything after it is pure. Explanations, the bench and every output
read the same passages; nothing is computed twice. An observer sees the passages that each stage
left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from memcli.checking import TYPE_CHECKING
from memcli.embedding.encoders import Vector
from memcli.embedding.models import Calibration, readable
from memcli.errors import Reason
from memcli.record import Record
from memcli.search.budget import fit_budget
from memcli.search.confidence import (
    LOW,
    MANY_WORDS,
    ONE_WORD,
    WORDS_ALONE,
    apply_threshold,
    calibration,
    doubt_of_words,
    judge,
    match_of,
    rests_on_one_word,
    stands_out,
    sure_of_its_day,
    uncalibrated,
)
from memcli.search.corrections import corrections_of, differing, with_corrections
from memcli.search.focus import Adjustments, WeightedTerm, focus
from memcli.search.gathering import GatherResult, gather, in_years
from memcli.search.lines import SPARE, beginning, joined
from memcli.search.mmr import diversify, folded
from memcli.search.options import run_stages, unobserved
from memcli.search.proximity import (
    apply_decay,
    apply_proximity,
    concerns,
    in_time,
    matching,
    of_dates_alone,
    single_days,
)
from memcli.search.query import ParsedQuery
from memcli.search.question import asks_about_now
from memcli.search.ranked import RankedPassage
from memcli.search.recall import scope_within, with_shares
from memcli.search.retrievers import RetrieverUse
from memcli.search.summaries import apply_quality, spread, without_repeats

if TYPE_CHECKING:
    from memcli.dates.find import DateSpan
    from memcli.search.options import Observer, SearchOptions, StageStep
    from memcli.search.repair import Repair
    from memcli.search.rerank import Lifts, RerankResult
    from memcli.store.port import Snapshot

LEAST_PART = 4  # letters of a word that may begin or end another
MMR_POOL = 100  # passages that are compared for novelty; --limit is at most this
# A folder or a suffix of two letters, alone or with a region.
_MAY_BE_TRANSLATED = re.compile(r"(?:^|/)[a-z]{2}(?:[-_]\w+)?/|\.[a-z]{2}\.\w+$")


class Answer(Record):
    """The passages of a query, and how they were found."""

    passages: tuple[RankedPassage, ...]
    match: str  # strong | weak | none
    keyword: RetrieverUse
    semantic: RetrieverUse
    candidates: int
    omitted_over_budget: int  # passages that did not fit the budget
    omitted_low_confidence: int  # that would have fitted, and are far from the question
    weaker: int  # that are not worth reading, see `worth`
    is_measured: bool  # the lead in scores can be judged
    is_exact: bool  # the query has only identifiers or phrases
    unmatched: tuple[str, ...]  # terms that no chunk contains
    missing_phrases: tuple[str, ...]  # phrases that no chunk contains
    split_phrases: tuple[str, ...]  # phrases whose parts are in different chunks
    revision: str
    fingerprint: str = ""  # of the vectors that took part
    left: tuple[RankedPassage, ...] = ()  # passages over the budget, then those not worth reading
    fused: tuple[RankedPassage, ...] = ()  # every candidate, whole, in the fused order
    dates: tuple[DateSpan, ...] = ()  # of the query, as far as they took part
    repaired: tuple[Repair, ...] = ()  # misspelled words and their corrections
    reranked: RerankResult | None = None  # if a reranker is configured
    named_speakers: tuple[str, ...] = ()  # speakers that the query names
    speaker_match: float | None = None  # see `speakers.lead_of`
    others_lead: bool = False  # others say what matches best, see `_speaker_lead`
    match_reason: Reason | None = None  # why the match is weak
    is_long: bool = False  # the query has many words, see `confidence.MANY_WORDS`
    of_some: bool = False  # some files were not searched
    of_several: bool = False  # the query asks for several things
    is_read: bool = True  # most notes are in a language that the bundled model reads
    of_writer: bool = False  # the query is about its writer, and somebody speaks
    rarity: float = 0.0  # of the words of the query, see `RecallResult`
    constants: Calibration | None = None  # to judge the model's cosines
    uncalibrated: Reason | None = None  # what replaces confidences, if there are none
    words: tuple[str, ...] = ()  # of the query, as typed and as corrected
    terms: tuple[WeightedTerm, ...] = ()  # of the query, without stop words

    @property
    def is_doubtful(self) -> bool:
        """Return whether nothing was found, or every confidence is low."""
        return self.match == "none" or self.match_reason == LOW

    @property
    def is_strong(self) -> bool:
        """Return whether the match is strong, or would be if no dated line had another value."""
        is_other = self.match_reason is not None and self.match_reason.code == "differs"
        return self.match == "strong" or is_other

    @property
    def is_off_topic(self) -> bool:
        """Return whether no note has a word of the query, and no passage is near in meaning.

        A word may begin or end one in a passage: `Beet` in `Hochbeet`, or 1234.50 in 1.234,50.
        """
        absent = {*self.unmatched}
        return (
            bool(self.terms)
            and not (self.repaired or self.dates)
            and all(term.text in absent for term in self.terms)
            and self.is_far
            and self.is_read
            and not self._has_a_part()
        )

    def as_later_page(self) -> Answer:
        """Return the answer with the match of its own passages, if that is lower."""
        if self.match != "strong":
            return self
        match, reason = match_of(self.passages, is_measured=self.uncalibrated is None)
        return self._replace(match=match, match_reason=reason)

    def without_passages(self, reason: Reason | None) -> Answer:
        """Leave out all passages."""
        left = self.passages
        return self._replace(
            passages=(), match="none", match_reason=reason, left=left, weaker=len(left)
        )

    def _has_a_part(self) -> bool:
        words = [word for term in self.terms if len(word := _unmarked(term.text)) >= LEAST_PART]
        part = re.compile("|".join(rf"\b{word}|{word}\b" for word in map(re.escape, words)))
        return bool(words) and any(part.search(_unmarked(each.text)) for each in self.fused)

    @property
    def is_far(self) -> bool:
        """Return whether no passage is near in meaning."""
        near = self.constants.near if self.constants else 0.0
        return all((passage.cosine or 0.0) < near for passage in self.passages)

    @property
    def is_of_others(self) -> bool:
        """Return whether others say what matches best, and one claims it in a passage."""
        return self.others_lead and any(passage.is_claimed for passage in self.passages)

    @property
    def is_of_other_days(self) -> bool:
        """Return whether the query names days, and no passage is of them or names their year.

        If the query names no year, a passage may name their month or day.
        """
        spans = [each for each in self.dates if not (each.excluded or each.order)]
        if not spans:
            return False
        from memcli.dates.find import mentions, names_no_year

        bounds = [(each.start or "", each.end or "9999") for each in spans]
        months = [bound for each, bound in zip(spans, bounds, strict=True) if names_no_year(each)]
        years = {day[:4] for bound in bounds for day in bound}
        return not any(
            any(first <= (about.date or "") and (about.first_day or about.date or "") <= last
                for first, last in bounds)
            or any(year in text for year in years)
            or any(mentions(text, first, last, about.date) for first, last in months)
            for about, text in ((each.about, each.text) for each in self.passages)
        )  # fmt: skip


def _of_its_time(answer: Answer) -> Answer:
    """Return the answer as a weak one if all its passages are of other days than the query."""
    if answer.match != "strong" or not answer.is_of_other_days:
        return answer
    reason = Reason("days", "no passage is of that time")
    return answer._replace(match="weak", match_reason=reason)


def _unmarked(text: str) -> str:
    """Return a text in small letters, its numbers without commas and dots."""
    return re.sub(r"(?<=\d)[.,](?=\d)", "", text.casefold())


_NOTHING_RAN = (RetrieverUse(True, None, 0, 0), RetrieverUse(False, None, 0, 0))
OFF_TOPIC = Reason("absent", "no note contains a word of the question")
NOTHING = Answer((), "none", *_NOTHING_RAN, 0, 0, 0, 0, False, False, (), (), (), "0")


def search(
    snapshot: Snapshot,
    query: ParsedQuery,
    dates: Sequence[DateSpan],
    options: SearchOptions,
    *,
    embed_query: Callable[[str], Vector],
    age_days: Callable[[str], float],
    observe: Observer = unobserved,
) -> Answer:
    """Answer a query from one state of the index; `observe` gets the passages after each stage."""
    from memcli.search.reading_value import asks_for_several

    scope = scope_within(snapshot, options.filters)
    spans = dates if options.has("date") else ()
    dates = tuple(read for span in spans for read in in_years(snapshot, span, scope, query.text))
    gathered = gather(snapshot, query, dates, options, embed_query=embed_query, observe=observe)
    answer = _rank(gathered, options, age_days, observe)
    newer = corrections_of(snapshot, answer.passages, gathered.fused, scope)
    newer.question = query.text if asks_about_now(query.text) else ""
    typed = [term.text for term in query.counted_terms]
    typed += [span.text for span in dates if span.is_day]
    answer = answer._replace(
        passages=tuple(with_corrections(answer.passages, newer)),
        words=tuple(dict.fromkeys([*typed, *(each.searched for each in answer.repaired)])),
        dates=dates,
        is_long=len(gathered.recalled.terms) > MANY_WORDS,
        of_several=options.of_several or asks_for_several(gathered.question),
        is_read=not (snapshot.facts.language or "").startswith("other"),
    )
    first = answer.passages[:1] if answer.match == "strong" else ()
    if first and (other := differing(newer, first[0], query.text)):
        text = f"{other.citation} ({other.date}) differs from the first passage"
        answer = answer._replace(match="weak", match_reason=Reason("differs", text))
    answer = answer._replace(passages=_with_shares(snapshot, gathered, answer))
    if (options.worthwhile or options.one_line) and answer.passages:
        is_removed = query.excluded and not any(each.coverage for each in answer.passages)
        if answer.is_off_topic or (is_removed and answer.is_far):
            answer = answer.without_passages(OFF_TOPIC if answer.is_off_topic else None)
    if options.worthwhile and answer.passages:
        answer = cut_to_worthwhile(
            answer, apart=options.by_turn, miss=options.miss_tokens, budget=options.budget
        )
    observe("budget", answer.passages)
    return _of_its_time(answer)


def cut_to_worthwhile(
    answer: Answer, *, apart: bool = False, miss: int | None = None, budget: int | None = None
) -> Answer:
    """Keep only the passages worth reading, and of these what fits the budget.

    `apart` and `miss` are those of `worthwhile`.
    """
    from memcli.search.reading_value import worthwhile

    every = answer.passages
    if any(passage.turns for passage in every):
        from memcli.search.filler import without_filler

        every = without_filler(every, answer.words)
    passages, weaker = worthwhile(
        every,
        matches=not answer.is_doubtful,
        is_measured=answer.is_measured,
        is_exact=answer.is_exact,
        of_writer=answer.of_writer,
        of_several=answer.of_several,
        miss=miss,
        apart=apart,
    )
    idle = (passage for passage in every if not any(map(passage.contains, passages)))
    fitting, dropped, _ = fit_budget(passages, budget=budget)
    left = (*passages[len(fitting) :], *idle)
    return _of_its_time(
        answer._replace(
            passages=tuple(fitting), left=left, weaker=weaker, omitted_over_budget=dropped
        )
    )


def with_ends(snapshot: Snapshot, passages: Sequence[RankedPassage]) -> tuple[RankedPassage, ...]:
    """Look up which passages begin or end within a line, and who speaks in them."""
    ids = [passage.about.chunk_id for passage in passages]
    lines = snapshot.lines_of(ids)
    return tuple(
        passage._replace(broken=lines[chunk].broken, turns=lines[chunk].turns)
        for passage, chunk in zip(passages, ids, strict=True)
    )


def _with_shares(
    snapshot: Snapshot, gathered: GatherResult, answer: Answer
) -> tuple[RankedPassage, ...]:
    """Look up the ends of passages, and the share of the question that their lines contain."""
    passages = with_ends(snapshot, answer.passages)
    terms, names = gathered.recalled.terms, answer.named_speakers
    if not names:
        return with_shares(snapshot, passages, [term for term in terms if term.tokens])
    from memcli.search.speakers import with_claims

    return with_claims(snapshot, passages, terms, names)


def _rank(
    gathered: GatherResult,
    options: SearchOptions,
    age_days: Callable[[str], float],
    observe: Observer,
) -> Answer:
    """Make an answer from what the index returned; pure."""
    passages, reranked, unread = _passages(gathered, options, observe)
    scoring = _scoring(gathered, options, age_days)
    scored = run_stages(scoring, passages, options, observe)
    threshold = partial(_above_threshold, gathered, options)
    judged = run_stages([("threshold", threshold)], scored, options, observe)
    top = _in_order(gathered, options, judged, observe)[: options.limit]
    packed, over_budget, far = fit_budget(top, budget=options.filled, free=options.free)
    is_sorted = options.sort != "score"
    shown = in_time(packed, newest=options.sort == "newest") if is_sorted else packed
    constants = calibration(gathered.fingerprint, options.calibrations)
    is_measured = _is_measured(gathered, options)

    def is_close() -> bool:
        """Return whether other passages match nearly as well as the first."""
        # A reranker's additions to scores are not on the scale of the lead.
        is_read = reranked is not None and reranked.ran
        unlifted = run_stages(scoring, unread, options, unobserved) if is_read else scored
        return is_measured and not stands_out(unlifted, gathered.fused, constants)

    lead = _speaker_lead(gathered, shown)
    best_first = sorted(packed or judged, key=lambda passage: -passage.score)
    match, reason = match_of(best_first, is_measured=bool(constants))
    if gathered.asks_nothing and best_first:  # found by stop words
        match, reason = "weak", LOW
    elif match == "strong":
        reason = _doubt(gathered, best_first, lead, is_close)
    recalled = gathered.recalled
    return Answer(
        passages=tuple(shown),
        match="weak" if reason else match,
        keyword=gathered.keyword,
        semantic=gathered.semantic,
        candidates=len(recalled.candidates),
        omitted_over_budget=over_budget,
        omitted_low_confidence=far,
        weaker=0,
        is_measured=is_measured and not is_sorted,
        is_exact=_is_exact(gathered),
        unmatched=recalled.unmatched,
        missing_phrases=recalled.missing_phrases,
        split_phrases=recalled.split_phrases,
        revision=gathered.revision,
        fingerprint=gathered.fingerprint,
        fused=tuple(gathered.fused),
        repaired=gathered.repaired,
        reranked=reranked,
        named_speakers=lead.speakers,
        speaker_match=lead.lead,
        others_lead=lead.others_lead,
        match_reason=reason,
        of_writer=bool(gathered.speaker_weights),
        rarity=recalled.rarity,
        terms=recalled.terms,
        constants=constants,
        uncalibrated=None
        if constants
        else uncalibrated(gathered.fingerprint, has_words=gathered.keyword.ran),
    )


def _doubt(
    gathered: GatherResult,
    best_first: Sequence[RankedPassage],
    lead: SpeakerLead,
    is_close: Callable[[], bool],
) -> Reason | None:
    """Return why an answer with a sure passage may still be wrong."""
    if lead.is_doubtful:
        return Reason("others", f"the best match is not by {' or '.join(lead.speakers)}")
    if reason := doubt_of_words(gathered.question, gathered.recalled):
        return reason
    if rests_on_one_word(best_first, gathered.recalled):
        return ONE_WORD
    if is_close():
        return Reason("close", "the tenth passage matches nearly as well as the first")
    return None


class SpeakerLead(Record):
    """How much better the speakers whom a query names match than others."""

    speakers: tuple[str, ...] = ()
    lead: float | None = None  # see `speakers.lead_of`
    is_doubtful: bool = False  # others match better
    others_lead: bool = False  # others also match better in the first passage


def _speaker_lead(gathered: GatherResult, shown: Sequence[RankedPassage]) -> SpeakerLead:
    """Compare the speakers whom the query names with others.

    `others_lead` is so for 6 % of the questions of LoCoMo, and for 53 % of those that name the
    wrong person; `is_doubtful` for 12 % and 65 %.
    """
    voices = gathered.voices
    if voices is None:
        return SpeakerLead()
    from memcli.search.speakers import DOUBTFUL_LEAD, lead_of

    lead = lead_of(shown)
    is_doubtful = lead is not None and lead < DOUBTFUL_LEAD
    first = next((passage.speaker_match for passage in shown), None)
    others_lead = is_doubtful and first is not None and first < DOUBTFUL_LEAD
    return SpeakerLead(() if voices.only else voices.names, lead, is_doubtful, others_lead)


def _is_measured(gathered: GatherResult, options: SearchOptions) -> bool:
    """Return whether a lead in scores means something: only for the default formula.

    It means nothing if the query has only identifiers, phrases or a date.
    """
    is_scaled = options.fusion == "scaled" and not options.profile.formula
    return is_scaled and not _is_exact(gathered) and not gathered.dates_alone


def _is_exact(gathered: GatherResult) -> bool:
    """Return whether the query has only identifiers or phrases."""
    terms = gathered.recalled.terms
    return bool(terms) and all(term.exact for term in terms)


def _passages(
    gathered: GatherResult, options: SearchOptions, observe: Observer
) -> tuple[Sequence[RankedPassage], RerankResult | None, Sequence[RankedPassage]]:
    """Cut chunks down to passages, and let a reranker, if any, read the best of them.

    Also return the passages as they were before it.
    """

    def focused(lifts: Lifts) -> list[RankedPassage]:
        return focus(
            gathered.passages,
            gathered.tokens,
            gathered.recalled.terms,
            weights=gathered.weights,
            text_share=gathered.text_share,
            whole=options.whole or gathered.dates_alone,
            width=options.inner.width,
            adjusted=Adjustments(
                gathered.speaker_weights, lifts, gathered.headings, gathered.named, gathered.prior
            ),
        )

    passages = run_stages([("focus", lambda _: focused({}))], gathered.passages, options, observe)
    is_off = "rerank" in options.inner.without or gathered.dates_alone
    if options.reranker is None or is_off:
        return passages, None, passages
    from memcli.search.rerank import OTHER_FORMULA, RerankResult, rerank

    if not options.has("rerank"):
        return passages, RerankResult(options.reranker.name, 0, OTHER_FORMULA), passages
    text = gathered.question
    if options.reranker.is_by_part:
        text = readable(text, gathered.fingerprint)
    read, reranked = rerank(
        passages, text, options.reranker, focused, has_vectors=gathered.semantic.ran
    )
    observe("rerank", read)
    return read, reranked, passages


def _scoring(
    gathered: GatherResult, options: SearchOptions, age_days: Callable[[str], float]
) -> list[StageStep]:
    """List the stages that score passages."""
    recalled = gathered.recalled
    steps: list[StageStep] = []
    if gathered.voices:
        steps.append(("speaker", gathered.voices.trimmed))
    if options.formula is not None:
        again = partial(options.formula.score, matched=recalled.matched, age_days=age_days)
        steps.append(("score", again))
    raised = of_dates_alone if gathered.dates_alone else partial(apply_proximity, out=gathered.out)
    weight, half_life = options.quality_weight, options.half_life_days
    faded = partial(
        apply_decay, age_days=age_days, half_life_days=half_life, floor=options.decay_floor
    )
    return [
        *steps,
        ("date", partial(raised, spans=gathered.spans, order=gathered.order)),
        ("quality", partial(apply_quality, confidences=recalled.qualities, weight=weight)),
        *([] if gathered.dates_alone else [("decay", faded)]),
    ]


def _in_order(
    gathered: GatherResult,
    options: SearchOptions,
    passages: Sequence[RankedPassage],
    observe: Observer,
) -> Sequence[RankedPassage]:
    """Set the order of passages, fold duplicates, join neighbours and cut them."""
    if gathered.order:  # MMR and corrections would change the order of time
        without = options.inner.without | {"newer"}
        options = options._replace(mmr_lambda=1.0, inner=options.inner._replace(without=without))
    is_sorted = options.sort != "score"
    steps: list[StageStep] = [("mmr", partial(_folded, options)), ("spread", spread)]
    if not (gathered.dates_alone or is_sorted):
        question, turns = gathered.question, gathered.turns
        is_now = asks_about_now(question)
        # A rule for Mondays may be in a note of any date.
        spans = () if is_now and gathered.is_weekday else gathered.spans
        is_now = is_now and not gathered.spans
        from memcli.search.newer_first import newer_first

        newer = partial(newer_first, turns=turns, question=question, is_now=is_now, spans=spans)
        steps = [
            ("newer", newer),
            ("language", partial(_translated, gathered.question)),
            ("spread", spread),
            ("mmr", partial(_diversified, options)),
        ]
    cut = (lambda whole: whole) if options.whole else beginning
    ranked = run_stages([*steps, ("join", joined), ("cut", cut)], passages, options, observe)
    if gathered.dates_alone and not is_sorted:
        # The document of a period, such as `2025-Q2.md`, comes before its days.
        return sorted(ranked, key=lambda passage: passage.about.chunk_id not in gathered.named)
    return ranked


def _translated(question: str, passages: Sequence[RankedPassage]) -> Sequence[RankedPassage]:
    if not any(_MAY_BE_TRANSLATED.search(passage.about.path) for passage in passages):
        return passages
    from memcli.search.translations import own_language_first

    return own_language_first(passages, question)


def _above_threshold(
    gathered: GatherResult, options: SearchOptions, passages: Sequence[RankedPassage]
) -> list[RankedPassage]:
    constants = calibration(gathered.fingerprint, options.calibrations)
    if constants is None and gathered.keyword.ran:
        constants = WORDS_ALONE
    judged = judge(passages, constants, rarity=gathered.recalled.rarity)
    if gathered.dates_alone:  # a record of the day is the answer, whatever its words
        judged = [passage._replace(confidence=1.0) for passage in judged]
    elif days := single_days(gathered.spans):
        judged = [sure_of_its_day(each) if concerns(each, days) else each for each in judged]
    above = apply_threshold(
        judged, min_score=options.min_score, on_score=options.profile.threshold_on_score
    )
    if options.sort == "score" or gathered.dates_alone:
        return above
    return in_time(matching(above), newest=options.sort == "newest")


def _folded(options: SearchOptions, passages: Sequence[RankedPassage]) -> Sequence[RankedPassage]:
    return folded(without_repeats(passages[:MMR_POOL])) if options.has("mmr.fold") else passages


def _diversified(options: SearchOptions, passages: Sequence[RankedPassage]) -> list[RankedPassage]:
    pool = passages[:MMR_POOL]
    return diversify(
        without_repeats(pool) if options.has("mmr.fold") else pool,
        lambda_=options.mmr_lambda,
        least=options.mmr_min,
        limit=options.limit + SPARE,
        fold=options.has("mmr.fold"),
    )
