"""A run that embeds: from several threads at once, with faults, and ended early."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from memcli.embedding.models import E5, INT8
from memcli.errors import RetrieverError
from memcli.indexing.indexer import EMBED_BATCH, embed, finish_without_encoder, index, readable_of
from memcli.markdown.segments import segment_hash
from memcli.store.run_records import Pending
from memcli.store.sqlite.writer import Writer
from tests.hashing import HashingEncoder
from tests.store_check import assert_sound, dump, open_writer
from tests.support import make_settings, write

NOTES = 90


class Stubborn(HashingEncoder):
    """Fails on one text, and may be called from several threads."""

    def __init__(self, faulty: str = "") -> None:
        super().__init__()
        self.faulty = faulty
        self.calls: list[int] = []
        self.threads: set[int] = set()

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        self.threads.add(threading.get_ident())
        self.calls.append(len(texts))
        if any(self.faulty and self.faulty in text for text in texts):
            raise RetrieverError("the model failed", hint="memcli index")
        return super().encode(texts)


def notes(root: Path) -> Path:
    for number in range(NOTES):
        path = write(root, f"memory/{number:03}.md", f"# Note\n\nword{number:03} of the pool\n")
        os.utime(path, (1, 1))  # so that their names decide the order
    return root


def indexed(root: Path, store: Path) -> Writer:
    writer = open_writer(str(store))
    index(writer, make_settings(root))
    return writer


@pytest.mark.parametrize(("at_once", "per_call"), [(2, 1), (3, 7), (4, 32), (8, 1)])
def test_the_index_is_the_same_from_several_threads(
    tmp_path: Path, at_once: int, per_call: int
) -> None:
    root = notes(tmp_path / "notes")
    one, several = tmp_path / "one.sqlite", tmp_path / "several.sqlite"
    with_one, with_several = indexed(root, one), indexed(root, several)
    encoder, told = Stubborn(), list[tuple[int, int]]()
    alone = Stubborn()
    assert embed(with_one, alone) == NOTES
    assert alone.threads == {threading.get_ident()}
    made = embed(
        with_several, encoder, at_once=at_once, per_call=per_call,
        on_progress=lambda _, done, total: told.append((done, total)),
    )  # fmt: skip
    assert made == NOTES == sum(encoder.calls)
    assert max(encoder.calls) <= per_call
    assert threading.get_ident() not in encoder.threads
    assert told[-1] == (NOTES, NOTES)
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    with_one.close()
    with_several.close()
    assert_sound(str(several))
    assert dump(str(several)) == dump(str(one))


@pytest.mark.parametrize("at_once", [1, 4])
def test_what_was_made_before_a_fault_is_kept(tmp_path: Path, at_once: int) -> None:
    root, store = notes(tmp_path / "notes"), tmp_path / "index.sqlite"
    writer = indexed(root, store)
    faulty = Stubborn("word040 ")
    with pytest.raises(RetrieverError, match="the model failed"):
        embed(writer, faulty, at_once=at_once, per_call=1)
    assert writer.counts().embedded == 40
    assert embed(writer, HashingEncoder()) == NOTES - 40
    writer.close()
    assert_sound(str(store))


def test_who_ends_a_run_keeps_what_was_stored(tmp_path: Path) -> None:
    root, store = notes(tmp_path / "notes"), tmp_path / "index.sqlite"
    writer, encoder = indexed(root, store), Stubborn()

    def end(_stage: str, done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed(writer, encoder, at_once=2, per_call=1, on_progress=end)
    assert writer.counts().embedded == EMBED_BATCH
    assert sum(encoder.calls) < NOTES
    writer.close()
    assert_sound(str(store))


class Other(HashingEncoder):
    """The same vectors by another name."""

    @property
    def fingerprint(self) -> str:
        return f"{super().fingerprint}-other"


def test_what_was_embedded_is_known_to_be_until_the_next_change(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    for name in "ab":
        write(root, f"{name}.md", f"the {name} of the pool\n")
    writer, encoder = indexed(root, tmp_path / "index.sqlite"), HashingEncoder()
    assert not finish_without_encoder(writer, None)
    assert not finish_without_encoder(writer, encoder.fingerprint)
    embed(writer, encoder)
    assert writer.is_embedded(encoder.fingerprint)
    (root / "b.md").unlink()
    index(writer, make_settings(root))
    assert not writer.is_embedded(encoder.fingerprint)
    assert finish_without_encoder(writer, encoder.fingerprint)
    assert writer.is_embedded(encoder.fingerprint)
    writer.close()


def test_vectors_of_the_encoder_before_are_not_searched_by_again_unasked(tmp_path: Path) -> None:
    write(tmp_path / "notes", "a.md", "the pool\n")
    writer = indexed(tmp_path / "notes", tmp_path / "index.sqlite")
    for encoder in (HashingEncoder(), Other()):
        embed(writer, encoder)
    assert not finish_without_encoder(writer, HashingEncoder().fingerprint)
    assert writer.facts.fingerprint == Other().fingerprint
    writer.close()


def test_texts_in_a_script_that_the_model_has_not_learnt_are_left_out() -> None:
    listed = [
        Pending(segment_hash(text), "", text, "", (), None)
        for text in ("the pool ran dry", "水池干了")
    ]
    assert readable_of(listed, E5.name) == listed
    assert readable_of(listed, INT8.name) == listed[:1]
