"""Settings: one table of keys, and the value and origin of each.

Precedence: flags, then MEMCLI_* variables, then the workspace's memcli.toml, then the user's
config.toml, then the defaults. A workspace's file may come with a clone, so it can neither
move the store nor name a folder outside the workspace.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Mapping, Sequence

from memcli import system
from memcli.checking import Any
from memcli.config.keys import BY_NAME, FLAG_ORIGIN, FLAGS, KEYS, Key, nearest, suggestion
from memcli.config.sources import BUILT_IN_KINDS, HINT, check_blocks, quoted, shortened
from memcli.errors import ConfigError, Reason, quote
from memcli.record import Record
from memcli.types import Source
from memcli.workspace.locate import Environment, default_source, is_everything

WORKSPACE_FILE = "memcli.toml"
DEFAULT_ORIGIN = "default"
# The table of the user's file, by its path and how it was seen.
_read_last: dict[tuple[str, tuple[int, ...]], dict[str, Any]] = {}
MOST_WHOLE = 10**15  # of a whole number without its own bound


class Value(Record):
    """A setting's value and its origin."""

    value: Any
    origin: str


class Config(Record):
    """Every setting, and the sources of the workspace."""

    workspace: str
    values: Mapping[str, Value]
    sources: tuple[Source, ...]
    by: str = "-w"  # how the workspace was found, as in `locate.Site`
    passed: tuple[Reason, ...] = ()  # memories of other programs that are left out

    @property
    def is_marked(self) -> bool:
        """Return whether somebody has named the workspace, or marked it as one."""
        return self.by != ""

    def __call__(self, name: str) -> Any:  # noqa: ANN401
        """Return the value of a setting."""
        return self.values[name].value

    def having(self, flags: Mapping[str, Any]) -> Config:
        """Set some settings as options do; ConfigError if a value cannot be used."""
        return self._replace(values={**self.values, **_flag_values(flags)})


def cache_folder(environ: Mapping[str, str]) -> str:
    """Name the user's cache folder for memcli on this system."""
    return os.path.join(system.cache_folder(environ), "memcli")


def folder_of(workspace: str, environ: Mapping[str, str]) -> str:
    """Name the folder in the cache folder that is a workspace's own."""
    from memcli.digests import sha256

    name = sha256(workspace.encode("utf-8", "surrogateescape")).hexdigest()[:20]
    return os.path.join(cache_folder(environ), name)


def user_file(environ: Mapping[str, str]) -> str:
    """Name the user's configuration file."""
    return os.path.join(system.config_folder(environ), "memcli", "config.toml")


def calibration_file(environ: Mapping[str, str]) -> str:
    """Name the file of the constants that the user has fitted; see `bench.calibration`."""
    return os.path.join(os.path.dirname(user_file(environ)), "calibration.json")


