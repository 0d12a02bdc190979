"""A summary tells the news: what was said already, here or in the summary before, it does not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from memcli.compaction.compose import EntrySummary, body, with_titles
from memcli.compaction.sentences import Sentence
from memcli.compaction.summaries import Summary
from tests.commands import record
from tests.compaction.support import make_log, plan_of, read_back, settings
from tests.support import write

OPENING = "The team met in the usual room and everybody was in a good mood today."
CLOSING = "The meeting ended early and the team went for coffee together."
EVENTS = """
The heater in the east office broke and Levente borrowed two from the workshop.
Priya showed the carriers the new label printer and they liked it.
A pigeon flew into the server room and tripped the main fuse.
Tomas found the missing parcels behind the old conveyor belt.
Odette asked for the invoices of the whole summer in one folder.
Jun taught the interns how to read a flame graph.
The bakery next door flooded our cellar and soaked the spare cables.
Ilse came back from Lisbon with a contract for the harbour depot.
Somebody painted the loading dock green without asking anyone.
The night shift lost the keys to the archive and slept in the van.
Mira drew the new warehouse map by hand and hung it in the hall.
Our best forklift driver leaves us for the railway museum.
The customs officer stopped a lorry full of garden gnomes.
A lightning strike killed the radio mast on the roof.
Gregor baked a cake in the shape of a pallet for the auditors.
The parrots of the neighbour have learnt to imitate our alarm.
""".strip().split("\n")


def stand_up(event: str) -> str:
    return f"{OPENING}\n\n{event}\n\n{CLOSING}\n"


def compact(notes: Path, *arguments: str) -> Any:
    return record(
        "compact", "-w", str(notes), "--show", "--tail", "0", "--tail-days", "0", *arguments
    )


@pytest.mark.parametrize("encoder", ["hashing", "none", "bundled"])
def test_sixteen_stand_ups_keep_their_events_and_drop_what_recurs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoder: str
) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", encoder)
    for day, event in enumerate(EVENTS, start=1):
        write(tmp_path, f"memory/2025-03-{day:02}.md", f"# 2025-03-{day:02}\n\n{stand_up(event)}")
    made = compact(tmp_path, "--cluster", "8", "--apply")["summaries"]
    first, second = (re.findall(r"^- (.*) \(.*\)$", each["text"], re.MULTILINE) for each in made)
    assert first + second == EVENTS
    asked, got = (sum(each["tokens"][n] for each in made) for n in ("sources", "summary"))
    assert got <= 0.45 * asked
    assert compact(tmp_path, "--verify")["problems"] == []


def test_the_share_of_the_news_that_is_told_makes_the_confidence() -> None:
    """The one sentence that .01 of the tokens allow is as central among ten as among three.

    Two sentences per entry would be declined: one of each saves less than 40 %.
    """

    def confidence(count: int) -> float:
        logs = [make_log(f"2025-03-0{n}", "\n\n".join(EVENTS[8 * n - 8 :][:count])) for n in (1, 2)]
        (draft,) = plan_of(logs, settings(cluster=2, ratio=0.01)).drafts
        return draft.lineage.confidence

    assert confidence(4) > confidence(6) > confidence(8)


def test_what_the_summary_before_tells_is_not_told_again() -> None:
    logs = [make_log(f"2025-03-{n:02}", stand_up(event)) for n, event in enumerate(EVENTS[:9], 1)]
    first = plan_of(logs[:5], settings(cluster=5, ratio=0.75))
    before: list[Summary] = read_back(logs[:5], first.drafts)
    (draft,) = plan_of(logs, settings(cluster=4, ratio=0.6), before).drafts
    assert OPENING in first.drafts[0].body
    assert OPENING not in draft.body
    assert all(event in draft.body for event in EVENTS[5:9])


def test_a_run_is_counted_behind_the_last_one_there_was() -> None:
    logs = [make_log(f"2025-03-{n:02}", stand_up(event)) for n, event in enumerate(EVENTS[:9], 1)]
    first = read_back(logs[:6], plan_of(logs[:6], settings(cluster=3, ratio=0.9)).drafts)
    assert len(first) == 2
    told = [
        each._replace(lineage=each.lineage._replace(run=run))
        for run, each in zip((4, 2), first, strict=True)
    ]
    assert [
        draft.lineage.run for draft in plan_of(logs, settings(cluster=3, ratio=0.9), told).drafts
    ] == [5]


def test_a_chat_does_not_begin_with_a_filler() -> None:
    chat = """
