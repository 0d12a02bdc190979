"""Files are put in place whole, in folders that are made for them."""

from __future__ import annotations

from pathlib import Path

from memcli.workspace.whole import write_whole


def test_what_is_kept_for_its_owner_is_readable_by_nobody_else(tmp_path: Path) -> None:
    write_whole(str(tmp_path / "own" / "a.json"), "one")
    write_whole(str(tmp_path / "own" / "a.json"), "two")
    made = tmp_path / "own" / "a.json"
    assert made.read_text() == "two"
    assert [path.stat().st_mode & 0o777 for path in (made.parent, made)] == [0o700, 0o600]
    assert list(made.parent.iterdir()) == [made]
