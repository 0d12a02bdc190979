"""What the bench commands share: files, the index in step, the pipeline on one open store."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, Any

from memcli import __version__
from memcli.cli.context import Context
from memcli.cli.side_files import own_file, read_text
from memcli.errors import NotFoundError
from memcli.types import FileText, Filters, shown

if TYPE_CHECKING:
    from memcli.bench.metrics import LineCosts
    from memcli.bench.queries import Query
    from memcli.embedding.registry import Opened
    from memcli.search.pipeline import Answer, Vector

QUESTIONS = os.path.join(".memcli", "questions.jsonl")  # hidden: never part of the memory
RUN_DEPTH = 100
LINE_END_TOKENS = 0.25  # one more character a line
SYNC_WAIT_SECONDS = 60.0


def questions(path: str | None, context: Context, *, silent: bool) -> tuple[str, list[Query]]:
    """Read the confirmed questions of a file, by default the workspace's own."""
    from memcli.bench.queries import confirmed, read_queries

    name = path or own_file(QUESTIONS, context)
    hint = "memcli bench quality --help" if path else "memcli bench init"
    sources = [source.name for source in context.config.sources]
    everything = read_queries(read_text(name, hint).split("\n"), name, sources)
    kept = confirmed(everything, name)
    if len(kept) < len(everything) and not silent:
        drafts = len(everything) - len(kept)
        context.terminal.say(f"{drafts} of {len(everything)} questions are drafts: not counted.")
    return name, kept


def bring_in_step(context: Context, *, silent: bool) -> dict[str, int]:
    """Bring the index in step, vectors included, and say what that took."""
    from memcli.cli.index_run import Job, Vectors, run_once
    from memcli.cli.progress import Progress

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
    for skip in report.unlisted:
        folder = shown(skip.source, skip.path or ".")
        terminal.warn(f"{folder} cannot be listed: {skip.detail}; its rows stay")
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
        from memcli.search.pipeline import Vector
        from memcli.search.query_vector import vector_of

        if self._opened is None:
            self._opened = self._context.open_encoder()
            if self._opened.encoder is None and self._opened.reason:
                self._context.terminal.warn(f"by keywords alone: {self._opened.reason}")
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
        from memcli.search.options import options_of
        from memcli.store.sqlite.reader import Reader

        self._context, self._vectors = context, vectors
        wanted = options_of(context.config, filters=Filters())
        self._options = wanted._replace(limit=limit, without=without)
        self._reader = Reader(context.store)

    def __call__(self, text: str, day: str | None) -> Answer:
        """Answer a question as `search` does, on the day on which it is asked."""
        from memcli.search.dates import find_dates
        from memcli.search.pipeline import NOTHING, search
        from memcli.search.query import parse
        from memcli.workspace.dating import age_days

        today = date.fromisoformat(day) if day else self._context.today
        spans = find_dates(text, today)
        parsed = parse(text, soft=[(s.at, s.at + len(s.text)) for s in spans])
        if parsed.is_empty:
            return NOTHING

        return search(
            self._reader,
            parsed,
            spans,
            self._options,
            embed_query=lambda: self._vectors(parsed.text),
            age_days=lambda day: age_days(day, today.isoformat()),
        )

    def index(self) -> dict[str, Any]:
        """Describe the index that the answers come from."""
        counts = self._reader.counts()
        return {
            "revision": int(self._reader.meta("revision") or 0),
            "fingerprint": self._reader.meta("fingerprint"),
            "documents": counts.documents,
            "chunks": counts.chunks,
            "parts": counts.parts,
            "embedded": counts.embedded,
        }

    def close(self) -> None:
        """Close the store."""
        self._reader.close()


def line_costs(context: Context) -> LineCosts:
    """Read documents as the index does, each once, and give the tokens of their lines.

    A document that cannot be read has none, nor has one of a source that is no longer configured.
    """
    from memcli.indexing.planning import read
    from memcli.markdown.tokens import quotient

    settings = context.index_settings()
    names = {source.name for source in settings.sources}
    costs: dict[tuple[str, str], list[float]] = {}

    def of(document: tuple[str, str]) -> Sequence[float]:
        if document not in costs:
            costs[document] = []
            source, path = document
            with suppress(NotFoundError):  # a path that leads outside
                file = read(settings, source, path) if source in names else None
                if isinstance(file, FileText):
                    lines = file.text.split("\n")
                    costs[document] = [quotient(line) + LINE_END_TOKENS for line in lines]
        return costs[document]

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
