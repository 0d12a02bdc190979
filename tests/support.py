"""Small makers of documents, settings and stores for the tests of indexing, store and Markdown."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from memcli.embedding.encoders import Vector
from memcli.embedding.models import known
from memcli.embedding.wordpiece import SPECIAL_TOKENS, WordPiece
from memcli.errors import Reason, RetrieverError
from memcli.indexing.planning import Settings
from memcli.language.tokens import fertility
from memcli.markdown.chunker import chunk_document
from memcli.markdown.parse import LONGEST_TITLE, parse
from memcli.markdown.segments import choose_context, embedded_text, segment_hash
from memcli.render.reasons import sentence
from memcli.types import Chunk, Encoder, Limits, Source, named_days
from memcli.workspace.dating import heading_days

PART_MAX = 256
FAR_FUTURE_NS = 4_000_000_000_000_000_000  # no file is ever too young to trust

_ticks: Iterator[int] = count(1_700_000_000_000_000_000, 1_000_000)


@cache
def _wordpiece() -> WordPiece:
    return WordPiece()


def count_tokens(text: str) -> int:
    return _wordpiece().count(text)


def vector_of(encoder: Encoder, text: str) -> Vector:
    """Embed a query by an encoder that is open already."""
    try:
        blob = encoder.encode_query(text)
    except RetrieverError as error:
        return Vector(None, "", error.reason, 1.0)
    cut = fertility(encoder.count(text) - SPECIAL_TOKENS, text)
    return Vector(
        blob, encoder.fingerprint, None, cut if known(encoder.fingerprint).latin_only else 1.0
    )


def cited(answer: str) -> list[str]:
    """Give the citations of an answer in a pipe: a line for each file, then numbered lines."""
    found: list[list[str]] = []
    for line in answer.splitlines():
        number, colon, _ = line.partition(": ")
        if colon and number.isdigit():
            found[-1].append(number)
        elif not line.startswith("  "):
            found.append([line.split("  ")[0]])
    return [f"{path}:{numbers[0]}-{numbers[-1]}" for path, *numbers in found]


def make_limits(chunk_tokens: int = 240, overlap: int = 0, part_max: int = PART_MAX) -> Limits:
    return Limits(chunk_tokens, overlap, part_max, count_tokens)


def chunks_of(
    text: str,
    *,
    title: str = "T",
    date: str | None = None,
    limits: Limits | None = None,
    **told: Any,
) -> tuple[Chunk, ...]:
    return chunk_document(
        parse(text),
        title=title,
        limits=limits or make_limits(),
        heading_days=heading_days,
        days=(date, date) if date else None,
        **told,
    )


def context_of(chunk: Chunk, title: str, limits: Limits) -> str:
    """Give the context line of a chunk whose document has no description."""
    said = named_days((chunk.first_day or chunk.date, chunk.date)) if chunk.date else None
    return choose_context(title, chunk.heading_path, said, limits)


def checked_chunks(
    text: str, *, title: str = "T", limits: Limits | None = None
) -> tuple[Chunk, ...]:
    """Cut a text; its chunks are exact spans, and their parts lie in order and fit the model."""
    limits = limits or make_limits()
    raw, lines = text.encode(), text.split("\n")
    chunks = chunks_of(text, title=title, limits=limits)
    assert len({chunk.anchor for chunk in chunks}) == len(chunks)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    for one, two in pairwise(chunks):
        assert one.end_byte <= two.start_byte or limits.overlap_tokens
    for chunk in chunks:
        assert raw[chunk.start_byte : chunk.end_byte] == chunk.text.encode()
        assert chunk.text in "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        assert all(0 < len(title) <= LONGEST_TITLE for title in chunk.heading_path)
        context, at = context_of(chunk, title, limits), 0
        assert chunk.segments
        for part in chunk.segments:
            assert at <= part.start < part.end <= len(chunk.text)
            assert chunk.start_line <= part.start_line <= part.end_line <= chunk.end_line
            at = part.end
            embedded = embedded_text(context, part.prefix, chunk.text[part.start : part.end])
            assert part.hash == segment_hash(embedded)
            assert count_tokens(embedded) <= limits.part_max
    return chunks


def make_settings(root: Path, *sources: Source, limits: Limits | None = None) -> Settings:
    return Settings(
        sources=sources or (Source("memory", str(root), ("**/*.md",)),),
        limits=limits or make_limits(),
        max_bytes=8 << 20,
        follow_symlinks=False,
        now_ns=lambda: FAR_FUTURE_NS,
    )


def write(root: Path, path: str, text: str | bytes) -> Path:
    """Write a file with a modification time of its own, whatever the file system's clock."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    touch(file)
    return file


def write_files(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder, and return it."""
    for path, text in files.items():
        write(root, path, text)
    return root


def touch(file: Path) -> None:
    tick = next(_ticks)
    os.utime(file, ns=(tick, tick))


def loaded_by(code: str, **environ: str) -> set[str]:
    """Run Python code in a process of its own; give the modules that it has loaded."""
    first, last = "before = {*sys.modules}", "print('', *{*sys.modules} - before, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{first}\n{code}\n{last}"],
        env={**os.environ, **environ}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(done.stdout.split("\n"))


def by_night(*values: object) -> list[ParameterSet]:
    """Return cases of a test that only a nightly run tries."""
    return [pytest.param(value, marks=pytest.mark.nightly) for value in values]


def reason_text(reason: Reason | None) -> str:
    """Give a reason as a person reads it; empty for none."""
    return sentence(reason) if reason else ""


def strict(schema: Any) -> Any:
    """Give a schema that allows no key it does not name, so that a test finds each new one.

    An object of which only `schema` is named is a record of another schema.
    """
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict(value) for key, value in schema.items()}
    if "type" in schema and set(schema.get("properties", {})) - {"schema"}:
        closed.setdefault("additionalProperties", False)
    return closed
