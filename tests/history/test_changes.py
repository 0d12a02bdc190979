"""What a memory has learned, told by day and section."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.history.differences import ADDED, CHANGED, MOVED, REMOVED, compare, passages
from tests.commands import checked, say
from tests.history.repositories import begin, commit, git

SPAN = ("--since", "2026-01-01", "--now", "2026-03-05")


def told(before: dict[str, str], after: dict[str, str]) -> list[tuple[str, str, str]]:
    """Compare two states: (kind, old text, new text) of each change."""
    sides = (
        {("memory", path): passages(("memory", path), text) for path, text in side.items()}
        for side in (before, after)
    )
    return [
        (c.kind, c.old.key if c.old else "", c.new.key if c.new else "")
        for c in compare(*sides).changes
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("# A\n\nThe pool has 10 seats.\n", "# A\n\nThe pool has 40 seats.\n",
         [(CHANGED, "The pool has 10 seats.", "The pool has 40 seats.")]),
        ("# A\n\none two\nthree four\n", "# A\n\n\none\ntwo three   four\n\n", []),
        ("- one\n- two\n", "- one\n- new thing\n- two\n", [(ADDED, "", "- new thing")]),
        ("- one\n- two\n", "- two\n", [(REMOVED, "- one", "")]),
        ("# A\n\nwe ship on Mondays\n\n# B\n\nfox\n",
         "# A\n\nbeans\n\n# B\n\nfox\n\nwe ship on\nMondays\n",
         [(ADDED, "", "beans"), (MOVED, "we ship on Mondays", "we ship on Mondays")]),
        ("# Old\n\n- one fox\n- two\n", "# New\n\n- one fox\n- two\n",
         [(MOVED, "- one fox", "- one fox")]),
        ("", "---\nstatus: open\n---\nx\n", [(ADDED, "", "status: open"), (ADDED, "", "x")]),
        ("---\nstatus: open\n---\nx\n", "---\nstatus: done\n---\nx\n",
         [(CHANGED, "status: open", "status: done")]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n", "| a | b |\n|:--|---|\n| 1 | 2 |\n| 3 | 4 |\n",
         [(ADDED, "", "| 3 | 4 |")]),
        ("one\r\ntwo\r\n", "one\ntwo\n", []),
        ("", "fox\n", [(ADDED, "", "fox")]),
    ],
)  # fmt: skip
def test_passages_are_compared_by_what_they_say(
    before: str, after: str, expected: list[tuple[str, str, str]]
) -> None:
    assert told({"a.md": before}, {"a.md": after}) == expected


def test_what_stands_in_another_file_now_has_moved() -> None:
    old = {"a.md": "# A\n\nwe ship on Mondays\n\nbeans\n", "b.md": "# B\n\nfox\n"}
    new = {"a.md": "# A\n\nbeans\n", "b.md": "# B\n\nfox\n\nwe ship on Mondays\n"}
    assert told(old, new) == [(MOVED, "we ship on Mondays", "we ship on Mondays")]


def test_the_front_matter_of_a_new_file_is_no_news() -> None:
    assert told({}, {"a.md": "---\nstatus: open\n---\nfox\n"}) == [(ADDED, "", "fox")]


def test_each_line_of_a_chat_is_a_passage() -> None:
    chat = (
        "[09:02] Wei: the disk is full\n[09:03] Jonas: I add a volume\n\nOne text\nof two lines.\n"
    )
    keys = [each.key for each in passages(("memory", "chat.md"), chat)]
    assert keys == [*chat.split("\n")[:2], "One text of two lines."]
    wrapped = chat.replace("the disk is full", "the disk\nis full")
    assert [each.key for each in passages(("memory", "chat.md"), wrapped)] == keys


def test_a_file_that_was_renamed_and_edited_is_told_as_both() -> None:
    items = "".join(f"- item {at} of the list\n" for at in range(6))
    before = {("memory", "a.md"): passages(("memory", "a.md"), items)}
    after = {("memory", "b.md"): passages(("memory", "b.md"), items.replace("item 3", "thing 3"))}
    found = compare(before, after)
    assert [(move.old[1], move.new[1]) for move in found.moves] == [("a.md", "b.md")]
    assert [(change.kind, change.new and change.new.key) for change in found.changes] == [
        (CHANGED, "- thing 3 of the list")
    ]


LINES = ("- one fox here", "- two foxes there", "# Head", "", "we ship on Mondays", "beans 1")
documents = st.dictionaries(
    st.sampled_from(("a.md", "b.md", "c.md")),
    st.lists(st.sampled_from(LINES), max_size=6).map("\n".join),
)


@given(before=documents, after=documents)
def test_nothing_is_lost_and_nothing_is_made_up(
    before: dict[str, str], after: dict[str, str]
) -> None:
    """Every passage that is told stood there; what is not told is on both sides as often."""
    found = told(before, after)

    def said(side: dict[str, str]) -> list[str]:
        return sorted(p.key for path, text in side.items() for p in passages(("", path), text))

    old, new = said(before), said(after)
    for kind, was, now in found:
        if kind in (CHANGED, REMOVED):
            old.remove(was)
        if kind in (CHANGED, ADDED):
            new.remove(now)
    assert old == new
    assert told(after, after) == []


def test_days_are_told_the_newest_first_with_old_and_new_lines(notes: Path) -> None:
    short = [git(notes, "rev-parse", "--short=7", name) for name in ("HEAD", "HEAD~1", "HEAD~2")]
    found = say("changes", *SPAN, folder=notes)
    assert found.out == (
        f"2026-03-01 ({short[0]})\n"
        "  memory/2026-02-01.md is now memory/2026-02-01-pool.md\n"
        "\n"
        f"2026-02-10 ({short[1]})\n"
        "  MEMORY.md:3  Rules\n"
        "    - The pool has 10 connections.\n"
        "    + The pool has 40 connections.\n"
        "  memory/2026-02-10.md:3  Pool\n"
        "    + We raised the pool to 40 connections.\n"
        "\n"
        f"2026-02-01 ({short[2]})\n"
        "  MEMORY.md:3  Rules\n"
        "    + The pool has 10 connections.\n"
        "  memory/2026-02-01.md:3  Pool\n"
        "    + The pool ran dry at noon.\n"
    )
    assert (found.code, found.err) == (0, "")


def test_files_that_are_not_committed_are_counted_and_many_commits_too(notes: Path) -> None:
    for number in range(6):
        commit(notes, "2026-03-02", {"MEMORY.md": f"# Rules\n\nThe pool has {number} seats.\n"})
    (notes / "new.md").write_text("A line about falcons.\n", "utf-8")
    found = say("changes", "falcons", *SPAN, folder=notes)
    uncommitted = "not committed and not listed. Try: git status --short\n"
    assert (found.code, found.out) == (0, "")
    assert found.err.startswith(f"memcli: 1 changed file is {uncommitted}")
    (notes / "MEMORY.md").write_text("# Rules\n\nThe pool has 9 seats.\n", "utf-8")
    found = say("changes", *SPAN, folder=notes)
    assert found.out.startswith("2026-03-02 (6 commits)\n")
    assert found.err == f"memcli: 2 changed files are {uncommitted}"
    assert say("changes", *SPAN, "--until", "2026-03-02", folder=notes).err == ""
    early = say("changes", "--until", "2020", folder=notes).err
    assert early.endswith("\nTry: memcli changes --until 2026-02-01\n")


def test_a_long_passage_is_shown_where_it_differs(notes: Path) -> None:
    words = "".join(f"word{number} " for number in range(100))
    long = f"- {words}"
    commit(notes, "2026-03-02", {"memory/x.md": f"{long}old end\n"})
    commit(notes, "2026-03-03", {"memory/x.md": f"{long}new end and more\n"})
    found = say("changes", *SPAN, "--since", "2026-03-03", folder=notes)
    lead = words[-40:]
    assert found.out.endswith(f"    - …{lead}old end\n    + …{lead}new end and more\n")


def test_the_first_file_of_a_folder_is_news_and_none_is_missed(tmp_path: Path) -> None:
    notes = begin(tmp_path / "notes")
    commit(notes, "2026-02-01", {"MEMORY.md": "# Rules\n"})
    commit(notes, "2026-02-02", {"memory/x.md": "fox\n"})
    found = say("changes", *SPAN, "--since", "2026-02-02", folder=notes)
    assert found.out.endswith("  memory/x.md:1\n    + fox\n")
    assert found.err == ""


def test_markdown_holds_what_a_memory_says_in_fences_it_cannot_close(notes: Path) -> None:
    commit(notes, "2026-03-02", {"memory/x.md": "# X\n\n````\n```\nfox\n````\n"})
    found = say("changes", *SPAN, "--since", "2026-03-02", "-f", "markdown", folder=notes)
    short = git(notes, "rev-parse", "--short=7", "HEAD")
    assert found.out == (
        "# New in the notes, 2026-03-02 to 2026-03-02\n"
        f"\n## 2026-03-02 ({short})\n"
        "\n### memory/x.md:3-6, X\n"
        "\n`````diff\n+ ```` ``` fox ````\n`````\n"
    )


def _json(notes: Path, *options: str) -> dict[str, Any]:
    found = say("changes", *options, "--json", folder=notes)
    assert found.code == 0, found.err
    return checked("memcli.changes", found.out)


def test_json_names_the_commit_that_holds_the_old_lines(notes: Path) -> None:
    record = _json(notes, *SPAN)
    assert record["schema"] == "memcli.changes/1"
    (day,) = [each for each in record["days"] if each["day"] == "2026-02-10"]
    (change,) = [each for each in day["changes"] if each["kind"] == CHANGED]
    old = say("get", change["old"]["citation"], "--as-of", day["before"], folder=notes)
    assert old.out == f"{change['old']['text']}\n" == "The pool has 10 connections.\n"
    assert day["counts"] == {ADDED: 1, CHANGED: 1, REMOVED: 0, MOVED: 0}


def test_a_question_ranks_what_changed(notes: Path) -> None:
    record = _json(notes, "noon pool", *SPAN)
    assert [each["new"]["citation"] for each in record["ranked"]][:1] == ["memory/2026-02-01.md:3"]
    scores = [each["score"] for each in record["ranked"]]
    assert scores == sorted(scores, reverse=True)
    none = say("changes", "zebra", *SPAN, folder=notes)
    assert none.out == ""
    assert "contains a word of the question" in none.err


def test_a_commit_begins_and_ends_a_span_as_well(notes: Path) -> None:
    record = _json(notes, "--since", "HEAD~2", "--until", "HEAD~1")
    assert [each["day"] for each in record["days"]] == ["2026-02-10"]
    assert _json(notes, "--since", "HEAD")["days"] == []


def test_a_span_that_ends_before_it_begins_is_refused(notes: Path) -> None:
    found = say("changes", "--since", "HEAD~1", "--until", "HEAD~2", folder=notes)
    assert (found.code, found.out) == (2, "")
    assert "HEAD~1 is not on the line of first parents that ends in " in found.err
    assert found.err.endswith("Try: memcli changes --since 2026-02-01\n")


def test_a_span_without_a_commit_names_the_newest(notes: Path) -> None:
    found = say("changes", "--now", "2026-05-05", folder=notes)
    assert (found.code, found.out) == (0, "")
    assert found.err.endswith("Try: memcli changes --since 2026-03-01\n")


@pytest.mark.parametrize(
    ("until", "now"), [("2026-03-02", "2026-05-05"), ("2026-03", "2026-03-05")]
)
def test_a_week_ends_where_the_span_does_and_today_at_the_latest(
    notes: Path, until: str, now: str
) -> None:
    found = say("changes", "--until", until, "--now", now, "--json", folder=notes)
    assert [day["day"] for day in json.loads(found.out)["days"]] == ["2026-03-01"]


def test_a_shallow_clone_tells_what_it_knows(notes: Path) -> None:
    shallow = notes.parent / "shallow"
    git(notes.parent, "clone", "-q", "--depth=2", f"file://{notes}", str(shallow))
    record = _json(shallow, *SPAN)
    assert [each["day"] for each in record["days"]] == ["2026-03-01"]
    assert "the history here goes back only to " in record["notices"][0]["reason"]


def test_what_is_no_document_is_no_news(notes: Path) -> None:
    commit(notes, "2026-03-02", {"a.txt": "x\n", ".hidden.md": "x\n", "memory/n.md": "fox\n",
                                 ".memcliignore": "private.md\n", "private.md": "x\n"})  # fmt: skip
    record = _json(notes, *SPAN, "--since", "2026-03-02")
    changes = [change["new"]["path"] for day in record["days"] for change in day["changes"]]
    assert changes == ["memory/n.md"]


def test_a_limit_is_of_each_section_in_json_too_and_counts_are_of_all(notes: Path) -> None:
    days = "# Day\n\n## One\n\n- fox\n- owl\n- elk\n\n## Two\n\n- emu\n"
    commit(notes, "2026-03-02", {"memory/n.md": days})
    (every,) = _json(notes, *SPAN, "--since", "2026-03-02")["days"]
    (few,) = _json(notes, *SPAN, "--since", "2026-03-02", "-n", "1")["days"]
    assert few["counts"] == every["counts"]
    texts = [[each["new"]["text"] for each in day["changes"]] for day in (every, few)]
    assert texts == [["- fox", "- owl", "- elk", "- emu"], ["- fox", "- emu"]]


def test_a_broken_file_is_named_and_the_rest_is_told(notes: Path) -> None:
    oid = git(notes, "rev-parse", "HEAD:memory/2026-02-10.md")
    (notes / ".git/objects" / oid[:2] / oid[2:]).unlink()
    found = say("changes", *SPAN, folder=notes)
    assert found.code == 0
    assert "+ The pool has 40 connections." in found.out
    assert f"memory/2026-02-10.md of 2026-02-10 is left out: the object {oid}" in found.err


def test_without_a_repository_logs_tell_by_their_dates(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "memory").mkdir(parents=True)
    (notes / "memory/2026-02-10.md").write_text("# Pool\n\nIt ran dry.\n")
    (notes / "MEMORY.md").write_text("# Rules\n\nfox\n")
    found = say("changes", "--since", "2026-02-01", "--now", "2026-03-01", folder=notes)
    assert found.out == "2026-02-10\n  memory/2026-02-10.md:3  Pool\n    + It ran dry.\n"
    assert "showing dated notes" in found.err
    # Only a heading that is the name of the file is left out.
    (notes / "rapid.md").write_text("---\ndate: 2026-02-10\n---\n# rapid\n\n## api\n\nIt is new.\n")
    found_too = say("changes", "--since", "2026-02-01", "--now", "2026-03-01", folder=notes)
    assert "  rapid.md:8  api\n    + It is new.\n" in found_too.out
    (notes / "rapid.md").unlink()
    for span, why in (
        (("--since", "2026-02-20"), "no note has a date from 2026-02-20 to 2026-03-01; the newest"
         " one before is 2026-02-10. Try: memcli changes --since 2026-02-10\n"),
        (("--until", "2026-02-01"), "no note here has a date up to 2026-02-01. Try: memcli help"
         " changes\n"),
    ):  # fmt: skip
        missed = say("changes", *span, "--now", "2026-03-01", folder=notes)
        assert (missed.code, missed.out) == (0, "")
        assert why in missed.err
    until = say("changes", "--until", "2026-02-12", "--now", "2026-03-01", folder=notes)
    assert until.out == found.out, "of the week before that day"
    for month in ("2026-02", "2026"):  # which is not over
        until = say("changes", "--until", month, "--now", "2026-02-13", folder=notes)
        assert until.out == found.out
    refused = say("changes", "--since", "HEAD", folder=notes)
    assert (refused.code, refused.out) == (2, "")
    assert "Try: memcli changes --since 2026-02-01\n" in refused.err
    turned = ("--since", "2026-02-11", "--until", "2026-02-10")
    refused = say("changes", *turned, "--now", "2026-03-01", folder=notes)
    assert (refused.code, refused.out) == (2, "")
    assert "the span from 2026-02-11 to 2026-02-10 ends before it begins" in refused.err
    later = say("changes", "--since", "tomorrow", "--now", "2026-03-01", folder=notes)
    assert (later.code, later.out) == (0, "")
    assert (
        "no note has a date from 2026-03-02, which is in the future; the newest one before"
        in later.err
    )


def test_escape_codes_of_a_memory_reach_no_terminal(tmp_path: Path) -> None:
    notes = begin(tmp_path / "notes")
    commit(notes, "2026-02-01", {"memory/x.md": "# \x1b[31mX\n\nfox \x1b]0;t\x07\n"})
    found = say("changes", *SPAN, "--color", "always", folder=notes)
    assert "\x1b]0" not in found.out
    assert "\x1b[31mX" not in found.out
