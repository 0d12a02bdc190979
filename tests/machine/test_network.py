"""An answer of an endpoint that is cut or spoiled at any byte is no vector, and costs no search."""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import isclose

import pytest

from memcli.embedding.encoders import Endpoint
from memcli.embedding.endpoint import EndpointEncoder
from memcli.errors import RetrieverError
from tests.embedding.loopback import DIMENSION, MODEL, numbers

TEXT = "the pool is full"
BODY = json.dumps(
    {"object": "list", "model": MODEL, "data": [{"index": 0, "embedding": numbers(TEXT)}]}
).encode()
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
ANSWER = HEAD % len(BODY) + BODY
SHAPE = f"<{DIMENSION}f"


class Wire:
    """A server that sends the same bytes to whoever asks, and hangs up."""

    def __init__(self) -> None:
        self.answer = ANSWER
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = Endpoint(
            url=f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1",
            model=MODEL, dimension=DIMENSION, timeout_seconds=5.0,
        )  # fmt: skip
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                with connection, suppress(OSError):
                    _read_request(connection)
                    connection.sendall(self.answer)


def _read_request(connection: socket.socket) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    found = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    while found and len(body) < int(found[1]):
        body += connection.recv(65536)


@contextmanager
def wire() -> Iterator[Wire]:
    server = Wire()
    try:
        yield server
    finally:
        server.close()


def answer_of(server: Wire) -> tuple[float, ...] | None:
    """Ask for a vector; None where the endpoint is said to be missing, and nothing else escapes."""
    try:
        vector = EndpointEncoder(server.endpoint).encode_query(TEXT)
    except RetrieverError:
        return None
    return struct.unpack(SHAPE, vector)


@pytest.mark.timeout(60)
def test_an_answer_that_is_cut_anywhere_is_none() -> None:
    with wire() as server:
        right = answer_of(server)
        assert right is not None
        # Behind the last brace nothing of it is wanting but the length that was promised.
        for end in range(len(ANSWER)):
            server.answer = ANSWER[:end]
            assert answer_of(server) is None, end


@pytest.mark.timeout(60)
@pytest.mark.parametrize("mask", [0x01, 0x10, 0x80])
def test_an_answer_that_is_spoiled_anywhere_is_a_unit_vector_or_none(mask: int) -> None:
    refused = 0
    with wire() as server:
        for at in range(0, len(ANSWER), 3):
            server.answer = ANSWER[:at] + bytes([ANSWER[at] ^ mask]) + ANSWER[at + 1 :]
            found = answer_of(server)
            refused += found is None
            if found is not None:  # a digit that became another one: nobody can tell
                assert len(found) == DIMENSION
                assert isclose(sum(value * value for value in found), 1.0, rel_tol=1e-3)
    assert refused >= 10
