"""A server that encrypts what it passes on to a real one, and proves who it is by a certificate."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

WANTS_TLS = 8  # bytes of the question that a client of PostgreSQL asks first
SECONDS = 10.0
MOST_BYTES = 1 << 16


class Identity(NamedTuple):
    """A certificate that a server has made for itself, and its key."""

    certificate: str
    key: str


EXPIRED = Identity(  # for localhost, until February 2020
    """
MIIBYjCCAQigAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwHhcNMjAwMTAxMDAwMDAwWhcNMjAwMjAxMDAwMDAwWjAUMRIwEAYDVQQDDAls
b2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATzV5HaUO9BAcq4cRft
s+qQM3w5s8NqJsOBx51LBcgvvSGsJ0n7xArd3aKQUOUBQW3pV0fHJg2mPBUoy/mS
W31jo0swSTAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwDAYDVR0TBAUwAwEB
/zAdBgNVHQ4EFgQUKou74yzX3L330C3RzH7RltgjFnAwCgYIKoZIzj0EAwIDSAAw
RQIhAI95rV2+/zGDCqtDrL4Q3nhfkz9qrFX1ctp9k1CSbhsHAiAVoVlXxG8vU7i1
2hTNYUTo6tg3tLip9KxRbE9GfhRRcQ==
""",
    """
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgNz4Y1H9yPJtC3sz6
PWUZtnK/Gwg95RT5+pmJnxsfXpehRANCAATzV5HaUO9BAcq4cRfts+qQM3w5s8Nq
JsOBx51LBcgvvSGsJ0n7xArd3aKQUOUBQW3pV0fHJg2mPBUoy/mSW31j
""",
)
VALID = Identity(  # for db.prod.example, until 2120
    """
MIIBczCCARmgAwIBAgIBATAKBggqhkjOPQQDAjAaMRgwFgYDVQQDDA9kYi5wcm9k
LmV4YW1wbGUwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBoxGDAW
BgNVBAMMD2RiLnByb2QuZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IA
BNJ0CcdGVCyWkOJqGOL6KbrMP2wrXxp7TS1n2eAFecteSLfAGSxO2oNFYirbfHxC
t+Yy982Rb3W1ewXp6Xn/r4WjTjBMMA8GA1UdEwEB/wQFMAMBAf8wGgYDVR0RBBMw
EYIPZGIucHJvZC5leGFtcGxlMB0GA1UdDgQWBBRY5GXtUytogchgowI5G9L6fwey
UTAKBggqhkjOPQQDAgNIADBFAiEAiqUPP+MOPF0WVFcTSeZRFf5zdKC8oCJtZnHR
wWCgtmQCIEeuE1z7nKRCNoSpLDX0CaMYYgu3z15pMRAUEzgpLDYV
""",
    """
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgMu3xs666IhsLK7My
/fyhwo/FS/MM4RkMUb+03ygLbJ+hRANCAATSdAnHRlQslpDiahji+im6zD9sK18a
e00tZ9ngBXnLXki3wBksTtqDRWIq23x8QrfmMvfNkW91tXsF6el5/6+F
""",
)


@contextmanager
def tls_server(
    folder: Path, identity: Identity, to: int | None = None
) -> Iterator[tuple[int, Path]]:
    """Listen on loopback; give the port, and the file of the authority, which is the server.

    What clients send is passed on to the port `to`; without one, each is told nothing.
    """
    authority, both = folder / "authority.pem", folder / "both.pem"
    certificate, key = (
        f"-----BEGIN {kind}-----{text}-----END {kind}-----\n"
        for kind, text in zip(("CERTIFICATE", "PRIVATE KEY"), identity, strict=True)
    )
    authority.write_text(certificate)
    both.write_text(key + certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(both)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_serve, args=(listener, context, to), daemon=True).start()
        yield listener.getsockname()[1], authority
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)


def _serve(listener: socket.socket, context: ssl.SSLContext, to: int | None) -> None:
    with suppress(OSError):
        while True:
            client, _ = listener.accept()
            threading.Thread(target=_answer, args=(client, context, to), daemon=True).start()


def _answer(client: socket.socket, context: ssl.SSLContext, to: int | None) -> None:
    with suppress(OSError), client:
        client.settimeout(SECONDS)
        client.recv(WANTS_TLS)
        client.sendall(b"S")
        with context.wrap_socket(client, server_side=True) as wrapped:
            if to is None:
                wrapped.recv(1)
                return
            wrapped.settimeout(None)
            with socket.create_connection(("127.0.0.1", to)) as server:
                back = threading.Thread(target=_pass, args=(server, wrapped), daemon=True)
                back.start()
                _pass(wrapped, server)
                back.join(SECONDS)


def _pass(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(MOST_BYTES):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
