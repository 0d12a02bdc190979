"""Models that write, from a folder: what follows, how sure they are, and what a folder lacks."""

from __future__ import annotations

from math import exp, log
from pathlib import Path

import pytest

from memcli.embedding.generator import Generator
from memcli.errors import RetrieverError
from tests.embedding.writing import END, SURE, configure, make_copier, make_teller

WORDS = ("pool", "ran", "dry", "fox", "train", "late")


def opened(folder: Path, reads: int = 99, writes: int = 99) -> Generator:
    return Generator(str(folder), reads=reads, writes=writes)


def test_an_encoder_and_a_decoder_write_what_is_most_likely(tmp_path: Path) -> None:
    make_copier(tmp_path / "m", WORDS)
    model = opened(tmp_path / "m")
    assert model.count("pool ran dry") == 4
    made = model.write("pool ran dry")
    assert made.text == "pool ran dry"
    # Nine words: the one that follows scores 10, the others 0; three words and the end.
    each = log(exp(SURE) / (exp(SURE) + 8))
    assert made.tokens == 4
    assert made.log_probability == pytest.approx(4 * each, rel=1e-5)


def test_no_more_is_read_and_written_than_was_asked_for(tmp_path: Path) -> None:
    make_copier(tmp_path / "m", WORDS)
    made = opened(tmp_path / "m", writes=2).write("pool ran dry fox")
    assert (made.text, made.tokens) == ("pool ran", 2)
    assert opened(tmp_path / "m", reads=2, writes=2).write("fox ran dry").text == "fox ran"


def test_a_decoder_alone_is_given_back_its_past(tmp_path: Path) -> None:
    make_teller(tmp_path / "m", WORDS, {"pool": "it ran dry.", "fox": "it sleeps."})
    model = opened(tmp_path / "m")
    assert model.write("pool train late").text == "it ran dry."
    assert model.write("fox train late").text == "it sleeps."
    assert model.write("train").text == ""


def test_files_may_lie_in_a_folder_onnx(tmp_path: Path) -> None:
    make_teller(tmp_path / "m", WORDS, {"pool": "it ran dry."})
    (tmp_path / "m" / "onnx").mkdir()
    (tmp_path / "m" / "model.onnx").rename(tmp_path / "m" / "onnx" / "model.onnx")
    assert opened(tmp_path / "m").write("pool").text == "it ran dry."


def test_what_was_chosen_for_generation_goes_first(tmp_path: Path) -> None:
    make_teller(tmp_path / "m", WORDS, {"pool": "it ran dry."})
    configure(tmp_path / "m", eos_token_id=99)
    (tmp_path / "m" / "generation_config.json").write_text(f'{{"eos_token_id": {END}}}')
    assert opened(tmp_path / "m").write("pool").text == "it ran dry."


@pytest.mark.parametrize(
    ("absent", "told"),
    [
        ("tokenizer.json", "has no tokenizer.json"),
        ("decoder_model.onnx", "has no decoder_model.onnx"),
        ("encoder_model.onnx", "has no model.onnx"),
        ("config.json", "names no eos_token_id"),
    ],
)
def test_what_a_folder_lacks_is_named(tmp_path: Path, absent: str, told: str) -> None:
    make_copier(tmp_path / "m", WORDS)
    (tmp_path / "m" / absent).unlink()
    with pytest.raises(RetrieverError, match=told) as caught:
        opened(tmp_path / "m")
    assert caught.value.hint == "memcli help compact"


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ('{"eos_token_id": 1}', "names no decoder_start_token_id"),
        ('{"eos_token_id": "end", "decoder_start_token_id": 2}', "names no eos_token_id"),
        ("[1]", "names no eos_token_id"),
        ("{", "config.json cannot be read"),
    ],
)
def test_a_configuration_that_says_too_little_is_refused(
    tmp_path: Path, config: str, told: str
) -> None:
    make_copier(tmp_path / "m", WORDS)
    (tmp_path / "m" / "config.json").write_text(config)
    with pytest.raises(RetrieverError, match=told):
        opened(tmp_path / "m")


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    make_copier(tmp_path / "m", WORDS)
    (tmp_path / "m" / "encoder_model.onnx").unlink()
    (tmp_path / "m" / "decoder_model.onnx").rename(tmp_path / "m" / "model.onnx")
    with pytest.raises(
        RetrieverError, match="unknown inputs: encoder_attention_mask, encoder_hidden"
    ):
        opened(tmp_path / "m").write("pool")


def test_a_folder_is_set_by_a_whole_path() -> None:
    with pytest.raises(RetrieverError, match="is not set"):
        Generator("", reads=9, writes=9)
    with pytest.raises(RetrieverError, match="must be a whole path, not models/t5"):
        Generator("models/t5", reads=9, writes=9)
