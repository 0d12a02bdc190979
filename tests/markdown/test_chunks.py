from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

from memcli.markdown.comments import visible
from memcli.markdown.parse import LONGEST_TITLE
from memcli.markdown.segments import choose_context, contexts, embedded_text, segment_hash
from memcli.types import Chunk
from tests.support import chunks_of, context_of, make_limits


def brief(chunks: Sequence[Chunk]) -> list[tuple[str, int, int]]:
    return [(chunk.anchor, chunk.start_line, chunk.end_line) for chunk in chunks]


def part_lines(chunk: Chunk) -> list[tuple[int, int]]:
    return [(part.start_line, part.end_line) for part in chunk.segments]


@pytest.mark.parametrize("form", ["# {}\n\n", "{}\n---\n\n"], ids=["atx", "setext"])
def test_what_is_longer_than_any_heading_is_text(form: str) -> None:
    """Each chunk holds the headings above it: a megabyte of them would be a gigabyte of index."""
    below = "".join(f"Paragraph {number} {words(90)}\n\n" for number in range(20))
    for length, has_heading in ((LONGEST_TITLE, True), (LONGEST_TITLE + 1, False)):
        chunks = chunks_of(form.format("x" * length) + below)
        assert len(chunks) > 3
        assert {bool(chunk.heading_path) for chunk in chunks} == {has_heading}
        assert chunks[0].start_line == 1


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * count)


@pytest.mark.parametrize(
    ("text", "chunks"),
    [
        ("", []),
        ("\n \n\t\n", []),
        ("a\n\nb\n", [("top", 1, 3)]),
        ("# A\n\na\n\n## B\nb\n# C\nc", [("a", 1, 3), ("a/b", 5, 6), ("c", 7, 8)]),
        ("# A\n## B\nb", [("a/b", 1, 3)]),
        ("# A\n## B\n# C\nc", [("a/b", 1, 2), ("c", 3, 4)]),
        ("# A\n\n# B\n", [("a", 1, 1), ("b", 3, 3)]),
        ("A\n===\na\n\nB\n---\nb", [("a", 1, 3), ("a/b", 5, 7)]),
        ("# A\na\n# A\nb", [("a", 1, 2), ("a~2", 3, 4)]),
        ("# !!!\nb", [("top", 1, 2)]),
        ("a\n\n---\n\nb", [("top", 1, 5)]),
        ("> # Q\n> q\n\n- # L", [("top", 1, 4)]),
        ("[a]: b.md\n\n[c]: d.md", [("top", 1, 3)]),
        ("```\n# not a heading\n```\n", [("top", 1, 3)]),
        ("```\nopen\n# still code", [("top", 1, 3)]),
        ("# A\r\n\r\na\r\nb\r\n", [("a", 1, 4)]),
        ("# A\rb\n", [("a-b", 1, 1)]),
        ("# A\n<!-- c -->\n", [("a", 1, 1)]),
        ("<!-- c\n\n# hidden\n-->\na", [("top", 5, 5)]),
        ("<!-- open\n\n# hidden\na", []),
    ],
)
def test_chunks_of_small_documents(text: str, chunks: list[tuple[str, int, int]]) -> None:
    assert brief(chunks_of(text)) == chunks


def test_a_lone_carriage_return_is_no_line_end() -> None:
    (chunk,) = chunks_of("a\rb\r\nc\n")
    assert (chunk.text, chunk.start_line, chunk.end_line) == ("a\rb\r\nc", 1, 2)
    (part,) = chunk.segments
    assert part.hash == segment_hash("T\na b\nc")


@pytest.mark.parametrize("odd", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_other_line_separators_are_characters(odd: str) -> None:
    (chunk,) = chunks_of(f"a{odd}b\n\nc")
    assert (chunk.start_line, chunk.end_line) == (1, 3)


def test_prose_goes_in_parts_of_two_lines_and_restarts_at_each_block() -> None:
    (chunk,) = chunks_of("a\nb\nc\n\nd\ne")
    assert part_lines(chunk) == [(1, 2), (3, 3), (5, 6)]


def test_a_split_fence_and_table_repeat_their_head() -> None:
    code = "\n".join(f"line {number} of the code" for number in range(60))
    fence = [part for chunk in chunks_of(f"```python\n{code}\n```") for part in chunk.segments]
    assert {part.prefix for part in fence[1:]} == {"```python"}
    assert fence[0].prefix == ""
    rows = "\n".join(f"| {number} | some value |" for number in range(60))
    table = [p for chunk in chunks_of(f"| a | b |\n|---|---|\n{rows}") for p in chunk.segments]
    assert len(table) > 1
    assert {part.prefix for part in table[1:]} == {"| a | b |\n|---|---|"}


def test_a_long_section_is_cut_and_its_anchors_count() -> None:
    text = "# A\n" + "\n\n".join(words(200, f"w{number}") for number in range(6))
    assert [chunk.anchor for chunk in chunks_of(text)][:3] == ["a", "a~2", "a~3"]
    assert [chunk.ordinal for chunk in chunks_of(text)] == list(range(len(chunks_of(text))))


def test_overlap_repeats_whole_parts() -> None:
    text = "\n\n".join(f"{number} " + words(30) for number in range(30))
    plain, repeated = chunks_of(text), chunks_of(text, limits=make_limits(overlap=80))
    assert all(b.start_line > a.end_line for a, b in itertools.pairwise(plain))
    assert all(a.start_line < b.start_line <= a.end_line for a, b in itertools.pairwise(repeated))


def test_a_heading_that_is_a_date_dates_its_section_only() -> None:
    text = "# 2025-06-12\na\n## Sub\nb\n# Other\nc"
    assert [chunk.date for chunk in chunks_of(text)] == ["2025-06-12", "2025-06-12", None]
    assert {chunk.date for chunk in chunks_of(text, date="2024-01-01")} == {"2024-01-01"}


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ('Fixed it <JumpToc/> <PrBy :pr="18030" user="x" />', "Fixed it"),
        ('<a name="x"></a>Install <br/> here', "Install here"),
        ("`<command/>` and ``a ` <B/>``", "`<command/>` and ``a ` <B/>``"),
        ("help <command>", "help <command>"),
        ("A List<String> where 1 < 2", "A List<String> where 1 < 2"),
    ],
)
def test_tags_and_components_are_no_part_of_a_heading(heading: str, title: str) -> None:
    (chunk,) = chunks_of(f"# {heading}\n\ntext")
    assert chunk.heading_path == (title,)
    assert f"# {heading}" in chunk.text


