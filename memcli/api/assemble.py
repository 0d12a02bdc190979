"""Assemble a context: update the index, read the rules and newest entries, search for the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from math import ceil
from typing import Any

from memcli.api import ask
from memcli.api.usage_counts import uses
from memcli.api.workspaces import has_fallback
from memcli.checking import TYPE_CHECKING
from memcli.config.settings import DEFAULT_ORIGIN, Config
from memcli.context.assemble import (
    NEWEST_FILES,
    AssembledContext,
    RetrievedPassages,
    Sharing,
    assemble,
    changed_parts,
    packed_in_order,
    tasks_of,
)
from memcli.context.hops import Following
from memcli.context.parts import ALWAYS, SOFT, ContextPart
from memcli.context.retrieve import find, fixed_of, rank_all
from memcli.errors import Reason
from memcli.indexing.document import UNTRUSTED, USER_FILES
from memcli.indexing.freshness import Freshness
from memcli.indexing.notices import unmatched
from memcli.record import Record
from memcli.render.reasons import absent, match_line, sentence
from memcli.search.authority import Authority
from memcli.search.options import options_of, unobserved
from memcli.search.pipeline import NOTHING as NO_ANSWER
from memcli.search.pipeline import Answer
from memcli.search.question import Question
from memcli.search.recall import scope_within
from memcli.store.qualified_names import private_summaries
from memcli.types import EMPTY, OPEN_SCOPES, PRIVATE, About, Filters, is_memory, memory_path
from memcli.workspace.dating import age_at

if TYPE_CHECKING:
    from memcli.api.workspaces import Workspaces
    from memcli.search.options import Observer
    from memcli.store.port import Snapshot

NOTHING = AssembledContext((), (), "")


class Assembly(Record):
    """A context, and the state of the index behind it."""

    question: Question | None
    freshness: Freshness
    answer: Answer | None  # in the question
    assembled: AssembledContext
    more: int  # chunks that were not ranked for lack of room
    filters: Filters
    revision: str  # of the index
    unmatched: tuple[Reason, ...]  # globs of rules that match no document

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the warnings about the rules."""
        own = (self.assembled.warning,) if self.assembled.warning else ()
        return (*map(sentence, self.unmatched), *own)

    @property
    def remark(self) -> str:
        """Say how the passages differ from the question, if the notice does not; "" if neither."""
        answer, context = self.answer, self.assembled
        if answer is None or (context.left_out and not context.parts):
            return ""
        return absent(answer) if context.notice else match_line(answer)


def sharing_of(setting: Config) -> Sharing:
    """Read how the budget is shared."""
    shares = ("budget", "tail", "always_share", "soft_share", "tail_share", "preference_share")
    return Sharing(
        **{name: setting(f"context.{name}") for name in shares},
        by_lines=setting("chunk.overlap") > 0,
        is_tail_set=setting.values["context.tail"].origin != DEFAULT_ORIGIN,
    )


def context_of(
    memory: Workspaces,
    text: str,
    question_date: date,
    sharing: Sharing,
    *,
    sync: bool | None = None,
    observe: Observer = unobserved,
) -> Assembly:
    """Assemble the context for a question, or without one for the start of a session.

    The question has a day or a moment; for `sync` see `ask.bring_up_to_date`. `observe` gets the
    result of each search stage.
    """
    if not text.strip():
        return session_start(memory, question_date, sharing, sync=sync)
    question = Question.by(memory.config, text, question_date, hint="memcli context")
    return _of_a_question(memory, question, sharing, sync=sync, observe=observe)


