"""Whatever is written, corrected, moved and compacted: nothing is lost and nothing is invented.

Random workspaces on disk with their index. What a view shows is compared with the files themselves
and with the logs as they were when a summary was written; nothing here asks memcli what is valid.
"""

from __future__ import annotations

import re
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from memcli.compaction import folder
from memcli.compaction.draft import CompactionSettings
from memcli.compaction.plan import make_plan
from memcli.compaction.summaries import last_run
from memcli.indexing.indexer import index
from memcli.search.validity import scope_of
from memcli.store.open import store_at
from memcli.types import Filters
from tests.compaction.test_properties import LINE, TEXT
from tests.support import FAR_FUTURE_NS, make_limits, make_settings, write

# A comment is no part of what is said, and this reads words as they stand.
SAID = TEXT.map(lambda text: re.sub("<!--|-->", "", text))
TEXTS = st.lists(SAID, min_size=2, max_size=5)
KINDS = ("append", "insert", "correct", "rename", "remove", "compact", "edit", "drop", "undo")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(KINDS),
        st.integers(0, 9),
        st.integers(0, 9),
        LINE.map(lambda line: re.sub("<!--|-->", "", line)),
    ),
    min_size=1,
    max_size=7,
)
# A placeholder describes code, a log or a table, and is no sentence of theirs.
DESCRIBED = re.compile(r"\[(?:table|log|(?:[\w+-]+ )?code), \d+ ")
MARKS = re.compile(r"(?: \[(\d+) times\])?(?: \[replaces ([^\]]+):(\d+)(?:-\d+)?\])?\Z")

Lines = dict[str, list[str]]


