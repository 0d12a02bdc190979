"""The public API: one workspace or several, opened as one memory.

    with memcli.Memory.open("notes") as memory:
        for passage in memory.search("why did the pool run dry", limit=5).results:
            print(passage.citation, passage.snippet)

Records are those of the JSON of the same command, frozen and typed. Errors are those of
`memcli.errors`; each has the next command as its hint.
"""

from __future__ import annotations

import os
from datetime import datetime

from memcli.api.workspace import SYSTEM_CLOCK, Clock
from memcli.checking import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self, TypeVar, Unpack

    from memcli.api.changes import ChangeList
    from memcli.api.compact import Compaction
    from memcli.api.filters import FilterArguments
    from memcli.api.lint import LintReport
    from memcli.api.listing import ListedDocuments
    from memcli.api.read import Lines
    from memcli.api.records import ContextBlock, RelatedPassages, SearchResults
    from memcli.api.remember import RememberResult, ScoredParagraph, UndoResult
    from memcli.api.several_workspaces import SeveralResults
    from memcli.api.status import WorkspaceStatus
    from memcli.api.sync import IndexRun
    from memcli.api.workspace import Workspace
    from memcli.api.workspaces import Workspaces
    from memcli.config.settings import Config
    from memcli.remember.admission import WasShown
    from memcli.search.options import SearchOptions

    Made = TypeVar("Made")


