"""Compare the tokens of a query with those of texts, with the bundled model (late interaction).

The similarity of a text is the mean, over the query's tokens, of the greatest cosine to one of the
text's tokens, without special tokens (ColBERT's MaxSim; Khattab and Zaharia, 2020). The states are
those of the last layer, before the mean that makes a vector, so only the graph differs. The states
of texts stay in memory, because later questions in one process mostly read the same passages.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from threading import Event

from memcli.checking import TYPE_CHECKING
from memcli.embedding.encoders import QueryModelError
from memcli.embedding.models import ModelFile, read_graph
from memcli.embedding.onnx_c_api import QuickSession, of_tokens
from memcli.embedding.wordpiece import SPECIAL_TOKENS, WordPiece
from memcli.errors import RetrieverError
from memcli.system import cores

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

HINT = "memcli status --deep"
KEPT = 200  # texts whose states stay in memory: about 32 MB of usual passages, at most 78


class TokenReranker:
    """Computes how similar texts are to a query; satisfies `Scorer`."""

    def __init__(self, located: ModelFile, *, threads: int = 0) -> None:
        """Open the model, a verified copy of the pinned file; RetrieverError if that fails.

        For `threads` see `system.cores`.
        """
        self._model = located.model
        self._threads = cores(threads)
        self._words = WordPiece()
        try:
            graph = read_graph(located.model, with_states=True)
            session = QuickSession(located, graph, is_for_one_run=False)
        except QueryModelError as error:
            raise RetrieverError(str(error), hint=HINT) from error
        self._states = lru_cache(KEPT)(partial(_states, session, located.model.dimension))

    def scores(self, query: str, texts: Sequence[str], is_over: Event) -> list[float]:
        """Return similarities from -1 to 1, or 0 for a text without words; a long text is cut."""
        ids = self._ids(query)
        if len(ids) <= SPECIAL_TOKENS:
            raise RetrieverError("the model finds no word in the query", hint="ask with a word")
        rows = [self._ids(text) for text in texts]
        try:
            query_rows = self._vectors(ids)
            compare = partial(self._compare, query_rows, is_over)
            with ThreadPoolExecutor(self._threads) as pool:
                return list(pool.map(compare, rows))
        except QueryModelError as error:
            raise RetrieverError(str(error), hint=HINT) from error

    def _ids(self, text: str) -> tuple[int, ...]:
        return tuple(self._words.ids(text, self._model.max_tokens))

    def _compare(self, query: NDArray[float32], is_over: Event, ids: tuple[int, ...]) -> float:
        if len(ids) <= SPECIAL_TOKENS or is_over.is_set():
            return 0.0
        return float((query @ self._vectors(ids).T).max(axis=1).mean())

    def _vectors(self, ids: tuple[int, ...]) -> NDArray[float32]:
        import numpy as np

        return np.frombuffer(self._states(ids), "<f4").reshape(-1, self._model.dimension)


def _states(session: QuickSession, dimension: int, ids: tuple[int, ...]) -> bytes:
    """Compute the states of a text, without special tokens, each at unit length."""
    return session.run(of_tokens(ids), b"states", (len(ids) - SPECIAL_TOKENS) * dimension)
