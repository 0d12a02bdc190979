"""Read summaries: their text, for the next one, and whether they are still valid; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import inf

from memcli.compaction.compose import EntrySummary
from memcli.compaction.sentences import Sentence
from memcli.indexing.lineage import successors
from memcli.language.salience import keep_reason
from memcli.language.tokens import quotient
from memcli.markdown.evidence import NOTHING, CitedFile, unmarked, weigh
from memcli.markdown.lineage import cited, cited_lines, cited_place, log_name, month_and_day
from memcli.record import Record
from memcli.search.validity import leaves_of
from memcli.types import Lineage, lines_of

SHOWN_CHARS = 80  # characters of a line in a message


class Summary(Record):
    """A summary in the folder."""

    path: str
    text: str
    lineage: Lineage
    changed: tuple[str, ...]  # citations of changed source lines
    is_edited: bool = False  # somebody has changed it since it was written
    invented: tuple[str, ...] = ()  # its lines that their cited lines do not contain
    reworded: tuple[str, ...] = ()  # lines of it that nobody can check word for word
    rests_on: tuple[str, ...] = ()  # summaries below it that are edited or forged

    @property
    def state(self) -> str:
        """Say what the summary is: one of `types.STATES`."""
        if self.is_edited:
            return "edited"
        if self.changed:
            return "out_of_date"
        return "forged" if self.invented or self.rests_on else "valid"

    @property
    def is_valid(self) -> bool:
        """Return whether it can replace its lines."""
        return self.state == "valid"


class Problem(Record):
    """A reason why a summary is not valid."""

    path: str
    kind: str  # edited | out_of_date | invented | orphan | cycle | coverage | progress | unread
    detail: str


def judged(
    texts: Sequence[tuple[str, str, Lineage]], files: Mapping[str, Sequence[str]]
) -> list[Summary]:
    """Make summaries of (path, text, lineage); `files` has the lines of their sources.

    A summary of an invalid summary is invalid, too.
    """
    summaries = {path: _weighed(path, text, lineage, files) for path, text, lineage in texts}
    spread = True
    while spread:
        spread = False
        for path, summary in summaries.items():
            parents = [summaries[p] for p in summary.lineage.parents if p in summaries]
            changed = [p.path for p in parents if p.changed and p.path not in summary.changed]
            others = [p.path for p in parents if not p.is_valid and not p.changed]
            others = [path for path in others if path not in summary.rests_on]
            if changed or others:
                summaries[path] = summary._replace(
                    changed=(*summary.changed, *changed), rests_on=(*summary.rests_on, *others)
                )
                spread = True
    return list(summaries.values())


def _weighed(path: str, text: str, lineage: Lineage, files: Mapping[str, Sequence[str]]) -> Summary:
    def read(name: str) -> CitedFile | None:
        return CitedFile(name, files[name]) if name in files else None

    weight = weigh(text, lineage, read, successors(lineage, files))
    pairs = zip(lineage.sources, weight.places, strict=True)
    changed = tuple(f"{s.path}:{s.start_line}-{s.end_line}" for s, place in pairs if not place)
    return Summary(
        path, text, lineage, changed, not weight.is_sealed, weight.invented, weight.reworded
    )


def problems(summaries: Sequence[Summary]) -> list[Problem]:
    """Check hashes, seals, quotations, coverage, progress and that no summary is its own source."""
    by_path = {summary.path: summary for summary in summaries}
    sources = {summary.path: summary.lineage.sources for summary in summaries}
    result: list[Problem] = []
    for summary in summaries:
        path, lineage = summary.path, summary.lineage
        if summary.is_edited:
            result.append(Problem(path, "edited", "somebody has changed it; it is left as it is"))
        missing = [parent for parent in lineage.parents if parent not in by_path]
        changed = [at for at in summary.changed if at.rpartition(":")[0] not in missing]
        result += [Problem(path, "orphan", f"{parent} is gone") for parent in missing]
        result += [Problem(path, "out_of_date", f"{at} has changed") for at in changed]
        invented = (_invented(line, summary.text) for line in summary.invented)
        result += [Problem(path, "invented", detail) for detail in invented]
        result += [Problem(path, "out_of_date", f"{at} is not valid") for at in summary.rests_on]
        if path in _below(path, by_path):
            result.append(Problem(path, "cycle", "it is made from itself"))
            continue
        if summary.is_valid:
            paths = {cite.path for _, cite in cited_lines(summary.text)}
            olds = (cited_place(old) for old in corrections(summary.text))
            paths |= {old.path for old in olds if old}
            below = {source.path: {source.path} for source in lineage.sources}
            below |= {p: {leaf.path for leaf in leaves_of(p, sources)} for p in lineage.parents}
            silent = [p for p in sorted(below) if paths.isdisjoint(below[p])]
            result += [Problem(path, "coverage", f"none of its lines cites {p}") for p in silent]
        if lineage.summary_tokens >= lineage.source_tokens:
            detail = f"{lineage.summary_tokens} tokens for {lineage.source_tokens}"
            result.append(Problem(path, "progress", detail))
    return result


def _invented(line: str, text: str) -> str:
    """Describe the error in a line of a summary; the headings above it may name its log."""
    rows = text.split("\n")
    cite = next((cite for number, cite in cited_lines(text) if rows[number - 1] == line), None)
    cite = cite or cited(line)
    if cite is None:
        return f"cites nothing: {line[:SHOWN_CHARS]}"
    at = f"{cite.path}:{lines_of(cite.first, cite.last)}"
    return f"is not in {at}: {cite.text[:SHOWN_CHARS]}"


def last_run(summaries: Sequence[Summary]) -> list[Summary]:
    """Return the summaries of the run that was made last.

    Runs are counted. If two machines have counted the same number, their times decide.
    """
    made = [(summary.lineage.run, _instant(summary.lineage.compacted)) for summary in summaries]
    return [each for each, at in zip(summaries, made, strict=True) if at == max(made)]


def _instant(time: str) -> float:
    """Return an ISO time in seconds since 1970; without an offset it is UTC, "" is first."""
    try:
        moment = datetime.fromisoformat(time)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return -inf


def _below(path: str, summaries: Mapping[str, Summary]) -> set[str]:
    """Name every summary that one rests on."""
    seen: set[str] = set()
    todo = [path]
    while todo:
        for parent in summaries[todo.pop()].lineage.parents:
            if parent in summaries and parent not in seen:
                seen.add(parent)
                todo.append(parent)
    return seen


def corrections(text: str) -> list[str]:
    """List the citations of what the lines of a summary replace."""
    return [line.replaces for line in citing_lines(text) if line.replaces]


def last_lines(text: str, tokens: int) -> list[str]:
    """Return the last lines of a summary, up to so many tokens, without their citations."""
    lines: list[str] = []
    spent = 0.0
    for sentence in reversed(citing_lines(text)):
        spent += quotient(sentence.text)
        if spent > tokens:
            break
        lines.append(sentence.text)
    return lines[::-1]


def entries_of(text: str) -> list[EntrySummary]:
    """Read the lines of a summary with their headings, to summarise them again.

    A line loses the citation of what it corrects, which is not in a summary.
    """
    titles = [""]
    for row in text.split("\n"):
        titles.append(row.removeprefix("## ") if row.startswith("## ") else titles[-1])
    entries = []
    for (number, _), line in zip(cited_lines(text), citing_lines(text), strict=True):
        name, title = log_name(line.path), titles[number]
        is_named = name and title.split(" ")[0] in (name, month_and_day(name)[0])
        title = title.partition(" ")[2] if is_named else title
        if line.text != NOTHING:
            own = (line._replace(replaces=""),)
            entries.append(EntrySummary("", (title,), line.path, line.first, line.last, own, True))
    return entries


def citing_lines(text: str) -> list[Sentence]:
    """Read the lines of a summary that cite."""
    lines = []
    for _, cite in cited_lines(text):
        words, times, replaces = unmarked(cite.text)
        where = cite.path, cite.first, cite.last
        lines.append(Sentence(words, *where, "", "", keep_reason(words), times, replaces))
    return lines
