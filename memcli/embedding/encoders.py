"""The encoders that a configuration may name: one record each, and no import until one is used.

To add one, write a module with an `Opener` and a record here; what it has to be told by the user
stands in `choice`. A program that uses memcli may add an encoder of its own by `registry.register`.
"""

from __future__ import annotations

from collections.abc import Callable

from memcli.checking import TYPE_CHECKING
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.embedding.opener import Opener


class EncoderRecord(Record):
    """One kind of encoder, by its name in the configuration."""

    name: str
    opener: Callable[[], Opener] | None  # imports its module; None: makes no vectors
    model: str = ""  # the name of its model, where that is always the same
    user_only: bool = False  # what a workspace's file, which may come with a clone, cannot choose
    is_server: bool = False  # texts leave the process: what fails may work again by itself


def _bundled() -> Opener:
    from memcli.embedding.bundled import OPENER

    return OPENER


def _multilingual() -> Opener:
    from memcli.embedding.multilingual import OPENER

    return OPENER


def _onnx() -> Opener:
    from memcli.embedding.local import OPENER

    return OPENER


def _openai() -> Opener:
    from memcli.embedding.endpoint import OPENER

    return OPENER


RECORDS: dict[str, EncoderRecord] = {
    record.name: record
    for record in (
        EncoderRecord("bundled", _bundled, model="all-MiniLM-L6-v2-int8"),
        EncoderRecord("multilingual", _multilingual, model="multilingual-e5-small-q4"),
        EncoderRecord("onnx", _onnx, user_only=True),
        EncoderRecord("openai", _openai, user_only=True, is_server=True),
        EncoderRecord("none", None),
    )
}
PUBLIC = tuple(RECORDS)
USER_ONLY = tuple(name for name, record in RECORDS.items() if record.user_only)
ADDED: list[str] = []  # see `registry.register`
