"""Open models and tokenizers with the packages that run them, and say what is wrong with a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from memcli.checking import TYPE_CHECKING
from memcli.embedding.encoders import Run
from memcli.embedding.models import ModelFile, read_graph
from memcli.embedding.session import require_room, settings, silence
from memcli.errors import RetrieverError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]
    from tokenizers import Tokenizer

_INPUTS = frozenset(("input_ids", "attention_mask", "token_type_ids"))


def open_tokenizer(path: str) -> Tokenizer:
    """Open a tokenizer that neither cuts nor pads; raises RetrieverError."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise RetrieverError(
            f"the package tokenizers cannot be imported: {error}", hint="pip install tokenizers"
        ) from error
    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception as error:  # tokenizers raises a plain Exception for a bad file
        hint = "memcli help settings"
        raise RetrieverError(f"{path} is not a tokenizer: {error}", hint=hint) from error
    # Published files often cut and pad to 128 tokens.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def imported() -> Any:  # noqa: ANN401 (a module)
    """Import onnxruntime without letting it print; raises RetrieverError."""
    silence()
    try:
        import onnxruntime
    except ImportError as error:
        raise RetrieverError(
            f"the package onnxruntime cannot be imported: {error}", hint="pip install onnxruntime"
        ) from error
    return onnxruntime


def open_model(path: str, threads: int) -> InferenceSession:
    """Open a model that runs on a number of threads; raises RetrieverError."""
    require_room(os.path.getsize(path))
    onnxruntime = imported()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session: InferenceSession = onnxruntime.InferenceSession(
            path, options, providers=["CPUExecutionProvider"]
        )
        return session
    except runtime_faults() as error:
        why = f"{path} cannot be opened: {error}"
        raise RetrieverError(why, hint="memcli help settings") from error


def inputs_of(session: InferenceSession, model: str) -> set[str]:
    """Name the inputs of a model; RetrieverError if they are not those of a text encoder."""
    inputs = {str(entry.name) for entry in session.get_inputs()}
    if "input_ids" not in inputs or not inputs <= _INPUTS:
        raise RetrieverError(
            f"{model} takes {', '.join(sorted(inputs))}: not the inputs of a text encoder",
            hint="memcli help settings",
        )
    return inputs


def runtime_faults() -> tuple[type[Exception], ...]:
    """List the runtime's own errors (their only common base is Exception) and the usual ones."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state  # type: ignore[import-untyped]

    def own() -> Iterator[Any]:
        for kind in vars(state).values():
            if isinstance(kind, type) and issubclass(kind, Exception):
                yield kind

    return (*own(), RuntimeError, ValueError, OSError)


def package_run(located: ModelFile, *, exact: bool | None = None) -> Run:
    """Open a model on a file known to be the pinned one, and return a function that runs a text.

    `exact` says whether the CPU sums 8-bit products exactly. Raises RetrieverError.
    """
    session = _open(located, exact)

    def run(ids: Sequence[int]) -> bytes:
        import numpy as np

        row = np.array([ids], dtype=np.int64)
        result = session.run(["emb"], {"ids": row, "mask": np.ones_like(row)})[0]
        return bytes(np.asarray(result, dtype="<f4")[0].tobytes())

    return run


def _open(located: ModelFile, exact: bool | None) -> InferenceSession:
    require_room(located.size)
    onnxruntime = imported()
    session_options = settings(located, exact=exact)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = session_options.severity
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel(session_options.level)
    for key, value in session_options.entries:
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
