"""A link leads to the chunk it names, in a memory of any size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memcli.context.hops import Following, Link, LinkedPassage, candidates, strong
from memcli.context.parts import PASSAGES, make_part
from memcli.context.retrieve import with_hops
from tests.commands import NewWorkspace
from tests.context.makers import put, record
from tests.records import make_excerpt

RUNBOOK = "# Runbook\n\nOf the night shift.\n\n## Restart\n\nPress the red button twice.\n\n{}\n"
QUESTION = "kestrel deployment failed"

HOW = Following({})


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    return workspace({
        "memory/note.md": "# Note\n\nThe kestrel deployment failed: [it](runbook.md#restart).\n",
        **{f"memory/n{n}.md": f"Bread number {n} is baked at noon.\n" for n in range(8)},
    }, encoder="hashing")  # fmt: skip


def found(notes: Path, budget: int = 1000) -> list[dict[str, Any]]:
    parts = record(notes, QUESTION, "--tail", "0", "--budget", str(budget), "--sync")["parts"]
    assert isinstance(parts, list)
    return parts


def test_links_are_followed_in_a_memory_of_ten_notes(notes: Path) -> None:
    put(notes, {"memory/runbook.md": RUNBOOK.format("Then wait.")})
    note, runbook, *_ = found(notes, 130)
    assert note["path"] == "memory/note.md"
    assert (runbook["citation"], runbook["via"]) == ("memory/runbook.md:5-9", note["citation"])
    assert runbook["score"] == pytest.approx(HOW.eta * note["score"])
    assert "Press the red button twice." in runbook["text"]


def test_a_link_shows_the_chunk_and_not_the_line_of_it_that_was_found(notes: Path) -> None:
    filler = "\n\n".join(f"Step {n}: turn valve {n} and write the time down." for n in range(6))
    put(notes, {"memory/runbook.md": RUNBOOK.format(f"{filler}\n\nA deployment ends here.")})
    (runbook,) = (part for part in found(notes) if part["path"] == "memory/runbook.md")
    assert runbook["via"] == "memory/note.md:1-3"
    assert runbook["start_line"] == 5
    assert "Press the red button twice." in runbook["text"]
    assert "A deployment ends here." in runbook["text"]


def test_nothing_is_followed_from_what_scores_next_to_nothing(notes: Path) -> None:
    put(notes, {"memory/n7.md": "Bread is baked, see [x](far.md).\n", "memory/far.md": "Far.\n"})
    followed = [part for part in found(notes) if "via" in part]
    assert "memory/far.md" not in {part["path"] for part in followed}
    assert all(part["score"] > HOW.theta for part in followed)


def test_a_link_by_name_finds_a_file_whatever_its_title(notes: Path) -> None:
    put(notes, {
        "memory/note.md": "# Note\n\nThe kestrel deployment failed: [[Runbook]].\n",
        "memory/runbook.md": "# Of the night\n\nPress the red button twice.\n",
    })  # fmt: skip
    assert [part["path"] for part in found(notes) if "via" in part] == ["memory/runbook.md"]


def test_a_link_by_name_finds_the_file_nearest_to_the_root_and_of_the_memory_first(
    notes: Path,
) -> None:
    put(notes, {
        "memory/note.md": "# Note\n\nThe kestrel deployment failed: [[Runbook]], [[Map]].\n",
        "memory/a/old/runbook.md": "# Of old\n\nPress the red button twice.\n",
        "memory/b/runbook.md": "# Of the night\n\nPress the green button.\n",
        "docs/map.md": "# Of the docs\n\nTo the north.\n",
        "memory/b/map.md": "# Of the memory\n\nTo the south.\n",
        "memcli.toml": '[[source]]\nname = "docs"\npath = "docs"\n',
    })  # fmt: skip
    followed = [part["path"] for part in found(notes) if "via" in part]
    assert followed == ["memory/b/runbook.md", "memory/b/map.md"]


def test_of_two_sources_of_a_folder_the_one_that_links_comes_first() -> None:
    link = Link("notes", "a.md", "b.md", 0.9, "a.md:1")
    for names in (("docs", "notes"), ("notes", "wiki")):
        found = candidates(link, dict.fromkeys(names, "/shared"))
        assert found[0] == ("notes", "b.md")
        assert {source for source, _ in found} == {*names}


def test_links_are_followed_from_the_best_eight_passages_alone(tmp_path: Path) -> None:
    words = ("amber", "birch", "cedar", "dune", "elm", "fern", "gorse", "hazel", "iris", "juniper")
    notes = {
        f"memory/{word}.md": f"The kestrel deployment failed at {word}: [it](of-{word}.md).\n"
        for word in words
    }
    notes |= {f"memory/of-{word}.md": f"Bread of {word} is baked at noon.\n" for word in words}
    parts = found(put(tmp_path / "many", notes), 4000)
    own = [part["citation"] for part in parts if "via" not in part]
    assert len(own) == len(words)
    assert [part["via"] for part in parts if "via" in part] == own[:8]


def test_links_are_followed_above_the_least_score_from_the_best_passage_on() -> None:
    links = [
        Link("memory", "note.md", "far.md", score, citation)
        for score, citation in (
            (HOW.theta / HOW.eta, "a.md:1"),
            (0.31, "c.md:1"),
            (0.31, "b.md:1"),
            (0.9, "d.md:1"),
        )
    ]
    assert [link.citation for link in strong(links, HOW)] == ["d.md:1", "b.md:1", "c.md:1"]


def test_a_target_that_was_found_better_itself_keeps_no_other_away() -> None:
    near, far = (make_excerpt(chunk_id=n, text=f"Note {n}.", path=f"{n}.md") for n in (1, 2))
    found = [make_part(PASSAGES, near, score=0.9)]
    hops = [LinkedPassage(near, 0.45, "x.md:1"), LinkedPassage(far, 0.4, "x.md:1")]
    assert [part.excerpt.about.path for part in with_hops(found, hops)] == ["1.md", "2.md"]
