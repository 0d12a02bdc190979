"""A folder of notes is searched as it is, and what leaves its index is said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.commands import NewWorkspace, checked, typed
from tests.support import write

BARE = "No workspace here: searching {}. To mark it: memcli init\n"


@pytest.fixture
def notes(workspace: NewWorkspace, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMCLI_SEARCH_MODE", "keyword")
    return workspace(
        {f"{n:02}.md": f"# Note {n}\n\nThe fox of {n}.\n" for n in range(65)}, encoder="hashing"
    )


def paths(line: str = "fox -n 100 --more") -> int:
    code, out, err = typed(f"search {line} --format paths")
    assert (code, "memcli:" in err) == (0, False), err
    return len(out.splitlines())


def test_what_is_searched_is_said_once_for_each_choice(notes: Path) -> None:
    bare = BARE.format(notes)
    assert typed("search fox -n 1 -q")[2] == ""  # who has not read it has not been told
    assert typed("search fox -n 1")[2] == bare
    assert typed("search fox -n 1")[2] == ""
    for line in ("status", "get 01.md:1"):
        assert typed(line)[2] == ""
    assert typed("search fox -n 1 -v")[2].startswith(bare)
    write(notes, ".serena/memories/a.md", "A fox in the rules.\n")
    chosen = bare.replace(". To mark", ", and the memory of serena. To mark")
    assert typed("search fox -n 1")[2].startswith(chosen)
    assert typed("search fox -n 1")[2] == ""
    assert json.loads(typed("status --json")[1])["workspace_origin"] == ""


def test_a_log_that_an_agent_writes_hides_no_note(notes: Path) -> None:
    assert typed("search fox -n 1")[2] == BARE.format(notes)
    assert paths() == 65
    write(notes, "memory/2026-11-21.md", "- saw a fox\n")
    assert paths() == 66
    assert typed("search fox -n 1")[2] == ""
    shutil.rmtree(notes / "memory")
    assert paths("fox -n 100 --more -q") == 65


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ('[files]\nscope = "memory"\n', "files.scope and files.include do not name them"),
        ('[files]\nexclude = ["*.md"]\n', "exclude leaves them out"),
    ],
)
def test_what_a_setting_leaves_out_is_counted_once(notes: Path, change: str, reason: str) -> None:
    assert paths() == 65
    write(notes, "memcli.toml", change)
    line = f"65 files are no longer in scope because {reason}: 00.md, 01.md, 02.md and 62 more"
    assert line in typed("index --dry-run")[2]
    assert line in typed("status")[1]
    code, out, err = typed("search fox")
    assert (code, out, line in err) == (0, "", True)
    assert "no longer in scope" not in typed("search fox")[2]


def test_index_and_a_full_run_say_what_leaves(notes: Path) -> None:
    typed("index -q")
    write(notes, ".memcliignore", "0*.md\n")
    line = "memcli: 10 files are no longer in scope because .memcliignore leaves them out: 00.md,"
    assert line in typed("index")[2]
    write(notes, ".memcliignore", "0*.md\n11.md\n")
    line = "memcli: 1 file is no longer in scope because .memcliignore leaves it out: 11.md\n"
    assert line in typed("index --full")[2]


def test_config_and_help_work_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    assert typed("search fox")[0] == 3
    code, out, err = typed("config -q")
    assert (code, err) == (0, "")
    assert out.startswith(f"folder     {home} (not marked; memcli init marks it)\n")
    assert typed("help agent-memory")[0] == 0
    assert list(home.iterdir()) == []


def test_json_says_what_is_searched_without_a_mark(notes: Path) -> None:
    for command in ("search", "context"):
        found = checked(f"memcli.{command}", typed(f"{command} fox --json")[1])
        assert found["implicit_sources"] == [{"source": "memory", "path": str(notes)}]
        assert "implicit_sources" not in json.loads(typed(f"{command} fox --json -w .")[1])


def test_bytes_that_a_search_had_to_replace_are_named(notes: Path) -> None:
    (notes / "latin.md").write_bytes("Schlüssel und Fuchs fox\n".encode("latin-1"))
    line = "memcli: latin.md has bytes that are not text. Try: memcli status\n"
    for _ in range(2):
        err = typed("search 'fox Schlüssel badger'")[2]
        assert line in err
        assert "No searched note contains: Schlüssel, badger." in err
    assert "latin.md has bytes that are not text" in typed("status")[1]
    assert "latin.md: some bytes are not text and were replaced" in typed("lint")[2]
    assert json.loads(typed("lint --json")[1])["skipped"] == []  # it was checked
    write(notes, "latin.md", "Schlüssel und Fuchs fox\n")
    assert line not in typed("search fox")[2]


def test_an_encoder_that_is_named_has_to_be_there(notes: Path) -> None:
    code, _, err = typed("index --encoder openai")
    assert (code, "vectors are off: openai.url is not set" in err) == (6, True)
    assert paths() == 65
    assert typed("index --encoder none")[0] == 0
