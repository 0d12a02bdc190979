"""Which lines a summary stands for, and which summaries take others down with them."""

from __future__ import annotations

from memcli.compaction.compose import document
from memcli.compaction.draft import merged
from memcli.compaction.summaries import judged, last_lines, problems
from memcli.markdown.lineage import lines_hash
from memcli.search.validity import leaves_of
from memcli.types import Lineage, SourceLines
from tests.compaction.support import lineage_of

LOG = ("# Day", "", "One.", "", "", "Two.", "", "Not told.", "", "Three.")


def _lines(first: int, last: int, path: str = "a.md") -> SourceLines:
    return SourceLines(path, first, last, lines_hash(LOG, first, last))


def test_records_with_only_blank_lines_between_them_are_one() -> None:
    sources = [_lines(3, 3), _lines(6, 6), _lines(10, 10), _lines(10, 10, "b.md")]
    assert merged(sources, {"a.md": LOG}) == (_lines(3, 6), _lines(10, 10), sources[3])


def test_the_last_lines_of_a_summary_are_told_up_to_so_many_tokens() -> None:
    first, last = "Herons nest in the reeds.", "Carp sleep in the mud."
    text = f"# Log\n\n- {first} (memory/a.md:1)\n- {last} (memory/a.md:2)\n"
    assert [last_lines(text, tokens) for tokens in (5, 6, 11, 12)] == [
        [], [last], [last], [first, last],
    ]  # fmt: skip


def _forged(source: SourceLines, parents: tuple[str, ...]) -> str:
    """Write a summary whose seal holds, of a line that the log does not say."""
    level = len(parents) + 1
    lineage = Lineage(
        (source,), parents, "2025-03-01", "2025-03-01", "2026-02-20T00:00:00", "extractive", 0.5,
        level, 9, 3, seal="", run=1,
    )  # fmt: skip
    return document(lineage, "# 2025-03-01\n\n- Four. (a.md:3-6)\n")


def test_a_summary_that_saves_nothing_is_named() -> None:
    text = _forged(_lines(3, 6), ())
    lineage = lineage_of(text)
    for tokens, said in ((9, ["9 tokens for 9"]), (8, [])):
        found = judged([("one.md", text, lineage._replace(summary_tokens=tokens))], {"a.md": LOG})
        assert [each.detail for each in problems(found) if each.kind == "progress"] == said


def test_summaries_that_rest_on_each_other_are_named() -> None:
    around = {"x.md": "y.md", "y.md": "z.md", "z.md": "x.md"}
    texts = {path: _forged(_lines(3, 6, other), (other,)) for path, other in around.items()}
    found = judged([(path, text, lineage_of(text)) for path, text in texts.items()], {})
    assert [each.path for each in problems(found) if each.kind == "cycle"] == [*around]


def test_of_a_summary_that_is_gone_it_is_not_said_that_it_has_changed() -> None:
    gone = SourceLines("gone.md", 3, 6, lines_hash(LOG, 3, 6))
    text = _forged(gone, ("gone.md",))
    found = problems(judged([("two.md", text, lineage_of(text))], {}))
    assert [(each.kind, each.detail) for each in found] == [("orphan", "gone.md is gone")]


def test_what_rests_on_a_forged_summary_is_forged_too_however_well_it_quotes_it() -> None:
    files: dict[str, tuple[str, ...]] = {"a.md": LOG}
    source, parents = _lines(3, 6), tuple[str, ...]()
    found = []
    for path in ("one.md", "two.md", "three.md"):
        text = _forged(source, parents)
        files[path] = lines = tuple(text.split("\n"))
        found.append((path, text, lineage_of(text)))
        last = next(at for at, line in enumerate(lines, 1) if line.startswith("- Four."))
        source, parents = SourceLines(path, last, last, lines_hash(lines, last, last)), (path,)
    summaries = judged(found, files)
    sources = {each.path: each.lineage.sources for each in summaries}
    assert leaves_of("three.md", sources) == [_lines(3, 6)]
    assert [(each.state, each.rests_on) for each in summaries] == [
        ("forged", ()), ("forged", ("one.md",)), ("forged", ("two.md",)),
    ]  # fmt: skip
    assert [(each.path, each.detail) for each in problems(summaries) if each.path != "one.md"] == [
        ("two.md", "one.md is not valid"), ("three.md", "two.md is not valid"),
    ]  # fmt: skip
