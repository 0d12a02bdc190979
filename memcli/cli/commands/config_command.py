"""`memcli config`: show the settings and their origins; change one in a configuration file."""

from __future__ import annotations

import json
import os
import re
import stat
import textwrap
from itertools import groupby

from memcli.checking import Any
from memcli.cli.command_context import CommandContext, command_context, marked
from memcli.cli.options import SETTINGS, STANDARD, CommandArgument, GroupCommand, Option, Options
from memcli.config import settings
from memcli.config.keys import BY_NAME, FLAGS, KEYS, Key, similar
from memcli.config.settings import Config
from memcli.errors import ExitCode, UsageError
from memcli.workspace import atomic_write

_OF_SOURCE = ("include", "exclude", "scope", "source_kind", "trust", "always", "soft")
ABOUT = "Show and change settings."
USUAL = "get"


def run_get(options: Options) -> int:
    """Show every setting, its value and where the value comes from.

    Examples: memcli config get search      memcli config get search.limit --json
    """
    keys = named(options.name)
    command = command_context(options, anywhere=True)
    print_settings(keys, command, as_json=options.json)
    if options.name in BY_NAME and not options.json:
        [key] = keys
        change = f"memcli config set {key.name} VALUE{' --user' if key.user_only else ''}"
        command.terminal.say(f"{key.help} To change it: {change}, or set {key.variable}.")
    return ExitCode.OK


def print_settings(keys: list[Key], command: CommandContext, *, as_json: bool) -> None:
    """Print some settings."""
    if as_json:
        command.terminal.write_json(_record(keys, command))
    else:
        command.terminal.write(_text(keys, command))
    is_shown = BY_NAME["search.half_life_days"] in keys
    if is_shown and command.config("search.decay_floor") >= 1:
        command.terminal.say("search.half_life_days has no effect because search.decay_floor is 1.")


def named(name: str | None) -> list[Key]:
    """Return the setting of that name, the settings of that group, or all."""
    if name is None:
        return list(KEYS)
    keys = [key for key in KEYS if key.name == name or key.name.startswith(f"{name}.")]
    if not keys:
        groups = {key.name.partition(".")[0] for key in KEYS}
        part = next((each for each in BY_NAME if name in each.split(".")), "")
        near = similar(name, [*BY_NAME, *sorted(groups)]) or part
        raise UsageError(f"there is no setting {name}", hint=f"memcli config {near}".rstrip())
    return keys


def _record(keys: list[Key], command: CommandContext) -> dict[str, Any]:
    config = command.config
    return {
        "schema": "memcli.config/1",
        "workspace": config.workspace,
        "workspace_origin": config.by,
        "files": [
            {"path": path, "exists": os.path.isfile(path)} for path in _files(config.workspace)
        ],
        "settings": [
            {
                "name": key.name,
                "value": _shown_value(key, config),
                "origin": config.values[key.name].origin,
                "default": key.default,
                "variable": key.variable,
                "flag": FLAGS.get(key.name),
            }
            for key in keys
        ],
        "sources": [
            {"name": source.name, "path": source.root}
            | {name: getattr(source, name) for name in _OF_SOURCE}
            for source in config.sources
        ],
    }


def _files(workspace: str) -> tuple[str, str]:
    return os.path.join(workspace, settings.WORKSPACE_FILE), settings.user_file(os.environ)


def _text(keys: list[Key], command: CommandContext) -> str:
    """Print settings, values and origins in columns, with changed settings highlighted."""
    config, style, safe = command.config, command.terminal.style, command.terminal.safe_line
    lines = []
    if len(keys) == len(KEYS):
        from memcli.cli.commands.status_command import workspace_origin

        lines.append(f"{'folder':<10} {safe(config.workspace)} ({workspace_origin(config.by)})")
        for what, path in zip(("workspace", "user"), _files(config.workspace), strict=True):
            there = "" if os.path.isfile(path) else " (none)"
            lines.append(f"{what:<10} {safe(path)}{there}")
        lines += [
            f"{'source':<10} {safe(source.name)}: {safe(source.root)}, {source.trust}"
            for source in config.sources
        ]
        lines.append("")
    values = {key.name: in_toml(_shown_value(key, config)) for key in keys}
    names = max(map(len, values))
    room = min(24, max(map(len, values.values())))
    for name, value in values.items():
        origin = config.values[name].origin
        line = f"{name:<{names}}  {safe(value):<{room}}  {safe(origin)}"
        lines.append(f"{style.dim}{line}{style.end}" if origin == settings.DEFAULT_ORIGIN else line)
    return "\n".join(lines) + "\n"


