"""Plan the changes for an agent, show them, and apply them with --apply."""

from __future__ import annotations

import shlex
from contextlib import nullcontext

from memcli.agents import disk, state
from memcli.agents.plan import InstallPlan, Planner, carry_out
from memcli.agents.table import PARTS, PROJECT, Agent
from memcli.checking import TYPE_CHECKING
from memcli.cli import agents_output
from memcli.cli.commands.agents.this_machine import state_path
from memcli.errors import UsageError
from memcli.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memcli.agents.places import Machine
    from memcli.cli.terminal import Terminal


class AgentJob(Record):
    """The job of a command line."""

    agent: Agent
    action: str  # install or uninstall
    scope: str | None  # None for both
    parts: tuple[str, ...]
    is_applied: bool
    as_json: bool
    workspace: tuple[str, ...] = ()  # as it was named
    writes: bool = False

    def line(self, parts: Sequence[str]) -> str:
        """Return the command for some parts, without its last word."""
        words = ["memcli", "agents", self.action, self.agent.name]
        contains_text = self.action == "uninstall" or self.agent.folder is not None
        if self.scope == PROJECT or (self.scope and contains_text):
            words += ["--scope", self.scope]
        if parts:
            words += ["--with", ",".join(parts)]
        words += ["--write"] * self.writes
        for folder in self.workspace:
            words += ["-w", folder]
        return shlex.join(words)


def run(
    job: AgentJob, terminal: Terminal, plan_with: Callable[[Planner], InstallPlan], machine: Machine
) -> InstallPlan:
    """Do a job; UsageError, with nothing written, if an installation is refused."""
    path = state_path()
    with state.locked(path) if job.is_applied else nullcontext():
        before = state.load(path)
        plan = plan_with(Planner(machine, before, disk.look))
        is_refused = bool(plan.refusals) and job.action == "install"
        is_applied = job.is_applied and not is_refused
        _show(job, plan, terminal, is_applied=is_applied)
        is_needed = bool(plan.changes or plan.folders) or plan.state != before
        if is_applied and is_needed:
            carry_out(plan, before, path)
    if is_refused:
        raise _refused(job, plan)
    _tell(job, plan, terminal, is_needed=is_needed)
    return plan


def _show(job: AgentJob, plan: InstallPlan, terminal: Terminal, *, is_applied: bool) -> None:
    """Write the changes to stdout."""
    if job.as_json:
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
    """Print what was done, or what to do."""
    for note in plan.notes:
        terminal.say(f"{note}.")
    for refusal in plan.refusals:
        terminal.say(f"{refusal.path} ({refusal.part}) {refusal.why}; it is left as it is.")
    if not is_needed:
        if not plan.refusals:
            terminal.say(f"Nothing to {job.action} for {job.agent.title}: everything is in place.")
    elif not job.is_applied:
        terminal.say(f"Nothing is written yet. To write it: {job.line(job.parts)} --apply")
    else:
        for change in plan.changes:
            terminal.say(agents_output.done(change))
        if job.action == "install":
            for line in agents_output.next_steps(job.agent, job.parts):
                terminal.say(line)


def _refused(job: AgentJob, plan: InstallPlan) -> UsageError:
    """Print which files cannot be edited, and how to continue without them."""
    told = "; ".join(f"{refusal.path} ({refusal.part}) {refusal.why}" for refusal in plan.refusals)
    refused = {refusal.part for refusal in plan.refusals}
    rest = [part for part in PARTS if part in job.parts and part not in refused]
    hint = "paste what is shown above into it"
    if rest:
        hint += f"; or the rest: {job.line(rest)}"
    return UsageError(f"{told}; nothing was written", hint=hint)
