from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.config.bounds import MOST_DOTS, MOST_OPEN, excess
from memcli.config.keys import KEYS
from memcli.config.settings import Config, check_options, load, user_file
from memcli.errors import ConfigError, NotFoundError
from memcli.store.open import store_path


class Place:
    def __init__(self, base: Path) -> None:
        self.root = base / "ws"
        (self.root / "memory").mkdir(parents=True)
        self.environ = {"XDG_CONFIG_HOME": str(base / "config"), "XDG_CACHE_HOME": str(base / "c")}
        self.user = Path(user_file(self.environ))
        self.user.parent.mkdir(parents=True)

    def load(
        self,
        workspace: str = "",
        *,
        user: str = "",
        environ: dict[str, str] | None = None,
        flags: dict[str, Any] | None = None,
    ) -> Config:
        (self.root / "memcli.toml").write_text(workspace)
        self.user.write_text(user)
        return load(str(self.root), self.environ | (environ or {}), flags or {})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_each_layer_overrides_the_one_below_and_is_named(place: Place) -> None:
    layers: list[tuple[dict[str, Any], str]] = [
        ({}, "default"),
        ({"user": "[search]\nlimit = 11"}, str(place.user)),
        ({"workspace": "[search]\nlimit = 12"}, str(place.root / "memcli.toml")),
        ({"environ": {"MEMCLI_SEARCH_LIMIT": "13"}}, "MEMCLI_SEARCH_LIMIT"),
        ({"flags": {"search.limit": 14}}, "flag"),
    ]
    given: dict[str, Any] = {}
    for limit, (layer, origin) in enumerate(layers, start=10):
        given |= layer
        found = place.load(**given).values["search.limit"]
        assert (found.value, found.origin) == (limit, origin)


@pytest.mark.parametrize(("name", "mode"), [("lexical", "keyword"), ("dense", "semantic")])
def test_the_fields_words_for_a_retriever_are_accepted(
    tmp_path: Path, name: str, mode: str
) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "none"), "MEMCLI_SEARCH_MODE": name}
    assert load(str(tmp_path), environ, {})("search.mode") == mode


def test_without_files_every_setting_is_its_default(tmp_path: Path) -> None:
    config = load(str(tmp_path), {"XDG_CONFIG_HOME": str(tmp_path / "none")}, {})
    assert {name: value.value for name, value in config.values.items()} == {
        key.name: key.default for key in KEYS
    }
    assert [source.name for source in config.sources] == ["memory"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[search]\nlimt = 5", "unknown setting search.limt; did you mean search.limit?"),
        ("zzz = 1", "unknown setting zzz"), ("search = 3", "unknown setting search"),
        ("[[search]]\nlimit = 3", "unknown setting search"),
        ("[search.limit]\nx = 3", "must be a whole number"),
        ("[search]\nlimit = true", "search.limit must be a whole number, not True"),
        ("[search]\nlimit = 2.5", "must be a whole number"),
        ("[search]\nlimit = '5'", "must be a whole number"),
        ("[search]\nlimit = 0", "must be between 1 and 100, not 0"),
        ("[search]\nmin_score = nan", "must be between 0 and 1, not nan"),
        ("[search]\nhalf_life_days = inf", "must be at least 0.01, not inf"),
        ("[search]\nmode = 'fast'", "must be one of hybrid, keyword, semantic, not 'fast'"),
        ("[files]\ninclude = 'a.md'", "files.include must be a list of texts"),
        ("[files]\ninclude = [1]", "files.include must be a list of texts"),
        ("[files]\nfollow_symlinks = 1", "must be true or false"), ("x = ", "is not valid TOML"),
        ("x = " + "[" * 20_000, "has more than 16 brackets in one another"),
        ("x = 1" + "0" * 5000, "has a word of more than 100 characters in line 1"),
        ("[search]\nhalf_life_days = 1" + "0" * 400, "more than 100 characters in line 2"),
        ("[search]\nlimit = 0x" + "f" * 6000, "more than 100 characters in line 2"),
        ("[search]\nlimit = " + "9" * 100, "must be between 1 and 100, not 9999"),
        ("[context]\ntail = " + "9" * 30, "must be at most 1e+15, not 9999"),
        (".".join(["a"] * 20_000) + " = 1", "has more than 16 dots in line 1"),
        (".".join(['"a"'] * 18) + " = 1", "has more than 16 dots in line 1"),
        ("\n[" + ". ".join(["a"] * 18) + "]", "has more than 16 dots in line 2"),
        ("x = 1\n" * 20_000, "cannot be read: larger than 65536 bytes"),
        ("[[source]]\nname = 'a'\npath = 'b'\n" * 101, "has more than 100 sources"),
        ("[files]\ninclude = '" + "a" * 9000 + "'", "not 'aaaa"),
        ('"' + "a" * 9000 + '" = 1', "unknown setting aaaa"),
        ("[store]\npath = 'x.sqlite'", "store.path is allowed only in your own configuration"),
        ("source = 3", "write each source as a"), ("source = [3]", "write each source as a"),
        ("[source]\nname = 'a'", "write each source as a"),
    ],
)  # fmt: skip
def test_a_wrong_file_says_what_is_wrong_where(place: Place, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        place.load(text)
    assert message in error.value.message
    assert error.value.message.startswith(str(place.root / "memcli.toml"))
    assert len(error.value.message) < len(str(place.root)) + 200


@pytest.mark.parametrize(
    "text",
    [
        'a = """\n.\\"""." """', "a = '''\n" + "." * 20 + "\n'''", "# " + "." * 20,
        'a = "\\"' + "[" * 20 + '"', "a = 'C:\\'  # '" + "." * 20, "a = '" + "x" * 200 + "'",
    ],
)  # fmt: skip
def test_what_stands_in_strings_and_comments_is_not_counted(text: str) -> None:
    assert excess(text) == ""
    tomllib.loads(text)


@given(
    st.lists(
        st.sampled_from(
            ["a", ".", '"', "'", '"""', "'''", "\\", "#", "\n", "[", "]", "{", "}", "=", " ", "1",
             ",", "a.b = 1\n", "a" * 60, "." * 9, "[a.b]\n"]
        ),
        max_size=60,
    ).map("".join)
)  # fmt: skip
def test_what_is_let_through_has_no_deep_key(text: str) -> None:
    if excess(text):
        return
    try:
        found = tomllib.loads(text)
    except ValueError:
        return
    assert _depth(found) <= MOST_DOTS * MOST_OPEN


def _depth(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, inner), default=0)


