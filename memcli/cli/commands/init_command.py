"""`memcli init`: make a folder a workspace, or write your own configuration file."""

from __future__ import annotations

import os

from memcli.checking import Any
from memcli.cli.command_context import CommandContext, command_context
from memcli.cli.commands.config_command import write_new
from memcli.cli.options import STANDARD, Option, Options
from memcli.cli.terminal import Terminal
from memcli.config.settings import WORKSPACE_FILE, user_file
from memcli.errors import ExitCode, UsageError
from memcli.render.text import counted
from memcli.types import MEMORY_SOURCE
from memcli.workspace.agent_memories import OPEN, find
from memcli.workspace.dating import path_days
from memcli.workspace.discover import discover
from memcli.workspace.locate import ENV_NAME, Environment, mark_of

OPTIONS = (
    Option("--user", "Write your own configuration file instead."),
    *STANDARD,
)  # fmt: skip


def run(options: Options) -> int:
    """Make the current folder a workspace, and print what is in it.

    It writes a memcli.toml that contains only comments, unless the folder is already
    a workspace.

    Examples: memcli init      memcli init --user
    """
    if options.user:
        if options.json or options.workspace:
            raise UsageError(
                "--user cannot be combined with --json or -w", hint="memcli init --user"
            )
        path = user_file(os.environ)
        write_new(path, user=True)
        Terminal.of_process(options).say(f"Wrote {path}. All of it is a comment.")
        return ExitCode.OK
    named = options.workspace or [os.environ.get(ENV_NAME) or os.curdir]
    command = command_context(options.having(workspace=named))
    root = command.config.workspace
    mark = mark_of(root)
    if not mark:
        write_new(os.path.join(root, WORKSPACE_FILE), user=False)
    record = _record(command, mark)
    if options.json:
        command.terminal.write_json(record)
        return ExitCode.OK
    for line in _lines(record, command):
        command.terminal.say(line)
    return ExitCode.OK


def _record(command: CommandContext, mark: str) -> dict[str, Any]:
    """Describe what memcli searches here, and which agents keep notes about it."""
    config, settings = command.config, command.workspace.index_settings()
    listing = discover(
        config.sources, max_bytes=settings.max_bytes, follow_symlinks=settings.follow_symlinks
    )
    files = [file.path for file in listing.files if file.source == MEMORY_SOURCE]
    around = Environment(config.workspace, os.path.expanduser("~"), os.environ)
    roots = {source.root for source in config.sources}
    return {
        "schema": "memcli.init/1",
        "workspace": config.workspace,
        "mark": mark or WORKSPACE_FILE,
        "written": not mark,
        "files": len(files),
        "dated": sum(path_days(path) is not None for path in files),
        "beside": [
            {"name": each.name, "path": each.root}
            for each in find(OPEN, around).sources
            if each.root not in roots  # memcli does not search them
        ],
    }


def _lines(record: dict[str, Any], command: CommandContext) -> list[str]:
    """Return the text for a person, with the next step."""
    root, mark = record["workspace"], record["mark"]
    if record["written"]:
        lines = [f"Wrote {os.path.join(root, mark)}, which marks the folder as a workspace."]
    else:
        lines = [f"{root} is a workspace already: it has {mark}"]
    count = record["files"]
    if count:
        files = counted(count, "Markdown file")
        lines.append(f"Found {files}, {record['dated']} of them dated by name.")
    else:
        log = f"memory/{command.today.isoformat()}.md"
        lines.append(f"Found no Markdown yet: lasting facts go to MEMORY.md, a day's log to {log}")
    if record["beside"]:
        lines += [f"Found notes of {each['name']} in {each['path']}" for each in record["beside"]]
        names = list(dict.fromkeys(each["name"].partition(".")[0] for each in record["beside"]))
        listed = ", ".join(f'"{name}"' for name in names)
        flags = " ".join(f"--with {name}" for name in names)
        lines += [
            f"To search {'it' if len(record['beside']) == 1 else 'them'} too: {flags}; or always,",
            f"below [files] in {user_file(os.environ)}: agent_memories = [{listed}]",
        ]
    return [*lines, "Next: memcli search QUESTION"] if count else lines
