"""The encoder over a pinned model; what runs a text is passed in, by `quick` or `onnx`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.embedding.models import fingerprint
from memcli.embedding.wordpiece import WordPiece

if TYPE_CHECKING:
    from memcli.embedding.encoders import Run
    from memcli.embedding.models import Model


class PinnedEncoder:
    """Embeds texts with a pinned model; satisfies `Encoder`.

    One text a run is the fastest (nothing is padded) and makes a text's vector independent
    of its neighbours, whose values would otherwise set the scale of the 8-bit activations.
    Threads may share it; each runs its own text.
    """

    def __init__(self, model: Model, run: Run) -> None:
        """Take the model and what runs it."""
        self._model, self._run = model, run
        self._words = WordPiece()

    @property
    def fingerprint(self) -> str:
        """Name model, graph, dimension, pooling, prefixes and maximum tokens."""
        return fingerprint(self._model)

    @property
    def dimension(self) -> int:
        """Give the number of float32 components of a vector."""
        return self._model.dimension

    @property
    def max_tokens(self) -> int:
        """Give the longest text in tokens, special tokens included."""
        return self._model.max_tokens

    def count(self, text: str) -> int:
        """Count the tokens of `text`, special tokens included, without a limit."""
        return self._words.count(text)

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        """Embed texts of at most `max_tokens` tokens; a longer one is a ValueError."""
        rows = [self._words.ids(text) for text in texts]
        for number, ids in enumerate(rows):
            if len(ids) > self.max_tokens:
                raise ValueError(
                    f"text {number} has {len(ids)} tokens, the model takes {self.max_tokens}"
                )
        return [self._run(ids) for ids in rows]

    def encode_query(self, text: str) -> bytes:
        """Embed a query; words beyond `max_tokens` are left out."""
        return self._run(self._words.ids(text, self.max_tokens))

    def bare(self, texts: Sequence[str]) -> Callable[[], object]:
        """Return a function that runs only the model on tokenized texts, as a baseline."""
        rows = [self._words.ids(text) for text in texts]
        return lambda: [self._run(ids) for ids in rows]
