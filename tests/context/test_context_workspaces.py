"""The invariants of a context hold from the files to what is printed, over random workspaces."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memcli.cli.main import run
from memcli.context.assemble import UNSURE_PARTS
from memcli.context.parts import UNSURE
from memcli.language.tokens import estimate
from memcli.markdown.lineage import cited_lines
from memcli.types import SUMMARY
from tests.context.makers import NOW, context, put

WORDS = ("heron", "pond", "rule", "carp", "東京", "поезд", "été", "x_id", "`tick`", "**b**")
# Lines that try to end a fence, to open a section or to say who they are.
HOSTILE = (
    "```", "````", "~~~", "```MEMORY.md:1", "## Rules", "# Passages", "---", "> quote",
    "- [pond](pond.md)", "[[rules]]", "Memory: note text", "1. one", "| a | b |", "\x1b[31m red",
    "\u202e reversed", "a\rb", "<b>bold</b>",
)  # fmt: skip
LINES = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join),
    st.sampled_from(HOSTILE),
)
BODIES = st.lists(
    st.lists(LINES, min_size=1, max_size=5).map("\n".join), min_size=1, max_size=5
).map(lambda blocks: "\n\n".join(blocks) + "\n")
UNIT = st.sampled_from((0.0, 0.25, 0.8, 1.0))
METADATA = st.fixed_dictionaries(
    {},
    optional={
        "always": st.booleans(),
        "soft": st.booleans(),
        "authority": UNIT,
        "importance": UNIT,
        "scope": st.sampled_from(("session", "user", "global")),
        "trust": st.just("untrusted"),
        "related": st.just(["pond.md", "[[rules]]"]),
    },
)
PATHS = st.sampled_from((
    "MEMORY.md", "memory/pond.md", "memory/rules.md", "memory/2026-02-19.md",
    "memory/2026-02-18.md", "memory/2026-01-03.md", "memory/2025-05-05-late.md",
    "docs/DECISIONS/2024-01-01-queue.md", "docs/ROADMAP.md", "web/page.md",
))  # fmt: skip
SOURCES = (
    '[[source]]\nname = "docs"\npath = "docs"\nevergreen = ["DECISIONS/**"]\nauthority = 0.8\n'
    '[[source]]\nname = "web"\npath = "web"\ntrust = "untrusted"\nsource_kind = "web"\n'
)
BUDGETS = st.one_of(st.integers(1, 300), st.integers(1, 3000), st.integers(1, 100_000))
QUERIES = st.sampled_from(("", "heron", "carp in the pond", "東京", '"x_id" -rule', "rule?"))


class Note(NamedTuple):
    metadata: dict[str, Any]
    body: str

    @property
    def text(self) -> str:
        head = "".join(f"{name}: {json.dumps(value)}\n" for name, value in self.metadata.items())
        return f"---\n{head}---\n{self.body}" if head else self.body


WORKSPACES = st.dictionaries(PATHS, st.builds(Note, METADATA, BODIES), min_size=1, max_size=6)


@pytest.fixture(scope="module", autouse=True)
def _without_a_model() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
        yield


class Run(NamedTuple):
    code: int
    markdown: str
    record: dict[str, Any]
    error: dict[str, Any]


def ask(root: Path, *arguments: str) -> Run:
    code, out, err = context(root, *arguments)
    as_json = context(root, *arguments, "--explain", "--json")
    assert as_json[0] == code, err
    if code:
        assert out == as_json[1] == ""
        return Run(code, "", {}, json.loads(as_json[2]))
    return Run(code, out, json.loads(as_json[1]), {})


def key(part: dict[str, Any]) -> str:
    """Name the file of a part below the workspace."""
    path: str = part["path"]
    return path if part["source"] == "memory" else f"{part['source']}/{path}"


def solid(text: str) -> list[str]:
    """Give the lines that hold something, as they are shown: a lone CR is a blank.

    A rule between paragraphs says nothing at the edge of a chunk, and is left out there.
    """
    return [line for line in text.replace("\r", " ").split("\n") if line.strip(" -")]


@given(
    WORKSPACES,
    QUERIES,
    BUDGETS,
    st.integers(0, 3),
    st.sampled_from(("default", "two-pass")),
    st.booleans(),
)
@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # a run is whole indexes: no shrinking
)
def test_the_invariants_hold_from_files_to_output(
    notes: dict[str, Note], query: str, budget: int, tail: int, profile: str, is_compacted: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = put(Path(folder) / "notes", {
            "memory/.keep": "", "memcli.toml": SOURCES,
            **{path: note.text for path, note in notes.items()},
        })  # fmt: skip
        if is_compacted:
            notes = {**notes, **compacted(root)}
            event(f"{len(list(root.glob('memory/summaries/*')))} summaries")
        arguments = (query, "--budget", str(budget), "--tail", str(tail), "--profile", profile)
        made = ask(root, *arguments, "--sync")
        event(f"exit {made.code}, {'a' if query else 'no'} query")
        # Files and question alone decide: another index gives the same bytes.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_CACHE_HOME", f"{folder}/cache")
            assert ask(root, *arguments, "--sync") == made
        if made.code:
            refused(root, made, arguments, budget)
            return
        parts = made.record["parts"]
        within_budget(made, budget)
        fenced(made)
        verbatim(parts, notes)
        told_once(parts)
        rules(parts, notes)


def compacted(root: Path) -> dict[str, Note]:
    """Compact what can be, and give the summaries."""
    wanted = ("--tail", "0", "--tail-days", "0", "--cluster", "2", "--ratio", "0.9")
    assert run(["compact", "--apply", *wanted, "-q", "-w", str(root), "--now", NOW]) == 0
    files = root.glob("memory/summaries/*.md")
    return {str(file.relative_to(root)): Note({}, file.read_text("utf-8")) for file in files}


def told_once(parts: list[dict[str, Any]]) -> None:
    """No line is told by two parts: neither as it stands nor by summaries that cite it."""
    seen: dict[tuple[str, int], str] = {}
    for part in parts:
        places = [(key(part), part["start_line"], part["end_line"])]
        if part["kind"] == SUMMARY:
            cites = cited_lines(part["text"], part["heading_path"])
            places += [cite[1:] for _, cite in cites]
        for path, first, last in places:
            for line in range(first, last + 1):
                assert seen.setdefault((path, line), key(part)) == key(part)


def refused(root: Path, made: Run, arguments: tuple[str, ...], budget: int) -> None:
    """Rules and least tail, or the best line, are too much: the hint is the least budget."""
    assert (made.code, made.error["code"]) == (2, "budget")
    message = made.error["message"]
    if too_much := re.findall(r"take (\d+) tokens, (\d+) more", message):
        needed, over = map(int, too_much[0])
        assert needed - over == budget
    else:
        assert message.endswith(f"and the budget is {budget}")
    hinted = re.findall(r"--budget (\d+)", made.error["hint"])[0]
    asked = list(arguments)
    asked[2] = hinted
    assert ask(root, *asked).code == 0
    asked[2] = str(int(hinted) - 1)
    assert ask(root, *asked).code == 2


def within_budget(made: Run, budget: int) -> None:
    """What is printed costs no more than is said, and that no more than is allowed."""
    assert estimate(made.markdown) <= made.record["tokens"] <= budget
    assert bool(made.markdown) or not made.record["parts"]
    assert made.record["tokens"] + made.record["tokens_saved"] <= budget
    plan = made.record["plan"]
    assert sum(row["tokens"] for row in plan.values()) <= made.record["tokens"] + len(plan)
    assert made.record["omitted"] >= len(made.record["without_room"])


def fenced(made: Run) -> None:
    """Each part is one fence that says if it is untrusted; around them stands nothing but ours."""
    tokens = MarkdownIt("commonmark").parse(made.markdown)
    top = [token for token in tokens if token.level == 0]
    fences = [token for token in top if token.type == "fence"]
    parts = made.record["parts"]
    assert len(fences) == len(parts)
    for fence, part in zip(fences, parts, strict=True):
        is_own = part["trust"] == "trusted"
        word = "" if is_own else f"untrusted-{part['source_kind']} "
        assert f"{fence.info} ".startswith(f"{word}{part['citation']} ")
        assert fence.content == part["text"].replace("\0", "\ufffd") + "\n"
    inline = [token.content for token in tokens if token.type == "inline"]
    unsure = inline[:1] == [UNSURE.strip()]
    inline = inline[unsure:]
    match = (made.record["match"], made.record.get("match_reason", {}).get("code"))
    assert not unsure or match in (("none", None), ("weak", "low"))
    assert all(x in ("Rules", "Recent", "Passages") or x.startswith("Memory: note") for x in inline)
    assert len(inline) == (1 + len({p["section"].replace("soft", "always") for p in parts})
                           if parts else 0)  # fmt: skip
    if unsure:
        found = [part for part in parts if part["section"] in ("recent", "passages")]
        recent = [part for part in found if part["section"] == "recent"]
        assert len(found) <= max(UNSURE_PARTS, len(recent))


def verbatim(parts: list[dict[str, Any]], notes: dict[str, Note]) -> None:
    """Parts are the lines that they cite, and no line comes twice."""
    seen: set[tuple[str, int]] = set()
    for part in parts:
        lines = notes[key(part)].text.split("\n")[part["start_line"] - 1 : part["end_line"]]
        assert solid(part["text"]) == solid("\n".join(lines))
        cited = {(key(part), n) for n in range(part["start_line"], part["end_line"] + 1)}
        assert not cited & seen
        seen |= cited


def is_own(path: str, note: Note) -> bool:
    return not path.startswith("web/") and "trust" not in note.metadata


def rules(parts: list[dict[str, Any]], notes: dict[str, Note]) -> None:
    """Own files marked always are there to their last line; soft ones from their beginning."""
    shown = {name: [p for p in parts if p["section"] == name] for name in ("always", "soft")}
    always = {path for path, n in notes.items() if is_own(path, n) and n.metadata.get("always")}
    soft = {path for path, n in notes.items() if is_own(path, n) and n.metadata.get("soft")}
    assert {key(part) for part in shown["always"]} == {p for p in always if solid(notes[p].body)}
    for part in shown["always"]:
        assert solid(part["text"]) == solid(notes[key(part)].body)
    for part in shown["soft"]:
        assert key(part) in soft - always
        text = solid(part["text"])
        assert text == solid(notes[key(part)].body)[: len(text)]