def load(
    workspace: str,
    environ: Mapping[str, str],
    flags: Mapping[str, Any],
    *,
    by: str = "-w",
    own: bytes | None = None,
) -> Config:
    """Load every setting; `flags` has only those on the command line.

    `by` is how the workspace was found, as in `locate.Site`, and `own` replaces the contents of its
    file.
    """
    home = os.path.expanduser("~")
    values = {key.name: Value(key.default, DEFAULT_ORIGIN) for key in KEYS}
    user_path, workspace_path = user_file(environ), os.path.join(workspace, WORKSPACE_FILE)
    blocks: list[tuple[Mapping[str, Any], bool]] = []
    for path, is_user in ((user_path, True), (workspace_path, False)):
        is_read = is_user or own is None
        table = read_table(path, follow=is_user) if is_read else parse_table(own or b"", path)
        if "workspaces" in table and not is_user:
            raise _not_yours(path, "[workspaces]", user_path)
        blocks += [(block, is_user) for block in check_blocks(table, path)]
        for name, value in _flatten(table).items():
            key = _known_key(name, path)
            if not is_user and is_for_user(key, value):
                what = name if key.user_only else f"{name} = {quoted(value)}"
                raise _not_yours(path, what, user_path)
            values[name] = Value(_checked(key, value, path), path)
    variables = {name for name in environ if name.startswith("MEMCLI_")}
    for key in KEYS if variables else ():
        if key.variable in variables and environ[key.variable]:
            value = _checked(key, _from_text(key, environ[key.variable]), key.variable)
            values[key.name] = Value(value, key.variable)
    values |= _flag_values(flags)
    default = default_source(
        workspace,
        include_extra=tuple(values["files.include"].value),
        exclude=tuple(values["files.exclude"].value),
        evergreen=tuple(values["files.evergreen"].value),
        always=tuple(values["files.always"].value),
        soft=tuple(values["files.soft"].value),
        memory_alone=values["files.scope"].value == "memory" or is_everything(workspace, home),
    )
    default = default._replace(kinds=BUILT_IN_KINDS, is_automatic=not by)
    sources: tuple[Source, ...] = (default,)
    passed: tuple[Reason, ...] = ()
    names, origin = values["files.agent_memories"]
    if blocks or names or not by:
        from memcli.config.agent_memories import gather

        around = Environment(workspace, home, environ)
        sources, passed = gather(default, blocks, names, around, origin=origin, every=not by)
    return Config(workspace, values, sources, by, passed)


def _not_yours(path: str, what: str, yours: str) -> ConfigError:
    text = f"{path}: {what} is allowed only in your own configuration"
    return ConfigError(text, hint=f"move it to {yours}")


def _flag_values(flags: Mapping[str, Any]) -> dict[str, Value]:
    return {
        name: Value(_checked(BY_NAME[name], value, ""), FLAG_ORIGIN)
        for name, value in flags.items()
    }


def check_options(values: Mapping[str, Any]) -> None:
    """Check settings that options of the command line give; ConfigError names the option."""
    for name, value in values.items():
        _checked(BY_NAME[name], value, "", FLAGS.get(name, name))


def check_sum(named: str, weights: Sequence[float], table: str) -> None:
    """Raise ConfigError if weights of a table of settings do not sum to 1."""
    total = sum(weights)
    if abs(total - 1.0) > 1e-6:
        raise ConfigError(f"{named} must sum to 1, not {total:g}", hint=f"memcli config {table}")


def is_for_user(key: Key, value: Any) -> bool:  # noqa: ANN401
    """Return whether only the user's own file may set this value."""
    return key.user_only or value in (*key.user_choices, *key.added)


def value_of(key: Key, words: Sequence[str], where: str) -> Any:  # noqa: ANN401
    """Parse the value of a setting from the words of a command line; ConfigError if it is wrong."""
    value = list(words) if key.type is list else _from_text(key, words[0])
    _checked(key, value, where)
    return value


def read_table(path: str, *, follow: bool) -> dict[str, Any]:
    """Read a configuration file; {} if it is missing. A link is followed only if `follow`."""
    try:
        status = os.stat(path, follow_symlinks=follow)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return {}
    except OSError as error:  # an unreadable file is not the same as an empty one
        raise _unread(path, error) from error
    seen = status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    # Each of several workspaces reads the user's own file. Another thread may clear this.
    if (known := _read_last.get((path, seen))) is not None:
        return known
    if stat.S_ISLNK(status.st_mode):
        raise ConfigError(
            f"{path} is a link, and settings are read only from the workspace itself",
            hint="replace the link by the file it leads to",
        )
    if not stat.S_ISREG(status.st_mode):
        return {}
    from memcli.config.bounds import MOST_BYTES
    from memcli.workspace import openat

    try:
        folder, name = os.path.split(os.path.realpath(path) if follow else path)
        data = openat.read_small(folder, name, MOST_BYTES)
    except OSError as error:
        raise _unread(path, error) from error
    table = parse_table(data or b"", path)
    if follow:
        _read_last.clear()
        _read_last[path, seen] = table
    return table


