"""Turn texts into vectors through the runtime's C API, without importing its package or numpy.

Importing the `onnxruntime` package costs a process three times as much. The vectors equal those of
`runtime`: bit for bit with the int8 model; within 1e-6 per component with fp32, where the order of
sums depends on the layout of the weights. The model file is not hashed here: the index remembers
its path, size and mtime from when it was hashed. The library releases Python's lock in every call.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_void_p
from functools import cache, partial

from memcli.checking import Any
from memcli.embedding.encoders import QueryModelError, Run
from memcli.embedding.models import INT8, Model, ModelFile, fingerprint, package_folders, read_graph
from memcli.embedding.session import (
    FATAL,
    QUICK_ROOM,
    SessionSettings,
    memory_shortage,
    settings,
    silence,
)
from memcli.embedding.wordpiece import SPECIAL_TOKENS, WordPiece
from memcli.errors import MORE_MEMORY, RetrieverError

_OLDEST = (1, 22)  # earlier runtimes ignore the folder of the weights

# The table of functions only grows: `OrtApi` in onnxruntime_c_api.h, version 14 and later.
_API_VERSION = 14
_GET_ERROR_MESSAGE, _CREATE_ENV = 2, 3
_CREATE_SESSION_FROM_ARRAY, _RUN = 8, 9
_CREATE_OPTIONS, _NO_MEMORY_PATTERN, _NO_ARENA = 10, 17, 19
_SET_SEVERITY, _SET_LEVEL, _SET_THREADS = 22, 23, 24
_CREATE_TENSOR, _GET_TENSOR_DATA = 49, 51
_CREATE_CPU_MEMORY_INFO = 69
_RELEASE_STATUS, _RELEASE_MEMORY_INFO, _RELEASE_SESSION, _RELEASE_VALUE = 93, 94, 95, 96
_RELEASE_OPTIONS, _ADD_ENTRY = 100, 130
_INT64 = 7  # of ONNXTensorElementDataType
_DEVICE_ALLOCATOR, _DEFAULT_MEMORY = 0, 0

# Repacking weights takes 60 ms and saves 2.5 of the 8 ms of a question; most processes ask once.
_ONE_RUN = (("session.disable_prepacking", "1"),)
_MANY_RUNS = 10  # after this many runs, expect more


class _ApiBase(ctypes.Structure):
    _fields_ = (
        ("get_api", ctypes.CFUNCTYPE(c_void_p, ctypes.c_uint32)),
        ("get_version", ctypes.CFUNCTYPE(c_char_p)),
    )


class _Runtime:
    """The function table of one library, and its environment, which the process never frees."""

    def __init__(self, path: str) -> None:
        silence()
        library = ctypes.CDLL(path)
        library.OrtGetApiBase.restype = POINTER(_ApiBase)
        base = library.OrtGetApiBase().contents
        version = base.get_version().decode()
        if tuple(map(int, version.split(".")[:2])) < _OLDEST:
            raise QueryModelError(f"onnxruntime {version} is too old")
        table = base.get_api(_API_VERSION)
        if not table:
            raise QueryModelError(f"onnxruntime {version} lacks API version {_API_VERSION}")
        self._table = ctypes.cast(table, POINTER(c_void_p))
        self.environment = self.make(_CREATE_ENV, (c_int, FATAL), (c_char_p, b"memcli"))

    def call(self, index: int, *arguments: tuple[Any, Any]) -> None:
        """Call a function that returns a status, with types and values."""
        kinds, values = zip(*arguments, strict=True)
        status = self._function(index, c_void_p, *kinds)(*values)
        if status:
            text = self._function(_GET_ERROR_MESSAGE, c_char_p, c_void_p)(status)
            self.release(_RELEASE_STATUS, status)
            raise QueryModelError(text.decode(errors="replace"))

    def make(self, index: int, *arguments: tuple[Any, Any]) -> c_void_p:
        """Call a function whose last argument receives a new object."""
        made = c_void_p()
        self.call(index, *arguments, (c_void_p, byref(made)))
        return made

    def release(self, index: int, handle: Any) -> None:  # noqa: ANN401
        """Free an object, if there is one."""
        self._function(index, None, c_void_p)(handle)

    def _function(self, index: int, result: Any, *kinds: Any) -> Callable[..., Any]:  # noqa: ANN401
        address = self._table[index]
        if not address:
            raise QueryModelError(f"the runtime's table has no entry {index}")
        return ctypes.CFUNCTYPE(result, *kinds)(address)


_runtime = cache(_Runtime)


def find_library() -> str | None:
    """Find the runtime's shared library in its installed package."""
    for folder in package_folders():
        inside = os.path.join(folder, "onnxruntime", "capi")
        try:
            names = sorted(os.listdir(inside))
        except OSError:
            continue
        for name in names:
            if name == "onnxruntime.dll" or name.startswith("libonnxruntime."):
                return os.path.join(inside, name)
    return None


