"""`memcli lint`: list what is rotten in the notes, with where it stands; changes nothing."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.choices import check
from memcli.cli.skin import Shared, Skin, make_skin
from memcli.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated, Any

    import typer

    from memcli.cli import options
    from memcli.lint.findings import Finding, FoundAt

ALL = "all"
NAMED = 3  # other places that a line names; JSON has all


def command(
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODES",
            help="Exit 1 where one of these is found: codes with commas between, or all.",
            show_default="none",
        ),
    ] = None,
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    presets: options.Presets = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """List what is rotten in the notes: secrets, repetitions, what has changed, dead links.

    Nothing is changed. The codes are those of: memcli help lint

    Examples: memcli lint      memcli lint --fail-on secret,broken-link --json
    """
    from memcli.api.lint import Inspection
    from memcli.lint.findings import CODES

    gate = [word.strip() for each in fail_on or () for word in each.split(",") if word.strip()]
    check("--fail-on", gate, (*CODES, ALL))
    shared = Shared(workspace, quiet, verbose, color, now)
    skin = make_skin(shared, {"files.presets": presets})
    look = Inspection(skin.memory, skin.today)
    found: list[Finding] = []
    counts = dict.fromkeys(CODES, 0)
    for finding in look.findings():
        counts[finding.code] += 1
        if as_json:
            found.append(finding)
        else:
            _write(finding, skin)
    for reason in look.passed:
        skin.terminal.advise(reason)
    if as_json:
        from memcli.render.jsonio import dumps

        record = {
            "schema": "memcli.lint/1",
            "documents": look.documents,
            "counts": counts,
            "findings": [_record(finding) for finding in found],
            "passed_over": [reason.text for reason in look.passed],
        }
        skin.terminal.write(dumps(record) + "\n")
    else:
        skin.terminal.say(_summary(look.documents, counts))
    wanted = tuple(CODES) if ALL in gate else gate
    return ExitCode.NEGATIVE if any(counts[code] for code in wanted) else ExitCode.OK


def _write(finding: Finding, skin: Skin) -> None:
    """Write a line: where, which code, what; then the other places."""
    where = f"{_name(finding.at, skin)}: " if finding.at else ""
    line = f"{where}{finding.code}: {finding.message}"
    if finding.others:
        named = ", ".join(_name(spot, skin) for spot in finding.others[:NAMED])
        more = len(finding.others) - NAMED
        line += f": {named}" + (f" and {more} more" if more > 0 else "")
    skin.terminal.write_line(skin.terminal.safe_line(line))


def _name(spot: FoundAt, skin: Skin) -> str:
    name = skin.name(spot.source, spot.path)
    return name if spot.first is None else f"{name}:{spot.first}-{spot.last}"


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


def _summary(documents: int, counts: dict[str, int]) -> str:
    """Say how much was found, the most frequent first."""
    total = sum(counts.values())
    files = "1 document" if documents == 1 else f"{documents} documents"
    if not total:
        return f"Nothing found in {files}."
    found: Sequence[tuple[str, int]] = sorted(counts.items(), key=lambda each: -each[1])
    told = ", ".join(f"{count} {code}" for code, count in found if count)
    first = found[0][0]
    return f"{total} found in {files}: {told}. What a code means: memcli help {first}"
