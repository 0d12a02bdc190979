"""A server that proves who it is by a certificate that ran out in February 2020."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

WANTS_TLS = 8  # bytes of the question that a client of PostgreSQL asks first
SECONDS = 10.0
CERTIFICATE = """-----BEGIN CERTIFICATE-----
MIIBYjCCAQigAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwHhcNMjAwMTAxMDAwMDAwWhcNMjAwMjAxMDAwMDAwWjAUMRIwEAYDVQQDDAls
b2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATzV5HaUO9BAcq4cRft
s+qQM3w5s8NqJsOBx51LBcgvvSGsJ0n7xArd3aKQUOUBQW3pV0fHJg2mPBUoy/mS
W31jo0swSTAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwDAYDVR0TBAUwAwEB
/zAdBgNVHQ4EFgQUKou74yzX3L330C3RzH7RltgjFnAwCgYIKoZIzj0EAwIDSAAw
RQIhAI95rV2+/zGDCqtDrL4Q3nhfkz9qrFX1ctp9k1CSbhsHAiAVoVlXxG8vU7i1
2hTNYUTo6tg3tLip9KxRbE9GfhRRcQ==
-----END CERTIFICATE-----
"""
KEY = """
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgNz4Y1H9yPJtC3sz6
PWUZtnK/Gwg95RT5+pmJnxsfXpehRANCAATzV5HaUO9BAcq4cRfts+qQM3w5s8Nq
JsOBx51LBcgvvSGsJ0n7xArd3aKQUOUBQW3pV0fHJg2mPBUoy/mSW31j
"""


@contextmanager
def expired_server(folder: Path) -> Iterator[tuple[int, Path]]:
    """Listen on loopback; give the port, and the file of the authority, which is the server."""
    authority, both = folder / "authority.pem", folder / "both.pem"
    authority.write_text(CERTIFICATE)
    kind = "PRIVATE KEY"
    both.write_text(f"-----BEGIN {kind}-----{KEY}-----END {kind}-----\n{CERTIFICATE}")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(both)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(SECONDS)
        thread = threading.Thread(target=_answer, args=(listener, context), daemon=True)
        thread.start()
        yield listener.getsockname()[1], authority
        thread.join(SECONDS)


def _answer(listener: socket.socket, context: ssl.SSLContext) -> None:
    with suppress(OSError):
        client, _ = listener.accept()
        with client:
            client.settimeout(SECONDS)
            client.recv(WANTS_TLS)
            client.sendall(b"S")
            with context.wrap_socket(client, server_side=True) as wrapped:
                wrapped.recv(1)
