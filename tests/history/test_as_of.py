"""The memory as a commit has it: the answers of a workspace that is checked out there."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from memcli.history.side_indexes import FOLDER_SUFFIX, KEPT
from tests.commands import Said, say
from tests.hashing import HashingEncoder
from tests.history.repositories import begin, checked_out, commit, git

PATHS = ("MEMORY.md", "memory/2026-01-05.md", "memory/a.md", "notes/b.md", "notes/private.md")
TEXTS: tuple[str | bytes | None, ...] = (
    None,
    "# Pool\n\nThe pool is full of coffee beans.\n\n## Later\n\nWe deploy on Fridays.\n",
    "fox\n\ntrain\n",
    "---\nalways: true\ntitle: Trains\n---\n- one train\n- two foxes\n",
    b"caf\xe9 train\n",
    b"\0\0\0\0",
    "".join(f"- item {number} of the deployed pool\n" for number in range(30)),
)
SETTINGS = (None, "[search]\nlimit = 2\n", '[files]\nexclude = ["notes/**"]\n')
IGNORED = (None, "private.md\n")
TOKEN = "ghp_" + "x7Kd92mQvB4tLw8sRz1nYc5HgJ3fPaE6uT0i"
QUESTIONS = ("pool", "two foxes 2026-01-05")
files = st.dictionaries(st.sampled_from(PATHS), st.sampled_from(TEXTS), min_size=1, max_size=3)
commits = st.lists(
    st.tuples(files, st.sampled_from(SETTINGS), st.sampled_from(IGNORED)), min_size=2, max_size=3
)


def answers(folder: Path, *options: str) -> list[Said]:
    """Ask everything; of a search all but what it says of the index."""
    found = []
    for question in QUESTIONS:
        said = say("search", question, "--now", "2026-03-01", "--json", *options, folder=folder)
        record = json.loads(said.out)
        record.pop("freshness", None)
        found.append(Said(said.code, json.dumps(record), ""))
    context = say("context", "pool", "--now", "2026-03-01", *options, folder=folder)
    found.append(context._replace(err=""))
    found += [say("get", path, *options, folder=folder)._replace(err="") for path in PATHS[:2]]
    return found


@settings(max_examples=3, phases=(Phase.explicit, Phase.generate))
@given(made=commits)
def test_an_earlier_state_answers_as_a_workspace_that_is_checked_out_there(
    made: list[tuple[dict[str, str | bytes | None], str | None, str | None]],
) -> None:
    """Whatever was committed since: files changed, removed and ignored, and other settings."""
    with tempfile.TemporaryDirectory() as temporary:
        notes = begin(Path(temporary) / "notes")
        oids = [
            commit(notes, f"2026-01-{10 + day}",
                   {"memory/keep.md": "# Kept\n\nfox\n", **changed,
                    "memcli.toml": table, ".memcliignore": ignored})
            for day, (changed, table, ignored) in enumerate(made)
        ]  # fmt: skip
        say("index", "-q", folder=notes)
        for number, oid in enumerate(oids):
            there = checked_out(notes, oid, Path(temporary) / str(number) / "notes")
            say("index", "-q", folder=there)
            expected = answers(there)
            assert answers(notes, "--as-of", oid) == expected


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ("2026-02-01", "10"),
        ("2026-02-09", "10"),
        ("2026-02-10", "40"),
        ("February 2026", "40"),
        ("HEAD~2", "10"),
        ("v1", "10"),
    ],
)
def test_a_day_is_the_last_commit_until_its_end_and_a_commit_has_any_name(
    notes: Path, when: str, holds: str
) -> None:
    git(notes, "tag", "v1", "HEAD~2")
    found = say("get", "MEMORY.md:3", "--as-of", when, folder=notes)
    assert (found.code, found.out) == (0, f"The pool has {holds} connections.\n")
    assert found.err.startswith("memcli: as of ")


def test_a_day_ends_in_the_zone_of_the_question(notes: Path) -> None:
    line = ("get", "MEMORY.md:3", "--as-of", "2026-02-10", "--now", "2026-03-01T00:00+13:00")
    assert "10" in say(*line, folder=notes).out  # committed at noon in Greenwich: the next day
    assert "40" in say(*line[:-1], "2026-03-01T00:00+11:00", folder=notes).out


def test_the_question_is_asked_on_that_day(notes: Path) -> None:
    def now(*options: str) -> str:
        found = json.loads(say("search", "pool", "--json", "-v", *options, folder=notes).out)
        return f"{found['now']} {found['freshness']['state']} {found['freshness']['reason']}"

    told = f"as_of as of {git(notes, 'rev-parse', '--short=7', 'HEAD~2')} (2026-02-01)"
    assert now("--as-of", "HEAD~2") == f"2026-02-01T12:00:00+00:00 {told}"
    assert now("--as-of", "2026-02-05").startswith("2026-02-05T23:59:59")
    assert now("--as-of", "HEAD~2", "--now", "2026-05-05") == f"2026-05-05T00:00:00 {told}"


class Counting:
    """Counts the texts that are embedded."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.texts: list[str] = []
        encode = HashingEncoder.encode

        def counted(encoder: HashingEncoder, texts: list[str]) -> list[bytes]:
            self.texts += texts
            return encode(encoder, texts)

        monkeypatch.setattr(HashingEncoder, "encode", counted)

    def during(self, *arguments: str, folder: Path) -> int:
        before = len(self.texts)
        assert say(*arguments, folder=folder).code == 0
        return len(self.texts) - before


