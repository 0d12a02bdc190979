"""`memcli bench calibrate`: fit the confidence of a model to the user's own questions."""

from __future__ import annotations

import os

from memcli.checking import TYPE_CHECKING
from memcli.cli.command_context import CommandContext, command_context
from memcli.cli.commands.bench import running
from memcli.cli.options import COMMON, FILES, JSON, ONE_WORKSPACE, CommandArgument, Option, Options
from memcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.bench.calibration import Sample
    from memcli.bench.metrics import Range
    from memcli.bench.queries import Query
    from memcli.search.ranked import RankedPassage

ANSWERS = 100  # passages per answer; the lead is measured against the tenth


ARGUMENTS = (
    CommandArgument(
        "queries", "[QUERIES.jsonl]", "Judged questions; see: bench init.", choices=FILES
    ),
)
OPTIONS = (
    Option("--dry-run", "Show the new values without saving them."),
    Option("--no-sync", "Do not update the index."),
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Fit confidence to the model of this index, on your own questions.

    Each question is asked twice, the second time without the lines that answer it. The values are
    saved next to your configuration, for all workspaces of the model. Delete the file to go back.

    Examples: memcli bench calibrate questions.jsonl      memcli bench calibrate --dry-run
    """
    from memcli.bench import calibration

    command = command_context(options)
    name, asked = running.questions(options.queries, command, silent=False)
    judged = [query for query in asked if query.relevant]
    if not options.no_sync:
        running.bring_up_to_date(command, silent=False)
    fingerprint, samples = _samples(command, judged)
    fitted = calibration.fit(samples)
    if fitted is None:
        right = sum(each.is_right for each in samples)
        raise UsageError(
            f"{name} is too little to fit: of {len(judged)} judged questions {right} are answered,"
            f" and {calibration.LEAST} are needed",
            hint="memcli bench quality --help" if judged else "memcli bench init",
        )
    path = command.workspace.calibration_file
    if not options.dry_run:
        from memcli.config.calibration import write

        write(path, {fingerprint: fitted.constants})
    record = {
        "schema": "memcli.bench-calibrate/1",
        "file": path,
        "written": not options.dry_run,
        "fingerprint": fingerprint,
        "questions": os.path.basename(name),
        "judged": len(judged),
        "answers": len(samples),
        "right": sum(each.is_right for each in samples),
        "area": fitted.area,
        "by_words": fitted.by_words,
        "constants": fitted.constants._asdict(),
    }
    terminal = command.terminal
    if options.json:
        terminal.write_json(record)
    else:
        terminal.write(terminal.safe(calibration.text(record, fitted.constants)))
    model = fingerprint.partition(";")[0] or "keywords only"
    kept = "Nothing is kept" if options.dry_run else f"Kept in {path}"
    terminal.say(terminal.safe_line(f"{kept}, for {model}."))
    return ExitCode.OK


def _samples(command: CommandContext, judged: Sequence[Query]) -> tuple[str, list[Sample]]:
    """Ask all questions in both ways; return the answers and the fingerprint of the vectors.

    Without vectors the fingerprint is "".
    """
    search = running.Searcher(command, limit=ANSWERS)
    usual = search.options._replace(min_score=0.0)
    chunks = _chunks(command)
    told: list[tuple[str, Sample]] = []
    for query in judged:
        held = {chunk for at, chunk in chunks if any(at.touches(r) for r in query.relevant)}
        for outside in (frozenset[int](), frozenset(held)):
            search.options = usual._replace(inner=usual.inner._replace(outside=outside))
            told.append(_answered(search, query, is_whole=not outside))
    by = [fingerprint for fingerprint, _ in told]
    most = max(by, key=by.count, default="")
    return most, [sample for fingerprint, sample in told if fingerprint == most]


def _answered(search: running.Searcher, query: Query, *, is_whole: bool) -> tuple[str, Sample]:
    """Ask one question; an answer without the judged lines is never right."""
    from memcli.bench.calibration import FIRST, sample_of
    from memcli.bench.quality import passages

    left: dict[str, Sequence[RankedPassage]] = {}
    answer = search(query.text, query.date, left.__setitem__)
    first = passages(answer)[:FIRST]
    is_right = any(shown.touches(wanted) for shown in first for wanted in query.relevant)
    sample = sample_of(
        left.get("threshold", ()),
        answer.fused,
        rarity=answer.rarity,
        is_right=is_right,
        is_whole=is_whole,
    )
    return answer.fingerprint, sample


def _chunks(command: CommandContext) -> list[tuple[Range, int]]:
    """Return the lines of every chunk, with its number."""
    from memcli.bench.metrics import Range
    from memcli.store.records import Scope

    with command.workspace.store.snapshot() as snapshot:
        excerpts = snapshot.excerpts_of(list(snapshot.known()), Scope())
        abouts = [excerpt.about for excerpt in excerpts]
    return [(Range(a.path, a.start_line, a.end_line, a.source), a.chunk_id) for a in abouts]
