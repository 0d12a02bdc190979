"""The bundled model by the runtime's package and by its C API."""

from __future__ import annotations

import math
import struct
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import pytest

from memcli.embedding import models, onnx_c_api, session
from memcli.embedding.encoders import QueryModel, QueryModelError
from memcli.embedding.models import FP32, INT8, ModelFile, locate
from memcli.embedding.onnx_c_api import PinnedEncoder, PinnedQueryModel
from memcli.embedding.registry import open_pinned
from memcli.embedding.runtime import package_run
from memcli.embedding.wordpiece import SPECIAL_TOKENS
from memcli.errors import RetrieverError
from memcli.threads import in_order

TEXTS = [
    "The weather is lovely today.",
    "It's so sunny outside!",
    "He drove to the stadium.",
    "",
    "## 2026-02-10 Decision\nMove the database to PostgreSQL; see `DECISIONS/db.md`.",
    "naïve Überraschung ﬁ 東京 👩‍👩‍👧",
    "word " * 254,
]
# From the model's own documentation: texts 0-1, 0-2 and 1-2, in fp32.
SIMILARITIES = {(0, 1): 0.6660, (0, 2): 0.1046, (1, 2): 0.1411}


def floats(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def dot(one: bytes, other: bytes) -> float:
    return math.fsum(a * b for a, b in zip(floats(one), floats(other), strict=True))


def installed(model: models.Model) -> ModelFile:
    found = locate(models=(model,))
    assert found, f"{model.name} is not installed"
    return found[0]


@pytest.fixture(scope="module")
def encoder() -> PinnedEncoder:
    return open_pinned(installed(INT8))


def by_package(located: ModelFile) -> PinnedEncoder:
    return PinnedEncoder(located.model, package_run(located))


@pytest.fixture(scope="module")
def vectors(encoder: PinnedEncoder) -> list[bytes]:
    return encoder.encode(TEXTS)


# The official weights are no dependency: 90 MB, only in packages of doubtful upkeep.
INSTALLED = [located.model for located in locate()]


@pytest.mark.parametrize("model", INSTALLED, ids=lambda model: model.name)
def test_reference_similarities(model: models.Model) -> None:
    vectors = by_package(installed(model)).encode(TEXTS[:3])
    bound = 0.02 if model == INT8 else 1e-4
    for (one, other), similarity in SIMILARITIES.items():
        assert dot(vectors[one], vectors[other]) == pytest.approx(similarity, abs=bound)


def test_vectors_have_unit_length(vectors: list[bytes]) -> None:
    for vector in vectors:
        assert len(vector) == 384 * 4
        assert dot(vector, vector) == pytest.approx(1, abs=1e-6)


def test_a_vector_depends_on_its_text_alone(encoder: PinnedEncoder, vectors: list[bytes]) -> None:
    assert encoder.encode(TEXTS[::-1]) == vectors[::-1]
    assert [encoder.encode([text])[0] for text in TEXTS] == vectors
    assert [encoder.encode_query(text) for text in TEXTS] == vectors
    assert encoder.encode([]) == []


def test_threads_change_nothing(encoder: PinnedEncoder, vectors: list[bytes]) -> None:
    for threads in (2, 3, 8):
        made = in_order(lambda text: encoder.encode([text])[0], TEXTS * 4, threads, ahead=8)
        assert list(made) == vectors * 4


def test_the_longest_text_has_256_tokens(encoder: PinnedEncoder) -> None:
    longest = "word " * 254
    assert encoder.count(longest) == encoder.max_tokens == 256
    encoder.encode([longest])
    with pytest.raises(ValueError, match="text 1 has 257 tokens"):
        encoder.encode(["short", longest + "word"])
    assert encoder.encode_query(longest + "word and more") == encoder.encode_query(longest)


def test_quick_gives_the_vectors_of_the_package(vectors: list[bytes]) -> None:
    model: QueryModel = PinnedQueryModel(installed(INT8))
    encoder = by_package(installed(INT8))
    assert model.fingerprint == encoder.fingerprint
    assert encoder.encode(TEXTS) == vectors  # which the library has made
    assert [model.embed(text) for text in TEXTS] == [
        (vector, encoder.count(text) - SPECIAL_TOKENS)
        for text, vector in zip(TEXTS, vectors, strict=True)
    ]


def test_what_the_cpu_is_known_for_changes_no_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    located = installed(INT8)
    chosen = by_package(located).encode(TEXTS[:3])  # fast where sums are exact, else careful
    monkeypatch.setattr(session, "CPU_INFO", "")
    assert by_package(located).encode(TEXTS[:3]) == chosen
    assert PinnedQueryModel(located).embed(TEXTS[0])[0] == chosen[0]


if FP32 in INSTALLED:

    def test_quick_agrees_on_the_second_source() -> None:
        located = installed(FP32)
        batch, model = by_package(located), PinnedQueryModel(located)
        for text in TEXTS:
            pairs = zip(floats(model.embed(text)[0]), floats(batch.encode_query(text)), strict=True)
            assert max(abs(a - b) for a, b in pairs) < 1e-6


def test_quick_works_in_a_thread(vectors: list[bytes]) -> None:
    results: list[bytes] = []
    located = installed(INT8)
    thread = threading.Thread(
        target=lambda: results.append(PinnedQueryModel(located).embed(TEXTS[0])[0])
    )
    thread.start()
    thread.join()
    assert results == vectors[:1]


def test_quick_imports_nothing_heavy(vectors: list[bytes]) -> None:
    code = (
        "import sys\n"
        "from memcli.embedding import models, onnx_c_api\n"
        "located = models.locate(models=(models.INT8,))[0]\n"
        f"print(onnx_c_api.PinnedQueryModel(located).embed({TEXTS[0]!r})[0].hex())\n"
        "heavy = {'numpy', 'onnxruntime', 'tokenizers', 'pathlib', 'hashlib'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split("\n")[:2] == [vectors[0].hex(), "[]"]
    assert run.stderr == ""


def test_a_missing_library_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    located = installed(INT8)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert onnx_c_api.find_library() is None
    file = tmp_path / "libonnxruntime.so.9"
    monkeypatch.setattr(onnx_c_api, "find_library", lambda: str(file))
    with pytest.raises(QueryModelError):
        PinnedQueryModel(located)
    file.write_bytes(b"not a library")
    with pytest.raises(QueryModelError):
        PinnedQueryModel(located)


def test_a_library_without_the_symbol_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_c_api, "find_library", _foreign_library)
    with pytest.raises(QueryModelError, match="OrtGetApiBase"):
        PinnedQueryModel(installed(INT8))


def _foreign_library() -> str:
    """Name a library that every installation has; importing its package would import numpy."""
    spec = find_spec("sqlite_vec")
    assert spec
    assert spec.origin
    return str(next(Path(spec.origin).parent.glob("vec0.*")))


def test_a_missing_model_file_is_one_error(tmp_path: Path) -> None:
    gone = installed(INT8)._replace(path=str(tmp_path / "model.onnx"))
    with pytest.raises(QueryModelError):
        PinnedQueryModel(gone)
    with pytest.raises(RetrieverError):
        open_pinned(gone)
    with pytest.raises(RetrieverError, match=r"cannot open model\.onnx"):
        open_pinned(gone, check=False)


@pytest.mark.parametrize(
    ("flags", "exact"),
    [
        ("fpu avx2 avx512f avx512_vnni\n", True),
        ("fpu avx2 avx_vnni\n", True),
        ("fpu avx2 avx512f avx512_vnni_not\n", False),
    ],
)
def test_precision_follows_the_cpu(
    tmp_path: Path, flags: str, exact: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    info, located = tmp_path / "cpuinfo", installed(INT8)
    monkeypatch.setattr(session, "CPU_INFO", str(info))
    assert not session.sums_exactly()
    info.write_text(f"processor\t: 0\nflags\t\t: {flags}bugs\t\t: avx512_vnni\n")
    assert session.sums_exactly() is exact
    chosen = session.settings(located)  # to keep the precision needs a rewriting of the graph
    assert (chosen.level, "session.x64quantprecision" in dict(chosen.entries)) == (
        (0, False) if exact else (2, True)
    )