@contextmanager
def as_quick_error() -> Iterator[None]:
    """Turn the errors of a missing or foreign library into QueryModelError."""
    try:
        yield
    except (OSError, AttributeError, ValueError, ctypes.ArgumentError) as error:
        raise QueryModelError(f"{type(error).__name__}: {error}") from error


class QuickSession:
    """A graph with the weights of a model, freed with it. Threads may run it at the same time."""

    def __init__(self, located: ModelFile, graph: bytes, *, is_for_one_run: bool) -> None:
        """Open a graph on a file known to be the pinned one; raises QueryModelError."""
        self._session: c_void_p | None = None
        path = find_library()
        if path is None:
            raise QueryModelError("the library of onnxruntime was not found")
        if why := memory_shortage(QUICK_ROOM + located.size):
            raise QueryModelError(why)
        options = settings(located)
        entries = (*options.entries, *(_ONE_RUN if is_for_one_run else ()))
        with as_quick_error():
            self._runtime = _runtime(path)
            self._session = self._open(graph, options._replace(entries=entries))

    def _open(self, graph: bytes, settings: SessionSettings) -> c_void_p:
        runtime = self._runtime
        options = runtime.make(_CREATE_OPTIONS)
        try:
            for index, number in (
                (_SET_SEVERITY, FATAL),
                (_SET_LEVEL, settings.level),
                (_SET_THREADS, 1),
            ):
                runtime.call(index, (c_void_p, options), (c_int, number))
            for index in (_NO_MEMORY_PATTERN, _NO_ARENA):
                runtime.call(index, (c_void_p, options))
            for key, value in settings.entries:
                words = ((c_char_p, key.encode()), (c_char_p, os.fsencode(value)))
                runtime.call(_ADD_ENTRY, (c_void_p, options), *words)
            return runtime.make(
                _CREATE_SESSION_FROM_ARRAY,
                (c_void_p, runtime.environment),
                (c_char_p, graph),
                (c_size_t, len(graph)),
                (c_void_p, options),
            )
        finally:
            runtime.release(_RELEASE_OPTIONS, options)

    @as_quick_error()
    def run(self, ids: Sequence[int], output: bytes, floats: int) -> bytes:
        """Run the tokens of one text, special tokens included; raises QueryModelError.

        Returns that many numbers of an output as float32.
        """
        runtime, row = self._runtime, c_int64 * len(ids)
        shape, rows = (c_int64 * 2)(1, len(ids)), (row(*ids), row(*[1] * len(ids)))
        owned: list[tuple[int, c_void_p]] = []
        try:
            memory = runtime.make(
                _CREATE_CPU_MEMORY_INFO, (c_int, _DEVICE_ALLOCATOR), (c_int, _DEFAULT_MEMORY)
            )
            owned.append((_RELEASE_MEMORY_INFO, memory))
            for numbers in rows:  # the runtime reads them in place
                tensor = runtime.make(
                    _CREATE_TENSOR,
                    (c_void_p, memory),
                    (c_void_p, byref(numbers)),
                    (c_size_t, ctypes.sizeof(numbers)),
                    (c_void_p, byref(shape)),
                    (c_size_t, len(shape)),
                    (c_int, _INT64),
                )
                owned.append((_RELEASE_VALUE, tensor))
            result = runtime.make(
                _RUN,
                (c_void_p, self._session),
                (c_void_p, None),
                (c_void_p, (c_char_p * 2)(b"ids", b"mask")),
                (c_void_p, (c_void_p * 2)(*(tensor.value for _, tensor in owned[1:]))),
                (c_size_t, 2),
                (c_void_p, (c_char_p * 1)(output)),
                (c_size_t, 1),
            )
            owned.append((_RELEASE_VALUE, result))
            data = runtime.make(_GET_TENSOR_DATA, (c_void_p, result))
            return ctypes.string_at(data, 4 * floats)
        finally:
            for release, handle in reversed(owned):
                runtime.release(release, handle)

    def __del__(self) -> None:
        if self._session is not None:  # the runtime would keep 12 MB for it
            self._runtime.release(_RELEASE_SESSION, self._session)


