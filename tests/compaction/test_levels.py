"""Summaries that have become old are summarised again, eight at a time."""

from __future__ import annotations

from memcli.compaction.entries import DatedLog
from memcli.compaction.summaries import problems
from memcli.markdown.lineage import cited_lines
from tests.compaction.support import make_log, plan_of, read_back, settings

PLACES = ("barn", "mill", "harbour", "chapel", "quarry", "orchard", "bakery", "station")
TITLE = "Notes of the garden"


def _logs(days: int) -> list[DatedLog]:
    """Give logs of which each states one fact, and every second one has a title."""
    logs = []
    for n in range(days):
        day = f"2025-{3 + n // 28:02}-{1 + n % 28:02}"
        text = (
            f"We planted {n + 40} trees behind the {PLACES[n % 8]} and paid {90 + n} EUR\n\n"
            "It was a quiet day and nobody had much to say about the weather or the news.\n\n"
            "We had coffee, and then more coffee, and went home when it was dark."
        )
        log = make_log(day, f"# {TITLE}\n\n{text}" if n % 2 else text)
        logs.append(log._replace(title=TITLE) if n % 2 else log)
    return logs


def test_old_summaries_are_summarised_again_and_lead_to_the_logs() -> None:
    logs, wanted = _logs(30), settings(cluster=3, ratio=0.5, tail_days=4)
    plan = plan_of(logs, wanted)
    summaries = read_back(logs, plan.drafts)
    assert problems(summaries) == []
    assert {summary.state for summary in summaries} == {"valid"}
    first = [s for s in summaries if s.lineage.level == 1]
    again = [s for s in summaries if s.lineage.level == 2]
    assert [s.lineage.parents for s in again] == [
        tuple(s.path for s in first[at : at + 3]) for at in (0, 3)
    ]
    assert all(s.lineage.latest < "2025-03-19" for s in again)  # three times the tail
    below = {(c.path, c.first) for s in first for _, c in cited_lines(s.text)}
    shown = {(c.path, c.first) for s in again for _, c in cited_lines(s.text)}
    assert shown < below
    assert f"{TITLE}\n" in again[0].text
    # A second run adds nothing, and what no other summary contains is counted once.
    assert plan_of(logs, wanted, summaries).drafts == ()
    inside = sum(s.lineage.summary_tokens for s in first[:6])
    whole = sum(s.lineage.source_tokens for s in first)
    assert plan.tokens == (whole, sum(s.lineage.summary_tokens for s in summaries) - inside)


def test_a_changed_log_leaves_only_its_own_summaries_out_of_use() -> None:
    logs, wanted = _logs(30), settings(cluster=3, ratio=0.5, tail_days=4)
    drafts = plan_of(logs, wanted).drafts
    logs[0] = logs[0]._replace(lines=("We planted nothing.", *logs[0].lines[1:]))
    states = {s.path: s.state for s in read_back(logs, drafts)}
    changed = [path for path, state in states.items() if state != "valid"]
    assert changed == [drafts[0].path, next(d.path for d in drafts if d.lineage.level == 2)]


def test_the_marks_of_a_line_are_added_up_and_a_correction_loses_its_citation() -> None:
    """Its older line is not in a summary, so a summary of summaries cannot cite it."""
    filler = "\n\n".join(f"The {place} was as quiet as ever, and nobody spoke." for place in PLACES)
    old, new = "We decided to use MySQL for the order store", "The order store will use PostgreSQL"
    texts = [old, "The pump is fine.", f"{new} instead of MySQL", "The pump is fine."]
    logs = [make_log(f"2025-03-{n:02}", f"{text}\n\n{filler}") for n, text in enumerate(texts, 1)]
    logs.append(make_log("2025-04-09", "Late."))
    plan = plan_of(logs, settings(cluster=2, tail_days=2))
    summaries = read_back(logs, plan.drafts)
    assert [(s.lineage.level, s.state) for s in summaries] == [
        (1, "valid"),
        (1, "valid"),
        (2, "valid"),
    ]
    assert "instead of MySQL [replaces 2025-03-01:1] (03:1)" in summaries[1].text
    assert "instead of MySQL (03:1)" in summaries[2].text