def test_settings_of_a_workspace_are_no_link(place: Place, tmp_path: Path) -> None:
    place.load()
    secret = tmp_path / "secret.toml"
    secret.write_text("api_token = 'hunter2'\n[search]\nlimit = 3\n")
    ours = place.root / "memcli.toml"
    ours.unlink()
    for target in (secret, tmp_path / "nowhere", "memory"):
        ours.symlink_to(target)
        with pytest.raises(ConfigError) as error:
            load(str(place.root), place.environ, {})
        assert "is a link" in error.value.message
        assert "api_token" not in error.value.message
        ours.unlink()
    secret.write_text("[search]\nlimit = 3\n")
    place.user.unlink()
    place.user.symlink_to(secret)
    assert load(str(place.root), place.environ, {})("search.limit") == 3, "one's own may be one"


def test_a_file_that_is_not_text_is_a_config_error(place: Place) -> None:
    place.load()
    place.user.write_bytes(b"\xff\xfe\0")
    with pytest.raises(ConfigError, match="not valid TOML"):
        load(str(place.root), place.environ, {})


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("MEMCLI_SEARCH_MIN_SCORE", "1", "search.min_score", 1.0),
        ("MEMCLI_FILES_FOLLOW_SYMLINKS", "True", "files.follow_symlinks", True),
        ("MEMCLI_FILES_FOLLOW_SYMLINKS", "0", "files.follow_symlinks", False),
        ("MEMCLI_FILES_INCLUDE", "a.md:b/**", "files.include", ["a.md", "b/**"]),
        ("MEMCLI_STORE", "/x/i.sqlite", "store.path", "/x/i.sqlite"),
        ("MEMCLI_SEARCH_LIMIT", "", "search.limit", 10),
    ],
)
def test_variables_are_read_by_type(
    place: Place, variable: str, text: str, name: str, value: object
) -> None:
    config = place.load(environ={variable: text})
    assert config(name) == value
    assert type(config(name)) is type(value)


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("MEMCLI_SEARCH_LIMIT", "ten"),
        ("MEMCLI_SEARCH_LIMIT", "9" * 5000),
        ("MEMCLI_SEARCH_MIN_SCORE", "nan"),
        ("MEMCLI_FILES_FOLLOW_SYMLINKS", "maybe"),
        ("MEMCLI_SEARCH_MODE", "fast"),
    ],
)
def test_a_wrong_variable_is_named(place: Place, variable: str, text: str) -> None:
    with pytest.raises(ConfigError, match=variable):
        place.load(environ={variable: text})


