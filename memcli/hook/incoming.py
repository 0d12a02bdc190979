"""Read the one object that an agent sends, and no more: an agent may keep its end open.

The object may stand on one line or on many. What follows it is not read.
"""

from __future__ import annotations

import json

from memcli.checking import TYPE_CHECKING
from memcli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

BLOCK_BYTES = 1 << 16  # what a pipe holds
MOST_BYTES = 1 << 24
_DECODER = json.JSONDecoder()


def read_object(read: Callable[[int], bytes]) -> dict[str, Any]:
    """Read blocks until there is an object; {} where there is nothing at all.

    UsageError for what is none, and for more than MOST_BYTES of it.
    """
    data = bytearray()
    while block := read(BLOCK_BYTES):
        data += block
        if len(data) > MOST_BYTES:
            raise _malformed(f"more than {MOST_BYTES >> 20} MiB")
        if not _may_end_in(block, len(data)):
            continue
        found = object_in(bytes(data))
        if found is not None:
            return found
    if not data.strip():
        return {}
    found = object_in(bytes(data))
    if found is None:
        raise _malformed("half an object")
    return found


def _may_end_in(block: bytes, length: int) -> bool:
    """Tell whether it is worth a look whether an object is whole; a long one is parsed seldom."""
    if length <= BLOCK_BYTES:
        return True
    return block.rstrip().endswith(b"}") or b"}\n" in block


def object_in(data: bytes) -> dict[str, Any] | None:
    """Parse the object that data begins with; None where it is not whole.

    UsageError for what cannot become one. Example: b'{"prompt": "x"} and more' -> {"prompt": "x"}
    """
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    if text and text[0] != "{":
        raise _malformed("no object")
    try:
        found: dict[str, Any] = _DECODER.raw_decode(text)[0]
    except RecursionError:
        raise _malformed("an object within too many others") from None
    except ValueError:
        return None
    return found


def _malformed(what: str) -> UsageError:
    return UsageError(f"a hook reads one JSON object, and was sent {what}", hint="memcli help hook")
