"""`memcli agents`: list the agents of this machine; install memcli into them, or remove it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from shutil import which

from memcli import __version__
from memcli.agents import edits, plugin, state
from memcli.agents.detect import is_here, part_states
from memcli.agents.places import Machine
from memcli.agents.plan import InstallPlan, Planner, carry_out
from memcli.agents.table import (
    AGENTS,
    BY_NAME,
    MCP,
    NAMES,
    PARTS,
    PROJECT,
    SCOPES,
    Agent,
    PartPlace,
)
from memcli.agents.texts import Launcher, entries, quoted, started_by
from memcli.api.workspace import current_folder
from memcli.checking import Any
from memcli.cli import agents_output
from memcli.cli import options as rows
from memcli.cli.options import CommandArgument, GroupCommand, Option, Options, check, words_of
from memcli.cli.terminal import Terminal
from memcli.config.keys import similar
from memcli.config.settings import user_file
from memcli.errors import ExitCode, NotFoundError, UsageError, install_extra
from memcli.record import Record
from memcli.workspace import atomic_write
from memcli.workspace.locate import Environment, is_everything, locate, repository_around

ABOUT = "List the agents found here, and install memcli into them."
USUAL = "list"


def run_list(options: Options) -> int:
    """List the agents found here, their notes, and which have memcli installed.

    Examples: memcli agents      memcli agents list --json
    """
    terminal = Terminal.of_process(options)
    machine, path, started = this_machine(), state_path(), launcher(options.workspace)
    installed = state.load(path)
    record = {
        "schema": "memcli.agents/1",
        "project": machine.project,
        "state": path,
        "agents": [
            {
                "name": agent.name,
                "title": agent.title,
                "here": is_here(agent, machine, installed),
                "memory": _memory(agent, machine),
                "parts": [p._asdict() for p in part_states(agent, machine, installed, started)],
            }
            for agent in AGENTS
        ],
    }
    if options.json:
        terminal.write_json(record)
        return ExitCode.OK
    terminal.write(agents_output.table(record, terminal))
    for line in agents_output.remarks(record):
        terminal.say(line)
    return ExitCode.OK


def _memory(agent: Agent, machine: Machine) -> list[dict[str, Any]]:
    from memcli.workspace.agent_memories import find

    if not agent.agent_memory:
        return []
    root = os.path.realpath(machine.project or machine.home)
    memories = find((agent.agent_memory,), Environment(root, machine.home, machine.environ))
    return [{"name": source.name, "path": source.root} for source in memories.sources]


# The default: the tools, and the line that makes agents use them. Hooks run at each prompt, and a
# skill repeats the line, so both are opt-in.
USUAL_PARTS = ("mcp", "instructions")
_PACKAGE = "mcp"  # the SDK of the server


def run_install(options: Options) -> int:
    """Install memcli into an agent: show what would change, and write it with --apply.

    With -w, or in a folder of notes, the agent always gets that workspace. In a git repository
    it gets the one of each project.

    Examples: memcli agents install claude-code      memcli agents install codex --apply
    """
    agent = named_agent(options.agent, "install")
    terminal = Terminal.of_process(options)
    machine = this_machine()
    here = [] if options.workspace or agent.memory else _notes_here(machine)
    started = launcher(options.workspace or here)
    started = started._replace(writes=options.write and _has_server())
    scope = options.scope or agent.usual_scope(machine, started.workspace)
    named_parts = _words(options.parts or ())
    if (
        not options.scope
        and machine.project
        and not all(agent.place(p, scope) for p in named_parts)
    ):
        other = next(each for each in SCOPES if each != scope)
        scope = other if all(agent.place(part, other) for part in named_parts) else scope
    if scope == "project" and not machine.project:
        raise UsageError(
            "the current folder is your whole home folder, not a project",
            hint="go to a repository, or leave --scope out",
        )
    places = _places(agent, scope, _parts(agent, scope, options.parts, terminal))
    if not (options.json or agent.memory) and (here or not options.apply):
        what = started.workspace or "the notes of each project; -w FOLDER names others"
        terminal.say(f"{agent.title} will search {what}.")
    job = AgentJob(agent, "install", scope, tuple(place.part for place in places), options)
    run_job(job, terminal, lambda planner: planner.install(agent, places, started), machine)
    return ExitCode.OK


def _notes_here(machine: Machine) -> list[str]:
    """Return the marked workspace of the current folder, unless that is a git repository."""
    here = current_folder()
    if not here or (machine.project and os.path.exists(os.path.join(machine.project, ".git"))):
        return []
    with suppress(NotFoundError):
        place = locate(None, None, here, home=machine.home)
        is_here = bool(place.by) and place.root == os.path.realpath(here)
        return [place.root] if is_here and not is_everything(place.root, machine.home) else []
    return []


def _parts(
    agent: Agent, scope: str, requested: Sequence[str] | None, terminal: Terminal
) -> tuple[str, ...]:
    """Return the requested parts, or by default the usual ones that can be installed."""
    has_server = _has_server()
    install = "" if has_server else install_extra("mcp")
    no_server = UsageError(
        "the MCP server needs the package mcp, which is not installed", hint=install
    )
    if requested is None:
        usual = [part for part in USUAL_PARTS if agent.place(part, scope)]
        if not has_server and MCP in usual:
            if usual == [MCP]:
                raise no_server
            terminal.say(f"Without tools, because the package mcp is not installed: {install}")
            usual.remove(MCP)
        return tuple(usual)
    words = _words(requested)
    check("--with", words or [""], PARTS)
    if MCP in words and not has_server:
        raise no_server
    return tuple(part for part in PARTS if part in words)


def _has_server() -> bool:
    from importlib.util import find_spec

    return find_spec(_PACKAGE) is not None


def _words(requested: Sequence[str]) -> list[str]:
    return [word.strip() for each in requested for word in each.split(",") if word.strip()]


def _places(agent: Agent, scope: str, parts: Sequence[str]) -> list[PartPlace]:
    """Return the places of the parts; UsageError if the agent does not have one."""
    has = [part for part in PARTS if agent.place(part, scope)]
    missing = [part for part in parts if part not in has]
    if not missing and parts:
        return [place for part in parts if (place := agent.place(part, scope))]
    other = next(each for each in SCOPES if each != scope)
    elsewhere = [part for part in parts or PARTS if agent.place(part, other)]
    named = f"{agent.title} has no {' and no '.join(missing) or 'part'} that memcli can install"
    line = f"memcli agents install {agent.name}"
    if not has or set(missing or PARTS) & set(elsewhere):
        hint = f"{line} --scope {other} --with {','.join(elsewhere)}"
        raise UsageError(f"{named} in the scope {scope}", hint=hint)
    raise UsageError(f"{named}: it has {', '.join(has)}", hint=f"{line} --with {','.join(has)}")


def run_uninstall(options: Options) -> int:
    """Remove exactly what install wrote. Edited files stay and are listed.

    Examples: memcli agents uninstall codex      memcli agents uninstall zed --apply
    """
    agent = named_agent(options.agent, "uninstall")
    scopes = SCOPES if options.scope is None else (options.scope,)
    terminal = Terminal.of_process(options)
    job = AgentJob(agent, "uninstall", options.scope, (), options)
    plan = run_job(job, terminal, lambda planner: planner.uninstall(agent, scopes), this_machine())
    return ExitCode.NEGATIVE if plan.refusals else ExitCode.OK


_FENCE = "````"  # longer than any line of a file


def run_export(options: Options) -> int:
    """Print the files that install memcli into an agent, or write them as a plugin.

    Examples: memcli agents export codex      memcli agents export claude-code --to plugin
    """
    agent = named_agent(options.agent, "export")
    started = started_by(agent, launcher(), this_machine())._replace(writes=options.write)
    if options.to is not None:
        return _write(agent, started, options.to, Terminal.of_process(options))
    for part in PARTS:
        if places := [place for scope in SCOPES if (place := agent.place(part, scope))]:
            names = ", of a project ".join(place.shown for place in places)
            _print(names, edits.file_of(entries(agent, places[0], started)))
    if agent.name in plugin.FOR:
        what = "all but the last" if agent.name == "claude-code" else "hooks and the skill"
        sys.stdout.write(f"Or {what} as a plugin ({_line(agent, 'FOLDER')}):\n\n")
        for path, text in plugin.plugin(agent, started, __version__).items():
            _print(path, text)
    return ExitCode.OK


def _print(name: str, text: str) -> None:
    sys.stdout.write(f"{name}\n{_FENCE}\n{text}{_FENCE}\n\n")


def _line(agent: Agent, folder: str) -> str:
    return f"memcli agents export {agent.name} --to {folder}"


def _write(agent: Agent, started: Launcher, folder: str, terminal: Terminal) -> int:
    """Write the plugin, but never over a file with other content."""
    if agent.name not in plugin.FOR:
        raise UsageError(
            f"memcli has no plugin for {agent.title}", hint=f"memcli agents install {agent.name}"
        )
    files = plugin.plugin(agent, started, __version__)
    root = os.path.abspath(os.path.expanduser(folder))
    try:
        there = {path: _read(os.path.join(root, path)) for path in files}
        other = [path for path, text in there.items() if text not in (None, files[path])]
        if other:
            raise UsageError(
                f"{os.path.join(root, other[0])} already exists with other content",
                hint=_line(agent, f"{shlex.quote(folder)}-2"),
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
    for line in plugin.installation(agent, shlex.quote(root)):
        terminal.say(f"  {line}")
    return ExitCode.OK


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return None


class AgentJob(Record):
    """What a command line asks for."""

    agent: Agent
    action: str  # install or uninstall
    scope: str | None  # None for both
    parts: tuple[str, ...]
    options: Options

    def line(self, parts: Sequence[str]) -> str:
        """Return the command for some parts, without --apply."""
        words = ["memcli", "agents", self.action, self.agent.name]
        contains_text = self.action == "uninstall" or self.agent.folder is not None
        if self.scope == PROJECT or (self.scope and contains_text):
            words += ["--scope", self.scope]
        if parts:
            words += ["--with", ",".join(parts)]
        if self.action == "install":
            words += ["--write"] * self.options.write
            words += words_of(
                self.options, [rows.WORKSPACE._replace(names="-w", attribute="workspace")]
            )
        return shlex.join(words)


def run_job(
    job: AgentJob, terminal: Terminal, plan_with: Callable[[Planner], InstallPlan], machine: Machine
) -> InstallPlan:
    """Do a job; if an installation is refused, write nothing and raise UsageError."""
    path = state_path()
    with state.locked(path) if job.options.apply else nullcontext():
        before = state.load(path)
        plan = plan_with(Planner(machine, before))
        is_refused = bool(plan.refusals) and job.action == "install"
        is_applied = job.options.apply and not is_refused
        _show(job, plan, terminal, is_applied=is_applied)
        is_needed = bool(plan.changes or plan.folders) or plan.state != before
        if is_applied and is_needed:
            carry_out(plan, before, path)
    if is_refused:
        raise _refused(job, plan)
    _tell(job, plan, terminal, is_needed=is_needed)
    return plan


def _show(job: AgentJob, plan: InstallPlan, terminal: Terminal, *, is_applied: bool) -> None:
    if job.options.json:
        record = {
            "schema": "memcli.agents-plan/1",
            "agent": job.agent.name,
            "action": job.action,
            "scope": job.scope,
            "parts": list(job.parts),
            "applied": is_applied,
            **agents_output.plan_record(plan),
        }
        terminal.write_json(record)
    else:
        terminal.write(agents_output.plan_text(plan, terminal))


def _tell(job: AgentJob, plan: InstallPlan, terminal: Terminal, *, is_needed: bool) -> None:
    is_removal = job.action == "uninstall"
    for note in plan.notes:
        terminal.say(f"{note}.")
    for refusal in plan.refusals:
        terminal.say(f"{refusal.path} ({refusal.part}) {refusal.why}; it is left as it is.")
    if not is_needed:
        if not plan.refusals:
            why = "nothing of memcli is there" if is_removal else "everything is in place"
            terminal.say(f"Nothing to {job.action} for {job.agent.title}: {why}.")
    elif not job.options.apply:
        terminal.say(f"Nothing is written yet. To write it: {job.line(job.parts)} --apply")
    else:
        for change in plan.changes:
            terminal.say(agents_output.done(change))
        if job.action == "install":
            for line in agents_output.next_steps(job.agent, job.parts):
                terminal.say(line)


def _refused(job: AgentJob, plan: InstallPlan) -> UsageError:
    """Print which files cannot be edited, and how to continue without them."""
    reasons = "; ".join(
        f"{refusal.path} ({refusal.part}) {refusal.why}" for refusal in plan.refusals
    )
    refused = {refusal.part for refusal in plan.refusals}
    rest = [part for part in PARTS if part in job.parts and part not in refused]
    hint = "paste what is shown above into it"
    if rest:
        hint += f"; or the rest: {job.line(rest)}"
    return UsageError(f"{reasons}; nothing was written", hint=hint)


MODULE = "__main__.py"  # run by `python -m memcli`


def this_machine() -> Machine:
    """Describe the machine, and the project of the current folder."""
    home, here = os.path.expanduser("~"), current_folder()
    folder = repository_around(os.path.realpath(here)) if here else home
    project = "" if is_everything(folder, home) else folder
    return Machine(sys.platform, home, os.environ, project)


def state_path() -> str:
    """Return the path of the record of installed parts."""
    return os.path.join(os.path.dirname(user_file(os.environ)), state.FILE)


def launcher(workspace: Sequence[str] | None = None) -> Launcher:
    """Return the command that starts this memcli from any folder, perhaps for a fixed workspace."""
    program = _whole(which(sys.argv[0]) or sys.argv[0])
    argv: tuple[str, ...] = (program,)
    if os.path.basename(program) == MODULE or not os.access(program, os.X_OK):
        argv = (sys.executable, "-m", "memcli")
    is_on_path = _whole(which("memcli") or "") == program
    folder = _workspace(workspace)
    for word in (*argv, folder):
        if not word.isprintable():
            raise UsageError(
                f"the path {word!r} has characters that settings cannot contain",
                hint="memcli agents",
            )
    return Launcher(argv, "memcli" if is_on_path else quoted(argv), folder)


def _whole(path: str) -> str:
    """Return an absolute path; "" if it is relative and the current folder was deleted."""
    here = "" if os.path.isabs(path) else current_folder()
    return "" if here is None else os.path.normpath(os.path.join(here, path))


def _workspace(folders: Sequence[str] | None) -> str:
    """Return the workspace of -w; "" for the workspace of each project."""
    if not folders:
        return ""
    if len(folders) > 1:
        raise UsageError(
            f"an agent gets one workspace, but -w names {len(folders)}", hint=f"-w {folders[0]}"
        )
    [folder] = folders
    if folder.startswith("@"):
        from memcli.config.workspaces import folder_of_name

        folder = folder_of_name(folder, os.environ)
    return locate(folder, None, current_folder()).root


AGENT = CommandArgument(
    "agent", "AGENT", "An agent, as memcli agents names it.", is_required=True, choices=NAMES
)


def named_agent(name: str, action: str) -> Agent:
    """Find an agent; UsageError for an unknown one."""
    if name not in BY_NAME:
        near = similar(name.lower(), NAMES)
        raise UsageError(
            f"there is no agent {name!r}; there are {', '.join(NAMES)}",
            hint=f"memcli agents {action} {near}" if near else "memcli agents",
        )
    return BY_NAME[name]


COMMANDS = {
    "list": GroupCommand(run_list, rows.STANDARD),
    "install": GroupCommand(run_install, (
        Option("--scope", "Install for user (all projects) or project.", "SCOPE", choices=SCOPES,
            shown_default="user; without -w, project for Cursor, VS Code, Zed"),
        Option("--with", "Parts: mcp, hooks, skill, instructions, with commas.", "PARTS", list,
            shown_default="mcp,instructions", choices=PARTS, is_open=True,
            attribute="parts"),
        Option("--write", "Let the agent save, correct and forget notes of its own."),
        Option("--apply", "Write the changes instead of only showing them."),
        *rows.STANDARD,
    ), (AGENT,)),
    "uninstall": GroupCommand(run_uninstall, (
        Option("--scope", "Only what install wrote for user or for project.", "SCOPE",
            shown_default="both", choices=SCOPES),
        Option("--apply", "Write the changes instead of only showing them."),
        *rows.STANDARD,
    ), (AGENT,)),
    "export": GroupCommand(run_export, (
        Option("--write", "Let the agent save, correct and forget notes of its own."),
        Option("--to", "Write a plugin (Claude Code, OpenClaw) to this folder.", "FOLDER",
            choices=rows.WORKSPACES),
        *rows.COMMON,
    ), (AGENT,)),
}  # fmt: skip
