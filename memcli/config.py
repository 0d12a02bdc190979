"""Settings: one table of keys, and the value of each with where it came from.

Precedence: flags, then MEMCLI_* variables, then the workspace's memcli.toml, then the user's
config.toml, then the defaults. A workspace's file may come with a clone, so it can neither
move the store nor name a folder outside the workspace.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from memcli.errors import ConfigError
from memcli.types import Source

WORKSPACE_FILE = "memcli.toml"


class Key(NamedTuple):
    """One setting: its name, type, default, choices and meaning."""

    name: str
    type: type
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    user_only: bool = False

    @property
    def variable(self) -> str:
        """Name the environment variable: search.limit is MEMCLI_SEARCH_LIMIT."""
        special = {"store.path": "MEMCLI_STORE"}
        return special.get(self.name, "MEMCLI_" + self.name.upper().replace(".", "_"))


KEYS: tuple[Key, ...] = (
    Key("store.path", str, "", "The index file; empty means the user's cache folder.",
        user_only=True),
    Key("files.include", list, [], "More globs of the default source, next to memory/**."),
    Key("files.exclude", list, [], "Globs that are left out, in gitignore syntax."),
    Key("files.evergreen", list, [], "Globs of documents whose date is not used."),
    Key("files.max_bytes", int, 8 * 1024 * 1024, "Larger files are skipped.", low=1),
    Key("files.follow_symlinks", bool, False, "Follow links that stay inside their source."),
    Key("chunk.tokens", int, 240, "Most tokens of a chunk, as estimated.", low=32, high=2000),
    Key("chunk.overlap", int, 0, "Tokens a chunk repeats of the one before.", low=0, high=1000),
    Key("embedding.encoder", str, "bundled", "What turns text into vectors; hashing is for tests.",
        choices=("bundled", "none", "hashing")),
    Key("embedding.threads", int, 1, "Threads of the model while indexing.", low=1, high=64),
    Key("search.limit", int, 10, "Passages shown.", low=1, high=100),
    Key("search.mode", str, "hybrid", "Which legs run.", choices=("hybrid", "lexical", "dense")),
    Key("search.fusion", str, "scaled", "How the legs are joined.",
        choices=("scaled", "weighted", "rrf")),
    Key("search.vector_weight", float, 0.5, "Weight of the cosine.", low=0, high=1),
    Key("search.text_weight", float, 0.5, "Weight of BM25.", low=0, high=1),
    Key("search.universe", int, 200, "Candidates a leg.", low=1, high=1000),
    Key("search.half_life_days", float, 30.0, "Age at which decay has halved.", low=0.01),
    Key("search.decay_floor", float, 0.9, "What decay never goes below.", low=0, high=1),
    Key("search.mmr_lambda", float, 0.9, "1 ranks by relevance alone, 0 by novelty alone.",
        low=0, high=1),
    Key("search.min_score", float, 0.0, "Least confidence of a passage.", low=0, high=1),
    Key("sync.on_search", bool, True, "Bring in changed files before a search."),
    Key("sync.files", int, 20, "Changed files a search brings in.", low=0),
    Key("sync.parts", int, 8, "Texts a search embeds.", low=0),
    Key("sync.first", int, 2000, "Most files a search indexes from nothing.", low=0),
)  # fmt: skip
BY_NAME: Mapping[str, Key] = {key.name: key for key in KEYS}
_SOURCE_KEYS = (
    "name", "path", "include", "exclude", "kind", "kinds", "scope", "source_kind", "trust",
    "authority", "always",
)  # fmt: skip
_BUILT_IN_KINDS = (
    ("DECISIONS/**", "decision"),
    ("**/ROADMAP*.md", "roadmap"),
    ("**/*SPEC*.md", "spec"),
    ("**/*PRD*.md", "spec"),
    ("**/TECH_NOTES/**", "note"),
)


class Value(NamedTuple):
    """A setting's value and where it came from."""

    value: Any
    origin: str


class Config(NamedTuple):
    """Every setting, and the sources of the workspace."""

    workspace: str
    values: Mapping[str, Value]
    sources: tuple[Source, ...]

    def __call__(self, name: str) -> Any:
        """Give the value of a setting."""
        return self.values[name].value


def cache_folder(environ: Mapping[str, str]) -> str:
    """Name the user's cache folder for memcli on this system."""
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        base = environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", "Caches")
    else:
        base = environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return os.path.join(base, "memcli")


def user_file(environ: Mapping[str, str]) -> str:
    """Name the user's configuration file."""
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        base = environ.get("APPDATA") or os.path.join(home, "AppData", "Roaming")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", "Application Support")
    else:
        base = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    return os.path.join(base, "memcli", "config.toml")


def store_path(config: Config, environ: Mapping[str, str]) -> str:
    """Name the index file of the workspace: configured, or in the cache folder."""
    configured = config("store.path")
    if configured:
        return os.path.join(config.workspace, os.path.expanduser(configured))
    from hashlib import sha256

    name = sha256(config.workspace.encode("utf-8", "surrogateescape")).hexdigest()[:20]
    return os.path.join(cache_folder(environ), name, "index.sqlite")


