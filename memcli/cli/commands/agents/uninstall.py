"""`memcli agents uninstall`: take back what was wired into an agent."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.choices import check
from memcli.cli.terminal import Terminal
from memcli.errors import ExitCode

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from memcli.cli import options


def command(
    agent_name: Annotated[
        str | None,
        typer.Option("--for", metavar="AGENT", help="The agent, as memcli agents names it."),
    ] = None,
    scope: Annotated[
        str | None,
        typer.Option(
            metavar="SCOPE", help="Only what was written for user, or for project.",
            show_default="both",
        ),
    ] = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Do it; without, only what would change is shown.")
    ] = False,
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:  # fmt: skip
    """Take back exactly what install has written; what was edited since is left and named.

    Examples: memcli agents uninstall --for codex      memcli agents uninstall --for zed --apply
    """
    from memcli.agents.table import SCOPES
    from memcli.cli.commands.agents.here import named_agent, this_machine
    from memcli.cli.commands.agents.running import AgentJob, run

    agent = named_agent(agent_name)
    if scope is not None:
        check("--scope", [scope], SCOPES)
    scopes = SCOPES if scope is None else (scope,)
    terminal = Terminal.of_process(color=color, quiet=quiet, verbose=verbose)
    job = AgentJob(agent, "uninstall", scope, (), is_applied=apply, as_json=as_json)
    plan = run(job, terminal, lambda planner: planner.uninstall(agent, scopes), this_machine())
    return ExitCode.NEGATIVE if plan.refusals else ExitCode.OK
