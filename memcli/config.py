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
from memcli.source_blocks import check_blocks, make_sources, suggestion
from memcli.types import Source

WORKSPACE_FILE = "memcli.toml"
DEFAULT_ORIGIN = "default"


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
    Key("files.always", list, [], "Globs of documents that every context holds whole."),
    Key("files.soft", list, [], "Globs of documents that a context holds while there is room."),
    Key("files.max_bytes", int, 8 * 1024 * 1024, "Larger files are skipped.", low=1),
    Key("files.follow_symlinks", bool, False, "Follow links that stay inside their source."),
    Key("chunk.tokens", int, 400, "Most tokens of a chunk, as estimated.", low=32, high=2000),
    Key("chunk.overlap", int, 0, "Tokens a chunk repeats of the one before.", low=0, high=1000),
    Key("embedding.encoder", str, "bundled", "What turns text into vectors; hashing is for tests.",
        choices=("bundled", "none", "hashing")),
    Key("embedding.threads", int, 1, "Threads of the model while indexing.", low=1, high=64),
    Key("search.limit", int, 10, "Passages shown.", low=1, high=100),
    Key("search.mode", str, "hybrid", "Which legs run.", choices=("hybrid", "lexical", "dense")),
    Key("search.profile", str, "default", "A set of ranking rules; see: memcli help ranking.",
        choices=("default", "classic", "convex", "two-pass")),
    Key("search.fusion", str, "scaled", "How the legs are joined.",
        choices=("scaled", "weighted", "rrf")),
    Key("search.vector_weight", float, 0.6, "Weight of the cosine.", low=0, high=1),
    Key("search.text_weight", float, 0.4, "Weight of BM25.", low=0, high=1),
    Key("search.universe", int, 200, "Candidates a leg.", low=1, high=1000),
    Key("search.candidate_multiplier", int, 4, "Candidates a leg, times the limit (classic).",
        low=1, high=20),
    Key("search.half_life_days", float, 30.0, "Age at which decay has halved.", low=0.01),
    Key("search.decay_floor", float, 1.0, "What decay never goes below.", low=0, high=1),
    Key("search.mmr_lambda", float, 0.8, "1 ranks by relevance alone, 0 by novelty alone.",
        low=0, high=1),
    Key("search.mmr_min", float, -1.0, "Stop where relevance and novelty fall below.",
        low=-1, high=1),
    Key("search.min_score", float, 0.0, "Least confidence of a passage.", low=0, high=1),
    Key("search.view", str, "all", "Which documents are searched; active leaves out compacted"
        " lines, raw leaves out summaries.", choices=("active", "all", "raw")),
    Key("expand.tokens", int, 1500, "Tokens of raw lines that --expand adds.", low=0),
    Key("context.budget", int, 2000, "Tokens of a context, fences and citations included.", low=1),
    Key("context.tail", int, 1, "Newest records that every context holds; 0: none.", low=0),
    Key("context.always_share", float, 0.3, "Share of the budget that files marked always should"
        " not exceed; a warning.", low=0, high=1),
    Key("context.soft_share", float, 0.1, "Share of the budget for files marked soft.",
        low=0, high=1),
    Key("context.tail_share", float, 0.2, "The newest records go further back within this share.",
        low=0, high=1),
    Key("compact.tail_records", int, 20, "Newest records that are never compacted.", low=0),
    Key("compact.tail_tokens", int, 4000, "The tail goes further back within these tokens.", low=0),
    Key("compact.cluster", int, 8, "Records a summary.", low=2, high=1000),
    Key("compact.ratio", float, 0.25, "Tokens of a summary over those of its lines.",
        low=0.01, high=0.9),
    Key("compact.context_tokens", int, 200, "Tokens of the summary before that are not told again.",
        low=0),
    Key("compact.command", list, [], "A program that summarises, and its arguments.",
        user_only=True),
    Key("sync.on_search", bool, True, "Bring in changed files before a search."),
    Key("sync.files", int, 20, "Changed files a search brings in.", low=0),
    Key("sync.parts", int, 8, "Texts a search embeds.", low=0),
    Key("sync.first", int, 2000, "Most files a search indexes from nothing.", low=0),
    Key("watch.debounce_ms", int, 1500, "Quiet after a change before index --watch acts.",
        low=0, high=3_600_000),
    Key("watch.interval_minutes", float, 10.0, "Time between full looks of index --watch; 0: none.",
        low=0, high=10_000),
)  # fmt: skip
BY_NAME: Mapping[str, Key] = {key.name: key for key in KEYS}


class Value(NamedTuple):
    """A setting's value and where it came from."""

    value: Any
    origin: str


class Config(NamedTuple):
    """Every setting, and the sources of the workspace."""

    workspace: str
    values: Mapping[str, Value]
    sources: tuple[Source, ...]

    def __call__(self, name: str) -> Any:  # noqa: ANN401
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
        if configured.lower().endswith((".md", ".markdown", ".toml")):
            raise ConfigError(f"store.path names a file that is no index: {configured}")
        return os.path.join(config.workspace, os.path.expanduser(configured))
    from hashlib import sha256

    name = sha256(config.workspace.encode("utf-8", "surrogateescape")).hexdigest()[:20]
    return os.path.join(cache_folder(environ), name, "index.sqlite")


def load(workspace: str, environ: Mapping[str, str], flags: Mapping[str, Any]) -> Config:
    """Settle every setting; `flags` holds only those that were given."""
    values = {key.name: Value(key.default, DEFAULT_ORIGIN) for key in KEYS}
    user_path, workspace_path = user_file(environ), os.path.join(workspace, WORKSPACE_FILE)
    blocks: list[tuple[Mapping[str, Any], bool]] = []
    for path, is_user in ((user_path, True), (workspace_path, False)):
        table = _read(path)
        blocks += [(block, is_user) for block in check_blocks(table, path)]
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
    from memcli.workspace.locate import default_source

    default = default_source(
        workspace,
        include_extra=tuple(values["files.include"].value),
        exclude=tuple(values["files.exclude"].value),
        evergreen=tuple(values["files.evergreen"].value),
        always=tuple(values["files.always"].value),
        soft=tuple(values["files.soft"].value),
    )
    return Config(workspace, values, make_sources(default, blocks))


def _read(path: str) -> dict[str, Any]:
    if not os.path.isfile(path):
        return {}
    import tomllib

    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except (ValueError, RecursionError) as error:
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
    raise ConfigError(f"{where}: unknown setting {name}{suggestion(name, tuple(BY_NAME))}")


_EXPECTED = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a text",
    list: "a list of texts",
}


def _checked(key: Key, value: Any, where: str) -> Any:  # noqa: ANN401
    if key.type is float and type(value) is int:
        value = float(value)
    if type(value) is not key.type or (
        isinstance(value, list) and not all(isinstance(each, str) for each in value)
    ):
        raise ConfigError(f"{where}: {key.name} must be {_EXPECTED[key.type]}, not {value!r}")
    if key.choices and value not in key.choices:
        raise ConfigError(
            f"{where}: {key.name} must be one of {', '.join(key.choices)}, not {value!r}"
        )
    if isinstance(value, int | float):
        low, high = key.low, key.high
        # Written so that NaN is outside.
        inside = (low is None or value >= low) and (high is None or value <= high)
        if not inside or value == float("inf"):
            bounds = f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"
            raise ConfigError(f"{where}: {key.name} must be {bounds}, not {value!r}")
    return value


def _from_text(key: Key, text: str) -> Any:  # noqa: ANN401
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
