"""Open folders below a workspace to write in them, and say why that fails."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from memcli.errors import NotFoundError, UsageError, quote
from memcli.workspace import openat

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@contextmanager
def opened(root: str, path: str, *, makes: int = 0) -> Iterator[int | str]:
    """Open a folder of a workspace, no link on the way; the last `makes` folders may be missing.

    Later calls stay in it, even if somebody replaces it by a link meanwhile.
    """
    names = [name for name in path.split("/") if name]
    folder = openat.open_root(root)
    try:
        for left, name in zip(range(len(names), 0, -1), names, strict=True):
            step = openat.make_folder if left <= makes else openat.open_folder
            child = step(folder, name)
            openat.close(folder)
            folder = child
        yield folder
    finally:
        openat.close(folder)


@contextmanager
def explained(root: str, path: str, *, what: str, instead: str) -> Iterator[None]:
    """Turn an OSError into an error that names the path that cannot be written.

    The hint for a link is `instead`; `what` names the files in the plural.
    """
    try:
        yield
    except OSError as error:
        at = there = root
        for name in path.split("/"):
            at = os.path.join(at, name)
            if os.path.islink(at):
                raise NotFoundError(
                    f"{at} is a link; {what} are written inside the workspace only", hint=instead
                ) from error
            there = at if os.path.lexists(at) else there
        fix = (
            "make room, then the same command" if error.errno in _FULL else f"ls -ld {quote(there)}"
        )
        raise UsageError(
            f"{at} cannot be written: {openat.reason(error)}",
            hint=fix,
        ) from error
