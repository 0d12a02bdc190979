"""Find the passages most like the chunk at a place."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.api import targets
from memcli.api.ask import bring_up_to_date, hint_for_all
from memcli.api.workspaces import has_fallback
from memcli.checking import TYPE_CHECKING
from memcli.errors import NotFoundError, Reason
from memcli.indexing.freshness import Freshness
from memcli.record import Record
from memcli.search.options import SearchOptions
from memcli.search.pipeline import NOTHING, Answer
from memcli.search.query import ParsedQuery, parse
from memcli.search.related import compared_place, related
from memcli.store.records import Scope
from memcli.types import EMPTY, Excerpt, Filters, cite

if TYPE_CHECKING:
    from memcli.api.workspaces import Workspaces


class RelatedResult(Record):
    """The passages most similar to a place, and whether the index was up to date."""

    source: str
    path: str
    start_line: int  # of the chunks at the place
    end_line: int
    freshness: Freshness
    answer: Answer = NOTHING
    query: ParsedQuery = parse("")  # of the words of the place
    empty_reason: Reason | None = None  # which filter excluded everything

    @property
    def citation(self) -> str:
        """Name the lines that the passages are compared with."""
        return cite(self.source, self.path, self.start_line, self.end_line)


@has_fallback
def find_related(
    memory: Workspaces,
    target: str,
    options: SearchOptions,
    *,
    sync: bool | None = None,
    here: str | None = None,
) -> RelatedResult:
    """Find the passages most similar to the chunks at a path, a citation or a record ref.

    A whole document is compared with the others, and a line without the rest of its chunk. For
    `sync` see `ask.bring_up_to_date`; relative paths start at `here`.
    NotFoundError if there is nothing at the place.
    """
    owner = memory.owner_of(target)
    try:
        place, file = owner.read(here)
    except NotFoundError as error:
        hint = error.hint.replace("memcli get ", "memcli related ", 1)
        raise NotFoundError(error.message, hint=hint) from error
    first, last = targets.lines_of(place, file, owner.workspace.index_settings())
    place = place._replace(source=owner.before + place.source)
    freshness = bring_up_to_date(memory, memory.index_model(), options.mode, sync=sync)
    if freshness.state == EMPTY:
        return RelatedResult(*place.document, first, last, freshness)
    with memory.store.snapshot() as snapshot:
        chunks = snapshot.excerpts_of([place.document], Scope())
        if not chunks:
            if place.document in snapshot.known():
                raise NotFoundError(f"{place.name} has no text to compare", hint="memcli ls")
            raise NotFoundError(f"{place.name} is not indexed yet", hint="memcli index")
        chunks = _at(chunks, first, last)
        compared = compared_place(snapshot, chunks, first if first == last else 0)
        answer, query = related(snapshot, chunks, compared, options)
        answer = answer._replace(semantic=hint_for_all(memory, answer.semantic))
        nothing = None
        if not answer.passages and options.filters != Filters(view=options.filters.view):
            from memcli.search.empty_result import blocking_filter

            nothing = blocking_filter(snapshot, options.filters)
    start, end = compared.start_line, compared.end_line
    return RelatedResult(*place.document, start, end, freshness, answer, query, nothing)


def _at(chunks: Sequence[Excerpt], first: int, last: int) -> list[Excerpt]:
    """Choose the chunks that contain some lines, or else the next or the last chunk.

    Front matter and blank lines are in no chunk.
    """
    at = [c for c in chunks if c.about.start_line <= last and first <= c.about.end_line]
    behind = [c for c in chunks if c.about.start_line > last]
    return at or [*behind[:1]] or [chunks[-1]]
