"""Whatever happens to the files, an index run leaves the index that a build from nothing gives."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from datetime import date
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from memcli.config import settings as config
from memcli.dates.find import find_dates
from memcli.embedding.encoders import Vector
from memcli.indexing.comparison import compare_index
from memcli.indexing.freshness import Bounds, freshen
from memcli.indexing.indexer import embed, index
from memcli.indexing.planning import Settings
from memcli.indexing.rebuild import rebuild
from memcli.search.options import options_of
from memcli.search.pipeline import search
from memcli.search.query import parse
from memcli.store.open import store_at
from memcli.store.port import Change
from memcli.store.sqlite.reader import Reader
from memcli.types import Filters, Source
from memcli.workspace.dating import age_days
from tests.hashing import HashingEncoder
from tests.store_check import assert_sound, dump, open_writer
from tests.support import FAR_FUTURE_NS, make_limits, touch, write

FILES = ("a.md", "2025-06-12.md", "sub/b.md", "sub/2025-01-02-x.md", "sub/deep/c.md", "other/d.md")
FOLDERS = ("sub", "sub/deep", "other", "moved")
TEXTS: tuple[bytes, ...] = (
    b"# Pool\n\nThe pool is full of coffee beans.\n\n## Later\n\nWe deploy on Fridays.\n",
    b"fox\n\ntrain\n",
    b"# Pool\n\nThe pool is full of coffee beans.\n",
    b"---\ndate: 2025-03-03\ntitle: Trains\nauthority: 0.5\ntags: [Rail, rail/night]\n"
    b"late: {by: 2.5}\n---\n- one train\n- two foxes\n",
    "東京都の検索と deployment\n".encode(),
    b"",
    b"".join(b"- item %d of the deployed list\n" % number for number in range(40)),
    b"\0\0\0\0not text",
    b"caf\xe9 train\n",
    b"## 2025-02-01\n\nmorning fox\n\n## 2025-02-02\n\nevening train\n",
)
QUERIES = ("pool", "train fox", '"coffee beans"', "deploy*", "東京", "what happened 2025-02-01")
ENCODERS = (HashingEncoder(32), HashingEncoder(48))
EXAMPLES = (settings.default or settings()).max_examples // 2

files, folders, texts = st.sampled_from(FILES), st.sampled_from(FOLDERS), st.sampled_from(TEXTS)


def answers(store: str, encoder: HashingEncoder | None) -> list[Any]:
    """Search for everything, by keywords only without an encoder."""
    options = options_of(config.load(str(Path(store).parent), {}, {}), filters=Filters())
    options = options._replace(encoder="hashing", mode="hybrid" if encoder else "keyword")
    reader = Reader(store)
    try:
        found = []
        for text in QUERIES:

            def vector(text: str) -> Vector:
                assert encoder is not None
                return Vector(encoder.encode_query(text), encoder.fingerprint, None, 1.0)

            answer = search(
                reader, parse(text), find_dates(text, date(2025, 7, 1)), options,
                embed_query=vector, age_days=lambda day: age_days(day, "2025-07-01"),
            )  # fmt: skip
            semantic = answer.semantic if encoder else None
            passages = [
                (h.about.path, h.about.anchor, h.text, round(h.score, 9)) for h in answer.passages
            ]
            found.append((answer.match, answer.keyword, semantic, answer.unmatched, passages))
        return found
    finally:
        reader.close()


class Stopped(Exception):
    pass


class Workspace(RuleBasedStateMachine):
    """Edits of every kind, with index runs of every kind in between."""

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp())
        self.root, self.store = self.base / "ws", str(self.base / "s" / "index.sqlite")
        self.root.mkdir()
        self.builds = count()
        self.clock = FAR_FUTURE_NS
        self.encoder = ENCODERS[0]
        self.kind, self.chunk_tokens = "log", 240
        self.deleted: list[tuple[str, bytes]] = []

    def teardown(self) -> None:
        shutil.rmtree(self.base)

    @property
    def settings(self) -> Settings:
        return Settings(
            sources=(Source("memory", str(self.root), ("**/*.md",), kind=self.kind),),
            limits=make_limits(self.chunk_tokens),
            max_bytes=1 << 20,
            follow_symlinks=False,
            now_ns=lambda: self.clock,
        )

    @initialize(first=st.lists(st.tuples(files, texts), max_size=4))
    def begin(self, first: list[tuple[str, bytes]]) -> None:
        for path, text in first:
            self.write(path, text)

    @rule(path=files, text=texts)
    def write(self, path: str, text: bytes) -> None:
        if not (self.root / path).is_symlink():
            write(self.root, path, text)

    @rule(path=files, text=st.sampled_from(TEXTS[:4]))
    def append(self, path: str, text: bytes) -> None:
        if (self.root / path).is_file() and not (self.root / path).is_symlink():
            write(self.root, path, (self.root / path).read_bytes() + text)

    @rule(path=files)
    def write_with_the_old_time_and_size(self, path: str) -> None:
        file = self.root / path
        if file.is_file() and not file.is_symlink():
            before = file.stat()
            file.write_bytes(file.read_bytes().swapcase())
            os.utime(file, ns=(before.st_mtime_ns, before.st_mtime_ns))

    @rule(old=files, new=files)
    def rename(self, old: str, new: str) -> None:
        if (self.root / old).is_file():
            (self.root / new).parent.mkdir(parents=True, exist_ok=True)
            (self.root / old).rename(self.root / new)

    @rule(old=folders, new=folders)
    def move_folder(self, old: str, new: str) -> None:
        source, target = self.root / old, self.root / new
        if (
            source.is_dir()
            and not target.exists()
            and target.parent.is_dir()
            and not target.is_relative_to(source)
        ):
            source.rename(target)

    @rule(path=files)
    def delete(self, path: str) -> None:
        file = self.root / path
        if file.is_file():
            self.deleted.append((path, file.read_bytes()))
            file.unlink()

    @rule(path=folders)
    def delete_folder(self, path: str) -> None:
        shutil.rmtree(self.root / path, ignore_errors=True)

    @rule()
    def restore(self) -> None:
        if self.deleted:
            self.write(*self.deleted.pop())

    @rule(path=files)
    def touch(self, path: str) -> None:
        if (self.root / path).is_file():
            touch(self.root / path)

    @rule(path=files, mode=st.sampled_from([0o600, 0o644, 0o755]))
    def chmod(self, path: str, mode: int) -> None:
        if (self.root / path).is_file():
            (self.root / path).chmod(mode)

    @rule(path=files, leads_to=st.sampled_from([*FILES, "sub", "nowhere"]))
    def symlink(self, path: str, leads_to: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.is_symlink() and not file.exists():
            file.symlink_to(self.root / leads_to)

    @rule(seconds=st.sampled_from([-(10**9), -3, 3, 10**6]))
    def set_clock(self, seconds: int) -> None:
        self.clock += seconds * 10**9

    @rule()
    def change_model(self) -> None:
        self.encoder = ENCODERS[1 - ENCODERS.index(self.encoder)]

    @rule(kind=st.sampled_from(["log", "note"]))
    def change_what_is_set_for_the_source(self, kind: str) -> None:
        self.kind = kind

    @rule(tokens=st.sampled_from([100, 240]))
    def change_how_chunks_are_cut(self, tokens: int) -> None:
        self.chunk_tokens = tokens

    @rule()
    def run(self) -> None:
        writer = open_writer(self.store, lambda: self.clock)
        self.index_as_told(writer)
        embed(writer, self.encoder)
        writer.close()
        self.compare(vectors=True)

    @rule()
    def run_without_a_model(self) -> None:
        writer = open_writer(self.store, lambda: self.clock)
        self.index_as_told(writer)
        writer.close()
        self.compare(vectors=False)

    @rule()
    def run_in_full(self) -> None:
        writer = open_writer(self.store, lambda: self.clock)
        rebuild(writer, self.settings, embed_into=self.embed)
        writer.close()
        self.compare(vectors=True)

    @rule(texts=st.integers(0, 3))
    def run_in_full_that_ends_while_embedding(self, texts: int) -> None:
        def stop(side: Change) -> None:
            embed(side, self.encoder, most=texts)
            raise Stopped

        writer = open_writer(self.store, lambda: self.clock)
        if writer.known():
            with contextlib.suppress(Stopped):
                rebuild(writer, self.settings, embed_into=stop)
        writer.close()
        assert_sound(self.store)

    @rule(texts=st.integers(1, 3))
    def run_that_ends_while_embedding(self, texts: int) -> None:
        writer = open_writer(self.store, lambda: self.clock)
        self.index_as_told(writer)
        embed(writer, self.encoder, most=texts)
        writer.close()
        self.compare(vectors=False)

    @rule(most=st.integers(0, 3))
    def search_brings_in_a_part(self, most: int) -> None:
        ticks = count()
        bounds = Bounds(
            seconds=most,
            segments=2,
            first=100,
            wait_seconds=0,
            monotonic=lambda: float(next(ticks)),
        )
        store = store_at(self.store, lambda: self.clock)
        freshen(store, self.settings, bounds, lambda: self.encoder, lambda seconds: None)
        store.close()
        if Path(self.store).exists():
            assert_sound(self.store)

    def index_as_told(self, writer: Change) -> None:
        """Hold what a run reports against what a look before it has told."""
        reader = Reader(self.store)
        with reader.snapshot() as snapshot:
            comparison = compare_index(snapshot, self.settings)
        reader.close()
        told, report = comparison.changes, index(writer, self.settings)
        assert (told.added, told.moved, told.removed) == (
            report.added,
            report.moved,
            report.removed,
        )
        assert sorted(told.changed + told.reindexed) == list(report.changed)
        assert comparison.listing.unlisted == report.unlisted
        assert {(s.path, s.reason) for s in comparison.listing.skips} <= {
            (s.path, s.reason) for s in report.skips
        }
        assert (comparison.state == "out_of_date") == any(report[:4])

    def embed(self, change: Change) -> None:
        embed(change, self.encoder)

    def compare(self, *, vectors: bool) -> None:
        """Hold the store against one that is built from nothing now."""
        assert_sound(self.store)
        new = str(self.base / f"new-{next(self.builds)}" / "index.sqlite")
        writer = open_writer(new)
        index(writer, self.settings)
        if vectors:
            embed(writer, self.encoder)
        writer.close()
        found, expected = dump(self.store), dump(new)
        if not vectors:
            del found["living"], expected["living"]
        assert found == expected
        encoder = self.encoder if vectors else None
        assert answers(self.store, encoder) == answers(new, encoder)


Workspace.TestCase.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=16,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestEveryRunGivesTheIndexOfABuildFromNothing = Workspace.TestCase
