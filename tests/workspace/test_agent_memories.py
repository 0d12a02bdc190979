"""The memories of other programs are found where their owners put them, and nowhere else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memcli.cli.generate import tables
from memcli.types import Source
from memcli.workspace import discover as walking
from memcli.workspace.agent_memories import AGENT_MEMORIES, FINDABLE, OPEN, find
from memcli.workspace.locate import Environment

from .tree import make


class Home:
    """A home folder with a repository in it."""

    def __init__(self, base: Path) -> None:
        self.base = Path(os.path.realpath(base))
        self.home, self.repo = self.base / "home", self.base / "home/src/shop"
        make(self.repo, ".git/HEAD")
        self.environ: dict[str, str] = {}

    def find(self, *names: str, root: Path | None = None) -> list[Source]:
        found = find(names or OPEN, self.around(root))
        assert found.passed == ()
        return list(found.sources)

    def left_out(self, *names: str) -> list[str]:
        found = find(names or OPEN, self.around())
        assert found.sources == ()
        return [reason.text for reason in found.passed]

    def around(self, root: Path | None = None) -> Environment:
        return Environment(str(root or self.repo), str(self.home), self.environ)

    def slug(self, root: Path | None = None) -> str:
        return "".join(c if c.isascii() and c.isalnum() else "-" for c in str(root or self.repo))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def listed(source: Source) -> list[str]:
    listing = walking.discover([source], max_bytes=1 << 20)
    assert listing.unlisted == ()
    return [file.path for file in listing.files]


LAYOUTS: dict[str, tuple[str, list[str], list[str]]] = {
    # name of the source: its folder, what is read of it, what is not
    "codex": (
        "~/.codex/memories",
        ["MEMORY.md", "memory_summary.md", "rollout_summaries/2026-02-17T10-a.md",
         "skills/deploy/SKILL.md"],
        ["raw_memories.md", ".git/x.md"],
    ),
    "openclaw": (
        "~/.openclaw/workspace",
        ["MEMORY.md", "SOUL.md", "USER.md", "memory/2026-02-01.md"],
        ["skills/x/SKILL.md"],
    ),
    "letta": (
        "~/.letta/agents",
        ["a-1/memory/reference/x.md", "a-1/memory/system/human.md", "a-2/memory/notes.md"],
        ["a-1/other.md"],
    ),
    "gemini.user": ("~/.gemini", ["GEMINI.md"], ["tmp/x/memory/MEMORY.md", "extensions/a/b.md"]),
    "memsearch": (".memsearch/memory", ["2026-02-01.md"], ["x.json"]),
    "serena": (".serena/memories", ["style.md"], []),
    "serena.global": ("~/.serena/memories/global", ["me.md"], []),
    "cline": ("memory-bank", ["activeContext.md", "progress.md"], []),
    "cline.rules": (".clinerules", ["tests.md"], []),
    "cursor": (".cursor/rules", ["deep/api.mdc", "style.mdc"], ["x.txt"]),
    "kiro": (".kiro/steering", ["product.md"], []),
    "deepagents": (
        "~/.deepagents", ["main/AGENTS.md", "main/memories/a.md"], ["main/skills/s/SKILL.md"]
    ),
    "claude-code.rules": (".claude/rules", ["api/x.md"], []),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_is_found_and_read(home: Home, name: str) -> None:
    folder, read, unread = LAYOUTS[name]
    root = home.home / folder[2:] if folder.startswith("~/") else home.repo / folder
    make(root, *read, *unread)
    (source,) = home.find()
    assert (source.name, source.root) == (name, str(root))
    assert listed(source) == read
    assert (source.trust, source.is_automatic) == ("trusted", True)


def test_every_place_has_a_layout_here_or_a_test_of_its_own() -> None:
    names = {
        f"{agent_memory.name}{spot.suffix}"
        for agent_memory in AGENT_MEMORIES
        for spot in agent_memory.places
    }
    assert names == {*LAYOUTS, "claude-code", "gemini", *(set(FINDABLE) - set(OPEN))}
    assert all(each.about for each in AGENT_MEMORIES)
    assert "| `codex` | `~/.codex/memories` |\n" in tables()["agent memory"]
    assert "| `zk` | `path` of a `[[source]]` |\n" in tables()["agent memory"]


@pytest.mark.parametrize(
    ("folder", "is_of_it"), [(".codex/memories", False), ("memory-bank", True)]
)
def test_only_what_lies_in_the_workspace_is_of_it_alone(
    home: Home, folder: str, is_of_it: bool
) -> None:
    make((home.repo if is_of_it else home.home) / folder, "a.md")
    (source,) = find(FINDABLE, home.around()).sources
    assert find(FINDABLE, home.around(), of_here=True).sources == (source,) * is_of_it


def test_nothing_is_made_up(home: Home) -> None:
    assert home.find() == []
    make(home.home / ".claude/projects/-elsewhere/memory", "MEMORY.md")
    make(home.home / ".gemini/tmp/other/memory", "MEMORY.md")
    assert [source.name for source in home.find()] == ["gemini.user"]
    assert not (home.home / ".codex").exists()


def test_claude_code_by_the_path_of_the_repository(home: Home) -> None:
    memory = home.home / ".claude/projects" / home.slug() / "memory"
    make(memory, "MEMORY.md", "deploys.md")
    (source,) = home.find()
    assert (source.name, source.root) == ("claude-code", str(memory))
    assert listed(source) == ["MEMORY.md", "deploys.md"]
    assert home.find(root=home.repo / ".git") == []


def test_work_trees_share_the_memory_of_their_repository(home: Home) -> None:
    memory = home.home / ".claude/projects" / home.slug() / "memory"
    make(memory, "MEMORY.md")
    tree, entry = home.base / "fix", home.repo / ".git/worktrees/fix"
    make(tree, "a.md")
    make(entry, "HEAD")
    (tree / ".git").write_text(f"gitdir: {entry}\n")
    assert home.find(root=tree) == []  # anybody can write such a file
    (entry / "gitdir").write_text(f"{tree}/.git\n")
    assert [source.root for source in home.find(root=tree)] == [str(memory)]


def test_the_places_that_a_user_has_moved(home: Home) -> None:
    make(home.base / "c/projects" / home.slug() / "memory", "MEMORY.md")
    make(home.base / "x/memories", "MEMORY.md")
    home.environ = {"CLAUDE_CONFIG_DIR": f"{home.base}/c", "CODEX_HOME": f"{home.base}/x"}
    roots = [source.root for source in home.find()]
    assert roots == [f"{home.base}/c/projects/{home.slug()}/memory", f"{home.base}/x/memories"]
    make(home.home, "Vault/claude/a.md")
    settings = home.base / "c/settings.json"
    settings.write_text(json.dumps({"autoMemoryDirectory": "~/Vault/claude"}))
    assert home.find("claude-code")[0].root == f"{home.home}/Vault/claude"
    for broken in ("{", "[]", '{"autoMemoryDirectory": 3}', "[" * 100_000):
        settings.write_text(broken)
        assert home.find("claude-code")[0].root == roots[0]


def test_gemini_by_the_folder_that_names_the_repository(home: Home) -> None:
    tmp = home.home / ".gemini/tmp"
    make(tmp / "shop/memory", "MEMORY.md")
    make(tmp / "other/memory", "MEMORY.md")
    (tmp / "shop/.project_root").write_text(f"{home.repo}\n")
    (tmp / "other/.project_root").write_text("/elsewhere")
    assert home.find("gemini")[0][:2] == ("gemini", str(tmp / "shop/memory"))


def test_transcripts_are_private_and_found_only_by_name(home: Home) -> None:
    make(home.home / ".claude/projects" / home.slug(), "1.jsonl", "1/subagents/a.jsonl")
    make(home.home / ".codex/sessions/2026/11/26", "rollout-1.jsonl", "x.jsonl")
    make(home.home / ".gemini/tmp/shop/chats", "session-1.jsonl", "logs.json")
    (home.home / ".gemini/tmp/shop/.project_root").write_text(f"{home.repo}\n")
    make(home.home / ".openclaw/agents/main/sessions", "1.jsonl", "1.trajectory.jsonl", "a.md")
    names = [name for name in FINDABLE if name not in OPEN]
    sources = home.find(*names)
    assert [(source.name, listed(source), source.project) for source in sources] == [
        ("claude-code.transcripts", ["1.jsonl"], ""),
        ("codex.transcripts", ["2026/11/26/rollout-1.jsonl"], str(home.repo)),
        ("gemini.transcripts", ["session-1.jsonl"], ""),
        ("openclaw.transcripts", ["main/sessions/1.jsonl"], ""),
    ]
    assert {(s.scope, s.source_kind, s.trust) for s in sources} == {
        ("private", "agent", "untrusted")
    }
    assert not [source for source in home.find() if source.is_transcripts]


def test_a_folder_that_leads_elsewhere_is_named_and_left_out(home: Home) -> None:
    make(home.base / "secret", "a.md")
    (home.repo / ".serena").mkdir()
    (home.repo / ".serena/memories").symlink_to(home.base / "secret")
    (home.repo / ".kiro").symlink_to(home.base)
    (home.base / "steering").symlink_to(home.base / "secret")
    assert home.left_out() == [
        f"the memory of serena is left out: {home.repo}/.serena/memories is a link that leads out"
        f" of {home.repo}",
        f"the memory of kiro is left out: {home.repo}/.kiro/steering is a link that leads out"
        f" of {home.repo}",
    ]


def test_another_users_folder_is_named_and_left_out(home: Home) -> None:
    theirs = Path("/usr/share") if os.getuid() else home.base / "theirs"
    if not os.getuid():
        make(theirs, "a.md")
        os.chown(theirs, 4711, -1)
    make(home.home / ".claude", "x.md")
    settings = home.home / ".claude/settings.json"
    settings.write_text(json.dumps({"autoMemoryDirectory": str(theirs)}))
    assert home.left_out("claude-code") == [
        f"the memory of claude-code is left out: {theirs} belongs to another user"
    ]


@pytest.mark.parametrize("count", [3, 4])
def test_a_folder_without_end_is_named_and_loses_nothing(
    home: Home, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(walking, "MOST_ENTRIES", 3)
    make(home.repo / ".serena/memories", *(f"{number}/a.md" for number in range(count - 2)))
    make(home.repo / ".serena/memories", "b.md")
    (source,) = home.find()
    for each, is_whole in ((source, count == 3), (source._replace(is_automatic=False), True)):
        listing = walking.discover([each], max_bytes=1 << 20)
        if is_whole:
            assert len(listing.files) == count - 1
        else:
            assert (listing.files, listing.skips) == ((), ())
            (skip,) = listing.unlisted
            assert skip[1:] == (".", "unreadable", "more than 3 entries; name it with -w")


def test_folders_of_windows_and_macos(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    keep: Callable[[str], bool] = os.path.isdir

    def isdir(path: str) -> bool:
        looked.append(path)
        return keep(path)

    monkeypatch.setattr(os.path, "isdir", isdir)
    around = Environment("/Users/kim/shop", "/Users/kim", {})
    assert find(("codex", "serena", "letta"), around).sources == ()
    assert looked == [
        "/Users/kim/.codex/memories",
        "/Users/kim/shop/.serena/memories",
        "/Users/kim/.serena/memories/global",
        "/Users/kim/.letta/agents",
    ]
    windows = r"C:\Users\kim\source\shop"
    memory = make(home.home / ".claude/projects/C--Users-kim-source-shop/memory", "MEMORY.md")
    found = find(("claude-code",), Environment(windows, str(home.home), {}))
    assert [source.root for source in found.sources] == [str(memory)]
