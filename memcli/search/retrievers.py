"""Decide which retrievers of a search run, how they are weighed, and why one does not."""

from __future__ import annotations

from collections.abc import Callable

from memcli.checking import TYPE_CHECKING
from memcli.embedding.encoders import OTHER_MODEL
from memcli.embedding.models import is_readable, known, readable
from memcli.errors import Reason
from memcli.record import Record
from memcli.search.fusion import Weights

if TYPE_CHECKING:
    from memcli.search.options import SearchOptions
    from memcli.search.query import ParsedQuery
    from memcli.store.port import Snapshot
    from memcli.store.records import Counts

# From so many tokens a word on, meaning counts for less: the model was not taught the language,
# or the query is made of identifiers.
FERTILITY_LIMIT = 1.7
# Below this share of the parts that can be embedded the answer is by keywords alone.
EMBEDDED_LIMIT = 0.5
OTHER_MODELS = "memcli help settings"  # says how to get the one of `multilingual`
MODE_IS_LEXICAL = Reason("mode", "the mode is keyword")
MODE_IS_DENSE = Reason("mode", "the mode is semantic")


class RetrieverUse(Record):
    """Whether a retriever ran, why not or not in full, and on how much."""

    ran: bool
    reason: Reason | None
    embedded: int
    total: int


class Vector(Record):
    """The query's vector and the encoder it comes from, or why there is none."""

    blob: bytes | None
    fingerprint: str
    reason: Reason | None
    fertility: float  # tokens a word of the query was cut into


def retriever_weights(options: SearchOptions, vector: Vector | None, *, lexical: bool) -> Weights:
    """Weigh the retrievers that ran; what the model can hardly read leans on words."""
    if vector is None:
        return Weights(0.0, 1.0)
    if not lexical:
        return Weights(1.0, 0.0)
    if not options.has("fuse.fertility"):
        return options.weights
    trust = min(1.0, FERTILITY_LIMIT / vector.fertility)
    trust *= known(vector.fingerprint).belief
    return Weights(options.weights.vector * trust, 1.0 - options.weights.vector * trust)


def semantic_retriever(
    snapshot: Snapshot,
    query: ParsedQuery,
    options: SearchOptions,
    embed_query: Callable[[str], Vector],
    counts: Counts,
) -> tuple[RetrieverUse, Vector | None]:
    """Decide whether vectors take part; each reason is said to the user."""

    def off(reason: Reason | None) -> tuple[RetrieverUse, None]:
        return RetrieverUse(False, reason, counts.embedded, counts.embeddable), None

    if options.mode == "lexical":
        return off(MODE_IS_LEXICAL)
    if options.encoder == "none":
        text = "the configuration turns vectors off (embedding.encoder)"
        return off(Reason("off", text))
    index_fingerprint = snapshot.facts.fingerprint
    if not is_readable(query.text, index_fingerprint or options.encoder):
        text = (
            "the model reads English, and the query is in another script, which the extra"
            " multilingual reads"
        )
        return off(Reason("script", text, OTHER_MODELS))
    if index_fingerprint is None:
        return off(Reason("not-embedded", "nothing is embedded yet", "memcli index"))
    if counts.left_out and not counts.embeddable:
        text = "all texts are in scripts that the extra multilingual reads, and this model does not"
        return off(Reason("script", text, OTHER_MODELS))
    if counts.embedded < EMBEDDED_LIMIT * counts.embeddable:
        text = f"{counts.embedded} of {counts.embeddable} texts are embedded so far"
        return off(Reason("not-embedded", text, "memcli index"))
    vector = embed_query(readable(query.text, index_fingerprint))
    if vector.blob is None:
        return off(vector.reason)
    if index_fingerprint != vector.fingerprint:
        return off(OTHER_MODEL)
    return RetrieverUse(True, None, counts.embedded, counts.embeddable), vector
