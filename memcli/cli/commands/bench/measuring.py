"""Ask judged questions of one memory and describe the run: what quality, sets and lane share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memcli.cli import side_files
from memcli.cli.commands.bench import running
from memcli.errors import UsageError
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.bench.ablation import Variant
    from memcli.bench.metrics import LineCosts
    from memcli.bench.quality import AskedQuestion
    from memcli.bench.traces import QualityTrace
    from memcli.cli.skin import Skin


class Measured(Record):
    """The figures of a run, and what they are made of."""

    trace: QualityTrace
    asked: list[AskedQuestion]
    line_costs: LineCosts
    synced: dict[str, int]  # what bringing the index in step took


def measure(
    queries_file: str | None,
    skin: Skin,
    *,
    sync: bool,
    silent: bool,
    variants: Sequence[Variant] = (),
) -> Measured:
    """Ask the questions and describe the run as `memcli.bench-quality/1` does."""
    from memcli.bench import quality as bench
    from memcli.bench.rows import row_of
    from memcli.bench.traces import QUALITY, Latency, QualityTrace, QuestionFile, this_machine

    name, queries = running.questions(queries_file, skin, silent=silent)
    synced = {}
    if sync:
        synced = running.bring_in_step(skin, silent=silent)
    else:
        _look(skin)
    line_costs = running.line_costs(skin)
    search = running.Searcher(skin)
    asked = bench.ask(queries, search, line_costs, skin.memory.clock.monotonic)
    index = search.index()
    rows = tuple(row for row in map(row_of, asked) if row is not None)
    if not rows:
        raise UsageError(
            f"no question of {name} has judged lines", hint='add "relevant": [{"path": "..."}]'
        )
    times = [each.milliseconds for each in asked]
    trace = QualityTrace(
        schema=QUALITY,
        now=skin.now,
        questions=QuestionFile(os.path.basename(name), len(rows)),
        index_=index,
        settings=side_files.settings_of(skin),
        machine=this_machine(),
        latency_ms=Latency(bench.percentile(times, 0.5), bench.percentile(times, 0.95)),
        categories=bench.summary(asked),
        hints=bench.hint_rate(asked),
        queries=rows,
        ablation=_ablation(skin, variants, asked, line_costs) if variants else None,
    )
    return Measured(trace, asked, line_costs, synced)


def _ablation(
    skin: Skin,
    variants: Sequence[Variant],
    asked: Sequence[AskedQuestion],
    line_costs: LineCosts,
) -> tuple[dict[str, object], ...]:
    """Ask the judged questions again in other ways; the first row is the way it is set."""
    from memcli.bench.ablation import row
    from memcli.bench.metrics import score
    from memcli.bench.quality import passages
    from memcli.config.settings import Value

    judged = [each for each in asked if each.scores is not None]
    before = [each.scores for each in judged if each.scores is not None]
    rows = [row("as set", before, before)]
    for variant in variants:
        changed = {name: Value(value, variant.name) for name, value in variant.settings.items()}
        config = skin.config._replace(values={**skin.config.values, **changed})
        other = skin._replace(memory=skin.memory.having(config=config))
        search = running.Searcher(other, without=variant.without)
        scores = [
            score(query.relevant, passages(search(query.text, query.date)), line_costs)
            for query in (each.query for each in judged)
        ]
        rows.append(row(variant.name, scores, before))
    return tuple(rows)


def _look(skin: Skin) -> None:
    from memcli.cli.search_output import say_freshness
    from memcli.indexing.freshness import look

    freshness = look(skin.memory.store, skin.memory.index_settings())
    say_freshness(freshness, skin.terminal, "these answers")
