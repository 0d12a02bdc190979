"""`memcli agents uninstall`: remove what install wrote for an agent."""

from __future__ import annotations

from memcli.agents.table import SCOPES
from memcli.cli.commands.agents.this_machine import AGENT, named_agent, this_machine
from memcli.cli.options import COMMON, JSON, ONE_WORKSPACE, Option, Options, check
from memcli.cli.terminal import Terminal
from memcli.errors import ExitCode

ARGUMENTS = (AGENT,)
OPTIONS = (
    Option("--scope", "Only what install wrote for user or for project.", "SCOPE",
        shown_default="both", choices=SCOPES),
    Option("--apply", "Write the changes instead of only showing them."),
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Remove exactly what install wrote. Edited files stay and are listed.

    Examples: memcli agents uninstall codex      memcli agents uninstall zed --apply
    """
    from memcli.cli.commands.agents.running import AgentJob, run

    agent = named_agent(options.agent, "uninstall")
    if options.scope is not None:
        check("--scope", [options.scope], SCOPES)
    scopes = SCOPES if options.scope is None else (options.scope,)
    terminal = Terminal.of_process(options)
    job = AgentJob(
        agent, "uninstall", options.scope, (), is_applied=options.apply, as_json=options.json
    )
    plan = run(job, terminal, lambda planner: planner.uninstall(agent, scopes), this_machine())
    return ExitCode.NEGATIVE if plan.refusals else ExitCode.OK
