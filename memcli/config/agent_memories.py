"""Add the memories of other programs: those that are configured, or any for a bare folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from memcli.checking import Any
from memcli.config.keys import FLAG_ORIGIN, nearest
from memcli.config.sources import BUILT_IN_KINDS, HINT, shortened, source_of
from memcli.errors import ConfigError, NotFoundError, Reason
from memcli.types import Source
from memcli.workspace.agent_memories import (
    BY_NAME,
    FINDABLE,
    OPEN,
    AgentMemorySources,
    find,
    label_of,
    source_at,
)
from memcli.workspace.locate import Environment, is_repository

FLAG = "--with"
AGENT_MEMORY_HINT = "memcli help agent-memory"


def gather(
    default: Source,
    blocks: Sequence[tuple[Mapping[str, Any], bool]],
    names: Sequence[str],
    around: Environment,
    *,
    origin: str,
    every: bool,
) -> AgentMemorySources:
    """List all sources after the default one, and the memories that were left out.

    `blocks` are (block, is from the user's own file). `names` are memories to add, from the setting
    of an `origin`; a folder that is not a workspace takes `every` one that exists.
    """
    sources: list[Source] = [default]
    passed: tuple[Reason, ...] = ()
    for block, is_user in blocks:
        if "agent_memory" in block:
            memories = _of_agent_memory(block, around, is_user=is_user)
            passed = (*passed, *memories.passed)
        else:
            memories = AgentMemorySources((source_of(around.root, block, is_user=is_user),))
        for source in memories.sources:
            if any(source.name == other.name for other in sources):
                raise ConfigError(f"two sources are named {source.name}", hint=HINT)
            sources.append(source)
    more = _agent_memories(names, around, origin=origin, every=every)
    known, roots = {s.name for s in sources}, {s.root for s in sources}
    added = [s for s in more.sources if s.name not in known and s.root not in roots]
    return AgentMemorySources((*sources, *added), (*passed, *more.passed))


def _of_agent_memory(
    block: Mapping[str, Any], around: Environment, *, is_user: bool
) -> AgentMemorySources:
    """Make the sources of a block that names an agent memory; its other keys take precedence."""
    name = block["agent_memory"]
    if not is_user:
        raise ConfigError(
            f"a workspace's file cannot bring in the memory of {shortened(name)}",
            hint="name it in your own configuration file instead",
        )
    if name not in BY_NAME:
        raise ConfigError(
            f"there is no agent memory {shortened(name)}",
            hint=f'agent_memory = "{nearest(name, tuple(BY_NAME))}"',
        )
    usual = label_of(name)
    label = block.get("name", usual)
    values = {
        key: value for key, value in block.items() if key not in ("agent_memory", "name", "path")
    }
    if "path" in block:
        root = os.path.realpath(os.path.join(around.root, os.path.expanduser(block["path"])))
        return AgentMemorySources((_overridden(source_at(root, BY_NAME[name], label), values),))
    if name not in FINDABLE:
        raise ConfigError(f"the agent memory {name} needs a path", hint='path = "FOLDER"')
    memories = find((name,), around)
    renamed = (s._replace(name=f"{label}{s.name.removeprefix(usual)}") for s in memories.sources)
    return memories._replace(sources=tuple(_overridden(source, values) for source in renamed))


_OVERRIDABLE = ("exclude", "soft", "is_automatic", "scope", "source_kind", "trust",
                "is_transcripts", "project")  # fmt: skip


def _overridden(source: Source, values: Mapping[str, Any]) -> Source:
    """Override the values of an agent memory with those of a block."""
    block = {"name": source.name, "path": source.root, "include": list(source.include), **values}
    defaults = {name: getattr(source, name) for name in _OVERRIDABLE if name not in values}
    kinds = (*values.get("kinds", {}).items(), *source.kinds, *BUILT_IN_KINDS)
    return source_of(source.root, block, is_user=True)._replace(kinds=kinds, **defaults)


def _agent_memories(
    names: Sequence[str], around: Environment, *, origin: str, every: bool
) -> AgentMemorySources:
    """Find the agent memories to add; one that the command line names must exist."""
    is_flag = origin == FLAG_ORIGIN
    for name in names:
        if name not in FINDABLE:
            where = "" if is_flag else f"{origin}: "
            raise ConfigError(
                f"{where}no agent memory is called {shortened(name)}",
                hint=f"{FLAG} {nearest(name, FINDABLE)}",
            )
    by_name = {name: find((name,), around) for name in names}
    memories = [*by_name.values()]
    if every:  # a memory of all work does not belong to notes that are not about work
        others = tuple(name for name in OPEN if name not in names)
        memories.append(find(others, around, of_here=not is_repository(around.root)))
    for name, own in by_name.items() if is_flag else ():
        if not own.sources:
            kind = "transcripts" if BY_NAME[name].is_transcripts else "memory"
            why = own.passed[0].text if own.passed else f"it keeps no {kind} of {around.root}"
            raise NotFoundError(f"{name}: {why}", hint=AGENT_MEMORY_HINT)
    return AgentMemorySources(
        tuple(source for each in memories for source in each.sources),
        tuple(reason for each in memories for reason in each.passed),
    )
