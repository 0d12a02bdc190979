"""`memcli config`: every value with its origin, and a file that changes nothing."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from memcli.cli.commands.config_command import commented
from memcli.config.keys import KEYS
from memcli.config.settings import load, user_file
from tests.commands import NewWorkspace, checked
from tests.commands import run_here as run


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    return workspace({"memory/.keep": ""})


def _record(*arguments: str, **environ: str) -> dict[str, dict[str, object]]:
    record = checked("memcli.config", run("config", "--json", *arguments, **environ).stdout)
    return {setting["name"]: setting for setting in record["settings"]}


def test_every_setting_is_shown_with_its_origin(notes: Path) -> None:
    (notes / "memcli.toml").write_text("[search]\nlimit = 7\n")
    shown = _record(MEMCLI_SEARCH_MODE="keyword")
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


def test_your_own_file_is_written_once_and_never_over(notes: Path, tmp_path: Path) -> None:
    file = tmp_path / "config" / "memcli" / "config.toml"
    own = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    done = run("init", "--user", **own)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"Wrote {file}. All of it is a comment.\n"
    file.write_text("[search]\nlimit = 3\n")
    again = run("init", "--user", **own)
    assert again.returncode == 2
    assert "already exists and was not changed" in again.stderr
    assert file.read_text() == "[search]\nlimit = 3\n"
    assert run("init", "--user", "--json", **own).returncode == 2


@pytest.mark.parametrize(
    ("before", "words", "after"),
    [
        ("", "search.limit 5", "[search]\nlimit = 5\n"),
        ("[search]\nlimit = 3 # mine\n", "search.limit 5", "[search]\nlimit = 5 # mine\n"),
        ("[search]\n# limit = 10\nmode = 'hybrid'", "search.limit 5",
         "[search]\n# limit = 10\nlimit = 5\nmode = 'hybrid'"),
        ("[search]\r\nlimit = 3\r\n", "search.limit 5", "[search]\r\nlimit = 5\r\n"),
        ("[search]\nlimit = 3", "sync.first 5", "[search]\nlimit = 3\n\n[sync]\nfirst = 5\n"),
        ("[search]\nlimit = 3\n", "secrets redact",
         'secrets = "redact"\n[search]\nlimit = 3\n'),
        ("[files]\nexclude = ['a#b'] # x\n", "files.exclude a#c b",
         '[files]\nexclude = ["a#c", "b"] # x\n'),
    ],
)  # fmt: skip
def test_one_setting_is_set_and_all_other_lines_stay(
    notes: Path, before: str, words: str, after: str
) -> None:
    if before:
        (notes / "memcli.toml").write_bytes(before.encode())
    done = run("config", "set", *words.split())
    name = words.split()[0]
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"Set {name} in {notes / 'memcli.toml'}.\n"
    assert (notes / "memcli.toml").read_bytes() == after.encode()
    assert _record(name)[name]["origin"] == str(notes / "memcli.toml")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[search]\nlimit = 3 # mine\nmode = 'hybrid'\n", "[search]\nmode = 'hybrid'\n"),
        ("[search]\r\nlimit = 3", "[search]\r\n"),
        ("[search]\n# limit = 3\n", "[search]\n# limit = 3\n"),
    ],
)
def test_a_setting_that_is_removed_has_its_default_again(
    notes: Path, before: str, after: str
) -> None:
    file = notes / "memcli.toml"
    file.write_bytes(before.encode())
    done = run("config", "unset", "search.limit")
    told = "search.limit is not set in" if before == after else "Removed search.limit from"
    assert (done.returncode, done.stderr) == (0, f"{told} {file}. It is 10 (default).\n")
    assert file.read_bytes() == after.encode()
    assert run("config", "unset", "search.limit", "--user").stderr.startswith("search.limit is not")


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("search.limit = 3\n", "search.limit 5", "is too unusual to edit"),
        ("[search]\nmode = '''\nhybrid'''\n", "search.mode semantic", "is too unusual"),
        ("", "search.limit many", "must be a whole number, not 'many'"),
        ("", "search.limit 3 4", "search.limit takes one value, not 2"),
        ("", "search 3", "search is a group of settings"),
        ("", "secrets off", "only your own configuration may set secrets = off"),
    ],
)
def test_a_setting_that_cannot_be_set_leaves_the_file_as_it_is(
    notes: Path, text: str, words: str, message: str
) -> None:
    (notes / "memcli.toml").write_text(text)
    done = run("config", "set", *words.split())
    assert done.returncode == 2
    assert message in done.stderr
    assert (notes / "memcli.toml").read_text() == text


def test_your_own_setting_is_set_and_what_overrides_it_is_named(
    notes: Path, tmp_path: Path
) -> None:
    dotfile = tmp_path / "dotfile.toml"
    dotfile.write_text("")
    dotfile.chmod(0o640)
    file = tmp_path / "config" / "memcli" / "config.toml"
    file.parent.mkdir(parents=True)
    file.symlink_to(dotfile)
    own = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "MEMCLI_SEARCH_LIMIT": "3"}
    done = run("config", "set", "search.limit", "5", "--user", **own)
    assert done.stderr == f"Set search.limit in {dotfile}.\nMEMCLI_SEARCH_LIMIT overrides it.\n"
    assert (dotfile.read_text(), dotfile.stat().st_mode & 0o777) == ("[search]\nlimit = 5\n", 0o640)
    assert file.is_symlink()


@pytest.mark.parametrize(
    ("days", "floor", "says"), [("9", "1", True), ("9", "0.97", False), ("", "1", True)]
)
def test_a_setting_without_effect_is_named(notes: Path, days: str, floor: str, says: bool) -> None:
    message = "search.half_life_days has no effect because search.decay_floor is 1.\n"
    for name in ("search", "search.half_life_days"):
        own = {"MEMCLI_SEARCH_HALF_LIFE_DAYS": days} if days else {}
        done = run("config", name, MEMCLI_SEARCH_DECAY_FLOOR=floor, **own)
        assert (message in done.stderr) == says
    assert message not in run("config", "search.limit").stderr


OWN = (
    "capture", "store.path", "store.url", "store.tenant", "files.agent_memories",
    "embedding.fallback", "access.count", "terminal.hyperlink",
    *(f"onnx.{name}" for name in ("folder", "pooling", "query_prefix", "passage_prefix",
                                  "max_tokens", "matryoshka")),
    *(f"openai.{name}" for name in ("url", "model", "key_variable", "dimension", "query_prefix",
                                    "passage_prefix", "max_tokens", "matryoshka",
                                    "timeout_seconds")),
    *(f"rerank.{name}" for name in ("seconds", "folder", "max_tokens", "url", "model",
                                    "key_variable")),
    *(f"compact.{name}" for name in ("command", "folder", "prompt", "reads", "writes")),
)  # fmt: skip
OWN_VALUES = (
    "embedding.encoder = 'openai'", "embedding.encoder = 'onnx'", "search.rerank = 'onnx'",
    "search.rerank = 'endpoint'", "secrets = 'off'",
)  # fmt: skip


def test_a_workspace_names_no_program_no_server_and_no_place_for_the_index(notes: Path) -> None:
    assert {key.name for key in KEYS if key.user_only} == set(OWN)
    for name in (*OWN, *OWN_VALUES):
        (notes / "memcli.toml").write_text(name if "=" in name else f"{name} = 'x'")
        done = run("search", "pool")
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{name} is allowed only in your own configuration\nTry: move it to" in done.stderr
    (notes / "memcli.toml").write_text("secrets = 'redact'")
    assert run("search", "pool").returncode == 0
