from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.errors import StoreError
from memcli.hook.session import (
    MOST_BYTES,
    OLDEST_NS,
    SUGGESTED,
    SessionFile,
    line_keys,
    prune,
    session_path,
)

CLAIMING = """
import os, sys
from memcli.hook.session import SessionFile
mine = SessionFile(sys.argv[1], f"p{os.getpid()}")
for at in range(200):
    print(*sorted(mine.claim({f"{at:016x}", f"{at + 1:016x}"})))
"""


def test_what_is_claimed_is_won_once_and_a_look_makes_no_file(tmp_path: Path) -> None:
    assert SessionFile(str(tmp_path / "s" / "file"), "one").claimed() == {}
    assert list(tmp_path.iterdir()) == []
    one, other = (SessionFile(str(tmp_path / "s" / "file"), name) for name in ("one", "other"))
    assert one.claim(["a", "b"]) == {"a", "b"}
    assert other.claim(["b", "c"]) == {"c"}
    assert one.claimed() == {"a": "one", "b": "one", "c": "other"}


def test_two_hooks_of_one_start_are_one(tmp_path: Path) -> None:
    one, other = (SessionFile(str(tmp_path / "s" / "file"), name) for name in ("one", "other"))
    assert one.starts("compact", 10**18)
    one.forget()
    assert not one.has_shown()
    one.claim(["a"])
    assert not other.starts("compact", 10**18 + 10**9)
    assert other.claim(["a"]) == frozenset()
    assert other.starts("startup", 10**18 + 10**9)
    assert other.starts("compact", 10**18 + 10**10)
    assert other.starts("\u00e9 \n", 10**18)


def test_two_at_once_never_win_the_same(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CLAIMING, str(tmp_path / "file")]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    won = [set(each.communicate()[0].split()) for each in both]
    assert won[0].isdisjoint(won[1])
    assert won[0] | won[1] == {f"{at:016x}" for at in range(201)}


def test_what_is_forgotten_may_be_given_again_and_a_suggestion_not(tmp_path: Path) -> None:
    file = SessionFile(str(tmp_path / "file"), "one")
    file.claim(["a", SUGGESTED])
    assert file.has_shown()
    file.forget()
    assert not file.has_shown()
    later = SessionFile(str(tmp_path / "file"), "two")
    assert later.claim(["a", SUGGESTED]) == {"a"}


def test_half_a_line_is_nobodys_and_of_a_full_file_nothing_more_is_given(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("one aaa\none b", "ascii")
    assert SessionFile(str(tmp_path / "file"), "two").claim(["bb"]) == {"bb"}
    (tmp_path / "file").write_bytes(b"x" * (MOST_BYTES + 1))
    file = SessionFile(str(tmp_path / "file"), "one")
    assert file.claimed() is None
    assert file.claim(["a"]) == frozenset()


@given(st.text(), st.text())
def test_no_name_of_a_session_leads_out_of_the_folder(session: str, other: str) -> None:
    path = session_path("/cache", "codex", "/notes", session)
    assert Path(path).parent == Path("/cache")
    assert Path(path).name.isalnum()
    assert (path == session_path("/cache", "codex", "/notes", other)) == (session == other)


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_only_a_plain_file_is_used(tmp_path: Path, kind: str) -> None:
    path, target = tmp_path / "file", tmp_path / "target"
    if kind == "link":
        path.symlink_to(target)
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(StoreError, match="cannot save"):
        SessionFile(str(path), "one").claim(["a"])
    assert not target.exists()


def test_old_sessions_are_removed_and_nothing_else(tmp_path: Path) -> None:
    for name, age in (("old", OLDEST_NS + 1), ("young", 0)):
        (tmp_path / name).write_text("", "ascii")
        os.utime(tmp_path / name, ns=(10**18 - age, 10**18 - age))
    prune(str(tmp_path), 10**18)
    assert [each.name for each in tmp_path.iterdir()] == ["young"]
    prune(str(tmp_path / "missing"), 10**18)


def test_a_line_is_known_wherever_it_has_moved_in_its_document() -> None:
    assert line_keys("memory", "a.md", ["  one"]) == line_keys("memory", "a.md", ["one"])
    assert line_keys("memory", "a.md", ["one"]) != line_keys("memory", "b.md", ["one"])
