"""Texts to vectors with the `onnxruntime` package, if its C library cannot be used directly."""

from __future__ import annotations

import os
from collections.abc import Sequence

from memcli.checking import TYPE_CHECKING
from memcli.embedding.models import Located, read_graph
from memcli.embedding.runtime import imported, runtime_faults
from memcli.embedding.session import require_room, settings
from memcli.errors import RetrieverError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]

    from memcli.embedding.encoders import Run


def package_run(located: Located, *, exact: bool | None = None) -> Run:
    """Open a model on a file known to be the pinned one, and give what runs a text.

    `exact` overrides what is known of the CPU's 8-bit arithmetic. Raises RetrieverError.
    """
    session = _open(located, exact)

    def run(ids: Sequence[int]) -> bytes:
        import numpy as np

        row = np.array([ids], dtype=np.int64)
        result = session.run(["emb"], {"ids": row, "mask": np.ones_like(row)})[0]
        return bytes(np.asarray(result, dtype="<f4")[0].tobytes())

    return run


def _open(located: Located, exact: bool | None) -> InferenceSession:
    require_room(located.size)
    onnxruntime = imported()
    wanted = settings(located, exact=exact)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = wanted.severity
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel(wanted.level)
    for key, value in wanted.entries:
        options.add_session_config_entry(key, value)
    try:
        session: InferenceSession = onnxruntime.InferenceSession(
            read_graph(located.model), options, providers=["CPUExecutionProvider"]
        )
        return session
    except runtime_faults() as error:
        raise RetrieverError(
            f"onnxruntime {onnxruntime.__version__} cannot open "
            f"{os.path.basename(located.path)}: {error}",
            hint="pip install 'onnxruntime>=1.22'",
        ) from error
