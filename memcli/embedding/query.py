"""Embed one query in the quickest way there is, falling back to the ordinary one.

The quick way rests on a model file that was verified when the index was made; a file that has
changed since is verified again before its vectors are believed.
"""

from __future__ import annotations

from typing import NamedTuple

from memcli.embedding.models import Located, fingerprint, locate, verify
from memcli.embedding.registry import open_encoder
from memcli.embedding.wordpiece import SPECIAL_TOKENS, query_ids


class Embedded(NamedTuple):
    """The vector of a query, or why there is none."""

    vector: bytes | None
    fingerprint: str
    reason: str
    way: str  # quick | package | "" without a vector
    tokens: int  # of the text, without the special ones


def identity(name: str) -> str:
    """Name the model file's place, size and time; empty for encoders without a file."""
    found = locate() if name == "bundled" else ()
    return _identity(found[0]) if found else ""


def embed_query(name: str, text: str, *, verified: str | None) -> Embedded:
    """Embed a query; `verified` is the identity that was verified when the index was made."""
    if name == "bundled":
        found = locate()
        if found and (_identity(found[0]) == verified or verify(found[0])):
            from memcli.embedding.quick import QuickError, encode_ids

            model = found[0].model
            ids = query_ids(text, model.max_tokens)
            try:
                vector = encode_ids(ids, found[0])
                return Embedded(vector, fingerprint(model), "", "quick", len(ids) - SPECIAL_TOKENS)
            except QuickError as error:
                return _by_package(name, text, check=False, why=str(error))
    return _by_package(name, text, check=True, why="")


def _by_package(name: str, text: str, *, check: bool, why: str) -> Embedded:
    opened = open_encoder(name, check=check)
    if opened.encoder is None:
        return Embedded(None, "", opened.reason or why, "", 0)
    encoder = opened.encoder
    tokens = encoder.count(text) - SPECIAL_TOKENS
    return Embedded(encoder.encode_query(text), encoder.fingerprint, why, "package", tokens)


def _identity(located: Located) -> str:
    return f"{located.path}|{located.size}|{located.mtime_ns}"
