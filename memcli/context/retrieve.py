"""Find the passages for a question, or the most important ones without a question."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from math import ceil
from operator import not_

from memcli.checking import TYPE_CHECKING
from memcli.context import hops
from memcli.context.assemble import FixedParts, RetrievedPassages, Sharing, fix
from memcli.context.packing import CitedLine, cited, touches
from memcli.context.parts import PASSAGES, ContextPart, make_part, part_of_lines
from memcli.context.preferences import touching
from memcli.language.tense import asks_about_past
from memcli.markdown.comments import visible
from memcli.markdown.links import CORRECTS, related_targets
from memcli.search.claims import has_change, stems_of
from memcli.search.confidence import GOOD
from memcli.search.corrections import POOL, Corrections, corrections, near
from memcli.search.cursor import cursor_of
from memcli.search.federation import ModelGroup, in_turns, merge_answers, search_each
from memcli.search.focus import Width
from memcli.search.lines import Run, by_line, narrower
from memcli.search.options import InternalOptions, SearchOptions, unobserved
from memcli.search.pipeline import MMR_POOL, OFF_TOPIC, Answer, cut_to_worthwhile
from memcli.search.query import ParsedQuery
from memcli.search.ranked import Correction, Quotation, RankedPassage
from memcli.search.recall import scope_within
from memcli.search.validity import scope_of
from memcli.store.documents import (
    IndexedDocument,
    Linking,
    TitledDocument,
    with_chunks,
)
from memcli.store.records import Key, Scope
from memcli.types import MEMORY_SOURCE, PRIVATE, About, Excerpt, Filters, is_memory
from memcli.workspace.dating import moment_of

if TYPE_CHECKING:
    from memcli.context.tail import TailEntry
    from memcli.search.authority import Authority
    from memcli.search.options import Observer
    from memcli.search.question import Question
    from memcli.store.port import Snapshot

# Passages are narrower than those of a search. Neighbours share a fence here, so a line that is
# left out and found by itself costs no more. Recall in 2000 tokens including fences, mean of five
# LoCoMo conversations: .4 gives .893, .45 .895, .5 .893. Only .45 is on none of them below `search
# --budget 2000 --limit 100` (mean .893), which counts only texts.
KEEP_SHARE = 0.45
# Behind the first FREE passages a score below this share of the best one is not worth its tokens.
# On the same conversations .3 leaves recall in 2000 tokens as it is, .35 loses .002 of it.
FLOOR_SHARE = 0.3
FREE = 3
# The cost of an answer that ends too early, in tokens: more than in a search, because a prompt
# is not asked again. On LoCoMo 26 and 30 a context prints .71 as much as without an end, and has no
# less of the evidence in its first 800 tokens; of all evidence it loses .008. See `reading_value`.
MISS = 1500
COMPARED = 20  # best passages for which newer lines are looked up
PARENTS = 8  # best passages whose links are followed
# A question about several things: `the pool, the webhooks and the logs`.
_LISTS = re.compile(r"(?i),\s[^,?!.]+,?\s(?:and|or|und|oder|y|o|et|ou)\s")
_SCOPES = ("user", PRIVATE, "session", "global")
# The logs of sessions, whose newest entries are the tail of a context.
LOGS = Scope(
    Filters(sources=(MEMORY_SOURCE,), kinds=("log",), scopes=("session",), trusts=("trusted",))
)
# The authority of a document that does not set it.
UNSAID_AUTHORITY = 1.0


def fixed_of(
    snapshot: Snapshot,
    sharing: Sharing,
    filters: Filters,
    may_show: Callable[[About], bool] = lambda about: True,
    *,
    lasting: Sequence[Excerpt] = (),
    newest: Sequence[Excerpt] = (),
) -> FixedParts:
    """Return what a context contains for any question: rules, soft rules and the newest entries.

    `lasting` are facts that come before the soft rules. Lines that newer notes correct are marked;
    `filters` limit these notes, and `newest` may contain more of them.
    """

    def rules(*, soft: bool) -> list[list[Excerpt]]:
        # The documents of highest authority come first; the others keep their order.
        documents = sorted(
            snapshot.marked(soft=soft),
            key=lambda d: -(UNSAID_AUTHORITY if d.authority is None else d.authority),
        )
        return [[each for each in one.excerpts if may_show(each.about)] for one in documents]

    always = [document for document in rules(soft=False) if document]
    soft = [excerpt for document in rules(soft=True) for excerpt in document]
    shown = {each.about.document for own in (*always, soft) for each in own}
    facts = [each for each in lasting if each.about.document not in shown]

    def fixed(marks: int = 0) -> FixedParts:
        tail = _tail(snapshot) if sharing.tail else ()
        return fix(always, soft, tail, sharing._replace(marks=marks), facts)

    made = fixed()
    passages = _quoted(made.parts)
    pool = near(snapshot, passages, scope_within(snapshot, filters))
    pool += [
        Quotation(each.about, each.text)
        for each in newest
        if each.about.date and (CORRECTS in each.text or has_change(each.text))
    ]
    newer = corrections(snapshot, [each for each in pool if may_show(each.about)], passages)
    marked = [_marked(part, newer) for part in made.parts]
    if marks := ceil(sum(part.cost for part in marked) - sum(part.cost for part in made.parts)):
        made = fixed(marks)
        marked = [_marked(part, newer) for part in made.parts]
    return made._replace(parts=tuple(marked))


def _tail(snapshot: Snapshot) -> Iterator[TailEntry]:
    """Read the newest entries; only a context with a tail loads this code."""
    from memcli.context.tail import entries

    yield from entries(snapshot.newest(LOGS))


def find(
    snapshot: Snapshot,
    question: Question,
    options: SearchOptions,
    fixed: FixedParts,
    *,
    groups: Sequence[ModelGroup],
    following: hops.Following,
    observe: Observer = unobserved,
) -> tuple[Answer, RetrievedPassages]:
    """Answer a question from the rest of the memory, then follow links from its best passages.

    `groups` are the contents of the snapshot, by the models of their vectors; `following` says how
    links are followed. Soft rules that did not fit are found if the question is about them.
    """
    # In a prompt, quotation marks do not demand an exact phrase.
    inner = InternalOptions(
        width=Width(share=KEEP_SHARE), demands_phrases=False, outside=fixed.chunk_ids
    )
    wide = options._replace(limit=MMR_POOL, budget=None, inner=inner)
    answers = search_each(groups, question, wide, observe=observe)
    if all(each.is_off_topic for each in answers):  # a search prints none of it either
        answers = [each.without_passages(OFF_TOPIC) for each in answers]
    answer = merge_answers(answers, options=wide)
    without_rules = [_without_soft_rules(each, fixed) for each in answers]
    if answer.is_strong and not _LISTS.search(question.text):  # it ends where a search does
        sure = cut_to_worthwhile(merge_answers(without_rules, options=wide), miss=MISS)
        passages, low = sure.passages, sure.left
    else:
        worth, idle = split_by_worth(without_rules)
        passages, low = (
            merge_answers(worth, options=wide).passages,
            merge_answers(idle, options=wide).passages,
        )
    chunks = snapshot.excerpts(list({passage.about.chunk_id for passage in (*passages, *low)}))
    parts = [_part(each, chunks[each.about.chunk_id], answer.words) for each in passages]
    below = [_part(each, chunks[each.about.chunk_id]) for each in low]
    linked = _hops(snapshot, parts[:PARENTS], fixed, following)
    offered = raw_first(with_hops(parts, linked))
    nearest = _preferences(groups, answers, question.query, fixed)
    shown = _quoted([*nearest, *offered[:COMPARED]])
    pool = near(snapshot, shown, scope_within(snapshot, options.filters))
    pool += [Quotation(passage.about, passage.candidate.text) for passage in answer.fused[:POOL]]
    newer = corrections(snapshot, pool, shown)
    return answer, RetrievedPassages(
        newer_lines_first(snapshot, offered, newer, question.text),
        below,
        answer.is_doubtful,
        answer.named_speakers if answer.is_of_others else (),
        [_marked(part, newer) for part in nearest],
        is_of_one_scale=len(groups) == 1,
    )


def _without_soft_rules(answer: Answer, fixed: FixedParts) -> Answer:
    """Leave out soft rules that the question does not ask for."""
    passages = (
        h for h in answer.passages if h.about.chunk_id not in fixed.cut_ids or _is_requested(h)
    )
    return answer._replace(passages=tuple(passages))


def _preferences(
    groups: Sequence[ModelGroup], answers: Sequence[Answer], query: ParsedQuery, fixed: FixedParts
) -> list[ContextPart]:
    """Return the preferences about the subject, those of several groups in turns."""
    vectors = [
        group.embed_query(query.text).blob if answer.semantic.ran else None
        for group, answer in zip(groups, answers, strict=True)
    ]
    parts = [
        touching(group.snapshot, query, vector, fixed.chunk_ids)
        for group, vector in zip(groups, vectors, strict=True)
    ]
    return list(in_turns(parts, lambda _: None))


def _is_requested(passage: RankedPassage) -> bool:
    return passage.candidate.literal or (passage.confidence or 0.0) >= GOOD


def split_by_worth(answers: Sequence[Answer]) -> tuple[list[Answer], list[Answer]]:
    """Split the passages of each answer into those worth their tokens and the others, by rank.

    A passage is compared with the best of its own answer. If an answer is far less sure than the
    surest, none of its passages is worth its tokens.
    """
    sure = [
        0.0
        if answer.uncalibrated
        else max((passage.confidence or 0.0 for passage in answer.passages), default=0.0)
        for answer in answers
    ]
    least = FLOOR_SHARE * max(sure)
    worthy: list[Answer] = []
    below: list[Answer] = []
    for answer, own in zip(answers, sure, strict=True):
        is_far = answer.uncalibrated is None and own < least
        floor = FLOOR_SHARE * max((passage.score for passage in answer.passages), default=0.0)
        are_idle = [
            is_far or passage.score <= 0 or (rank >= FREE and passage.score < floor)
            for rank, passage in enumerate(answer.passages)
        ]
        worth = compress(answer.passages, map(not_, are_idle))
        worthy.append(answer._replace(passages=tuple(worth)))
        below.append(answer._replace(passages=tuple(compress(answer.passages, are_idle))))
    return worthy, below


def raw_first(parts: Sequence[ContextPart]) -> list[ContextPart]:
    """Put summaries whose source lines were found after everything else."""
    cites = [(part, cited(part)) for part in parts]
    raw = [part for part, lines in cites if not lines]

    def is_shown(each: tuple[ContextPart, Sequence[CitedLine]]) -> bool:
        return any(touches(part, line) for line in each[1] for part in raw)

    return [part for part, _ in sorted(cites, key=is_shown)]


def with_hops(
    parts: Sequence[ContextPart], linked: Sequence[hops.LinkedPassage]
) -> list[ContextPart]:
    """Put each target after the passage that links to it, before the first with a lower score.

    If the target was found itself with a better score, it stays in its place. Otherwise its chunk
    replaces the lines that were found. The other passages keep their order.
    """
    ranked = list(parts)
    for hop in linked:
        own = [p for p in ranked if p.excerpt.about.chunk_id == hop.excerpt.about.chunk_id]
        if any((part.score or 0.0) >= hop.score for part in own):
            continue
        ranked = [part for part in ranked if part not in own]
        part = make_part(PASSAGES, hop.excerpt, score=hop.score, via=hop.via)
        behind = (n + 1 for n, p in enumerate(ranked) if p.excerpt.about.citation == hop.via)
        later = range(next(behind, 0), len(ranked))
        at = next((i for i in later if (ranked[i].score or 0.0) < hop.score), len(ranked))
        ranked.insert(at, part)
    return ranked


def rank_all(
    snapshot: Snapshot,
    fixed: FixedParts,
    filters: Filters,
    authority: Authority,
    *,
    budget: int,
    age_days: Callable[[str], float],
) -> tuple[list[ContextPart], int]:
    """Rank the rest of the memory only by omega, and give as much as fits in `budget` tokens.

    The second value is the number of chunks of the rest. `age_days` gets the day of a document, or
    the moment at which it was written. Ties go to trusted documents, then to important ones, to
    those about the user, to the memory before other sources, then by path and line.
    """

    def omega(document: IndexedDocument) -> float:
        day = document.date
        age = age_days(moment_of(document.front_matter, day) or day) if day else None
        used = authority.frequency_of((document.source, document.path))
        return authority.omega(age, document.authority, used)

    scope = scope_of(filters, snapshot.supports())
    rated, shown = with_chunks(snapshot.documents(scope)), fixed.chunk_ids | fixed.cut_ids
    rest = sum(document.chunks for document in rated) - len(shown)
    ranked = [d for d in rated if (d.source, d.path) not in fixed.rules]
    authority = authority.among((d.source, d.path) for d in ranked)
    documents = sorted(
        ranked,
        key=lambda d: (
            -omega(d), d.trust != "trusted", -(d.importance or 0.0), _SCOPES.index(d.scope),
            not is_memory(d.source), d.source, d.path,
        ),
    )  # fmt: skip
    parts: list[ContextPart] = []
    left = float(budget)
    for document in documents:
        for excerpt in snapshot.excerpts_of([(document.source, document.path)], scope):
            if excerpt.about.chunk_id not in shown:
                parts.append(make_part(PASSAGES, excerpt, score=omega(document)))
                left -= parts[-1].body
        if left < 0:
            break
    pool = [Quotation(part.excerpt.about, part.spans[0].chunk.text) for part in parts]
    return newer_lines_first(snapshot, parts, corrections(snapshot, pool, ())), rest


def _part(passage: RankedPassage, chunk: Excerpt, words: Sequence[str] = ()) -> ContextPart:
    """Make a part of the lines of a passage; with `words`, it may be cut around the best line."""
    start = 0 if passage.is_whole else passage.candidate.segments[passage.first].start
    shown = make_part(
        PASSAGES, chunk, window=(start, start + len(passage.text)), score=passage.score
    )
    cuts = tuple(_cuts(passage, words)) if words else ()
    return shown._replace(cuts=cuts, corrected_by=passage.corrected_by)


def newer_lines_first(
    snapshot: Snapshot, parts: Sequence[ContextPart], newer: Corrections, question: str = ""
) -> list[ContextPart]:
    """Mark the parts that a newer line corrects, and put the newer lines before the first of them.

    A newer line that corrects what the question does not ask about comes after the part. If every
    line of a part is corrected, it is left out: the budget pays for what is true now. A question
    about the past keeps it.
    """
    ranked: list[ContextPart] = []
    keeps_past = asks_about_past(question)
    for part in parts:
        marked, behind = _marked(part, newer), list[ContextPart]()
        quoted, words = _quoted([part]), stems_of(question)
        citations = {line.citation for each in quoted for line in newer.of(each, words)}
        for line in marked.corrected_by:
            if not any(_has(other.excerpt.about, line) for other in (*parts, *ranked)):
                place = ranked if line.citation in citations else behind
                place += _lines_of(snapshot, line, part)
        if keeps_past or not all(map(newer.correct_all, quoted)):
            ranked.append(marked)
        ranked += behind
    return ranked


def _marked(part: ContextPart, newer: Corrections) -> ContextPart:
    """Add the newer lines that correct a part, for all its chunks."""
    lines = (*part.corrected_by, *(line for each in _quoted([part]) for line in newer.of(each)))
    newest = sorted(dict.fromkeys(lines), key=lambda line: line.date, reverse=True)
    return part._replace(corrected_by=tuple(newest))


def _quoted(parts: Iterable[ContextPart]) -> list[Quotation]:
    """Return what parts show of each chunk."""
    spans = (span for part in parts for span in part.spans)
    return [Quotation(span.excerpt.about, visible(span.excerpt.text)) for span in spans]


def _has(about: About, line: Correction) -> bool:
    is_in = about.start_line <= line.start_line <= about.end_line
    return is_in and about.document == line.document


def _lines_of(snapshot: Snapshot, line: Correction, older: ContextPart) -> Iterator[ContextPart]:
    chunk = snapshot.excerpts([line.chunk_id]).get(line.chunk_id)
    if chunk and chunk.about.is_summary:  # the line is that of the log which it quotes
        own = snapshot.excerpts_of([line.document], Scope())
        chunk = next((each for each in own if _has(each.about, line)), None)
    if chunk is not None:
        yield part_of_lines(older.section, chunk, (line.start_line, line.end_line), older.score)


def _cuts(passage: RankedPassage, words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Take segments off a passage, first those farthest from the best, and lines off that one."""
    segments, best = passage.candidate.segments, passage.best
    for first, last in narrower(passage.candidate, Run(passage.first, passage.last), best):
        yield segments[first].start, segments[last].end
    line = cursor_of(passage._replace(first=best, last=best), words).line
    candidate, whole = by_line(passage.candidate), segments[best]
    lines = candidate.segments
    inside = [at for at, part in enumerate(lines) if whole.start <= part.start < whole.end]
    if inside:
        at = next((at for at in inside if lines[at].end_line >= line), inside[-1])
        for first, last in narrower(candidate, Run(inside[0], inside[-1]), at):
            yield lines[first].start, lines[last].end


