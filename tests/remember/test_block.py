"""A note is fitted behind whatever a file ends with, and stands on its own there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.errors import UsageError
from memcli.markdown.parse import parse
from memcli.remember.block import Note, cleaned, place, worded

NOTE = Note("Deploys are on Tuesdays", time="14:03")
ITEM = "- 14:03 Deploys are on Tuesdays"


def _placed(before: str | bytes | None, note: Note = NOTE) -> bytes:
    data = before.encode() if isinstance(before, str) else before
    return place(data, note, name="log.md", title="2026-02-10").data


@pytest.mark.parametrize(
    ("before", "added"),
    [
        (None, f"# 2026-02-10\n\n{ITEM}\n"), ("", f"# 2026-02-10\n\n{ITEM}\n"),
        ("# Log\n\n- 13:00 one\n", f"{ITEM}\n"), ("# Log\n\n- 13:00 one", f"\n{ITEM}\n"),
        ("# Log\n\nA paragraph.\n", f"\n{ITEM}\n"), ("# Log\n\nA paragraph.", f"\n\n{ITEM}\n"),
        ("# Log\r\n\r\n- one\r\n- two", f"\r\n{ITEM}\r\n"),
        ("# Log\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", f"\n{ITEM}\n"),
        ("```\ncode\n```\n", f"\n{ITEM}\n"), ("> a quotation\n", f"\n{ITEM}\n"),
        ("---\ndate: 2026-02-10\n---\n", f"\n{ITEM}\n"), ("\n", f"{ITEM}\n"),
    ],
)  # fmt: skip
def test_what_is_written_behind_a_file(before: str | None, added: str) -> None:
    assert _placed(before).decode() == added


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be"])
def test_the_encoding_of_the_file_is_kept(encoding: str) -> None:
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    before = mark + "# 日志\r\n\r\n- 一\r\n".encode(encoding)
    added = _placed(before, Note("发布在周二"))
    assert added == "- 发布在周二\r\n".encode(encoding.removesuffix("-sig"))
    whole = (before + added)[len(mark) :].decode(encoding)
    assert whole == "# 日志\r\n\r\n- 一\r\n- 发布在周二\r\n"


NEVER_CLOSED = ("```\nopen\n", "~~~ sh\nopen\n\n\n", "text\n\n<!-- open\n", "<script>\nopen\n")
LEFT_OPEN = ("```\nopen", "<!-- open", "a\n\n~~~\nb")
NO_TEXT = (b"\xff\xfe\x00", b"caf\xe9 au lait\n", b"\x00\x01\x02" * 400, b"\xff\xfe\x00\x00a")


def test_no_note_goes_into_an_open_block_or_a_file_or_a_text_that_is_none() -> None:
    for before in NEVER_CLOSED:
        with pytest.raises(UsageError, match=r"log\.md:\d opens a block that is never closed"):
            _placed(before)
    for text in LEFT_OPEN:
        with pytest.raises(UsageError, match="does not close"):
            _placed("# Log\n", Note(text))
    for data in NO_TEXT:
        with pytest.raises(UsageError, match="is not text that memcli can add to"):
            _placed(data)
    for text in ("a\0b", "a\x1b[31mb", "a\udcffb"):
        with pytest.raises(UsageError, match="which is not text"):
            cleaned(text)


@pytest.mark.parametrize(
    ("note", "text"),
    [
        (Note("one"), "- one"),
        (Note("- one", time="09:00"), "- 09:00 one"),
        (Note("- [ ] one", time="09:00"), "- [ ] one"),
        (Note("[x] one", time="09:00", type="user"), "- [x] one"),
        (Note("# One", time="09:00"), "- 09:00 **One**"),
        (Note("- 5 - 3 * 2 + 1 is no list"), "- 5 - 3 * 2 + 1 is no list"),
        (Note("go on - all of it", time="09:00"), "- 09:00 go on - all of it"),
        (Note("one\ntwo", type="feedback"), "- (feedback) one\n  two"),
        (Note("# Head\n\ntext"), "**Head**\n\ntext"),
        (Note("- a\n- b", time="09:00"), "- a\n- b"),
        (Note("```\ncode\n```"), "```\ncode\n```"),
    ],
)
def test_running_text_is_an_item_and_a_block_stays_as_it_is(note: Note, text: str) -> None:
    assert worded(note) == text


@given(st.text("ab -*+.\t", min_size=1).map(str.strip).filter(bool))
def test_nothing_of_a_line_is_lost_but_its_mark(text: str) -> None:
    told = worded(Note(text, time="09:00"))
    assert told in (text, f"- 09:00 {text}", f"- 09:00 {text[1:].lstrip()}")
    if text[0] not in "-*+":
        assert told == f"- 09:00 {text}"


def test_a_heading_is_made_once() -> None:
    first = _placed("# Log\n", Note("one", heading="Decisions")).decode()
    assert first == "\n## Decisions\n\n- one\n"
    assert _placed(f"# Log\n{first}", Note("two", heading="decisions")).decode() == "- two\n"
    assert _placed(f"# Log\n{first}## Else\n", Note("two", heading="Decisions")).decode() == (
        "\n## Decisions\n\n- two\n"
    )


_LINES = st.lists(
    st.sampled_from(
        ["", "# H", "text", "- item", "  more", "    code", "```", "~~~", "| a | b |", "|---|---|",
         "> q", "1. one", "<!-- c -->", "<!--", "-->", "<div>", "---", "\t- deep", "日本語"]
    ),
    max_size=9,
)  # fmt: skip


@given(_LINES, _LINES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_no_block_that_stood_is_parsed_otherwise(
    before: list[str], text: list[str], eol: str, ended: bool
) -> None:
    """Whatever the file ends with: the note is refused, or stands on the lines that are told."""
    data = (eol.join(before) + (eol if ended else "")).encode()
    note = cleaned("\n".join(text))
    try:
        placed = place(data, Note(note), name="log.md", title="T")
    except UsageError:
        return
    whole = (data + placed.data).decode()
    old, new = parse(data.decode()).blocks, parse(whole).blocks
    assert new[: len(old)] == old
    lines = whole.replace("\r\n", "\n").split("\n")[placed.first_line - 1 : placed.last_line]
    assert "\n".join(lines) == placed.text
    assert whole.endswith(eol if eol.encode() in data else "\n")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("# Plan\n\n- one\n- two", "**Plan**\n\n- one\n- two"),
        ("Plan\n====\n\ntext", "**Plan**\n\n\ntext"),
        ("## Plan", "- 14:03 **Plan**"),
        ("```sh\n# a comment\n```", "```sh\n# a comment\n```"),
    ],
)
def test_a_heading_in_a_note_opens_no_section(text: str, written: str) -> None:
    note = Note(text, time="14:03")
    assert worded(note) == written
    before = "# 2026-02-10\n\n- 13:00 one\n"
    log = before + _placed(before, note).decode()
    log += _placed(log).decode()
    assert [b.title for b in parse(log).blocks if b.kind == "heading"] == ["2026-02-10"]
    assert log.endswith(f"{ITEM}\n")
