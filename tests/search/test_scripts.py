"""Notes in other scripts than Latin are found by other forms of their words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from memcli.search.fusion import Weights, fuse
from memcli.types import Candidate
from tests.commands import indexed, record
from tests.search.makers import candidate

NOTES = {
    "ru/settings.md": "Обновили настройки почтового сервера.\n",
    "ru/contract.md": "Подписали договор с поставщиком окон.\n",
    "ru/anna.md": "Анна живёт в Берлине и работает врачом.\n",
    "ru/tree.md": "Ёлку купили на рынке.\n",
    "ar/school.md": "ذهبت ليلى إلى المدرسة الجديدة.\n",
    "ar/car.md": "السيارات في المرآب رقم ٣٠٥.\n",
    "ar/ahmad.md": "وصل أحمد من المستشفى.\n",
    "ja/apple.md": "りんごを三つ買った。\n",
    "ja/coffee.md": "ｺｰﾋｰは苦い。\n",
    "th/year.md": "นัดหมอฟัน ห้อง ๔๑๒\n",
    "ko/house.md": "집은 서울에 있다.\n",
    "el/road.md": "Η ΟΔΟΣ ΑΘΗΝΩΝ είναι κλειστή.\n",
    "tr/place.md": "Iğdır'da kayısı topladık.\n",
    "en/room.md": "The spare key of room 617 hangs in the hall.\n",
}
Ask = Callable[..., Sequence[str]]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed(tmp_path_factory.mktemp("base"), NOTES)


@pytest.fixture
def ask(base: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Search the notes by words and give the paths that are found."""
    monkeypatch.setenv("MEMCLI_STORE", str(base / "index.sqlite"))

    def asked(*arguments: str) -> Sequence[str]:
        found = record("search", *arguments, "-w", str(base / "notes"), "--mode", "keyword")
        return [each["path"] for each in found["results"]]

    return asked


@pytest.mark.parametrize(
    ("query", "path"),
    [
        pytest.param("настройка серверов", "ru/settings.md", id="russian-plural"),
        pytest.param("договоры", "ru/contract.md", id="russian-nominative"),
        pytest.param("работавшая врачами", "ru/anna.md", id="russian-participle"),
        pytest.param("елка", "ru/tree.md", id="russian-yo"),
        pytest.param("договора*", "ru/contract.md", id="russian-beginning-beyond-the-stem"),
        pytest.param("настр*", "ru/settings.md", id="russian-beginning"),
        pytest.param('"живет в берлин"', "ru/anna.md", id="russian-phrase"),
        pytest.param("настрйоки", "ru/settings.md", id="russian-misspelt"),
        pytest.param("مدرسة", "ar/school.md", id="arabic-article"),
        pytest.param("بالمدرسه", "ar/school.md", id="arabic-preposition-and-teh"),
        pytest.param("سيارة", "ar/car.md", id="arabic-plural"),
        pytest.param("احمد", "ar/ahmad.md", id="arabic-alef"),
        pytest.param("مستشفي", "ar/ahmad.md", id="arabic-yeh"),
        pytest.param("305", "ar/car.md", id="arabic-digits"),
        pytest.param("٦١٧", "en/room.md", id="arabic-digits-asked"),
        pytest.param("412", "th/year.md", id="thai-digits"),
        pytest.param("リンゴ", "ja/apple.md", id="katakana-for-hiragana"),
        pytest.param("コーヒー", "ja/coffee.md", id="half-width"),
        pytest.param("οδός αθηνών", "el/road.md", id="greek-accents"),
        pytest.param("ığdır", "tr/place.md", id="turkish-dotless"),
    ],
)
def test_another_form_finds_the_note(ask: Ask, query: str, path: str) -> None:
    assert ask(query)[:1] == [path]


@pytest.mark.parametrize("query", ["стройка", "договорная", "مدير", "سائق", "りんか"])
def test_what_only_begins_alike_is_not_taken_for_a_form(ask: Ask, query: str) -> None:
    assert ask(f'"{query}"') == []


def test_a_word_counts_as_much_in_a_chunk_of_chinese_as_in_one_of_english() -> None:
    english = "The orders moved to MySQL on Sunday and nobody saw that it took all night.\n"
    chinese = "订单系统从 MySQL 搬到新的服务器，花了整整三天时间，最难的部分是外键的顺序。\n"
    both = [
        candidate(1, bm25=2.0, lines=(english,)),
        candidate(2, bm25=1.0, lines=(chinese,)),
        candidate(3, bm25=1.0, lines=(english * 2,)),
    ]
    weights = Weights(0.0, 1.0)

    def scores(*chunks: Candidate) -> dict[int, float]:
        found = fuse(chunks, {}, method="scaled", weights=weights, text_share=1.0)
        return {passage.about.chunk_id: passage.score for passage in found}

    of_both, of_one = scores(*both), scores(both[0], both[2])
    assert of_both[2] > 1.2 * of_both[3]
    assert of_one == {1: 1.0, 3: 0.5}
    assert scores(both[1], both[1]._replace(bm25=2.0, about=both[0].about)) == {2: 0.5, 1: 1.0}


def test_a_chinese_run_that_no_note_contains_counts_by_its_pairs(tmp_path: Path) -> None:
    notes = {f"{name}.md": f"小敏{text}\n" for name, text in (
        ("dinner", "聚餐定在六点"), ("song", "喜欢孙燕姿"), ("home", "住在浦东")
    )}  # fmt: skip
    folder = indexed(tmp_path, notes) / "notes"
    found = record("search", "聚餐几点", "-w", str(folder), "--mode", "keyword", "--verbose")
    assert [(each["path"], each["score"] > 0) for each in found["results"]] == [("dinner.md", True)]
    for query in ("小敏喝", "哪天"):
        assert "unmatched" not in record("search", query, "-w", str(folder))
