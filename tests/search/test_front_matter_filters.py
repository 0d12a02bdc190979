"""--tag and --where let through what the front matter says, in every mode, and nothing else."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest

from tests.commands import NewWorkspace, record

TAGS = ("infra", "infra/db", "infrared", "Über", "call", "2024")
STATES = ("open", "done", "In review", "")


class Said(NamedTuple):
    """What the front matter of a note says, in small letters."""

    tags: frozenset[str]
    status: str
    severity: int


def front_matter(tags: Sequence[str], status: str, severity: int, style: int) -> str:
    """Write the same as people do: tags as a list, a block, a text with commas, with #."""
    written = (
        f"tags: {json.dumps(tags, ensure_ascii=False)}",
        "tags:\n" + "\n".join(f'  - "#{tag}"' for tag in tags),
        f"tag: {', '.join(tags).upper()}",
        f"Tags: {' '.join(tags)}",
    )
    return f"---\n{written[style]}\nstatus: {status}\nseverity: {severity}.0\n---\n"


@pytest.fixture
def shelf(workspace: NewWorkspace) -> dict[str, Said]:
    """Forty notes that all speak of a pool: what the front matter of each says."""
    chance = random.Random(7)
    files = {"MEMORY.md": "# Memory\n\nThe pool without front matter ran dry.\n"}
    said = {"MEMORY.md": Said(frozenset(), "", -1)}
    for number in range(40):
        tags = chance.sample(TAGS, chance.randrange(4))
        status, severity = chance.choice(STATES), chance.randrange(3)
        text = front_matter(tags, status, severity, number % 4)
        files[f"memory/{number}.md"] = f"{text}\nThe pool of note {number} ran dry.\n"
        lower = frozenset(tag.lower() for tag in tags)
        said[f"memory/{number}.md"] = Said(lower, status.lower(), severity)
    workspace(files, index=True, encoder="hashing")
    return said


CASES: dict[tuple[str, ...], Callable[[Said], bool]] = {
    ("--tag", "infra"): lambda said: bool(said.tags & {"infra", "infra/db"}),
    ("--tag", "#Infra/DB"): lambda said: "infra/db" in said.tags,
    ("--tag", "ÜBER", "--tag", "2024"): lambda said: {"über", "2024"} <= said.tags,
    ("--where", "tags=infra"): lambda said: "infra" in said.tags,
    ("--where", "status=in review"): lambda said: said.status == "in review",
    ("--where", "Status!=open"): lambda said: said.status != "open",
    ("--where", "status", "--where", "status!=open"): lambda said: said.status not in ("open", ""),
    ("--where", "!status"): lambda said: not said.status,
    ("--where", "severity=2"): lambda said: said.severity == 2,
    ("--where", "severity=2", "--tag", "call", "--path", "memory/*"): (
        lambda said: said.severity == 2 and "call" in said.tags
    ),
}


@pytest.mark.parametrize(
    "mode",
    [
        ("--mode", "hybrid"),
        ("--mode", "keyword"),
        ("--mode", "semantic"),
        ("--expand",),
        ("--view", "active"),
        ("--profile", "two-pass"),
        ("--on", "2025-06-01", "--undated"),
    ],
    ids=" ".join,
)
def test_what_is_found_is_what_the_front_matter_lets_through(
    shelf: dict[str, Said], mode: tuple[str, ...]
) -> None:
    for arguments, passes in CASES.items():
        expected = {path for path, each in shelf.items() if passes(each)}
        assert expected
        found = record("search", "pool ran dry", "-n", "100", "--more", *mode, *arguments)
        paths = {each["path"] for each in found["results"]}
        if "two-pass" in mode:  # it takes few
            expected &= paths
        assert paths
        assert paths == expected, (mode, arguments)
