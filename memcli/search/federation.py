"""Search indexes of different models, each with its own, and merge the answers.

Scores of two models cannot be compared, but calibrated confidences can. So the next passage comes
from the answer whose next passage is the surest, and each answer keeps its own order. An answer
whose model was never calibrated uses the confidence of the others at the same rank, because
keywords alone show less. If no model was calibrated, the answers take turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.record import Record
from memcli.search.budget import fit_budget
from memcli.search.mmr import folded
from memcli.search.options import unobserved
from memcli.search.pipeline import OFF_TOPIC, Answer, cut_to_worthwhile, search
from memcli.search.proximity import in_time

if TYPE_CHECKING:
    from typing import TypeVar

    from memcli.embedding.encoders import Vector
    from memcli.errors import Reason
    from memcli.search.options import Observer, SearchOptions
    from memcli.search.question import Question
    from memcli.search.ranked import RankedPassage
    from memcli.search.rerank import Reranker
    from memcli.search.retrievers import RetrieverUse
    from memcli.store.port import Snapshot

    Ranked = TypeVar("Ranked")

BUDGET = "budget"


class ModelGroup(Record):
    """The workspaces that one model searches."""

    names: tuple[str, ...]  # of the workspaces, if there are other groups
    snapshot: Snapshot
    encoder: str  # its name in the configuration
    reranker: Reranker | None
    embed_query: Callable[[str], Vector]


def search_each(
    groups: Sequence[ModelGroup],
    question: Question,
    options: SearchOptions,
    *,
    observe: Observer = unobserved,
) -> list[Answer]:
    """Answer a question from each group, for `merge_answers` with the same options.

    With several groups, `observe` gets what each stage left of all, and no stage `BUDGET`.
    """

    def ask(group: ModelGroup, options: SearchOptions, observe: Observer) -> Answer:
        return search(
            group.snapshot,
            question.query,
            question.dates,
            options._replace(encoder=group.encoder, reranker=options.reranker and group.reranker),
            embed_query=group.embed_query,
            age_days=question.age_days,
            observe=observe,
        )

    if len(groups) == 1:
        return [ask(groups[0], options, observe)]
    from memcli.search.stages import STAGES
    from memcli.search.why_not import Course

    courses = [Course() for _ in groups]
    whole = options._replace(budget=None, worthwhile=False)  # which applies to all together
    answers = [
        _of_group(ask(group, whole, course), group)
        for group, course in zip(groups, courses, strict=True)
    ]
    for stage in STAGES:
        left = [
            (answer, passages)
            for answer, course in zip(answers, courses, strict=True)
            for name, passages in course.stages
            if name == stage
        ]
        if left and stage != BUDGET:
            observe(stage, _merged(left))
    return answers


def _of_group(answer: Answer, group: ModelGroup) -> Answer:
    """Name the workspaces whose vectors took no part."""
    reason = answer.semantic.reason
    if reason is None:
        return answer
    reason = reason._replace(text=f"{', '.join(group.names)}: {reason.text}")
    return answer._replace(semantic=answer.semantic._replace(reason=reason))


def merge_answers(answers: Sequence[Answer], *, options: SearchOptions) -> Answer:
    """Return one answer of as many passages as are wanted; the first answer wins ties.

    Facts that several answers share appear once.

    The match is that of the answer with the first passage, or of the first calibrated one if that
    is not calibrated.
    """
    if len(answers) == 1:
        return answers[0]
    passages = _merged([(answer, answer.passages) for answer in answers])
    best = _leading(answers, passages)
    if options.has("mmr.fold"):
        passages = folded(passages)
    if options.sort != "score":
        passages = in_time(passages, newest=options.sort == "newest")
    top = passages[: options.limit]
    packed, dropped, far = fit_budget(top, budget=options.filled, free=options.free)
    answer = best._replace(
        passages=tuple(packed),
        keyword=next((a.keyword for a in answers if a.keyword.reason), best.keyword),
        semantic=_of_all([answer.semantic for answer in answers]),
        candidates=sum(answer.candidates for answer in answers),
        omitted_over_budget=dropped,
        omitted_low_confidence=far,
        is_measured=False,  # scores of two models cannot be compared
        missing_phrases=_in_all([answer.missing_phrases for answer in answers]),
        split_phrases=_in_all([answer.split_phrases for answer in answers]),
        unmatched=_in_all([answer.unmatched for answer in answers]),
        repaired=next((answer.repaired for answer in answers if answer.repaired), ()),
    )
    is_short = options.worthwhile or options.one_line
    if is_short and all(each.is_off_topic for each in answers):
        return answer.without_passages(OFF_TOPIC)
    if not options.worthwhile:
        return answer
    return cut_to_worthwhile(
        answer, apart=options.by_turn, miss=options.miss_tokens, budget=options.budget
    )


def in_turns(
    ranked: Sequence[Sequence[Ranked]], sureness: Callable[[Ranked], float | None]
) -> Iterator[Ranked]:
    """Merge lists that keep their order, the surest next first; the earlier list wins ties.

    An entry without confidence is as sure as the surest of its rank in the other lists.

    Example: .9 .2 and None None give .9 None .2 None
    """
    known: dict[int, float] = {}
    for each in ranked:
        for rank, value in enumerate(each):
            known[rank] = max(known.get(rank, 0.0), sureness(value) or 0.0)
    at = [0] * len(ranked)

    def next_of(turn: int) -> tuple[float, int, int]:
        own = sureness(ranked[turn][at[turn]])
        return known[at[turn]] if own is None else own, -at[turn], -turn

    while left := [turn for turn, each in enumerate(ranked) if at[turn] < len(each)]:
        turn = max(left, key=next_of)
        yield ranked[turn][at[turn]]
        at[turn] += 1


def _leading(answers: Sequence[Answer], passages: Sequence[RankedPassage]) -> Answer:
    """Choose the answer whose match applies to all `passages`."""
    owners = [
        answer
        for passage in passages
        for answer in answers
        if any(each is passage for each in answer.passages)
    ]
    first = (*owners, *answers)[0]
    if first.uncalibrated is None or first.match == "strong":
        return first
    known = next((answer for answer in owners if answer.uncalibrated is None), first)
    return first if known.is_doubtful else known


def _merged(lists: Sequence[tuple[Answer, Sequence[RankedPassage]]]) -> list[RankedPassage]:
    """Merge the passages of answers by their confidence, as far as it is of the answer's model."""
    result = [
        [(passage, None if answer.uncalibrated else passage.confidence) for passage in passages]
        for answer, passages in lists
    ]
    return [passage for passage, _ in in_turns(result, lambda each: each[1])]


def _of_all(retrievers: Sequence[RetrieverUse]) -> RetrieverUse:
    """Report that vectors took part if any did, and why others did not."""
    return retrievers[0]._replace(
        ran=any(retriever.ran for retriever in retrievers),
        reason=_of_groups(
            [retriever.reason for retriever in retrievers if retriever.reason], len(retrievers)
        ),
        embedded=sum(retriever.embedded for retriever in retrievers),
        total=sum(retriever.total for retriever in retrievers),
    )


def _of_groups(reasons: Sequence[Reason], groups: int) -> Reason | None:
    """Return the first reason with its groups, without their names if it applies to all.

    Each is one of `_of_group`.
    """
    if not reasons:
        return None
    parts = [reason.text.partition(": ") for reason in reasons]
    text = parts[0][2]
    names = [each for each, _, why in parts if why == text]
    return reasons[0]._replace(text=text if len(names) == groups else f"{', '.join(names)}: {text}")


def _in_all(lists: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Keep what every answer contains."""
    return tuple(each for each in lists[0] if all(each in other for other in lists[1:]))
