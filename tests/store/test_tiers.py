"""Search by first components: what a tier may answer, when it is dirty, and another cut."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memcli.config.settings import load
from memcli.errors import ConfigError
from memcli.store import tiers
from memcli.store.quantize import rounded
from memcli.store.records import Neighbour, Scope
from memcli.store.sqlite.driver import rows
from memcli.store.sqlite.reader import Reader
from memcli.store.sqlite.writer import Writer
from memcli.store.tiers import Tier, head_cosine, head_of, tiers_of
from memcli.types import Filters
from tests.store.nested import nested, put_segments, questions
from tests.store_check import assert_sound
from tests.support import FAR_FUTURE_NS, by_night

DIMENSION = 2048  # so that few vectors have codes
FINGERPRINT = f"made-up;dim={DIMENSION}"
COUNT = 420
NEVER = (Tier(64, 1.0), Tier(256, 1.0))


def clock() -> int:
    return FAR_FUTURE_NS


def name(document: str, number: int) -> bytes:
    return f"{document}{number:015}".encode()


def put(writer: Writer, document: str, count: int) -> None:
    put_segments(writer, document, [name(document, number) for number in range(count)])


def embed(writer: Writer, document: str, made: Any) -> None:
    named = [(name(document, number), row.tobytes()) for number, row in enumerate(made)]
    writer.put_vectors(FINGERPRINT, named)
    writer.search_by(FINGERPRINT, DIMENSION)


def opened(path: str, components: Sequence[int] = ()) -> Writer:
    return Writer(path, clock, tiers=components)


@pytest.fixture(scope="module")
def texts() -> Any:
    return nested(COUNT, DIMENSION)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, texts: Any) -> str:
    """Give an index with codes of whole vectors alone."""
    found = str(tmp_path_factory.mktemp("tiers") / "index.sqlite")
    writer = opened(found)
    put(writer, "a", COUNT)
    put(writer, "b", 20)
    embed(writer, "a", texts)
    embed(writer, "b", nested(20, DIMENSION, 5))
    writer.close()
    return found


@pytest.fixture
def path(built: str, tmp_path: Path) -> str:
    """Give a copy of it, which a test may change."""
    return shutil.copy(built, str(tmp_path / "index.sqlite"))


def settled(path: str, components: Sequence[int]) -> tuple[int, int]:
    """Do what a run does where nothing has changed; give the texts that wait, and the vectors."""
    writer = opened(path, components)
    waiting = writer.unembedded(FINGERPRINT)
    writer.search_by(FINGERPRINT, DIMENSION, none_waits=True)
    assert writer.is_embedded(FINGERPRINT)
    kept = rows(writer.connection, "SELECT count(*) FROM vectors")[0][0]
    writer.close()
    assert_sound(path)
    return waiting, kept


def found(
    path: str, asked: Any, by: Sequence[Tier], limit: int = 10, scope: Scope | None = None
) -> list[Sequence[Neighbour]]:
    reader = Reader(path, by)
    try:
        return [reader.by_vector(q.tobytes(), limit, scope or Scope())() for q in asked]
    finally:
        reader.close()


def test_a_score_above_the_threshold_decides_and_none_passes_1() -> None:
    assert Tier(64, 0.4).is_sure(0.5)
    assert not Tier(64, 0.5).is_sure(0.5)
    assert not Tier(64, 0.0).is_sure(0.0)
    assert not Tier(64, 1.0).is_sure(1.0000002)


def test_a_head_is_the_first_components_at_unit_length() -> None:
    whole = np.array([0.6, 0.0, 0.8, 0.0], "<f4")
    assert np.frombuffer(head_of(whole.tobytes(), 2), "<f4").tolist() == [1.0, 0.0]
    assert not any(head_of(bytes(16), 2))
    # (1, 0) and (3, 4) / 10: the distance is sqrt(.49 + .16), the length .5, the cosine .6.
    assert head_cosine(0.65**0.5, 0.5) == pytest.approx(0.6)
    assert head_cosine(1.0, 0.0) == 0.0


@pytest.mark.parametrize(
    ("cut", "expected"),
    [(0, ()), (64, ((64, 0.5), (256, 0.6))), (256, ((256, 0.5),)), (512, ((512, 0.5),))],
)
def test_tiers_of_a_configuration(tmp_path: Path, cut: int, expected: tuple[Any, ...]) -> None:
    settings = {
        "MEMCLI_EMBEDDING_ENCODER": "onnx", "MEMCLI_ONNX_MATRYOSHKA": str(cut),
        "MEMCLI_MATRYOSHKA_FIRST": "0.5", "MEMCLI_MATRYOSHKA_SECOND": "0.6",
    }  # fmt: skip
    assert tiers_of(load(str(tmp_path), settings, {})) == expected
    settings["MEMCLI_EMBEDDING_ENCODER"] = "bundled"
    assert tiers_of(load(str(tmp_path), settings, {})) == ()


def test_a_cut_whose_codes_fill_no_bytes_is_refused(tmp_path: Path) -> None:
    settings = {"MEMCLI_EMBEDDING_ENCODER": "openai", "MEMCLI_OPENAI_MATRYOSHKA": "100"}
    with pytest.raises(ConfigError, match="multiple of 8, not 100"):
        tiers_of(load(str(tmp_path), settings, {}))
    assert all(size % tiers.MULTIPLE == 0 for size in (64, tiers.SECOND))


def test_thresholds_of_1_change_nothing(path: str, texts: Any) -> None:
    settled(path, (64, 256))
    asked = [*questions(COUNT, 8, DIMENSION), *texts[:2]]
    within = Scope(Filters(paths=("b.md",)))
    for limit in (1, 10, 250):
        for scope in (Scope(), within):
            whole = found(path, asked, (), limit, scope)
            assert found(path, asked, NEVER, limit, scope) == whole
            assert {text.tier for near in whole for text in near} == {0}


def test_what_a_tier_finds_is_scored_by_whole_vectors(path: str, texts: Any) -> None:
    settled(path, (64, 256))
    rows_ = [np.frombuffer(rounded(row.tobytes()), "<f4") for row in texts]
    kept = {name("a", number): row for number, row in enumerate(rows_)}
    asked = questions(COUNT, 24, DIMENSION)
    whole = found(path, asked, ())
    early = found(path, asked, (Tier(64, 0.85), Tier(256, 0.68)))
    assert {near[0].tier for near in early} == {0, 64, 256}
    for query, near, exact in zip(asked, early, whole, strict=True):
        assert len({text.tier for text in near}) == 1
        cosines = [text.cosine for text in near]
        assert cosines == sorted(cosines, reverse=True)
        for text in near:
            if text.hash in kept:
                assert text.cosine == pytest.approx(float(kept[text.hash] @ query), abs=2e-3)
        if near[0].tier == 0:
            assert near == exact
        else:
            assert near[0].hash == exact[0].hash
            assert len({t.hash for t in near} & {t.hash for t in exact}) >= 7


def test_a_dirty_tier_never_answers_and_is_filled_without_embedding(path: str) -> None:
    asked, sure = questions(COUNT, 6, DIMENSION), (Tier(64, 0.1), Tier(256, 0.1))

    def answering() -> set[int]:
        return {text.tier for near in found(path, asked, sure) for text in near}

    assert answering() == {0}  # no tier has been filled
    assert settled(path, (256,)) == (0, COUNT + 20)
    assert answering() == {256}
    assert settled(path, (64, 256)) == (0, COUNT + 20)
    assert answering() == {64}
    assert settled(path, ()) == (0, COUNT + 20)
    assert answering() == {0}


def test_a_cut_as_long_as_the_vectors_is_no_tier(path: str, texts: Any) -> None:
    settled(path, (DIMENSION, 4096))
    near = found(path, texts[:1], (Tier(DIMENSION, 0.1), Tier(4096, 0.1)))
    assert {text.tier for text in near[0]} == {0}


def test_tiers_are_dirty_where_vectors_were_changed_without_vec0(path: str, texts: Any) -> None:
    settled(path, (64,))
    writer = Writer(path, clock)
    writer.vec_problem = "not here"
    put(writer, "b", 3)
    writer.search_by(FINGERPRINT, DIMENSION)
    writer.close()
    sure = (Tier(64, 0.1),)
    assert found(path, texts[:1], sure)[0][0].tier == 0
    settled(path, (64,))
    assert found(path, texts[:1], sure)[0][0].tier == 64


def test_another_model_leaves_no_tier_of_the_one_before(path: str, texts: Any) -> None:
    settled(path, (64,))
    writer = opened(path, (64,))
    other = nested(COUNT, 1024, 9)
    for document, made in (("a", other), ("b", nested(20, 1024, 10))):
        named = [(name(document, n), row.tobytes()) for n, row in enumerate(made)]
        writer.put_vectors("other;dim=1024", named)
    writer.search_by("other;dim=1024", 1024)
    writer.close()
    assert_sound(path)
    assert found(path, other[:1], (Tier(64, 0.1),))[0][0].tier == 0  # few enough to need no codes


def changes(seed: int) -> Iterator[tuple[str, int]]:
    drawn = random.Random(seed)
    for _ in range(12):
        yield drawn.choice(("put", "put", "remove", "embed", "cut")), drawn.randrange(30)


@pytest.mark.parametrize("seed", [0, *by_night(1, 2, 3)])
def test_tiers_follow_every_change(path: str, seed: int) -> None:
    """Whoever writes, with tiers or without: what stands there is in step, or is not there."""
    cut: tuple[int, ...] = (64,)
    made = nested(30, DIMENSION, 20 + seed)
    for what, number in changes(seed):
        writer = opened(path, cut)
        if what == "put":
            put(writer, f"n{number % 3}", number)
        elif what == "remove":
            writer.remove(("memory", f"n{number % 3}.md"))
        elif what == "embed":
            embed(writer, f"n{number % 3}", made[:number])
        else:
            cut = ((), (64,), (256,), (64, 256))[number % 4]
            writer.search_by(FINGERPRINT, DIMENSION)
        writer.close()
        assert_sound(path)
