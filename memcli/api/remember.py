"""Add a note if it is worth keeping, and remove notes again."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from memcli.api.read import Lines, get
from memcli.api.similar_lines import SimilarLines, length, windows
from memcli.api.workspace import Workspace
from memcli.api.workspaces import Workspaces
from memcli.checking import Any
from memcli.config.settings import check_sum
from memcli.errors import MemcliError, NotFoundError, Reason, UsageError
from memcli.markdown.lineage import is_place
from memcli.markdown.links import CORRECTS, corrected_lines
from memcli.markdown.parse import parse
from memcli.markdown.units import units, with_speaker
from memcli.record import Record, plain
from memcli.remember import admission, append
from memcli.remember.admission import (
    AdmissionSettings,
    Check,
    Judgement,
    OlderLine,
    SimilarLine,
    WasShown,
)
from memcli.remember.append import AppendedNote, Make
from memcli.remember.block import TYPES, Note, PlacedNote, cleaned, place
from memcli.remember.note_score import GateWeights
from memcli.remember.restated import restates
from memcli.secrets.finding import redacted
from memcli.types import MEMORY_SOURCE, cite, shown
from memcli.workspace.ignore import is_markdown, load_rules
from memcli.workspace.locate import MEMORY_FOLDER
from memcli.workspace.reading import decode

TODAY = "today"
MOST_CORRECTED = 20  # lines
MOST_NAMED, SHOWN_START = 8, 50  # notes that an error names, and characters of each
_KNOWN = ("duplicate", "near-duplicate", "known", "echo")  # rules about what is known
HINT_TO = "memcli remember TEXT --to MEMORY.md"
_HINT = "memcli remember TEXT --corrects PATH:LINE"


class RememberOptions(Record):
    """How to save a note."""

    to: str = TODAY  # today's log, or the path of a file in the workspace
    heading: str = ""  # heading of its section
    type: str = ""  # user | feedback | project | reference
    dry_run: bool = False  # only report what would be written
    force: bool = False  # save it even if a check fails, and report the check
    gate: bool = False  # refuse notes of little worth, even if gate.least is 0
    was_shown: WasShown | None = None  # whether this session already got a line
    by: str = ""  # the source_kind of the author, such as agent; "" for the owner
    corrects: str = ""  # citation of the older line that the note replaces
    source: str = ""  # the origin of the note, written after it
    scope: str = ""  # front matter of a new file


class RememberResult(Record):
    """The result of `remember`: the record of `memcli.remember/1`."""

    stored: bool
    path: str  # of the file
    start_line: int | None  # None if the note was refused
    end_line: int | None
    text: str  # the note as it is written, or would be
    made: bool  # a new file
    refusal: Check | None  # the rule that refused it, also if --force saved it
    checks: tuple[Check, ...]  # every rule, in its order
    score: float  # 0 to 1
    older: tuple[OlderLine, ...]  # lines about the same thing, which it may replace
    notices: tuple[Reason, ...]  # what could not be checked

    @property
    def citation(self) -> str | None:
        """Cite the lines of the note for `get`; None if it was refused."""
        if self.start_line is None or self.end_line is None:
            return None
        return cite(MEMORY_SOURCE, self.path, self.start_line, self.end_line)


def record_of(noted: RememberResult) -> dict[str, Any]:
    """Describe the result of a note as `memcli.remember/1` does."""
    return {"schema": "memcli.remember/1", **plain(noted), "citation": noted.citation}


class UndoResult(Record):
    """The result of removing the last note."""

    path: str | None  # of the file; None if there is no note to remove
    start_line: int = 0
    end_line: int = 0
    reason: str = ""  # why the note was not removed; "" if it was


class _TwiceError(Exception):
    """The file has these words already, perhaps from another process."""

    def __init__(self, first: int, last: int) -> None:
        super().__init__(first, last)
        self.lines = first, last


def remember(
    workspace: Workspace, text: str, options: RememberOptions, now: datetime
) -> RememberResult:
    """Check a note, and append it to a file of the workspace.

    A correction is saved also if a note says the same. If an agent has saved the same note in this
    file without the mark, that note is removed afterwards. UsageError if the file cannot be
    written, BusyError if another process keeps it locked; nothing is written then. A refusal is not
    an error.
    """
    noted = _save(workspace, text, options, now)
    known = noted.refusal
    if options.force or not options.corrects or known is None:
        return noted
    if known.rule not in _KNOWN or not known.citation:
        return noted
    if known.citation == _corrected(workspace, options.corrects):
        return noted  # it says the same as the line that it is to replace
    before = _lines(workspace, known.citation)
    if f"({CORRECTS} " in before.text:
        return noted
    saved = _save(workspace, text, options._replace(force=True), now)
    is_same = before.path == saved.path and _say_the_same(before.text, text)
    if saved.stored and options.by and is_same:
        same = before.text.encode().strip()
        _take_back(workspace, lambda made: made.by == options.by and made.note.strip() == same)
    return saved


def _save(
    workspace: Workspace, text: str, options: RememberOptions, now: datetime
) -> RememberResult:
    text = cleaned(text)
    _check_marks(text, options)
    path = _path_of(workspace, options, now)
    current, older = _corrected(workspace, options.corrects), None
    if current:
        older = OlderLine(current, _one_note(workspace, current), differs=True)
    behind = f"{CORRECTS} {older.citation}" if older else options.source
    written = f"{text} ({behind})" if behind else text
    if older and corrected_lines(written) is None:
        why = f"a note cannot cite {older.citation}, because of the parentheses in its name"
        raise UsageError(why, hint=_HINT)
    note = _note(written, options, now)
    similar = SimilarLines(workspace)
    older, unknown = (older, ()) if older else _corrected_by_text(workspace, text)
    settings = admission_settings(workspace, is_gated=options.gate, was_shown=options.was_shown)
    settings = settings._replace(is_of_agent=bool(options.by), knows_cosines=similar.knows_cosines)
    others = [each for each in similar.of(text) if not (older and _overlaps(each, older.citation))]
    judged = _judged(
        workspace, text, others, settings, note.heading, is_correction=older is not None
    )
    if older:
        judged = _for_correction(judged, older, text)
    fitted: list[PlacedNote] = []

    def fit(data: bytes | None) -> PlacedNote:
        title = os.path.basename(path).rpartition(".")[0]
        placed = place(data, note, name=path, title=title)
        unique = [written] if options.corrects else []  # a correction is not marked twice
        for each in unique if options.force else dict.fromkeys((text, written)):
            _refuse_twice(data, each)
        fitted.append(placed)
        return placed

    root, refusal, appended = root_of(workspace), judged.refusal, None
    # --force does not save an empty or an overlong note.
    if refusal is None or (options.force and refusal.rule not in ("empty", "too-long")):
        try:
            if options.dry_run:
                appended = append.planned(path, append.read(root, path), fit)
            else:
                appended = _append(workspace, root, path, fit, options.by)
        except _TwiceError as twice:
            here = cite(MEMORY_SOURCE, path, *twice.lines)
            check = Check("duplicate", False, "duplicate of an existing line", here)
            judged = judged._replace(checks=(*judged.checks[:2], check))
    return RememberResult(
        stored=appended is not None and not options.dry_run,
        path=path,
        start_line=appended.first_line if appended else None,
        end_line=appended.last_line if appended else None,
        text=shown_text(workspace, fitted[-1].text if fitted else text),
        made=appended is not None and appended.is_new,
        refusal=judged.refusal,
        checks=judged.checks,
        score=judged.score.value,
        older=shown_lines(workspace, judged),
        notices=(*similar.notices, *unknown),
    )


def _judged(
    workspace: Workspace,
    text: str,
    others: list[SimilarLine],
    settings: AdmissionSettings,
    heading: str,
    *,
    is_correction: bool,
) -> Judgement:
    """Judge a note. Only a correction may repeat a line that is no longer true."""
    while True:
        judged = admission.judge(text, others, settings, heading=heading)
        known = judged.refusal
        if known is None or known.rule not in _KNOWN or not known.citation:
            return judged
        same = [each for each in others if _overlaps(each, known.citation)]
        newer = [by for each in same for by in _newer(workspace, each)]
        if not newer:
            return judged
        if not is_correction:
            by = newer[-1]
            why = f"{known.reason}, but {by} corrects it; if it is true again, add (corrects {by})"
            return judged._replace(checks=(*judged.checks[:-1], known._replace(reason=why)))
        others = [each for each in others if each not in same]


def _for_correction(judged: Judgement, older: OlderLine, text: str) -> Judgement:
    """Name the line that a note corrects; refuse a note that says the same."""
    known = judged.refusal
    if (known is None or known.rule in _KNOWN) and _say_the_same(older.text, text):
        check = Check("known", False, "the line to correct says the same", older.citation)
        judged = judged._replace(checks=(*(c for c in judged.checks if c.passed), check))
    return judged._replace(older=(older,))


def _say_the_same(one: str, other: str) -> bool:
    """Return whether neither of two texts says more than the other."""
    pairs = ((one, other), (other, one))
    return admission.is_same(one, other) or all(
        restates(a, b, context=(), owner=()) for a, b in pairs
    )


def _lines(workspace: Workspace, citation: str) -> Lines:
    """Read the lines of a citation; NotFoundError if they are gone."""
    return get(Workspaces(workspace), citation)


def _cited(citation: str) -> tuple[str, range]:
    """Split a citation into the name of the document and the lines."""
    path, _, numbers = citation.rpartition(":")
    first, _, last = numbers.partition("-")
    return path, range(int(first), int(last or first) + 1)


def _overlaps(line: SimilarLine, citation: str) -> bool:
    """Return whether a line is part of a citation, or contains it."""
    place, cited = _cited(citation)
    is_apart = line.end_line < cited.start or cited.stop <= line.start_line
    return shown(line.source, line.path) == place and not is_apart


def _newer(workspace: Workspace, line: SimilarLine) -> list[str]:
    """Cite the newer lines that correct a line, as far as the index knows."""
    from memcli.api.superseded import corrections_in

    lines = range(line.start_line, line.end_line + 1)
    corrections = corrections_in(Workspaces(workspace), (line.source, line.path), [lines])
    return [newer.citation for _, newer in corrections]


def _check_marks(text: str, options: RememberOptions) -> None:
    """Refuse a correction in a file without a date, and marks in texts where nothing checks them.

    An undated line corrects nothing.
    """
    if options.corrects and options.to != TODAY:
        raise UsageError("a correction goes into today's log, which has a date", hint=_HINT)
    if not (options.by or options.corrects) or not (cited := corrected_lines(text)):
        return
    if options.corrects:
        raise UsageError("the text of the note names a line that it corrects too", hint=_HINT)
    raise UsageError(
        "a note cannot mark a line as corrected by its text",
        hint=f"memory_correct with the citation {cite(MEMORY_SOURCE, *cited)}",
    )


def _corrected(workspace: Workspace, citation: str) -> str:
    """Cite the current lines of the note that another replaces; NotFoundError if it is gone."""
    if not citation:
        return ""
    older = _lines(workspace, citation)
    if older.end_line - older.start_line >= MOST_CORRECTED:
        raise UsageError(
            f"{older.citation} has {older.end_line - older.start_line + 1} lines; a note"
            f" corrects at most {MOST_CORRECTED}",
            hint=f"{older.citation.rpartition(':')[0]}:{older.start_line}",
        )
    return older.citation


def _one_note(workspace: Workspace, citation: str) -> str:
    """Return the text of the item or paragraph with these lines; UsageError if there is not one."""
    path, cited = _cited(citation)
    parsed = parse(_lines(workspace, path).text)
    notes, is_heading, after = [], False, ""
    for block in parsed.blocks:
        for unit in units(block, parsed.lines):
            is_cited = unit.numbers[0] < cited.stop and cited.start <= unit.numbers[-1]
            if block.kind == "heading":
                is_heading = is_heading or is_cited
            elif is_cited:
                notes.append(unit)
            elif unit.numbers[0] >= cited.stop:
                after = after or f"{path}:{unit.numbers[0]}"
    if len(notes) == 1 and not is_heading:
        return with_speaker(notes[0])
    if notes:
        starts = [
            f"{unit.numbers[0]}: {shown_text(workspace, with_speaker(unit))[:SHOWN_START]}"
            for unit in notes[:MOST_NAMED]
        ]
        more = "; ..." if len(notes) > MOST_NAMED else ""
        what = f"{len(notes)} notes" if len(notes) > 1 else "a heading and a note"
        named = "; ".join(starts) + more
        raise UsageError(
            f"{citation} has {what}, and a correction replaces one line ({named})",
            hint=f"{path}:LINE with one of these numbers",
        )
    what = "a heading" if is_heading else "a line without text"
    raise UsageError(
        f"{citation} is {what}, and a correction replaces a line that says something",
        hint=after or f"memcli get {path}",
    )


def _corrected_by_text(
    workspace: Workspace, text: str
) -> tuple[OlderLine | None, tuple[Reason, ...]]:
    """Return the lines that a text says it corrects, or say why there are none."""
    cited = corrected_lines(text)
    if not cited:
        return None, ()
    try:
        citation = _corrected(workspace, cite(MEMORY_SOURCE, *cited))
    except MemcliError as error:
        why = f"the note corrects a line that memcli does not find: {error.message}"
        return None, (error.reason._replace(text=why),)
    return OlderLine(citation, "", differs=True), ()


def undo_remember(workspace: Workspace) -> UndoResult:
    """Remove the last note if its lines are unchanged; if not, the next call skips it."""
    return _take_back(workspace, lambda made: not made.by, skips=True)


def forget(workspace: Workspace, citation: str, *, by: str) -> UndoResult:
    """Remove a note that an agent or another author appended, if its lines are unchanged.

    NotFoundError if the cited lines are not such a note.
    """
    try:
        place = _lines(workspace, citation)
    except NotFoundError:
        path, _, line = citation.rpartition(":")
        if line.isdecimal() and (done := _removed_before(workspace, path, int(line))):
            return done
        raise
    lines, own = place.text.encode(), []
    if place.source == MEMORY_SOURCE:
        own = [m for m in _appends(workspace) if (m.path, m.by) == (place.path, by)]
    notes = [made.note.strip() for made in own if not made.is_removed]
    if (number := sum(bool(note) and note in lines for note in notes)) > 1:
        raise UsageError(
            f"{place.citation} has {number} notes, and only one is removed at a time",
            hint=f"{place.citation.rpartition(':')[0]}:LINE of a note",
        )
    done = UndoResult(None)
    if lines.strip():
        done = _take_back(workspace, lambda made: made in own and lines in made.note)
    if done.path is None:
        done = _removed_before(workspace, place.path, place.start_line) or done
    if done.path is None:
        raise NotFoundError(
            f"{place.citation} is not a note that was saved with these tools",
            hint="memcli changes --by agent",
        )
    return done


def _removed_before(workspace: Workspace, path: str, line: int) -> UndoResult | None:
    """Return the removal of a note that was at this line; None if there was none."""
    for made in _appends(workspace):
        if made.is_removed and made.path == path and made.first_line <= line <= made.last_line:
            return UndoResult(path, made.first_line, made.last_line, "it was removed before")
    return None


def _appends(workspace: Workspace) -> list[AppendedNote]:
    folder = workspace.cache_folder
    try:
        return append.appends(folder)
    except OSError as error:
        path = os.path.join(folder, append.NAME)
        raise UsageError(
            f"{path}, the record of the last notes, cannot be read: {error.strerror}",
            hint="memcli remember --undo, later",
        ) from error


def _take_back(
    workspace: Workspace, is_meant: Callable[[AppendedNote], bool], *, skips: bool = False
) -> UndoResult:
    appends = [each for each in _appends(workspace) if not each.is_removed]
    made = next((each for each in reversed(appends) if is_meant(each)), None)
    if made is None:
        return UndoResult(None)
    why = append.take_back(root_of(workspace), made, sleep=workspace.clock.sleep)
    if skips or not why:
        append.forget(workspace.cache_folder, made, is_removed=not why)
    return UndoResult(made.path, made.first_line, made.last_line, why)


def _append(workspace: Workspace, root: str, path: str, make: Make, by: str) -> AppendedNote:
    """Append, and record the append so that it can be removed."""
    folder, sleep = workspace.cache_folder, workspace.clock.sleep
    with suppress(OSError):
        for before in append.appends(folder)[-1:]:  # a removed note has nothing to finish
            append.finish(root, before, sleep=sleep)

    def announce(made: AppendedNote) -> None:
        with suppress(OSError):  # the note is saved, but cannot be undone
            append.keep(folder, made._replace(by=by))

    return append.append(root, path, make, announce=announce, sleep=sleep)


def _refuse_twice(data: bytes | None, text: str) -> None:
    present = decode(data) if data else ""
    if isinstance(present, str):
        return
    longest = max(re.findall(r"\w+", text), key=len, default="").casefold()
    for first, last, lines in windows(present[0].split("\n"), length(text)):
        if longest in lines.casefold() and admission.is_same(lines, text):
            raise _TwiceError(first, last)


def _note(text: str, options: RememberOptions, now: datetime) -> Note:
    if options.type and options.type not in TYPES:
        raise UsageError(
            f"the type must be one of {', '.join(TYPES)}, not {options.type!r}",
            hint="--type feedback",
        )
    heading = " ".join(cleaned(options.heading).split()).lstrip("#").strip()
    time = now.strftime("%H:%M") if options.to == TODAY else ""
    matter = {"source_kind": options.by, "scope": options.scope}
    metadata = "".join(f"{key}: {value}\n" for key, value in matter.items() if value)
    return Note(text, heading, options.type, time, metadata)


def root_of(workspace: Workspace) -> str:
    """Return the folder for notes."""
    return workspace.index_settings().source(MEMORY_SOURCE).root


def _path_of(workspace: Workspace, options: RememberOptions, now: datetime) -> str:
    """Return the path for a note; UsageError if no search would read that file."""
    from memcli.workspace.vaults import daily_note

    if not workspace.config.is_marked:
        raise NotFoundError(f"{workspace.config.workspace} is not a workspace", hint="memcli init")
    rules = load_rules(workspace.index_settings().source(MEMORY_SOURCE))
    path = to = options.to
    if to == TODAY and options.by:  # a document with another author than the owner
        path = f"{MEMORY_FOLDER}/{options.by}/{now.date().isoformat()}.md"
    elif to == TODAY:
        root, name = root_of(workspace), f"{now.date().isoformat()}.md"
        daily, there = daily_note(root, now.date()), os.path.join(root, name)
        path = daily or f"{MEMORY_FOLDER}/{name}"
        is_free = not daily and not os.path.lexists(os.path.join(root, path))
        if is_free and os.path.isfile(there) and not os.path.islink(there) and rules.accepts(name):
            path = name  # today's log is there already
    path = path.removeprefix("./")
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or "\0" in path or os.path.isabs(path):
        raise UsageError(f"{to!r} is not a path inside the workspace", hint=HINT_TO)
    if not is_markdown(parts[-1]):
        raise UsageError(f"{to} is not a Markdown file, so search would not find it", hint=HINT_TO)
    if is_place(path):
        raise UsageError(f"{to} is in the folder of summaries", hint=HINT_TO)
    if not rules.accepts(path):
        raise UsageError(
            f"{path} is left out of the memory, and no search would find the note", hint=HINT_TO
        )
    return path


_SAYING = ("paragraph", "item", "quote")  # blocks that contain statements


class ScoredParagraph(Record):
    """A paragraph or item of a text, and the results of the rules."""

    start_line: int  # from 1; both ends are included
    end_line: int
    text: str
    judged: Judgement


def weigh(
    workspace: Workspace, text: str, *, place: tuple[str, str] | None = None
) -> tuple[list[ScoredParagraph], tuple[Reason, ...]]:
    """Score each paragraph and item of a text as `remember` would; nothing is written.

    `place` is its (source, path) if it is a document of the workspace: memcli does not compare it
    with itself. The second value lists what could not be compared.
    """
    settings = admission_settings(workspace, is_gated=True, was_shown=None)
    similar = SimilarLines(workspace)
    parsed = parse(text)
    result = []
    for block in parsed.blocks:
        if block.kind not in _SAYING:
            continue
        for unit in units(block, parsed.lines):
            line = with_speaker(unit)
            others = [n for n in similar.of(line) if (n.source, n.path) != place]
            judged = admission.judge(line, others, settings)
            first, last = unit.numbers[0], unit.numbers[-1]
            judged = judged._replace(older=shown_lines(workspace, judged))
            result.append(ScoredParagraph(first, last, shown_text(workspace, line), judged))
    return result, similar.notices


def admission_settings(
    workspace: Workspace, *, is_gated: bool, was_shown: WasShown | None
) -> AdmissionSettings:
    """Return the settings of the rules; `is_gated` always refuses notes of little worth."""
    config = workspace.config
    weights = GateWeights(*(config(f"gating.{name}") for name in GateWeights._fields))
    check_sum("gating.novelty, gating.specificity and gating.kind", weights, "gating")
    least = config("gate.least") or (admission.LEAST_WORTH if is_gated else 0.0)
    return AdmissionSettings(weights, least, was_shown)


def shown_lines(workspace: Workspace, judged: Judgement) -> tuple[OlderLine, ...]:
    """Redact the older lines of a note for output."""
    return tuple(line._replace(text=shown_text(workspace, line.text)) for line in judged.older)


def shown_text(workspace: Workspace, text: str) -> str:
    """Redact a text for output."""
    return redacted(text) if workspace.config("secrets") == "redact" else text
