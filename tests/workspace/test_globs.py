from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from memcli.errors import ConfigError
from memcli.types import Source
from memcli.workspace.globs import (
    anchor,
    compile_complex,
    literal_start,
    match_name,
    match_path,
    matcher,
    parse,
)  # fmt: skip
from memcli.workspace.ignore import Patterns, Rules

SEGMENT = st.sampled_from(["a", "b", "ab", "*", "a*", "*b", "*a*", "a*b", "x.md", "*.md"])
PATTERN = st.builds(
    lambda lead, segments, tail: lead + "/".join(segments) + tail,
    st.sampled_from(["", "/", "**/"]),
    st.lists(st.one_of(SEGMENT, SEGMENT, st.just("**")), min_size=1, max_size=3),
    st.sampled_from(["", "", "/", "/**"]),
)
NAME = st.sampled_from(["a", "b", "ab", "aab", "abb", "x.md", "c"])
PATH = st.lists(NAME, min_size=1, max_size=4).map("/".join)


def _plain(pattern: str) -> bool:
    """Leave out what gitignore does not define: `**` twice in a row or before a last slash."""
    return "**/**" not in pattern and not pattern.endswith("**/")


@given(st.lists(PATTERN.filter(_plain), min_size=1, max_size=3), PATH)
def test_same_as_pathspec(patterns: list[str], path: str) -> None:
    assert matcher(patterns)(path) == bool(GitIgnoreSpec.from_lines(patterns).match_file(path))


@given(st.lists(PATTERN.filter(_plain), min_size=1, max_size=3), PATH)
def test_entry_by_entry_is_the_same_as_the_whole_path(patterns: list[str], path: str) -> None:
    rules = Rules(Source("memory", "/x", ("**/*.md",)), patterns)
    assert rules.hides(path, False) == matcher(patterns)(path)


@given(PATTERN.filter(_plain), PATH)
def test_include_is_the_anchored_glob(pattern: str, path: str) -> None:
    path = f"{path}/n.md"
    folder, slash, name = path.rpartition("/")
    rules = Rules(Source("memory", "/x", (pattern,)))
    glob = parse(pattern, anchored=True)
    whole = glob is not None and match_path(glob, path, False)
    # An include of files by name does not take in a folder of that name.
    if not (whole and not rules.includes(folder + slash, name) and pattern.endswith(".md")):
        assert rules.includes(folder + slash, name) == whole
    if rules.includes(folder + slash, name):
        parts = folder.split("/")
        assert all(rules.leads_into("/".join(parts[:i]) + "/") for i in range(1, len(parts) + 1))


@pytest.mark.parametrize(
    ("patterns", "path", "expected"),
    [
        (["*.md"], "a/b.md", True),
        (["/*.md"], "a/b.md", False),
        (["a/"], "a", False),
        (["a/"], "b/a/c", True),
        (["# a", "", "  "], "a", False),
        (["a/**", "!a/k.md"], "a/k.md", False),
        (["a?.md"], "ab.md", True),
        (["[ab].md"], "c.md", False),
        ([r"\#x"], "#x", True),
    ],
)
def test_gitignore_syntax(patterns: list[str], path: str, expected: bool) -> None:
    assert matcher(patterns)(path) is expected


def test_a_negated_file_below_an_ignored_glob_is_reached() -> None:
    patterns = Patterns(["a/**", "!a/k.md"], "x")
    assert not patterns.match("a", "a", True)
    assert patterns.match("a/j.md", "j.md", False)
    assert not patterns.match("a/k.md", "k.md", False)


def test_paths_without_a_star_are_looked_up_and_compared_with_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patterns = Patterns(["/a.md", *(f"memory/{n}.md" for n in range(1000))], "x")
    monkeypatch.delattr("memcli.workspace.globs.match_path")
    paths = ("a.md", "memory/999.md", "memory/1000.md", "b/a.md")
    matches = [patterns.match(path, path.rpartition("/")[2], False) for path in paths]
    assert matches == [True, True, False, False]


def test_a_pattern_for_folders_hides_what_is_below_one_and_no_file_of_that_name() -> None:
    rules = Rules(Source("memory", "/", ("**/*.md",)), ["build.md/"])
    assert not rules.hides("a/build.md", False)
    assert rules.hides("a/build.md", True)
    assert rules.hides("a/build.md/b.md", False)


def test_stars_are_linear() -> None:
    assert not match_name("*a" * 100 + "*b", "a" * 255)
    assert not matcher(["**/a/" * 50 + "b"])("a/" * 1000 + "c")
    assert match_name("*a" * 100, "a" * 255)


@pytest.mark.parametrize("pattern", ["?*a*a*a*b", "!", "a\\"])
def test_patterns_that_cannot_be_used(pattern: str) -> None:
    with pytest.raises(ConfigError, match="notes: ") as caught:
        Patterns([pattern], "notes")
    assert caught.value.hint


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["x[5-0].md"], "bad character range"),
        (["!keep", "*" * 100 + "x"], "more than 3 stars"),
        (["?", "*a*a*a*a*b"], "more than 3 stars"),
        (["a**b**[x]"], "more than 3 stars"),
        (["!keep", *(f"*a*b*{number}" for number in range(9))], "too many patterns"),
    ],
    ids=["range", "run of stars", "stars beside ?", "stars in a name", "many patterns"],
)
def test_a_pattern_that_would_take_long_or_makes_no_sense_is_refused(
    lines: list[str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        compile_complex(lines, ".memcliignore")


def test_three_patterns_of_three_stars_are_not_too_many() -> None:
    matches = compile_complex(["?*a*b*", "*c*d*1", "*e*f*2"], ".memcliignore")
    assert [matches(name) for name in ("xab", "cd1", "ef2", "ab")] == [True, True, True, False]
    with pytest.raises(ConfigError, match="too many patterns"):
        compile_complex(["?*a*b*", "*c*d*1", "*e*f*2", "*g"], ".memcliignore")


def test_an_anchored_pattern_with_a_class_reaches_every_depth_by_its_stars_alone() -> None:
    matches = compile_complex([anchor("**/[ab].md")], "include")
    assert [path for path in ("a.md", "x/b.md", "x/c.md") if matches(path)] == ["a.md", "x/b.md"]
    assert not compile_complex([anchor("[ab].md")], "include")("x/b.md")


def test_a_bracket_in_a_class_is_no_warning() -> None:
    assert compile_complex(["[[a]b.md"], ".memcliignore")("[b.md")


@pytest.mark.parametrize(
    ("pattern", "start"), [("a/b/*.md", "a/b/"), ("a/*/b.md", "a/"), ("*.md", ""), ("a/b.md", "a/")]
)
def test_the_folders_before_the_first_star_begin_every_match(pattern: str, start: str) -> None:
    glob = parse(pattern, anchored=True)
    assert glob is not None
    assert literal_start(glob) == start
