"""The encoders that a configuration names, in order, and what each has to be told.

Plain data: `registry` opens what stands here. Which names there are, `encoders` says.
"""

from __future__ import annotations

from collections.abc import Callable

from memcli.errors import Reason
from memcli.record import Record

WHOLE = ";cut=0"  # in a fingerprint: all components are kept, which earlier versions might not do


class LocalModel(Record):
    """A folder with an ONNX model and its tokenizer."""

    folder: str = ""
    pooling: str = "mean"  # mean | cls | model: its own output of one vector a text
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int = 256  # special ones and the prefix included


class Endpoint(Record):
    """A server that speaks the OpenAI embeddings protocol."""

    url: str = ""  # up to and without /embeddings
    model: str = ""
    # Reads the key when it is needed, so that no record that may be printed holds it.
    key: Callable[[], str | None] = lambda: None
    key_variable: str = ""  # the environment variable that holds the key; empty: no key
    dimension: int = 0  # what the model gives; 0: not told yet
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int = 512  # counted with the shipped vocabulary
    timeout_seconds: float = 30.0


class Choice(Record):
    """The wanted encoder, those that stand in for it, and their settings."""

    names: tuple[str, ...] = ("bundled",)
    threads: int = 0  # that embed at the same time; 0: as many as can
    local: LocalModel = LocalModel()
    endpoint: Endpoint = Endpoint()


class Remembered(Record):
    """What an index knows of the model that made it."""

    model: str | None  # see `registry.remember`
    fingerprint: str | None


# A query is never compared with vectors that another model has made.
OTHER_MODEL = Reason("other-model", "the index holds vectors of another model", "memcli index")
