from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.errors import NotFoundError
from memcli.types import FileText, Skip
from memcli.workspace import openat
from memcli.workspace.reading import decode, read_file

from .tree import LIMIT, make, make_socket, unprivileged, walk


def read(root: Path, path: str, *, follow: bool = False) -> FileText | Skip:
    return read_file(str(root), path, source="memory", max_bytes=LIMIT, follow_symlinks=follow)


def why(result: FileText | Skip) -> tuple[str, str]:
    assert isinstance(result, Skip)
    assert result.source == "memory"
    return result.reason, result.detail


def test_exact_record(tmp_path: Path) -> None:
    make(tmp_path, "a/b.md", text="# ä\r\n")
    result = read(tmp_path, "a/b.md")
    data = (tmp_path / "a/b.md").read_bytes()
    assert result == FileText(
        walk(tmp_path).files[0], hashlib.sha256(data).digest(), "# ä\r\n", False
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", ("", False)),
        (b"# a\r\nb", ("# a\r\nb", False)),
        (b"\xef\xbb\xbf# a", ("# a", False)),
        (b"\xef\xbb\xbf\xef\xbb\xbfa", ("\ufeffa", False)),
        ("# ä".encode("utf-16"), ("# ä", False)),
        (b"\xff\xfe" + "日".encode("utf-16-le"), ("日", False)),
        (b"\xfe\xff" + "日".encode("utf-16-be"), ("日", False)),
        (b"\xff\xfea\x00b", ("a\ufffd", True)),
        (b"\xff\xfe\x00\xd8a\x00", ("\ufffda", True)),
        (b"caf\xe9 au lait", ("caf\ufffd au lait", True)),
        (b"\xed\xa0\x80x", ("\ufffd\ufffd\ufffdx", True)),
        (b"one \x00 NUL", ("one \ufffd NUL", True)),
        (b"a\x00b\x00", "2 NUL bytes in 4"),
        (b"\x01\x02\x03text", "3 control characters in the first 7 bytes"),
        ("text".encode("utf-16-le"), "4 NUL bytes in 8"),
        ("text".encode("utf-32"), "UTF-32"),
        (b"\xff\xfe" + b"\x00\x00a\x00" * 9, "UTF-32"),
        (b"\xff\xfea\x00" + b"\x00\x00" * 9, "9 NUL characters in 10"),
        (b"\x1b[mab", ("\x1b[mab", False)),
        (b"\x1b[m\x1b[m", ("\x1b[m\x1b[m", False)),
        (b"\x1b[31mred\x1b[0m\tand\x0c\n", ("\x1b[31mred\x1b[0m\tand\x0c\n", False)),
    ],
)
def test_decode(data: bytes, expected: tuple[str, bool] | str) -> None:
    assert decode(data) == expected


def test_which_bytes_no_text_has() -> None:
    found = {byte for byte in range(1, 128) if "control" in decode(bytes([byte]) * 9)}
    assert found == {*range(1, 8), *range(14, 27), *range(28, 32), 127}


def test_nul_share() -> None:
    assert decode(b"a" * 510 + b"\0" * 2) == ("a" * 510 + "\ufffd" * 2, True)
    assert decode(b"a" * 509 + b"\0" * 3) == "3 NUL bytes in 512"


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cc", "Cs"])))
def test_text_comes_back(text: str) -> None:
    assert decode(b"\xef\xbb\xbf" + text.encode()) == (text, False)
    for encoding, bom in (("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")):
        assert decode(bom + text.encode(encoding)) == (text, False)


@given(st.binary(max_size=200))
def test_any_bytes_give_clean_text_or_a_reason(data: bytes) -> None:
    result = decode(data)
    if not isinstance(result, str):
        result[0].encode()
        assert "\0" not in result[0]


def test_not_text(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"PNG\0" * 8 + b"x" * 992)
    assert why(read(tmp_path, "a.md")) == ("not-text", "8 NUL bytes in 1024")


@pytest.mark.parametrize("path", ["../a.md", "x/../../a.md", "/a.md", "", ".", "x//a.md", "a\0.md"])
def test_a_path_that_leads_outside(tmp_path: Path, path: str) -> None:
    make(tmp_path, "a.md", "in/x/b.md")
    with pytest.raises(NotFoundError, match="not a path inside") as caught:
        read(tmp_path / "in", path)
    assert caught.value.hint


def test_limit(tmp_path: Path) -> None:
    make(tmp_path, "a.md", text="x" * LIMIT)
    make(tmp_path, "b.md", text="x" * (LIMIT + 1))
    assert isinstance(read(tmp_path, "a.md"), FileText)
    assert why(read(tmp_path, "b.md")) == ("too-large", f"{LIMIT + 1} bytes, the limit is {LIMIT}")


def test_gone(tmp_path: Path) -> None:
    make(tmp_path, "a.md")
    gone = ("unreadable", "No such file or directory")
    assert why(read(tmp_path, "b.md")) == gone
    assert why(read(tmp_path, "x/a.md")) == gone
    assert why(read(tmp_path / "x", "a.md")) == gone
    assert why(read(tmp_path, "a.md/b.md")) == ("unreadable", "Not a directory")


