"""Find the preferences of the user that apply to a question.

A question seldom has the words of a preference, and long talks about the subject rank above it. But
preferences are few, so each one is compared with the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.context.parts import PREFERENCES, ContextPart, part_of_lines
from memcli.language.words import prepare
from memcli.store.records import RetrieverResults, Scope
from memcli.types import Candidate, Filters, Lines, TermQuery

if TYPE_CHECKING:
    from memcli.search.query import ParsedQuery
    from memcli.store.port import Snapshot

TRUSTED = Scope(Filters(trusts=("trusted",)))
# Newest chunks that are compared: people state a preference a few times a week.
NEWEST = 300
# Minimum cosine of a line about the subject. Of 39 questions of ten BEAM conversations about the
# subject of an instruction or a preference, .2 lets the judged line through for 32, .25 for 29 and
# .3 for 27. The bound is not sharp: 117 of the 139 other questions have a line above .25, which the
# share of the budget limits.
LEAST_COSINE = 0.25
LEAST_SHARE = 0.25  # of the weight of the question's words, if there are no vectors


def touching(
    snapshot: Snapshot, query: ParsedQuery, vector: bytes | None, shown: frozenset[int]
) -> list[ContextPart]:
    """Return the preferences near to a question, nearest first; none of the chunks in `shown`."""
    lines = snapshot.preferences(NEWEST, TRUSTED)
    hidden = [chunk for chunk in lines if chunk not in shown]
    if not hidden:
        return []
    candidates = snapshot.candidates(hidden, RetrieverResults(TermQuery(), (), vector, ()))
    shares = {} if vector else _shares(snapshot, query, candidates, lines)
    least = LEAST_COSINE if vector else LEAST_SHARE
    chunks = snapshot.excerpts(hidden)
    near = [
        part_of_lines(PREFERENCES, chunks[candidate.about.chunk_id], run, score)
        for candidate in candidates
        for run in lines[candidate.about.chunk_id]
        if (score := _cosine(candidate, run) if vector else shares[candidate.about.chunk_id, run])
        >= least
    ]
    return sorted(near, key=lambda part: -(part.score or 0.0))


def _cosine(candidate: Candidate, lines: Lines) -> float:
    first, last = lines
    parts = (p for p in candidate.segments if p.start_line <= last and first <= p.end_line)
    return max((part.cosine or 0.0 for part in parts), default=0.0)


def _shares(
    snapshot: Snapshot,
    query: ParsedQuery,
    candidates: Sequence[Candidate],
    lines: Mapping[int, Sequence[Lines]],
) -> dict[tuple[int, Lines], float]:
    """Return the share of the question's words that each run of lines contains."""
    runs = [(c, run) for c in candidates for run in lines[c.about.chunk_id]]
    texts = [
        "\n".join(c.text.split("\n")[run[0] - c.about.start_line :][: run[1] - run[0] + 1])
        for c, run in runs
    ]
    terms = [index_term.text for term in query.counted_terms if (index_term := term.index_term)]
    cut = [frozenset(each) for each in snapshot.tokens([prepare(text) for text in texts])]
    words = [frozenset(each) for each in snapshot.tokens(terms) if each]
    return {
        (candidate.about.chunk_id, run): sum(word <= tokens for word in words) / len(words)
        if words
        else 0.0
        for (candidate, run), tokens in zip(runs, cut, strict=True)
    }
