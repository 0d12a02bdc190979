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
_BESIDE = (".data", "_data")  # suffix of the file with the weights of a model above 2 GB


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


def find_files(named: str, setting: str = "onnx.folder") -> tuple[str, ...]:
    """Find the files of a model, its graph first, its tokenizer last; raises RetrieverError."""
    folder = whole_path(named, setting, hint="memcli help settings")
    model, tokenizer = file_in(folder, "model.onnx"), os.path.join(folder, TOKENIZER)
    if model is None:
        raise RetrieverError(f"{folder} has no model.onnx", hint=f"set {setting}")
    if not os.path.isfile(tokenizer):
        raise RetrieverError(f"{folder} has no {TOKENIZER}", hint=f"set {setting}")
    beside = [model + ending for ending in _BESIDE if os.path.isfile(model + ending)]
    return (model, *beside, tokenizer)


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


class TextModel:
    """A model that reads token ids, and its tokenizer, from a folder. Threads may share it."""

    def __init__(self, folder: str, table: str, threads: int) -> None:
        """Open both; `table` is the group of their settings. Raises RetrieverError."""
        self._folder, self._table = folder, table
        self.path, *_, tokenizer = find_files(folder, f"{table}.folder")
        self.tokenizer = open_tokenizer(tokenizer)
        self.session = open_model(self.path, threads)
        self._inputs = {str(entry.name) for entry in self.session.get_inputs()}
        if "input_ids" not in self._inputs or not self._inputs <= _INPUTS:
            raise RetrieverError(
                f"{self.path} takes {', '.join(sorted(self._inputs))}:"
                " not the inputs of a text encoder",
                hint="memcli help settings",
            )

    def run(
        self, ids: list[int], mask: list[int], types: list[int], output: str | None = None
    ) -> Any:  # noqa: ANN401 (an array)
        """Return an output for one text, by default the first; raises RetrieverError."""
        import numpy as np

        rows = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        feed = {name: np.array([rows[name]], dtype=np.int64) for name in self._inputs}
        try:
            return self.session.run(output and [output], feed)[0]
        except runtime_faults() as error:
            raise RetrieverError(
                f"{self._folder}: the model failed on {len(ids)} tokens: {error}",
                hint=f"lower {self._table}.max_tokens to what the model was made for",
            ) from error


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
