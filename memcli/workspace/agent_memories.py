"""The notes that agents and other programs keep: their folders, and which of them exist.

Only existing folders are matched. The target of a table row must be inside the place that its owner
writes to, so that a link in a clone adds nothing from elsewhere.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping

from memcli import system
from memcli.errors import Reason
from memcli.record import Record
from memcli.types import AGENT, PRIVATE, Source
from memcli.workspace import openat
from memcli.workspace.locate import Environment, main_root

MOST_BYTES = 64 * 1024  # of another program's file that is read to find its memory
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9]")


class CandidateFolder(Record):
    """A folder that may be a memory, and the folder that must contain it."""

    path: str
    within: str


class MemoryLocation(Record):
    """One place of a layout."""

    where: str  # as people write it; from the workspace unless it begins with ~
    leads: Callable[[Environment], Iterator[CandidateFolder]]
    suffix: str = ""  # of the name of the source
    is_of_here: bool = True  # it belongs only to this workspace


class AgentMemory(Record):
    """A layout: its folders, its documents, and the documentation of it."""

    name: str
    about: str  # the source of these facts
    places: tuple[MemoryLocation, ...] = ()
    include: tuple[str, ...] = ("**/*.md",)
    exclude: tuple[str, ...] = ()
    soft: tuple[str, ...] = ()  # rules and facts of the person, not notes of an agent
    is_transcripts: bool = False  # private, and never searched unless it is named
    is_of_all: bool = False  # its folder has the transcripts of all projects


class AgentMemorySources(Record):
    """The memories that exist here, and those that were passed over."""

    sources: tuple[Source, ...] = ()
    passed: tuple[Reason, ...] = ()


def _home(where: str, *, variable: str = "", suffix: str = "") -> MemoryLocation:
    """Look below the home folder, or below the folder that a variable names instead of the first.

    Example: with CODEX_HOME=/x, `.codex/memories` is /x/memories.
    """

    def leads(around: Environment) -> Iterator[CandidateFolder]:
        first, _, rest = where.partition("/")
        folder = around.environ.get(variable, "") if variable else ""
        base = folder or os.path.join(around.home, first)
        yield CandidateFolder(os.path.join(base, *rest.split("/")) if rest else base, base)

    return MemoryLocation(f"~/{where}", leads, suffix, is_of_here=False)


def _here(where: str, *, suffix: str = "") -> MemoryLocation:

    def leads(around: Environment) -> Iterator[CandidateFolder]:
        yield CandidateFolder(os.path.join(around.root, *where.split("/")), around.root)

    return MemoryLocation(where, leads, suffix)


def _claude(around: Environment) -> Iterator[CandidateFolder]:
    """Find the folder of this repository among those that Claude Code has made.

    It writes the path with a dash for every other sign; the work trees of a repository share one.
    """
    base = around.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(around.home, ".claude")
    moved = _text_of(os.path.join(base, "settings.json"), "autoMemoryDirectory")
    if moved:
        path = os.path.join(around.home, moved[2:]) if moved.startswith("~/") else moved
        if os.path.isabs(path):  # the user set it, so it may be anywhere
            yield CandidateFolder(path, path)
            return
    for path, within in _claude_sessions(around):
        yield CandidateFolder(os.path.join(path, "memory"), within)


def _claude_sessions(around: Environment) -> Iterator[CandidateFolder]:
    """Find the folders that Claude Code made for this repository."""
    base = around.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(around.home, ".claude")
    projects = os.path.join(base, "projects")
    roots = (around.root, main_root(around.root))
    slugs = {_NOT_A_NAME.sub("-", root) for root in roots}
    for name in _names(projects):
        if name in slugs:
            yield CandidateFolder(os.path.join(projects, name), base)


def _gemini(folder: str) -> Callable[[Environment], Iterator[CandidateFolder]]:
    """Look below the private folders whose `.project_root` names this repository."""

    def leads(around: Environment) -> Iterator[CandidateFolder]:
        base = os.path.join(around.environ.get("GEMINI_CLI_HOME") or around.home, ".gemini")
        for name in _names(os.path.join(base, "tmp")):
            private = os.path.join(base, "tmp", name)
            owner = (_read(private, ".project_root") or "").strip()
            if owner and os.path.realpath(owner) == around.root:
                yield CandidateFolder(os.path.join(private, folder), base)

    return leads


def _names(folder: str) -> list[str]:
    """List a folder of another program, if it exists and can be listed."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _read(folder: str, name: str) -> str | None:
    """Read a small file of another program; None if it cannot be read."""
    try:
        data = openat.read_small(os.path.realpath(folder), name, MOST_BYTES)
    except OSError:
        return None
    return None if data is None else data.decode("utf-8", "replace")