class Memory:
    """A workspace, its index, and the logs as they were when each summary was written."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.then: dict[str, list[Lines]] = {}
        self.store = store_at(str(root / "index.sqlite"), lambda: FAR_FUTURE_NS)
        self.settings = make_settings(root, limits=make_limits(60))

    def write(self, path: str, text: str) -> None:
        write(self.root, path, text)

    def files(self, is_summary: bool) -> list[str]:
        paths = (p.relative_to(self.root).as_posix() for p in self.root.rglob("memory/**/*.md"))
        return sorted(p for p in paths if p.startswith("memory/summaries/") == is_summary)

    def lines(self, path: str) -> list[str]:
        return (self.root / path).read_text("utf-8").split("\n")

    def step(self, kind: str, a: int, b: int, line: str) -> None:
        """Do one thing to the memory, if there is what it is done to."""
        logs, summaries = self.files(is_summary=False), self.files(is_summary=True)
        log = logs[a % len(logs)] if logs else "memory/2025-03-01.md"
        lines = self.lines(log) if logs else []
        summary = summaries[a % len(summaries)] if summaries else ""
        match kind:
            case "append":
                self.write(log, "\n".join([*lines, "", line]))
            case "insert":
                self.write(log, "\n".join([line, "", *lines]))
            case "correct":
                self.write(log, "\n".join([*lines[:b], line, *lines[b + 1 :]]))
            case "rename" | "remove" if logs:
                (self.root / log).unlink()
                if kind == "rename":
                    self.write(f"memory/old/{Path(log).stem}-{b}.md", "\n".join(lines))
            case "compact":
                self.compact(a, b)
            case "edit" if summary:
                self.write(summary, self.edited(summary, line))
            case "drop" if summary:
                (self.root / summary).unlink()
            case "undo":
                self.undo()

    def edited(self, summary: str, line: str) -> str:
        self.then.pop(summary, None)
        text = "\n".join(self.lines(summary))
        return f"{text}- {line} (memory/2025-03-01.md:1)\n"

    def compact(self, a: int, b: int) -> None:
        found = folder.read(self.settings, {}, None)
        wanted = CompactionSettings(a % 2, 0, 2 + a % 3, (0.1, 0.3, 0.6)[b % 3], 50)
        plan = make_plan(found.logs, found.summaries, wanted, folder="memory/summaries/",
                         now="2026-02-20T00:00:00", embed=None)  # fmt: skip
        folder.write(str(self.root), plan.drafts)
        logs = {path: self.lines(path) for path in self.files(is_summary=False)}
        for draft in plan.drafts:
            self.then[draft.path] = [logs]

    def undo(self) -> None:
        last = last_run(folder.read(self.settings, {}, None).summaries)
        folder.remove(str(self.root), [each.path for each in last if not each.is_edited])

    def check(self) -> None:
        """Bring the index in step and hold what its views show against the files."""
        with self.store.change(wait_seconds=0, sleep=time.sleep) as change:
            index(change, self.settings)
        with self.store.snapshot() as snapshot:
            supports = snapshot.supports()
            shown = {}
            for view in ("raw", "active"):
                scope = scope_of(Filters(view=view), supports)
                documents = [(each.source, each.path) for each in snapshot.documents(scope)]
                shown[view] = {
                    (each.about.path, n)
                    for each in snapshot.excerpts_of(documents, scope)
                    for n in range(each.about.start_line, each.about.end_line + 1)
                }
        reached, todo = set(shown["active"]), {path for path, _ in shown["active"]}
        told = {path for path in todo if path.startswith("memory/summaries/")}
        while todo:
            behind = [each.lines for each in supports if each.summary in todo]
            new = {(s.path, n) for s in behind for n in range(s.start_line, s.end_line + 1)}
            todo = {path for path, _ in new - reached}
            reached |= new
        assert shown["raw"] <= reached
        for path in told:
            self.check_summary(path)

    def check_summary(self, path: str) -> None:
        """Hold every line of a summary that is served against the logs it was made of."""
        assert path in self.then, f"{path} was edited, and is served"
        lines, log = self.lines(path), ""
        for line in lines[lines.index("---", 1) :]:
            if line.startswith("## "):  # the first word of a heading names the log
                log = line.split()[1]
            elif line.startswith("- ") and not DESCRIBED.search(line) and "`" not in line:
                assert any(was_said(line, log, logs) for logs in self.then[path]), line


def was_said(line: str, log: str, logs: Lines) -> bool:
    """Tell whether a line of a summary, below the name of a log, stands in the logs it cites."""
    found = re.fullmatch(r"- (.*) \((\S*):(\d+)(?:-(\d+))?\)", line)
    if found is None:
        return False
    named = found[2] or log  # a path, or the name of a log
    of_month = f"{log}-{found[2]}"  # below the heading of a month
    names = [path for path in logs if {named, of_month} & {path, Path(path).stem}]
    if len(names) != 1:
        return False
    said, first, last = found[1], int(found[3]), int(found[4] or found[3])
    cited = bare("\n".join(logs[names[0]][first - 1 : last]))
    if bare(said) not in cited:  # else it is a line that ends like a mark
        mark = MARKS.search(said)
        assert mark is not None
        said = said[: mark.start()]
        everything = bare("".join(text for each in logs.values() for text in each))
        if int(mark[1] or 1) > everything.count(bare(said)) > 0:
            return False
        older = [len(logs[path]) for path in logs if mark[2] in (path, Path(path).stem)]
        if older and int(mark[3]) > older[0]:
            return False
    return all(bare(piece) in cited for piece in re.split(r"(?<=[.!?。！？:;]) ?", said))


def bare(text: str) -> str:
    """Give the letters and digits of a text."""
    return "".join(c for c in text if c.isalnum())


@pytest.mark.nightly
@settings(max_examples=20, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(texts=TEXTS, steps=STEPS)
def test_every_raw_line_is_reached_and_every_told_line_was_said(
    texts: list[str], steps: list[tuple[str, int, int, str]]
) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        memory = Memory(Path(temporary))
        for day, text in enumerate(texts, start=1):
            memory.write(f"memory/2025-03-0{day}.md", f"{text}\n\n{text}")
        memory.step("compact", 0, 1, "")
        memory.check()
        for kind, a, b, line in steps:
            memory.step(kind, a, b, line)
            memory.check()
