"""`search --why-not REF`: where some lines stood after every stage, instead of the passages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memcli.api import targets
from memcli.search.options import options_of
from memcli.search.stages import STAGES
from memcli.search.why_not import Course, Followed, follow, verdict
from memcli.types import Filters, cite

if TYPE_CHECKING:
    from memcli.cli.skin import Skin

_WIDTH = max(map(len, STAGES))


def lines_of(ref: str, skin: Skin) -> Followed:
    """Read what is pointed at; NotFoundError where it is no document of the memory."""
    memory, ref, before, _ = skin.memory.owner_of(ref)
    settings = memory.index_settings()
    target = targets.resolve(ref, settings, skin.here)
    first, last = targets.lines_of(target, targets.read(target, settings), settings)
    return Followed(before + target.source, target.path, first, last)


def write(lines: Followed, course: Course, skin: Skin, *, as_json: bool) -> None:
    """Write the stages and the verdict."""
    terminal, trail = skin.terminal, follow(course, lines.are_in)
    told = verdict(trail, options_of(skin.config, filters=Filters()))
    if as_json:
        from memcli.render.jsonio import source_of

        record: dict[str, Any] = {
            "schema": "memcli.why-not/1",
            **source_of(lines.source),
            "path": lines.path,
            "start_line": lines.first,
            "end_line": lines.last,
            "verdict": told,
            "stages": [each._asdict() for each in trail.waypoints],
        }
        terminal.write_json(record)
        return
    drawn = [f"{cite(*lines)}: {told}"]
    for at in trail.waypoints:
        if at.rank is None:
            drawn.append(f"    {at.stage:<{_WIDTH}} not among {at.hits}")
        else:
            where = f"{at.rank} of {at.hits}"
            score = "-" if at.score is None else f"{at.score:.3f}"
            drawn.append(f"    {at.stage:<{_WIDTH}} {where:<12} {score:<5}  {at.citation}")
    terminal.write("".join(f"{terminal.safe_line(line)}\n" for line in drawn))
