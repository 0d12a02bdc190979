from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memcli.types import Diff, FileStat, KnownFile, Listing, Skip
from memcli.workspace.diff import RACY_NS, diff

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