@has_fallback
def _of_a_question(
    memory: Workspaces,
    question: Question,
    sharing: Sharing,
    *,
    sync: bool | None,
    observe: Observer,
) -> Assembly:
    sharing = sharing._replace(has_question=True)
    filters = Filters(view=memory.config("search.view"))
    index = memory.index_model()
    options = options_of(memory.config, filters=filters)
    options = ask.with_runtime(memory, options, index)
    vector = ask.begin_vector(memory.lead, question, options, index)
    freshness = ask.bring_up_to_date(memory, index, options.mode, sync=sync)
    if freshness.state == EMPTY:
        return _without_answer(memory, question, freshness, filters)
    memory = memory.without_failed(freshness)
    with memory.store.snapshot() as snapshot:
        missing = unmatched(memory.config.sources, snapshot.known)
        fixed = fixed_of(snapshot, sharing, filters)
        groups = ask.model_groups(memory, snapshot, question, options, vector)
        config = memory.config
        roots = {source.name: source.root for source in config.sources}
        following = Following(roots, config("context.hop_eta"), config("context.hop_theta"))
        answer, parts = find(
            snapshot, question, options, fixed,
            groups=groups, following=following, observe=observe,
        )  # fmt: skip
    assembled = assemble(fixed, parts, sharing)
    semantic = ask.hint_for_all(memory, answer.semantic)
    answer = answer._replace(semantic=semantic, of_some=not freshness.is_whole)
    freshness = ask.naming_models(freshness, groups)
    return Assembly(question, freshness, answer, assembled, 0, filters, answer.revision, missing)


@has_fallback
def session_start(
    memory: Workspaces,
    question_date: date,
    sharing: Sharing,
    *,
    since_ns: int | None = None,
    sync: bool | None = None,
) -> Assembly:
    """Assemble the start of a session: rules and lasting facts, open tasks, then what is new.

    `since_ns` is the start of the session before: later changes are new. Without it, the
    newest entries and the most important notes follow. Private notes, and summaries of them, are
    left out; summaries replace the lines they cover.
    """
    view = memory.config("search.view")
    filters = Filters(view="active" if view == "all" else view)
    freshness = ask.bring_up_to_date(memory, memory.index_model(), "keyword", sync=sync)
    if freshness.state == EMPTY:
        return _without_answer(memory, None, freshness, filters)
    memory = memory.without_failed(freshness)
    of_all = filters._replace(scopes=OPEN_SCOPES)
    if since_ns is not None:
        sharing = sharing._replace(tail=0, tail_share=0.0)
    chosen: Sequence[ContextPart] = ()
    rest = 0
    with memory.store.snapshot() as snapshot:
        missing = unmatched(memory.config.sources, snapshot.known)
        is_open = _openness(snapshot)
        known = snapshot.known()
        newest = sorted(known, key=lambda key: (-known[key].mtime_ns, key))[:NEWEST_FILES]
        chunks = snapshot.excerpts_of(sorted(newest), scope_within(snapshot, of_all))
        facts = [key for key in known if is_memory(key[0]) and key[1] in USER_FILES]
        lasting = snapshot.excerpts_of(
            sorted(facts), scope_within(snapshot, of_all._replace(trusts=("trusted",)))
        )
        # What is known of the user is short, and comes first.
        lasting = sorted(lasting, key=lambda each: USER_FILES.index(each.about.path), reverse=True)
        fixed = fixed_of(snapshot, sharing, of_all, is_open, lasting=lasting, newest=chunks)
        revision = str(snapshot.facts.revision)
        if since_ns is None:
            chosen, rest = rank_all(
                snapshot,
                fixed,
                of_all,
                Authority.read(memory.config)._replace(uses=uses(memory).counts),
                budget=sharing.budget,
                age_days=lambda written: age_at(written, question_date),
            )
    own = [
        each for each in chunks if is_open(each.about) and each.about.document not in fixed.rules
    ]
    order = sorted(own, key=lambda each: newest.index(each.about.document))
    # Not by time of writing, which differs in each clone; undated files come first.
    dated = sorted(own, key=lambda each: each.about.date or "9999", reverse=True)
    fixed = fixed._replace(
        parts=packed_in_order(fixed.parts, tasks_of(dated), budget=sharing.budget)
    )
    if since_ns is not None:
        changed = {key for key in newest if known[key].mtime_ns > since_ns}
        parts = packed_in_order(fixed.parts, changed_parts(order, changed), budget=sharing.budget)
        assembled = AssembledContext(_with_marks(parts), (), fixed.warning)
        return Assembly(None, freshness, None, assembled, 0, filters, revision, missing)
    chosen = [part for part in chosen if is_open(part.excerpt.about)]
    assembled = assemble(fixed, RetrievedPassages(chosen), sharing)
    assembled = assembled._replace(parts=_with_marks(assembled.parts))
    more = max(0, rest - len(chosen))
    return Assembly(None, freshness, None, assembled, more, filters, revision, missing)


