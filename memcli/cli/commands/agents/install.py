"""`memcli agents install`: install memcli into an agent, or show what that would change."""

from __future__ import annotations

from memcli.agents.table import PARTS, SCOPES
from memcli.checking import TYPE_CHECKING
from memcli.cli.commands.agents.this_machine import AGENT, launcher, named_agent, this_machine
from memcli.cli.options import COMMON, JSON, ONE_WORKSPACE, Option, Options, check
from memcli.cli.terminal import Terminal
from memcli.errors import ExitCode, UsageError, install_extra

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.agents.table import Agent, PartPlace

# The default: the tools, and the line that makes agents use them. Hooks run at each prompt, and a
# skill repeats the line, so both are opt-in.
USUAL = ("mcp", "instructions")
_PACKAGE = "mcp"  # the SDK of the server


ARGUMENTS = (AGENT,)
OPTIONS = (
    Option("--scope", "Install for user (all projects) or project.", "SCOPE", choices=SCOPES,
        shown_default="user, or project for Cursor, VS Code and Zed"),
    Option("--with", "Parts: mcp, hooks, skill, instructions, with commas.", "PARTS", list,
        shown_default="mcp,instructions", choices=PARTS, attribute="parts"),
    Option("--write", "Let the agent save, correct and forget notes of its own."),
    Option("--apply", "Write the changes instead of only showing them."),
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Install memcli into an agent: show what would change, and write it with --apply.

    With -w the agent always gets that workspace. Otherwise it gets the one of each project.

    Examples: memcli agents install claude-code      memcli agents install codex --apply
    """
    from memcli.cli.commands.agents.running import AgentJob, run

    agent = named_agent(options.agent, "install")
    terminal = Terminal.of_process(options)
    machine, started = this_machine(), launcher(options.workspace)
    started = started._replace(writes=options.write)
    scope = options.scope or agent.usual_scope(machine, started.workspace)
    check("--scope", [scope], SCOPES)
    if scope == "project" and not machine.project:
        raise UsageError(
            "the current folder is your whole home folder, not a project",
            hint="go to a repository, or leave --scope out",
        )
    places = _places(agent, scope, _parts(agent, scope, options.parts, terminal))
    job = AgentJob(
        agent,
        "install",
        scope,
        tuple(place.part for place in places),
        is_applied=options.apply,
        as_json=options.json,
        workspace=tuple(options.workspace or ()),
        writes=options.write,
    )
    run(job, terminal, lambda planner: planner.install(agent, places, started), machine)
    return ExitCode.OK


def _parts(
    agent: Agent, scope: str, requested: Sequence[str] | None, terminal: Terminal
) -> tuple[str, ...]:
    """Return the requested parts, or by default the usual ones that can be installed."""
    from importlib.util import find_spec

    from memcli.agents.table import MCP, PARTS

    has_server = find_spec(_PACKAGE) is not None
    install = "" if has_server else install_extra("mcp")
    no_server = UsageError(
        "the MCP server needs the package mcp, which is not installed", hint=install
    )
    if requested is None:
        usual = [part for part in USUAL if agent.place(part, scope)]
        if not has_server and MCP in usual:
            if usual == [MCP]:
                raise no_server
            terminal.say(f"Without tools, because the package mcp is not installed: {install}")
            usual.remove(MCP)
        return tuple(usual)
    words = [word.strip() for each in requested for word in each.split(",") if word.strip()]
    check("--with", words or [""], PARTS)
    if MCP in words and not has_server:
        raise no_server
    return tuple(part for part in PARTS if part in words)


def _places(agent: Agent, scope: str, parts: Sequence[str]) -> list[PartPlace]:
    """Return the places of the parts; UsageError if the agent does not have one."""
    from memcli.agents.table import PARTS, SCOPES

    has = [part for part in PARTS if agent.place(part, scope)]
    missing = [part for part in parts if part not in has]
    if not missing and parts:
        return [place for part in parts if (place := agent.place(part, scope))]
    other = next(each for each in SCOPES if each != scope)
    elsewhere = [part for part in missing or PARTS if agent.place(part, other)]
    named = f"{agent.title} has no {' and no '.join(missing) or 'part'} that memcli can install"
    line = f"memcli agents install {agent.name}"
    if elsewhere:
        hint = f"{line} --scope {other} --with {','.join(elsewhere)}"
        raise UsageError(f"{named} in the scope {scope}", hint=hint)
    raise UsageError(f"{named}: it has {', '.join(has)}", hint=f"{line} --with {','.join(has)}")
