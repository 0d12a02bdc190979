"""`memcli lint`: list bad content in the notes, with its place, without changing it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from memcli.api.lint import lint
from memcli.checking import Any
from memcli.cli.command_context import CommandContext, command_context
from memcli.cli.options import AGENT_MEMORIES, COMMON, JSON, ONE_WORKSPACE, Option, Options, check
from memcli.errors import ExitCode
from memcli.lint.findings import CODES, NEXT, SECRET, Finding, Location
from memcli.render.text import counted
from memcli.types import lines_of

Kind = tuple[object, ...]
ALL = "all"
NAMED = 3  # other places that a line names; JSON has all
SHOWN = 3  # shown findings of one kind in the same documents; -v and JSON have all


OPTIONS = (
    Option("--fail-on", "Exit 1 if lint finds one of these codes, or all.",
        "CODES", list, shown_default="none"),
    JSON, ONE_WORKSPACE, AGENT_MEMORIES, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Find stale, duplicate, contradictory or leaked content.

    It changes nothing. The codes are in: memcli help lint

    Examples: memcli lint      memcli lint --fail-on secret,broken-link --json
    """
    gate = [
        word.strip() for each in options.fail_on or () for word in each.split(",") if word.strip()
    ]
    check("--fail-on", gate, (*CODES, ALL))
    command = command_context(options)
    report = lint(command.workspace, command.today)
    findings = report.findings
    counts = dict.fromkeys(CODES, 0) | Counter(finding.code for finding in findings)
    if not options.json:
        _write_all(findings, command)
    for reason in (*report.skipped, *report.replaced):
        command.terminal.advise(reason)
    if options.json:
        record = {
            "schema": "memcli.lint/1",
            "documents": report.documents,
            "counts": counts,
            "next": {code: NEXT[code] for code, count in counts.items() if count},
            "findings": [_record(finding) for finding in findings],
            "skipped": [reason.text for reason in report.skipped],
        }
        command.terminal.write_json(record)
    else:
        for line in _summary(report.documents, counts):
            command.terminal.say(line)
    codes = tuple(CODES) if ALL in gate else gate
    return ExitCode.NEGATIVE if any(counts[code] for code in codes) else ExitCode.OK


def _write_all(findings: Sequence[Finding], command: CommandContext) -> None:
    """Write one line per finding; shorten many findings of one kind in the same documents."""
    kinds = Counter(map(_kind, findings))
    written: Counter[Kind] = Counter()
    for finding in findings:
        kind = _kind(finding)
        shown = kinds[kind] if command.terminal.verbose or kinds[kind] <= SHOWN + 1 else SHOWN
        written[kind] += 1
        if written[kind] <= shown:
            command.terminal.write_line(command.terminal.safe_line(_line(finding, command)))
        if written[kind] == shown < kinds[kind] and finding.at:
            where = command.name(finding.at.source, finding.at.path)
            text = f"{where}: {finding.code}: {kinds[kind] - shown} more like these, which -v lists"
            command.terminal.write_line(command.terminal.safe_line(text))


def _kind(finding: Finding) -> Kind:
    """Return the group of a finding: its code and documents; each secret is its own group."""
    if finding.at is None or finding.code == SECRET:
        return (str(finding),)
    return (finding.code, *((spot.source, spot.path) for spot in (finding.at, *finding.others)))


def _line(finding: Finding, command: CommandContext) -> str:
    """Return `path:line: code: message`, which editors open; then the other places."""
    where = f"{_name(finding.at._replace(last=finding.at.first), command)}: " if finding.at else ""
    line = f"{where}{finding.code}: {finding.message}"
    if finding.others:
        named = ", ".join(_name(spot, command) for spot in finding.others[:NAMED])
        more = len(finding.others) - NAMED
        line += f": {named}" + (f" and {more} more" if more > 0 else "")
    return line


def _name(spot: Location, command: CommandContext) -> str:
    name = command.name(spot.source, spot.path)
    if spot.first is None:
        return name
    return f"{name}:{lines_of(spot.first, spot.last)}"


def _record(finding: Finding) -> dict[str, Any]:
    at = finding.at
    return {
        "code": finding.code,
        "source": at.source if at else None,
        "path": at.path if at else None,
        "start_line": at.first if at else None,
        "end_line": at.last if at else None,
        "citation": at.citation if at else None,
        "message": finding.message,
        "others": [spot.citation for spot in finding.others],
    }


def _summary(documents: int, counts: dict[str, int]) -> Iterator[str]:
    """Return the counts, most frequent code first, and what to do."""
    total = sum(counts.values())
    files = counted(documents, "document")
    if not total:
        yield f"Nothing found in {files}."
        return
    by_count: Sequence[tuple[str, int]] = sorted(counts.items(), key=lambda each: -each[1])
    yield f"{total} found in {files}. What a code means: memcli help {by_count[0][0]}"
    widest = max(len(code) for code, count in by_count if count)
    for code, count in by_count:
        if count:
            yield f"{count:>{len(str(by_count[0][1])) + 2}} {code:<{widest}}  {NEXT[code]}"
