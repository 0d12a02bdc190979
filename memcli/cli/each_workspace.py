"""Run a command on each of several workspaces: status, index."""

from __future__ import annotations

from collections.abc import Callable

from memcli.api.several_workspaces import attempt
from memcli.checking import Any
from memcli.cli.command_context import CommandContext
from memcli.errors import ExitCode
from memcli.render import jsonio


def each(
    command: CommandContext,
    work: Callable[[CommandContext], tuple[dict[str, Any], int]],
    *,
    what: str,
    as_json: bool,
    failed: int | None = None,
) -> int:
    """Work on each workspace and print its name above its text; if one fails, the others continue.

    `work` returns a record and an exit code. `failed` replaces the exit code of an error. The first
    exit code that is not 0 counts. As JSON, it writes one object of `memcli.WHAT-several/1` with
    all records.
    """
    records: list[dict[str, Any]] = []
    codes: list[int] = []
    terminal = command.terminal
    for number, member in enumerate(command.memory.members):
        record = {"name": member.name, "path": member.folder, "primary": number == 0}
        head = terminal.safe_line(f"==> {member.name} <==")
        if not as_json and what == "index":
            terminal.say(head)
        elif not as_json:
            terminal.write(f"\n{head}\n" if number else f"{head}\n")
            terminal.flush()
        result, error = attempt(member, lambda workspace: work(command.of(workspace)))
        if result is not None:
            record[what], code = result
        if error is not None:
            record["error"] = jsonio.reason(error.reason)
            terminal.advise(error.reason._replace(text=f"{member.name}: {error.reason.text}"))
            code = error.exit_code if failed is None else failed
        records.append(record)
        codes.append(code)
    if as_json:
        terminal.write_json({"schema": f"memcli.{what}-several/1", "workspaces": records})
    return next(filter(None, codes), ExitCode.OK)