def load(workspace: str, environ: Mapping[str, str], flags: Mapping[str, Any]) -> Config:
    """Settle every setting; `flags` holds only those that were given."""
    values = {key.name: Value(key.default, "default") for key in KEYS}
    user_path, workspace_path = user_file(environ), os.path.join(workspace, WORKSPACE_FILE)
    blocks: list[tuple[Mapping[str, Any], bool]] = []
    for path, is_user in ((user_path, True), (workspace_path, False)):
        table = _read(path)
        blocks += [(block, is_user) for block in _source_blocks(table, path)]
        for name, value in _flatten(table).items():
            key = _known_key(name, path)
            if key.user_only and not is_user:
                raise ConfigError(
                    f"{path}: {name} may only stand in your own configuration",
                    hint=f"move it to {user_path}",
                )
            values[name] = Value(_checked(key, value, path), path)
    for key in KEYS:
        if environ.get(key.variable):
            value = _checked(key, _from_text(key, environ[key.variable]), key.variable)
            values[key.name] = Value(value, key.variable)
    for name, value in flags.items():
        values[name] = Value(_checked(BY_NAME[name], value, "the command line"), "flag")
    sources = _sources(workspace, values, blocks)
    return Config(workspace, values, sources)


def _read(path: str) -> dict[str, Any]:
    if not os.path.isfile(path):
        return {}
    import tomllib

    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error


def _flatten(table: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in table.items():
        if name == "source":
            continue
        if isinstance(value, dict):
            flat |= {f"{name}.{inner}": each for inner, each in value.items()}
        else:
            flat[name] = value
    return flat


def _known_key(name: str, where: str) -> Key:
    if name in BY_NAME:
        return BY_NAME[name]
    raise ConfigError(f"{where}: unknown setting {name}{_suggestion(name, tuple(BY_NAME))}")


def _suggestion(name: str, names: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _checked(key: Key, value: Any, where: str) -> Any:
    if key.type is float and type(value) is int:
        value = float(value)
    listed = key.type is list and isinstance(value, list) and all(type(v) is str for v in value)
    if type(value) is not key.type or (key.type is list and not listed):
        expected = {int: "a whole number", float: "a number", bool: "true or false",
                    str: "a text", list: "a list of texts"}[key.type]  # fmt: skip
        raise ConfigError(f"{where}: {key.name} must be {expected}, not {value!r}")
    if key.choices and value not in key.choices:
        raise ConfigError(
            f"{where}: {key.name} must be one of {', '.join(key.choices)}, not {value!r}"
        )
    low, high = key.low, key.high
    if (low is not None and value < low) or (high is not None and value > high):
        bounds = f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"
        raise ConfigError(f"{where}: {key.name} must be {bounds}, not {value!r}")
    return value


def _from_text(key: Key, text: str) -> Any:
    if key.type is bool:
        return {"1": True, "true": True, "0": False, "false": False}.get(text.lower(), text)
    if key.type is list:
        return [piece for piece in text.split(os.pathsep) if piece]
    if key.type in (int, float):
        try:
            return key.type(text)
        except ValueError:
            return text
    return text


def _source_blocks(table: Mapping[str, Any], path: str) -> list[Mapping[str, Any]]:
    blocks = table.get("source", [])
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise ConfigError(f"{path}: write each source as a [[source]] block")
    for block in blocks:
        for name in block:
            if name not in _SOURCE_KEYS:
                hint = _suggestion(name, _SOURCE_KEYS)
                raise ConfigError(f"{path}: unknown key {name} in [[source]]{hint}")
        for name in ("name", "path"):
            if not isinstance(block.get(name), str) or not block[name]:
                raise ConfigError(f"{path}: every [[source]] needs a {name}")
    return blocks


def _sources(
    workspace: str,
    values: Mapping[str, Value],
    blocks: list[tuple[Mapping[str, Any], bool]],
) -> tuple[Source, ...]:
    from memcli.workspace.locate import default_source

    default = default_source(
        workspace,
        include_extra=tuple(values["files.include"].value),
        exclude=tuple(values["files.exclude"].value),
        evergreen=tuple(values["files.evergreen"].value),
    )
    sources = [default._replace(kinds=_BUILT_IN_KINDS)]
    for block, is_user in blocks:
        source = _source(workspace, block, is_user=is_user)
        if any(source.name == other.name for other in sources):
            raise ConfigError(f"two sources are named {source.name}")
        sources.append(source)
    return tuple(sources)


def _source(workspace: str, block: Mapping[str, Any], *, is_user: bool) -> Source:
    name, path = block["name"], os.path.expanduser(block["path"])
    root = os.path.realpath(os.path.join(workspace, path))
    inside = root == workspace or root.startswith(os.path.join(workspace, ""))
    if not inside and not is_user:
        raise ConfigError(
            f"source {name}: {block['path']} lies outside the workspace",
            hint="name it in your own configuration file instead",
        )
    trusted = is_user and block.get("trust", "trusted") == "trusted"
    own = tuple(tuple(pair) for pair in block.get("kinds", {}).items())
    return Source(
        name=name,
        root=root,
        include=tuple(block.get("include", ["**/*.md"])),
        exclude=tuple(block.get("exclude", [])),
        kind=block.get("kind"),
        kinds=(*own, *_BUILT_IN_KINDS),
        scope=block.get("scope", "global"),
        source_kind=block.get("source_kind", "operator"),
        trust="trusted" if trusted or (inside and "trust" not in block) else "untrusted",
        authority=block.get("authority"),
        always=bool(block.get("always", False)),
    )
