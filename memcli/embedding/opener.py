"""What the module of an encoder gives to `registry`: how it is found, named and opened.

Types alone, so that a module can fill in its `Opener` without knowing who asks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.record import Record

if TYPE_CHECKING:
    from typing import Protocol

    from memcli.embedding.choice import Choice, Remembered
    from memcli.errors import Reason
    from memcli.types import Encoder
else:
    Protocol = object  # only a checker of types asks

Folders = tuple[str, ...]  # that packages are imported from
# The token ids of one text to its float32 vector; LegMissingError where the model fails.
Run = Callable[[Sequence[int]], bytes]


class Opened(Record):
    """An encoder, or why there is none; with one, a reason tells what was passed over."""

    encoder: Encoder | None
    reason: Reason | None = None
    name: str = ""  # of the encoder in the configuration
    at_once: int = 1  # threads that may call `encode` at the same time
    texts: int = 32  # that a call of it is best given


class Opening(Record):
    """How an encoder is to be opened; see `registry.open_encoder`."""

    folders: Folders
    check: bool
    wanted: str | None
    sleep: Callable[[float], None] | None
    remembered: Remembered


class QuickError(Exception):
    """The quick way is not open here; the ordinary one may still be."""


class Quick(Protocol):
    """A model opened for queries alone, in less time than the encoder takes."""

    @property
    def fingerprint(self) -> str:
        """Name the vectors, as the encoder does."""
        ...

    def embed(self, text: str) -> tuple[bytes, int]:
        """Give a query's vector and its tokens without the special ones; raises QuickError."""
        ...

    def encoder(self) -> Encoder | None:
        """Give an encoder of a few texts by the same model, None where its vectors would differ.

        It lasts as long as the model is open.
        """
        ...

    def close(self) -> None:
        """Free the model."""
        ...


class Opener(Record):
    """The functions of one kind of encoder."""

    # Names the vectors without opening anything, None where the encoder is not there.
    fingerprint: Callable[[Choice, Remembered, Folders], str | None]
    # Opens the encoder or raises LegMissingError.
    open: Callable[[Choice, Opening], Opened]
    # Names places, sizes and times of the model's files, which need not be read again while
    # these stay; empty where they are not there. None: there is nothing to read.
    files: Callable[[Choice], str] | None = None
    # Opens the quick way for queries: None without the right file; raises QuickError.
    quick: Callable[[Choice, Opening], Quick | None] | None = None
    # Tells that `open` looks for the `wanted` fingerprint among several models itself.
    has_several: bool = False
    # Most that a query waits for a server, from opening to the vector; None: nothing is asked.
    query_seconds: float | None = None