def side_indexes(notes: Path) -> list[Path]:
    (index,) = Path(os.environ["XDG_CACHE_HOME"]).glob("memcli/*/index.sqlite")
    return sorted(Path(f"{index}{FOLDER_SUFFIX}").glob("*"))


def test_nothing_is_embedded_that_ever_was(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch)
    assert counting.during("index", "-q", folder=notes) == 3
    # Two lines are as they are today; the old rule nobody has seen.
    line = ("search", "pool", "--as-of", "HEAD~2", "--json")
    first = say(*line, folder=notes)
    assert len(counting.texts) == 4
    assert say(*line, folder=notes) == first
    assert counting.during("search", "pool", "--as-of", "HEAD~2", folder=notes) == 0
    shutil.rmtree(side_indexes(notes)[0])
    assert counting.during("search", "pool", "--as-of", "HEAD~2", folder=notes) == 0
    assert counting.during("search", "pool", "--as-of", "HEAD~1", folder=notes) == 0


def test_what_only_the_past_holds_is_found_by_no_search_of_today(notes: Path) -> None:
    say("index", "-q", folder=notes)
    say("search", "pool", "--as-of", "HEAD~2", folder=notes)
    line = ("search", "10 connections", "--mode", "semantic", "--json", "--now", "2026-05-05")
    before = say(*line, folder=notes).out
    shutil.rmtree(os.environ["XDG_CACHE_HOME"])
    say("index", "-q", folder=notes)
    after = say(*line, folder=notes).out
    assert json.loads(before) == json.loads(after)


def test_four_side_indexes_are_kept_and_pruning_drops_them(notes: Path) -> None:
    oids = [
        commit(notes, f"2026-04-0{day}", {"memory/x.md": f"day {day}\n"}) for day in range(1, 7)
    ]
    say("index", "-q", folder=notes)
    for oid in oids:
        assert say("search", "day", "--as-of", oid, folder=notes).code == 0
        assert len(side_indexes(notes)) <= KEPT
    assert len(side_indexes(notes)) == KEPT
    assert say("index", "--prune", "-q", folder=notes).code == 0
    assert side_indexes(notes) == []


def test_one_tree_has_one_side_index_whatever_its_commits_are_called(notes: Path) -> None:
    oid = commit(notes, "2026-05-01")
    for when in (oid, "HEAD~1", "2026-05-20"):
        say("search", "pool", "--as-of", when, folder=notes)
    assert len(side_indexes(notes)) == 1


def test_side_indexes_are_for_nobody_else(notes: Path) -> None:
    say("search", "pool", "--as-of", "HEAD~2", folder=notes)
    (folder,) = side_indexes(notes)
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "index").stat().st_mode & 0o077 == 0


def test_a_side_index_that_is_damaged_is_made_again(notes: Path) -> None:
    line = ("search", "pool", "--as-of", "HEAD~2", "--json")
    expected = say(*line, folder=notes)
    (folder,) = side_indexes(notes)
    for name in ("index-wal", "index-shm"):
        (folder / name).unlink(missing_ok=True)
    (folder / "index").write_bytes(b"SQLite format 3\0" + b"\xff" * 9000)
    assert say(*line, folder=notes).out == expected.out


def test_a_search_that_may_not_index_says_how_to(notes: Path) -> None:
    line = ("search", "pool", "--as-of", "HEAD~2", "--no-sync")
    refused = say(*line, folder=notes)
    short = git(notes, "rev-parse", "--short=7", "HEAD~2")
    assert (refused.code, refused.out) == (4, "")
    assert refused.err.endswith(f"Try: memcli search QUERY --as-of {short}\n")
    assert say(*line[:-1], folder=notes).code == 0
    assert say(*line, folder=notes).code == 0


def test_secrets_of_the_past_are_put_out_of_sight(notes: Path) -> None:
    commit(notes, "2026-04-01", {"memory/key.md": f"the key {TOKEN}\n"})
    commit(notes, "2026-04-02", {"memory/key.md": None})
    line = ("get", "memory/key.md", "--as-of", "HEAD~1")
    assert say(*line, folder=notes).out == "the key [secret: github-token]\n"
    assert "ghp_" in say(*line, "--show-secrets", folder=notes).out
    assert "ghp_" not in say("search", "key", "--as-of", "HEAD~1", "--full", folder=notes).out


def test_settings_that_could_not_be_used_then_are_named_with_their_commit(notes: Path) -> None:
    commit(notes, "2026-04-01", {"memcli.toml": "store.path = 'elsewhere.sqlite'\n"})
    oid = commit(notes, "2026-04-02", {"memcli.toml": None})
    found = say("search", "pool", "--as-of", f"{oid}~1", folder=notes)
    assert (found.code, found.out) == (2, "")
    assert "(2026-04-01): " in found.err
    assert "store.path is allowed only in your own configuration" in found.err
