"""A vault of Obsidian or Logseq: names, aliases and tags are searched, templates are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import NewWorkspace, printed, record
from tests.support import write

REMEMBER = ("remember", "The boiler man is Jonas.", "--now", "2025-03-04T10:00:00")
UUID = "64f0a1b2-0000-4000-8000-1234567890ab"


@pytest.fixture
def vault(workspace: NewWorkspace) -> Path:
    return workspace({
        ".obsidian/daily-notes.json": '{"folder": "Journal", "format": "DD.MM.YYYY"}',
        "Quokka feeding.md": "Twice a day, at nine and at five.\n",
        "Projects/Homelab.md": "---\naliases: [Heimserver]\n---\nIt draws 48 watts. #infra\n",
        "Site.md": "---\ntitle: Zebra crossing\nalias: Pelican\ntags: web\n---\nIt was slow.\n",
        "Zettel/202503131542.md": "---\naliases: 15\n---\n"
        "Write by hand. #learning/memory, not #12 and `#code`\n",
        "Index.md": "# Index\n\n- [[Projects/Homelab]]\n- [[Quokka feeding]]\n- [[Pelican]]\n",
        "Journal/04.03.2025.md": "- A new disk in the [[Homelab]].\n- Lunch at noon.\n",
        "Journal/2025-Q1.md": "- Fewer disks.\n",
        "Templates/Daily.md": "Quokka, Homelab, lunch\n",
    }, encoder="auto")  # fmt: skip


def found(*arguments: str) -> list[str]:
    return [each["path"] for each in record("search", *arguments)["results"]]


NAMES = [
    ("quokka", "Quokka feeding.md"),
    ("Homelab", "Projects/Homelab.md"),
    ("[[homelab]]", "Projects/Homelab.md"),
    ("heimserver", "Projects/Homelab.md"),
    ("zebra crossing", "Site.md"),
    ("pelican", "Site.md"),
    ("#web", "Site.md"),
    ("#infra", "Projects/Homelab.md"),
    ("202503131542", "Zettel/202503131542.md"),
    ("2025-Q1", "Journal/2025-Q1.md"),
    ("what happened on 4 March 2025", "Journal/04.03.2025.md"),
]


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_a_note_is_found_by_what_it_is_called(vault: Path, mode: str) -> None:
    for query, path in NAMES:
        assert found(query, "--mode", mode)[0] == path, query


def test_templates_are_no_notes_and_the_folder_may_be_set(vault: Path) -> None:
    assert "Templates/Daily.md" not in found("lunch")
    write(vault, ".obsidian/templates.json", '{"folder": "Journal"}')
    assert "Journal/04.03.2025.md" not in found("lunch")


def test_tags_in_the_text_are_tags(vault: Path) -> None:
    assert printed("ls", "--tag", "learning", "-f", "paths")[0] == "Zettel/202503131542.md\n"
    assert record("ls", "--count", "tag")["counts"] == [
        {"value": tag, "documents": 1} for tag in ("infra", "learning/memory", "web")
    ]


def test_backlinks(vault: Path) -> None:
    for name, expected in {
        "Projects/Homelab.md": ["Index.md", "Journal/04.03.2025.md"],
        "heimserver": ["Index.md", "Journal/04.03.2025.md"],
        "Site.md": ["Index.md"],
        "Nowhere": [],
    }.items():
        listed = record("ls", "--links-to", name)["documents"]
        assert [each["path"] for each in listed] == expected


def test_what_links_to_a_note_is_related_to_it(workspace: NewWorkspace) -> None:
    workspace({
        "restic.md": "We back up with it every night at two.\n",
        "a.md": "We lock up with a key every night at two.\n",
        "b.md": "The night was cold, see [[Restic]].\n",
    })  # fmt: skip
    results = record("related", "restic.md", "--mode", "keyword", "-v")["results"]
    assert {each["path"]: each["score"] for each in results}["b.md"] > 0.25


def test_what_logseq_notes_for_itself_is_no_text(workspace: NewWorkspace) -> None:
    workspace({
        "logseq/config.edn": '{:journal/file-name-format "yyyy_MM_dd"}',
        "pages/call.md": "alias:: Ring, Phone call\ntags:: [[bank]], money\n\n- Now ^ab12cd\n",
        "journals/2025_03_19.md": "- collapsed:: true\n  The window is broken.\n"
        f"- id:: {UUID}\n  They pay.\n",
    }, encoder="auto")  # fmt: skip
    assert found("collapsed", "--mode", "keyword") == []
    assert found(UUID, "--mode", "keyword") == []
    assert found("ab12cd", "--mode", "keyword") == []
    assert found("phone call")[0] == "pages/call.md"
    assert "pages/call.md" in printed("ls", "--tag", "bank", "-f", "paths")[0]


@pytest.mark.parametrize(
    ("settings", "text", "path"),
    [
        (".obsidian/daily-notes.json", '{"folder": "Journal", "format": "YYYY/MM-MMMM/dddd Do"}',
         "Journal/2025/03-March/Tuesday 4th.md"),
        (".obsidian/daily-notes.json", "{}", "2025-03-04.md"),
        (".obsidian/daily-notes.json", '{"folder": "../out"}', None),
        ("logseq/config.edn", "{:meta/version 1}", "journals/2025_03_04.md"),
        ("logseq/config.edn", '{:journals-directory "days" :journal/file-name-format "MMM do"}',
         "days/Mar 4th.md"),
        (".obsidian/app.json", "{}", "memory/2025-03-04.md"),
    ],
)  # fmt: skip
def test_a_note_goes_where_the_vault_keeps_those_of_the_day(
    workspace: NewWorkspace, settings: str, text: str, path: str | None
) -> None:
    workspace({settings: text, "MEMORY.md": "# Memory\n"})
    assert record(*REMEMBER)["path"] == (path or "memory/2025-03-04.md")


@pytest.mark.parametrize(
    ("others", "path"),
    [
        ({}, "2025-03-04.md"),
        ({".memcliignore": "/2025-*\n"}, "memory/2025-03-04.md"),
        ({".obsidian/daily-notes.json": '{"folder": "Journal"}'}, "Journal/2025-03-04.md"),
    ],
)
def test_a_log_of_today_in_the_root_gets_the_note_unless_another_file_should(
    workspace: NewWorkspace, others: dict[str, str], path: str
) -> None:
    workspace({"MEMORY.md": "# Memory\n", "2025-03-04.md": "- Rain.\n"} | others)
    assert record(*REMEMBER)["path"] == path


def test_a_link_in_the_root_is_no_log_of_today(workspace: NewWorkspace, tmp_path: Path) -> None:
    root = workspace({"MEMORY.md": "# Memory\n"})
    (root / "2025-03-04.md").symlink_to(write(tmp_path, "out.md", "- Rain.\n"))
    assert record(*REMEMBER)["path"] == "memory/2025-03-04.md"
