"""Small makers of logs, plans and folders for the tests of compaction."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memcli.compaction.compose import document
from memcli.compaction.draft import CompactionSettings, SummaryDraft
from memcli.compaction.entries import DatedLog
from memcli.compaction.plan import CompactionPlan, make_plan
from memcli.compaction.summaries import Summary, judged
from memcli.markdown.lineage import cited_lines, lines_hash, read_lineage
from memcli.markdown.parse import parse
from memcli.types import Lineage, SourceLines
from tests.hashing import HashingEncoder

NOW = "2026-02-20T00:00:00"
FOLDER = "memory/summaries/"


def make_log(day: str, text: str) -> DatedLog:
    lines = tuple(text.split("\n"))
    return DatedLog(f"memory/{day}.md", day, day, lines)


def settings(
    tail: int = 0, cluster: int = 2, ratio: float = 0.3, *, tail_days: int = 0
) -> CompactionSettings:
    return CompactionSettings(tail, tail_days, cluster, ratio, 200)


def plan_of(
    logs: Sequence[DatedLog],
    wanted: CompactionSettings,
    existing: Sequence[Summary] = (),
    *,
    vectors: bool = False,
) -> CompactionPlan:
    encoder = HashingEncoder()

    def embed(texts: Sequence[str]) -> list[bytes]:
        return encoder.encode([" ".join(text.split()[:200]) for text in texts])

    return make_plan(
        logs, existing, wanted, folder=FOLDER, now=NOW, embed=embed if vectors else None
    )


def read_back(logs: Sequence[DatedLog], drafts: Sequence[SummaryDraft]) -> list[Summary]:
    """Give drafts as they will be read from the folder."""
    files = {log.path: log.lines for log in logs}
    files |= {draft.path: tuple(draft.text.split("\n")) for draft in drafts}
    found = []
    for draft in drafts:
        lineage = lineage_of(draft.text)
        assert lineage._replace(seal="") == draft.lineage
        found.append((draft.path, draft.text, lineage))
    return judged(found, files)


def lineage_of(text: str) -> Lineage:
    lineage = read_lineage(parse(text).front_matter)
    assert lineage is not None
    return lineage


def write_level_two(root: Path, paths: Sequence[str]) -> str:
    """Write a summary of summaries, as earlier versions did; give its path."""
    sources, told, below = [], list[str](), list[Lineage]()
    for path in paths:
        text = (root / path).read_text("utf-8")
        lines = text.removesuffix("\n").split("\n")
        start = lines.index("---", 1) + 2
        hash_ = lines_hash(lines, start, len(lines))
        sources.append(SourceLines(path, start, len(lines), hash_))
        told += [f"- {c.text} ({c.path}:{c.first}-{c.last})" for _, c in cited_lines(text)]
        below.append(lineage_of(text))
    first, last = below[0].earliest, below[-1].latest
    lineage = below[0]._replace(
        sources=tuple(sources), parents=tuple(paths), latest=last, level=2, seal="",
        source_tokens=999, summary_tokens=99,
    )  # fmt: skip
    name = f"{FOLDER}{first}--{last}.md"
    text = document(lineage, "\n".join((f"# {first} to {last}", *told, "")))
    (root / name).write_text(text, "utf-8")
    return name
