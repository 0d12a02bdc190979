"""`memcli config get`: every setting with its value and its origin."""

from __future__ import annotations

import json
import os

from memcli.checking import TYPE_CHECKING
from memcli.cli.command_context import CommandContext, command_context
from memcli.cli.options import COMMON, JSON, ONE_WORKSPACE, SETTINGS, CommandArgument, Options
from memcli.config.settings import (
    BY_NAME,
    DEFAULT_ORIGIN,
    FLAGS,
    KEYS,
    WORKSPACE_FILE,
    Key,
    user_file,
)
from memcli.errors import ExitCode, UsageError
from memcli.types import Source

if TYPE_CHECKING:
    from typing import Any

    from memcli.config.settings import Config


ARGUMENTS = (
    CommandArgument("name", "SETTING", "A setting or a group, such as search.", choices=SETTINGS),
)
OPTIONS = (
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Show every setting, its value and where the value comes from.

    Examples: memcli config get search      memcli config get search.limit --json
    """
    keys = named(options.name)
    command = command_context(options, anywhere=True)
    print_settings(keys, command, as_json=options.json)
    if options.name in BY_NAME and not options.json:
        command.terminal.say(_how_to_change(BY_NAME[options.name]))
    return ExitCode.OK


def print_settings(keys: list[Key], command: CommandContext, *, as_json: bool) -> None:
    """Print some settings."""
    if as_json:
        command.terminal.write_json(_record(keys, command))
    else:
        command.terminal.write(_text(keys, command))
    if BY_NAME["search.half_life_days"] in keys and command.config("search.decay_floor") >= 1:
        command.terminal.say("search.half_life_days has no effect because search.decay_floor is 1.")


def _how_to_change(key: Key) -> str:
    """Explain a setting and give the command that changes it."""
    user = " --user" if key.user_only else ""
    return (
        f"{key.help} To change it: memcli config set {key.name} VALUE{user}, or set {key.variable}."
    )


def named(name: str | None) -> list[Key]:
    """Return the setting of that name, the settings of that group, or all."""
    if name is None:
        return list(KEYS)
    found = [key for key in KEYS if key.name == name or key.name.startswith(f"{name}.")]
    if not found:
        from difflib import get_close_matches

        groups = {key.name.partition(".")[0] for key in KEYS}
        near = get_close_matches(name, [*BY_NAME, *sorted(groups)], n=1) or [
            each for each in BY_NAME if name in each.split(".")
        ]
        raise UsageError(
            f"there is no setting {name}",
            hint=f"memcli config {near[0]}" if near else "memcli config",
        )
    return found


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
        "sources": [_source(source) for source in config.sources],
    }


def _source(source: Source) -> dict[str, Any]:
    return {
        "name": source.name,
        "path": source.root,
        "include": list(source.include),
        "exclude": list(source.exclude),
        "scope": source.scope,
        "source_kind": source.source_kind,
        "trust": source.trust,
        "always": list(source.always),
        "soft": list(source.soft),
    }


def _files(workspace: str) -> tuple[str, str]:
    return os.path.join(workspace, WORKSPACE_FILE), user_file(os.environ)


def _text(keys: list[Key], command: CommandContext) -> str:
    """Print settings, values and origins in columns; changed settings are highlighted."""
    config, style, safe = command.config, command.terminal.style, command.terminal.safe_line
    lines = []
    if len(keys) == len(KEYS):
        from memcli.cli.status_output import workspace_origin

        lines.append(f"{'folder':<10} {safe(config.workspace)} ({workspace_origin(config.by)})")
        for what, path in zip(("workspace", "user"), _files(config.workspace), strict=True):
            there = "" if os.path.isfile(path) else " (none)"
            lines.append(f"{what:<10} {safe(path)}{there}")
        lines += [
            f"{'source':<10} {safe(source.name)}: {safe(source.root)}, {source.trust}"
            for source in config.sources
        ]
        lines.append("")
    values = {key.name: _shown(_shown_value(key, config)) for key in keys}
    names = max(map(len, values))
    room = min(24, max(map(len, values.values())))
    for name, value in values.items():
        origin = config.values[name].origin
        line = f"{name:<{names}}  {safe(value):<{room}}  {safe(origin)}"
        lines.append(f"{style.dim}{line}{style.end}" if origin == DEFAULT_ORIGIN else line)
    return "\n".join(lines) + "\n"


def _shown_value(key: Key, config: Config) -> Any:  # noqa: ANN401
    """Return a value as it may be shown."""
    value = config(key.name)
    if key.name.endswith(".url") and value:
        from memcli.config.masks import masked

        return masked(value)
    return value


def _shown(value: Any) -> str:  # noqa: ANN401
    return json.dumps(value, ensure_ascii=False)
