from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

import pytest

from memcli.errors import ConfigError
from memcli.types import FileStat, Listing, Skip
from memcli.workspace.discover import MAX_DEPTH, discover, missing_mounts, mounts_as_json
from memcli.workspace.ignore import load_rules

from .tree import LIMIT, brief, make, make_socket, paths, source, unprivileged, walk


def test_exact_listing(tmp_path: Path) -> None:
    make(tmp_path, "b.md", "a/c.md", "a.md", "a-b.md", "a/d.txt", "README")
    listing = walk(tmp_path)
    assert paths(listing) == ["a-b.md", "a.md", "a/c.md", "b.md"]
    assert listing.skips == ()
    assert listing.unlisted == ()
    st = (tmp_path / "b.md").stat()
    expected = ("memory", "b.md", 4, st.st_mtime_ns, st.st_ctime_ns, st.st_ino)
    assert listing.files[-1] == FileStat(*expected)
    assert walk(tmp_path) == listing


@pytest.mark.parametrize(
    ("include", "expected"),
    [
        ("*.md", ["top.md"]),
        ("top.md", ["top.md"]),
        ("low.md", []),
        ("**/low.md", ["a/b/low.md"]),
        ("a/**", ["a/b/low.md", "a/mid.md"]),
        ("a/", ["a/b/low.md", "a/mid.md"]),
        ("a", ["a/b/low.md", "a/mid.md"]),
        ("a/*.md", ["a/mid.md"]),
        ("*/mid.md", ["a/mid.md"]),
        ("**/b/*.md", ["a/b/low.md"]),
        ("a/b/low.md", ["a/b/low.md"]),
        ("a/?id.md", ["a/mid.md"]),
        ("**", ["a/b/low.md", "a/mid.md", "top.md"]),
        ("*.txt", []),
        ("*b", []),
        ("**/*b", ["a/b/low.md"]),
        ("a*", ["a/b/low.md", "a/mid.md"]),
        ("a/*/", ["a/b/low.md"]),
        ("*.md/", []),
        ("# x", []),
    ],
)
def test_include(tmp_path: Path, include: str, expected: list[str]) -> None:
    make(tmp_path, "top.md", "a/mid.md", "a/b/low.md", "note.txt")
    assert paths(walk(tmp_path, include)) == expected


