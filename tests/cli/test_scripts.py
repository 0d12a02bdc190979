"""That the model cannot read a script is said once for a workspace, and in JSON each time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import NewWorkspace
from tests.commands import run_here as run
from tests.support import write

CANNOT = "keywords only: the bundled model reads English"
NOTES = {
    "zh.md": "# 记录\n\n我们在深圳开会，讨论了预算。\n",
    "ru.md": "# Записи\n\nОбновили почтовый сервер.\n",
    "ar.md": "# سجل\n\nذهبت ليلى إلى المدرسة.\n",
    "th.md": "# บันทึก\n\nนัดหมอฟันวันจันทร์\n",
    "ko.md": "# 기록\n\n서울에서 회의를 했다.\n",
    "el.md": "# Σημειώσεις\n\nΗ συνάντηση έγινε στην Αθήνα.\n",
    "en.md": "# Log\n\nThe budget of the server room.\n",
}


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    return workspace(NOTES, index=True, encoder="auto")


def memcli(notes: Path, *arguments: str, **environ: str) -> tuple[str, str]:
    done = run(*arguments, "-w", str(notes), **environ)
    return done.stdout, done.stderr


def test_it_is_said_once_for_each_workspace(notes: Path, tmp_path: Path) -> None:
    said = [memcli(notes, "search", query)[1] for query in ("预算", "сервер", "预算")]
    assert ["multilingual" in each for each in said] == [True, False, False]
    assert said[0].count("Try: ") == 1
    assert CANNOT not in memcli(notes, "context", "预算")[1]
    assert CANNOT in memcli(notes, "search", "预算", "-v")[1]
    write(tmp_path / "other", "zh.md", NOTES["zh.md"])
    assert "multilingual" in memcli(tmp_path / "other", "search", "预算")[1]


def test_what_nobody_was_told_is_still_to_be_said(notes: Path) -> None:
    assert CANNOT not in memcli(notes, "search", "-q", "预算")[1]
    assert CANNOT not in memcli(notes, "search", "budget")[1]
    assert CANNOT in memcli(notes, "search", "预算")[1]


def test_it_is_said_each_time_where_nothing_can_be_remembered(notes: Path, tmp_path: Path) -> None:
    index = str(tmp_path / "index.sqlite")
    memcli(notes, "index", "-q", MEMCLI_STORE=index)
    write(tmp_path, "no-folder", "")
    here = {"MEMCLI_STORE": index, "XDG_CACHE_HOME": str(tmp_path / "no-folder")}
    assert all(CANNOT in memcli(notes, "search", "预算", **here)[1] for _ in range(2))


def test_a_read_only_index_is_no_hindrance(notes: Path, tmp_path: Path) -> None:
    folder = tmp_path / "read-only"
    index = str(folder / "index.sqlite")
    memcli(notes, "index", "-q", MEMCLI_STORE=index)
    for path in (*folder.iterdir(), folder):
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        said = [memcli(notes, "search", "预算", MEMCLI_STORE=index)[1] for _ in range(2)]
    finally:
        folder.chmod(0o700)
    assert [CANNOT in each for each in said] == [True, False]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("深圳的会议", "zh.md"),
        ("почтовые серверы", "ru.md"),
        ("مدرسة ليلى", "ar.md"),
        ("นัดหมอฟัน", "th.md"),
        ("서울 회의", "ko.md"),
        ("συνάντηση Αθήνα", "el.md"),
        ("预算 ok 深圳", "zh.md"),
    ],
)
def test_what_the_model_cannot_read_goes_by_words_each_time_in_json(
    notes: Path, query: str, path: str
) -> None:
    for _ in range(2):
        found = json.loads(memcli(notes, "search", query, "--json")[0])
        assert found["retrievers"]["semantic"]["ran"] is False
        assert found["retrievers"]["semantic"]["reason"].startswith(
            "the bundled model reads English"
        )
        assert found["results"][0]["path"] == path


@pytest.mark.parametrize("word", ["预算", "сервер", "مدرسة", "ห้องประชุม", "회의록", "συνάντηση"])
def test_a_word_that_the_model_cannot_read_changes_no_meaning(notes: Path, word: str) -> None:
    def cosines(query: str) -> dict[str, float]:
        out = memcli(notes, "search", query, "--json", "--explain", "--mode", "semantic")[0]
        return {each["path"]: each["confidence"] for each in json.loads(out)["results"]}

    alone = cosines("what does the budget of the server cost")
    assert alone
    assert cosines(f"what does the budget of the server cost {word}") == alone


def test_a_query_that_is_mostly_latin_goes_by_meaning_too(notes: Path) -> None:
    found = json.loads(memcli(notes, "search", "budget of the server 预算", "--json", "-v")[0])
    assert found["retrievers"]["semantic"]["ran"] is True


def test_what_the_model_cannot_read_is_not_embedded_and_is_counted(notes: Path) -> None:
    status = json.loads(memcli(notes, "status", "--json")[0])
    vectors = status["vectors"]
    assert {key: vectors[key] for key in ("segments", "embedded", "pending", "omitted")} == {
        "segments": 7, "embedded": 1, "pending": 0, "omitted": 6,
    }  # fmt: skip
    assert "1 of 7 segments, 6 in scripts it cannot read, auto" in memcli(notes, "status")[0]
    assert not any("no vector yet" in warning for warning in status["warnings"])
    said = json.loads(memcli(notes, "index", "--json")[0])
    assert (said["embedded"], said["pending"]) == (0, 0)
    # One text of seven has a vector, and that is all that can: meaning takes part.
    _, err = memcli(notes, "search", "money for the machines", "--json")
    assert "embedded" not in err
    write(notes, "zh2.md", "# 记录\n\n今天没有下雨。\n")
    semantic = json.loads(memcli(notes, "search", "money for the machines", "--json", "-v")[0])[
        "retrievers"
    ]["semantic"]
    assert (semantic["ran"], semantic["embedded"], semantic["total"]) == (True, 1, 1)


def test_where_it_can_read_nothing_meaning_takes_no_part(tmp_path: Path) -> None:
    write(tmp_path / "notes", "zh.md", NOTES["zh.md"])
    memcli(tmp_path / "notes", "index", "-q")
    found = json.loads(memcli(tmp_path / "notes", "search", "budget", "--json")[0])
    assert found["retrievers"]["semantic"]["ran"] is False
    assert found["retrievers"]["semantic"]["reason"].startswith("all notes are in scripts")
