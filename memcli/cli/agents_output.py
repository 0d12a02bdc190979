"""Print the output of `memcli agents`: the table of agents, and the changes to their files."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from memcli.agents.detect import ABSENT, BY_HAND, EDITED, GONE, INSTALLED, OUT_OF_DATE, UNREADABLE
from memcli.agents.plan import FileChange, InstallPlan
from memcli.agents.table import HOOKS, MCP, PARTS, SCOPES, Agent
from memcli.checking import Any
from memcli.cli.terminal import Terminal
from memcli.render.text import PLAIN

AROUND = 1  # lines shown around a change; few, because settings contain other programs' keys
_RED, _GREEN = "\x1b[31m", "\x1b[32m"
_MOST, _FIRST = 400, 40  # shown characters of a line, and those from its beginning
_PIECES = re.compile(r"[^,{}\[\]]+|[,{}\[\]]")  # of a line of JSON
_MOST_PIECES = 2000  # a longer line is not compared piece by piece
_HEAD = 2  # lines of a difference that name its files
_HUNK = re.compile(r"@@ -(\d+)(\S*) \+(\d+)(\S*) @@")


def table(record: dict[str, Any], terminal: Terminal) -> str:
    """Print the agents in columns, those that are not installed in gray."""
    rows = [["agent", "here", "memory", *PARTS]]
    for agent in record["agents"]:
        names = dict.fromkeys(each["name"].partition(".")[0] for each in agent["memory"])
        rows.append([
            agent["name"], "yes" if agent["here"] else "no", "yes" if names else "no",
            *(_cell(agent["parts"], part) for part in PARTS),
        ])  # fmt: skip
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    style = terminal.style
    lines = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        line = "  ".join(f"{cell:<{width}}" for cell, width in cells).rstrip()
        is_dim = row[1] == "no" and set(row[3:]) <= {ABSENT, "-"}
        lines.append(f"{style.dim}{line}{style.end}" if is_dim else line)
    return "\n".join(lines) + "\n"


def _cell(parts: Sequence[dict[str, Any]], part: str) -> str:
    """Return the state of a part in each of its scopes."""
    scopes = {each["scope"]: each["state"] for each in parts if each["part"] == part}
    if not scopes:
        return "-"
    cells = [
        scope if scopes[scope] == INSTALLED else f"{scopes[scope]} ({scope})"
        for scope in SCOPES
        if scopes.get(scope, ABSENT) != ABSENT
    ]
    return ", ".join(cells) or ABSENT


def remarks(record: dict[str, Any]) -> Iterator[str]:
    """Return what is wrong with the installed parts, or the first step if nothing is installed."""
    for agent in record["agents"]:
        again = f"memcli agents install {agent['name']} --apply"
        for part in agent["parts"]:
            name = f"{part['file']} ({part['part']} of {agent['title']})"
            if part["state"] == UNREADABLE:
                yield f"{part['file']} {part['why']}"
            elif part["state"] == EDITED:
                yield f"{name} was edited since memcli wrote it"
            elif part["state"] == GONE:
                yield f"{name} is gone since memcli wrote it. To write it again: {again}"
            elif part["state"] == OUT_OF_DATE:
                yield f"{name} starts a memcli that is no longer there. To repair it: {again}"
    here = [agent for agent in record["agents"] if agent["here"]]
    states = {part["state"] for agent in here for part in agent["parts"]}
    if here and not states & {INSTALLED, BY_HAND}:
        yield f"To install memcli into one: memcli agents install {here[0]['name']}"


def plan_record(plan: InstallPlan) -> dict[str, Any]:
    """Describe a plan for programs."""
    return {
        "changes": [
            {
                "file": change.snapshot.path,
                "change": _what(change),
                "parts": list(change.parts),
                "diff": "".join(difference(change)),
            }
            for change in plan.changes
        ],
        "refused": [
            {"file": each.path, "part": each.part, "why": each.why, "text": each.text}
            for each in plan.refusals
        ],
        "notes": list(plan.notes),
    }


def plan_text(plan: InstallPlan, terminal: Terminal) -> str:
    """Return the changes as a diff, and text to paste into files that memcli cannot edit."""
    coloured = terminal.style is not PLAIN
    lines = []
    for change in plan.changes:
        written = [line.removesuffix("\n") for line in difference(change)]
        for number, line in enumerate(written):
            shown = terminal.safe_line(_shortened(line, _other(written, number)))
            is_change = coloured and number >= _HEAD
            colour = {"+": _GREEN, "-": _RED}.get(line[0], "") if is_change else ""
            lines.append(f"{colour}{shown}{terminal.style.end if colour else ''}\n")
    for refusal in plan.refusals:
        lines.append(f"{terminal.safe_line(refusal.path)} ({refusal.part}) {refusal.why}:\n")
        lines += [f"    {terminal.safe_line(line)}\n" for line in refusal.text.splitlines()]
    return "".join(lines)


def _other(lines: Sequence[str], number: int) -> str:
    """Return the line that a changed line replaces, or that replaces it; "" if there is none."""
    at, sign = {"-": (number + 1, "+"), "+": (number - 1, "-")}.get(lines[number][:1], (0, ""))
    is_other = sign and number >= _HEAD and at < len(lines) and lines[at].startswith(sign)
    return lines[at] if is_other else ""


def _shortened(line: str, other: str) -> str:
    """Shorten a line that contains a whole file, to what the other one does not contain."""
    if len(line) <= _MOST:
        return line
    mine, theirs = _PIECES.findall(line[1:]), _PIECES.findall(other[1:])
    if not other or max(len(mine), len(theirs)) > _MOST_PIECES:
        return f"{line[:_FIRST]} … {line[_FIRST - _MOST :]}"
    pieces, end = [line[0]], 0
    for kind, _, _, first, last in difflib.SequenceMatcher(
        None, theirs, mine, autojunk=False
    ).get_opcodes():
        if kind != "equal":
            around = "".join(mine[end:first])
            pieces += [around if len(around) <= _FIRST else f" … {around[-_FIRST:]}"]
            pieces += mine[first:last]
            end = last
    rest = "".join(mine[end:])
    return "".join([*pieces, rest if len(rest) <= _FIRST else f"{rest[:_FIRST]} …"])


def difference(change: FileChange) -> Iterator[str]:
    """Return the lines of a unified difference."""
    path = change.snapshot.path
    before = (change.snapshot.text or "").splitlines(keepends=True)
    after = (change.after or "").splitlines(keepends=True)
    # Files of 100,000 lines change at one place: comparing the rest takes seconds.
    same = next(
        (at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]),
        min(len(before), len(after)),
    )
    skipped = max(0, same - AROUND)
    tail = 0
    most = min(len(before), len(after)) - same
    while tail < most and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    end = max(0, tail - AROUND)
    lines = difflib.unified_diff(
        before[skipped : len(before) - end],
        after[skipped : len(after) - end],
        "/dev/null" if change.snapshot.text is None else path,
        "/dev/null" if change.after is None else path,
        n=AROUND,
    )
    for line in lines:
        if match := _HUNK.match(line):
            old, new = int(match[1]) + skipped, int(match[3]) + skipped
            line = f"@@ -{old}{match[2]} +{new}{match[4]} @@\n"
        yield line if line.endswith("\n") else f"{line}\n"


def _what(change: FileChange) -> str:
    if change.snapshot.text is None:
        return "create"
    return "remove" if change.after is None else "edit"


def done(change: FileChange) -> str:
    """Return what happened to a file."""
    verb = {"create": "Wrote", "remove": "Removed", "edit": "Edited"}[_what(change)]
    return f"{verb} {change.snapshot.path} ({', '.join(change.parts)})."


def next_steps(agent: Agent, parts: Sequence[str]) -> Iterator[str]:
    """Return what an agent needs before it uses the new settings."""
    if HOOKS in parts and agent.name == "codex":
        yield "Codex runs the hooks once you have trusted them: /hooks"
    if HOOKS in parts and agent.name != "opencode":  # OpenCode keeps no transcript file
        yield "To collect facts from sessions too: memcli config set capture inbox --user"
    if MCP in parts or HOOKS in parts:
        yield f"Restart {agent.title} to load the new settings."
