"""Write a summary as Markdown: front matter with its lineage, then lines that all cite; pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

from memcli.compaction.sanitize import is_placeholder
from memcli.compaction.sentences import Sentence
from memcli.language.tokens import quotient
from memcli.markdown.evidence import NOTHING
from memcli.markdown.lineage import SCHEMA, log_name, month_and_day, seal_of
from memcli.record import Record
from memcli.types import Lineage, lines_of

# Neighbouring sentences share a line, and so a citation, up to this many tokens.
LINE_TOKENS = 120
GAP = 1  # lines from one to the next: a citation spans no sentence that is left out
HEADINGS = 0.1  # headings below a title may cost this share of what is said below them
_CLOCK = re.compile(r"\d:\d\d")  # the heading of a session says nothing of its content
OF_A_MONTH = 6  # lines of a log without headings, up to which they stay below the month


class EntrySummary(Record):
    """The part of a summary for one entry."""

    date: str
    headings: tuple[str, ...]  # title of the document first
    path: str
    first: int
    last: int
    sentences: tuple[Sentence, ...]
    is_line: bool = False  # it is a line of an older summary


def body(entries: Sequence[EntrySummary], *, is_read: bool = True) -> str:
    """Write the text to read and search: a section per log, with its entries' headings, or month.

    The heading of a section begins with the name of its log, and its lines cite line numbers only.
    Logs without headings and with few lines share the heading of their month, and their lines cite
    the rest of the name. If only a program or a model reads the text, each sentence cites the path
    of its log. A log without a quoted line gets a line that only cites it.
    """
    sections: list[list[str]] = []
    for (path, date), group in groupby(_readable(entries), key=lambda e: (e.path, e.date)):
        section = list(group)
        name = log_name(path) if is_read else ""
        title = section[0].headings[0]
        heading = _heading(name, date, title)
        prefix, tokens = ("" if name else path), (LINE_TOKENS if is_read else 0)
        own = _section(section, title, prefix, tokens)
        has_headings = "" in own
        month, day = month_and_day(name)
        if day and heading == f"## {name}" and len(own) <= OF_A_MONTH and not has_headings:
            heading = f"## {month}"
            own = [f"{day}:".join(line.rsplit(":", 1)) for line in own]
        if sections and sections[-1][0] == heading:
            sections[-1] += own
        else:
            sections.append([heading, *own])
    text = "\n\n".join("\n".join(lines) for lines in sections)
    return f"{text}\n" if text else ""


def _section(section: Sequence[EntrySummary], title: str, prefix: str, tokens: float) -> list[str]:
    """Write the lines of a log, below the headings of its entries; `prefix` is in each citation."""
    lines: list[str] = []
    above = ""
    for entry in section:
        heading = _subheading(entry, title)
        if heading and heading != above:
            lines += ["", heading]
        above = heading
        if not entry.sentences:
            lines.append(f"- {NOTHING} ({prefix}:{entry.first}-{entry.last})")
        lines += (_line(run, prefix) for run in _joined(entry.sentences, tokens))
    return lines


def with_titles(entries: Sequence[EntrySummary], share: float = 1.0) -> list[EntrySummary]:
    """Leave only its title to each log whose other headings cost too much.

    A summary contains about `share` of the sentences.
    """
    headings: dict[str, dict[str, float]] = {}
    tokens: dict[str, float] = {}
    for entry in entries:
        if entry.sentences:
            heading = _subheading(entry, entry.headings[0])
            headings.setdefault(entry.path, {})[heading] = quotient(heading)
            cost = sum(quotient(s.shown) for s in entry.sentences)
            tokens[entry.path] = tokens.get(entry.path, 0.0) + cost
    plain = {
        path
        for path, costs in headings.items()
        if sum(costs.values()) > HEADINGS * share * tokens[path]
    }
    return [
        entry._replace(headings=entry.headings[:1]) if entry.path in plain else entry
        for entry in entries
    ]


def _subheading(entry: EntrySummary, title: str) -> str:
    below = [h for h in entry.headings[1:] if h not in title and not _CLOCK.search(h)]
    return f"### {' > '.join(below)}" if below else ""


def _heading(name: str, date: str, title: str) -> str:
    """Write the name of a log, its date and its title, and leave out what the name says."""
    has_date = date in (name or title)
    start = name if has_date else f"{name} {date}".strip()
    rest = title if date not in name else title.removeprefix(date).strip()
    is_said = set(_words(rest)) <= set(_words(start))
    return f"## {start}" if is_said else f"## {start} {rest}".replace("  ", " ")


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _readable(entries: Sequence[EntrySummary]) -> list[EntrySummary]:
    """Return the entries with sentences, and the first entry of each log that has none."""
    paths = {entry.path for entry in entries if entry.sentences}
    readable: list[EntrySummary] = []
    for entry in entries:
        if entry.sentences or entry.path not in paths:
            paths.add(entry.path)
            readable.append(entry)
    return readable


def _joined(sentences: Iterable[Sentence], tokens: float) -> list[list[Sentence]]:
    """Join neighbouring sentences of one log."""
    runs: list[list[Sentence]] = []
    for sentence in sentences:
        run = runs[-1] if runs else []
        if (
            run
            and run[-1].path == sentence.path
            and not sentence.mark
            and (not run[0].mark or _is_same_line(run[0], sentence))
            and not is_placeholder(sentence.text)
            and not is_placeholder(run[-1].text)
            and (0 <= sentence.first - run[-1].last <= GAP or sentence.before == run[-1].last > 0)
            and sum(quotient(s.text) for s in [*run, sentence]) <= tokens
        ):
            run.append(sentence)
        else:
            runs.append([sentence])
    return runs


def _is_same_line(marked: Sentence, sentence: Sentence) -> bool:
    """Return whether a sentence may share the mark of one that corrects another line."""
    return marked.times == 1 and marked.last == sentence.first


def _line(run: Sequence[Sentence], path: str) -> str:
    text = run[0].shown
    for before, sentence in pairwise(run):
        is_same = sentence.speaker == before.speaker and not sentence.lead
        words = sentence.text if is_same else sentence.shown
        if text[-1] in "。！？…":
            text += words
        else:
            text += f"{' ' if text[-1] in '.!?:]' else '; '}{words}"
    return f"- {text}{run[0].mark} ({path}:{lines_of(run[0].first, run[-1].last)})"


def document(lineage: Lineage, text: str) -> str:
    """Put the front matter before a body and seal both; the seal of `lineage` is not used."""
    rows = [
        f'- {{path: {_quoted(s.path)}, lines: "{s.start_line}-{s.end_line}",'
        f' hash: "{s.hash.hex()}"}}'
        for s in lineage.sources
    ]
    head = [
        "---",
        f"schema: {SCHEMA}",
        f"date: {lineage.latest}",
        f'earliest: "{lineage.earliest}"',
        f'latest: "{lineage.latest}"',
        f'compacted: "{lineage.compacted}"',
        f"run: {lineage.run}",
        f"method: {lineage.method}",
        f"confidence: {lineage.confidence}",
        f"level: {lineage.level}",
        f"tokens: {{sources: {lineage.source_tokens}, summary: {lineage.summary_tokens}}}",
        f"parents: [{', '.join(map(_quoted, lineage.parents))}]",
        "lineage:",
        *rows,
    ]
    unsealed = "\n".join([*head, "---", text])
    return "\n".join([*head, f'seal: "{seal_of(unsealed)}"', "---", text])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