def _text_of(path: str, key: str) -> str:
    """Return a text from a JSON object; "" if there is none."""
    try:
        value = json.loads(_read(*os.path.split(path)) or "{}")
    except (ValueError, RecursionError):
        return ""
    text = value.get(key) if isinstance(value, dict) else None
    return text if isinstance(text, str) and "\0" not in text else ""


AGENT_MEMORIES = (
    AgentMemory(
        "claude-code",
        "docs.claude.com, memory: auto memory; anthropics/claude-code#30667 (work trees)",
        (
            MemoryLocation("~/.claude/projects/<path with dashes>/memory", _claude),
            _here(".claude/rules", suffix=".rules"),
        ),
    ),
    AgentMemory(
        "codex", "openai/codex codex-rs/core/templates/memories/read_path.md",
        (_home(".codex/memories", variable="CODEX_HOME"),),
        exclude=("raw_memories.md",),  # it repeats the others
    ),
    AgentMemory(
        "openclaw", "docs.openclaw.ai, agent workspace", (_home(".openclaw/workspace"),),
        include=("*.md", "memory/**/*.md"), soft=("USER.md",),
    ),
    AgentMemory(
        "letta", "docs.letta.com/concepts/memfs", (_home(".letta/agents"),),
        include=("*/memory/**/*.md",), soft=("*/memory/system/**",),
    ),
    AgentMemory(
        "gemini",
        "geminicli.com/docs/tools/memory; google-gemini/gemini-cli packages/core/src/config",
        (
            MemoryLocation("~/.gemini/tmp/<project>/memory", _gemini("memory")),
            _home(".gemini", suffix=".user"),
        ),
        include=("*.md",),
    ),
    AgentMemory(
        "memsearch", "zilliztech/memsearch docs/platforms/claude-code",
        (_here(".memsearch/memory"),),
    ),
    AgentMemory(
        "serena", "oraios/serena docs, memories",
        (_here(".serena/memories"), _home(".serena/memories/global", suffix=".global")),
    ),
    AgentMemory(
        "cline", "docs.cline.bot, memory bank",
        (_here("memory-bank"), _here(".clinerules", suffix=".rules")),
    ),
    AgentMemory(
        "cursor", "cursor.com/docs/context/rules", (_here(".cursor/rules"),),
        include=("**/*.mdc", "**/*.md"),
    ),
    AgentMemory("kiro", "kiro.dev/docs/steering", (_here(".kiro/steering"),)),
    AgentMemory(
        "deepagents", "docs.langchain.com, deep agents CLI, memory", (_home(".deepagents"),),
        include=("*/memories/**/*.md", "*/AGENTS.md"),
    ),
    AgentMemory(
        "claude-code:transcripts",
        "code.claude.com/docs/en/sessions: a file of JSON lines per session",
        (MemoryLocation("~/.claude/projects/<path with dashes>", _claude_sessions),),
        include=("*.jsonl",), is_transcripts=True,
    ),
    AgentMemory(
        "codex:transcripts", "openai/codex codex-rs/rollout/src/recorder.rs",
        (_home(".codex/sessions", variable="CODEX_HOME"),),
        include=("**/rollout-*.jsonl",), is_transcripts=True, is_of_all=True,
    ),
    AgentMemory(
        "gemini:transcripts",
        "google-gemini/gemini-cli packages/core/src/services/chatRecordingService.ts",
        (MemoryLocation("~/.gemini/tmp/<project>/chats", _gemini("chats")),),
        include=("session-*.jsonl",), is_transcripts=True,
    ),
    AgentMemory(
        "openclaw:transcripts", "docs.openclaw.ai/reference/session-management-compaction",
        (_home(".openclaw/agents", variable="OPENCLAW_STATE_DIR"),),
        include=("*/sessions/*.jsonl",), exclude=("*.trajectory.jsonl", "*.checkpoint.*"),
        is_transcripts=True,
    ),
    # Of a folder that a [[source]] names: they keep their notes wherever their user likes.
    AgentMemory("obsidian", "help.obsidian.md, how Obsidian stores data"),
    AgentMemory(
        "logseq", "docs.logseq.com, directory layout", include=("journals/**/*.md", "pages/**/*.md")
    ),
    AgentMemory("zk", "zk-org/zk docs, notebook"),
)  # fmt: skip
BY_NAME: Mapping[str, AgentMemory] = {each.name: each for each in AGENT_MEMORIES}
# Agents with a known folder, and those that memcli may search unasked.
FINDABLE = tuple(each.name for each in AGENT_MEMORIES if each.places)
OPEN = tuple(name for name in FINDABLE if not BY_NAME[name].is_transcripts)


