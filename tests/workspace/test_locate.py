from __future__ import annotations

import os
from pathlib import Path

import pytest

from memcli.errors import ExitCode, NotFoundError
from memcli.workspace import locate as locating
from memcli.workspace.locate import (
    MARK_FOLDERS,
    Site,
    default_source,
    holds_markdown,
    locate,
    main_root,
    mark_of,
    named,
)
from memcli.workspace.names import documents_at, globs_of

from .tree import make, paths, walk


@pytest.mark.parametrize(
    ("put", "mark"),
    [
        ("memcli.toml", "memcli.toml"),
        ("MEMORY.md", "MEMORY.md"),
        *((f"{name}/a.md", f"{name}/") for name in MARK_FOLDERS),
    ],
)
def test_nearest_marked_ancestor(tmp_path: Path, put: str, mark: str) -> None:
    make(tmp_path, "MEMORY.md")
    make(tmp_path / "in", put, "x/y/z.txt")
    found = Site(os.path.realpath(tmp_path / "in"), mark)
    assert locate(None, None, str(tmp_path / "in/x/y")) == found
    assert locate(None, "", str(tmp_path / "in")) == found


def test_a_mark_of_the_wrong_type_is_none(tmp_path: Path) -> None:
    make(tmp_path, "MEMORY.md")
    make(tmp_path / "in", "memory")
    (tmp_path / "in/MEMORY.md").mkdir()
    assert locate(None, None, str(tmp_path / "in")).root == os.path.realpath(tmp_path)
    assert mark_of(str(tmp_path / "in")) == ""


def test_named_wins_over_environment_over_ancestor(tmp_path: Path) -> None:
    make(tmp_path, "MEMORY.md", "plain/a.txt", "env/b.txt")
    here, plain, env = str(tmp_path), tmp_path / "plain", tmp_path / "env"
    assert locate("plain", str(env), here) == Site(os.path.realpath(plain), "-w")
    assert locate(None, str(env), here) == Site(os.path.realpath(env), "MEMCLI_WORKSPACE")
    assert locate(str(env), None, "/") == Site(os.path.realpath(env), "-w")


def test_real_path(tmp_path: Path) -> None:
    make(tmp_path / "real", "MEMORY.md")
    (tmp_path / "link").symlink_to("real")
    found = locate(str(tmp_path / "link"), None, "/")
    assert found.root == os.path.realpath(tmp_path / "real")


def test_without_a_mark_it_is_the_folder_or_its_repository(tmp_path: Path) -> None:
    make(tmp_path, "notes/a/b.md", "code/.git/HEAD", "code/docs/c.md")
    notes, code = os.path.realpath(tmp_path / "notes"), os.path.realpath(tmp_path / "code")
    assert locate(None, None, f"{notes}/a") == Site(f"{notes}/a", "")
    assert locate(None, None, f"{code}/docs") == Site(code, "")


def test_a_home_folder_is_never_meant_whole(tmp_path: Path) -> None:
    home = tmp_path / "users/kim"
    make(home, ".git/HEAD", "notes/a.md")
    for folder in (home, home.parent, Path("/")):
        with pytest.raises(NotFoundError) as caught:
            locate(None, None, str(folder), home=str(home))
        assert str(folder) in caught.value.message
        assert caught.value.hint == "go to a folder of notes, or name one: -w FOLDER"
        assert caught.value.exit_code == ExitCode.NOT_FOUND
        anywhere = locate(None, None, str(folder), home=str(home), anywhere=True)
        assert anywhere == Site(os.path.realpath(folder), "")
    # A home that is a repository of settings does not take the notes in it along.
    assert locate(None, None, str(home / "notes"), home=str(home)).root == str(home / "notes")
    assert locate(None, None, None, home=str(home), anywhere=True) == Site(str(home), "")
    with pytest.raises(NotFoundError, match="the current folder has been deleted"):
        locate(None, None, None, home=str(home))


def test_the_repository_of_a_work_tree(tmp_path: Path) -> None:
    make(tmp_path, "main/.git/worktrees/fix/HEAD", "fix/a.md", "fake/a.md")
    main, fix, fake = (os.path.realpath(tmp_path / name) for name in ("main", "fix", "fake"))
    entry = f"{main}/.git/worktrees/fix"
    Path(entry, "gitdir").write_text(f"{fix}/.git\n")
    for folder in (fix, fake):
        Path(folder, ".git").write_text(f"gitdir: {entry}\n")
    assert main_root(fix) == main
    assert main_root(fake) == fake  # which the repository does not know of
    assert main_root(main) == main
    Path(fix, ".git").write_text("gitdir: ../elsewhere\n")
    assert main_root(fix) == fix


@pytest.mark.parametrize("name", ["gone", "", "a\0b"])
def test_named_folder_is_missing(tmp_path: Path, name: str) -> None:
    make(tmp_path, "MEMORY.md")
    with pytest.raises(NotFoundError, match="there is no folder") as caught:
        locate(name, None, str(tmp_path))
    assert caught.value.hint


def test_of_a_folder_that_is_missing_the_nearest_is_named(tmp_path: Path) -> None:
    make(tmp_path, "notes/MEMORY.md")
    for name, hint in (("nots", f"-w {tmp_path}/notes"), ("x/y", f"ls {tmp_path}")):
        with pytest.raises(NotFoundError, match="there is no folder") as caught:
            locate(name, None, str(tmp_path))
        assert caught.value.hint == hint


