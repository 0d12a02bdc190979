"""`memcli config`: every value with its origin, and a file that changes nothing."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import memcli
from memcli.cli.config_file import commented
from memcli.config.settings import KEYS, load, user_file
from tests.cli.processes import run
from tests.support import strict

SCHEMA = json.loads(
    (Path(memcli.__file__).parent / "schemas" / "memcli.config.1.json").read_text("utf-8")
)


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "notes" / "memory").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "notes")
    return tmp_path / "notes"


def _record(*arguments: str, **environ: str) -> dict[str, dict[str, object]]:
    record = json.loads(run("config", "--json", *arguments, **environ).stdout)
    Draft202012Validator(strict(SCHEMA)).validate(record)
    return {setting["name"]: setting for setting in record["settings"]}


def test_every_setting_is_shown_with_its_origin(notes: Path) -> None:
    (notes / "memcli.toml").write_text("[search]\nlimit = 7\n")
    shown = _record(MEMCLI_SEARCH_MODE="lexical")
    assert list(shown) == [key.name for key in KEYS]
    assert shown["search.limit"] == {
        "name": "search.limit",
        "value": 7,
        "origin": str(notes / "memcli.toml"),
        "default": 10,
        "variable": "MEMCLI_SEARCH_LIMIT",
        "flag": "--limit",
    }
    assert shown["search.mode"]["origin"] == "MEMCLI_SEARCH_MODE"
    assert shown["chunk.tokens"]["origin"] == "default"


def test_one_setting_or_a_group_can_be_asked_for(notes: Path) -> None:
    assert run("config", "search.limit").stdout == "search.limit  10  default\n"
    assert list(_record("watch")) == [
        "watch.debounce_ms",
        "watch.threads",
        "watch.interval_minutes",
    ]


@pytest.mark.parametrize(
    ("name", "near"),
    [("search.limt", " search.limit"), ("serch", " search"), ("zzz", "")],
)
def test_an_unknown_setting_names_the_nearest(notes: Path, name: str, near: str) -> None:
    done = run("config", name)
    assert done.returncode == 2
    assert done.stderr == f"memcli: there is no setting {name}\nTry: memcli config{near}\n"


@pytest.mark.parametrize("user", [False, True])
def test_the_file_of_comments_changes_nothing_and_without_them_is_the_defaults(
    user: bool, tmp_path: Path
) -> None:
    text = commented(user=user)
    assert all(value == {} for value in tomllib.loads(text).values())
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    file = Path(user_file(environ)) if user else tmp_path / "ws" / "memcli.toml"
    file.parent.mkdir(parents=True)
    file.write_text(re.sub(r"^# (?=[a-z_]+ = )", "", text.partition("# One more")[0], flags=re.M))
    (tmp_path / "ws").mkdir(exist_ok=True)
    config = load(str(tmp_path / "ws"), environ, {})
    for key in KEYS:
        origin = str(file) if user or not key.user_only else "default"
        assert config.values[key.name] == (key.default, origin)


def test_init_writes_once_and_never_over(notes: Path) -> None:
    done = run("config", "--init")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (
        f"Wrote {notes / 'memcli.toml'}; it changes nothing until you edit it.\n"
    )
    (notes / "memcli.toml").write_text("[search]\nlimit = 3\n")
    again = run("config", "--init")
    assert again.returncode == 2
    assert "already exists and is left as it is" in again.stderr
    assert (notes / "memcli.toml").read_text() == "[search]\nlimit = 3\n"


def test_init_follows_no_link(notes: Path, tmp_path: Path) -> None:
    (notes / "memcli.toml").symlink_to(tmp_path / "elsewhere.toml")
    assert run("config", "--init").returncode == 2
    assert not (tmp_path / "elsewhere.toml").exists()


def test_your_own_file_is_written_in_its_place(notes: Path) -> None:
    done = run("config", "--init", "--user", "--json")
    record = json.loads(done.stdout)
    assert [file["exists"] for file in record["files"]] == [False, True]
    assert run("config", "--user").returncode == 2


def test_a_workspace_names_no_program_and_no_place_for_the_index(notes: Path) -> None:
    for name in [key.name for key in KEYS if key.user_only]:
        group, _, key = name.partition(".")
        (notes / "memcli.toml").write_text(f'[{group}]\n{key} = "x"\n')
        done = run("config")
        assert done.returncode == 2
        assert f"{name} may only stand in your own configuration" in done.stderr


@pytest.mark.parametrize(("floor", "says"), [("1", True), ("0.97", False)])
def test_a_setting_without_effect_is_named(notes: Path, floor: str, says: bool) -> None:
    message = "search.half_life_days has no effect because search.decay_floor is 1.\n"
    for name in ("search", "search.half_life_days"):
        done = run("config", name, MEMCLI_SEARCH_DECAY_FLOOR=floor)
        assert (message in done.stderr) == says
    assert message not in run("config", "search.limit").stderr