- **Ann**: Hey Bo! Good to see you! How have you been?
- **Bo**: Wow, that's cool, Ann! Thanks for asking!
- **Ann**: I went to the pottery fair in Lund yesterday.
- **Bo**: Wow, that's cool, Ann! What happened there?
- **Ann**: I bought a blue bowl and met the potter.
- **Bo**: Totally agree, Ann! You find something nice every time.
""".strip()
    other = """
- **Bo**: Good morning! How are you doing?
- **Ann**: Great, thanks! That sounds awesome, Bo!
- **Bo**: My sister moved to Bergen last week with her two dogs.
- **Ann**: Wow, that's so cool! You can be proud of her!
""".strip()
    (draft,) = plan_of(
        [make_log("2025-03-01", chat), make_log("2025-03-02", other)], settings(cluster=2)
    ).drafts
    told = [line for line in draft.body.split("\n") if line.startswith("- ")]
    assert told[0] == "- Ann: I went to the pottery fair in Lund yesterday. (01:3)"
    assert "- Bo: My sister moved to Bergen last week with her two dogs. (02:3)" in told
    assert "cool" not in draft.body


def test_plain_lines_that_nothing_shortens_are_declined_rather_than_told_by_nothing() -> None:
    logs = [make_log(f"2025-03-0{n}", EVENTS[n]) for n in (1, 2)]
    plan = plan_of(logs, settings(cluster=2))
    assert plan.drafts == ()
    assert [d.reason for d in plan.declined] == ["the shortest summary costs 40 of 33 tokens"]


def test_expand_adds_what_the_question_asks_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    chatter = [
        f"The {dish} class of the family was fun, and the kitchen smelled of {dish} for days."
        for dish in ("pizza", "pasta", "risotto", "gnocchi", "focaccia", "lasagna", "tiramisu")
    ]
    lines = [*chatter, "John began the aikido class of Sensei Mori in March after a long break."]
    for day, line in enumerate(lines, start=1):
        rest = f"{EVENTS[day - 1]} {EVENTS[day + 7]}"
        write(tmp_path, f"memory/2025-03-0{day}.md", f"{rest}\n\n{line}\n\n{rest}")
    compact(tmp_path, "--cluster", "8", "--ratio", "0.1", "--apply")
    asked = ("search", "when did John begin the aikido class of Sensei Mori", "-w", str(tmp_path))
    added = [each["text"] for each in record(*asked, "--view", "active", "--expand")["expanded"]]
    assert ["aikido" in text for text in added] == [True]  # of eight logs


def test_each_log_of_which_nothing_is_quoted_is_cited_once() -> None:
    first, second = "memory/2025-03-01.md", "memory/2025-03-02.md"
    line = Sentence("It rained.", first, 2, 2, "", "", "")
    entries = [
        EntrySummary(day, (day,), path, at, at + 1, told)
        for day, path, at, told in (
            ("2025-03-01", first, 1, (line,)), ("2025-03-01", first, 4, ()),
            ("2025-03-02", second, 1, ()), ("2025-03-02", second, 4, ()),
        )
    ]  # fmt: skip
    assert body(entries).split("\n") == [
        "## 2025-03", "- It rained. (01:2)", "- … (02:1-2)", "",
    ]  # fmt: skip


def test_headings_below_the_title_stand_once_if_they_cost_little() -> None:
    day, path = "2025-03-01", "memory/2025-03-01.md"
    text = "It rained all day long, and we walked along the river to the old mill and back again."
    entries = [
        EntrySummary(
            day, ("Log", *own), path, at, at, (Sentence(text * 2, path, at, at, "", "", ""),)
        )
        for at, own in ((7, ("Walk", "Log", "Far")), (9, ("Walk", "Far")), (11, ("At 10:32",)))
    ]
    assert body(with_titles(entries)).split("\n") == [
        f"## {day} Log", "", "### Walk > Far",
        *(f"- {text * 2} (:{at})" for at in (7, 9, 11)), "",
    ]  # fmt: skip
    short = entries[0]._replace(sentences=(Sentence("It rained.", path, 7, 7, "", "", ""),))
    assert body(with_titles([short])).split("\n") == [f"## {day} Log", "- It rained. (:7)", ""]
