"""Compare the tokens of a query with those of texts, with the bundled model (late interaction).

The similarity of a text is the mean, over the query's tokens, of the greatest cosine to one of the
text's tokens, without special tokens (ColBERT's MaxSim; Khattab and Zaharia, 2020). The states are
those of the last layer, before the mean that makes a vector, so only the graph differs. The states
of texts stay in memory, because later questions in one process mostly read the same passages.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event, Lock

from memcli.checking import TYPE_CHECKING
from memcli.embedding.encoders import QueryModelError
from memcli.embedding.models import ModelFile, read_graph
from memcli.embedding.onnx_c_api import QuickSession
from memcli.embedding.wordpiece import SPECIAL_TOKENS, WordPiece
from memcli.errors import RetrieverError
from memcli.system import usable_cores

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

HINT = "memcli status --deep"
KEPT_BYTES = 32 << 20  # of states: about two hundred passages


class StateCache:
    """The states of the texts that were read last; threads may share it."""

    def __init__(self) -> None:
        self._bytes, self._guard = 0, Lock()
        self._states: OrderedDict[tuple[int, ...], bytes] = OrderedDict()

    def get(self, ids: tuple[int, ...]) -> bytes | None:
        """Return the states of a text and count it as the last one read."""
        with self._guard:
            states = self._states.get(ids)
            if states is not None:
                self._states.move_to_end(ids)
            return states

    def put(self, ids: tuple[int, ...], states: bytes) -> None:
        """Keep the states of a text, and drop those that were unused for longest."""
        with self._guard:
            self._bytes += len(states) - len(self._states.pop(ids, b""))
            self._states[ids] = states
            while self._bytes > KEPT_BYTES:
                self._bytes -= len(self._states.popitem(last=False)[1])


class TokenReranker:
    """Computes how similar texts are to a query; satisfies `Scorer`."""

    def __init__(self, located: ModelFile) -> None:
        """Open the model, a verified copy of the pinned file; RetrieverError if that fails."""
        self._model = located.model
        self._words, self._states = WordPiece(), StateCache()
        try:
            graph = read_graph(located.model, with_states=True)
            self._session = QuickSession(located, graph, is_for_one_run=False)
        except QueryModelError as error:
            raise RetrieverError(str(error), hint=HINT) from error

    def scores(self, query: str, texts: Sequence[str], is_over: Event) -> list[float]:
        """Return similarities from -1 to 1, or 0 for a text without words; a long text is cut."""
        ids = self._ids(query)
        if len(ids) <= SPECIAL_TOKENS:
            raise RetrieverError("the model finds no word in the query", hint="ask with a word")
        rows = [self._ids(text) for text in texts]
        try:
            query_rows = self._vectors(self._run(ids))
            compare = partial(self._compare, query_rows, is_over)
            with ThreadPoolExecutor(usable_cores()) as pool:
                return list(pool.map(compare, rows))
        except QueryModelError as error:
            raise RetrieverError(str(error), hint=HINT) from error

    def _ids(self, text: str) -> tuple[int, ...]:
        return tuple(self._words.ids(text, self._model.max_tokens))

    def _compare(self, query: NDArray[float32], is_over: Event, ids: tuple[int, ...]) -> float:
        if len(ids) <= SPECIAL_TOKENS or is_over.is_set():
            return 0.0
        states = self._states.get(ids)
        if states is None:
            states = self._run(ids)
            self._states.put(ids, states)
        return float((query @ self._vectors(states).T).max(axis=1).mean())

    def _run(self, ids: tuple[int, ...]) -> bytes:
        """Compute the states of a text, without special tokens, each at unit length."""
        count = (len(ids) - SPECIAL_TOKENS) * self._model.dimension
        return self._session.run(ids, b"states", count)

    def _vectors(self, states: bytes) -> NDArray[float32]:
        import numpy as np

        return np.frombuffer(states, "<f4").reshape(-1, self._model.dimension)