def find(
    names: tuple[str, ...], around: Environment, *, of_here: bool = False
) -> AgentMemorySources:
    """Find the agent memories that exist around a workspace, or only those `of_here`."""
    sources: list[Source] = []
    passed: list[Reason] = []
    for name in names:
        agent_memory = BY_NAME[name]
        for spot in agent_memory.places:
            if of_here and not spot.is_of_here:
                continue
            there = [each for each in spot.leads(around) if os.path.isdir(each.path)]
            for number, lead in enumerate(there):
                label = label_of(f"{name}{spot.suffix}") + (f"-{number + 1}" if number else "")
                why = _why_not(lead, around)
                if why:
                    text = f"the memory of {label} is left out: {lead.path} {why}"
                    passed.append(Reason("agent-memory", text, "memcli help agent-memory"))
                else:
                    source = source_at(os.path.realpath(lead.path), agent_memory, label)
                    project = around.root if agent_memory.is_of_all else ""
                    sources.append(source._replace(project=project))
    return AgentMemorySources(tuple(sources), tuple(passed))


def label_of(name: str) -> str:
    """Name the source of an agent memory: in citations, a colon follows the name of a source."""
    return name.replace(":", ".")


def source_at(root: str, agent_memory: AgentMemory, name: str) -> Source:
    """Make the source of an agent memory at a real path."""
    source = Source(
        name=name,
        root=root,
        include=(*agent_memory.include, *agent_memory.soft),
        exclude=agent_memory.exclude,
        soft=agent_memory.soft,
        is_automatic=True,
        is_transcripts=agent_memory.is_transcripts,
    )
    if not agent_memory.is_transcripts:
        return source
    return source._replace(scope=PRIVATE, source_kind=AGENT, trust="untrusted")


def _why_not(lead: CandidateFolder, around: Environment) -> str:
    """Return why a folder cannot be the memory of its agent; "" if it can."""
    real, within = os.path.realpath(lead.path), os.path.realpath(lead.within)
    if real != within and not real.startswith(os.path.join(within, "")):
        return f"is a link that leads out of {lead.within}"
    user = system.user_id()
    if user is not None and os.stat(real).st_uid not in (
        user, _owner(around.home), _owner(around.root)
    ):  # fmt: skip
        return "belongs to another user"
    return ""


def _owner(path: str) -> int | None:
    try:
        return os.stat(path).st_uid
    except OSError:
        return None
