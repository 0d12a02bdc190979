from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.language.tokens import quotient
from memcli.markdown.comments import comments
from memcli.markdown.parse import parse
from tests.support import checked_chunks, chunks_of, make_limits

SCRIPTS = [
    "plain words here",
    "Ünï çödé",
    "東京都の検索",
    "한국어 문장",
    "😀👩‍👩‍👧‍👦",
    "ไทยภาษา",
    "x" * 90,
]
MARKS = [
    "# ", "## ", "- ", "  - ", "1. ", "> ", "```", "~~~", "---", "===", "| a | b |", "|---|---|",
    "<!--", "-->", "<div>", "    ", "\t", "\r", "[[a]]", "[x]: y", "**", "`", "\\", "...", "\u2028",
]  # fmt: skip
LINES = st.one_of(
    st.lists(st.sampled_from(MARKS + SCRIPTS), max_size=5).map("".join),
    st.tuples(st.sampled_from(SCRIPTS), st.integers(1, 120)).map(lambda p: (p[0] + ". ") * p[1]),
    st.tuples(st.sampled_from(SCRIPTS), st.integers(1, 120)).map(lambda p: p[0] * p[1]),
)
DOCUMENTS = st.lists(LINES, max_size=40).map("\n".join)
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


def hidden_lines(text: str) -> set[int]:
    """Lines that a comment touches."""
    found: set[int] = set()
    for start, end in comments(text):
        found |= set(range(text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 2))
    return found


def is_rule(line: str) -> bool:
    joined = "".join(line.split())
    return len(joined) >= 3 and set(joined) in ({"-"}, {"*"}, {"_"})


@given(DOCUMENTS)
def test_every_line_with_text_is_in_exactly_one_chunk(text: str) -> None:
    lines, parsed = text.split("\n"), parse(text)
    bare = "" if parsed.front_matter else text
    covered: dict[int, int] = {}
    whole = [0]
    for chunk in chunks_of(text):
        for number in range(chunk.start_line, chunk.end_line + 1):
            covered[number] = covered.get(number, 0) + 1
    for number, line in enumerate(lines, start=1):
        if not line.strip() or is_rule(line) or number in hidden_lines(bare) or not bare:
            continue
        pieces = 1 if quotient(line) <= 240 else max(1, covered.get(number, 0))
        assert covered.get(number, 0) == pieces, (number, line, whole)


@given(DOCUMENTS, st.sampled_from([0, 60]))
def test_whole_lines_of_a_chunk_are_its_text(text: str, overlap: int) -> None:
    lines = text.split("\n")
    for chunk in chunks_of(text, limits=make_limits(overlap=overlap)):
        own = lines[chunk.start_line - 1 : chunk.end_line]
        if all(quotient(line) <= 240 for line in own):
            assert "\n".join(own) == chunk.text


@given(st.one_of(DOCUMENTS, ANY_TEXT), st.sampled_from([0, 60]), st.sampled_from(SCRIPTS))
def test_chunks_are_spans_of_any_text_and_their_parts_fit_the_model(
    text: str, overlap: int, title: str
) -> None:
    chunks = checked_chunks(text, title=title * 3, limits=make_limits(overlap=overlap))
    assert chunks_of(text, title=title * 3, limits=make_limits(overlap=overlap)) == chunks


@given(st.lists(st.sampled_from(SCRIPTS), min_size=1, max_size=30))
def test_an_edit_moves_no_anchor_under_another_heading(body: list[str]) -> None:
    head, tail = "# A\nfirst\n", "# C\n\n" + "\n\n".join(body) + "\n\n## D\n\nlast\n"

    def of_tail(middle: str) -> list[tuple[str, str]]:
        chunks = chunks_of(head + middle + tail)
        return [(c.anchor, c.text) for c in chunks if c.heading_path[0] == "C"]

    assert of_tail("# B\nb\n") == of_tail("# B\n" + "much more text. " * 300 + "\n")


@pytest.mark.parametrize("seed", range(5))
def test_a_line_above_a_long_list_changes_at_most_20_parts(seed: int) -> None:
    random = Random(seed)
    vocabulary = ["pool", "deploy", "cache", "fox", "train", "coffee", "review", "index", "tax"]
    items = [
        f"- {number} " + " ".join(random.choices(vocabulary, k=random.randint(2, 14)))
        for number in range(500)
    ]

    def hashes(lines: list[str]) -> set[bytes]:
        return {p.hash for c in chunks_of("# L\n\n" + "\n".join(lines)) for p in c.segments}

    assert len(hashes(["- new line", *items]) - hashes(items)) <= 20


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("T", "# " + "東京" * 1000 + "\n\n" + "京" * 3000),
        ("한" * 200, "# " + "한국" * 1000 + "\n\n" + "한" * 3000),
        ("(" * 200, "# " + "(" * 2000 + "\n\n" + ")" * 3000),
        ("T", "# " + "x" * 2000 + "\n\n" + "y" * 5000 + " z" * 3000),
        ("T", "😀 " * 3000),
        ("T", "```" + "東" * 500 + "\n" + "東" * 3000 + "\n" + "a\n" * 3000),
    ],
    ids=["han", "hangul", "marks", "long-words", "emoji", "fence-opener"],
)
def test_hostile_headings_and_bodies_fit_the_model(title: str, text: str) -> None:
    chunks = checked_chunks(text, title=title)
    size = sum(part.end - part.start for chunk in chunks for part in chunk.segments)
    assert size > len(text) // 3


@pytest.mark.parametrize(
    "text",
    [
        "[" * 50_000,
        "](" + "a" * 700,
        "](aaaa" * 20_000,
        ("](" + "a" * 640) * 300,
        "[[a|" * 20_000,
        "word " * 50_000,
        "x" * 250_000,
        "é" * 120_000,
        "a. " * 25_000,
        "\n".join("  " * n + "- a" for n in range(1000)) + "\n\n# H\n\nb",
        ">" * 1000 + " a\n\n# H\n\nb",
        "- " * 2000 + "a",
        "> - " * 300 + "a",
        "```\n" + "code\n" * 20_000,
        "| a | b |\n|---|---|\n" + "| c | d |\n" * 5000,
        "*" * 50_000 + "a",
        "# a\n" * 5000,
        "\r" * 50_000,
        "a\n---\n" * 3000,
    ],
    ids=range(19),
)
def test_pathological_texts_are_cut_without_loss(text: str) -> None:
    chunks = chunks_of(text, limits=make_limits(overlap=20))
    found = sum(len(chunk.text) for chunk in chunks)
    assert found >= len(text.strip()) * 0.6


@given(DOCUMENTS, st.sampled_from([0, 60]))
def test_only_a_single_line_with_its_headings_is_over_the_limit(text: str, overlap: int) -> None:
    for chunk in chunks_of(text, limits=make_limits(240, overlap)):
        if chunk.tokens > 240:
            assert len({part.start_line for part in chunk.segments}) == 1, chunk.text


def test_a_short_last_chunk_takes_lines_from_the_one_before_it() -> None:
    """41 lines of 10 tokens: 40 and 1 would be 400 and 10 tokens."""
    text = "\n".join(f"- Line {n:02} " + "x" * 30 for n in range(41))
    sizes = [chunk.tokens for chunk in chunks_of(text, limits=make_limits(400))]
    assert max(sizes) <= 400
    assert min(sizes) >= 100
    assert len(sizes) == 2
