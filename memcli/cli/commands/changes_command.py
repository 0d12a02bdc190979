"""`memcli changes`: list what is new in the notes, by day and section."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby

from memcli.api.changes import ChangeList, LearnedThatDay, changes
from memcli.checking import Any
from memcli.cli import options as rows
from memcli.cli.command_context import CommandContext, command_context
from memcli.cli.options import CommandArgument, Option, Options, check
from memcli.errors import ExitCode
from memcli.history import differences
from memcli.history.differences import MemoryChange, MemoryPassage
from memcli.record import Record
from memcli.render.jsonio import reason, source_of
from memcli.render.sanitize import fence_for
from memcli.search.question import redacted_question
from memcli.search.ranked import Correction, mark_of
from memcli.types import AGENT, lines_of, shown

ARGUMENTS = (CommandArgument("query", "[QUERY]", "Rank the changes by this text.", list),)
OPTIONS = (
    Option("--since", "Changes from this date on, or after this commit.", "WHEN",
        shown_default="a week before --until"),
    Option("--until", "Changes up to this date or commit.", "WHEN", shown_default="now"),
    Option("--by", "Only what an agent saved, by day.", "WHO", choices=(AGENT,)),
    Option("-n --limit", "Number of changes per section, or in all.", "N", int,
        shown_default="6 or 10", least=1),
    Option("-f --format", "Output: text, json or markdown.", "FORM", shown_default="text"),
    rows.JSON, rows.WORKSPACE, rows.EVERYWHERE, rows.WORKSPACE_NAME, rows.TENANT, *rows.COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """List what is new in the notes, day by day: added, changed, removed, moved.

    It reads the commits of a git repository, or else the dates of logs. See: memcli help changes

    Examples: memcli changes --since 2026-02-01      memcli changes "connection pool" --since May
    """
    form = "json" if options.json else options.format or "text"
    check("--format", [form], rows.CHANGES_FORMATS)
    command = command_context(options)
    text = redacted_question(" ".join(options.query or ()), command.config)
    result = changes(
        command.memory, text,
        since=options.since, until=options.until, by=options.by or "", now=command.moment,
    )  # fmt: skip
    write(result, command, form=form, question=text, limit=options.limit)
    return ExitCode.OK


NAMED = 5  # commits of a day
SHOWN, RANKED = 6, 10  # changes of a section, and of a question
_MARK = re.compile(r"\A(?:[-*+]|\d{1,9}[.)]) +")
LONGEST, LEAD = 240, 40  # shown characters of a passage, and of the text before a difference


class Section(Record):
    """The changes in one section of a document on one day."""

    where: str
    headings: str
    changes: Sequence[MemoryChange]  # that are printed
    more: int  # that are not

    @property
    def lines(self) -> list[str]:
        """Return the lines of the changes, each with its sign."""
        lines = [line for change in self.changes for line in _lines(change)]
        return [*lines, f"… and {self.more} more"] if self.more else lines


Part = tuple[str, Sequence[str], Sequence[Section]]  # a headline, moved files, and sections
Newer = Mapping[MemoryPassage, Sequence[Correction]]  # the newer lines that correct each passage


def write(
    listed: ChangeList, command: CommandContext, *, form: str, question: str, limit: int | None
) -> None:
    """Write the changes to stdout, then their source and warnings to stderr."""
    if form == "json":
        _write_json(listed, command, question, limit)
    else:
        parts = list(_parts(listed, question, limit))
        sections = chain.from_iterable(sections for *_, sections in parts)
        newer = _newer(command, chain.from_iterable(each.changes for each in sections))
        write_parts = _write_text if form == "text" else _write_markdown
        write_parts(listed, command, parts, newer)
    terminal = command.terminal
    terminal.flush()
    for notice in listed.notices:
        terminal.advise(notice)
    if question and not listed.ranked and listed.days:
        terminal.say(
            f"Nothing from {listed.since} to {listed.until} contains a word of the question."
        )


def _newer(command: CommandContext, changes: Iterable[MemoryChange]) -> Newer:
    """Look up the newer lines that correct the new text of some changes."""
    from memcli.api.superseded import corrections_of_changes

    return corrections_of_changes(command.memory, (each.new for each in changes if each.new))


def _write_text(
    listed: ChangeList, command: CommandContext, parts: Iterable[Part], newer: Newer
) -> None:
    terminal, style = command.terminal, command.terminal.style
    for number, (head, moves, sections) in enumerate(parts):
        gap = "\n" if number else ""
        terminal.write(f"{gap}{style.path}{terminal.safe_line(head)}{style.end}\n")
        for move in moves:
            terminal.write(f"  {terminal.safe_line(move)}\n")
        for section in sections:
            heading = f"  {style.heading}{terminal.safe_line(section.headings)}{style.end}"
            where = terminal.safe_line(section.where)
            terminal.write(f"  {where}{heading if section.headings else ''}\n")
            for line in section.lines:
                terminal.write(f"    {terminal.safe_line(line)}\n")
            for mark in _marks(section, newer):
                terminal.write(f"    {style.dim}{terminal.safe_line(mark)}{style.end}\n")


def _write_markdown(
    listed: ChangeList, command: CommandContext, parts: Iterable[Part], newer: Newer
) -> None:
    terminal = command.terminal
    if listed.days:
        terminal.write(f"# New in the notes, {listed.since} to {listed.until}\n")
    for head, moves, sections in parts:
        terminal.write(f"\n## {terminal.safe_line(head)}\n")
        if moves:
            terminal.write("\n" + "".join(f"- {terminal.safe_line(each)}\n" for each in moves))
        for section in sections:
            title = ", ".join(filter(None, (section.where, section.headings)))
            text = "\n".join(section.lines)
            fence = fence_for(text)
            block = f"{fence}diff\n{terminal.safe(text)}\n{fence}\n"
            terminal.write(f"\n### {terminal.safe_line(title)}\n\n{block}")
            marks = "".join(f"- {terminal.safe_line(each)}\n" for each in _marks(section, newer))
            terminal.write(f"\n{marks}" if marks else "")


def _parts(listed: ChangeList, question: str, limit: int | None) -> Iterator[Part]:
    """Return the lines below each headline: moved files, and sections."""
    if question:
        for ranked in listed.ranked[: limit or RANKED]:
            yield ranked.day, (), _sections([ranked.change], 1)
        return
    for day in listed.days:
        commits = ", ".join(reversed(day.commits))
        if len(day.commits) > NAMED:
            commits = f"{len(day.commits)} commits"
        commits = f" ({commits})" if commits else ""
        moves = [f"{shown(*each.old)} is now {shown(*each.new)}" for each in day.learned.moves]
        yield day.day + commits, moves, _sections(day.learned.changes, limit or SHOWN)


def _sections(changes: Sequence[MemoryChange], most: int) -> list[Section]:
    sections = []
    for (name, headings), group in groupby(
        changes, key=lambda change: (change.place.name, change.place.headings)
    ):
        own = list(group)
        now = [change.new for change in own if change.new]
        where = shown(*name)
        if now:
            first, last = now[0].start_line, max(each.end_line for each in now)
            where += f":{lines_of(first, last)}"
        title = name[1].rpartition("/")[2].rpartition(".")[0]
        headings = " > ".join(each for each in headings if each != title)
        sections.append(Section(where, headings, own[:most], max(0, len(own) - most)))
    return sections


def _marks(section: Section, newer: Newer) -> Iterator[str]:
    """Yield a mark for each newer line, with the printed lines that it corrects."""
    places: dict[Correction, list[str]] = {}
    for new in (change.new for change in section.changes if change.new):
        for each in newer.get(new, ()):
            lines = str(each.line) if each.line else lines_of(new.start_line, new.end_line)
            places.setdefault(each._replace(line=0), []).append(lines)
    for each, lines_below in places.items():
        yield mark_of([each], ", ".join(lines_below))


def _lines(change: MemoryChange) -> Iterator[str]:
    old, new = (each and _MARK.sub("", each.key) for each in (change.old, change.new))
    if change.kind == differences.MOVED and change.old and new:
        more = f" (and {change.more} more)" if change.more else ""
        names = shown(*change.old.name), " > ".join(change.old.headings)
        place = ", ".join(filter(None, names))
        yield f"> {_shortened(new, 0)}{more}, moved here from {place}"
        return
    at = max(0, differences.common_start(old, new) - LEAD) if old and new else 0
    if max(len(old or ""), len(new or "")) <= LONGEST:
        at = 0
    for sign, text in (("-", old), ("+", new)):
        if text:
            yield f"{sign} {_shortened(text, at)}"


def _shortened(text: str, start: int) -> str:
    """Return the text of a passage from a position on, cut to the available width."""
    begin, end = ("…" if start else ""), ("…" if start + LONGEST < len(text) else "")
    return f"{begin}{text[start : start + LONGEST]}{end}"


def _write_json(
    listed: ChangeList, command: CommandContext, question: str, limit: int | None
) -> None:
    record: dict[str, Any] = {
        "schema": "memcli.changes/1",
        "by": listed.by,
        "since": listed.since,
        "until": listed.until,
    }
    if question:
        ranked = listed.ranked[:limit]
        newer = _newer(command, (each.change for each in ranked))
        each_ranked = [
            {"day": each.day, "score": each.score, **_change(each.change, newer)} for each in ranked
        ]
        record |= {"query": question, "ranked": each_ranked}
    else:
        parts = [list(_of_day(each, limit)) for each in listed.days]
        newer = _newer(command, chain.from_iterable(parts))
        record["days"] = [
            _day(day, part, newer) for day, part in zip(listed.days, parts, strict=True)
        ]
    record["notices"] = [reason(each) for each in listed.notices]
    command.terminal.write_json(record)


def _of_day(day: LearnedThatDay, limit: int | None) -> Iterator[MemoryChange]:
    """Yield at most `limit` changes of each section; all of them without a limit."""
    changes = day.learned.changes
    for section in _sections(changes, limit or len(changes)):
        yield from section.changes


def _day(day: LearnedThatDay, changes: Sequence[MemoryChange], newer: Newer) -> dict[str, Any]:
    """Describe a day with some of its changes; the counts are of all."""
    moves = [{"from": shown(*m.old), "to": shown(*m.new)} for m in day.learned.moves]
    counts = {
        kind: sum(each.kind == kind for each in day.learned.changes)
        for kind in (differences.ADDED, differences.CHANGED, differences.REMOVED, differences.MOVED)
    }
    return {
        "day": day.day,
        "commits": list(day.commits),
        "before": day.before,
        "counts": counts,
        "moves": moves,
        "changes": [_change(each, newer) for each in changes],
    }


def _change(change: MemoryChange, newer: Newer) -> dict[str, Any]:
    record: dict[str, Any] = {"kind": change.kind}
    for side, passage in (("old", change.old), ("new", change.new)):
        if passage is not None:
            source, path = passage.name
            record[side] = {
                **source_of(source),
                "path": path,
                "start_line": passage.start_line,
                "end_line": passage.end_line,
                "heading_path": list(passage.headings),
                "citation": passage.citation,
                "text": passage.text,
            }
    if change.new and (lines := newer.get(change.new)):
        record["new"]["corrected_by"] = [each.record for each in lines]
    return {**record, **({"more": change.more} if change.more else {})}