def _shown_value(key: Key, config: Config) -> Any:  # noqa: ANN401
    """Return a value for display, without secrets."""
    value = config(key.name)
    if key.name.endswith(".url") and value:
        from memcli.config.attached import masked

        return masked(value)
    return value


def in_toml(value: Any) -> str:  # noqa: ANN401
    """Write a value as TOML does, such as true or 30.0."""
    return json.dumps(value, ensure_ascii=False)


def run_set(options: Options) -> int:
    """Set one setting in memcli.toml, or in your own file with --user.

    All other lines of the file stay as they are. memcli config unset removes it again.

    Examples: memcli config set search.limit 5      memcli config set search.limit 5 --user
    """
    from shlex import join  # people paste hints

    key, words = _one(options.name), options.values
    if key.type is not list and len(words) > 1:
        raise UsageError(
            f"{key.name} takes one value, not {len(words)}", hint=f"memcli config {key.name}"
        )
    value = settings.value_of(key, words, "config set")
    if not options.user and settings.is_for_user(key, value):
        line = join(("memcli", "config", "set", key.name, *options.values, "--user"))
        raise UsageError(
            f"only your own configuration may set {key.name} = {' '.join(options.values)}",
            hint=line,
        )
    path = _file(options)
    change(path, key, value)
    command = command_context(options, anywhere=options.user)
    terminal = command.terminal
    if options.json:
        print_settings([key], command, as_json=True)
    else:
        terminal.say(f"Set {key.name} in {path}.")
    origin = command.config.values[key.name].origin
    if os.path.realpath(origin) != os.path.realpath(path):
        terminal.say(f"{origin} overrides it.")
    return ExitCode.OK


def run_unset(options: Options) -> int:
    """Remove one setting from memcli.toml, or from your own file with --user.

    All other lines of the file stay as they are.

    Examples: memcli config unset search.limit      memcli config unset search.limit --user
    """
    key, path = _one(options.name), _file(options)
    was_set = change(path, key, None)
    command = command_context(options, anywhere=options.user)
    if options.json:
        print_settings([key], command, as_json=True)
        return ExitCode.OK
    value = command.config.values[key.name]
    done = f"Removed {key.name} from" if was_set else f"{key.name} is not set in"
    now = in_toml(_shown_value(key, command.config))
    command.terminal.say(f"{done} {path}. It is {now} ({value.origin}).")
    return ExitCode.OK


def _one(name: str) -> Key:
    [key, *others] = named(name)
    if others or key.name != name:
        raise UsageError(f"{name} is a group of settings", hint=f"memcli config {key.name}")
    return key


def _file(options: Options) -> str:
    """Name the file that a line changes."""
    command = command_context(options, anywhere=options.user)
    if options.user:
        return os.path.realpath(settings.user_file(os.environ))
    return os.path.join(marked(command).config.workspace, settings.WORKSPACE_FILE)


_HEAD = """\
# {what}
# Remove the # in front of a setting to change its default. Options and MEMCLI_* variables override
# this file. memcli config shows every value and where it comes from.
"""
_SOURCE = """
# One more folder, next to the memory itself:
# [[source]]
# name = "handbook"
# path = "docs"
# trust = "trusted"          # or "untrusted", for text that others wrote
"""
_WORKSPACE = "Settings of memcli for this workspace."
_USER = "Your own settings of memcli. The memcli.toml of a workspace overrides them."


def commented(*, user: bool) -> str:
    """Return every setting with its meaning and its default, as a comment.

    A workspace's file leaves out the settings that only the user's file may have.
    """
    keys = [key for key in KEYS if user or not key.user_only]
    sections = groupby(keys, key=lambda key: key.name.partition(".")[0])
    text = _HEAD.format(what=_USER if user else _WORKSPACE)
    for section, each in sections:
        own_keys = list(each)
        # A key without a table must come before all tables.
        head = "\n" if own_keys[0].name == section else f"\n[{section}]\n"
        text += head + "".join(map(_setting, own_keys))
    return text + _SOURCE


def _setting(key: Key) -> str:
    about = textwrap.fill(
        f"{key.help} Values: {allowed(key)}.", 98, initial_indent="# ", subsequent_indent="# ",
        break_on_hyphens=False,
    )  # fmt: skip
    return f"{about}\n# {key.name.rpartition('.')[2]} = {in_toml(key.default)}\n"


