"""An endpoint behind TLS: what cannot be trusted is sent nothing, and named in one line."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from memcli.cli.main import run
from memcli.embedding.encoders import Endpoint
from memcli.embedding.endpoint import EndpointEncoder
from memcli.embedding.long_texts import unit
from memcli.errors import RetrieverError
from tests.embedding.loopback import DIMENSION, MODEL, embedded, loopback, numbers
from tests.support import write

CERTIFICATES = Path(__file__).parent / "certificates"  # make.sh made them
KEY = "sk-very-secret-7f3a"
TEXT = "the pool is full"
ALERT = b"\x15\x03\x03\x00\x02\x02\x46"  # fatal, protocol version
BEGUN = b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc"  # of a handshake of 16 kB
WRONG = {
    "wrong_host": ("is for another host", "set openai.url to the name"),
    "expired": ("has expired", "look at the clock"),
    "self_signed": ("is self-signed", "export SSL_CERT_FILE="),
}


@pytest.fixture
def trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "authority.pem"))


def fault(url: str, seconds: float = 9.0) -> RetrieverError:
    endpoint = Endpoint(
        url=url, model=MODEL, dimension=DIMENSION, timeout_seconds=seconds,
        key_variable="EMBEDDING_KEY", key=lambda: KEY,
    )  # fmt: skip
    with pytest.raises(RetrieverError) as caught:
        EndpointEncoder(endpoint).encode([TEXT])
    said = caught.value.message + caught.value.hint
    assert KEY not in said
    assert "\n" not in said
    assert "_ssl.c" not in said
    assert caught.value.message.startswith(url.split("/")[2])
    return caught.value


@contextmanager
def speaking(first: bytes, then: bytes = b"") -> Iterator[str]:
    """Answer whoever connects with these bytes, then drop by drop; hang up if nothing follows."""
    over = threading.Event()

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    connection.recv(1 << 16)
                    connection.sendall(first)
                    while then and not over.wait(0.01):
                        connection.sendall(then)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"https://127.0.0.1:{listener.getsockname()[1]}/v1"
        finally:
            over.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


@pytest.mark.usefixtures("trusting")
def test_a_right_certificate_is_enough() -> None:
    with loopback(certificate=CERTIFICATES / "right.pem") as server:
        encoder = EndpointEncoder(server.endpoint())
        assert [encoder.encode_query(TEXT), encoder.encode_query(TEXT)] == [
            unit(numbers(TEXT)) for _ in range(2)
        ]
        assert len(server.connections) == 1


@pytest.mark.usefixtures("trusting")
def test_a_connection_that_was_closed_meanwhile_is_opened_again() -> None:
    """The server ends it without a word of TLS, as many do with one that is idle."""
    with loopback(
        lambda _, texts: embedded(texts)._replace(hang_up=True),
        certificate=CERTIFICATES / "right.pem",
    ) as server:
        encoder = EndpointEncoder(server.endpoint())
        for _ in range(3):
            assert encoder.encode_query(TEXT) == unit(numbers(TEXT))
        assert len(server.connections) == len(server.batches) == 3


@pytest.mark.usefixtures("trusting")
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_certificate_is_named_and_nothing_is_sent(name: str) -> None:
    said, hint = WRONG[name]
    with loopback(certificate=CERTIFICATES / f"{name}.pem") as server:
        error = fault(server.url)
        assert f"cannot be trusted: its certificate {said}" in error.message
        assert hint in error.hint
    assert server.batches == []


def test_an_authority_that_nobody_knows_is_no_authority() -> None:
    with loopback(certificate=CERTIFICATES / "right.pem") as server:
        assert "no authority known here has signed its" in fault(server.url).message
    assert server.batches == []


def test_a_server_without_tls_is_sent_nothing_by_https() -> None:
    with loopback() as server:
        error = fault(server.url.replace("http:", "https:"))
    assert "it does not speak TLS" in error.message
    assert "http:// in openai.url" in error.hint
    assert server.batches == []


def test_a_server_of_tls_is_no_server_by_http() -> None:
    with loopback(certificate=CERTIFICATES / "right.pem") as server:
        assert "cannot be reached" in fault(server.url.replace("https:", "http:")).message


@pytest.mark.parametrize(
    ("first", "said"),
    [
        (ALERT, "TLS fails: tlsv1 alert protocol version"),
        (b"", "cannot be reached"),
        (b"SSH-2.0-OpenSSH_9.9\r\n", "it does not speak TLS"),
    ],
    ids=["a refusal", "hangs up", "another protocol"],
)
def test_a_handshake_that_fails_is_told_in_words(first: bytes, said: str) -> None:
    with speaking(first) as url:
        assert said in fault(url).message


@pytest.mark.timeout(20)
def test_a_handshake_that_never_ends_is_left_after_the_timeout() -> None:
    with speaking(BEGUN, b"\0") as url:
        assert "no answer within 0.3 s" in fault(url, 0.3).message


def test_a_listener_that_says_nothing_is_left_after_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/v1"
        assert "no answer within 0.2 s" in fault(url, 0.2).message


@pytest.mark.usefixtures("trusting")
def test_words_go_on_and_say_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "notes", "memory/pool.md", "# Pool\n\nThe pool ran dry.\n")
    monkeypatch.setenv("MEMCLI_WORKSPACE", str(tmp_path / "notes"))
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "openai")
    monkeypatch.setenv("MEMCLI_OPENAI_MODEL", MODEL)
    monkeypatch.setenv("MEMCLI_OPENAI_DIMENSION", str(DIMENSION))
    monkeypatch.setenv("MEMCLI_OPENAI_KEY_VARIABLE", "EMBEDDING_KEY")
    monkeypatch.setenv("EMBEDDING_KEY", KEY)
    with loopback(certificate=CERTIFICATES / "right.pem") as server:
        port = server.port
        monkeypatch.setenv("MEMCLI_OPENAI_URL", server.url)
        assert run(["index"]) == 0
        assert "keywords" not in capsys.readouterr().err
    with loopback(port=port, certificate=CERTIFICATES / "expired.pem") as server:
        assert run(["search", "pool"]) == 0
        found = capsys.readouterr()
        assert "pool.md" in found.out
        assert f"keywords only: 127.0.0.1:{port} cannot be trusted" in found.err
        assert "its certificate has expired" in found.err
        write(tmp_path / "notes", "memory/fox.md", "# Fox\n\nA fox.\n")
        assert run(["index"]) == 0
        told = capsys.readouterr()
        assert "its certificate has expired; searches use keywords only" in told.err
        assert run(["search", "pool", "--require-semantic"]) == 6
        refused = capsys.readouterr()
        for text in (*told, *found, *refused):
            assert KEY not in text
            assert "Traceback" not in text
    assert server.batches == []