def _hops(
    snapshot: Snapshot, parents: Sequence[ContextPart], fixed: FixedParts, following: hops.Following
) -> list[hops.LinkedPassage]:
    trusted = [part for part in parents if part.excerpt.about.trust == "trusted"]
    linking = snapshot.links([part.excerpt.about.chunk_id for part in trusted])
    links = hops.strong(
        (
            link
            for part in parents
            for link in _links(part, linking.get(part.excerpt.about.chunk_id))
        ),
        following,
    )
    if not links:
        return []
    shown = fixed.chunk_ids | fixed.cut_ids
    return hops.hops(links, _targets(snapshot, links, following.roots), shown, following)


def _links(part: ContextPart, linking: Linking | None) -> Iterator[hops.Link]:
    if linking is None:
        return
    for target in (*linking.targets, *related_targets(json.loads(linking.front_matter))):
        yield hops.Link(
            part.excerpt.about.source, part.excerpt.about.path, target, part.score or 0.0,
            part.excerpt.about.citation,
        )  # fmt: skip


def _targets(
    snapshot: Snapshot, links: Sequence[hops.Link], roots: Mapping[str, str]
) -> Callable[[hops.Link], Excerpt | None]:
    """Look up the documents to which links lead, all at once."""
    names = {link: hops.candidates(link, roots) for link in links}
    titles = snapshot.titles()
    known = {(each.source, each.path) for each in titles}
    chosen = {link: next((p for p in places if p in known), None) for link, places in names.items()}
    loose = [hops.name(link) for link, place in chosen.items() if place is None]
    named = _named(titles, loose)
    places = {link: place or named.get(hops.name(link)) for link, place in chosen.items()}
    chunks: dict[Key, list[Excerpt]] = {}
    for excerpt in snapshot.excerpts_of(sorted({p for p in places.values() if p}), Scope()):
        chunks.setdefault(excerpt.about.document, []).append(excerpt)

    def target_of(link: hops.Link) -> Excerpt | None:
        chunk = chunks.get(places[link] or ("", ""))
        return hops.passage(link, chunk) if chunk else None

    return target_of


def _named(titles: Sequence[TitledDocument], names: Sequence[str]) -> dict[str, Key]:
    """Find documents by title or by file name without ending, in any case.

    Documents of the workspace come first, then those nearest to the root.
    """
    folded = {name.casefold() for name in names}
    by_name: dict[str, list[tuple[bool, int, str, str]]] = {}
    for source, path, title in titles:
        stem = path.rpartition("/")[2].rpartition(".")[0]
        for name in {stem.casefold(), title.casefold()} & folded:
            place = (not is_memory(source), path.count("/"), source, path)
            by_name.setdefault(name, []).append(place)
    return {name: min(by_name[name.casefold()])[2:] for name in names if name.casefold() in by_name}
