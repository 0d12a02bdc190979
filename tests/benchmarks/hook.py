"""What `memcli hook prompt` is worth: what it gives, to whom it is of use; not part of the suite.

Each FOLDER holds sets at any depth: `queries.jsonl` beside `workspace/`, and where it has them
`queries_abstention.jsonl` and `queries_adversarial.jsonl`, questions that have no answer. Each is
asked its own questions, and the prompts of `fixtures/eval/hook_prompts.jsonl`, which need none of
it: small talk, requests to write code, questions off the topic, in English, German and Chinese.

Two rows a folder, of the half of the prompts that constants were chosen on, and of the other: by
the checksum of their names, so that a prompt is in one of them wherever it is asked.

need        questions that have an answer; how many are given anything, and how many evidence
no answer   the others; how many are given anything
talk, code, topic   prompts of the fixture that are given anything, of each kind
tokens      added to a prompt that is given anything; and to any prompt that needs nothing

A session has one prompt here. `--mode keyword` asks without vectors.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from memcli.api.ask import ask_as_it_is
from memcli.api.memory import Memory
from memcli.api.sync import Job, Vectors, sync
from memcli.bench.metrics import Range
from memcli.bench.queries import Query, read_queries
from memcli.errors import UsageError
from memcli.hook.notes import BUDGET, block, deserved, fitting
from memcli.hook.prompts import has_subject, query_of
from memcli.language.tokens import estimate
from memcli.search.options import options_of
from memcli.search.question import Question
from memcli.types import Filters
from tests.benchmarks.figures import option
from tests.benchmarks.quality_table import store_of

PROMPTS = Path(__file__).parents[2] / "fixtures" / "eval" / "hook_prompts.jsonl"
QUESTIONS = {
    "queries.jsonl": "need",
    "queries_abstention.jsonl": "no answer",
    "queries_adversarial.jsonl": "no answer",
}
KINDS = ("small-talk", "coding", "off-topic")  # of the fixture
TODAY = date(2026, 1, 1)  # of questions that name no day
HEAD = (
    "| prompts of | half | need | given | evidence | no answer | given | talk | code | topic"
    " | tokens | of no need |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
)


class Given(NamedTuple):
    """What one prompt was given."""

    kind: str
    half: int
    tokens: int  # 0: nothing
    has_evidence: bool


def told(memory: Memory, prompt: str, today: date, query: Query, mode: str) -> tuple[int, bool]:
    """Give tokens and whether evidence is among them, as the hook decides."""
    try:
        question = Question.read(query_of(prompt), today)
    except UsageError:
        return 0, False
    options = options_of(memory.config, filters=Filters())._replace(mode=mode)
    answer = ask_as_it_is(memory.workspaces, question, options)
    passages = deserved(question, answer) if has_subject(question) else ()
    kept = fitting(passages, (), budget=BUDGET)
    shown = [Range(passage.about.path, passage.start_line, passage.end_line) for passage in kept]
    return estimate(block(kept)), any(s.touches(r) for s in shown for r in query.relevant)


def asked(folder: Path, store: Path, mode: str) -> Iterator[Given]:
    """Ask the questions of one set, then the prompts on the day of the last of them."""
    environ = {**os.environ, "MEMCLI_STORE": str(store)}
    today = TODAY
    with Memory.open(folder / "workspace", environ=environ) as memory:
        sync(memory.workspaces.lead, Job(), Vectors(memory.workspaces.lead))

        def given(kind: str, query: Query) -> Given:
            half = crc32(query.id.encode()) % 2
            return Given(kind, half, *told(memory, query.text, today, query, mode))

        for name, kind in QUESTIONS.items():
            if (folder / name).exists():
                for query in read_queries((folder / name).read_text("utf-8").split("\n"), name):
                    today = date.fromisoformat(query.date[:10]) if query.date else TODAY
                    yield given(kind, query)
        for line in PROMPTS.read_text("utf-8").splitlines():
            record = json.loads(line)
            yield given(record["kind"], Query(record["id"], record["prompt"], "-", None, ()))


def rows(title: str, given: Sequence[Given]) -> Iterator[str]:
    """Write what the two halves got."""
    for half, name in enumerate(("chosen on", "other")):
        yield _row(title, name, [each for each in given if each.half == half])


def _row(title: str, name: str, given: Sequence[Given]) -> str:
    of = {kind: [each for each in given if each.kind == kind]
          for kind in ("need", "no answer", *KINDS)}  # fmt: skip
    need, unneeded = of["need"], [each for kind in KINDS for each in of[kind]]
    told_tokens = [each.tokens for each in need if each.tokens]
    cells = [
        str(len(need)),
        _share([bool(each.tokens) for each in need]),
        _share([each.has_evidence for each in need]),
        str(len(of["no answer"])),
        *(_share([bool(each.tokens) for each in of[kind]]) for kind in ("no answer", *KINDS)),
        f"{sum(told_tokens) / max(1, len(told_tokens)):.0f}",
        f"{sum(each.tokens for each in unneeded) / max(1, len(unneeded)):.1f}",
    ]
    return f"| {title} | {name} | {' | '.join(cells)} |\n"


def _share(flags: Sequence[bool]) -> str:
    return f"{sum(flags) / len(flags):.3f}" if flags else "-"


OPTIONS = (
    option("folders", type=Path, nargs="+"),
    option("--stores", type=Path),
    option("--mode", choices=("hybrid", "keyword"), default="hybrid"),
)


def main(options: Namespace) -> None:
    sys.stdout.write(HEAD)
    for root in options.folders:
        found = sorted(file.parent for file in root.resolve().glob("**/queries.jsonl"))
        given = [
            each
            for folder in found
            for each in asked(folder, store_of(folder, options.stores), options.mode)
        ]
        sys.stdout.writelines(rows(root.name, given))
        sys.stdout.flush()