def test_a_heading_of_an_image_alone_has_no_title() -> None:
    (chunk,) = chunks_of("# <img src='logo.png'>\n\ntext")
    assert chunk.heading_path == ()


def test_links_in_comments_are_no_links() -> None:
    (chunk,) = chunks_of("[a](b.md) [[C]] <!-- [x](hidden.md) --> [w](https://example.com)")
    assert chunk.links == ("b.md", "C")


def test_a_link_in_angle_brackets_may_contain_spaces() -> None:
    (chunk,) = chunks_of('[a](<my notes/b c.md>) [d](<e.md> "E") [x](< >)')
    assert chunk.links == ("my notes/b c.md", "e.md")


def test_context_says_title_headings_and_date_once() -> None:
    assert contexts("Notes", ("Notes", "Pool"), "2025-06-12")[0] == "Notes > Pool (2025-06-12)"
    assert contexts("2025-06-12", (), "2025-06-12")[0] == "2025-06-12"
    assert contexts("", (), "2025-06-12")[0] == "(2025-06-12)"
    assert contexts("", (), None) == ("", "", "")


@pytest.mark.parametrize("mark", ["東", "한", "😀 ", "(", "x", "ﷺ", "é"])
def test_a_context_leaves_half_of_the_room(mark: str) -> None:
    limits = make_limits()
    context = choose_context(mark * 2000, (mark * 2000,), "2025-01-01", limits)
    assert limits.count(context) <= limits.part_max // 2
    assert context.startswith((mark * 36)[:36])


@pytest.mark.parametrize("name", ["engineer", "cjk", "hostile"])
def test_comment_text_of_the_fixtures_is_neither_searched_nor_embedded(
    workspaces: Path, name: str
) -> None:
    for file in (workspaces / name).rglob("*.md"):
        text = file.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff")
        for chunk in chunks_of(text):
            searched = " ".join(chunk.heading_path) + visible(chunk.text)
            assert "secret" not in searched or "secret" not in file.read_text("utf-8", "ignore"), (
                file
            )


def test_no_part_holds_a_piece_of_a_comment() -> None:
    hidden = "\n".join(f"secret {number} " + words(60, "secret") for number in range(40))
    text = (
        f"# A <!-- secret -->\n\nbefore <!-- {hidden} --> after\nnext\n\n"
        f"<div>\n<!--\n\n{hidden}\n\n-->\nlast\n</div>\n\n- x\n- <!-- {hidden[:300]} --> y\n"
        + words(300, "seen")
        + f" <!-- {hidden} --> "
        + words(300, "seen")
        + "."
    )
    shown = ""
    for chunk in chunks_of(text):
        context = context_of(chunk, "T", make_limits())
        for part in chunk.segments:
            embedded = embedded_text(context, part.prefix, chunk.text[part.start : part.end])
            assert part.hash == segment_hash(embedded)
            assert "secret" not in embedded
            shown += embedded
        assert "secret" not in visible(chunk.text)
    assert shown.count("seen") == 600
    assert all(word in shown for word in ("before", "after", "next", "last"))


def test_a_paragraph_that_an_editor_has_wrapped_is_not_cut_into_pairs_of_lines() -> None:
    wrapped = "\n".join(f"   {words(13)}" for _ in range(6))
    (chunk,) = chunks_of(f"1. Title\n\n{wrapped}\n\n   one line\n   two lines\n")
    assert part_lines(chunk) == [(1, 7), (8, 8), (10, 11)]
    statements = "\n".join([words(12), words(3), words(12), words(5)])
    talk = "\n".join(f"- **Ann**: {words(11)}" for _ in range(4))
    for text in (statements, talk):
        assert all(last - first < 2 for first, last in part_lines(chunks_of(text)[0]))


def test_a_short_paragraph_goes_with_the_list_fence_or_table_after_it() -> None:
    for block in ("- one\n- two", "~~~\n~~~", "| a |\n| - |"):
        (chunk,) = chunks_of(f"For example:\n\n{block}\n\nOther text.\n")
        assert part_lines(chunk) == [(1, 4), (6, 6)]
    for text in (f"{words(40)}\n\n- one\n", "One.\n\nTwo.\n", f"One.\n\n- {words(90)}\n"):
        assert part_lines(chunks_of(text)[0]) == [(1, 1), (3, 3)]
