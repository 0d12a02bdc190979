from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memcli.indexing.indexer import Report, embed, finish_without_encoder, index
from memcli.indexing.planning import Settings
from memcli.indexing.rebuild import STALE_SECONDS, rebuild
from memcli.store.port import Change
from memcli.store.sqlite.driver import NEXT_SUFFIX
from memcli.store.sqlite.reader import Reader
from memcli.store.sqlite.writer import _age_ns
from memcli.types import Source
from tests.hashing import HashingEncoder
from tests.store_check import assert_sound, dump, open_writer
from tests.support import FAR_FUTURE_NS, by_night, make_limits, make_settings, write

ENCODER = HashingEncoder()
REPOSITORY = Path(__file__).parents[2]
STALE_NS = 24 * 3600 * 10**9  # a day
# Kills itself at the n-th transaction on the store beside, or as soon as the copy is published.
VICTIM = """
import os, signal, sys
from contextlib import contextmanager
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.hashing import HashingEncoder
from memcli.indexing import indexer
from memcli.indexing.indexer import embed
from memcli.indexing.rebuild import rebuild
from memcli.store.sqlite.writer import ReplacementIndex, Writer
from tests.support import FAR_FUTURE_NS, make_settings

indexer.GROUP_BYTES = 1  # each file in a transaction of its own
left = int(sys.argv[4])
begun = Writer.transaction

@contextmanager
def transaction(self, *, revise=True):
    global left
    with begun(self, revise=revise):
        yield
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

Writer.transaction = transaction
published = ReplacementIndex.publish

def publish(self):
    published(self)
    os.kill(os.getpid(), signal.SIGKILL)

ReplacementIndex.publish = publish
writer = Writer(sys.argv[3], lambda: FAR_FUTURE_NS)
rebuild(
    writer, make_settings(Path(sys.argv[2])), embed_into=lambda w: embed(w, HashingEncoder(32))
)
"""


class Place:
    def __init__(self, base: Path) -> None:
        self.root, self.store = base / "ws", str(base / "s" / "index.sqlite")
        self.root.mkdir()
        self.settings = make_settings(self.root)
        self.embedded = 0

    def embed(self, change: Change) -> None:
        self.embedded = embed(change, ENCODER)

    def run(self, *, full: bool = False, settings: Settings | None = None) -> Report:
        writer = open_writer(self.store)
        settings = settings or self.settings
        try:
            if full:
                return rebuild(writer, settings, embed_into=self.embed)
            report = index(writer, settings)
            self.embed(writer)
            return report
        finally:
            writer.close()

    def drop_rebuild(self) -> None:
        writer = open_writer(self.store)
        writer.drop_rebuild(seconds=STALE_SECONDS)
        writer.close()

    def side_files(self) -> list[str]:
        return sorted(p.name for p in Path(self.store).parent.iterdir() if ".next" in p.name)

    def paths(self) -> list[str]:
        return [row[1] for row in dump(self.store)["documents"]]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_full_run_gives_what_an_index_from_nothing_gives_and_says_what_changed(
    place: Place,
) -> None:
    for name in ("a", "b", "c", "d"):
        write(place.root, f"{name}.md", f"# {name}\n\nthe fox of {name}\n")
    place.run()
    before = open_writer(place.store)
    revision, model = int(before.fact("revision") or 0), {"model": "verified"}
    before.set_facts(model)
    before.close()
    write(place.root, "a.md", "# a\n\nthe train\n")
    (place.root / "b.md").rename(place.root / "z.md")
    (place.root / "c.md").unlink()
    write(place.root, "new.md", "a pool\n")
    report = place.run(full=True)
    assert report[:5] == (("new.md",), ("a.md",), (("b.md", "z.md"),), ("c.md",), 1)
    assert place.embedded == 2
    assert place.side_files() == []
    assert_sound(place.store)
    writer = open_writer(place.store)
    assert int(writer.fact("revision") or 0) > revision
    assert writer.fact("model") == "verified"
    assert finish_without_encoder(writer, ENCODER.fingerprint)
    writer.close()
    found, place.store = dump(place.store), place.store + ".other"
    place.run()
    assert found == dump(place.store)


@pytest.mark.parametrize("full", [False, True], ids=["index", "index --full"])
def test_what_is_no_text_is_neither_added_nor_moved(place: Place, full: bool) -> None:
    write(place.root, "a.md", "the fox\n")
    write(place.root, "odd.md", b"\0\0\0\0not text")
    assert place.run()[:4] == (("a.md",), (), (), ())
    (place.root / "odd.md").unlink()
    for name in ("a", "new"):
        write(place.root, f"{name}.md", b"\0\0\0\0not text")
    report = place.run(full=full)
    assert report[:4] == ((), ("a.md",), (), ("odd.md",))
    assert {skip.path for skip in report.skips} == {"a.md", "new.md"}


def test_a_second_full_run_embeds_nothing_and_keeps_the_cache(place: Place) -> None:
    file = write(place.root, "a.md", "# a\n\nthe fox\n")
    place.run()
    first = file.read_text()
    write(place.root, "a.md", "# a\n\nthe train\n")
    place.run()
    assert (place.run(full=True).unchanged, place.embedded) == (1, 0)
    write(place.root, "a.md", first)
    assert (place.run().changed, place.embedded) == (("a.md",), 0)
    assert_sound(place.store)