def _with_marks(parts: Iterable[ContextPart]) -> tuple[ContextPart, ...]:
    """Mark parts as untrusted that order a model, except for the rules of the owner."""
    from memcli.remember.orders import is_plain_order

    return tuple(
        part._replace(excerpt=part.excerpt._replace(about=about._replace(trust=UNTRUSTED)))
        if (about := part.excerpt.about).trust != UNTRUSTED
        and part.section not in (ALWAYS, SOFT)
        and is_plain_order(part.text)
        else part
        for part in parts
    )


def _openness(snapshot: Snapshot) -> Callable[[About], bool]:
    """Return a test that accepts excerpts, except private notes and their summaries."""
    hidden = private_summaries(snapshot) or frozenset()

    def is_open(about: About) -> bool:
        of_memory = is_memory(about.source)
        name = memory_path(about.source, about.path) if of_memory else ""
        return about.scope != PRIVATE and name not in hidden

    return is_open


def _without_answer(
    memory: Workspaces, question: Question | None, freshness: Freshness, filters: Filters
) -> Assembly:
    """Return an empty context: there is no index, or it is empty."""
    is_known = freshness.state == EMPTY
    missing = unmatched(memory.config.sources, tuple) if is_known else ()
    return Assembly(question, freshness, None, NOTHING, 0, filters, "0", missing)


def context_record(
    assembly: Assembly, config: Config, *, budget: int, now: str, whole: bool = False
) -> dict[str, Any]:
    """Describe a context; `now` is the ISO time of the question.

    Only a `whole` record has the keys that few programs need.
    """
    from memcli.render import jsonio

    assembled, answer = assembly.assembled, assembly.answer or NO_ANSWER
    parts = map(_part, assembled.parts)
    record = {
        "schema": "memcli.context/1",
        "query": assembly.question.text if assembly.question else None,
        "dates": jsonio.dates_of(answer.dates),
        "now": now,
        "budget": budget,
        "tokens": assembled.tokens,
        "tokens_saved": assembled.saved,
        **jsonio.freshness_fields(assembly.freshness),
        **jsonio.implicit_sources(config),
        "match": answer.match if assembly.answer else None,
        **jsonio.match_reasons(answer),
        "retrievers": jsonio.retrievers(answer) if assembly.answer else None,
        **jsonio.repairs(answer),
        **jsonio.reranked(answer),
        **jsonio.speaker_match(answer),
        "parts": [*parts] if whole else [*map(jsonio.few, parts)],
        "omitted": len(assembled.left_out) + assembly.more,
        "warnings": list(assembly.warnings),
    }
    return record if whole else jsonio.few_of_answer(record)


def _part(part: ContextPart) -> dict[str, Any]:
    from memcli.render.jsonio import date_of, source_of

    about = part.excerpt.about
    record: dict[str, Any] = {
        "section": part.section,
        "ref": about.ref,
        "path": about.path,
        **source_of(about.source),
        "start_line": about.start_line,
        "end_line": about.end_line,
        "heading_path": list(about.heading_path),
        "title": about.title,
        **date_of(about),
        "citation": about.citation,
        "kind": about.kind,
        "source_kind": about.source_kind,
        "scope": about.scope,
        "trust": about.trust,
        "tokens": ceil(part.cost),
        "text": part.text,
    }
    if part.score is not None:
        record["score"] = part.score
    if part.corrected_by:
        record["corrected_by"] = [each.record for each in part.corrected_by]
    if part.via is not None:
        record["via"] = part.via
    return record