def test_a_wrong_flag_is_a_config_error(place: Place) -> None:
    """The command line names the option, and Python the setting."""
    for values, option, bounds in (
        ({"context.tail": 10**30}, "--tail", r" must be at most 1e\+15"),
        ({"search.limit": 1000}, "--limit", r" must be between 1 and 100"),
    ):
        with pytest.raises(ConfigError, match=f"^{next(iter(values))}{bounds}"):
            place.load(flags=values)
        with pytest.raises(ConfigError, match=f"^{option}{bounds}"):
            check_options(values)


def test_the_store_lies_in_the_cache_by_workspace_unless_named(place: Place) -> None:
    config = place.load()
    path = Path(store_path(config, place.environ))
    assert path.parent.parent == Path(place.environ["XDG_CACHE_HOME"]) / "memcli"
    assert path.name == "index.sqlite"
    named = place.load(environ={"MEMCLI_STORE": ".memcli/i.sqlite"})
    assert store_path(named, place.environ) == str(place.root / ".memcli" / "i.sqlite")


def test_the_store_is_never_a_document(place: Place) -> None:
    with pytest.raises(ConfigError, match="not an index"):
        store_path(place.load(environ={"MEMCLI_STORE": "MEMORY.md"}), place.environ)


def block(**keys: str) -> str:
    lines = {"name": '"docs"', "path": '"docs"'} | keys
    return "[[source]]\n" + "\n".join(f"{key} = {value}" for key, value in lines.items())


