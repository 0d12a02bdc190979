from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memcli.markdown.frontmatter import split
from memcli.markdown.parse import parse
from tests.support import loaded_by


def metadata(text: str) -> dict[str, object]:
    return parse(text).front_matter


def test_a_mapping_is_metadata_and_not_text() -> None:
    parsed = parse("---\ntitle: Pool\ndate: 2025-06-12\n---\n# A\n")
    assert parsed.front_matter == {"title": "Pool", "date": "2025-06-12"}
    assert [(b.kind, b.start) for b in parsed.blocks] == [("heading", 4)]


def test_it_may_end_in_dots_and_be_empty() -> None:
    assert metadata("---\na: 1\n...\nb") == {"a": 1}
    assert [b.start for b in parse("---\n---\nb").blocks] == [2]


def test_crlf_lines_are_read() -> None:
    assert metadata("---\r\ntitle: x\r\n---\r\nb\r\n") == {"title": "x"}


@pytest.mark.parametrize(
    "head",
    [
        "a: [b", "- a\n- b", "just text", "a: &x [b]\nc: *x", "a: " + "[" * 2000, "- x " * 5000,
        "? " * 5000, "{[a]: b}", "<<: x", "!!set {a, b}",
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_plain_mapping_stays_in_the_body(head: str) -> None:
    parsed = parse(f"---\n{head}\n---\nbody\n")
    assert parsed.front_matter == {}
    covered = {line for block in parsed.blocks for line in range(block.start, block.end)}
    assert 1 in covered
    assert parsed.lines.index("body") in covered


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("!!bool x", "x"), ('!!int ""', ""), ("!!int x", "x"), ("!!timestamp x", "x"),
        ("!!map x", "x"), ("!!binary é", "é"), ("!own 2025", "2025"), ("2025-13-45", "2025-13-45"),
        ("9" * 5000, "9" * 5000), ("0b_", "0b_"), ("!!str [b]", ["b"]), ("!!omap [b]", ["b"]),
        ("!!seq {b: c}", {"b": "c"}), ("!own {b: !own [c]}", {"b": ["c"]}),
        ("!!python/object/apply:os.system [true]", [True]), ("!!str 12", "12"),
    ],
    ids=lambda value: str(value)[:20],
)  # fmt: skip
def test_a_tag_that_does_not_fit_its_value_is_passed_over(written: str, read: object) -> None:
    assert metadata(f"---\ntitle: T\na: {written}\n---\nb") == {"title": "T", "a": read}


def test_an_unclosed_or_huge_one_stays_in_the_body() -> None:
    assert metadata("---\ntitle: x\n\nbody") == {}
    assert metadata("---\na: " + "x" * 70_000 + "\n---\nbody") == {}
    assert metadata("\n---\na: b\n---\n") == {}


def test_values_are_plain_json() -> None:
    found = metadata(
        "---\nnested: {1: x, b: y}\n2025-01-01: z\nset: !!set {b, a}\nbytes: !!binary aGk=\n"
        "inf: .inf\nbig: " + "1:" * 3000 + '1\nhalf: "\\ud800 x"\nnul: "a\\0b"\n'
        "when: 2025-01-02 03:04:05\n---\nb"
    )
    assert found == {
        "nested": {"1": "x", "b": "y"}, "2025-01-01": "z", "set": ["a", "b"], "bytes": "b'hi'",
        "inf": None, "big": None, "half": "? x", "nul": "a\0b", "when": "2025-01-02T03:04:05",
    }  # fmt: skip
    json.dumps(found, sort_keys=True, allow_nan=False).encode()


def test_brackets_that_are_open_at_once_are_bounded() -> None:
    flat = "a: [" + "[x], " * 300 + "]"
    assert split(("---", flat, "---", "b"))[1] == 3
    for deep in ("[" * 101 + "]" * 101, "{a: " * 60 + "[" * 60, "[x, " * 101):
        assert split(("---", f"a: {deep}", "---", "b")) == ({}, 0)


def test_lines_that_yaml_refuses_are_read_as_they_stand() -> None:
    head = "description: rules: the short form\nglobs: *.ts,*.tsx\nalwaysApply: false\nempty:"
    metadata, lines = split(tuple(f"---\n{head}\n---\ntext".split("\n")))
    assert lines == 6
    assert metadata == {
        "description": "rules: the short form",
        "globs": "*.ts,*.tsx",
        "alwaysApply": False,
        "empty": None,
    }


@pytest.mark.parametrize(
    "head",
    [
        "scope: private  # mine\nglobs: *.ts",  # YAML refuses the second line of each
        'scope: "private"\nglobs: *.ts', "scope: private\ntags: [a, b",
        "title: a: b\nscope: private\ntags:\n  - x", "scope: private\nscope: global",
        "Scope: PRIVATE", "scope: [private]", "scope:\n  - private", "scope: 'private '",
        "scope: private\nlong: " + "x" * 70_000, "scope: private\nbrackets: '" + "[]" * 1200 + "'",
    ],
)  # fmt: skip
def test_what_says_that_it_is_private_is_so_whatever_stands_beside_it(head: str) -> None:
    assert metadata(f"---\n{head}\n---\n# A\n")["scope"] == "private"


def test_what_is_begun_as_front_matter_and_never_ended_may_be_private_too() -> None:
    assert metadata("---\nscope: private\n\n# A\n") == {"scope": "private"}
    assert metadata("---\n\nA rule, and a text about it.\nscope: private\n") == {}


@pytest.mark.parametrize(
    "head",
    [
        "scope: private-ish", "scope: privately", "scope: user  # not private", "# scope: private",
        "scope:\n# private", "description: |\n  scope: private", "telescope: private",
    ],
)  # fmt: skip
def test_what_only_looks_as_if_it_were_private_is_not(head: str) -> None:
    assert metadata(f"---\n{head}\n---\n# A\n").get("scope") != "private"


WORDS = st.sampled_from(
    ["yes", "No", "on", "true", "True", "null", "y", "scope", "a b", "2026-02-10", "2026-02-31",
     "A, B.", "a - b", "-", "1e5", "inf", "\u00fcber", "\u961f\u5217", "a:", "a #b", "(x)", "", " "]
)  # fmt: skip


@given(st.lists(st.tuples(WORDS, st.sampled_from([":", ": ", ":  ", " :"]), WORDS), min_size=1))
@example([("on", ": ", "x")])
@example([("a", ": ", "Off ")])
def test_lines_that_are_read_without_yaml_are_read_as_by_it(
    lines: list[tuple[str, str, str]],
) -> None:
    """A comment leaves nothing but YAML to read them by."""
    text = "\n".join(map("".join, lines))
    assert metadata(f"---\n{text}\n---\nb") == metadata(f"---\n{text}\n# a comment\n---\nb")


def test_plain_lines_load_no_yaml() -> None:
    text = "---\nname: the pool\ntype: user\ndate: 2026-02-10\nalways: true\ntags:\n---\n# A\n"
    loaded = loaded_by(f"from memcli.markdown.parse import parse; parse({text!r})")
    assert "yaml" not in loaded
    assert parse(text).front_matter == {
        "name": "the pool", "type": "user", "date": "2026-02-10", "always": True, "tags": None,
    }  # fmt: skip
