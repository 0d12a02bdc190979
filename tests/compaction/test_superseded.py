"""A decision that was taken back is told with what came in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import printed, record
from tests.compaction.support import make_log, plan_of, read_back, settings
from tests.support import write

FILLER = "\n\n".join(
    f"The {thing} in the kitchen was as {how} as ever, and nobody had much to say about it."
    for thing, how in (
        ("coffee", "bitter"),
        ("light", "dim"),
        ("window", "dirty"),
        ("radio", "loud"),
    )
)
OLD = "We decided to use MySQL for the order store."
NEW = "The order store will use PostgreSQL instead of MySQL."

PAIRS = {
    "instead of": (OLD, NEW, True),
    "no longer": ("We agreed that orders are printed on paper.",
                  "It was decided that orders are no longer printed on paper.", True),
    "moved to": ("The retrospective was moved to Tuesday afternoon.",
                 "The retrospective was moved to Thursday afternoon.", True),
    "below a heading": (OLD, "## Order store: PostgreSQL instead of MySQL\n\nAgreed by all.", True),
    "a version": ("We will use MySQL 8.0 for the new order store.", NEW, True),
    "Chinese": ("我们决定用 MySQL 存订单。", "订单改用 PostgreSQL，不再用 MySQL 存订单。", True),
    "another thing": (OLD, "The search store will use Lucene instead of Solr.", False),
    "it replaces another": (OLD, "The order store will use MySQL instead of files.", False),
    "no change": (OLD, "We decided to use MySQL for the order store again.", False),
    "a deadline": ("Cutover deadline for the order store: 15 October 2025.",
                   "New cutover deadline: 5 November 2025.", True),
    "for a group": ("We decided that the fee for the pool is 12 euros.",
                    "We decided that the pool fee is cancelled for kids.", False),
    "a fact": ("The planting is on 16 June.", "The planting was moved to 23 June.", True),
    "a rule": ("We must never deploy the order store on Friday.",
               "We decided to no longer deploy the order store by hand on Friday.", False),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_a_corrected_decision_gives_way_to_a_citation(name: str) -> None:
    old, new, is_taken_back = PAIRS[name]
    logs = [
        make_log("2025-03-01", f"{old}\n\n{FILLER}"),
        make_log("2025-03-02", f"{new}\n\n{FILLER}"),
    ]
    (draft,) = plan_of(logs, settings(cluster=2)).drafts
    line = 1 + new.count("\n")
    mark = " [replaces 2025-03-01:1]" if is_taken_back else ""
    new = new.rpartition("\n")[2]
    assert (f"{old} (01:1)\n" in draft.body) == (not is_taken_back)
    assert f"{new}{mark} (02:{line})" in draft.body
    assert [summary.state for summary in read_back(logs, [draft])] == ["valid"]


def test_the_new_value_shares_the_line_and_the_mark_of_the_correction() -> None:
    new = "The planting was moved, as the trees came with insects. New date 23 June."
    logs = [
        make_log("2025-03-01", f"The planting is on 16 June.\n\n{FILLER}"),
        make_log("2025-03-02", f"{new}\n\n{FILLER}"),
    ]
    (draft,) = plan_of(logs, settings(cluster=2)).drafts
    assert f"- {new} [replaces 2025-03-01:1] (02:1)\n" in draft.body
    assert "16 June" not in draft.body
    assert [summary.state for summary in read_back(logs, [draft])] == ["valid"]


def test_a_correction_cites_a_decision_of_an_earlier_summary() -> None:
    """That summary keeps it with its reasons, and its line is a source of the new one."""
    old = f"{OLD}\n\nReasons:\n\n- The team runs two clusters of it.\n- It has backups."
    texts = [f"{old}\n\n{FILLER}", FILLER, f"{NEW}\n\n{FILLER}", FILLER]
    logs = [make_log(f"2025-03-0{n}", text) for n, text in enumerate(texts, start=1)]
    drafts = plan_of(logs, settings(cluster=2)).drafts
    line = f"- {NEW} [replaces 2025-03-01:1] (03:1)\n"
    whole = f"- {OLD} Reasons: The team runs two clusters of it. It has backups. (01:1-6)\n"
    assert whole in drafts[0].body
    assert line in drafts[1].body
    assert [(s.path, s.start_line, s.end_line) for s in drafts[1].lineage.sources] == [
        ("memory/2025-03-01.md", 1, 1), ("memory/2025-03-03.md", 1, 9),
        ("memory/2025-03-04.md", 1, 7),
    ]  # fmt: skip
    assert drafts[1].path == "memory/summaries/2025-03-03--2025-03-04.md"
    assert {summary.state for summary in read_back(logs, drafts)} == {"valid"}
    (after,) = plan_of(logs, settings(cluster=2), read_back(logs, drafts[:1])).drafts
    assert after.body == drafts[1].body
    logs += [make_log(f"2025-03-0{n}", f"{NEW}\n\n{FILLER}") for n in (5, 6)]
    (again,) = plan_of(logs, settings(cluster=2), read_back(logs, drafts)).drafts
    assert "[replaces 2025-03-01:1]" not in again.body
    (one,) = plan_of(logs[:4], settings(cluster=4)).drafts
    assert line in one.body
    assert "backups" not in one.body


def test_a_decision_whose_lines_have_moved_is_not_cited_where_it_was() -> None:
    logs = [make_log("2025-03-01", f"{OLD}\n\n{FILLER}"), make_log("2025-03-02", FILLER)]
    (draft,) = plan_of(logs, settings(cluster=2)).drafts
    logs[0] = make_log("2025-03-01", f"A line on top.\n\n{OLD}\n\n{FILLER}")
    logs += [make_log("2025-03-03", f"{NEW}\n\n{FILLER}"), make_log("2025-03-04", FILLER)]
    (before,) = read_back(logs, [draft])
    assert before.is_valid
    plan = plan_of(logs, settings(cluster=2), [before])
    told = "".join(new.body for new in plan.drafts)
    assert f"{NEW} [replaces 2025-03-01:3]" in told
    assert "(01:1)" not in told
    assert {summary.state for summary in read_back(logs, plan.drafts)} == {"valid"}


def test_a_reason_in_another_log_does_not_go_with_a_decision() -> None:
    reason = "The insurer refused to pay."
    texts = [f"{FILLER}\n\n{OLD}", f"## Why the barn closes\n\n{reason}\n\n{FILLER}", NEW, FILLER]
    logs = [make_log(f"2025-03-0{n}", text) for n, text in enumerate(texts, start=1)]
    (draft,) = plan_of(logs, settings(cluster=4)).drafts
    assert (OLD in draft.body, reason in draft.body) == (False, True)


@pytest.mark.parametrize("view", ["raw", "all", "active"])
def test_search_shows_the_newer_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, view: str
) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    texts = [f"{OLD}\n\n{FILLER}", FILLER, f"{NEW}\n\n{FILLER}", FILLER]
    for n, text in enumerate(texts, start=1):
        write(tmp_path, f"memory/2025-03-0{n}.md", text)
        if n % 2 == 0:  # a run for each summary
            printed("compact", "-w", str(tmp_path), "--tail", "0", "--tail-days", "0",
                    "--cluster", "2", "--ratio", "0.9", "--apply")  # fmt: skip
    asked = ("search", "MySQL for the order store", "-w", str(tmp_path), "--view", view, "--more")
    results = record(*asked)["results"]
    found = [(passage["path"], passage["snippet"]) for passage in results]
    newest, oldest = ("memory/2025-03-03.md", "memory/2025-03-01.md")
    cites = {each["citation"] for passage in results for each in passage.get("corrected_by", ())}
    assert cites == {f"{newest}:1"}  # the log, also if a summary quotes it
    assert NEW in found[0][1]
    paths = [path for path, _ in found]
    if view == "active":
        assert not {newest, oldest} & set(paths)
    if view == "raw":
        assert paths.index(newest) < paths.index(oldest)
    marks = [f"{NEW} [replaces 2025-03-01:1]" in text for _, text in found]
    assert any(marks) == (view != "raw")
    summary = "memory/summaries/2025-03-01--2025-03-02.md"
    (line,) = record("get", summary, "-w", str(tmp_path))["corrected_by"]
    assert (line["line"], line["citation"]) == (line["last_line"], f"{newest}:1")


@pytest.mark.parametrize("view", ["all", "active"])
def test_a_summary_is_no_correction_of_the_lines_it_summarizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, view: str
) -> None:
    """It is dated by its last day, and its lines of the first one speak of a change."""
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    days = {
        "2025-02-01": "The gateway certificate was installed by Tomas.",
        "2025-03-01": "Tomas replaced the gateway certificate on the proxy.",
        "2025-03-09": "The gateway was restarted because the certificate had expired.",
    }
    for day, text in days.items():
        write(tmp_path, f"memory/{day}.md", f"# Day\n\n{text}\n\n{FILLER}\n")
    place = ("-w", str(tmp_path), "--now", "2026-02-20")
    printed("compact", "--tail", "0", "--tail-days", "0", "--ratio", "0.9", "--cluster", "3",
            "--apply", *place)  # fmt: skip
    asked = ("Tomas replaced the gateway certificate", "--view", view, "--superseded", "--explain")
    results = record("search", *asked, *place)["results"]
    summaries = [passage for passage in results if "summaries/" in passage["path"]]
    assert summaries
    for passage in results:
        assert "newer" not in [step["stage"] for step in passage["trace"]]
        corrected = [(old["path"], old["date"]) for old in passage.get("superseded", [])]
        assert set(corrected) <= {("memory/2025-02-01.md", "2025-02-01")}
