"""The encoders that a configuration may name, what each needs to know, and how one is opened.

Plain data and types. `registry` opens an encoder, `models` knows the model files. To add an
encoder, write a module with an `Opener`, a record here and a line in `registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.errors import Reason
from memcli.record import Record

if TYPE_CHECKING:
    from typing import Protocol

    from memcli.types import Encoder
else:
    Protocol = object  # only for type checkers

WHOLE = ";cut=0"  # in a fingerprint: no component was cut, as earlier versions could do


class LocalModel(Record):
    """A folder with an ONNX model and its tokenizer."""

    folder: str = ""
    pooling: str = "mean"  # mean | cls | model (it returns one vector per text)
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int = 256  # including special tokens and the prefix


class Endpoint(Record):
    """A server that speaks the OpenAI embeddings protocol."""

    url: str = ""  # the part before /embeddings
    model: str = ""
    # Reads the key when it is needed, so that no printable record contains it.
    key: Callable[[], str | None] = lambda: None
    key_variable: str = ""  # the environment variable of the key; empty: no key
    dimension: int = 0  # the size of the model's vectors; 0: not known yet
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int = 512  # counted with the shipped vocabulary
    timeout_seconds: float = 30.0


class Choice(Record):
    """The configured encoder, those that may replace it, and their settings."""

    names: tuple[str, ...] = ("bundled",)  # or AUTO: `registry.resolve_auto` chooses
    threads: int = 0  # 0: as many as the encoder can use
    local: LocalModel = LocalModel()
    endpoint: Endpoint = Endpoint()


class IndexModel(Record):
    """The facts that an index stores about its model."""

    model: str | None  # see `registry.remember`
    fingerprint: str | None
    language: str = ""  # of most texts; see `registry`


# A query is never compared with vectors that another model has made.
OTHER_MODEL = Reason("other-model", "the index has vectors of another model", "memcli index")


class Vector(Record):
    """The vector of a query and its encoder, or the reason why it has none."""

    blob: bytes | None
    fingerprint: str
    reason: Reason | None  # also with a vector: why the quick way failed
    fertility: float = 1.0  # tokens into which a word of the query was cut


# From the token ids of one text to its float32 vector; RetrieverError if the model fails.
Run = Callable[[Sequence[int]], bytes]


class OpenedEncoder(Record):
    """An encoder, or why it could not be opened.

    If one was opened, the reason names those that failed.
    """

    encoder: Encoder | None
    reason: Reason | None = None
    name: str = ""  # of the encoder in the configuration
    at_once: int = 1  # how many threads may call `encode` at the same time
    texts: int = 32  # per call, for the best speed


class Opening(Record):
    """How an encoder is to be opened; see `registry.open_encoder`."""

    check: bool
    fingerprint: str | None
    sleep: Callable[[float], None] | None
    remembered: IndexModel


class QueryModelError(Exception):
    """The quick way cannot be used here; the ordinary encoder may still work."""


class QueryModel(Protocol):
    """A model opened only for queries, which takes less time than opening the encoder."""

    @property
    def fingerprint(self) -> str:
        """Name the vectors, as the encoder does."""

    def embed(self, text: str) -> tuple[bytes, int]:
        """Return a query's vector and its number of ordinary tokens; raises QueryModelError."""

    def encoder(self) -> Encoder | None:
        """Return an encoder of a few texts by the model, or None if its vectors would differ."""


class Opener(Record):
    """The functions of one kind of encoder."""

    # Names the vectors without opening anything; None if the encoder is not installed.
    fingerprint: Callable[[Choice, IndexModel], str | None]
    # Opens the encoder or raises RetrieverError.
    open: Callable[[Choice, Opening], OpenedEncoder]
    # Names places, sizes and times of the model's files. While these stay the same, memcli does not
    # read the files again. Empty if files are missing; None for an encoder without files.
    files: Callable[[Choice], str] | None = None
    # Opens the quick way for queries: None without the right file; raises QueryModelError.
    query_model: Callable[[Choice, Opening], QueryModel | None] | None = None
    # `open` can choose among several models by `fingerprint`.
    has_several: bool = False
    # Seconds that a query may wait for a server, from opening to the vector; None: no server.
    query_seconds: float | None = None


class EncoderRecord(Record):
    """One kind of encoder, by its name in the configuration."""

    name: str
    model: str = ""  # the name of its model, if that never changes
    user_only: bool = False  # a workspace's file may be a stranger's, so it cannot choose it
    is_server: bool = False  # a server: texts leave the process, and a failure may pass by itself


AUTO, BUNDLED, MULTILINGUAL = "auto", "bundled", "multilingual"
RECORDS: dict[str, EncoderRecord] = {
    record.name: record
    for record in (
        EncoderRecord(AUTO),
        EncoderRecord(BUNDLED, model="all-MiniLM-L6-v2-int8"),
        EncoderRecord(MULTILINGUAL, model="multilingual-e5-small-q4"),
        EncoderRecord("onnx", user_only=True),
        EncoderRecord("openai", user_only=True, is_server=True),
        EncoderRecord("none"),
    )
}
PUBLIC = tuple(RECORDS)
USER_ONLY = tuple(name for name, record in RECORDS.items() if record.user_only)
ADDED: list[str] = []  # see `registry.register`
