"""Measure the gate of `remember` on lines with labels.

`fixtures/gate` has a memory of 80 facts and 18 rules in three languages, for each fact the same in
other words and another fact like it, and lines that are worth keeping, chatter, restated rules and
echoes of what a session was given; secrets are those of `tests.secrets.examples`. Every second line
was used to choose thresholds, the rest is reported. The session was given every line of the memory.
`--write PAGE.md` puts the figures there.
"""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from memcli.api.memory import Memory
from memcli.api.similar_lines import SimilarLines
from memcli.remember import admission
from memcli.remember.admission import AdmissionSettings, Judgement, SimilarLine, judge
from memcli.remember.note_score import GateWeights
from tests.benchmarks.figures import option, table
from tests.secrets.examples import EXAMPLES

FOLDER = Path(__file__).parents[2] / "fixtures" / "gate"
KEPT = ("keep", "another")  # labels of lines that no rule may refuse
REFUSED = {
    "again": ("duplicate", "near-duplicate", "echo"),
    "restated": ("duplicate", "near-duplicate", "echo"),
    "echo": ("duplicate", "near-duplicate", "echo"),
    "secret": ("secret",),
    "chatter": ("low-score",),
}
MEANINGS = {
    "keep": "worth keeping: kept",
    "another": "differs from a fact in a number, a name, a `not` or its subject: kept",
    "again": "says a known fact in other words: refused as a repetition",
    "restated": "restates a rule of AGENTS.md: refused as a repetition",
    "echo": "repeats what the session was shown: refused as a repetition",
    "secret": "contains a secret: refused for it",
    "chatter": "small talk: refused for its score",
}
RULES_IN_ORDER = ("secret", "duplicate", "near-duplicate", "echo", "low-score")
SAYING = ("Push with {}", "In der CI steht {}", "配置里是 {}")


class Line(NamedTuple):
    """A candidate, and what is right about it."""

    label: str
    language: str
    text: str


def lines() -> Iterator[Line]:
    """Give all lines, those of one label together."""
    facts = _rows("facts.tsv")
    for language, _, again, another in facts:
        yield Line("again", language, again)
        yield Line("another", language, another)
    for label, language, text in _rows("lines.tsv"):
        yield Line(label, language, text)
    for at, (_, example) in enumerate(EXAMPLES):
        said = SAYING[at % 3].format(example)
        yield Line("secret", ("en", "de", "zh")[at % 3], said)


def _rows(name: str) -> list[list[str]]:
    text = (FOLDER / name).read_text("utf-8")
    return [line.split("\t") for line in text.splitlines()]


def make_memory(root: Path) -> None:
    """Write the facts as logs of a language each, and the rules beside them."""
    (root / "memory").mkdir()
    facts = _rows("facts.tsv")
    for language in ("en", "de", "zh"):
        said = "".join(f"- {text}\n" for own, text, *_ in facts if own == language)
        (root / "memory" / f"{language}.md").write_text(f"# Facts\n\n{said}", "utf-8")
    (root / "AGENTS.md").write_text((FOLDER / "AGENTS.md").read_text("utf-8"), "utf-8")
    (root / "memcli.toml").write_text("", "utf-8")


Found = Sequence[tuple[Line, tuple[SimilarLine, ...]]]


def look(encoder: str) -> tuple[list[tuple[Line, tuple[SimilarLine, ...]]], GateWeights]:
    """Find the neighbours of every line."""
    with tempfile.TemporaryDirectory() as folder:
        make_memory(Path(folder))
        settings = {"embedding.encoder": encoder}
        with Memory.open(folder, settings=settings) as memory:
            memory.index()
            similar = SimilarLines(memory.workspaces.lead)
            weights = GateWeights(*(memory.config(f"gating.{n}") for n in GateWeights._fields))
            return [(line, similar.of(line.text)) for line in lines()], weights


def judged(found: Found, weights: GateWeights, least: float) -> list[tuple[Line, Judgement]]:
    """Ask the gate about every line."""
    settings = AdmissionSettings(weights, least, was_shown=lambda source, path, text: True)
    return [(line, judge(line.text, near, settings)) for line, near in found]


def report(results: Sequence[tuple[Line, Judgement]]) -> str:
    """Write what each label became, and precision of each rule."""
    rows = []
    wrong: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for label, meaning in MEANINGS.items():
        of_label = [(line, rule_of(each)) for line, each in results if line.label == label]
        expected = REFUSED.get(label, ("kept",))
        languages = [
            [rule in expected for line, rule in of_label if line.language == language]
            for language in ("en", "de", "zh")
        ]
        passage = sum(rule in expected for _, rule in of_label)
        rows.append(
            [
                meaning,
                f"{passage} of {len(of_label)}",
                *(f"{sum(g)} of {len(g)}" for g in languages),
            ]
        )
        for _, rule in of_label:
            (right if rule in expected else wrong)[rule] += 1
    told = table(["kind of line: expected", "right", "English", "German", "Chinese"], rows)
    refusing = [rule for rule in RULES_IN_ORDER if right[rule] + wrong[rule]]
    return (
        told
        + "\n"
        + table(
            ["rule", "refused", "rightly"],
            [[f"`{rule}`", str(right[rule] + wrong[rule]), str(right[rule])] for rule in refusing],
        )
    )


def rule_of(judged: Judgement) -> str:
    """Name the rule that refused a line, or that it was kept."""
    return judged.refusal.rule if judged.refusal else "kept"


OPTIONS = (
    option("--wrong", action="store_true", help="print the lines that went wrong"),
    option("--encoder", default="bundled"),
)


def main(options: Namespace) -> str:
    found, weights = look(options.encoder)
    # The lines of facts come in pairs, and both of a pair belong to one half.
    half = [each for at, each in enumerate(found) if at // 2 % 2 == 1]
    results = judged(half, weights, admission.LEAST_WORTH)
    told = (
        f"{len(half)} of {len(found)} lines, which played no part in choosing the thresholds:\n\n"
    )
    told += report(results)
    for line, each in results if options.wrong else ():
        rule = rule_of(each)
        if rule not in REFUSED.get(line.label, ("kept",)):
            why = each.refusal or each.checks[3:4]
            print(f"{line.label} -> {rule} ({each.score.value:.2f} {each.score.kind}): {line.text}")
            print(f"    {why}")
    return told
