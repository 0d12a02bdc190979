"""Compact a simulated year of daily logs every week, and measure what a year costs.

    python -m tests.benchmarks.compaction_growth [--weeks 52] [--write PAGE.md]

The logs are generated: an engineer's diary, a chat with an assistant, and a household. Each day has
small talk, routine and one fact that no other day has. A row gives, for one kind: the
tokens of all logs, the tokens that a context of the whole year reads (summaries and newest logs),
Recall@1000 tokens of 100 dated questions by default search, in the logs only and with summaries,
the number of summaries, and the time of the last run over that of the first.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from random import Random

from memcli.compaction import folder
from memcli.compaction.draft import CompactionSettings
from memcli.compaction.plan import make_plan
from memcli.compaction.similarity import embedder
from memcli.language.tokens import measure
from memcli.types import Filters
from tests.benchmarks.compaction_recall import Workspace
from tests.benchmarks.figures import add_write, share, table, write

START = date(2025, 1, 6)  # a Monday
QUESTIONS = 100
THINGS = ("parser", "cache", "scanner", "mailer", "queue", "proxy", "ledger", "planner", "viewer",
          "printer", "router", "counter", "monitor", "archive", "gateway", "importer")  # fmt: skip
PEOPLE = ("Ann", "Bo", "Cid", "Dora", "Egon", "Fay", "Gil", "Hana", "Ivo", "Jo", "Kim", "Lea")
PLACES = ("Lund", "Porto", "Graz", "Riga", "Ghent", "Turku", "Split", "Bergen", "Siena", "Leuven")
FILLER = (
    "The morning went by quietly and nobody had much to say.",
    "Coffee, mails, and a long look out of the window.",
    "Nothing special happened before lunch.",
    "We talked about the weather for a while.",
    "It was a rather slow afternoon, like most of them.",
    "Everybody was tired and went home early.",
)


def engineer(random: Random, number: int, day: date) -> tuple[list[str], str]:
    thing, who = random.choice(THINGS), random.choice(PEOPLE)
    fact, question = random.choice([
        (f"Decided to move the {thing} to port {4000 + number} because {who} needs the old one.",
         f"why did the {thing} move to another port on {day}"),
        (f"Ticket OPS-{300 + number}: the {thing} failed after the release, {who} rolled it back.",
         f"which ticket was about the failed {thing} on {day}"),
        (f"{who} measured the {thing}: {120 + number} ms at the 95th percentile.",
         f"how slow was the {thing} on {day}"),
    ])  # fmt: skip
    routine = [f"- Stand-up at 9:30, {random.choice(PEOPLE)} was absent.", "- Reviewed mails."]
    return ["## Diary", "", *routine, f"- {fact}", f"- {random.choice(FILLER)}"], question


def chat(random: Random, number: int, day: date) -> tuple[list[str], str]:
    who, place, thing = random.choice(PEOPLE), random.choice(PLACES), random.choice(THINGS)
    fact, question = random.choice([
        (f"I met {who} in {place} and we ordered {number + 2} samples of the {thing}.",
         f"whom did I meet in {place} on {day}"),
        (f"My train to {place} leaves at {6 + number % 12}:{10 + number % 50} on Friday.",
         f"when does the train to {place} leave that I mentioned on {day}"),
        (f"I would rather have short answers about the {thing}, {who} reads them too.",
         f"what did I want for answers about the {thing} on {day}"),
    ])  # fmt: skip
    return [
        "## Session", "",
        f"User: {random.choice(FILLER)} {fact}", "",
        f"Assistant: Thank you for telling me. {random.choice(FILLER)} Many people find it useful"
        f" to write such things down, and a list of what is open often helps as well.", "",
        "User: Thanks, that is all for today.",
    ], question  # fmt: skip


def household(random: Random, number: int, day: date) -> tuple[list[str], str]:
    who, place = random.choice(PEOPLE), random.choice(PLACES)
    fact, question = random.choice([
        (f"Paid {40 + number} EUR to {who} for the repair of the boiler.",
         f"what did the boiler repair cost on {day}"),
        (f"{who} visits us from {place} in {2 + number % 8} weeks and brings the dog.",
         f"who announced a visit from {place} on {day}"),
        (f"The new key code of the shed is {1000 + 7 * number}, {who} knows it.",
         f"what was the key code of the shed on {day}"),
    ])  # fmt: skip
    return [f"Shopping and cleaning. {random.choice(FILLER)}", "", fact, "",
            random.choice(FILLER)], question  # fmt: skip


KINDS = {"engineer": engineer, "assistant chat": chat, "household": household}


def year(kind: str, weeks: int) -> Iterator[tuple[str, str, str, int]]:
    """Yield (path, text, question, line of its answer) for each day."""
    random = Random(kind)
    for number in range(7 * weeks):
        day = START + timedelta(days=number)
        lines, question = KINDS[kind](random, number, day)
        lines = [f"# {day}", "", *lines]
        answer = next(n for n, line in enumerate(lines, start=1) if (any(c.isdigit() for c in line)
                      and n > 1 and "9:30" not in line) or ("rather" in line and "User" in line)
                      or ("from" in line and "brings" in line))  # fmt: skip
        yield f"memory/{day}.md", "\n".join(lines) + "\n", question, answer


def make(kind: str, weeks: int, root: Path) -> None:
    every = list(year(kind, weeks))
    step = max(1, len(every) // QUESTIONS)
    (root / "workspace" / "memory").mkdir(parents=True)
    with (root / "queries.jsonl").open("w", encoding="utf-8") as file:
        for at, (path, text, question, line) in enumerate(every):
            (root / "workspace" / path).write_text(text, "utf-8")
            if at % step == 0 and at // step < QUESTIONS:
                relevant = [{"path": path, "start_line": line, "end_line": line}]
                row = {"id": f"q{at}", "query": question, "relevant": relevant}
                file.write(json.dumps({**row, "date": str(START + timedelta(days=7 * weeks))}))
                file.write("\n")


def grow(space: Workspace, weeks: int) -> tuple[list[float], int]:
    """Compact after each week; give the seconds of each run and the tokens left at the end."""
    settings = CompactionSettings(5, 30, 8, 0.35, 200)
    embed = embedder(space.encoder) if space.encoder else None
    place, seconds, left = folder.folder_of(str(space.root)), [], 0
    for week in range(1, weeks + 1):
        found = folder.read(space.settings, {}, None)
        last = str(START + timedelta(days=7 * week - 1))
        logs = [log for log in found.logs if log.date <= last]
        began = time.process_time()
        now = f"{last}T20:00:00"
        plan = make_plan(logs, found.summaries, settings, folder=place, now=now, embed=embed)
        seconds.append(time.process_time() - began)
        folder.write(str(space.root), plan.drafts)
    found = folder.read(space.settings, {}, None)
    covered = {source.path for summary in found.summaries for source in summary.lineage.sources}
    left = sum(summary.lineage.summary_tokens for summary in found.summaries)
    left += sum(measure("\n".join(log.lines)) for log in found.logs if log.path not in covered)
    return seconds, left


HEAD = ["kind", "tokens of the logs", "of a context", "share", "recall, logs only",
        "with summaries", "summaries", "last run / first"]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--weeks", type=int, default=52)
    add_write(parser)
    asked = parser.parse_args()
    rows = []
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as temporary:
            source = Path(temporary) / "source"
            make(kind, asked.weeks, source)
            space = Workspace(source, Path(temporary))
            space.index()
            before = space.recall(Filters(), 1000)
            seconds, left = grow(space, asked.weeks)
            space.index()
            found = folder.read(space.settings, {}, None)
            whole = sum(measure("\n".join(log.lines)) for log in found.logs)
            after = space.recall(Filters(), 1000)
            worked = [second for second in seconds if second > 0.01] or seconds
        rows.append([kind, f"{whole}", f"{left}", share(left / whole),
                     share(before), share(after), f"{len(found.summaries)}",
                     f"{worked[-1] / worked[0]:.1f}"])  # fmt: skip
        sys.stdout.write("  ".join(rows[-1]) + "\n")
        sys.stdout.flush()
    write(asked.write, "compaction_growth", table(HEAD, rows))


if __name__ == "__main__":
    main()