def test_a_source_takes_its_keys(place: Place) -> None:
    config = place.load(
        block(
            include='["*.md"]',
            exclude='["x.md"]',
            kind='"spec"',
            kinds='{"A/**" = "decision"}',
            scope='"user"',
            source_kind='"web"',
            trust='"untrusted"',
            authority="1",
            always="true",
            soft='["b.md"]',
            evergreen='["c.md"]',
            date_keys='["created", "day"]',
        )
    )
    source = config.sources[1]
    assert source._replace(kinds=source.kinds[:1]) == (
        "docs", str(place.root / "docs"), ("*.md", "b.md"), ("x.md",), "spec",
        (("A/**", "decision"),),
        "user", "web", "untrusted", 1, ("**",), ("b.md",), ("c.md",), False, ("created", "day"),
        False, "",
    )  # fmt: skip
    assert ("**/DECISIONS/**", "decision") in source.kinds


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("name", "3", "needs a name"), ("name", '""', "needs a name"),
        ("name", '"a:b"', "must be letters, digits"), ("path", "[]", "needs a path"),
        ("path", '"a\\u0000b"', "must be a folder"),
        ("include", '"*.md"', "must be a list of globs"),
        ("include", "[]", "must be a list of globs"), ("include", "[1]", "must be a list of globs"),
        ("exclude", "{a = 1}", "must be a list of globs"), ("kind", "[]", "must be a text"),
        ("kinds", '["a"]', "must be a table of globs and kinds"),
        ("kinds", "{a = 1}", "must be a table of globs and kinds"),
        ("scope", '"all"', "must be one of session, user, global"),
        ("source_kind", "[[]]", "must be one of operator, agent, tool, web"),
        ("trust", "true", "must be one of trusted, untrusted"),
        ("trust", '"Trusted"', "must be one of trusted, untrusted"),
        ("authority", "2", "must be a number between 0 and 1"),
        ("authority", "nan", "must be a number between 0 and 1"),
        ("authority", "true", "must be a number between 0 and 1"),
        ("always", "1", "must be true or false"),
        ("incldue", "[]", "unknown key incldue in [[source]]; did you mean include?"),
    ],
)  # fmt: skip
def test_a_wrong_source_is_a_config_error(place: Place, key: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        place.load(block(**{key: value}))
    assert message in error.value.message


@pytest.mark.parametrize("path", ["..", "/etc", "docs/../../x", "~/notes", "link"])
def test_a_workspace_names_no_folder_outside_itself(place: Place, path: str) -> None:
    (place.root / "link").symlink_to(place.root.parent)
    text = block(path=f'"{path}"')
    with pytest.raises(ConfigError, match="outside the workspace"):
        place.load(text)
    assert place.load(user=text).sources[1].name == "docs"


@pytest.mark.parametrize("kind", ["web", "import", "tool"])
def test_only_the_user_trusts_what_others_wrote(place: Place, kind: str) -> None:
    foreign = block(source_kind=f'"{kind}"')
    assert place.load(foreign).sources[1].trust == "untrusted"
    assert place.load(user=foreign).sources[1].trust == "untrusted"
    trusted = block(source_kind=f'"{kind}"', trust='"trusted"')
    with pytest.raises(ConfigError, match=f"cannot trust what comes from the {kind}"):
        place.load(trusted)
    assert place.load(user=trusted).sources[1].trust == "trusted"


@pytest.mark.parametrize("kind", ["operator", "system"])
def test_what_the_operator_wrote_is_trusted_unless_a_block_says_otherwise(
    place: Place, kind: str
) -> None:
    assert place.load(block(source_kind=f'"{kind}"')).sources[1].trust == "trusted"
    text = block(source_kind=f'"{kind}"', trust='"untrusted"')
    assert place.load(text).sources[1].trust == "untrusted"


def test_two_sources_of_one_name_are_an_error(place: Place) -> None:
    with pytest.raises(ConfigError, match="two sources are named docs"):
        place.load(block(), user=block())
    with pytest.raises(ConfigError, match="two sources are named memory"):
        place.load(block(name='"memory"'))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with the memories of two programs."""
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    for path in (".codex/memories/MEMORY.md", ".deepagents/main/memories/a.md", "Vault/b.md"):
        (home / path).parent.mkdir(parents=True)
        (home / path).write_text("# A\n")
    return home


def names_of(config: Config) -> list[str]:
    return [source.name for source in config.sources]


def test_a_folder_without_a_mark_brings_in_what_there_is(place: Place, home: Path) -> None:
    assert names_of(place.load()) == ["memory"]
    serena = place.root / ".serena/memories"
    serena.mkdir(parents=True)
    notes = load(str(place.root), place.environ, {}, by="")
    assert names_of(notes) == ["memory", "serena"]  # what is of this folder
    (place.root / ".git").mkdir()
    repository = load(str(place.root), place.environ, {}, by="")
    assert names_of(repository) == ["memory", "codex", "serena", "deepagents"]
    assert [source.is_automatic for source in repository.sources] == [True] * 4
    serena.rmdir()
    wanted = '[files]\nagent_memories = ["deepagents", "letta"]\n'
    config = place.load(user=wanted)
    assert names_of(config) == ["memory", "deepagents"]
    assert config.sources[1].root == str(home / ".deepagents")
    with pytest.raises(ConfigError, match="is allowed only in your own"):
        place.load(wanted)


def test_a_memory_that_is_named_has_to_be_there(place: Place, home: Path) -> None:
    assert names_of(place.load(flags={"files.agent_memories": ["codex"]})) == ["memory", "codex"]
    with pytest.raises(NotFoundError) as missing:
        place.load(flags={"files.agent_memories": ["letta"]})
    assert missing.value.message == f"letta: it keeps no memory of {place.root}"
    with pytest.raises(ConfigError) as unknown:
        place.load(flags={"files.agent_memories": ["kodex"]})
    assert unknown.value.message == "no agent memory is called kodex"
    assert unknown.value.hint == "--with codex"
    with pytest.raises(ConfigError, match=f"{place.user}: no agent memory is called zk"):
        place.load(user='[files]\nagent_memories = ["zk"]\n')


def test_what_is_asked_together_once_has_an_index_of_its_own(place: Place, home: Path) -> None:
    plain = store_path(place.load(), place.environ)
    together = store_path(place.load(flags={"files.agent_memories": ["codex"]}), place.environ)
    for_good = store_path(place.load(user='[files]\nagent_memories = ["codex"]\n'), place.environ)
    assert (plain == together, plain == for_good) == (False, True)


def test_a_block_may_name_an_agent_memory(place: Place, home: Path) -> None:
    text = (
        '[[source]]\nagent_memory = "codex"\nname = "mine"\ntrust = "untrusted"\n'
        '[[source]]\nagent_memory = "obsidian"\npath = "~/Vault"\nexclude = ["T/**"]\n'
        '[[source]]\nagent_memory = "letta"\n'
    )
    config = place.load(user=text)
    assert names_of(config) == ["memory", "mine", "obsidian"]
    mine, vault = config.sources[1:]
    assert (mine.root, mine.trust) == (str(home / ".codex/memories"), "untrusted")
    assert mine.exclude == ("raw_memories.md",)
    assert (vault.root, vault.exclude) == (str(home / "Vault"), ("T/**",))
    with pytest.raises(ConfigError, match="a workspace's file cannot bring in the memory of codex"):
        place.load(text)
    for name, message in (("kodex", "there is no agent memory kodex"), ("zk", "needs a path")):
        with pytest.raises(ConfigError, match=message):
            place.load(user=f'[[source]]\nagent_memory = "{name}"\n')


def test_a_home_folder_is_its_memory_alone(place: Place, home: Path) -> None:
    narrow = ("MEMORY.md", "USER.md", "memory/**/*.md", "memory/**/*.markdown")
    assert load(str(home), place.environ, {}).sources[0].include == narrow
    assert place.load('[files]\nscope = "memory"\n').sources[0].include == narrow
    assert place.load().sources[0].include == ("**/*.md", "**/*.markdown")
