"""`memcli inbox`: review the facts that memcli collected from sessions of agents."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.api.capture import InboxEntry, inbox, settle
from memcli.cli.command_context import CommandContext, command_context
from memcli.cli.options import STANDARD, Option, Options
from memcli.errors import ExitCode, UsageError

_ALL = "all"

OPTIONS = (
    Option("--keep", "Move these lines to today's log: 1,3 or all.", "NUMBERS", default=""),
    Option("--drop", "Delete these lines: 2,4 or all.", "NUMBERS", default=""),
    *STANDARD,
)  # fmt: skip


def run(options: Options) -> int:
    """List the facts that memcli collected from agent sessions; keep or drop them.

    To start, install the hooks and run: memcli config set capture inbox --user

    Examples: memcli inbox      memcli inbox --keep 1,3 --drop 2
    """
    command = command_context(options)
    entries = inbox(command.workspace)
    to_keep, dropped = _chosen(options.keep, entries), _chosen(options.drop, entries)
    if both := {each.number for each in to_keep} & {each.number for each in dropped}:
        number = min(both)
        raise UsageError(f"line {number} is to be kept and dropped", hint="memcli inbox")
    # The last lines first, so that the other lines do not move.
    for each in sorted((*to_keep, *dropped), key=lambda entry: -entry.number):
        settle(command.workspace, each, keep=each in to_keep, now=command.moment)
    left = [each for each in entries if each not in to_keep and each not in dropped]
    if options.json:
        record = {
            "schema": "memcli.inbox/1",
            "kept": len(to_keep),
            "dropped": len(dropped),
            "entries": [each._asdict() for each in left],
        }
        command.terminal.write_json(record)
        return ExitCode.OK
    _write(left, command, changed=len(to_keep) + len(dropped))
    return ExitCode.OK


def _chosen(numbers: str, entries: Sequence[InboxEntry]) -> list[InboxEntry]:
    if numbers.strip() == _ALL:
        return [*entries]
    words = [word.strip() for word in numbers.split(",") if word.strip()]
    by_number = {str(each.number): each for each in entries}
    for word in words:
        if word not in by_number:
            raise UsageError(
                f"there is no line {word} in the inbox; it has {len(entries)}", hint="memcli inbox"
            )
    return [by_number[word] for word in dict.fromkeys(words)]


def _write(left: Sequence[InboxEntry], command: CommandContext, *, changed: int) -> None:
    terminal = command.terminal
    if changed:
        terminal.say(f"{changed} lines kept or deleted, {len(left)} left.")
        return
    for each in left:
        terminal.write_line(terminal.safe_line(f"{each.number:>3}  {each.text}"))
    if not left:
        terminal.say("The inbox is empty.")
