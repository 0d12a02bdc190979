"""What the bench commands share: files, the index in step, the pipeline on one open store."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from memcli import __version__
from memcli.cli.context import Context
from memcli.cli.side_files import own_file, read_text
from memcli.types import Filters, Skip

if TYPE_CHECKING:
    from memcli.bench.metrics import LineCosts
    from memcli.bench.queries import Query
    from memcli.embedding.opener import Opened
    from memcli.search.pipeline import Answer, Observer, Vector

QUESTIONS = os.path.join(".memcli", "questions.jsonl")  # hidden: never part of the memory
RUN_DEPTH = 100
LINE_END_TOKENS = 0.25  # one more character a line
SYNC_WAIT_SECONDS = 60.0


def questions(path: str | None, context: Context, *, silent: bool) -> tuple[str, list[Query]]:
    """Read the confirmed questions of a file, by default the workspace's own."""
    from memcli.bench.queries import confirmed, read_queries

    name = path or own_file(QUESTIONS, context)
    hint = "memcli bench quality --help" if path else "memcli bench init"
    everything = read_queries(read_text(name, hint).split("\n"), name)
    kept = confirmed(everything, name)
    if len(kept) < len(everything) and not silent:
        drafts = len(everything) - len(kept)
        context.terminal.say(f"{drafts} of {len(everything)} questions are drafts: not counted.")
    return name, kept


def bring_in_step(context: Context, *, silent: bool) -> dict[str, int]:
    """Bring the index in step, vectors included, and say what that took."""
    from memcli.cli.index_run import Job, Vectors, run_once
    from memcli.cli.progress import Progress
    from memcli.indexing.notices import unlisted

    terminal = context.terminal
    # Questions that go by words alone need no vectors.
    texts = 0 if context.config("search.mode") == "lexical" else None
    job = Job(full=False, prune=False, wait_seconds=SYNC_WAIT_SECONDS, texts=texts)
    with Progress(terminal, context.monotonic) as progress:
        vectors = Vectors(context, progress.update)
        done = run_once(context, job, vectors, sleep=context.sleep, on_progress=progress.update)
    report = done.report
    for notice in report.notices:
        terminal.warn(notice)
    for folder in report.unlisted:
        terminal.advise(unlisted(folder))
    counts = {
        "added": len(report.added),
        "changed": len(report.changed) + len(report.moved),
        "removed": len(report.removed),
        "embedded": done.embedded,
    }
    told = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
    if told and not silent:
        terminal.say(f"Index brought in step: {told}.")
    return counts


class QueryVectors:
    """The vectors of questions, each made once; the encoder is opened for the first."""

    def __init__(self, context: Context) -> None:
        """Take the encoder of the settings."""
        self._context = context
        self._opened: Opened | None = None
        self._made: dict[str, Vector] = {}

    def __call__(self, text: str) -> Vector:
        """Embed a question, or say why that cannot be; the user is told once."""
        from memcli.cli.search_output import by_keywords
        from memcli.search.pipeline import Vector
        from memcli.search.query_vector import vector_of

        if self._opened is None:
            self._opened = self._context.open_encoder()
            if self._opened.encoder is None and self._opened.reason is not None:
                self._context.terminal.advise(by_keywords(self._opened.reason))
        if self._opened.encoder is None:
            return Vector(None, "", self._opened.reason, 1.0)
        if text not in self._made:
            self._made[text] = vector_of(self._opened.encoder, text)
        return self._made[text]


class Searcher:
    """The search pipeline on one open store."""

    def __init__(
        self,
        context: Context,
        vectors: QueryVectors,
        *,
        limit: int = RUN_DEPTH,
        without: frozenset[str] = frozenset(),
    ) -> None:
        """Open the store; `without` names stages to leave out."""
        from memcli.search.options import Inner, options_of

        self._context, self._vectors = context, vectors
        wanted = options_of(context.config, filters=Filters())
        self.options = wanted._replace(limit=limit, inner=Inner(without=without))

    def __call__(self, text: str, day: str | None, observe: Observer | None = None) -> Answer:
        """Answer a question as `search` does, on the day on which it is asked."""
        from memcli.search.dates import find_dates
        from memcli.search.pipeline import NOTHING, search, unobserved
        from memcli.search.query import parse
        from memcli.workspace.dating import age_days

        today = date.fromisoformat(day) if day else self._context.today
        spans = find_dates(text, today)
        parsed = parse(text, soft=[(s.at, s.at + len(s.text)) for s in spans])
        if parsed.is_empty:
            return NOTHING

        with self._context.store.snapshot() as snapshot:
            return search(
                snapshot,
                parsed,
                spans,
                self.options,
                embed_query=lambda: self._vectors(parsed.text),
                age_days=lambda day: age_days(day, today.isoformat()),
                observe=observe or unobserved,
            )

    def index(self) -> dict[str, Any]:
        """Describe the index that the answers come from."""
        with self._context.store.snapshot() as snapshot:
            facts, counts = snapshot.facts, snapshot.counts()
        return {
            "revision": facts.revision,
            "fingerprint": facts.fingerprint,
            "documents": counts.documents,
            "chunks": counts.chunks,
            "parts": counts.parts,
            "embedded": counts.embedded,
        }


def line_costs(context: Context) -> LineCosts:
    """Read documents as the index does, each once, and give the tokens of their lines."""
    from memcli.markdown.tokens import quotient
    from memcli.workspace.reading import read_file

    costs: dict[str, list[float]] = {}

    def of(path: str) -> Sequence[float]:
        if path not in costs:
            costs[path] = []
            for source in context.config.sources:
                if not os.path.isfile(os.path.join(source.root, path)):
                    continue
                file = read_file(
                    source.root,
                    path,
                    source=source.name,
                    max_bytes=context.config("files.max_bytes"),
                )
                if not isinstance(file, Skip):
                    lines = file.text.split("\n")
                    costs[path] = [quotient(line) + LINE_END_TOKENS for line in lines]
                    break
        return costs[path]

    return of


def machine() -> dict[str, Any]:
    """Name this machine well enough to tell it from another, and not who owns it."""
    import platform
    import sys
    from hashlib import sha256

    cpu = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            models = (line for line in file if line.startswith("model name"))
            cpu = next(models, f":{cpu}").partition(":")[2].strip() or cpu
    cores = os.cpu_count() or 1
    told = f"{platform.node()}|{platform.machine()}|{cpu}|{cores}"
    return {
        "id": sha256(told.encode()).hexdigest()[:12],
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": cpu,
        "cores": cores,
        "python": ".".join(map(str, sys.version_info[:3])),
        "memcli": __version__,
    }
