"""Late interaction: compare the tokens of a query with those of texts, by the bundled model.

The likeness of a text is the mean over the query's tokens of the greatest cosine to one of its
own, special tokens left out (ColBERT's MaxSim; Khattab and Zaharia, 2020). The states are those
of the last layer, before the mean that makes a vector of them, so nothing but the graph differs.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event

from memcli.checking import TYPE_CHECKING
from memcli.embedding.cores import cores
from memcli.embedding.models import Located, read_token_graph
from memcli.embedding.opener import QuickError
from memcli.embedding.quick import QuickSession, of_floats, of_tokens
from memcli.embedding.wordpiece import SPECIAL_TOKENS, QueryWords
from memcli.errors import LegMissingError

if TYPE_CHECKING:
    from memcli.embedding.quick import Tensor

HINT = "memcli status --deep"


class TokenReranker:
    """Gives the likeness of texts to a query; satisfies `Scorer`."""

    def __init__(self, located: Located, *, threads: int = 0) -> None:
        """Open the model, whose file is known to be the pinned one; LegMissingError where not.

        `threads` is that of `cores`.
        """
        self._model = located.model
        self._threads = cores(threads)
        self._words = QueryWords()
        try:
            graph = read_token_graph(located.model)
            self._session = QuickSession(located, graph, is_for_one_run=False)
        except QuickError as error:
            raise LegMissingError(str(error), hint=HINT) from error

    def scores(self, query: str, texts: Sequence[str], is_over: Event) -> list[float]:
        """Give likenesses from -1 to 1, 0 for a text without words; a long text is cut."""
        asked = self._ids(query)
        if len(asked) <= SPECIAL_TOKENS:
            raise LegMissingError("the model finds no word in the query", hint="ask with a word")
        width, count = self._model.dimension, len(asked) - SPECIAL_TOKENS
        rows = [self._ids(text) for text in texts]
        try:
            nothing = of_floats(b"query", bytes(4 * width), width)
            states = self._session.run([*of_tokens(asked), nothing], b"states", count * width)
            compare = partial(self._compare, of_floats(b"query", states, width), is_over)
            with ThreadPoolExecutor(self._threads) as pool:
                return list(pool.map(compare, rows))
        except QuickError as error:
            raise LegMissingError(str(error), hint=HINT) from error

    def _ids(self, text: str) -> list[int]:
        return self._words.ids(text, self._model.max_tokens)

    def _compare(self, query: Tensor, is_over: Event, ids: list[int]) -> float:
        if len(ids) <= SPECIAL_TOKENS or is_over.is_set():
            return 0.0
        found: tuple[float] = struct.unpack(
            "<f", self._session.run([*of_tokens(ids), query], b"likeness", 1)
        )
        return found[0]

    def close(self) -> None:
        """Free the model."""
        self._session.close()