def test_a_pattern_of_folders_hides_no_file(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b.md/c.md")
    assert paths(walk(tmp_path, exclude=["*.md/"])) == ["a.md"]


def test_every_folder_that_was_opened_is_closed(tmp_path: Path) -> None:
    make(tmp_path, "a/b/c/d.md", "e/f.md")
    before = sorted(Path("/dev/fd").iterdir())
    load_rules(source(tmp_path))
    walk(tmp_path)
    assert sorted(Path("/dev/fd").iterdir()) == before


def test_the_ending_counts_in_any_case_and_names_as_on_disk(tmp_path: Path) -> None:
    make(tmp_path, "A.MD", "b.Md", "Memory.md", "c.MARKDOWN")
    assert paths(walk(tmp_path, "*.md", "*.markdown")) == [
        "A.MD",
        "Memory.md",
        "b.Md",
        "c.MARKDOWN",
    ]
    assert paths(walk(tmp_path, "[A-Z].md")) == ["A.MD"]
    assert paths(walk(tmp_path, "MEMORY.md")) == []


def test_ignored(tmp_path: Path) -> None:
    make(tmp_path, "a.md", ".hidden.md", ".obsidian/x.md", ".env", "drafts/x.md", "drafts/y/z.md")
    make(tmp_path, "old/k.md", "old/l.md", "tmp.txt", "secret.md")
    for noise in (".git", "node_modules", ".venv", "venv", "__pycache__", "dist", "build"):
        make(tmp_path, f"{noise}/x.md", f"sub/{noise}/x.md")
    (tmp_path / ".memcliignore").write_text("# no\ndrafts/\r\n\n*.txt\nsecret.md\n")
    listing = walk(tmp_path, exclude=["old/l*"])
    assert paths(listing) == ["a.md", "old/k.md"]
    assert brief(listing.skips) == [
        (".hidden.md", "ignored", "hidden"),
        (".obsidian", "ignored", "hidden"),
        ("drafts", "ignored", ".memcliignore"),
        ("old/l.md", "ignored", "exclude"),
        ("secret.md", "ignored", ".memcliignore"),
    ]


def test_negated_line_of_the_ignore_file(tmp_path: Path) -> None:
    make(tmp_path, "a/j.md", "a/k.md", "b.md")
    (tmp_path / ".memcliignore").write_bytes(b"\xef\xbb\xbfa/**\n!a/k.md\n")
    listing = walk(tmp_path)
    assert paths(listing) == ["a/k.md", "b.md"]
    assert brief(listing.skips) == [("a/j.md", "ignored", ".memcliignore")]


def test_folders_that_the_globs_do_not_reach_are_not_reported(tmp_path: Path) -> None:
    make(tmp_path, "memory/a.md", ".obsidian/x.md", "src/x.md", ".b.md")
    assert walk(tmp_path, "memory/**/*.md").skips == ()


def test_unusable_ignore_file_lists_nothing(tmp_path: Path) -> None:
    make(tmp_path, "a.md")
    (tmp_path / ".memcliignore").mkdir()
    listing = walk(tmp_path)
    assert listing.files == ()
    assert brief(listing.unlisted) == [(".", "unreadable", ".memcliignore: not a regular file")]
    (tmp_path / ".memcliignore").rmdir()
    (tmp_path / ".memcliignore").write_bytes(b"\xff\n")
    with pytest.raises(ConfigError, match="not UTF-8"):
        walk(tmp_path)
    (tmp_path / ".memcliignore").write_bytes(b"x" * 70_000)
    assert walk(tmp_path).unlisted[0].detail == ".memcliignore: larger than 65536 bytes"
    (tmp_path / ".memcliignore").unlink()
    os.mkfifo(tmp_path / ".memcliignore")
    assert walk(tmp_path).unlisted[0].detail == ".memcliignore: not a regular file"
    (tmp_path / ".memcliignore").unlink()
    for target in ("other", "nowhere"):
        (tmp_path / "other").write_text("[z-a]\n")
        (tmp_path / ".memcliignore").symlink_to(target)
        told = walk(tmp_path).unlisted[0].detail
        assert told == ".memcliignore: a link, which is not followed"
        (tmp_path / ".memcliignore").unlink()


def test_too_large(tmp_path: Path) -> None:
    make(tmp_path, "a.md", text="x" * LIMIT)
    make(tmp_path, "b.md", text="x" * (LIMIT + 1))
    listing = walk(tmp_path)
    assert paths(listing) == ["a.md"]
    assert brief(listing.skips) == [
        ("b.md", "too-large", f"{LIMIT + 1} bytes, the limit is {LIMIT}")
    ]


def test_what_is_not_regular(tmp_path: Path) -> None:
    make(tmp_path, "x.md/inner.md")
    os.mkfifo(tmp_path / "fifo.md")
    os.mkfifo(tmp_path / "fifo")
    make_socket(tmp_path / "sock.md")
    listing = walk(tmp_path)
    assert paths(listing) == ["x.md/inner.md"]
    assert brief(listing.skips) == [
        ("fifo.md", "not-regular", "FIFO"),
        ("sock.md", "not-regular", "socket"),
    ]


def test_links_are_reported(tmp_path: Path) -> None:
    make(tmp_path / "out", "o.md")
    root = make(tmp_path / "ws", "a/b.md", "note.txt")
    (root / "file.md").symlink_to("a/b.md")
    (root / "folder").symlink_to("a")
    (root / "loop").symlink_to(".")
    (root / "self.md").symlink_to("self.md")
    (root / "broken.md").symlink_to("nowhere")
    (root / "broken").symlink_to("nowhere")
    (root / "plain").symlink_to("note.txt")
    (root / "node_modules").symlink_to("a")
    (root / "out").symlink_to(tmp_path / "out")
    listing = walk(root)
    assert paths(listing) == ["a/b.md"]
    names = ("broken.md", "file.md", "folder", "loop", "out", "self.md")
    assert brief(listing.skips) == [(n, "symlink", "links are not followed") for n in names]


def test_a_pattern_of_folders_is_not_of_a_link_to_a_file(tmp_path: Path) -> None:
    make(tmp_path, "a/b.md", ".memcliignore", text="x.md/\ny.md/\n")
    (tmp_path / "x.md").symlink_to("a/b.md")
    (tmp_path / "y.md").symlink_to("a")
    assert brief(walk(tmp_path).skips) == [
        ("x.md", "symlink", "links are not followed"),
        ("y.md", "ignored", ".memcliignore"),
    ]


def test_links_are_followed_inside_the_root(tmp_path: Path) -> None:
    make(tmp_path / "out", "o.md")
    root = make(tmp_path / "ws", "memory/a.md", "notes/deep/n.md", "x.md", ".git/g.md")
    (root / "memory/notes").symlink_to("../notes")
    (root / "memory/x.md").symlink_to("../x.md")
    (root / "memory/again.md").symlink_to("a.md")
    (root / "memory/loop").symlink_to("..")
    (root / "memory/git").symlink_to("../.git")
    (root / "memory/out").symlink_to(tmp_path / "out")
    (root / "memory/out.md").symlink_to(tmp_path / "out/o.md")
    (root / "memory/broken.md").symlink_to("nowhere")
    (root / "notes/back").symlink_to("../memory")
    (root / "notes/self.md").symlink_to("self.md")
    os.mkfifo(root / "pipe")
    (root / "memory/pipe.md").symlink_to("../pipe")
    listing = walk(root, "memory/**/*.md", follow=True)
    assert paths(listing) == ["memory/a.md", "memory/notes/deep/n.md", "memory/x.md"]
    assert listing.files[2].inode == (root / "x.md").stat().st_ino
    assert brief(listing.skips) == [
        ("memory/again.md", "symlink", "its target is searched already"),
        ("memory/broken.md", "symlink", "broken link"),
        ("memory/git", "symlink", "its target is ignored"),
        ("memory/loop", "symlink", "its target is searched already"),
        ("memory/notes/back", "symlink", "its target is searched already"),
        ("memory/notes/self.md", "symlink", "broken link"),
        ("memory/out", "symlink", "its target is outside the source"),
        ("memory/out.md", "symlink", "its target is outside the source"),
        ("memory/pipe.md", "not-regular", "FIFO"),
    ]


def test_folders_that_link_to_each_other_are_walked_once(tmp_path: Path) -> None:
    names = [f"f{i}" for i in range(12)]
    for name in names:
        make(tmp_path, f"all/{name}/n.md")
        for other in names:
            (tmp_path / f"all/{name}/{other}").symlink_to(f"../{other}")
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/in").symlink_to("../all/f0")
    listing = walk(tmp_path, "memory/**/*.md", follow=True)
    assert len(listing.files) == 12
    assert listing.files[0].path == "memory/in/f1/n.md"


@pytest.mark.skipif(os.name != "posix", reason="names are text on Windows")
def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    root = os.fsencode(tmp_path)
    folder = Path(os.fsdecode(root + b"/caf\xe9"))
    folder.mkdir()
    for name in (b"/a\xff.md", b"/caf\xe9/x.md", b"/b\xff.txt"):
        Path(os.fsdecode(root + name)).touch()
    Path(os.fsdecode(root + b"/l\xff.md")).symlink_to("x")
    make(tmp_path, "日記.md", "new\nline\x1b.md")
    listing = walk(tmp_path)
    assert paths(listing) == ["new\nline\x1b.md", "日記.md"]
    detail = "name is not UTF-8"
    assert brief(listing.skips) == [
        ("a\\xff.md", "unreadable", detail),
        ("caf\\xe9", "unreadable", detail),
        ("l\\xff.md", "unreadable", detail),
    ]
    repr(listing).encode()


def test_deep_nesting(tmp_path: Path) -> None:
    def dig(levels: int) -> None:
        folder = os.open(tmp_path, os.O_RDONLY)
        for _ in range(levels):
            with suppress(FileExistsError):
                os.mkdir("d", dir_fd=folder)
            below = os.open("d", os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = below
        os.close(os.open("n.md", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
        os.close(folder)

    dig(200)
    dig(MAX_DEPTH)
    assert paths(walk(tmp_path)) == sorted(["d/" * 200 + "n.md", "d/" * MAX_DEPTH + "n.md"])
    dig(MAX_DEPTH + 1)
    listing = walk(tmp_path)
    assert len(listing.files) == 2
    assert brief(listing.unlisted) == [
        ("/".join("d" * (MAX_DEPTH + 1)), "unreadable", f"more than {MAX_DEPTH} folders deep")
    ]


def test_missing_root(tmp_path: Path) -> None:
    for name in ("memory", "notes"):
        gone = source(tmp_path / "gone", name=name)
        listing = discover([gone], max_bytes=LIMIT)
        expected = Skip(name, ".", "unreadable", "No such file or directory")
        assert listing == Listing((), (), (expected,))
    make(tmp_path, "file")
    listing = discover([source(tmp_path / "file")], max_bytes=LIMIT)
    assert listing.unlisted[0].detail == "Not a directory"


def test_an_empty_further_source_may_be_an_unmounted_one(tmp_path: Path) -> None:
    assert walk(tmp_path) == Listing((), (), ())
    listing = discover([source(tmp_path, name="disk")], max_bytes=LIMIT)
    assert brief(listing.unlisted) == [(".", "unreadable", "the folder is empty; not mounted?")]
    make(tmp_path, "x.txt")
    assert discover([source(tmp_path, name="disk")], max_bytes=LIMIT) == Listing((), (), ())


def test_several_sources(tmp_path: Path) -> None:
    make(tmp_path, "memory/a.md", "memory/b.md", "z/c.md")
    one = source(tmp_path, "memory/a.md", name="second")
    two = source(tmp_path / "memory", name="first")
    listing = discover([one, two], max_bytes=LIMIT)
    assert [(f.source, f.path) for f in listing.files] == [("first", "a.md"), ("first", "b.md")]


CANNOT_LIST = """
from memcli.types import Source
from memcli.workspace.discover import discover
listing = discover([Source("memory", sys.argv[1], ("**/*.md",))], max_bytes=1000)
print([f.path for f in listing.files], listing.unlisted[0][1:], len(listing.unlisted))
"""


def test_unreadable_folder(tmp_path: Path, open_tmp: Path) -> None:
    make(open_tmp, "a.md", "closed/b.md", "blind/c.md")
    (open_tmp / "closed").chmod(0o000)
    out = unprivileged(CANNOT_LIST, str(open_tmp))
    expected = "('closed', 'unreadable', 'Permission denied')"
    assert out == f"['a.md', 'blind/c.md'] {expected} 1\n"
    (open_tmp / "blind").chmod(0o444)  # names can be listed, files cannot be looked at
    code = CANNOT_LIST + "print(listing.skips[0][1:])"
    out = unprivileged(code, str(open_tmp))
    assert out == f"['a.md'] {expected} 1\n('blind/c.md', 'unreadable', 'Permission denied')\n"
    open_tmp.chmod(0o000)
    out = unprivileged(CANNOT_LIST, str(open_tmp))
    assert out == "[] ('.', 'unreadable', 'Permission denied') 1\n"


def test_accepts_is_what_discover_lists(tmp_path: Path) -> None:
    make(tmp_path, "a.md", ".h.md", "d/x.md", "d/keep/y.md", "build/z.md", "t.txt", "e/f/g.MD")
    (tmp_path / ".memcliignore").write_text("d/*.md\na.md/\n")
    listed = paths(walk(tmp_path, exclude=["f"]))
    rules = load_rules(source(tmp_path, exclude=["f"]))
    every = [p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()]
    assert sorted(p for p in every if rules.accepts(p)) == listed == ["a.md", "d/keep/y.md"]
    assert not any(rules.accepts(p) for p in ("../a.md", "/a.md", "d//y.md", "", "d/../a.md"))


def test_a_hidden_folder_is_not_left_out_where_a_source_lies_in_it(tmp_path: Path) -> None:
    make(tmp_path, "a/small.md", "a/.kept/notes/b.md", "a/.left/c.md", "other/d.md")
    sources = [
        source(tmp_path / place, name=place[-5:]) for place in ("a", "a/.kept/notes", "other")
    ]
    assert [skip.path for skip in discover(sources, max_bytes=99).skips] == [".left"]


def test_what_is_left_out_of_each_of_several_sources_is_told(tmp_path: Path) -> None:
    make(tmp_path, "a/small.md", "b/small.md")
    for place in ("a", "b"):
        (tmp_path / place / "large.md").write_text("x" * 40)
    two = [source(tmp_path / "a", name="one"), source(tmp_path / "b", name="two")]
    skips = discover(two, max_bytes=20).skips
    assert [(skip.source, skip.path) for skip in skips] == [
        ("one", "large.md"),
        ("two", "large.md"),
    ]


NOTHING = Listing((), (), ())


def test_an_empty_folder_that_was_a_mount_point_is_missed(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a.md").touch()
    seen = NOTHING._replace(mounts=tuple(("memory", name) for name in ("disk", "full", "gone")))
    found = missing_mounts([source(tmp_path)], NOTHING, mounts_as_json(seen, ()))
    assert found == [Skip("memory", "disk", "unreadable", "nothing is mounted there now")]
    assert missing_mounts([source(tmp_path)], seen, mounts_as_json(seen, ())) == []
    assert json.loads(mounts_as_json(NOTHING, found)) == [["memory", "disk"]]


@pytest.mark.parametrize(
    "planted",
    ["seven", "-7", "{}", "[1]", "[[1, 2]]", '[["memory"]]', '[["memory", "../away"]]', "[" * 9999,
     '[["memory", "a\\u0000b"]]', '[["memory", "/"]]', '"memory"', "null", '[{"memory": "away"}]'],
)  # fmt: skip
def test_whatever_else_stands_in_an_index_is_no_mount_point(tmp_path: Path, planted: str) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "away").mkdir()
    assert missing_mounts([source(tmp_path / "ws")], NOTHING, planted) == []


def test_mounts_of_a_source_that_is_gone_hide_no_others(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    seen = NOTHING._replace(mounts=(("docs", "away"), ("memory", "a"), ("memory", "disk")))
    again = NOTHING._replace(mounts=(("memory", "a"),))
    found = missing_mounts([source(tmp_path)], again, mounts_as_json(seen, ()))
    assert [skip.path for skip in found] == ["disk"]
