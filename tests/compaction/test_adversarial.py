"""Clusters made to mislead a summariser: what must survive does, word for word."""

from __future__ import annotations

import pytest

from memcli.compaction.entries import cut
from memcli.compaction.extract import SummaryLines, extract
from memcli.compaction.sentences import sentences
from memcli.compaction.similarity import idf
from memcli.language.tokens import measure
from tests.compaction.support import make_log, plan_of, settings

FILLER = """The weather was mild and the coffee in the kitchen tasted like every other day.
We talked about holidays for a while, and about the new chairs near the window.
Somebody had left the lights on again, which nobody found worth a second thought.
Lunch took longer than planned because the place around the corner was crowded.
The afternoon went by quietly, with a walk along the canal and small talk about films."""
FILLER_ZH = """今天天气不错，大家在厨房里喝咖啡聊天，聊了很久关于假期的事情。
有人又忘了关灯，不过谁也没有在意这件小事，就这样过去了。
午饭排队排了很长时间，因为街角那家店人特别多，味道倒是一般。
下午沿着河边散步，聊了聊最近上映的电影，过得很轻松。"""

CASES = {
    "negation": (
        ["You must deploy on Mondays.", "You must not deploy on Fridays."],
        ["You must deploy on Mondays.", "You must not deploy on Fridays."],
    ),
    "changed mind": (
        ["We decided to use MySQL.", "We will use PostgreSQL instead of MySQL.",
         "We decided to use MySQL."],
        ["We decided to use MySQL.", "We will use PostgreSQL instead of MySQL."],
    ),
    "one digit apart": (
        ["Account 10482 is the customer's.", "Account 10483 is the supplier's."],
        ["Account 10482 is the customer's.", "Account 10483 is the supplier's."],
    ),
    "polarity": (
        ["Odette approved the budget of 2,900 EUR.", "Ilse rejected the budget of 2,900 EUR."],
        ["Odette approved the budget of 2,900 EUR.", "Ilse rejected the budget of 2,900 EUR."],
    ),
    "superseded decision": (
        ["Cutover deadline: 15 October 2025.",
         "The date of 15 October no longer holds. New cutover deadline: 5 November 2025."],
        ["The date of 15 October no longer holds.",
         "New cutover deadline: 5 November 2025. [replaces 2025-03-01:"],
    ),
    "short answer": (
        ["- **Ann**: Shall we stop selling on Sundays?\n- **Bo**: Agreed."],
        ["Ann: Shall we stop selling on Sundays? Bo: Agreed."],
    ),
    "promise": (
        ["Jun promised Levente the keys to the archive before spring."],
        ["Jun promised Levente the keys to the archive before spring."],
    ),
    "code": (
        ["Settings of that run:\n\n```yaml\nhttp:\n  keepalive: 75\ndb:\n  pool_size: 20\n"
         "  pool_wait_ms: 2000\n```"],
        ["[yaml code, 5 lines: pool_size, pool_wait_ms] (:7-15)"],
    ),
    "table": (
        ["| carrier | p95 ms |\n|---|---:|\n| Nordpak | 210 |\n| Velopost | 143 |"],
        ["[table, 2 rows: Nordpak, Velopost; columns carrier, p95 ms] (:7-10)"],
    ),
    "heat": (
        ["Warm: 34 degrees, stopped at 14:00. Rule for heat days: start at 6, stop at 13."],
        ["Rule for heat days: start at 6, stop at 13."],
    ),
    "Regel": (["Regel im Sommer: Beginn um sechs."], ["Regel im Sommer: Beginn um sechs."]),
    "规则": (["规则：夏天早上六点开始。"], ["规则：夏天早上六点开始。"]),
    "another day": (
        ["Levente moves from Thursday to Friday, as the keys arrive then."],
        ["Levente moves from Thursday to Friday, as the keys arrive then."],
    ),
    "new value behind": (
        ["The planting was moved, as the trees came with insects. New date 23 June."],
        ["The planting was moved, as the trees came with insects. New date 23 June."],
    ),
    "instead": (
        ["Decision: I do not repair the van. I look for a cargo bike instead."],
        ["Decision: I do not repair the van. I look for a cargo bike instead."],
    ),
    "new value before": (
        ["Jun has a new number, the one of her mother. The landline is cancelled."],
        ["Jun has a new number, the one of her mother. The landline is cancelled."],
    ),
    "base64": (
        [f"The key is {'QUJD' * 40} and must never be printed."],
        ["The key is [data, 160 characters] and must never be printed."],
    ),
    "Chinese": (
        ["决定：接口返回 422 时不重试。", "王芳答应三月十五号交报告。", "押金三千元，不能退。"],
        ["决定：接口返回 422 时不重试。", "王芳答应三月十五号交报告。", "押金三千元，不能退。"],
    ),
    "Japanese": (["本番環境では絶対に直接編集しない。"], ["本番環境では絶対に直接編集しない。"]),
    "German": (
        ["Wir haben beschlossen, den Dienst abzuschalten.", "Das darf niemand weitergeben."],
        ["Wir haben beschlossen, den Dienst abzuschalten.", "Das darf niemand weitergeben."],
    ),
    "identifier": (
        ["Look at `db.pool_wait_ms`, OPS-417 and https://example.org/a?b=c first."],
        ["Look at `db.pool_wait_ms`, OPS-417 and https://example.org/a?b=c first."],
    ),
    "looks like a citation": (
        ["We must keep the note (memory/2030-01-01.md:1)."],
        ["We must keep the note (memory/2030-01-01.md:1). (:7)"],
    ),
}  # fmt: skip


