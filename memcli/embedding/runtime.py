"""Open models and tokenizers with the packages that run them, and say what is wrong with a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from memcli.checking import TYPE_CHECKING
from memcli.embedding.encoders import Run
from memcli.embedding.models import ModelFile, read_graph
from memcli.embedding.session import (
    ANY_MODEL,
    FATAL,
    SessionSettings,
    require_room,
    settings,
    silence,
)
from memcli.errors import RetrieverError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]
    from tokenizers import Tokenizer

_INPUTS = frozenset(("input_ids", "attention_mask", "token_type_ids"))
TOKENIZER = "tokenizer.json"


def whole_path(named: str, setting: str, *, hint: str) -> str:
    """Return the folder that a setting names; RetrieverError if it is not set or relative."""
    if not named:
        raise RetrieverError(f"{setting} is not set in your own configuration", hint=hint)
    folder = os.path.expanduser(named)
    if not os.path.isabs(folder):
        raise RetrieverError(f"{setting} must be a whole path, not {named}", hint=hint)
    return folder


def file_in(folder: str, name: str) -> str | None:
    """Find a file of a published model, which is in its folder or below in `onnx`."""
    places = (os.path.join(folder, name), os.path.join(folder, "onnx", name))
    return next((place for place in places if os.path.isfile(place)), None)


def open_tokenizer(path: str) -> Tokenizer:
    """Open a tokenizer that neither cuts nor pads; raises RetrieverError."""
    kind = _imported("tokenizers").Tokenizer
    try:
        tokenizer: Tokenizer = kind.from_file(path)
    except Exception as error:  # tokenizers raises a plain Exception for a bad file
        hint = "memcli help settings"
        raise RetrieverError(f"{path} is not a tokenizer: {error}", hint=hint) from error
    # Published files often cut and pad to 128 tokens.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _imported(package: str) -> Any:  # noqa: ANN401 (a module)
    silence()
    try:
        return import_module(package)
    except ImportError as error:
        raise RetrieverError(
            f"the package {package} cannot be imported: {error}", hint=f"pip install {package}"
        ) from error


def open_model(path: str, threads: int) -> InferenceSession:
    """Open a model that runs on a number of threads; raises RetrieverError."""
    require_room(os.path.getsize(path))
    onnxruntime = _imported("onnxruntime")
    try:
        return _started(onnxruntime, path, ANY_MODEL, threads)
    except runtime_faults() as error:
        why = f"{path} cannot be opened: {error}"
        raise RetrieverError(why, hint="memcli help settings") from error


def _started(
    onnxruntime: Any,  # noqa: ANN401 (a module)
    model: str | bytes,
    settings: SessionSettings,
    threads: int,
) -> InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = FATAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel(settings.level)
    for key, value in settings.entries:
        options.add_session_config_entry(key, value)
    session: InferenceSession = onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"]
    )
    return session


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


def package_run(located: ModelFile) -> Run:
    """Open a model on a file known to be the pinned one, and return a function that runs a text.

    Raises RetrieverError.
    """
    require_room(located.size)
    onnxruntime = _imported("onnxruntime")
    try:
        session = _started(onnxruntime, read_graph(located.model), settings(located), 1)
    except runtime_faults() as error:
        raise RetrieverError(
            f"onnxruntime {onnxruntime.__version__} cannot open "
            f"{os.path.basename(located.path)}: {error}",
            hint="pip install 'onnxruntime>=1.22'",
        ) from error

    def run(ids: Sequence[int]) -> bytes:
        import numpy as np

        row = np.array([ids], dtype=np.int64)
        result = session.run(["emb"], {"ids": row, "mask": np.ones_like(row)})[0]
        return bytes(np.asarray(result, dtype="<f4")[0].tobytes())

    return run
