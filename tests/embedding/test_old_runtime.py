"""A runtime that is too old, or lacks what is called, is refused before anything is run on it."""

from __future__ import annotations

import ctypes
from ctypes import c_uint32, c_void_p

import pytest

from memcli.embedding import onnx_c_api
from memcli.embedding.encoders import QueryModelError
from memcli.embedding.models import locate
from memcli.embedding.onnx_c_api import QuickSession

_GetApi = ctypes.CFUNCTYPE(c_void_p, c_uint32)
_GetVersion = ctypes.CFUNCTYPE(c_void_p)


class _Base(ctypes.Structure):
    _fields_ = (("get_api", _GetApi), ("get_version", _GetVersion))


class Library:
    """What is called first of onnxruntime's library: it tells its version and has no functions."""

    def __init__(self, version: bytes) -> None:
        self.asked: list[int] = []
        self._version = ctypes.create_string_buffer(version)
        address = ctypes.addressof(self._version)
        self._base = _Base(_GetApi(self.asked.append), _GetVersion(lambda: address))
        self.OrtGetApiBase = ctypes.CFUNCTYPE(c_void_p)(lambda: ctypes.addressof(self._base))


@pytest.mark.parametrize(
    ("version", "asked", "why"),
    [
        (b"1.21.1", [], "onnxruntime 1.21.1 is too old"),
        (b"0.99.0", [], "onnxruntime 0.99.0 is too old"),
        (b"1.22.0", [14], "onnxruntime 1.22.0 lacks API version 14"),
        (b"2.0.0", [14], "onnxruntime 2.0.0 lacks API version 14"),
    ],
)
def test_a_runtime_before_1_22_is_asked_for_nothing(
    monkeypatch: pytest.MonkeyPatch, version: bytes, asked: list[int], why: str
) -> None:
    """Such a one passes over the folder of the weights, and would answer without them."""
    library = Library(version)
    monkeypatch.setattr(ctypes, "CDLL", lambda path: library)
    located = locate()[0]
    monkeypatch.setattr(onnx_c_api, "find_library", lambda: f"{version.decode()}.so")
    with pytest.raises(QueryModelError, match=why):
        QuickSession(located, b"", is_for_one_run=True)
    assert library.asked == asked