def test_named_file(tmp_path: Path) -> None:
    make(tmp_path, "MEMORY.md")
    with pytest.raises(NotFoundError, match=r"-w: MEMORY\.md is a file") as caught:
        locate("MEMORY.md", None, str(tmp_path))
    assert caught.value.hint == f"-w {tmp_path}"
    with pytest.raises(NotFoundError, match=r"MEMCLI_WORKSPACE: .* is a file"):
        locate(None, str(tmp_path / "MEMORY.md"), "/")


def test_default_source_of_the_memory_alone(tmp_path: Path) -> None:
    make(tmp_path, "MEMORY.md", "USER.md", "README.md", "memory/a.md", "memory/b/c.markdown")
    make(tmp_path, "memory/d.txt", "docs/MEMORY.md", "AGENTS.md")
    include = default_source(str(tmp_path), memory_alone=True).include
    assert include == ("MEMORY.md", "USER.md", "memory/**/*.md", "memory/**/*.markdown")
    assert paths(walk(tmp_path, *include)) == [
        "MEMORY.md",
        "USER.md",
        "memory/a.md",
        "memory/b/c.markdown",
    ]
    more = default_source(
        str(tmp_path), ["AGENTS.md"], ["memory/b/**"], ["memory/a.md"], memory_alone=True
    )
    assert paths(walk(tmp_path, *more.include, exclude=more.exclude)) == [
        "AGENTS.md",
        "MEMORY.md",
        "USER.md",
        "memory/a.md",
    ]
    assert more.evergreen == ("memory/a.md",)
    assert more.name == "memory"
    assert more.root == str(tmp_path)


def test_default_source_of_any_folder(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b/c/d.md", "b/e.markdown", "f.txt", "memory/2026-01-02.md")
    include = default_source(str(tmp_path)).include
    found = ["a.md", "b/c/d.md", "b/e.markdown", "memory/2026-01-02.md"]
    assert paths(walk(tmp_path, *include)) == found


def test_the_copies_that_logseq_keeps_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, "journals/2026_02_01.md", "pages/a.md", "logseq/bak/pages/a.md", "logseq/b.md")
    source = default_source(str(tmp_path), exclude=["x.md"])
    found = ["journals/2026_02_01.md", "logseq/b.md", "pages/a.md"]
    assert paths(walk(tmp_path, *source.include, exclude=source.exclude)) == found
    assert default_source(str(tmp_path / "pages")).exclude == ()


@pytest.mark.parametrize(
    ("files", "holds"),
    [
        ((), False), (("a.txt",), False), (("a/b/c.md",), True), (("README.MD",), True),
        ((".a.md", ".git/b.md", "node_modules/c.md"), False),
    ],
)  # fmt: skip
def test_whether_there_is_a_note_below(tmp_path: Path, files: tuple[str, ...], holds: bool) -> None:
    assert holds_markdown(str(make(tmp_path, *files))) is holds


def test_a_folder_too_large_to_say_may_hold_notes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "a.txt", "b.txt", "c/d.txt")  # four entries, one of them a folder
    for most, may in ((4, False), (3, True)):
        monkeypatch.setattr(locating, "MOST_ENTRIES", most)
        assert holds_markdown(str(tmp_path)) is may


def test_where_the_current_folder_is_gone_a_whole_path_names_the_workspace(tmp_path: Path) -> None:
    whole = os.path.realpath(tmp_path)
    assert locate(whole, None, None) == Site(whole, "-w")
    for explicit, variable in ((None, None), ("notes", None), (None, "notes")):
        with pytest.raises(NotFoundError, match="the current folder has been deleted"):
            locate(explicit, variable, None)


def test_a_name_is_a_document_of_each_source_it_lies_below(tmp_path: Path) -> None:
    root = os.path.realpath(tmp_path)
    roots = {"memory": root, "docs": f"{root}/docs", "far": "/far"}
    assert documents_at(f"{root}/docs", "a.md", roots) == [
        ("memory", "docs/a.md"),
        ("docs", "a.md"),
    ]
    assert documents_at(f"{root}/docs", "../a.md", roots) == [("memory", "a.md")]
    assert documents_at(root, "/far/b/c.md", roots) == [("far", "b/c.md")]
    assert documents_at(root, "/farther/c.md", roots) == []


def test_without_a_folder_only_a_whole_path_means_a_document() -> None:
    assert documents_at(None, "a.md", {"memory": "/"}) == []
    assert documents_at(None, "/far/a.md", {"memory": "/far"}) == [("memory", "a.md")]
    assert documents_at(None, "/far/a\0.md", {"memory": "/far"}) == []
    assert documents_at("/far", "a\0.md", {"memory": "/far"}) == []


def test_a_name_stands_for_files_and_for_all_below_a_folder() -> None:
    roots = {"memory": "/far", "docs": "/far/docs"}
    assert globs_of(["log/"], None, roots) == ("log", "log/")
    assert globs_of(["docs"], None, roots) == ("docs", "docs/", "docs:*")
    assert globs_of(["."], None, roots) == (".", "*")
    assert globs_of(["./log"], "/far", roots) == ("memory:log", "memory:log/*")
    assert globs_of(["log"], "/far", roots) == ("log", "log/", "memory:log", "memory:log/*")


def test_globs_that_take_some_back_name_nothing() -> None:
    assert named(["a.md", "!b.md", "c/**"]) == ("a.md", "c/**")
