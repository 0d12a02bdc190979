"""`memcli agents export`: print the files that install memcli into an agent, or write a plugin."""

from __future__ import annotations

import os
import sys
from shlex import quote

from memcli.agents import edits, plugin
from memcli.agents.table import PARTS, SCOPES, Agent, PartPlace
from memcli.agents.texts import Launcher, entries, started_by
from memcli.cli.commands.agents.this_machine import AGENT, launcher, named_agent, this_machine
from memcli.cli.options import COMMON, WORKSPACES, Option, Options
from memcli.cli.terminal import Terminal
from memcli.errors import ExitCode, UsageError
from memcli.workspace import atomic_write

ARGUMENTS = (AGENT,)
OPTIONS = (
    Option("--write", "Let the agent save, correct and forget notes of its own."),
    Option("--to", "Write a plugin (Claude Code, OpenClaw) to this folder.", "FOLDER",
        choices=WORKSPACES),
    *COMMON,
)  # fmt: skip
_FENCE = "````"  # longer than those that a file may hold


def run(options: Options) -> int:
    """Print the files that install memcli into an agent, or write them as a plugin.

    Examples: memcli agents export codex      memcli agents export claude-code --to plugin
    """
    agent = named_agent(options.agent, "export")
    started = started_by(agent, launcher(), this_machine())._replace(writes=options.write)
    if options.to is not None:
        return _write(agent, started, options.to, Terminal.of_process(options))
    for part in PARTS:
        found = [place for scope in SCOPES if (place := agent.place(part, scope))]
        if found:
            _print(_named(found), _text(agent, found[0], started))
    if agent.name in plugin.FOR:
        what = "all but the last" if agent.name == "claude-code" else "hooks and the skill"
        sys.stdout.write(f"Or {what} as a plugin ({_line(agent, 'FOLDER')}):\n\n")
        for path, text in _plugin(agent, started).items():
            _print(path, text)
    return ExitCode.OK


def _named(places: list[PartPlace]) -> str:
    return ", of a project ".join(place.shown for place in places)


def _text(agent: Agent, place: PartPlace, started: Launcher) -> str:
    """Return a file that has nothing but a part of memcli."""
    text = None
    for entry in entries(agent, place, started):
        text, _ = edits.put(text, entry)
    return text or ""


def _print(name: str, text: str) -> None:
    sys.stdout.write(f"{name}\n{_FENCE}\n{text}{_FENCE}\n\n")


def _plugin(agent: Agent, started: Launcher) -> dict[str, str]:
    from memcli import __version__

    return plugin.plugin(agent, started, __version__)


def _line(agent: Agent, folder: str) -> str:
    return f"memcli agents export {agent.name} --to {folder}"


def _write(agent: Agent, started: Launcher, folder: str, terminal: Terminal) -> int:
    """Write the plugin; a file with another content is never touched."""
    if agent.name not in plugin.FOR:
        raise UsageError(
            f"memcli has no plugin for {agent.title}",
            hint=f"memcli agents install {agent.name}",
        )
    files = _plugin(agent, started)
    root = os.path.abspath(os.path.expanduser(folder))
    try:
        there = {path: _read(os.path.join(root, path)) for path in files}
        other = [path for path, text in there.items() if text not in (None, files[path])]
        if other:
            raise UsageError(
                f"{os.path.join(root, other[0])} already exists with other content",
                hint=_line(agent, f"{quote(folder)}-2"),
            )
        for path, text in files.items():
            if there[path] is None:
                atomic_write.write_new(os.path.join(root, path), text)
    except OSError as error:
        raise UsageError(
            f"{error.filename or root} cannot be written: {error.strerror}",
            hint=_line(agent, "FOLDER"),
        ) from None
    terminal.say(f"Wrote the plugin to {root}. To install it:")
    for line in plugin.installation(agent, quote(root)):
        terminal.say(f"  {line}")
    return ExitCode.OK


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return None
