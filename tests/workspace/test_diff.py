from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memcli.types import Diff, FileStat, KnownFile, Listing, Skip, Source
from memcli.workspace.diff import RACY_NS, diff, out_of_scope
from memcli.workspace.discover import discover

from .tree import make

OLD = 100 * RACY_NS
KEYS = st.tuples(st.sampled_from(["m", "n"]), st.sampled_from(["a", "b/c", "b/d", "b/e/f", "bc"]))
STATS = st.tuples(*[st.integers(0, 2)] * 4)
MANIFEST = st.dictionaries(KEYS, STATS)
Manifest = dict[tuple[str, str], tuple[int, int, int, int]]


def files(manifest: Manifest) -> tuple[FileStat, ...]:
    return tuple(FileStat(*key, *stat) for key, stat in sorted(manifest.items()))


def known(manifest: Manifest) -> dict[tuple[str, str], KnownFile]:
    return {key: KnownFile(b"", *stat, OLD) for key, stat in manifest.items()}


@given(MANIFEST, MANIFEST)
def test_applied_to_the_old_manifest_it_gives_the_listing(old: Manifest, new: Manifest) -> None:
    result = diff(Listing(files(new), (), ()), known(old))
    applied = {key: stat for key, stat in old.items() if key not in result.removed}
    applied |= {
        (f.source, f.path): (f.size, f.mtime_ns, f.ctime_ns, f.inode)
        for f in (*result.added, *result.suspect)
    }
    assert applied == new
    assert result.unchanged + len(result.added) + len(result.suspect) == len(new)
    assert {(f.source, f.path) for f in result.added} == new.keys() - old.keys()
    assert list(result.removed) == sorted(result.removed)


@given(MANIFEST, st.sets(st.tuples(st.sampled_from(["m", "n"]), st.sampled_from([".", "b", "a"]))))
def test_what_could_not_be_listed_is_not_removed(
    old: Manifest, blind: set[tuple[str, str]]
) -> None:
    unlisted = tuple(Skip(s, p, "unreadable") for s, p in sorted(blind))
    result = diff(Listing((), (), unlisted), known(old))
    kept = set(old) - set(result.removed)
    for source, path in old:
        below = any(
            s == source and (p == "." or path == p or path.startswith(p + "/")) for s, p in blind
        )
        assert ((source, path) in kept) == below


FILE = FileStat("m", "a.md", 1, 2, 3, 4)
KEY = ("m", "a.md")


def test_every_field_of_the_stat_counts() -> None:
    row = KnownFile(b"", 1, 2, 3, 4, OLD)
    assert diff(Listing((FILE,), (), ()), {KEY: row}) == Diff((), (), 1, ())
    others = (
        row._replace(size=9),
        row._replace(mtime_ns=9),
        row._replace(ctime_ns=9),
        row._replace(inode=9),
    )
    for other in others:
        assert diff(Listing((FILE,), (), ()), {KEY: other}) == Diff((), (FILE,), 0, ())


def test_a_row_too_young_is_suspect() -> None:
    for distance, young in ((RACY_NS, True), (RACY_NS + 1, False), (-RACY_NS, True)):
        file = FILE._replace(mtime_ns=OLD)
        row = KnownFile(b"", 1, OLD, 3, 4, OLD + distance)
        assert bool(diff(Listing((file,), (), ()), {KEY: row}).suspect) is young


def test_skips_remove_but_for_unreadable() -> None:
    rows = {KEY: KnownFile(b"", 1, 2, 3, 4, OLD)}
    for reason in ("ignored", "too-large", "symlink", "not-regular"):
        assert diff(Listing((), (Skip(*KEY, reason),), ()), rows).removed == (KEY,)
    assert diff(Listing((), (Skip(*KEY, "unreadable"),), ()), rows).removed == ()
    assert diff(Listing((), (Skip("n", "a.md", "unreadable"),), ()), rows).removed == (KEY,)


def told(removed: list[tuple[str, str]], *sources: Source) -> list[str]:
    listing = discover(sources, max_bytes=20)
    present = [(file.source, file.path) for file in listing.files]
    return [reason.text for reason in out_of_scope(removed, present, listing.skips, sources)]


def test_each_reason_is_told_once(tmp_path: Path) -> None:
    make(
        tmp_path, *(f"docs/{name}.md" for name in "abcd"), "e.md", ".f.md", "g/h.md", "memory/i.md"
    )
    make(tmp_path, "large.md", text="x" * 30)
    (tmp_path / ".memcliignore").write_text("g/\n")
    source = Source("memory", str(tmp_path), ("**/*.md",), exclude=("docs/", "e.md"))
    paths = [
        "docs/a.md",
        "docs/b.md",
        "docs/c.md",
        "docs/d.md",
        "e.md",
        ".f.md",
        "g/h.md",
        "large.md",
    ]
    assert told([("memory", path) for path in [*paths, "gone.md", "memory/i.md"]], source) == [
        "5 files are no longer in scope because exclude leaves them out: docs/a.md, docs/b.md,"
        " docs/c.md and 2 more",
        "1 file is no longer in scope because it is hidden: .f.md",
        "1 file is no longer in scope because .memcliignore leaves it out: g/h.md",
        "1 file is no longer in scope because it is skipped as too-large"
        " (30 bytes, the limit is 20): large.md",
    ]


def test_what_no_glob_names_any_more(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "docs/b.md")
    memory = Source("memory", str(tmp_path), ("memory/**/*.md",))
    docs = Source("docs", str(tmp_path / "docs"), ("*.markdown",))
    assert told(
        [("memory", "a.md"), ("docs", "b.md"), ("web", "x.md"), ("codex", "y.md")], memory, docs
    ) == [
        "1 file is no longer in scope because files.scope and files.include do not name it: a.md",
        "1 file is no longer in scope because the include globs of the source docs do not name it:"
        " docs:b.md",
        "1 file is no longer in scope because its source is no longer set: web:x.md",
        "1 file is no longer in scope because agent memory is searched only outside workspaces or"
        " with --with: codex:y.md",
    ]


def test_what_another_source_lists_has_not_left(tmp_path: Path) -> None:
    make(tmp_path, "docs/b.md")
    memory = Source("memory", str(tmp_path), ("**/*.md",))
    docs = Source("docs", str(tmp_path / "docs"), ("**/*.md",))
    assert told([("memory", "docs/b.md")], memory, docs) == []
