"""Write the README's table of judged collections; not part of the suite.

ROOT contains a folder for each collection, with sets at any depth below it: `queries.jsonl` next to
`workspace/`. `--fixtures` asks those of the repository instead. Every set is asked with the default
settings and once more by keywords only, as `bench quality` does; its questions count
alike. `--stores` keeps the indexes, so that the next table embeds nothing again. `--encoder` is for
an extra that is installed, and asks only the collections that the bundled model does not read well.
`--profiles` asks by each profile instead, and prints two figures of each. Prints the table and the
settings; `--write` puts them in their place.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memcli.cli.main import run
from memcli.search.options import PROFILES
from tests.benchmarks.figures import option, share

TITLES = {
    "locomo": "LoCoMo, five long chats",
    "realtalk": "REALTALK, four chats of messages",
    "beam": "BEAM, ten chats with an assistant",
    "qmsum": "QMSum, minutes of meetings",
    "longmemeval-mini": "LongMemEval, chats with an assistant",
    "madial-en": "MADial-Bench, English",
    "chunking-eval": "chunking_evaluation, long documents",
    "pubmedqa": "PubMedQA, abstracts",
    "xquad/en": "XQuAD, English",
    "xquad/es": "XQuAD, Spanish",
    "xquad/de": "XQuAD, German",
    "xquad/ar": "XQuAD, Arabic",
    "memorybank-zh": "MemoryBank, Chinese chats",
    "memdaily-zh": "MemDaily, Chinese",
    "madial-zh": "MADial-Bench, Chinese",
    "cmrc2018": "CMRC 2018, Chinese",
    "eval/conversations": "`conversations`",
    "eval/vault": "`vault`",
    "eval/docs": "`docs`",
}
FOREIGN = [
    TITLES[name]
    for name in ("xquad/es", "xquad/de", "xquad/ar", "memorybank-zh", "memdaily-zh", "madial-zh",
                 "cmrc2018")
]  # fmt: skip
FIXTURES = Path(__file__).parents[2] / "fixtures" / "eval"
METRICS = ("Hit@1", "Hit@5", "Recall@10", "nDCG@10", "Recall@500tok", "Recall@1000tok",
           "Recall@2000tok")  # fmt: skip
HEAD = (
    "| collection | questions | mode | Hit@1 | Hit@5 | Recall@10 | nDCG@10 | R@500t | R@1000t"
    " | R@2000t | lines |\n|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|\n"
)
PROFILES_HEAD = f"| collection | {' | '.join(PROFILES)} |\n|---|{'---:|' * len(PROFILES)}\n"
OF_PROFILES = ("nDCG@10", "Recall@1000tok")  # what is told of each, as the README says
LEAST_QUESTIONS = 30  # of a collection that gets a row
SHOWN = 10  # passages whose lines are counted


class Asked(NamedTuple):
    """One question of a set: its scores and the lines of its passages."""

    scores: Mapping[str, float]
    lines: tuple[int, ...]


class Record(NamedTuple):
    """What one run over one set gave."""

    asked: list[Asked]
    settings: Mapping[str, Any]


def sets(root: Path) -> dict[str, list[Path]]:
    """Find the sets below a folder by the title of their collection, in the order of TITLES."""
    found: dict[str, list[Path]] = {title: [] for title in TITLES.values()}
    for file in sorted(root.glob("*/**/queries.jsonl")):
        found.setdefault(collection_of(file.parent), []).append(file.parent)
    return {title: folders for title, folders in found.items() if folders}


def collection_of(folder: Path) -> str:
    """Give the title of the collection that a set belongs to, its own name where that is none."""
    place = f"/{folder.as_posix()}/"
    named = (title for name, title in TITLES.items() if f"/{name}/" in place)
    return next(named, folder.parent.name)


def ask(folder: Path, store: Path, *arguments: str) -> Record:
    """Run `bench quality` over one set; its index is brought in step first."""
    os.environ["MEMCLI_STORE"] = str(store)
    workspace = ["-w", str(folder / "workspace"), "--now", "2026-01-01"]
    out, passages = io.StringIO(), store.with_suffix(".run")
    with contextlib.redirect_stdout(out):
        if run(["index", "-q", *workspace]):
            sys.exit(f"{folder} could not be indexed")
        out.truncate(0)
        run(["bench", "quality", str(folder / "queries.jsonl"), "--json", "--no-sync",
             "--run", str(passages), *arguments, *workspace])  # fmt: skip
    record = json.loads(out.getvalue().splitlines()[-1])
    lines = {
        told["id"]: tuple(r["end_line"] - r["start_line"] + 1 for r in told["results"][:SHOWN])
        for told in map(json.loads, passages.read_text("utf-8").splitlines())
    }
    asked = [Asked(q["scores"], lines.get(q["id"], ())) for q in record["queries"]]
    return Record(asked, record["settings"])


def means(asked: Sequence[Asked], metrics: Sequence[str]) -> list[str]:
    """Write the means of some metrics over questions."""
    return [share(sum(each.scores[name] for each in asked) / len(asked)) for name in metrics]


def row(title: str, mode: str, asked: Sequence[Asked], *, first: bool) -> str:
    """Write one row: means over questions, and the mean lines of a passage."""
    lines = [n for each in asked for n in each.lines]
    told = [*means(asked, METRICS), f"{sum(lines) / max(1, len(lines)):.1f}"]
    head = f"| {title} | {len(asked)} | " if first else "| | | "
    return f"{head}{mode} | {' | '.join(told)} |\n"


def ask_all(folders: Sequence[Path], stores: Path, *arguments: str) -> list[Record]:
    """Run `bench quality` over the sets of a collection."""
    return [ask(folder, store_of(folder, stores), *arguments) for folder in folders]


def store_of(folder: Path, stores: Path) -> Path:
    """Name the index of a set."""
    return stores / f"{'_'.join(folder.parts[-2:])}.sqlite"


def questions(records: Sequence[Record]) -> list[Asked]:
    """Give the questions of all sets of a collection."""
    return [each for record in records for each in record.asked]


def rows(title: str, folders: Sequence[Path], stores: Path) -> Iterator[tuple[str, Record]]:
    """Ask the sets of a collection in both modes; one row where meaning takes no part."""
    records = ask_all(folders, stores)
    hybrid = questions(records)
    if len(hybrid) < LEAST_QUESTIONS:
        sys.stderr.write(f"{title}: too few questions for a row\n")
        return
    words = questions(ask_all(folders, stores, "--mode", "keyword"))
    if hybrid == words:
        yield row(title, "keyword", hybrid, first=True), records[0]
    else:
        yield row(title, "hybrid", hybrid, first=True), records[0]
        yield row(title, "keyword", words, first=False), records[0]


def profile_rows(title: str, folders: Sequence[Path], stores: Path) -> Iterator[tuple[str, Record]]:
    """Ask the sets of a collection by each profile; a column each."""
    cells: list[str] = []
    for profile in PROFILES:
        records = ask_all(folders, stores, "--profile", profile)
        asked = questions(records)
        if len(asked) < LEAST_QUESTIONS:
            sys.stderr.write(f"{title}: too few questions for a row\n")
            return
        cells.append(", ".join(means(asked, OF_PROFILES)))
    yield f"| {title} | {' | '.join(cells)} |\n", records[0]


def told(settings: Mapping[str, Any]) -> str:
    """Say with which settings it was measured."""
    names = ("search.profile", "search.fusion", "search.limit", "search.semantic_weight",
             "search.keyword_weight", "chunk.tokens", "embedding.encoder")  # fmt: skip
    return f"Settings: {', '.join(f'{name} {settings[name]}' for name in names)}.\n"


OPTIONS = (
    option("root", type=Path, nargs="?", default=FIXTURES),
    option("--fixtures", action="store_true"),
    option("--stores", type=Path),
    option("--encoder"),
    option("--profiles", action="store_true"),
)


KINDS = ("encoder", "profiles", "fixtures")  # each has figures of its own


def main(options: Namespace) -> str:
    if options.encoder:
        os.environ["MEMCLI_EMBEDDING_ENCODER"] = options.encoder
    table, settings = (PROFILES_HEAD if options.profiles else HEAD), dict[str, Any]()
    for title, folders in sets(options.root.resolve()).items():
        if options.encoder and title not in FOREIGN:
            continue
        asked = (profile_rows if options.profiles else rows)(title, folders, options.stores)
        for line, record in asked:
            sys.stderr.write(line)
            table, settings = table + line, dict(record.settings)
    return table + ("" if options.profiles else f"\n{told(settings)}")
