"""Embed one query in the quickest way there is, falling back to the ordinary one.

The quick way rests on a model file that was verified when the index was made; a file that has
changed since is verified again before its vectors are believed.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from memcli.embedding.choice import Choice, Remembered
from memcli.embedding.models import Located, fingerprint, locate, verify
from memcli.embedding.registry import fingerprint_of, open_encoder
from memcli.embedding.wordpiece import SPECIAL_TOKENS, query_ids
from memcli.errors import LegMissingError
from memcli.types import Encoder


class Embedded(NamedTuple):
    """The vector of a query, or why there is none."""

    vector: bytes | None
    fingerprint: str
    reason: str
    way: str  # quick | package | "" without a vector
    tokens: int  # of the text, without the special ones


def remember(choice: Choice, encoder: Encoder) -> str:
    """Name the model's files for `meta`: while these stay the same, they are not read again."""
    if encoder.fingerprint.startswith("onnx:"):
        from memcli.embedding.local import local_identity

        return f"{local_identity(choice.local)}\n{encoder.fingerprint}"
    for name in ("bundled", "multilingual"):
        if fingerprint_of(name, choice) == encoder.fingerprint:
            return _pinned(name)
    return ""


def _pinned(name: str) -> str:
    """Name place, size and time of the pinned file of an encoder; empty where it is not here."""
    found: tuple[Located, ...] = ()
    if name == "bundled":
        found = locate()
    elif name == "multilingual":
        from memcli.embedding.multilingual import E5

        found = locate(models=(E5,))
    return _identity(found[0]) if found else ""


def is_verified(choice: Choice, remembered: Remembered) -> bool:
    """Tell that the wanted encoder's files are those that the index was made with."""
    name = choice.names[0]
    if name in ("bundled", "multilingual"):
        return _pinned(name) == remembered.model
    if name == "onnx":
        from memcli.embedding.local import local_identity

        files = (remembered.model or "").rpartition("\n")[0]
        return files != "" and files == local_identity(choice.local)
    return True


def embed_query(choice: Choice, text: str, remembered: Remembered) -> Embedded:
    """Embed a query by that encoder of the configuration which has made the index."""
    name = _name_for(choice, remembered)
    if name is None:  # nothing is opened or sent in vain
        told = "the index holds vectors of another model. Try: memcli index"
        return Embedded(None, "", told, "", 0)
    if name == "bundled":
        found = locate()
        if found and (_identity(found[0]) == remembered.model or verify(found[0])):
            from memcli.embedding.quick import QuickError, encode_ids

            model = found[0].model
            ids = query_ids(text, model.max_tokens)
            try:
                vector = encode_ids(ids, found[0])
                return Embedded(vector, fingerprint(model), "", "quick", len(ids) - SPECIAL_TOKENS)
            except QuickError as error:
                only = choice._replace(names=(name,))
                return _by_package(only, text, remembered, check=False, why=str(error))
    only = choice._replace(names=(name,))
    if name == "openai":
        return _by_server(only, text, remembered)
    check = name == "bundled" or (name == "multilingual" and _pinned(name) != remembered.model)
    return _by_package(only, text, remembered, check=check, why="")


def _name_for(choice: Choice, remembered: Remembered) -> str | None:
    """Name the encoder that has made the index; without vectors, the wanted one.

    Of one that is not installed nothing can be told, save by opening it.
    """
    if remembered.fingerprint is None:
        return choice.names[0]
    found = [(name, fingerprint_of(name, choice, remembered)) for name in choice.names]
    for name, fingerprint_here in found:
        if fingerprint_here == remembered.fingerprint:
            return name
    return next((name for name, fingerprint_here in found if fingerprint_here is None), None)


def _by_server(choice: Choice, text: str, remembered: Remembered) -> Embedded:
    """Embed by an endpoint: a long query takes several requests, and a search has one deadline."""
    from memcli.embedding.deadline import within
    from memcli.embedding.endpoint import IN_PASSING

    work = partial(_by_package, choice, text, remembered, check=False, why="")
    try:
        return within(IN_PASSING, work)
    except TimeoutError as error:
        return Embedded(None, "", f"the endpoint gives {error}", "", 0)


def _by_package(
    choice: Choice, text: str, remembered: Remembered, *, check: bool, why: str
) -> Embedded:
    opened = open_encoder(choice, check=check, remembered=remembered)
    if opened.encoder is None:
        return Embedded(None, "", opened.reason or why, "", 0)
    encoder = opened.encoder
    try:
        vector = encoder.encode_query(text)
    except LegMissingError as error:
        return Embedded(None, "", error.message, "", 0)
    tokens = encoder.count(text) - SPECIAL_TOKENS
    return Embedded(vector, encoder.fingerprint, why, "package", tokens)


def _identity(located: Located) -> str:
    return f"{located.path}|{located.size}|{located.mtime_ns}"
