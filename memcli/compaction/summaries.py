"""Read summaries back: what they say, for the next one, and whether they still hold; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from memcli.compaction.compose import Entry
from memcli.compaction.keep import why_kept
from memcli.compaction.sentences import Sentence
from memcli.markdown.lineage import citations, cited, holds, seal_of
from memcli.markdown.tokens import quotient
from memcli.record import Record
from memcli.types import Lineage, SourceLines

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class Summary(Record):
    """A summary in the folder."""

    path: str
    text: str
    lineage: Lineage
    stale: tuple[str, ...]  # citations of what it rests on that is no longer as it was

    @property
    def is_edited(self) -> bool:
        """Tell that somebody has changed it since it was written."""
        return seal_of(self.text) != self.lineage.seal


class Problem(Record):
    """What does not hold of a summary."""

    path: str
    kind: str  # edited | stale | orphan | cycle | coverage | progress | unread
    detail: str


def judged(
    found: Sequence[tuple[str, str, Lineage]], files: Mapping[str, Sequence[str]]
) -> list[Summary]:
    """Make summaries of (path, text, lineage); `files` holds the lines of what they rest on.

    A summary whose lines have changed is stale, and so is every summary that rests on it.
    """
    stale = {
        path: [where(s) for s in lineage.sources if not holds(s, files.get(s.path, ()))]
        for path, _, lineage in found
    }
    spread = True
    while spread:
        spread = False
        for path, _, lineage in found:
            more = [p for p in lineage.parents if stale.get(p) and p not in stale[path]]
            stale[path] += more
            spread = spread or bool(more)
    return [Summary(path, text, lineage, tuple(stale[path])) for path, text, lineage in found]


def where(source: SourceLines) -> str:
    """Name the lines of a source as `memcli get` takes them."""
    return f"{source.path}:{source.start_line}-{source.end_line}"


def problems(summaries: Sequence[Summary]) -> list[Problem]:
    """Check hashes, coverage, progress and that nothing rests on itself."""
    by_path = {summary.path: summary for summary in summaries}
    found: list[Problem] = []
    for summary in summaries:
        path, lineage = summary.path, summary.lineage
        if summary.is_edited:
            found.append(Problem(path, "edited", "somebody has changed it; it is left as it is"))
        missing = [parent for parent in lineage.parents if parent not in by_path]
        changed = [at for at in summary.stale if at.rpartition(":")[0] not in missing]
        found += [Problem(path, "orphan", f"{parent} is gone") for parent in missing]
        found += [Problem(path, "stale", f"{at} has changed") for at in changed]
        if path in _below(path, by_path):
            found.append(Problem(path, "cycle", "it rests on itself"))
            continue
        if missing:
            continue
        leaves = leaves_of(path, by_path)
        outside = [c for c in citations(summary.text) if not _inside(c, leaves)]
        if not summary.is_edited:
            found += [Problem(path, "coverage", f"{p}:{a}-{b} is not in its lineage")
                      for p, a, b in outside]  # fmt: skip
            told = {cite[0] for cite in citations(summary.text)}
            silent = {leaf.path for leaf in leaves} - told if not summary.stale else set()
            found += [Problem(path, "coverage", f"no line of it cites {p}") for p in sorted(silent)]
        if lineage.summary_tokens >= lineage.source_tokens:
            detail = f"{lineage.summary_tokens} tokens for {lineage.source_tokens}"
            found.append(Problem(path, "progress", detail))
    return found


def leaves_of(path: str, summaries: Mapping[str, Summary]) -> list[SourceLines]:
    """Follow the lineage of a summary down to the raw lines."""
    found: dict[SourceLines, None] = {}
    seen, todo = {path}, [path]
    while todo:
        for source in summaries[todo.pop()].lineage.sources:
            if source.path not in summaries:
                found[source] = None
            elif source.path not in seen:
                seen.add(source.path)
                todo.append(source.path)
    return sorted(found)


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


def _inside(citation: tuple[str, int, int], leaves: Sequence[SourceLines]) -> bool:
    path, first, last = citation
    return any(s.path == path and s.start_line <= first and last <= s.end_line for s in leaves)


def told(text: str, tokens: int) -> list[str]:
    """Give the last lines of a summary, up to so many tokens, without their citations."""
    found: list[str] = []
    spent = 0.0
    for sentence in reversed([s for e in entries_of(text) for s in e.sentences]):
        spent += quotient(sentence.text)
        if spent > tokens:
            break
        found.append(sentence.text)
    return found[::-1]


def entries_of(text: str) -> tuple[Entry, ...]:
    """Read what a summary says, an entry for each heading and document."""
    entries: list[Entry] = []
    title, day = "", ""
    below: tuple[str, ...] = ()
    for line in text.split("\n"):
        cite = cited(line)
        if line.startswith(("# ", "## ")):
            title, below = line.lstrip("# "), ()
            date = _DAY.search(title)
            day = date[0] if date else day
        elif line.startswith("### "):
            below = (line[4:],)
        elif cite:
            said, path, first, last = cite
            sentence = Sentence(said, path, first, last, "", "", why_kept(said))
            entry = entries[-1] if entries else None
            if entry is None or (entry.headings, entry.path) != ((title, *below), path):
                entries.append(Entry(day, (title, *below), path, first, last, (sentence,), ()))
                continue
            entries[-1] = entry._replace(
                first=min(entry.first, first),
                last=max(entry.last, last),
                sentences=(*entry.sentences, sentence),
            )
    return tuple(entries)
