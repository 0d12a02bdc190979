"""A real HTTP server on the loopback interface: embeds hashed words, ranks, misbehaves as told."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from memcli.embedding.encoders import Endpoint
from tests.hashing import HashingEncoder

DIMENSION = 16
MODEL = "hashed-words"


class Reply(NamedTuple):
    """What the server answers."""

    status: int = 200
    body: object = None  # bytes as they are, else JSON
    headers: tuple[tuple[str, str], ...] = ()
    hang_up: bool = False  # close the connection behind the answer


Behave = Callable[[int, list[str]], Reply]  # of the number of the request, from 0, and its texts


def numbers(text: str, dimension: int = DIMENSION) -> list[float]:
    """Give the vector of a text as the server does, at twice the unit length."""
    vector = HashingEncoder(dimension).encode_query(text)
    return [2 * value for value in struct.unpack(f"<{dimension}f", vector)]


def embedded(texts: list[str], dimension: int = DIMENSION) -> Reply:
    """Answer with the vectors, the last first, as the protocol allows."""
    rows = [{"index": n, "embedding": numbers(t, dimension)} for n, t in enumerate(texts)]
    return Reply(body={"object": "list", "data": rows[::-1]})


def ranked(texts: list[str], *, as_tei: bool = False) -> Reply:
    """Answer with the number of words of each text as its score, the best first."""
    name = "score" if as_tei else "relevance_score"
    rows = [{"index": at, name: float(len(text.split()))} for at, text in enumerate(texts)]
    rows.sort(key=lambda row: -row[name])
    return Reply(body=rows if as_tei else {"model": "words", "results": rows})


class Patient(ThreadingHTTPServer):
    """Says nothing of a connection by TLS that comes to nothing."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ssl.SSLError | ConnectionError):
            super().handle_error(request, client_address)


class Loopback:
    """The server, what it was sent, and how it behaves."""

    def __init__(self, behave: Behave, port: int = 0, certificate: Path | None = None) -> None:
        self.behave = behave
        self.batches: list[list[str]] = []
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.connections: list[socket.socket] = []
        self.released = threading.Event()  # lets the answers go that `silent` holds back
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def setup(self) -> None:
                super().setup()
                outer.connections.append(self.connection)

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                number = len(outer.batches)
                texts = next(asked[key] for key in ("input", "documents", "texts") if key in asked)
                outer.batches.append(texts)
                outer.asked.append(asked)
                outer.headers.append(dict(self.headers))
                outer.paths.append(self.path)
                reply = outer.behave(number, texts)
                body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body)
                content = body if isinstance(body, bytes) else body.encode()
                self.send_response(reply.status)
                for name, value in (*reply.headers, ("Content-Length", str(len(content)))):
                    self.send_header(name, value)
                with suppress(ConnectionError):  # whoever asked may have gone
                    self.end_headers()
                    self.wfile.write(content)
                self.close_connection = reply.hang_up

        self._server = Patient(("127.0.0.1", port), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        if certificate is not None:
            shown = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            shown.load_cert_chain(certificate)
            self._server.socket = shown.wrap_socket(self._server.socket, server_side=True)
            self.url = f"https://127.0.0.1:{self.port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def silent(self, _number: int, texts: list[str]) -> Reply:
        """Behave by not answering before the test is over."""
        self.released.wait()
        return embedded(texts)

    def endpoint(self, **changes: Any) -> Endpoint:
        return Endpoint(url=self.url, model=MODEL, dimension=DIMENSION)._replace(**changes)

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        for connection in self.connections:  # which would go on answering
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def loopback(
    behave: Behave = lambda _, texts: embedded(texts),
    port: int = 0,
    certificate: Path | None = None,
) -> Iterator[Loopback]:
    """Serve for as long as the block lasts, at any port or at a known one."""
    server = Loopback(behave, port, certificate)
    try:
        yield server
    finally:
        server.close()


@contextmanager
def dripping(head: bytes, drop: bytes, port: int = 0) -> Iterator[Endpoint]:
    """Answer every request with `head` and then drop by drop, without an end."""
    over = threading.Event()

    def drip(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(1 << 16)
            connection.sendall(head)
            while not over.wait(0.01):
                connection.sendall(drop)

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.settimeout(1)
            threads.append(threading.Thread(target=drip, args=(connection,)))
            threads[-1].start()

    with socket.create_server(("127.0.0.1", port)) as listener:
        threads = [threading.Thread(target=accept)]
        threads[0].start()
        try:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
            yield Endpoint(url=url, model=MODEL, dimension=DIMENSION, timeout_seconds=0.3)
        finally:
            over.set()
            listener.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()
