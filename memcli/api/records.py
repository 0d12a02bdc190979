"""What Python is told: the records of the JSON, frozen and typed."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.record import Record

if TYPE_CHECKING:
    from typing import Any

    from memcli.dates.find import DateSpan
    from memcli.errors import Reason
    from memcli.search.legs import Leg
    from memcli.search.passages import Passage
    from memcli.search.repair import Repair
    from memcli.search.rerank import Reranked
    from memcli.store.union import StoreState


class Fresh(Record):
    """How far an answer is behind the files."""

    state: str  # fresh | stale | empty | remote
    pending: int  # files that the answer does not know as they are
    reason: Reason | None
    notices: tuple[Reason, ...]  # what could not be seen or had to be mended
    stores: tuple[StoreState, ...] = ()  # of each workspace, where several are asked as one
    missing: str = ""  # the pending files by kind and name


class LegsRun(Record):
    """Which legs ran, and why one did not."""

    lexical: Leg
    dense: Leg


class SearchResults(Record):
    """The answer to a question: the record of `memcli.search/1`."""

    query: str
    dates: tuple[DateSpan, ...]  # as they were understood
    now: str  # ISO time
    verdict: str  # good | weak | none
    freshness: Fresh
    legs: LegsRun
    results: tuple[Passage, ...]  # best first
    dropped: int  # passages that did not fit the budget
    far: int  # that would have fitted, and are far from the question
    weaker: int  # that are not worth reading; `more` gives them
    absent: tuple[str, ...] = ()  # phrases that nothing holds
    asked: tuple[str, ...] = ()  # speakers that the question names
    apart: tuple[str, ...] = ()  # phrases that no passage holds together
    repaired: tuple[Repair, ...] = ()  # words that were looked for in place of others
    reranked: Reranked | None = None  # what read the best passages once more, if that was wanted
    nothing: Reason | None = None  # why nothing was found, where that was not the question
    withheld: Reason | None = None  # why the verdict is weak, where the confidence is good
    uncalibrated: Reason | None = None  # what confidences rest on, where nobody measured the model


class RelatedPassages(Record):
    """The passages most like a place: the record of `memcli.related/1`."""

    place: str  # citation of the lines that they are compared with
    freshness: Fresh
    legs: LegsRun
    results: tuple[Passage, ...]  # best first; a score of 1 is the same text
    nothing: Reason | None = None  # which filter let nothing through


class ContextPassage(Record):
    """Lines of one document as a context shows them."""

    section: str  # always | soft | recent | found
    citation: str
    ref: str
    trust: str
    text: str
    score: float | None
    via: str | None  # citation of the passage that links here
    corrected_by: tuple[dict[str, str | int], ...]  # newer lines that replace lines of it


class ContextBlock(Record):
    """The memory for a prompt: the record of `memcli.context/1`."""

    query: str | None
    dates: tuple[DateSpan, ...]  # as they were understood
    now: str
    budget: int
    tokens: int  # as estimated, fences and citations included
    verdict: str | None  # of the question
    freshness: Fresh
    markdown: str  # the block as it goes into a prompt
    parts: tuple[ContextPassage, ...]
    left_out: int  # parts that had no room
    saved: int  # tokens of what was found and is too far from the question to be worth them
    warnings: tuple[str, ...]
    repaired: tuple[Repair, ...] = ()  # words that were looked for in place of others
    reranked: Reranked | None = None  # what read the best passages once more, if that was wanted
    withheld: Reason | None = None  # why the verdict is weak, where the confidence is good
    uncalibrated: Reason | None = None  # what confidences rest on, where nobody measured the model


class DocumentEntry(Record):
    """A document, and what filters can ask of it."""

    source: str
    path: str
    title: str
    date: str | None
    kind: str
    scope: str
    trust: str
    tags: tuple[str, ...]  # as they are written, without #
    front_matter: dict[str, Any]
    date_from: str | None = None  # the first day of a week or a month, whose last is the date


class DocumentList(Record):
    """The documents that filters let through: the record of `memcli.ls/1`."""

    freshness: Fresh
    documents: tuple[DocumentEntry, ...]
    nothing: Reason | None = None  # which filter let nothing through