class Memory:
    """One workspace, or several that answer as one. Threads may share it."""

    def __init__(self, workspaces: Workspaces) -> None:
        self.workspaces = workspaces

    @property
    def config(self) -> Config:
        """Return the settings."""
        return self.workspaces.config

    @classmethod
    def open(
        cls,
        *workspaces: str | os.PathLike[str],
        everywhere: bool = False,
        as_of: str | None = None,
        shared: str | None = None,
        tenant: str | None = None,
        settings: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> Memory:
        """Open one workspace or several, as the options of a command do.

        A workspace is a folder or the @name of one; the default is the one of the current folder.
        `everywhere` adds all that have a name, and those of the shared index if one is configured.
        `as_of` opens the state of a day or a commit. `shared` is the name of a workspace of the
        shared index, and `tenant` all that a tenant has there. `settings` override all others, by
        name: {"search.limit": 5}. NotFoundError if there is no such workspace, ConfigError if a
        setting cannot be used, UsageError for what cannot be combined.
        """
        from memcli.api.open import open_workspaces
        from memcli.api.workspaces import Selection

        folders = tuple(os.fspath(each) for each in workspaces)
        environ = os.environ if environ is None else environ
        selected = Selection(
            folders, everywhere, as_of=as_of, shared=shared, tenant=tenant,
            settings=settings or {}, environ=environ, clock=clock,
        )  # fmt: skip
        return cls(open_workspaces(selected))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close indexes and models; a later question opens them again."""
        self.workspaces.close()

    def only(self, name: str) -> Memory:
        """Return one workspace of several, by its name; both share an open model.

        UsageError for an unknown name; for a workspace that cannot be opened, the reason.
        """
        return Memory(self.workspaces.only(name))

    def search(
        self,
        text: str,
        *,
        limit: int | None = None,
        budget: int | None = None,
        full: bool = False,
        more: bool = False,
        sync: bool | None = None,
        now: datetime | None = None,
        **filters: Unpack[FilterArguments],
    ) -> SearchResults:
        """Find passages by keyword and by meaning, as `memcli search` does.

        `limit` is search.limit, `budget` the maximum of tokens, and `full` returns whole chunks.
        Without `full` or `more`, the answer leaves out passages that are not worth their tokens;
        with `more` it fills the budget. `sync` True reads every change first, False does not update
        the index, and None keeps to the configured bounds. `now` is the moment of the question
        (default: the clock). `filters` have the names of the options: since="last week",
        tags=["x"]. UsageError if the text has nothing to search for, IndexMissingError if there is
        no index and building one would take too long.
        """
        from memcli.api.ask import ask
        from memcli.api.records import results_of
        from memcli.search.question import Question

        moment = now or self.workspaces.moment()
        options = self._options(
            filters, limit, moment, budget=budget, whole=full, worthwhile=not more
        )
        question = Question.by(self.config, text, moment)
        result = ask(self.workspaces, question, options, sync=sync)
        return results_of(result, now=moment.isoformat(timespec="seconds"))

    def _options(
        self,
        filters: FilterArguments,
        limit: int | None,
        moment: datetime,
        **others: Any,  # noqa: ANN401  # of `options_of`
    ) -> SearchOptions:
        from memcli.api.filters import filters_of
        from memcli.search.options import options_of

        config = self.config if limit is None else self.config.having({"search.limit": limit})
        selected = filters_of(self.config, filters, moment.date())[0]
        return options_of(config, filters=selected, **others)

    def related(
        self,
        target: str,
        *,
        limit: int | None = None,
        full: bool = False,
        more: bool = False,
        sync: bool | None = None,
        **filters: Unpack[FilterArguments],
    ) -> RelatedPassages:
        """Find the passages most similar to the chunk at a place, as `memcli related` does.

        `target` is as for `get`, the rest as for `search`; with `more`, chunks with less than half
        of the best score are returned too. `full` returns these as well, and every chunk whole.
        NotFoundError if there is no such document, or if it has no text.
        """
        from memcli.api.records import RelatedPassages, RetrieverStatus
        from memcli.api.related import find_related
        from memcli.search.passages import passages_of

        options = self._options(
            filters, limit, self.workspaces.moment(), whole=full, worthwhile=not more
        )
        result = find_related(self.workspaces, target, options, sync=sync)
        return RelatedPassages(
            place=result.citation,
            freshness=result.freshness,
            retrievers=RetrieverStatus(result.answer.keyword, result.answer.semantic),
            results=passages_of(result.answer.passages),
            weaker=result.answer.weaker,
            empty_reason=result.empty_reason,
        )

    def documents(
        self, *, order: str = "path", sync: bool | None = None, **filters: Unpack[FilterArguments]
    ) -> ListedDocuments:
        """List documents with date, kind, tags and front matter, as `memcli ls` does.

        `order` is path, date or newest; `sync` is as for `search`.
        """
        from memcli.api.filters import filters_of
        from memcli.api.listing import list_documents

        selected, _ = filters_of(self.config, filters, self.workspaces.moment().date())
        return list_documents(self.workspaces, selected, order=order, sync=sync)

    def context(
        self,
        text: str = "",
        *,
        budget: int | None = None,
        tail: int | None = None,
        sync: bool | None = None,
        now: datetime | None = None,
    ) -> ContextBlock:
        """Assemble notes for a prompt within a token budget, as `memcli context` does.

        Without a text, it is the context for the start of a session. BudgetError if the required
        pieces cost more than the budget.
        """
        from memcli.api.assemble import context_of, sharing_of
        from memcli.api.records import ContextBlock, ContextPassage
        from memcli.context.assemble import check_shares
        from memcli.context.parts import markdown
        from memcli.search.pipeline import NOTHING

        moment = now or self.workspaces.moment()
        values = {"context.budget": budget, "context.tail": tail}
        config = self.config.having({name: n for name, n in values.items() if n is not None})
        sharing = check_shares(sharing_of(config))
        made = context_of(self.workspaces, text, moment, sharing, sync=sync)
        assembled, answer = made.assembled, made.answer or NOTHING
        return ContextBlock(
            query=made.question.text if made.question else None,
            dates=answer.dates,
            now=moment.isoformat(timespec="seconds"),
            budget=sharing.budget,
            tokens=assembled.tokens,
            match=answer.match if made.answer else None,
            match_reason=answer.match_reason,
            uncalibrated=answer.uncalibrated,
            freshness=made.freshness,
            markdown=markdown(assembled.parts, notice=assembled.notice),
            parts=tuple(
                ContextPassage(
                    part.section,
                    part.excerpt.about.citation,
                    part.excerpt.about.ref,
                    part.excerpt.about.trust,
                    part.text,
                    part.score,
                    part.via,
                    tuple(each.record for each in part.corrected_by),
                )
                for part in assembled.parts
            ),
            omitted=len(assembled.left_out) + made.more,
            tokens_saved=assembled.saved,
            warnings=made.warnings,
            repairs=answer.repaired,
            reranked=answer.reranked,
        )

    def get(
        self,
        target: str,
        *,
        first: int | None = None,
        count: int | None = None,
        expand: bool = False,
    ) -> Lines:
        """Read lines of a document as they are on disk now, as `memcli get` does.

        `target` is a path, a citation, `path#heading` or a record ref. NotFoundError if there is no
        such document, UsageError for a range that ends before it begins.
        """
        from memcli.api.read import get, with_newer_lines

        lines = get(self.workspaces, target, first=first, count=count, expand=expand)
        return with_newer_lines(self.workspaces, lines)

    def remember(
        self,
        text: str,
        *,
        to: str = "today",
        heading: str = "",
        type: str = "",
        dry_run: bool = False,
        force: bool = False,
        was_shown: WasShown | None = None,
        now: datetime | None = None,
    ) -> RememberResult:
        """Append a note if it passes the checks, as `memcli remember` does.

        `to` is the path of a file in the workspace (default: today's log), and `heading` a section
        at its end; `type` is user, feedback, project or reference. `was_shown` returns whether the
        session already got a line (source, path, text): a note that only repeats such a line is
        refused. A refusal is not an error: `refusal` says why, and cites the existing line.
        UsageError if the file cannot be written, BusyError if it stays locked.
        """
        from memcli.api.remember import RememberOptions, remember

        options = RememberOptions(to, heading, type, dry_run, force, was_shown=was_shown)
        return remember(self.workspaces.alone(), text, options, now or self.workspaces.clock.now())

    def undo_remember(self) -> UndoResult:
        """Remove the last note if its lines are unchanged, as `memcli remember --undo` does."""
        from memcli.api.remember import undo_remember

        return undo_remember(self.workspaces.alone())

    def check(self, text: str) -> tuple[ScoredParagraph, ...]:
        """Score each paragraph and item of a text as `remember` would; nothing is written."""
        from memcli.api.remember import weigh

        return tuple(weigh(self.workspaces.alone(), text)[0])

    def changes(
        self,
        text: str = "",
        *,
        since: str | None = None,
        until: str | None = None,
        now: datetime | None = None,
    ) -> ChangeList:
        """List what was learned between two days or commits, as `memcli changes` does.

        With a text, the changes that answer it come first in `ranked`.
        """
        from memcli.api.changes import changes

        moment = now or self.workspaces.moment()
        return changes(self.workspaces, text, since=since, until=until, now=moment)

    def lint(self, *, now: datetime | None = None) -> LintReport:
        """Look for problems in the files, as `memcli lint` does. Nothing is changed."""
        from memcli.api.lint import lint

        return lint(self.workspaces.alone(), (now or self.workspaces.moment()).date())

    def compact(
        self, *, apply: bool = False, summarizer: str = "extractive", now: datetime | None = None
    ) -> Compaction:
        """Plan summaries of old logs, and with `apply` write them, as `memcli compact` does."""
        from memcli.api.compact import apply_compaction, plan_compaction

        workspace = self.workspaces.alone()
        workspace.need_files()
        moment = (now or self.workspaces.moment()).isoformat(timespec="seconds")
        do = apply_compaction if apply else plan_compaction
        return do(workspace, now=moment, summarizer=summarizer)

    def index(self, *, full: bool = False, wait_seconds: float = 60.0) -> IndexRun | SeveralResults:
        """Update the index and embed what is new, as `memcli index` does.

        It indexes several workspaces one after the other; if one fails, its `error` says why.
        BusyError if another process still writes after `wait_seconds`.
        """
        from memcli.api.sync import Job, Vectors, run_record, sync

        job = Job(full=full, wait_seconds=wait_seconds)
        return self._of_each(
            "index_", lambda each: run_record(sync(each, job, Vectors(each)), each)
        )

    def status(self, *, deep: bool = False) -> WorkspaceStatus | SeveralResults:
        """Report what is indexed, what is out of date and why, as `memcli status` does.

        With `deep`, it also runs the model and checks the index file.
        """
        from memcli.api.status import status

        return self._of_each("status", lambda each: status(each, deep=deep))

    def _of_each(self, what: str, work: Callable[[Workspace], Made]) -> Made | SeveralResults:
        if not self.workspaces.members:
            return work(self.workspaces.lead)
        from memcli.api.several_workspaces import of_each

        return of_each(self.workspaces, what, work)
