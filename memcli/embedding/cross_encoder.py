"""A cross-encoder from a folder with an ONNX model and its tokenizer.json.

The model reads a query and a text as one pair and returns one number. A classifier returns two,
for "not relevant" and "relevant"; the score is their difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event

from memcli.embedding.local import find_files
from memcli.embedding.runtime import inputs_of, open_model, open_tokenizer, runtime_faults
from memcli.errors import RetrieverError
from memcli.system import usable_cores

SETTING = "rerank.folder"
HINT = "memcli help ranking"


class CrossEncoder:
    """Scores one pair of a query and a text per run, on all processors; satisfies `Scorer`."""

    def __init__(self, folder: str, *, max_tokens: int) -> None:
        """Open model and tokenizer; a longer pair is cut. Raises RetrieverError."""
        self._folder = folder
        model, *_, tokenizer = find_files(folder, SETTING).paths
        self._tokenizer = open_tokenizer(tokenizer)
        self._tokenizer.enable_truncation(max_tokens, strategy="longest_first")
        self._session = open_model(model, usable_cores())
        self._faults = runtime_faults()
        self._inputs = inputs_of(self._session, model)

    def scores(self, query: str, texts: Sequence[str], is_over: Event) -> list[float]:
        """Return one score per text, in the unit of the model."""
        scores: list[float] = []
        for text in texts:
            if is_over.is_set():
                break
            scores.append(self._score(query, text))
        return scores

    def _score(self, query: str, text: str) -> float:
        import numpy as np

        pair = self._tokenizer.encode(_clean(query), _clean(text))
        feed = {
            name: np.array([values], dtype=np.int64)
            for name, values in (
                ("input_ids", pair.ids),
                ("attention_mask", pair.attention_mask),
                ("token_type_ids", pair.type_ids),
            )
            if name in self._inputs
        }
        try:
            result = self._session.run(None, feed)[0]
        except self._faults as error:
            raise RetrieverError(
                f"{self._folder}: the model failed on {len(pair.ids)} tokens: {error}",
                hint="lower rerank.max_tokens to what the model was made for",
            ) from error
        numbers = np.asarray(result, dtype=np.float64).ravel()
        if numbers.size not in (1, 2):
            raise RetrieverError(
                f"{self._folder}: the model gives {numbers.size} numbers per pair, "
                "and a cross-encoder gives 1 or 2",
                hint=HINT,
            )
        return float(numbers[-1] - (numbers[0] if numbers.size == 2 else 0.0))

    def close(self) -> None:
        """Free the model."""
        del self._session


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
