"""Two writers that get in each other's way and are killed leave what one alone leaves."""

from __future__ import annotations

import shutil
import tempfile
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from memcli.indexing.indexer import GROUP_BYTES, embed, index
from memcli.store.run_records import AWAITED_SECONDS
from memcli.store.sqlite.driver import DAMAGED_SUFFIX, NEXT_SUFFIX, connect
from memcli.store.sqlite.schema import VERSION, version
from tests.faults.stepping import Job, Stepping
from tests.hashing import HashingEncoder
from tests.store_check import assert_sound, dump, open_writer
from tests.support import make_settings, write

pytestmark = pytest.mark.nightly
FILES = ("a.md", "b.md", "c.md", "2025-06-12.md")
TEXTS = (
    "# Pool\n\nThe pool is full of coffee beans.\n\n## Later\n\nWe deploy on Fridays.\n",
    "fox\n\ntrain\n",
    "- one train\n- two foxes\n\n## More\n\nA deployment of beans.\n\n## Still more\n\nPool.\n",
)
EXAMPLES = (settings.default or settings()).max_examples // 4
writers = st.sampled_from([0, 1])


class TwoWriters(RuleBasedStateMachine):
    """Edits, and runs of two processes that stop anywhere."""

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp())
        self.root, self.store = self.base / "ws", str(self.base / "s" / "index.sqlite")
        self.root.mkdir()
        self.running: dict[int, Stepping] = {}
        self.builds = count()

    def teardown(self) -> None:
        for who in list(self.running):
            self.running.pop(who).kill()
        self.settle()
        shutil.rmtree(self.base)

    @initialize()
    def begin(self) -> None:
        for path, text in zip(FILES, TEXTS, strict=False):
            write(self.root, path, text)

    @rule(path=st.sampled_from(FILES), text=st.sampled_from(TEXTS))
    def write(self, path: str, text: str) -> None:
        write(self.root, path, text)

    @rule(path=st.sampled_from(FILES))
    def delete(self, path: str) -> None:
        (self.root / path).unlink(missing_ok=True)

    @rule(
        who=writers,
        full=st.booleans(),
        group_bytes=st.sampled_from([1, GROUP_BYTES]),
        waits=st.booleans(),
        steps=st.integers(0, 6),
    )
    def start(self, who: int, full: bool, group_bytes: int, waits: bool, steps: int) -> None:
        if who not in self.running:
            job = Job(str(self.root), self.store, full, group_bytes, waits)
            self.running[who] = Stepping(job)
            self.step(who, steps)

    @precondition(lambda self: self.running)
    @rule(who=writers, steps=st.integers(1, 8))
    def step(self, who: int, steps: int) -> None:
        for _ in range(steps):
            if who in self.running and not self.running[who].step():
                self.ended(who)

    @precondition(lambda self: self.running)
    @rule(who=writers)
    def kill(self, who: int) -> None:
        if who in self.running:
            self.running.pop(who).kill()

    @precondition(lambda self: Path(self.store).exists())
    @rule()
    def look(self) -> None:
        """Whatever a reader sees between two steps is whole."""
        connection = connect(self.store, write=False).connection
        is_made = version(connection) == VERSION
        connection.close()
        if is_made:
            assert_sound(self.store)

    @precondition(lambda self: not self.running)
    @rule()
    def settle(self) -> None:
        """A run that nobody disturbs gives the index of a build from nothing."""
        found = self.built(self.store)
        assert found == self.built(str(self.base / f"new-{next(self.builds)}" / "index.sqlite"))
        assert not Path(self.store + DAMAGED_SUFFIX).exists()
        assert not Path(self.store + NEXT_SUFFIX).exists()

    def ended(self, who: int) -> None:
        told = self.running.pop(who).told
        assert told == "done" or (told == "busy" and self.running), told

    def built(self, store: str) -> dict[str, object]:
        writer = open_writer(store)
        writer.drop_rebuild(awaited_seconds=AWAITED_SECONDS)
        index(writer, make_settings(self.root))
        embed(writer, HashingEncoder())
        writer.close()
        assert_sound(store)
        return dump(store)


TwoWriters.TestCase.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestTwoWriters = TwoWriters.TestCase
