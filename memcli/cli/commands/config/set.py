"""`memcli config set`: change one setting in a configuration file."""

from __future__ import annotations

import os

from memcli.checking import TYPE_CHECKING
from memcli.cli.command_context import command_context, marked
from memcli.cli.options import (
    COMMON,
    JSON,
    ONE_WORKSPACE,
    SETTINGS,
    CommandArgument,
    Option,
    Options,
)
from memcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from typing import Any

    from memcli.config.settings import Key

ARGUMENTS = (
    CommandArgument("name", "SETTING", "The setting.", is_required=True, choices=SETTINGS),
    CommandArgument("values", "VALUE...", "The value or values.", list, is_required=True),
)
OPTIONS = (
    Option("--user", "Change your own file, for all workspaces."),
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Set one setting in memcli.toml, or in your own file with --user.

    All other lines of the file stay as they are.

    Examples: memcli config set search.limit 5      memcli config set search.limit 5 --user
    """
    from shlex import join  # a hint is pasted

    from memcli.cli.commands.config.get import named, print_settings
    from memcli.cli.config_file import change
    from memcli.config.settings import WORKSPACE_FILE, is_for_user, user_file

    [key, *others] = named(options.name)
    if others or key.name != options.name:
        raise UsageError(f"{options.name} is a group of settings", hint=f"memcli config {key.name}")
    value = _value(key, options.values)
    if not options.user and is_for_user(key, value):
        line = join(("memcli", "config", "set", key.name, *options.values, "--user"))
        raise UsageError(
            f"only your own configuration may set {key.name} = {' '.join(options.values)}",
            hint=line,
        )
    command = command_context(options, anywhere=options.user)
    if options.user:
        path = os.path.realpath(user_file(os.environ))
    else:
        path = os.path.join(marked(command).config.workspace, WORKSPACE_FILE)
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


def _value(key: Key, words: list[str]) -> Any:  # noqa: ANN401
    from memcli.config.settings import value_of

    if key.type is not list and len(words) > 1:
        raise UsageError(
            f"{key.name} takes one value, not {len(words)}", hint=f"memcli config {key.name}"
        )
    return value_of(key, words, "config set")
