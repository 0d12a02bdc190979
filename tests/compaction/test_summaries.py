"""Which lines a summary stands for, and which summaries take others down with them."""

from __future__ import annotations

from memcli.compaction.draft import merged
from memcli.compaction.summaries import told
from memcli.markdown.lineage import lines_hash
from memcli.types import SourceLines

LOG = ("# Day", "", "One.", "", "", "Two.", "", "Not told.", "", "Three.")


def _lines(first: int, last: int, path: str = "a.md") -> SourceLines:
    return SourceLines(path, first, last, lines_hash(LOG, first, last))


def test_records_with_only_blank_lines_between_them_are_one() -> None:
    sources = [_lines(3, 3), _lines(6, 6), _lines(10, 10), _lines(10, 10, "b.md")]
    assert merged(sources, {"a.md": LOG}) == (_lines(3, 6), _lines(10, 10), sources[3])


def test_the_last_lines_of_a_summary_are_told_up_to_so_many_tokens() -> None:
    first, last = "Herons nest in the reeds.", "Carp sleep in the mud."
    text = f"# Log\n\n- {first} (memory/a.md:1)\n- {last} (memory/a.md:2)\n"
    assert [told(text, tokens) for tokens in (0, 7, 100)] == [[], [last], [first, last]]
