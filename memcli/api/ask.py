"""Answer a question: embed it while the index is updated, then run the search pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import inf

from memcli.api.workspaces import has_fallback
from memcli.checking import TYPE_CHECKING
from memcli.embedding.encoders import IndexModel, Vector
from memcli.embedding.models import is_readable, readable
from memcli.errors import IndexMissingError, Reason, StoreError, UsageError
from memcli.indexing.freshness import WAIT_SECONDS, Bounds, Freshness, freshen, look
from memcli.record import Record
from memcli.search.options import unobserved
from memcli.search.pipeline import NOTHING, Answer, search
from memcli.search.retrievers import MODE_IS_KEYWORD, RetrieverUse
from memcli.search.summaries import ExpandedLines
from memcli.types import EMPTY, Encoder, Filters

if TYPE_CHECKING:
    from memcli.api.superseded import Superseded
    from memcli.api.workspace import Workspace
    from memcli.api.workspaces import Workspaces
    from memcli.search.federation import ModelGroup
    from memcli.search.options import Observer, SearchOptions
    from memcli.search.question import Question
    from memcli.search.ranked import Correction
    from memcli.store.port import Snapshot
    from memcli.store.records import Key

MOST_SPEAKERS = 8  # the code of an error
WITHOUT_BOUND = 10**9
INDEX = "memcli index"


class SearchResult(Record):
    """The answer to a question, and whether the index was up to date."""

    question: Question
    freshness: Freshness
    answer: Answer
    expanded: tuple[ExpandedLines, ...] = ()
    empty_reason: Reason | None = None  # why there are no passages, if known
    superseded: Mapping[str, Sequence[Superseded]] | None = None  # by the citation of a passage
    # Corrected lines of the passages and around them, by document; only if these are printed.
    around: Mapping[Key, Sequence[tuple[range, Correction]]] = {}

    @property
    def is_sure(self) -> bool:
        """Return whether a passage has enough confidence."""
        return bool(self.answer.passages) and not self.answer.is_doubtful


@has_fallback
def ask(
    memory: Workspaces,
    question: Question,
    options: SearchOptions,
    *,
    expand: bool = False,
    sync: bool | None = None,
    observe: Observer = unobserved,
) -> SearchResult:
    """Answer a question; for `sync` see `bring_up_to_date`.

    With `expand`, add the source lines behind summaries, within `expand.tokens`.
    """
    from memcli.search.reading_value import asks_for_several

    if options.limit_of_several and (options.of_several or asks_for_several(question.text)):
        options = options._replace(limit=options.limit_of_several)
    index = memory.index_model()
    options = with_runtime(memory, options, index)
    vector = begin_vector(memory.lead, question, options, index)
    freshness = bring_up_to_date(memory, index, options.mode, sync=sync)
    if freshness.state == EMPTY:
        return SearchResult(question, freshness, NOTHING)
    memory = memory.without_failed(freshness)
    if index.fingerprint is None and options.mode == "hybrid":  # it may be new
        now = memory.index_model()
        if now.language.startswith("other"):
            index, vector = now, begin_vector(memory.lead, question, options, now)
            from memcli.embedding.registry import announcement

            reason = announcement(memory.lead.encoders(), index._replace(fingerprint=None))
            if reason:
                freshness = freshness._replace(notices=(*freshness.notices, reason))
    if sync is not False and options.mode == "hybrid" and not memory.members:
        embed_first(memory.lead, question, options, index)
    if options.filters.by:
        options = options._replace(filters=with_speakers(memory, options.filters))
    expanded: Sequence[ExpandedLines] = ()
    if not (expand or memory.members):
        answer = ask_as_it_is(memory, question, options, vector=vector, observe=observe)
    else:
        with memory.store.snapshot() as snapshot:
            groups = model_groups(memory, snapshot, question, options, vector)
            freshness = naming_models(freshness, groups)
            if expand:
                from memcli.search.expansion import search_expanded

                answer, expanded = search_expanded(
                    snapshot, groups, question, options, tokens=memory.config("expand.tokens")
                )
            else:
                answer = _of_groups(groups, question, options, observe)
    nothing = _nothing(memory, question, options, answer)
    semantic = hint_for_all(memory, answer.semantic)
    answer = answer._replace(semantic=semantic, of_some=not freshness.is_whole)
    result = SearchResult(question, freshness, answer, tuple(expanded), nothing)
    return _listed(result, options) if options.one_line else result


def _listed(result: SearchResult, options: SearchOptions) -> SearchResult:
    """Narrow the passages to the lines of a list."""
    from memcli.search.filler import without_filler
    from memcli.search.reading_value import best_lines

    answer = result.answer
    passages = best_lines(
        without_filler(answer.passages, answer.words),
        answer.words,
        is_measured=answer.is_measured and options.mode != "keyword",
        by_keyword=options.mode == "keyword",
        of_writer=answer.of_writer,
        of_several=answer.of_several,
    )
    return result._replace(answer=answer._replace(passages=passages))


def _of_groups(
    groups: Sequence[ModelGroup], question: Question, options: SearchOptions, observe: Observer
) -> Answer:
    from memcli.search.federation import BUDGET, merge_answers, search_each

    answers = search_each(groups, question, options, observe=observe)
    answer = merge_answers(answers, options=options)
    if len(answers) > 1:
        observe(BUDGET, answer.passages)
    return answer


def model_groups(
    memory: Workspaces,
    snapshot: Snapshot,
    question: Question,
    options: SearchOptions,
    vector: Callable[[str], Vector],
) -> list[ModelGroup]:
    """Group the workspaces by the model of their vectors, if vectors are searched.

    `vector` comes from `begin_vector`; `options` are those of the first workspace.
    """
    from memcli.search.federation import ModelGroup

    own = ModelGroup((), snapshot, options.encoder, options.reranker, vector)
    parts = memory.by_model(snapshot) if options.mode != "keyword" else ()
    if len(parts) < 2:
        return [own]
    groups = []
    for names, workspace, part in parts:
        if workspace is memory.lead:
            groups.append(own._replace(names=names, snapshot=part))
            continue
        index, encoder = workspace.index_model(), workspace.config("embedding.encoder")
        vector = begin_vector(workspace, question, options._replace(encoder=encoder), index)
        groups.append(ModelGroup(names, part, encoder, workspace.reranker(index), vector))
    return groups


def naming_models(freshness: Freshness, groups: Sequence[ModelGroup]) -> Freshness:
    """Add a notice with the workspaces that use another model than the first."""
    others = [name for group in groups[1:] for name in group.names]
    if not others:
        return freshness
    text = (
        f"{', '.join(others)}: the vectors are from another model; memcli searches with each model"
        " and merges the passages by confidence"
    )
    other = Reason("other-model", text, "memcli help workspaces")
    return freshness._replace(notices=(*freshness.notices, other))


def hint_for_all(memory: Workspaces, retriever: RetrieverUse) -> RetrieverUse:
    """Make the hint of a retriever that did not run apply to all workspaces.

    While a process makes the missing vectors, the hint is its progress.
    """
    reason = retriever.reason
    if reason is None or reason.hint != INDEX:
        return retriever
    work = indexing_of(memory) if reason.code == "not-embedded" else None
    reason = work or reason._replace(hint=f"{INDEX} {memory.named_by}".rstrip())
    return retriever._replace(reason=reason)


def indexing_of(memory: Workspaces) -> Reason | None:
    """Return the progress of a process that indexes a workspace now, if there is one."""
    from memcli.indexing.progress import indexing
    from memcli.store.lock import owner

    stores = (each.store for each in memory.opened if each.has_files)
    return next((reason for store in stores if (reason := indexing(owner(store.state_path)))), None)


def with_speakers(memory: Workspaces, filters: Filters) -> Filters:
    """Replace names and roles by the speakers; UsageError if no speaker has the name."""
    from memcli.search.speakers import labels_of

    with memory.store.snapshot() as snapshot:
        speakers = snapshot.speakers()
    names: list[str] = []
    for name in filters.by:
        labels = labels_of(name, speakers)
        if not labels:
            raise _nobody(name, speakers)
        names += labels
    return filters._replace(by=tuple(dict.fromkeys(names)))


def _nobody(name: str, speakers: Sequence[str]) -> UsageError:
    if not speakers:
        return UsageError(
            f"no document is the transcript of a conversation, so nobody is called {name}",
            hint="memcli help conversations",
        )
    from difflib import get_close_matches

    from memcli.markdown.turns import MIN_TURNS

    near = get_close_matches(name, [*speakers], n=1)
    more = f" and {len(speakers) - MOST_SPEAKERS} more" if len(speakers) > MOST_SPEAKERS else ""
    return UsageError(
        f"no speaker is called {name!r} (a name needs {MIN_TURNS} turns in a file); the speakers"
        f" are {', '.join(speakers[:MOST_SPEAKERS])}{more}",
        hint=f'--by "{near[0]}"' if near else "memcli help conversations",
    )


def _nothing(
    memory: Workspaces, question: Question, options: SearchOptions, answer: Answer
) -> Reason | None:
    """Return why the answer is empty: a missing phrase, or a filter."""
    if answer.passages or answer.omitted_over_budget:
        return None
    from memcli.render.reasons import quoted

    if answer.missing_phrases:
        return Reason("phrase", f"no document contains {quoted(answer.missing_phrases)}")
    is_filtered = options.filters != Filters(view=options.filters.view)
    if is_filtered:
        from memcli.search.empty_result import blocking_filter

        with memory.store.snapshot() as snapshot:
            reason = blocking_filter(snapshot, options.filters)
        if reason is not None:
            return reason
    words = tuple(question.query.phrases)
    if question.query.excluded and not is_filtered and answer.match_reason is None:
        words = words or _in_notes(memory, question)
    if not words or not (is_filtered or question.query.excluded):
        return None
    by = "the filters" if is_filtered else "excluded words"
    return Reason("phrase", f"passages with {quoted(words)} are removed by {by}")


def _in_notes(memory: Workspaces, question: Question) -> tuple[str, ...]:
    """Return the words of a question that notes contain."""
    terms = {each.text: term for each in question.query.counted_terms if (term := each.index_term)}
    with memory.store.snapshot() as snapshot:
        counts = snapshot.frequencies([*terms.values()])
    return tuple(text for text, count in zip(terms, counts, strict=True) if count)


def ask_as_it_is(
    memory: Workspaces,
    question: Question,
    options: SearchOptions,
    *,
    vector: Callable[[str], Vector] | None = None,
    observe: Observer = unobserved,
) -> Answer:
    """Answer from the index without checking the files."""
    if vector is None:
        index = memory.index_model()
        options = with_runtime(memory, options, index)
        vector = begin_vector(memory.lead, question, options, index)
    with memory.store.snapshot() as snapshot:
        return search(
            snapshot,
            question.query,
            question.dates,
            options,
            embed_query=vector,
            age_days=question.age_days,
            observe=observe,
        )


def with_runtime(memory: Workspaces, options: SearchOptions, index: IndexModel) -> SearchOptions:
    """Add what is not a setting: the reranker, fitted constants, use counts."""
    if memory.config("access.count") and options.profile.formula == "two-pass":
        from memcli.api.usage_counts import uses
        from memcli.search.published_profiles import TwoPass

        formula = TwoPass.read(memory.config)
        weights = formula.authority._replace(uses=uses(memory).counts)
        options = options._replace(formula=formula._replace(authority=weights))
    return options._replace(
        reranker=memory.lead.reranker(index), calibrations=memory.lead.calibrations()
    )


def embed_first(
    workspace: Workspace, question: Question, options: SearchOptions, index: IndexModel
) -> None:
    """Embed the best keyword matches if the folder is not embedded yet."""
    config = workspace.config
    is_live = workspace.state is None and config("sync.on_search") and config("sync.segments")
    if options.encoder == "none" or not is_live:
        return
    with suppress(IndexMissingError, StoreError), workspace.store.snapshot() as snapshot:
        counts = snapshot.counts()
        if counts.embedded < counts.embeddable:
            from memcli.api.first_vectors import embed_matches

            embed_matches(workspace, snapshot, question.query, options.filters, index)


def begin_vector(
    workspace: Workspace, question: Question, options: SearchOptions, index: IndexModel
) -> Callable[[str], Vector]:
    """Start to embed a question if its vector is needed, and return a function that waits for it.

    The function takes the final text, because words of the question may be corrected meanwhile.
    """
    if options.mode == "keyword":
        return lambda text: Vector(None, "", MODE_IS_KEYWORD)
    from memcli.search.retrievers import QueryVector

    text, model = question.query.text, index.fingerprint or options.encoder
    vector = QueryVector(lambda: workspace.query_encoder, readable(text, model), index)
    if is_readable(text, model):
        vector.start()
    return vector.result


def bring_up_to_date(
    memory: Workspaces, index: IndexModel | None, mode: str, *, sync: bool | None
) -> Freshness:
    """Update the index within the configured bounds; report if another index replaces it.

    True reads every change and waits for another writer; False leaves the index unchanged. `index`
    is the result of `remembered`; None calls it if texts must be embedded.
    """
    if memory.members:
        from memcli.api.several_workspaces import update_each

        return update_each(
            memory.members, lambda each: _updated_freshness(each, None, mode, sync=sync)
        )
    return _updated_freshness(memory.lead, index, mode, sync=sync)


def _updated_freshness(
    workspace: Workspace, index: IndexModel | None, mode: str, *, sync: bool | None
) -> Freshness:
    if workspace.state is not None:
        freshness = workspace.state.freshness(workspace, sync=sync)
    else:
        freshness = _update_index(workspace, index, mode, sync=sync)
    repaired, workspace.repair_notices = workspace.repair_notices, ()
    freshness = freshness._replace(notices=(*repaired, *freshness.notices))
    why, behind = workspace.fallback_reason, freshness.reason
    if why is None:
        return freshness
    return freshness._replace(
        reason=behind._replace(text=f"{behind.text}; {why.text}") if behind else why
    )


def _update_index(
    workspace: Workspace, index: IndexModel | None, mode: str, *, sync: bool | None
) -> Freshness:
    config = workspace.config
    if sync is False or not (config("sync.on_search") or sync):
        return look(workspace.store, workspace.index_settings())

    def encoder() -> Encoder | None:
        known = index if index and index.fingerprint else workspace.index_model()
        few = None if sync else workspace.query_encoder.encoder(known)
        return few or workspace.open_encoder_of(known).encoder

    embeds = mode != "keyword" and config("embedding.encoder") != "none"
    bounds = Bounds(
        seconds=inf if sync else config("sync.seconds"),
        segments=(WITHOUT_BOUND if sync else config("sync.segments")) if embeds else 0,
        first=WITHOUT_BOUND if sync else config("sync.first"),
        wait_seconds=WAIT_SECONDS if sync else 0.0,
        monotonic=workspace.clock.monotonic,
    )
    return freshen(
        workspace.store,
        workspace.index_settings(),
        bounds,
        encoder,
        workspace.clock.sleep,
        on_progress=workspace.on_progress,
    )
