"""What one typing mistake costs a search, and how much of that the repair of words gives back.

Every FOLDER holds `workspace/` and `queries.jsonl`, judged questions. The rarest plain word of each
question that the notes hold is misspelt once, by rule: two letters swapped, one left out, one
typed twice, one of a key beside it put in or typed instead; never the first alone, and with the
same `--seed` always the same. Questions without such a word are left out of the first table.

Prints of each collection what a mistake costs nDCG@10 without and with repair, and what repair
changes in the questions as they are, with its 95 % interval (paired bootstrap over questions). The
index of each workspace is brought in step first.
"""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from memcli.bench.metrics import paired, score
from memcli.bench.quality import line_costs, passages
from memcli.bench.queries import Query, read_queries
from memcli.cli.bench_quality import Searcher, bring_up_to_date
from memcli.cli.command_context import command_context
from memcli.cli.options import Options
from memcli.search.pipeline import Answer
from memcli.search.query import ParsedQuery, parse
from memcli.store.port import Snapshot
from tests.benchmarks.figures import option, share, table
from tests.benchmarks.quality_table import collection_of

FIGURE = "nDCG@10"
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # of a keyboard
LETTERS = 5  # of a word that is misspelt, at least


class Asked(NamedTuple):
    """A question as it is and misspelt, each without and with repair: its FIGURE."""

    clean: float
    clean_repaired: float
    misspelt: float | None  # None: it has no word to misspell
    repaired: float | None


def beside(letter: str) -> str:
    """Give the letters of the keys beside one, in its row and in those above and below."""
    found = ""
    for at, row in enumerate(ROWS):
        if letter in row:
            place = row.index(letter)
            rows = ROWS[max(0, at - 1) : at + 2]
            found += "".join(r[max(0, place - 1) : place + 2] for r in rows)
    return found.replace(letter, "")


def misspelt(word: str, draw: Random) -> str:
    """Make one typing mistake in a word."""
    at = draw.randrange(1, len(word))
    keys = beside(word[at].lower()) or word[at]
    mistakes = [
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
        word[:at] + draw.choice(keys) + word[at:],
        word[:at] + draw.choice(keys) + word[at + 1 :],
        word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :],
    ]
    made = draw.choice([made for made in mistakes if made.lower() != word.lower()] or [word])
    return made.lower().capitalize() if word.istitle() else made


def rarest(query: ParsedQuery, snapshot: Snapshot) -> str | None:
    """Name the plain word that fewest chunks hold, but some."""
    asked = [
        (term.text, index_term)
        for term in query.plain
        if len(term.text) >= LETTERS and term.text.isalpha() and (index_term := term.index_term)
    ]
    counts = snapshot.frequencies([index_term for _, index_term in asked])
    held = [(count, text) for (text, _), count in zip(asked, counts, strict=True) if count]
    return min(held)[1] if held else None


class Asker:
    """One workspace and its judged questions."""

    def __init__(self, folder: Path) -> None:
        self.command = command_context(
            Options(workspace=[str(folder / "workspace")], quiet=True, color="never")
        )
        bring_up_to_date(self.command, silent=True)
        self.costs = line_costs(self.command.memory.index_settings())
        self.plain = Searcher(self.command, without=frozenset({"recall.repair"}))
        self.mending = Searcher(self.command)
        text = (folder / "queries.jsonl").read_text("utf-8")
        self.queries = read_queries(text.split("\n"), str(folder))

    def ask(self, query: Query, draw: Random) -> Asked:
        """Ask one question in the four ways."""
        as_it_is = self.mending(query.text, query.date)
        again = self._score(query, as_it_is)
        clean = self._without(query, query.text) if as_it_is.repaired else again
        with self.command.memory.store.snapshot() as snapshot:
            word = rarest(parse(query.text), snapshot)
        if word is None:
            return Asked(clean, again, None, None)
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", misspelt(word, draw), query.text)
        found = self.mending(text, query.date)
        mended = self._score(query, found)
        without = self._without(query, text) if found.repaired else mended
        return Asked(clean, again, without, mended)

    def _without(self, query: Query, text: str) -> float:
        """Score a text without repair, which is the same where there was nothing to repair."""
        return self._score(query, self.plain(text, query.date))

    def _score(self, query: Query, answer: Answer) -> float:
        return score(query.relevant, passages(answer), self.costs)[FIGURE]


def row(title: str, asked: Sequence[Asked]) -> list[str]:
    """Write what a mistake costs one collection, and what repair changes where there is none."""
    spoilt = [one for one in asked if one.misspelt is not None]
    clean = [one.clean_repaired for one in spoilt]
    costs = [
        paired(clean, [found for found in of if found is not None])
        for of in ([one.misspelt for one in spoilt], [one.repaired for one in spoilt])
    ]
    moved = paired([one.clean for one in asked], [one.clean_repaired for one in asked])
    low, high = signed(moved.low), signed(moved.high)
    return [
        title,
        str(len(spoilt)),
        *(signed(each.mean) for each in costs),
        f"{signed(moved.mean)} [{low}, {high}]",
    ]


def signed(value: float) -> str:
    """Write a change. Example: signed(-.0066) -> "-.007"; signed(0) -> ".000"."""
    return f"{'+' if value > 0 else ''}{share(value)}"


OPTIONS = (
    option("folders", nargs="+", type=Path),
    option("--seed", type=int, default=0),
)


def main(options: Namespace) -> str:
    found: dict[str, list[Asked]] = {}
    for folder in options.folders:
        asker, draw = Asker(folder), Random(options.seed)
        asked = [asker.ask(query, draw) for query in asker.queries if query.relevant]
        found.setdefault(collection_of(folder.resolve()), []).extend(asked)
    rows = [row(title, asked) for title, asked in found.items()]
    return table(["collection", "questions", "correction off", "on", "no mistake"], rows)