def write_new(path: str, *, user: bool) -> None:
    """Write a new file; never change an existing one."""
    try:
        atomic_write.write_new(path, commented(user=user))
    except FileExistsError:
        raise UsageError(
            f"{path} already exists and was not changed", hint="memcli config"
        ) from None
    except OSError as error:
        raise _unwritten(path, error) from None


def change(path: str, key: Key, value: Any) -> bool:  # noqa: ANN401
    """Set one setting in a file, creating it if needed, or remove it if the value is None.

    Return whether the file has changed; its other lines stay.
    """
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
    except FileNotFoundError:
        text, mode = "", 0o644
    except OSError as error:
        raise _unwritten(path, error) from None
    changed = with_setting(text, key.name, value)
    if changed is None:
        raise UsageError(f"the layout of {path} is too unusual to edit", hint=f"edit {path}")
    if changed == text:
        return False
    try:
        atomic_write.write_whole(path, changed, mode=mode)
        return True
    except OSError as error:
        raise _unwritten(path, error) from None


def with_setting(text: str, setting: str, value: Any) -> str | None:  # noqa: ANN401
    """Return a TOML text with one setting changed, or None if its layout does not allow that.

    A value of None removes it.

    The text is parsed before and after: nothing except the setting may differ.
    """
    import tomllib

    table, _, name = setting.rpartition(".")
    expected = tomllib.loads(text)
    try:
        section = expected.setdefault(table, {}) if table else expected
        if value is None and section.pop(name, None) is None:
            return text
        if value is not None:
            section[name] = value
        changed = _edited(text, table, name, value)
        return changed if tomllib.loads(changed) == expected else None
    except (TypeError, ValueError):  # not a table, or cut in the middle of a value
        return None


def _edited(text: str, table: str, name: str, value: Any) -> str:  # noqa: ANN401
    end = "\r\n" if "\r\n" in text else "\n"
    line = f"{name} = {in_toml(value)}{end}"
    lines = text.splitlines(keepends=True)
    heads = [at for at, each in enumerate(lines) if each.lstrip().startswith("[")]
    head = -1
    if table:
        named = re.compile(rf"\s*\[\s*{table}\s*\]\s*(#.*)?")
        head = next((at for at in heads if named.fullmatch(lines[at].rstrip())), len(lines))
    if head == len(lines):
        gap = "" if not text else end if text.endswith("\n") else end * 2
        return f"{text}{gap}[{table}]{end}{line}"
    last = next((at for at in heads if at > head), len(lines))
    setting = re.compile(rf"\s*{name}\s*=")
    for at in range(head + 1, last):
        if setting.match(lines[at]):
            lines[at] = "" if value is None else line.rstrip() + _remark(lines[at]) + end
            return "".join(lines)
    comment = re.compile(rf"#\s*{name}\s*=")
    after = next((at for at in range(head + 1, last) if comment.match(lines[at])), head)
    if after >= 0 and not lines[after].endswith("\n"):
        lines[after] += end
    lines.insert(after + 1, line)
    return "".join(lines)


def _remark(line: str) -> str:
    """Return the comment at the end of a line of TOML, with the space before it."""
    import tomllib

    for match in re.finditer(r"\s*#", line):
        try:
            tomllib.loads(line[: match.start()])
        except ValueError:  # inside a string
            continue
        return line[match.start() :].rstrip()
    return ""


def _unwritten(path: str, error: OSError) -> UsageError:
    return UsageError(f"{path} cannot be written: {error.strerror}", hint="memcli config")


def allowed(key: Key) -> str:
    """Return the possible values of a setting, such as "1 to 100"."""
    if key.choices:
        return ", ".join(key.choices) + (f", or {key.besides}" if key.besides else "")
    if key.low is None:
        return {bool: "true, false", list: "list of texts"}.get(key.type, "text")
    return f"{key.low:g} or more" if key.high is None else f"{key.low:g} to {key.high:g}"


COMMANDS = {
    "get": GroupCommand(run_get, STANDARD, (
        CommandArgument(
            "name", "SETTING", "A setting or a group, such as search.", choices=SETTINGS
        ),
    )),
    "set": GroupCommand(run_set, (
        Option("--user", "Change your own file, for all workspaces."),
        *STANDARD,
    ), (
        CommandArgument("name", "SETTING", "The setting.", is_required=True, choices=SETTINGS),
        CommandArgument(
            "values", "VALUE...", "The new value; several for a list.", list, is_required=True
        ),
    )),
    "unset": GroupCommand(run_unset, (
        Option("--user", "Change your own file, for all workspaces."),
        *STANDARD,
    ), (CommandArgument("name", "SETTING", "The setting.", is_required=True, choices=SETTINGS),)),
}  # fmt: skip