def _unread(path: str, error: OSError) -> ConfigError:
    hint, folder = HINT, os.path.dirname(path)
    if error.errno in (errno.EACCES, errno.EPERM):
        if not os.access(folder, os.X_OK):
            return ConfigError(
                f"{folder} cannot be opened: {error.strerror}", hint=f"ls -ld {quote(folder)}"
            )
        hint = f"chmod u+r {quote(path)}"
    return ConfigError(f"{path} cannot be read: {error.strerror}", hint=hint)


def parse_table(data: bytes, path: str) -> dict[str, Any]:
    """Parse a configuration file; ConfigError names its path."""
    import tomllib

    from memcli.config.bounds import excess

    try:
        text = data.decode()
        too_much = excess(text)
        if too_much:
            raise ConfigError(f"{path} has {too_much}", hint=HINT)
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}", hint=HINT) from error


def _flatten(table: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in table.items():
        if name in ("source", "workspaces"):
            continue
        if isinstance(value, dict):
            flat |= {f"{name}.{inner}": each for inner, each in value.items()}
        else:
            flat[name] = value
    return flat


def _known_key(name: str, where: str) -> Key:
    if name in BY_NAME:
        return BY_NAME[name]
    raise ConfigError(
        f"{where}: unknown setting {shortened(name)}{suggestion(name, tuple(BY_NAME))}", hint=HINT
    )


_EXPECTED = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a text",
    list: "a list of texts",
}


def _checked(key: Key, value: Any, where: str, option: str = "") -> Any:  # noqa: ANN401
    """Check a value's type and bounds; an error names its place, or the option that gave it."""
    thing = f"{where}: {key.name}" if where else option or key.name
    if key.type is float and type(value) is int:
        value = float(value)
    if type(value) is not key.type or (
        isinstance(value, list) and not all(isinstance(each, str) for each in value)
    ):
        raise ConfigError(f"{thing} must be {_EXPECTED[key.type]}, not {quoted(value)}", hint=HINT)
    synonyms = dict(key.synonyms)
    value = synonyms.get(str(value), value) if synonyms else value
    for each in value if isinstance(value, list) else [value]:
        if key.choices and each not in (*key.choices, *key.added) and not _is_besides(key, each):
            also = f", or {key.besides}" if key.besides else ""
            near = nearest(str(each), (*key.choices, *synonyms))
            raise ConfigError(
                f"{thing} must be one of {', '.join(key.choices)}{also}, not {quoted(each)}",
                hint=HINT if where else f"{thing} {synonyms.get(near, near)}",
            )
    if isinstance(value, int | float):
        low, high = key.low, key.high
        # Written so that NaN is outside.
        inside = (low is None or value >= low) and (high is None or value <= high)
        if not inside or value == float("inf"):
            bounds = f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"
            nearest_bound = low if high is None or not value > high else high
            raise ConfigError(
                f"{thing} must be {bounds}, not {quoted(value)}",
                hint=HINT if where else f"{thing} {nearest_bound:g}",
            )
        if value > MOST_WHOLE and key.type is int:
            raise ConfigError(
                f"{thing} must be at most {MOST_WHOLE:g}, not {quoted(value)}", hint=HINT
            )
    return value


def _is_besides(key: Key, value: object) -> bool:
    """Return whether a setting accepts a value besides its choices."""
    return bool(key.pattern) and re.fullmatch(key.pattern, str(value)) is not None


def _from_text(key: Key, text: str) -> Any:  # noqa: ANN401
    if key.type is bool:
        return {"1": True, "true": True, "0": False, "false": False}.get(text.lower(), text)
    if key.type is list:
        # The names of agent memories contain colons.
        separator = "," if key.name == "files.agent_memories" else os.pathsep
        return [piece for piece in text.split(separator) if piece]
    if key.type in (int, float):
        try:
            return key.type(text)
        except ValueError:
            return text
    return text