def _told(lines: list[str]) -> tuple[str, int]:
    """Give the summary of two days that hold `lines` among much that is not worth telling."""
    filler = FILLER_ZH if any("\u3040" <= c <= "\u9fff" for c in "".join(lines)) else FILLER
    first = "\n\n".join(["## Talk", *filler.split("\n")[:2], *lines, filler])
    second = "\n\n".join(["## Day", filler, filler])
    logs = [make_log("2025-03-01", first), make_log("2025-03-02", second)]
    plan = plan_of(logs, settings(cluster=2, ratio=0.35))
    texts = "\n".join(draft.body for draft in plan.drafts)
    assert not plan.declined
    return texts, sum(measure("\n".join(log.lines)) for log in logs)


@pytest.mark.parametrize("name", CASES)
def test_what_must_survive_does(name: str) -> None:
    lines, wanted = CASES[name]
    told, raw = _told(lines)
    assert [text for text in wanted if text not in told] == []
    assert measure(told) < 0.7 * raw


def test_a_decision_taken_back_is_told_in_its_order() -> None:
    told, _ = _told(CASES["changed mind"][0])
    assert told.count("We decided to use MySQL.") == 1
    assert told.index("instead of MySQL. [replaces ") < told.index("We decided to use MySQL.")


def test_lines_that_all_must_survive_are_declined() -> None:
    text = "\n".join(f"- Rule {n}: you must never touch valve {n}." for n in range(10, 16))
    plan = plan_of([make_log(f"2025-03-0{n}", text) for n in (1, 2)], settings(cluster=2))
    assert plan.drafts == ()
    assert [d.reason for d in plan.declined] == ["the shortest summary costs 95 of 126 tokens"]


def test_background_that_the_summary_before_tells_is_not_told_again() -> None:
    lines = [
        "The river house near the old mill belongs to the family of the miller.",
        "The river house near the old mill was painted by the miller himself.",
        "A heron has built its nest upon the chimney this spring.",
    ]
    (entry,) = cut(make_log("2025-03-01", "\n\n".join(lines)))
    told = [sentence._replace(speaker="Ann") for sentence in sentences(entry)]  # no opening
    weights = idf(lines)

    def chosen(before: SummaryLines) -> frozenset[int]:
        group = [range(3)]
        return extract(told, before, weights, forced=(), groups=group, embed=None).chosen

    assert chosen(SummaryLines()) == {2}
    assert chosen(SummaryLines(text=lines[2])) != {2}
    assert chosen(SummaryLines(last=(lines[2],))) != {2}  # in other words
    assert chosen(SummaryLines("\n".join(lines[:2]), tuple(lines[:2]))) == {2}


@pytest.mark.parametrize("ratio", [0.3, 0.45, 0.6])
def test_what_may_be_left_out_fills_the_ratio_and_no_more(ratio: float) -> None:
    names, things = ("Ann", "Bo", "Cid", "Dora", "Egon"), ("pump", "valve", "boiler", "filter")
    logs = [
        make_log(
            f"2025-03-0{day}",
            "\n\n".join(
                f"{names[(3 * day + n) % 5]} drove to town and looked at another"
                f" {things[(day + n) % 4]} which was {things[n % 3]}-like and rather old."
                for n in range(12)
            ),
        )
        for day in (1, 2)
    ]
    (draft,) = plan_of(logs, settings(cluster=2, ratio=ratio)).drafts
    assert draft.lineage.run == 1
    assert draft.lineage.summary_tokens <= ratio * draft.lineage.source_tokens
