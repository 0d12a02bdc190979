r"""Keep file names that are not UTF-8 printable; leaves what to do with them to discover."""

from __future__ import annotations

import os


def is_utf8(name: str) -> bool:
    """Tell whether a name can be stored and shown as text."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(path: str) -> str:
    r"""Write bytes that are not UTF-8 as `\xNN`."""
    if is_utf8(path):
        return path
    return os.fsencode(path).decode("utf-8", "backslashreplace")
