"""Every fuzz target holds on the fixtures, on what fuzzing has found, and on arbitrary bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import FIXTURES
from tests.fuzz.targets import TARGETS

# Found by fuzzing, or by hand where fuzzing would take long, and cut down to what matters.
FOUND: dict[str, tuple[bytes, ...]] = {
    "ignore": (
        b"[5-0]",  # a range that `re` refuses with an error of its own
        b"[[a]b\0[b",
        b"!x\n" + b"*" * 100 + b"x\0aaaaaaaaaa.md",  # a run of stars is many stars
        b"?\n*a*a*a*a*a*a*a*a*b\0" + b"a" * 250,  # stars beside a sign that needs `re`
    ),
    "agent_settings": (b"\xef\xbb\xbf", b"\xef\xbb\xbf" * 2),  # a block was put in for good
    "citation": (b"\xb0:0", b"a:0"),
    "repository": (b"-40000 a\0" + b"x" * 21, b"7777777777777777777777 a\0" + b"x" * 21),
    "questions": (b'{"query": ' + b"[" * 100_000, b'{"query": "x", "relevant": [1]}'),
    "front_matter": (b"? [a]\n: b", b"a: 0x" + b"f" * 5000, b"a: !!set {b, [c]}", b"a: .nan"),
    "fence": (b"`" * 3000 + b"\n~~~\n", b"```\n````\n", b"\r```\rx", b"a\x0b```\x0c```"),
    "terminal": (b"\x1b]8;;http://x\x1b\\a", "\u202ea\u2066".encode(), b"a\rb", b"\xc2\x9b31m"),
    "keywords": (b'NEAR("a" b) AND OR NOT ^x {a b}: -"', b"\x00\xff\xed\xa0\x80*", b'"' * 999),
}
BYTES = st.one_of(
    st.binary(max_size=300),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.lists(
        st.sampled_from([b"`", b"\n", b"\r", b"#", b"- ", b"|", b"<!--", b"-->", b"[[", b"](",
                         b"\x00", b"\x1b[", b"---\n", b"*", b"?", b"!", b'"', b"last week ",
                         b"2025-02-30", "東京".encode(), "\u202e".encode(), b"\xff", b" ",
                         b'{"', b'": ', b"[", b"]}", b", ", b"12", b"{citation}", b" = ", b"ghp_"]),
        max_size=60,
    ).map(b"".join),
)  # fmt: skip


@pytest.mark.nightly
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
@given(data=BYTES)
def test_any_bytes(target: Callable[[bytes], None], data: bytes) -> None:
    target(data)


@pytest.mark.parametrize("name", TARGETS)
def test_what_was_found_and_the_fixtures(name: str) -> None:
    for data in FOUND.get(name, ()):
        TARGETS[name](data)
    for file in sorted(Path(FIXTURES / "hostile").rglob("*.md")):
        TARGETS[name](file.read_bytes()[:4000])