def library_run(located: ModelFile) -> Run:
    """Open a model on a file known to be the pinned one, and return a function that runs a text.

    Opening raises QueryModelError. The model is freed with the function.
    """
    session = QuickSession(located, read_graph(located.model), is_for_one_run=False)
    return _run_through(lambda: session, located.model.dimension)


def _run_through(session: Callable[[], QuickSession], dimension: int) -> Run:
    def run(ids: Sequence[int]) -> bytes:
        try:
            return session().run(ids, b"emb", dimension)
        except QueryModelError as error:
            why = f"the model failed on {len(ids)} tokens: {error}"
            raise RetrieverError(why, hint=MORE_MEMORY) from error

    return run


class PinnedQueryModel:
    """A model opened for queries; satisfies `QueryModel`. One thread at a time may use it."""

    def __init__(self, located: ModelFile) -> None:
        """Open a model whose file is known to be the pinned one; raises QueryModelError."""
        self._open = partial(QuickSession, located, read_graph(located.model))
        self._session = self._open(is_for_one_run=True)
        self._model, self.fingerprint = located.model, fingerprint(located.model)
        self._words = WordPiece()
        self._runs = 0

    def embed(self, text: str) -> tuple[bytes, int]:
        """Return a query's vector and its tokens without the special ones.

        Words beyond the model's maximum are left out. Raises QueryModelError.
        """
        ids = self._words.ids(text, self._model.max_tokens)
        self._runs += 1
        if self._runs == _MANY_RUNS:
            with suppress(QueryModelError):  # the vectors stay the same
                self._session = self._open(is_for_one_run=False)
        vector = self._session.run(ids, b"emb", self._model.dimension)
        return vector, len(ids) - SPECIAL_TOKENS

    def encoder(self) -> PinnedEncoder | None:
        """Return an encoder of a few texts; None with fp32, whose sums have another order here."""
        if self._model != INT8:
            return None
        return PinnedEncoder(
            self._model, _run_through(lambda: self._session, self._model.dimension)
        )


class PinnedEncoder:
    """Embeds texts with a pinned model; satisfies `Encoder`.

    One text per run is fastest, because nothing is padded. It also makes a vector independent of
    the texts next to it, whose values would otherwise set the scale of the 8-bit activations.
    Threads may share it; each runs its own text.
    """

    def __init__(self, model: Model, run: Run) -> None:
        self._run, self._words = run, WordPiece()
        self.fingerprint, self.dimension = fingerprint(model), model.dimension
        self.max_tokens, self.count = model.max_tokens, self._words.count

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
        """Return a function that only runs the model on tokenized texts, as a baseline."""
        rows = [self._words.ids(text) for text in texts]
        return lambda: [self._run(ids) for ids in rows]
