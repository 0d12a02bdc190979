"""The versions of some lines, through edits around them, renames and what is in no commit yet."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.api.versions import lines_before
from tests.commands import checked, say
from tests.history.repositories import commit, git


@pytest.mark.parametrize(
    ("old", "new", "wanted", "expected"),
    [
        ("abc", "abc", (2, 2), (2, 2)),
        ("abc", "xabc", (3, 3), (2, 2)),  # a line above is new
        ("abc", "axc", (2, 2), (2, 2)),  # put in its place
        ("abbc", "axc", (2, 2), (2, 3)),  # one for two
        ("ac", "abc", (2, 2), None),  # new
        ("ac", "abc", (1, 3), (1, 2)),
        ("", "a", (1, 1), None),
    ],
)
def test_lines_are_found_where_they_stood(
    old: str, new: str, wanted: tuple[int, int], expected: tuple[int, int] | None
) -> None:
    assert lines_before(old, new, wanted) == expected


@given(old=st.text("abc", max_size=8), new=st.text("abc", min_size=1, max_size=8), data=st.data())
def test_what_is_found_lies_within_the_file(old: str, new: str, data: st.DataObject) -> None:
    first = data.draw(st.integers(1, len(new)))
    last = data.draw(st.integers(first, len(new)))
    found = lines_before(old, new, (first, last))
    assert found is None or 1 <= found[0] <= found[1] <= len(old)
    assert lines_before(new, new, (first, last)) == (first, last)


def test_versions_are_told_the_newest_first(notes: Path) -> None:
    short = [git(notes, "rev-parse", "--short=7", name) for name in ("HEAD~1", "HEAD~2")]
    commit(notes, "2026-03-03", {"MEMORY.md": "# Rules\n\nfox\n\nThe pool has 40 connections.\n"})
    found = say("get", "MEMORY.md:5", "--history", folder=notes)
    assert found.out == (
        f"==> MEMORY.md:3  2026-02-10 ({short[0]}) <==\n"
        "The pool has 40 connections.\n"
        f"==> MEMORY.md:3  2026-02-01 ({short[1]}) <==\n"
        "The pool has 10 connections.\n"
    )
    assert (found.code, found.err) == (0, "")


def test_what_is_on_disk_alone_comes_first_and_an_earlier_name_is_followed(notes: Path) -> None:
    path = "memory/2026-02-01-pool.md"
    (notes / path).write_text("# Pool\n\nThe pool ran dry at one.\n")
    found = say("get", f"{path}:3", "--history", "--json", folder=notes)
    record = checked("memcli.get-history", found.out)
    told = [(each["day"], each["citation"], each["text"]) for each in record["versions"]]
    assert record["schema"] == "memcli.get-history/1"
    assert told == [
        (None, f"{path}:3", "The pool ran dry at one."),
        ("2026-02-01", "memory/2026-02-01.md:3", "The pool ran dry at noon."),
    ]
    (notes / "new.md").write_text("fox\n")
    new = say("get", "new.md", "--history", folder=notes)
    assert new.out == "==> new.md:1  in no commit yet <==\nfox\n"


def test_a_shallow_clone_says_how_far_it_looked(notes: Path) -> None:
    shallow = notes.parent / "shallow"
    git(notes.parent, "clone", "-q", "--depth=2", f"file://{notes}", str(shallow))
    found = say("get", "MEMORY.md:3", "--history", folder=shallow)
    assert found.out.count("==> ") == 1
    assert "the history here goes back only to " in found.err


def test_secrets_of_earlier_versions_are_put_out_of_sight(notes: Path) -> None:
    token = "ghp_" + "x7Kd92mQvB4tLw8sRz1nYc5HgJ3fPaE6uT0i"
    commit(notes, "2026-04-01", {"memory/key.md": f"the key {token}\n"})
    commit(notes, "2026-04-02", {"memory/key.md": "the key is gone\n"})
    found = say("get", "memory/key.md:1", "--history", folder=notes)
    assert "[secret: github-token]" in found.out
    assert token not in found.out


def test_it_is_not_about_an_earlier_state(notes: Path) -> None:
    found = say("get", "MEMORY.md", "--as-of", "HEAD", "--history", folder=notes)
    assert (found.code, found.out) == (2, "")
    assert found.err.endswith("Try: memcli get MEMORY.md --history\n")
