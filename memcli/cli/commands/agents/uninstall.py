"""`memcli agents uninstall`: take back what was wired into an agent."""

from __future__ import annotations

from memcli.agents.table import NAMES, SCOPES
from memcli.cli.options import COMMON, JSON, WORKSPACE, Option, Options, check
from memcli.cli.terminal import Terminal
from memcli.errors import ExitCode

OPTIONS = (
    Option("--for", "The agent, as memcli agents names it.", "AGENT", choices=NAMES,
        attribute="agent"),
    Option("--scope", "Only what was written for user, or for project.", "SCOPE",
        shown_default="both", choices=SCOPES),
    Option("--apply", "Do it; without, only what would change is shown."),
    JSON, WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Take back exactly what install has written; what was edited since is left and named.

    Examples: memcli agents uninstall --for codex      memcli agents uninstall --for zed --apply
    """
    from memcli.agents.table import SCOPES
    from memcli.cli.commands.agents.here import named_agent, this_machine
    from memcli.cli.commands.agents.running import AgentJob, run

    agent = named_agent(options.agent)
    if options.scope is not None:
        check("--scope", [options.scope], SCOPES)
    scopes = SCOPES if options.scope is None else (options.scope,)
    terminal = Terminal.of_process(options)
    job = AgentJob(
        agent, "uninstall", options.scope, (), is_applied=options.apply, as_json=options.json
    )
    plan = run(job, terminal, lambda planner: planner.uninstall(agent, scopes), this_machine())
    return ExitCode.NEGATIVE if plan.refusals else ExitCode.OK
