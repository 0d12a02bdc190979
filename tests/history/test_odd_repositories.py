"""Repositories of every shape, and what is said where there is none or not all of one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.commands import say
from tests.history.repositories import begin, commit, git

AS_OF = ("--as-of", "HEAD")


def line_of(folder: Path, *options: str) -> str:
    """Read the rule of a state."""
    found = say("get", "MEMORY.md:3", *options, folder=folder)
    assert found.code == 0, found.err
    return found.out


def test_a_bare_repository_is_asked_by_its_folder(notes: Path) -> None:
    bare = notes.parent / "bare.git"
    git(notes.parent, "clone", "-q", "--bare", str(notes), str(bare))
    before = sorted(path.name for path in bare.iterdir())
    found = say("search", "pool", "-f", "{citation}\n", "--as-of", "HEAD~2", "-w", str(bare),
                folder=notes.parent)  # fmt: skip
    assert found.code == 0, found.err
    assert sorted(found.out.split()) == [
        "MEMORY.md:1-3", "memory/2026-02-01.md:1-3",
    ]  # fmt: skip
    assert sorted(path.name for path in bare.iterdir()) == before


def test_a_shallow_clone_says_where_its_history_begins(notes: Path) -> None:
    shallow = notes.parent / "shallow"
    git(notes.parent, "clone", "-q", "--depth=2", f"file://{notes}", str(shallow))
    assert line_of(shallow, "--as-of", "2026-02-10") == "The pool has 40 connections.\n"
    short = git(notes, "rev-parse", "--short=7", "HEAD~1")
    for when in ("2026-02-05", git(notes, "rev-parse", "HEAD~2")):
        found = say("get", "MEMORY.md", "--as-of", when, folder=shallow)
        assert (found.code, found.out) == (3, "")
        assert f"this clone is shallow, and its history begins with {short} (2026-02-10)" in (
            found.err
        )
        assert "Try: " in found.err


def test_a_work_tree_has_a_head_of_its_own(notes: Path) -> None:
    tree = notes.parent / "tree"
    git(notes, "worktree", "add", "-q", "--detach", str(tree), "HEAD~2")
    assert line_of(tree, *AS_OF) == "The pool has 10 connections.\n"
    assert line_of(notes, *AS_OF) == "The pool has 40 connections.\n"


def test_a_folder_of_a_repository_is_a_workspace_as_well(tmp_path: Path) -> None:
    top = begin(tmp_path / "top")
    rule = "# Rules\n\nThe pool has {} connections.\n"
    oid = commit(top, "2026-02-01", {"docs/notes/MEMORY.md": rule.format(10), "README.md": "# R\n"})
    commit(top, "2026-02-02", {"docs/notes/MEMORY.md": rule.format(40)})
    folder = top / "docs/notes"
    assert line_of(folder, "--as-of", oid) == "The pool has 10 connections.\n"
    assert say("search", "R", "--as-of", oid, "-f", "{path}\n", folder=folder).out == "MEMORY.md\n"
    commit(top, "2026-02-03", {"other/MEMORY.md": rule.format(50)})
    found = say("get", "MEMORY.md", "--as-of", oid, folder=top / "other")
    assert (found.code, found.out) == (3, "")
    assert f"other is not a folder of the repository as of {oid[:7]} (2026-02-01)" in found.err


def test_a_submodule_is_read_at_the_commit_it_stood_at(notes: Path) -> None:
    top = begin(notes.parent / "top")
    git(top, "submodule", "--quiet", "add", str(notes), "team")
    git(top / "team", "checkout", "-q", "HEAD~2")
    first = commit(top, "2026-05-01", {"MEMORY.md": "# Own\n"})
    git(top / "team", "checkout", "-q", "main")
    commit(top, "2026-05-02")
    line = ("get", "team/MEMORY.md:3", "--as-of")
    assert say(*line, first, folder=top).out == "The pool has 10 connections.\n"
    assert say(*line, "HEAD", folder=top).out == "The pool has 40 connections.\n"
    assert line_of(top / "team", *AS_OF) == "The pool has 40 connections.\n"  # a workspace itself

    shutil.rmtree(top / "team")
    found = say("search", "own", "-f", "{path}\n", "--as-of", first, folder=top)
    oid = git(notes, "rev-parse", "--short=7", "HEAD~2")
    assert (found.code, found.out) == (0, "MEMORY.md\n")
    assert f"team is left out: the commit {oid} of this submodule is not here" in found.err


def test_the_line_of_first_parents_is_followed_and_no_clock(tmp_path: Path) -> None:
    """What a branch said on a day was not yet in the memory when it was merged later."""
    notes = begin(tmp_path / "notes")
    rule = "# Rules\n\nThe pool has {} connections.\n"
    commit(notes, "2026-02-01", {"MEMORY.md": rule.format(10)})
    git(notes, "checkout", "-q", "-b", "side")
    side = commit(notes, "2026-02-05", {"MEMORY.md": rule.format(40)})
    git(notes, "checkout", "-q", "main")
    commit(notes, "2026-02-08", {"memory/a.md": "# Other\n"})
    git(notes, "merge", "-q", "--no-ff", "-m", "m", "side", at="2026-02-20 12:00:00 +0000")
    assert line_of(notes, "--as-of", "2026-02-10") == "The pool has 10 connections.\n"
    assert line_of(notes, "--as-of", "2026-02-20") == "The pool has 40 connections.\n"
    assert line_of(notes, "--as-of", side) == "The pool has 40 connections.\n"


def test_names_and_bytes_are_as_on_disk(tmp_path: Path) -> None:
    notes = begin(tmp_path / "notes")
    odd = ["memory/ü ber\t'x'.md", "memory/a\nb.md", "memory/検索.md", "-n.md", "memory/CRLF.MD"]
    commit(notes, "2026-02-01", {name: f"# N\r\n\r\nfox {at}\r\n" for at, name in enumerate(odd)})
    (notes / "link.md").symlink_to("-n.md")
    bad = os.fsencode(notes) + b"/memory/caf\xe9.md"
    Path(os.fsdecode(bad)).write_bytes(b"fox\n")
    oid = commit(notes, "2026-02-02")
    for at, name in enumerate(odd):
        found = say("get", "--as-of", oid, "--json", "--", name, folder=notes)
        assert (found.code, f'fox {at}\\r"' in found.out) == (0, True), found.err
    found = say("search", "fox", "-n", "20", "--json", "--fields", "path", "--as-of", oid,
                folder=notes)  # fmt: skip
    assert found.out.count('{"path"') == len(odd)
    assert r"memory/caf\xe9.md is left out: name is not UTF-8" in found.err


def test_a_pointer_of_lfs_is_named_and_not_followed(notes: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n"
    commit(notes, "2026-04-01", {"memory/large.md": pointer})
    told = "memory/large.md is left out: a pointer of Git LFS, whose file is not in the repository"
    for _ in range(2):  # as often as it is asked
        found = say("search", "pool", *AS_OF, folder=notes)
        assert (found.code, told in found.err, "version" in found.out) == (0, True, False)
    refused = say("get", "memory/large.md", *AS_OF, folder=notes)
    assert (refused.code, refused.out) == (3, "")
    assert "a pointer of Git LFS" in refused.err


@pytest.mark.parametrize("path", ["MEMORY.md", "memory"])
def test_a_broken_object_is_named_and_the_rest_answers(notes: Path, path: str) -> None:
    say("index", "-q", folder=notes)  # what the side index begins with knows the file of today
    oid = git(notes, "rev-parse", f"HEAD:{path}")
    file = notes / ".git/objects" / oid[:2] / oid[2:]
    data = file.read_bytes()
    file.chmod(0o644)
    file.write_bytes(data[:-8] + b"\0" * 8)
    found = say("search", "pool", "--json", "--fields", "path", *AS_OF, folder=notes)
    assert found.code == 0
    assert f"{path} is left out: " in found.err
    assert oid in found.err
    lost = path in ("MEMORY.md",)
    assert ('"path":"MEMORY.md"' in found.out, '"path":"memory/' in found.out) == (
        not lost, lost,
    )  # fmt: skip
    file.write_bytes(data)
    again = say("search", "pool", "--json", "--fields", "path", *AS_OF, folder=notes)
    assert again.out.count('{"path"') == 3
    assert "left out" not in again.err


def test_a_broken_commit_is_named(notes: Path) -> None:
    oid = git(notes, "rev-parse", "HEAD~1")
    (notes / ".git/objects" / oid[:2] / oid[2:]).unlink()
    found = say("get", "MEMORY.md", "--as-of", "HEAD~1", folder=notes)
    assert (found.code, found.out) == (3, "")
    assert "Try: " in found.err


@pytest.mark.parametrize(
    ("when", "told"),
    [
        ("2025-01-01", "no commit is as old as 2025-01-01: history begins with "),
        ("deadbeef", "no commit is called 'deadbeef', and it is not a date"),
        ("-x", "no commit is called '-x'"),
        ("", "no commit is called ''"),
        ("a\nb", r"no commit is called 'a\nb'"),
        ("HEAD:MEMORY.md", "no commit is called 'HEAD:MEMORY.md'"),
        ("2026-02-31", "no commit is called '2026-02-31'"),
        ("0001-01-01", "no commit is as old as 0001-01-01"),
    ],
)
def test_a_time_that_is_not_there_is_an_error_with_a_hint(
    notes: Path, when: str, told: str
) -> None:
    for command in (("search", "pool"), ("context",), ("get", "MEMORY.md")):
        found = say(*command, f"--as-of={when}", folder=notes)
        assert (found.code, found.out) == (3, "")
        assert told in found.err
        assert "\nTry: " in found.err


def test_a_branch_without_a_commit_has_no_state(tmp_path: Path) -> None:
    notes = begin(tmp_path / "notes")
    (notes / "MEMORY.md").write_text("# Rules\n")
    for when in ("HEAD", "2026-02-01"):
        found = say("search", "rules", "--as-of", when, folder=notes)
        assert (found.code, found.out) == (3, "")
        assert "has no commits" in found.err


def test_without_a_repository_or_the_program_it_is_refused(
    tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "MEMORY.md").write_text("# Rules\n")
    found = say("search", "rules", *AS_OF, folder=plain)
    assert (found.code, found.out) == (2, "")
    assert "plain is not in a git repository" in found.err
    monkeypatch.setenv("PATH", str(plain))
    found = say("search", "pool", *AS_OF, folder=notes)
    assert (found.code, found.out) == (2, "")
    assert "git is not installed" in found.err


def test_an_empty_state_is_no_error(notes: Path) -> None:
    oid = commit(notes, "2026-04-01", dict.fromkeys(
        ("MEMORY.md", "memory/2026-02-10.md", "memory/2026-02-01-pool.md")))  # fmt: skip
    found = say("search", "pool", "--as-of", oid, folder=notes)
    assert (found.code, found.out) == (0, "")
    assert f"as of {oid[:7]} (2026-04-01)" in found.err


def test_a_history_that_git_cannot_list_is_not_one_without_commits(notes: Path) -> None:
    oid = git(notes, "rev-parse", "HEAD~1")
    file = notes / ".git" / "objects" / oid[:2] / oid[2:]
    file.chmod(0o600)
    file.write_bytes(b"garbage")
    found = say("get", "MEMORY.md", "--as-of", "2026-02-05", folder=notes)
    assert (found.code, found.out) == (3, "")
    assert "git failed to list the commits of " in found.err
    assert "Try: git fsck" in found.err
