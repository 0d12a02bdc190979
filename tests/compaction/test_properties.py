"""What holds of every compaction, whatever stands in the logs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.compaction.draft import WORTH, CompactionSettings
from memcli.compaction.entries import DatedLog, LogEntry, cut
from memcli.compaction.plan import split_tail
from memcli.compaction.sentences import sentences
from memcli.compaction.summaries import problems
from memcli.language.salience import HARD
from memcli.markdown.parse import parse
from memcli.search.validity import leaves_of
from memcli.types import SourceLines
from tests.compaction.support import make_log, plan_of, read_back

SAMPLE = """
the pool ran dry because every worker held a handle while waiting must never decided 250 ms OPS-417
`db.wait` 14 March promised deadline no longer instead of coffee beans river kids 我们 决定 三点
不要 部署 数据库 昨天 去了 厦门 鼓浪屿。 東京 (memory/x.md:3) <!-- --> [x] **Ann**: .
"""
WORDS = st.sampled_from(SAMPLE.split())
LINE = st.lists(WORDS, min_size=1, max_size=14).map(" ".join)
BLOCK = st.one_of(
    LINE,
    LINE.map(lambda line: f"{line}?"),
    LINE.map(lambda line: f"{line}:"),
    st.lists(LINE, min_size=1, max_size=6).map(lambda lines: "\n".join(f"- {x}" for x in lines)),
    st.lists(LINE, min_size=1, max_size=6).map(lambda lines: "\n".join(["```", *lines, "```"])),
    st.just("| a | b |\n|---|---|\n| 1 | 2 |"),
    LINE.map(lambda line: f"## {line}"),
)
TEXT = st.lists(BLOCK, min_size=1, max_size=8).map("\n\n".join)
LOGS = st.lists(TEXT, min_size=1, max_size=9).map(
    lambda texts: [make_log(f"2025-03-{n:02}", text) for n, text in enumerate(texts, start=1)]
)
WANTED = st.builds(
    CompactionSettings,
    tail_entries=st.integers(0, 4),
    tail_days=st.integers(0, 6),
    cluster=st.integers(2, 4),
    ratio=st.sampled_from([0.1, 0.3, 0.6]),
    context_tokens=st.sampled_from([0, 50]),
)
bounded = settings(max_examples=15, deadline=None)


@bounded
@given(logs=LOGS, wanted=WANTED)
def test_a_plan_covers_each_record_once_or_says_why_not(
    logs: Sequence[DatedLog], wanted: CompactionSettings
) -> None:
    plan = plan_of(logs, wanted)
    tail, waiting = set(map(_place, plan.tail)), set(map(_place, plan.waiting))
    declined = [s for d in plan.declined for s in d.sources]
    assert len(waiting) < wanted.cluster
    covered = [s for d in plan.drafts for s in d.lineage.sources]
    for entry in plan.entries:
        owners = [s for s in covered if _holds(s, entry)]
        outside = _place(entry) in tail | waiting or any(_holds(s, entry) for s in declined)
        assert len(owners) == (0 if outside else 1), entry
        assert _place(entry) not in tail or not any(_touches(s, entry) for s in covered)


@bounded
@given(logs=LOGS, wanted=WANTED)
def test_every_summary_leads_to_leaves_of_is_shorter_and_verifies(
    logs: Sequence[DatedLog], wanted: CompactionSettings
) -> None:
    plan = plan_of(logs, wanted)
    summaries = read_back(logs, plan.drafts)
    sources = {summary.path: summary.lineage.sources for summary in summaries}
    lengths = {log.path: len(log.lines) for log in logs}
    for summary in summaries:
        leaves = leaves_of(summary.path, sources)
        assert leaves
        assert all(1 <= s.start_line <= s.end_line <= lengths[s.path] for s in leaves)
        most = max(WORTH, wanted.ratio) * summary.lineage.source_tokens
        assert summary.lineage.summary_tokens <= most
    assert problems(summaries) == []


@bounded
@given(logs=LOGS, wanted=WANTED, vectors=st.booleans())
def test_the_same_logs_give_the_same_bytes_and_a_second_run_adds_nothing(
    logs: Sequence[DatedLog], wanted: CompactionSettings, vectors: bool
) -> None:
    first = plan_of(logs, wanted, vectors=vectors)
    assert plan_of(logs[::-1], wanted, vectors=vectors) == first
    assert plan_of(logs, wanted, read_back(logs, first.drafts), vectors=vectors).drafts == ()


@bounded
@given(logs=LOGS, wanted=WANTED)
def test_what_must_survive_does_word_for_word(
    logs: Sequence[DatedLog], wanted: CompactionSettings
) -> None:
    plan = plan_of(logs, wanted)
    for draft in plan.drafts:
        ranges = {(s.path, n) for s in draft.lineage.sources
                  for n in range(s.start_line, s.end_line + 1)}  # fmt: skip
        for entry in plan.entries:
            if (entry.log.path, entry.start_line) not in ranges:
                continue
            for sentence in sentences(entry):
                assert sentence.reason not in HARD or sentence.text in draft.body


@bounded
@given(text=TEXT)
def test_records_cover_every_block_once_and_cut_no_list(text: str) -> None:
    log = make_log("2025-03-01", text)
    entries = cut(log)
    blocks = parse(text).blocks
    lines = [n for r in entries for n in range(r.start_line, r.end_line + 1)]
    assert len(lines) == len(set(lines))
    assert {n + 1 for b in blocks for n in range(b.start, b.end)} <= set(lines)
    for before, after in pairwise(blocks):
        if before.kind == after.kind == "item":
            assert any(
                r.start_line <= before.start + 1 and after.end <= r.end_line for r in entries
            )


@bounded
@given(logs=LOGS, least=st.integers(0, 6), days=st.integers(0, 12))
def test_the_tail_is_the_newest_days_and_at_least_so_many_entries(
    logs: Sequence[DatedLog], least: int, days: int
) -> None:
    entries = [entry for log in logs for entry in cut(log)]
    eligible, tail = split_tail(entries, least=least, days=days)
    assert eligible + tail == entries
    assert len(tail) >= min(least, len(entries))
    recent = [r for r in entries if int(r.log.date[-2:]) > int(entries[-1].log.date[-2:]) - days]
    assert len(tail) == max(min(least, len(entries)), len(recent))


def _place(entry: LogEntry) -> tuple[str, int]:
    return entry.log.path, entry.start_line


def _holds(lines: SourceLines, entry: LogEntry) -> bool:
    inside = lines.start_line <= entry.start_line and entry.end_line <= lines.end_line
    return lines.path == entry.log.path and inside


def _touches(lines: SourceLines, entry: LogEntry) -> bool:
    apart = lines.end_line < entry.start_line or entry.end_line < lines.start_line
    return lines.path == entry.log.path and not apart
