"""Read what stands above and below a passage in its file, as it is on disk now."""

from __future__ import annotations

from memcli.api.read import get
from memcli.checking import TYPE_CHECKING
from memcli.errors import MemcliError
from memcli.render.text import NOTHING_AROUND, Around
from memcli.types import shown

if TYPE_CHECKING:
    from memcli.api.opened import OpenedWorkspace
    from memcli.search.hits import Hit


def around(memory: OpenedWorkspace, hit: Hit, count: int) -> Around:
    """Read `count` lines on each side; none where the file no longer holds the passage."""
    first = max(1, hit.start_line - count)
    try:
        name = shown(*hit.about.document)
        wide = hit.end_line + count - first + 1
        found = get(memory, name, first=first, count=wide, is_use=False)
    except MemcliError:
        return NOTHING_AROUND
    lines = list(enumerate(found.text.split("\n"), start=found.start_line))
    inside = "\n".join(text for number, text in lines if hit.start_line <= number <= hit.end_line)
    if hit.text.strip("\n") not in inside:
        return NOTHING_AROUND
    return Around(
        tuple(each for each in lines if each[0] < hit.start_line),
        tuple(each for each in lines if each[0] > hit.end_line),
    )