@pytest.mark.parametrize("transactions", [20, 10_000, *by_night(1, 37, 40)])
def test_a_killed_full_run_changes_no_answer_and_the_next_goes_on_with_it(
    place: Place, workspaces: Path, transactions: int
) -> None:
    """The engineer's workspace has 33 documents; the last case dies after the publication."""
    shutil.copytree(workspaces / "engineer", place.root, dirs_exist_ok=True)
    place.run()
    before = dump(place.store)
    done = subprocess.run(
        [sys.executable, "-c", VICTIM, str(REPOSITORY), str(place.root), place.store,
         str(transactions)],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == -9, done.stderr
    published = transactions == 10_000
    found = dump(place.store)
    if not published:
        assert found == before
    assert {k: v for k, v in found.items() if k != "living"} == {
        k: v for k, v in before.items() if k != "living"
    }
    assert_sound(place.store)
    half = open_writer(place.store + NEXT_SUFFIX)
    kept = set(half.known())
    half.close()
    os.utime(place.store + NEXT_SUFFIX, ns=(FAR_FUTURE_NS, FAR_FUTURE_NS))  # of today
    assert len(kept) == (min(33, max(0, transactions - 3)) if not published else 33)
    stored: list[str] = []
    writer = open_writer(place.store)
    report = rebuild(
        writer,
        place.settings,
        embed_into=place.embed,
        on_progress=lambda stage, done, total: stored.append(stage),
    )
    writer.close()
    resumed = (f"went on with a full run that had read {len(kept)} files",)
    assert report.notices == (resumed if kept and not published else ())
    assert stored.count("reading") == (33 if published else 33 - len(kept))
    assert place.side_files() == []
    assert_sound(place.store)
    assert dump(place.store) == before


class Stopped(Exception):
    pass


def stop_a_full_run(place: Place, *, embedded: int) -> None:
    """Leave a half-built copy of today that has made some vectors."""

    def stop(side: Change) -> None:
        embed(side, ENCODER, most=embedded)
        raise Stopped

    writer = open_writer(place.store)
    with pytest.raises(Stopped):
        rebuild(writer, place.settings, embed_into=stop)
    writer.close()


def test_vectors_that_were_made_meanwhile_are_searched_too(place: Place) -> None:
    write(place.root, "a.md", "the fox\n")
    place.run()
    write(place.root, "b.md", "the train\n\nthe pool\n")
    stop_a_full_run(place, embedded=1)
    write(place.root, "c.md", "the river\n")
    place.run()
    before = dump(place.store)
    assert place.run(full=True).unchanged == 3
    assert place.embedded == 0
    assert_sound(place.store)
    assert dump(place.store) == before


def test_documents_that_cannot_be_seen_are_taken_over_with_their_vectors(place: Place) -> None:
    other = place.root.parent / "other"
    write(other, "2025-01-02-x.md", "---\nrelated: [b]\n---\n# Fox\n\n[l](b.md)\n\n- a\n- b\n")
    write(other, "blob.md", b"\0\0\0\0")
    write(place.root, "a.md", "the train\n")
    sources = (
        Source("memory", str(place.root), ("**/*.md",)),
        Source("o", str(other), ("**/*.md",), kind="spec", authority=0.5, trust="untrusted"),
    )
    settings = make_settings(place.root, *sources)
    place.run(settings=settings)
    before = dump(place.store)
    other.rename(place.root.parent / "away")
    report = place.run(full=True, settings=settings)
    assert (report.removed, report.unchanged, place.embedded) == ((), 3, 0)
    assert [skip.source for skip in report.unlisted] == ["o"]
    assert_sound(place.store)
    assert dump(place.store) == before


@pytest.mark.parametrize("harm", [b"", b"garbage" * 2000, None], ids=["empty", "garbage", "old"])
def test_a_copy_that_cannot_be_used_is_swept(place: Place, harm: bytes | None) -> None:
    write(place.root, "a.md", "the train\n")
    place.run()
    side = Path(place.store + NEXT_SUFFIX)
    if harm is None:  # whole, but of yesterday, and of files that are gone
        shutil.copy(place.store, side)
        at = FAR_FUTURE_NS - STALE_NS
        os.utime(side, ns=(at, at))
    else:
        side.write_bytes(harm)
    before = dump(place.store)
    report = place.run(full=True)
    assert report.unchanged == 1
    assert not any("went on with" in notice for notice in report.notices)
    assert place.side_files() == []
    assert dump(place.store) == before


def test_what_a_full_run_left_behind_is_swept_after_a_day(place: Place) -> None:
    write(place.root, "a.md", "the train\n")
    place.run()
    side = Path(place.store + NEXT_SUFFIX)
    side.write_bytes(b"half")
    for age, left in ((STALE_NS - 1, [side.name]), (STALE_NS, [])):
        os.utime(side, ns=(FAR_FUTURE_NS - age, FAR_FUTURE_NS - age))
        assert _age_ns(place.store, FAR_FUTURE_NS) == age
        place.drop_rebuild()
        assert place.side_files() == left
    side.write_bytes(b"half")
    ahead = FAR_FUTURE_NS + STALE_NS  # of a clock that has been put back since
    os.utime(side, ns=(ahead, ahead))
    place.drop_rebuild()
    assert place.side_files() == []


def test_other_chunks_are_embedded_before_anyone_searches_them(place: Place) -> None:
    write(place.root, "a.md", "words of a note. " * 400)
    place.run()
    reader = Reader(place.store)
    chunks = reader.counts().chunks
    settings = make_settings(place.root, limits=make_limits(chunk_tokens=60))
    seen: list[int] = []

    def look(side: Change) -> None:
        seen.append(reader.counts().chunks)
        place.embed(side)

    writer = open_writer(place.store)
    rebuild(writer, settings, embed_into=look)
    writer.close()
    counts = reader.counts()
    reader.close()
    assert seen == [chunks]
    assert counts.chunks > chunks
    assert counts.embedded == counts.segments
