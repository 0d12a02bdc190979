"""Plan and write summaries of old logs, check them, and remove those of the last run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date

from memcli.api.ask import begin_vector, model_groups
from memcli.api.workspace import Workspace
from memcli.api.workspaces import Workspaces
from memcli.bench.queries import Query
from memcli.bench.summary_recall import SummaryRecall, recall
from memcli.compaction import folder
from memcli.compaction.draft import CompactionSettings
from memcli.compaction.external_summarizer import Wording, program
from memcli.compaction.plan import CompactionPlan, make_plan
from memcli.compaction.similarity import embedder
from memcli.compaction.summaries import Problem, Summary, last_run, problems
from memcli.config.settings import Config
from memcli.errors import ConfigError, MemcliError, Reason, RetrieverError, UsageError
from memcli.indexing.freshness import WAIT_SECONDS
from memcli.markdown.evidence import BY_MODEL
from memcli.record import Record
from memcli.search.expansion import search_expanded
from memcli.search.options import BUDGET_LIMIT, options_of
from memcli.search.pipeline import search
from memcli.search.question import Question
from memcli.search.validity import scope_of
from memcli.store.port import Snapshot
from memcli.store.records import Key, RetrieverResults
from memcli.types import Filters, KnownFile, Skip, TermQuery

VIEWS = ("raw", "active")
EXTRACTIVE = "extractive"  # sentences copied from the logs


class Compaction(Record):
    """A plan, and the files that could not be read for it."""

    plan: CompactionPlan
    skips: tuple[Skip, ...]  # skipped files
    without_vectors: Reason | None  # why sentences are chosen without vectors


class SummaryCheck(Record):
    """The summaries, their problems, and the files that could not be read."""

    summaries: tuple[Summary, ...]
    problems: tuple[Problem, ...]
    unread: tuple[Problem, ...]


class UndoneRun(Record):
    """The files of the last run that were removed."""

    is_empty: bool  # there was no run to undo
    removed: tuple[Summary, ...]
    edited: tuple[Summary, ...]  # kept, because a person has changed them
    unread: tuple[Problem, ...]  # kept, because they cannot be read


def plan_compaction(
    workspace: Workspace,
    *,
    now: str,
    summarizer: str = EXTRACTIVE,
    holdings: folder.Holdings | None = None,
) -> Compaction:
    """Plan the summaries of a run; `now` is its ISO time.

    `summarizer` is EXTRACTIVE or one of `evidence.WORDED`, and `holdings` are logs and summaries if
    they are read already. UsageError if a summary cannot be read: its lines would be summarised
    again.
    """
    holdings = holdings or _holdings(workspace)
    _refuse_unread(holdings)
    config = workspace.config
    settings = CompactionSettings(
        *(config(f"compact.{name}") for name in CompactionSettings._fields)
    )
    opened = workspace.open_encoder(workspace.index_model())
    plan = make_plan(
        holdings.logs,
        holdings.summaries,
        settings,
        folder=folder.folder_of(config.workspace),
        now=now,
        embed=embedder(opened.encoder) if opened.encoder else None,
        writer=_writer(config, summarizer),
    )
    return Compaction(plan, holdings.skips, None if opened.encoder else opened.reason)


def _writer(config: Config, summarizer: str) -> Wording | None:
    """Open the model that writes summaries; None if summaries quote the logs."""
    if summarizer == EXTRACTIVE:
        return None
    if summarizer != BY_MODEL:
        return program(config("compact.command"))
    from memcli.compaction.generated import generating
    from memcli.embedding.generator import Generator

    reads, writes = config("compact.reads"), config("compact.writes")
    try:
        model = Generator(config("compact.folder"), reads=reads, writes=writes)
    except RetrieverError as error:
        raise ConfigError(error.message, hint=error.hint) from error
    return Wording(BY_MODEL, "the model", generating(model, config("compact.prompt")))


def _holdings(workspace: Workspace) -> folder.Holdings:
    """Read logs and summaries; the index, if there is one, knows which folders should exist."""
    known: Mapping[Key, KnownFile] = {}
    mounts = None
    with suppress(MemcliError), workspace.store.snapshot() as snapshot:
        known, mounts = snapshot.known(), snapshot.facts.mounts
    return folder.read(workspace.index_settings(), known, mounts)


def _refuse_unread(holdings: folder.Holdings) -> None:
    """Stop if an unreadable summary may already cover lines of the plan."""
    for skip in holdings.unread:
        raise UsageError(
            f"{skip.path} may contain summaries and cannot be read: {skip.detail or skip.reason};"
            " nothing is compacted",
            hint="memcli compact --verify",
        )


def _unread(holdings: folder.Holdings) -> tuple[Problem, ...]:
    return tuple(
        Problem(skip.path, "unread", skip.detail or skip.reason) for skip in holdings.unread
    )


def apply_compaction(workspace: Workspace, *, now: str, summarizer: str = EXTRACTIVE) -> Compaction:
    """Write the summaries of a plan while no other run writes.

    It makes the plan before it takes the lock, because an encoder may be slow. If another run has
    written summaries meanwhile, it makes the plan again.
    """
    holdings = _holdings(workspace)
    while True:
        made = plan_compaction(workspace, now=now, summarizer=summarizer, holdings=holdings)
        with workspace.store.locked(wait_seconds=WAIT_SECONDS, sleep=workspace.clock.sleep):
            planned, holdings = holdings, _holdings(workspace)
            if holdings.summaries == planned.summaries:
                _refuse_unread(holdings)
                folder.write(workspace.config.workspace, made.plan.drafts)
                return made


def measure_recall(workspace: Workspace, queries: Sequence[Query], today: date) -> SummaryRecall:
    """Answer judged questions from the logs only, and from summaries with the lines behind them.

    The index is not updated; `today` is for questions without a day.
    """
    raw, active = (options_of(workspace.config, filters=Filters(view=view)) for view in VIEWS)
    raw = raw._replace(limit=BUDGET_LIMIT)
    index = workspace.index_model()
    sums = [0.0, 0.0]
    with workspace.store.snapshot() as snapshot:
        for query in queries:
            day = date.fromisoformat(query.date) if query.date else today
            question = Question.by(workspace.config, query.text, day)
            vector = begin_vector(workspace, question, raw, index)
            answer = search(
                snapshot, question.query, question.dates, raw,
                embed_query=vector, age_days=question.age_days,
            )  # fmt: skip
            sums[0] += recall(query.relevant, answer.passages)
            answer, behind = search_expanded(
                snapshot, model_groups(Workspaces(workspace), snapshot, question, active, vector),
                question, active, tokens=workspace.config("expand.tokens"),
            )  # fmt: skip
            sums[1] += recall(
                query.relevant, [*answer.passages, *(each.passage for each in behind)]
            )
        tokens = [_tokens(snapshot, view) for view in VIEWS]
    count = len(queries)
    return SummaryRecall(count, sums[0] / count, sums[1] / count, *tokens)


def _tokens(snapshot: Snapshot, view: str) -> int:
    """Count the tokens of everything that a search with this use of summaries can find."""
    scope = scope_of(Filters(view=view), snapshot.supports())
    documents = [(document.source, document.path) for document in snapshot.documents(scope)]
    chunks = [excerpt.about.chunk_id for excerpt in snapshot.excerpts_of(documents, scope)]
    nothing = RetrieverResults(TermQuery(), (), None, ())
    return sum(candidate.tokens for candidate in snapshot.candidates(chunks, nothing))


def check_compaction(workspace: Workspace) -> SummaryCheck:
    """Check every summary against its source lines."""
    holdings = _holdings(workspace)
    return SummaryCheck(holdings.summaries, tuple(problems(holdings.summaries)), _unread(holdings))


def undo_compaction(workspace: Workspace) -> UndoneRun:
    """Remove the files of the last run.

    It keeps files that a person edited, and files that cannot be read.
    """
    with workspace.store.locked(wait_seconds=WAIT_SECONDS, sleep=workspace.clock.sleep):
        holdings = _holdings(workspace)
        written = last_run(holdings.summaries)
        removed = tuple(summary for summary in written if not summary.is_edited)
        folder.remove(workspace.config.workspace, [summary.path for summary in removed])
    edited = tuple(summary for summary in written if summary.is_edited)
    unread = _unread(holdings)
    return UndoneRun(not holdings.summaries and not unread, removed, edited, unread)
