"""`search --why-not REF`: where some lines stood after every stage, instead of the passages."""

from __future__ import annotations

from typing import Any

from memcli.cli import targets
from memcli.cli.context import Context
from memcli.search.options import options_of
from memcli.search.why_not import Place, Trail, verdict
from memcli.types import Filters, cite


def trail_of(ref: str, context: Context) -> Trail:
    """Read what is pointed at; NotFoundError where it is no document of the memory."""
    settings = context.index_settings()
    target = targets.resolve(ref, settings)
    first, last = targets.lines_of(target, targets.read(target, settings), settings)
    return Trail(Place(target.source, target.path, first, last))


def write(trail: Trail, context: Context, *, as_json: bool) -> None:
    """Write the stages and the verdict."""
    terminal, place = context.terminal, trail.place
    told = verdict(trail, options_of(context.config, filters=Filters()))
    if as_json:
        from memcli.render.jsonio import dumps

        record: dict[str, Any] = {
            "schema": "memcli.why-not/1",
            "source": place.source,
            "path": place.path,
            "start_line": place.first,
            "end_line": place.last,
            "verdict": told,
            "stages": [each._asdict() for each in trail.standings],
        }
        terminal.write(dumps(record) + "\n")
        return
    lines = [f"{cite(*place)}: {told}"]
    for each in trail.standings:
        if each.rank is None:
            lines.append(f"    {each.stage:<6} not among {each.hits}")
        else:
            where = f"{each.rank} of {each.hits}"
            lines.append(f"    {each.stage:<6} {where:<12} {each.score:.3f}  {each.citation}")
    terminal.write("".join(f"{terminal.safe_line(line)}\n" for line in lines))
