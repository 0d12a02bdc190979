"""Run a command on each of several workspaces: status, index."""

from __future__ import annotations

from collections.abc import Callable

from memcli.checking import TYPE_CHECKING, Any
from memcli.errors import ExitCode, MemcliError, Reason, error_of

if TYPE_CHECKING:
    from memcli.cli.command_context import CommandContext


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
    from memcli.render import jsonio

    stores: list[dict[str, Any]] = []
    code: int = ExitCode.OK
    terminal = command.terminal
    for place, (name, folder, workspace, why_not) in enumerate(command.memory.members):
        fields: dict[str, Any] = {"name": name, "path": folder, "primary": place == 0}
        head = terminal.safe_line(f"==> {name} <==")
        if not as_json and what == "index":
            terminal.say(head)
        elif not as_json:
            terminal.write(f"\n{head}\n" if place else f"{head}\n")
            terminal.flush()
        error: Reason | None = None
        if workspace is None:
            error = why_not or Reason("not-found", "it cannot be opened")
            done = int(error_of(error).exit_code)
        else:
            try:
                fields[what], done = work(command.of(workspace))
            except MemcliError as raised:
                error, done = raised.reason, raised.exit_code
        if error is not None:
            fields["error"] = jsonio.reason(error)
            terminal.advise(error._replace(text=f"{name}: {error.text}"))
            done = done if failed is None else failed
        stores.append(fields)
        code = code or done
    if as_json:
        terminal.write_json({"schema": f"memcli.{what}-several/1", "workspaces": stores})
    return code
