"""Keep what was appended last, so that it can be taken back: a file in the workspace's cache."""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from contextlib import suppress

from memcli.remember.append import Appended
from memcli.system import FILE_FLAGS
from memcli.workspace.whole import write_whole

NAME = "remembered.json"
_MOST_BYTES = 16 << 20


def keep(folder: str, made: Appended) -> None:
    """Write an append in the place of the one before; OSError where that cannot be."""
    record = {**made._asdict(), "data": b64encode(made.data).decode()}
    write_whole(os.path.join(folder, NAME), json.dumps(record))


def last_append(folder: str) -> Appended | None:
    """Read the last append; None where there is none, or nothing that memcli wrote.

    OSError where it cannot be read.
    """
    try:
        descriptor = os.open(os.path.join(folder, NAME), os.O_RDONLY | FILE_FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with suppress(ValueError, TypeError, KeyError, RecursionError):
        with open(descriptor, encoding="utf-8") as file:
            record = json.loads(file.read(_MOST_BYTES))
        made = Appended(**{**record, "data": b64decode(record["data"])})
        numbers = (made.before, made.first_line, made.last_line)
        if isinstance(made.path, str) and all(type(number) is int for number in numbers):
            return made
    return None


def forget(folder: str) -> None:
    """Remove it: it was taken back, and is not found again where it stays."""
    with suppress(OSError):
        os.remove(os.path.join(folder, NAME))