def test_swapped_for_a_link_after_listing(tmp_path: Path) -> None:
    outside = make(tmp_path / "out", "a.md", text="secret")
    root = make(tmp_path / "ws", "a.md", "d/a.md")
    assert len(walk(root).files) == 2
    (root / "a.md").unlink()
    (root / "a.md").symlink_to(outside / "a.md")
    (root / "d/a.md").unlink()
    (root / "d").rmdir()
    (root / "d").symlink_to(outside)
    assert why(read(root, "a.md")) == ("symlink", "a.md is a link")
    assert why(read(root, "d/a.md")) == ("symlink", "d is a link")
    refused = ("symlink", "its target is outside the source")
    assert why(read(root, "a.md", follow=True)) == refused
    assert why(read(root, "d/a.md", follow=True)) == refused


def test_links_inside_are_followed_on_demand(tmp_path: Path) -> None:
    root = make(tmp_path / "ws", "d/a.md", text="inside")
    (root / "l.md").symlink_to("d/a.md")
    (root / "e").symlink_to("d")
    (tmp_path / "door").symlink_to("ws")
    for path in ("l.md", "e/a.md", "d/a.md"):
        result = read(tmp_path / "door", path, follow=True)
        assert isinstance(result, FileText)
        assert (result.text, result.stat.path) == ("inside", path)
    # Roots are real paths: a link there was put in its place, and may lead outside.
    assert isinstance(read(tmp_path / "door", "d/a.md"), Skip)
    assert [f for f in walk(root, follow=True).files if f.path == "d/a.md"]


def test_special_files_never_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.md")
    (tmp_path / "d.md").mkdir()
    make_socket(tmp_path / "s.md")
    assert why(read(tmp_path, "s.md")) == ("not-regular", "socket")
    (tmp_path / "loop.md").symlink_to("loop.md")
    for follow in (False, True):
        assert why(read(tmp_path, "a.md", follow=follow)) == ("not-regular", "FIFO")
        assert why(read(tmp_path, "d.md", follow=follow)) == ("not-regular", "folder")
        assert why(read(Path("/dev"), "null", follow=follow)) == ("not-regular", "device")
        assert isinstance(read(tmp_path, "loop.md", follow=follow), Skip)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_more_bytes_than_the_stat_says() -> None:
    assert why(read(Path(f"/proc/{os.getpid()}"), "status")) == (
        "unreadable",
        "changed while it was read",
    )


def test_a_file_that_grows_while_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"")
    stop = threading.Event()

    def grow() -> None:
        with file.open("ab", buffering=0) as out:
            while not stop.is_set() and out.tell() < LIMIT // 2:
                out.write(b"0123456789")

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        for _ in range(100):
            result = read(tmp_path, "a.md")
            if isinstance(result, Skip):
                assert why(result) == ("unreadable", "changed while it was read")
            else:
                assert result.stat.size == len(result.text)
                assert result.hash == hashlib.sha256(result.text.encode()).digest()
    finally:
        stop.set()
        writer.join()
    assert isinstance(read(tmp_path, "a.md"), FileText)


CANNOT_READ = """
from memcli.workspace.reading import read_file
for path in sys.argv[2:]:
    print(read_file(sys.argv[1], path, source="m", max_bytes=1000)[1:])
"""


def test_no_permission(open_tmp: Path) -> None:
    make(open_tmp, "a.md", "closed/b.md")
    (open_tmp / "a.md").chmod(0o000)
    (open_tmp / "closed").chmod(0o000)
    assert unprivileged(CANNOT_READ, str(open_tmp), "a.md", "closed/b.md").splitlines() == [
        "('a.md', 'unreadable', 'Permission denied')",
        "('closed/b.md', 'unreadable', 'Permission denied')",
    ]


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("a\n" * 250_001, "250001 lines, the limit is 250000"),
        ("|" * 500_001, "500001 cells, the limit is 500000"),
    ],
)
def test_a_text_that_would_cost_the_parser_gigabytes_is_skipped(
    tmp_path: Path, text: str, detail: str
) -> None:
    (tmp_path / "a.md").write_text(text)
    found = read_file(str(tmp_path), "a.md", source="memory", max_bytes=8 << 20)
    assert found == Skip("memory", "a.md", "too-large", detail)


def test_a_file_written_in_place_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It keeps its size: only its times tell, and the second reading is whole."""
    file = tmp_path / "a.md"
    file.write_text("the pool ran dry\n")
    whole = "the pool is full\n"
    system_read = os.read
    pieces: list[bytes] = []

    def read_slowly(descriptor: int, length: int) -> bytes:
        piece = system_read(descriptor, min(length, 8))
        if len(pieces) == 0:
            file.write_text(whole)
            os.utime(file, ns=(0, 0))
        pieces.append(piece)
        return piece

    monkeypatch.setattr(os, "read", read_slowly)
    found = read(tmp_path, "a.md")
    assert isinstance(found, FileText)
    assert found.text == whole
    assert b"".join(pieces) == b"the pool is full\n" * 2


def test_times_that_no_index_can_hold_are_the_nearest_that_it_can() -> None:
    def told(changed: int, created: int) -> tuple[int, int]:
        fields = {"st_mtime_ns": changed, "st_ctime_ns": created}
        return openat.times(os.stat_result(range(10), fields))

    assert told(5, -7) == (5, -7)
    assert told(1 << 63, 7) == (openat.MOST, 7)
    assert told(5, -(1 << 70)) == (5, -openat.MOST)
    assert told(openat.MOST, -openat.MOST) == (openat.MOST, -openat.MOST)
