"""`memcli agents`: list the agents on this machine, their notes, and the installed parts."""

from __future__ import annotations

import os

from memcli.checking import TYPE_CHECKING
from memcli.cli.options import COMMON, JSON, ONE_WORKSPACE, Options
from memcli.cli.terminal import Terminal
from memcli.errors import ExitCode

if TYPE_CHECKING:
    from typing import Any

    from memcli.agents.places import Machine
    from memcli.agents.table import Agent


OPTIONS = (
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """List the agents found here, their notes, and which have memcli installed.

    Examples: memcli agents      memcli agents list --json
    """
    from memcli.agents.detect import is_here, part_states
    from memcli.agents.state import load
    from memcli.agents.table import AGENTS
    from memcli.cli.commands.agents.this_machine import launcher, state_path, this_machine

    terminal = Terminal.of_process(options)
    machine, path, program = this_machine(), state_path(), launcher(options.workspace)
    state = load(path)
    record = {
        "schema": "memcli.agents/1",
        "project": machine.project,
        "state": path,
        "agents": [
            {
                "name": agent.name,
                "title": agent.title,
                "here": is_here(agent, machine),
                "memory": _memory(agent, machine),
                "parts": [part._asdict() for part in part_states(agent, machine, state, program)],
            }
            for agent in AGENTS
        ],
    }
    if options.json:
        terminal.write_json(record)
        return ExitCode.OK
    from memcli.cli.agents_output import remarks, table

    terminal.write(table(record, terminal))
    for line in remarks(record):
        terminal.say(line)
    return ExitCode.OK


def _memory(agent: Agent, machine: Machine) -> list[dict[str, Any]]:
    """List the memories of an agent that exist here."""
    from memcli.workspace.agent_memories import find
    from memcli.workspace.locate import Surroundings

    if not agent.agent_memory:
        return []
    root = os.path.realpath(machine.project or machine.home)
    found = find((agent.agent_memory,), Surroundings(root, machine.home, machine.environ))
    return [{"name": source.name, "path": source.root} for source in found.sources]
