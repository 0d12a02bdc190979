"""A vault of Obsidian or Logseq: names, aliases and tags are searched, templates are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import record
from tests.commands import run_here as run
from tests.support import write

UUID = "64f0a1b2-0000-4000-8000-1234567890ab"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    write(root, ".obsidian/daily-notes.json", '{"folder": "Journal", "format": "DD.MM.YYYY"}')
    write(root, "Quokka feeding.md", "Twice a day, at nine and at five.\n")
    write(
        root, "Projects/Homelab.md", "---\naliases: [Heimserver]\n---\nIt draws 48 watts. #infra\n"
    )
    write(
        root,
        "Site.md",
        "---\ntitle: Zebra crossing\nalias: Pelican\ntags: web\n---\nIt was slow.\n",
    )
    zettel = "---\naliases: 15\n---\nWrite by hand. #learning/memory, not #12 and `#code`\n"
    write(root, "Zettel/202503131542.md", zettel)
    write(
        root, "Index.md", "# Index\n\n- [[Projects/Homelab]]\n- [[Quokka feeding]]\n- [[Pelican]]\n"
    )
    write(root, "Journal/04.03.2025.md", "- A new disk in the [[Homelab]].\n- Lunch at noon.\n")
    write(root, "Journal/2025-Q1.md", "- Fewer disks.\n")
    write(root, "Templates/Daily.md", "Quokka, Homelab, lunch\n")
    return root


def found(root: Path, *arguments: str) -> list[str]:
    return [each["path"] for each in record("search", *arguments, "-w", str(root))["results"]]


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
        assert found(vault, query, "--mode", mode)[0] == path, query


def test_templates_are_no_notes_and_the_folder_may_be_set(vault: Path) -> None:
    assert "Templates/Daily.md" not in found(vault, "lunch")
    write(vault, ".obsidian/templates.json", '{"folder": "Journal"}')
    assert "Journal/04.03.2025.md" not in found(vault, "lunch")


def test_tags_in_the_text_are_tags(vault: Path) -> None:
    listed = run("ls", "--tag", "learning", "-w", str(vault), "-f", "paths").stdout
    assert [line.rpartition("/")[2] for line in listed.splitlines()] == ["202503131542.md"]
    counted = json.loads(run("ls", "--count", "tag", "-w", str(vault), "--json").stdout)
    assert counted["counts"] == [
        {"value": tag, "documents": 1} for tag in ("infra", "learning/memory", "web")
    ]


def test_backlinks(vault: Path) -> None:
    for name, expected in {
        "Projects/Homelab.md": ["Index.md", "Journal/04.03.2025.md"],
        "heimserver": ["Index.md", "Journal/04.03.2025.md"],
        "Site.md": ["Index.md"],
        "Nowhere": [],
    }.items():
        done = run("ls", "--links-to", name, "-w", str(vault), "--json")
        assert [each["path"] for each in json.loads(done.stdout)["documents"]] == expected


def test_what_links_to_a_note_is_related_to_it(tmp_path: Path) -> None:
    write(tmp_path, "MEMORY.md", "# Memory\n")
    write(tmp_path, "restic.md", "We back up with it every night at two.\n")
    write(tmp_path, "a.md", "We lock up with a key every night at two.\n")
    write(tmp_path, "b.md", "The night was cold, see [[Restic]].\n")
    done = run("related", "restic.md", "-w", str(tmp_path), "--mode", "keyword", "--json")
    scores = {each["path"]: each["score"] for each in json.loads(done.stdout)["results"]}
    assert scores["b.md"] > 0.25


def test_what_logseq_notes_for_itself_is_no_text(tmp_path: Path) -> None:
    write(tmp_path, "logseq/config.edn", '{:journal/file-name-format "yyyy_MM_dd"}')
    write(
        tmp_path,
        "pages/call.md",
        "alias:: Ring, Phone call\ntags:: [[bank]], money\n\n- Now ^ab12cd\n",
    )
    text = f"- collapsed:: true\n  The window is broken.\n- id:: {UUID}\n  They pay.\n"
    write(tmp_path, "journals/2025_03_19.md", text)
    assert found(tmp_path, "collapsed", "--mode", "keyword") == []
    assert found(tmp_path, UUID, "--mode", "keyword") == []
    assert found(tmp_path, "ab12cd", "--mode", "keyword") == []
    assert found(tmp_path, "phone call")[0] == "pages/call.md"
    assert "pages/call.md" in run("ls", "--tag", "bank", "-w", str(tmp_path), "-f", "paths").stdout


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
    tmp_path: Path, settings: str, text: str, path: str | None
) -> None:
    write(tmp_path, settings, text)
    write(tmp_path, "MEMORY.md", "# Memory\n")
    now = ("--now", "2025-03-04T10:00:00")
    done = run("remember", "The boiler man is Jonas.", "-w", str(tmp_path), "--json", *now)
    assert json.loads(done.stdout)["path"] == (path or "memory/2025-03-04.md")


@pytest.mark.parametrize(
    ("others", "path"),
    [
        ({}, "2025-03-04.md"),
        ({".memcliignore": "/2025-*\n"}, "memory/2025-03-04.md"),
        ({".obsidian/daily-notes.json": '{"folder": "Journal"}'}, "Journal/2025-03-04.md"),
    ],
)
def test_a_log_of_today_in_the_root_gets_the_note_unless_another_file_should(
    tmp_path: Path, others: dict[str, str], path: str
) -> None:
    for name, text in ({"MEMORY.md": "# Memory\n", "2025-03-04.md": "- Rain.\n"} | others).items():
        write(tmp_path, name, text)
    now = ("-w", str(tmp_path), "--json", "--now", "2025-03-04T10:00:00")
    done = run("remember", "The boiler man is Jonas.", *now)
    assert json.loads(done.stdout)["path"] == path


def test_a_link_in_the_root_is_no_log_of_today(tmp_path: Path) -> None:
    write(tmp_path, "out.md", "- Rain.\n")
    write(tmp_path, "vault/MEMORY.md", "# Memory\n")
    (tmp_path / "vault/2025-03-04.md").symlink_to(tmp_path / "out.md")
    now = ("-w", str(tmp_path / "vault"), "--json", "--now", "2025-03-04T10:00:00")
    done = run("remember", "The boiler man is Jonas.", *now)
    assert json.loads(done.stdout)["path"] == "memory/2025-03-04.md"
