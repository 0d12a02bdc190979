"""Write passages as text: in a pipe all of them, on a terminal those that fit."""

from __future__ import annotations

from itertools import groupby

from memcli.checking import TYPE_CHECKING
from memcli.errors import MemcliError, quote
from memcli.record import Record
from memcli.render import text as plain
from memcli.render.reasons import match_line
from memcli.render.sanitize import one_line
from memcli.render.text import NOTHING_AROUND, Around
from memcli.search.budget import shortened
from memcli.search.lines import cut_down
from memcli.search.retrievers import MODE_IS_KEYWORD
from memcli.search.snippet import (
    clipped,
    headings,
    make_snippet,
    marked,
    numbered,
    own_headings,
)
from memcli.types import MEMORY_SOURCE, lines_of, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memcli.api.ask import SearchResult
    from memcli.cli.command_context import CommandContext
    from memcli.cli.search_form import Shape
    from memcli.search.ranked import Correction, RankedPassage
    from memcli.search.snippet import Snippet
    from memcli.search.summaries import ExpandedLines

    Link = Callable[[str, str, int], str]  # from a source, a path and a line to a URL or ""
    # Writes the passage of a rank; the last argument has all passages below the same heading.
    Show = Callable[[int, RankedPassage, Sequence[RankedPassage]], str]

ROWS_BELOW = 2  # for a message and the prompt
LIST_CHARS = 400  # of a line of a list
ROWS_ABOVE = 3  # above the text of a passage


class Shows(Record):
    """How a passage is written: whole, in one line, and with the lines behind a summary."""

    whole: Show
    brief: Show
    behind: Callable[[ExpandedLines], str]
    # Written above several passages of one document; None means no headings.
    heading: Callable[[Sequence[RankedPassage]], str] | None = None
    day: Callable[[RankedPassage], str] | None = None  # written above the passages of a day


def write_text(result: SearchResult, command: CommandContext, shape: Shape, link: Link) -> None:
    """Write the passages, in an order by date below their days, then the lines behind summaries."""
    terminal, passages = command.terminal, result.answer.passages
    make = _for_screen if terminal.out_is_terminal else _for_pipe
    shows = make(result, command, shape, link)
    is_brief = shape.brief or (shape.one_line and terminal.out_is_terminal)
    if is_brief:
        shows = shows._replace(heading=None)
    if shape.in_days:
        shows = shows._replace(day=lambda passage: plain.day(passage.about.days, terminal.style))
    rows = None
    order = _by_importance(passages, shape)
    if shape.is_fitted and terminal.rows:
        rows = max(1, terminal.rows - ROWS_BELOW - _messages(result))
        passages = _cut_to(passages, order[:1], rows, terminal.width)
    is_cut = passages != result.answer.passages
    if shape.one_line and rows is None and not shape.in_days:
        passages = _in_file_order(passages)
    blocks, whole = fitted(passages, shows, order, rows, is_brief=is_brief)
    terminal.write("".join(blocks))
    if shape.one_line and passages:
        more = len(passages) + result.answer.omitted_over_budget - len(blocks)
        again = terminal.safe_line(next_page(result, shape, len(blocks)))
        terminal.write(plain.count(shape.after, len(blocks), more, again))
    for each in result.expanded:
        terminal.write(shows.behind(each))
    whole -= is_cut
    if cut := len(passages) - (len(blocks) if is_brief else whole):
        terminal.flush()
        terminal.say(_more(cut, len(passages) - len(blocks)))


def next_page(result: SearchResult, shape: Shape, shown: int) -> str:
    """Write the command that prints what follows so many passages; with 0, all of them."""
    question = result.question.typed or result.question.text
    budget = f"--budget {shape.budget}" if shape.has_budget else ""
    page = f"--after {shape.after + shown}" if shown else "--more"
    words = f"-- {quote(question)}" if shape.has_question else ""
    return " ".join(filter(None, ("memcli search", shape.options(), budget, page, words)))


def _by_importance(passages: Sequence[RankedPassage], shape: Shape) -> list[int]:
    """List the ranks by score, also if the passages are in the order of time."""
    ranks = list(range(1, len(passages) + 1))
    if shape.in_days and shape.has_question and not shape.one_line:
        ranks.sort(key=lambda rank: -passages[rank - 1].score)
    return ranks


def _in_file_order(lines: Sequence[RankedPassage]) -> tuple[RankedPassage, ...]:
    """Order the lines of a list by document, the best first, and in each as in the file."""
    places = dict.fromkeys(line.about.document for line in lines)
    order = {document: place for place, document in enumerate(places)}
    return tuple(sorted(lines, key=lambda each: (order[each.about.document], each.start_line)))


def _messages(result: SearchResult) -> int:
    """Count the messages around the passages."""
    answer = result.answer
    return sum(
        (
            not answer.semantic.ran and answer.semantic.reason not in (None, MODE_IS_KEYWORD),
            any(repair.is_another_word for repair in answer.repaired),
            bool(match_line(answer)),
            bool(answer.dates),
            bool(answer.omitted_over_budget or (answer.left and answer.match == "weak")),
            bool(answer.omitted_low_confidence),
            bool(shortened(answer.passages)),
        )
    )


def _cut_to(
    passages: Sequence[RankedPassage], ranks: Sequence[int], rows: int, width: int
) -> tuple[RankedPassage, ...]:
    """Cut a passage of these ranks down to its best lines if it exceeds the screen."""
    from memcli.render.width import wrap

    room = width - len(plain.INDENT)

    def fits(text: str) -> bool:
        used = sum(len(wrap(line, room)) for line in text.split("\n"))
        return used + ROWS_ABOVE <= rows

    return tuple(
        cut_down(passage, fits) or passage if rank in ranks else passage
        for rank, passage in enumerate(passages, start=1)
    )


def fitted(
    passages: Sequence[RankedPassage],
    shows: Shows,
    order: Sequence[int],
    rows: int | None,
    *,
    is_brief: bool = False,
) -> tuple[list[str], int]:
    """Draw as many whole passages as fit if each other one has a row; also count the whole ones.

    `order` has the ranks, the most important first, which is drawn at any length. Without `rows`
    all passages are whole.
    """
    drawn: dict[tuple[int, bool, tuple[int, ...]], str] = {}

    def page(whole: int, listed: int) -> list[str]:
        return _page(passages, shows, frozenset(order[:whole]), sorted(order[:listed]), drawn)

    every = len(passages)
    most = 0 if is_brief else every
    if rows is None:
        return page(most, every), most
    whole = min(1, most)
    while whole < most and _rows(page(whole + 1, every)) <= rows:
        whole += 1
    listed = every
    while listed > 1 and _rows(page(whole, listed)) > rows:
        listed -= 1
    return page(whole, listed), whole


def _rows(blocks: Sequence[str]) -> int:
    """Count the rows of a page without the blank one at its end."""
    text = "".join(blocks)
    return text.count("\n") - text.endswith("\n\n")


def _page(
    passages: Sequence[RankedPassage],
    shows: Shows,
    whole: frozenset[int],
    listed: Sequence[int],
    drawn: dict[tuple[int, bool, tuple[int, ...]], str],
) -> list[str]:
    """Draw the passages of these ranks with their headings."""
    blocks = []
    above: str | None = None
    for group in _groups(passages, shows, whole, listed):
        beside = [passages[rank - 1] for rank in group]
        head = ""
        if shows.day is not None and (day := shows.day(beside[0])) != above:
            head = above = day
        if len(group) > 1 and shows.heading is not None:
            head += shows.heading(beside)
        for rank in group:
            key = rank, rank in whole, tuple(group)
            if key not in drawn:
                show = shows.whole if rank in whole else shows.brief
                drawn[key] = show(rank, passages[rank - 1], beside)
            blocks.append(head + drawn[key])
            head = ""
    return blocks


def _groups(
    passages: Sequence[RankedPassage], shows: Shows, whole: frozenset[int], ranks: Sequence[int]
) -> list[list[int]]:
    """Group the passages of a document below its best one; in an order by date keep the order.

    Passages of one line each get no heading, because it would save nothing.
    """

    def document(rank: int) -> tuple[object, ...]:
        about = passages[rank - 1].about
        return about.document, about.days, about.trust

    groups: dict[object, list[int]] = {}
    for rank in ranks:
        groups.setdefault(document(rank), []).append(rank)
    if shows.day is not None:
        groups = dict(enumerate(list(run) for _, run in groupby(ranks, key=document)))
    made: list[list[int]] = []
    for group in groups.values():
        is_worth = shows.heading is not None and not whole.isdisjoint(group)
        made += [group] if is_worth else [[rank] for rank in group]
    return made if shows.day is not None else sorted(made)


def _more(cut: int, left: int) -> str:
    """Say how many passages are not shown whole, and how many not at all."""
    passages = plain.counted(cut, "passage is", "passages are")
    if not left:
        return f"{passages} not shown whole; --more shows all."
    if left < cut:
        return f"{passages} not shown whole, {left} of them not listed; --more shows all."
    return f"{passages} not shown; --more shows all."


def _for_pipe(result: SearchResult, command: CommandContext, shape: Shape, link: Link) -> Shows:
    terminal, words = command.terminal, result.answer.words
    style, safe = terminal.style, terminal.safe

    def whole(rank: int, passage: RankedPassage, beside: Sequence[RankedPassage]) -> str:
        lines, around = _lines(passage, words, shape), _around(passage, command, shape)
        old = {each[0] for each in lines if _key(passage, *each) in (shape.printed or ())}
        lines = [each for each in lines if each[0] not in old]
        shown = ""
        if lines or any(around):
            shown = plain.passage_lines(passage, lines, around, style=style, safe=safe)
        if old:
            shown += f"{', '.join(map(str, sorted(old)))}: printed above\n"
        name, at = command.name(*passage.about.document), beside.index(passage)
        known = own_headings(passage) if shape.is_whole else ()
        above = plain.above(passage, known, style=style, safe=safe)
        if not at:
            shown = f"{style.path}{safe(one_line(name))}{style.end}{above}\n{shown}"
        elif above not in ("", plain.above(beside[at - 1], style=style, safe=safe)):
            new = plain.above(passage, headings(beside[at - 1]), style=style, safe=safe)
            shown = f"{new or above}\n{shown}"
        for head, text in _corrections(passage, result, command, around):
            line = f"{style.dim}{head}{style.end} {terminal.safe_line(text)}"
            shown += f"{plain.INDENT}{line.rstrip()}\n"
        return shown + (safe(plain.trace(passage.trace)) if shape.explain else "")

    def brief(rank: int, passage: RankedPassage, beside: Sequence[RankedPassage]) -> str:
        from memcli.search.cursor import corrections_at, cursor_of

        at = cursor_of(passage, words)
        passage = passage._replace(corrected_by=corrections_at(passage, at.line))
        where = f"{command.name(*passage.about.document)}:{at.line}"
        lines = {n: line.text for n, line in numbered(passage, words=words, full=shape.is_whole)}
        text = f"{lines.get(at.line, at.text)} {passage.claim_at(at.line)}".rstrip()
        return plain.brief(passage, where, marked(text, words), style=style, safe=safe)

    def behind(each: ExpandedLines) -> str:
        where, summary = command.cite(each.passage), command.name(MEMORY_SOURCE, each.summary)
        return plain.behind(each.passage, where, summary, style=style, safe=safe)

    return Shows(whole, brief, behind, lambda passages: "")


def _lines(passage: RankedPassage, words: Sequence[str], shape: Shape) -> list[tuple[int, Snippet]]:
    """Return the lines of a passage as they are printed in a pipe."""
    lines = numbered(passage, words=words, full=shape.is_whole)
    return [(at, clipped(line, LIST_CHARS)) for at, line in lines] if shape.one_line else lines


def _key(passage: RankedPassage, number: int, line: Snippet) -> tuple[tuple[str, str], int, str]:
    """Identify what is printed of a line, with the claim of another speaker."""
    return passage.about.document, number, f"{line.text} {passage.claim_at(number)}"


def note_printed(result: SearchResult, shape: Shape) -> None:
    """Note which lines were printed for one of several questions."""
    if shape.printed is not None:
        for passage in result.answer.passages:
            lines = _lines(passage, result.answer.words, shape)
            shape.printed.update(_key(passage, *line) for line in lines)


def _for_screen(result: SearchResult, command: CommandContext, shape: Shape, link: Link) -> Shows:
    from memcli.render import screen

    terminal, words = command.terminal, result.answer.words
    made = screen.Screen(
        terminal.width, terminal.style, terminal.safe, command.age_days, command.name, link
    )

    def whole(rank: int, passage: RankedPassage, beside: Sequence[RankedPassage]) -> str:
        snippet, around = make_snippet(passage, words=words), _around(passage, command, shape)
        shown = screen.whole_passage(rank, passage, snippet, made, around, beside=beside)
        for head, text in _corrections(passage, result, command, around):
            shown += screen.corrected(head, text, made)
        return shown + (terminal.safe(plain.trace(passage.trace)) + "\n" if shape.explain else "")

    def brief(rank: int, passage: RankedPassage, beside: Sequence[RankedPassage]) -> str:
        from memcli.search.cursor import corrections_at, cursor_of

        is_alone, at = len(beside) < 2, cursor_of(passage, words)
        shown = screen.brief(rank, passage, at, words, made, is_alone=is_alone)
        passage = passage._replace(corrected_by=corrections_at(passage, at.line))
        newer = list(_corrections(passage, result, command))[: len(passage.corrected_by)]
        return shown + "".join(screen.corrected(head, text, made) for head, text in newer)

    def behind(each: ExpandedLines) -> str:
        return screen.behind(each, made)

    def heading(passages: Sequence[RankedPassage]) -> str:
        return screen.heading(passages, made)

    return Shows(whole, brief, behind, heading)


def _corrections(
    passage: RankedPassage,
    result: SearchResult,
    command: CommandContext,
    around: Around = NOTHING_AROUND,
) -> Iterator[tuple[str, str]]:
    """Return the newer lines that correct a passage, then the older lines that it corrects.

    Each is a head and a text, which may be empty. Lines around the passage are marked too.
    """
    safe = command.terminal.safe_line
    for older, newer in _marks(passage, result, around):
        place = newer.document, newer.start_line, newer.start_line
        is_shown = any(each.touches(*place) for each in result.answer.passages)
        where = f"{command.name(*newer.document)}:{lines_of(newer.start_line, newer.end_line)}"
        head = f"{older} corrected by {safe(where)} ({newer.date})"
        yield (head, "") if is_shown else (f"{head}:", newer.text)
    for each in (result.superseded or {}).get(passage.citation, ()):
        where = f"{command.name(each.source, each.path)}:{each.start_line}"
        by = each.by if passage.start_line < passage.end_line else ""
        yield f"{by} corrects {safe(where)} ({each.date}):".lstrip(), each.text


def _marks(
    passage: RankedPassage, result: SearchResult, around: Around
) -> Iterator[tuple[str, Correction]]:
    """Yield the newer lines that correct a passage and the lines around it, with the older ones.

    Lines of the passage are not named twice if a run of lines around it contains them.
    """
    own = range(passage.start_line, passage.end_line + 1)
    stated = {number for number, text in (*around.before, *around.after) if text.strip()}
    places: dict[str, tuple[Correction, list[tuple[int, int]]]] = {}
    for lines, newer in result.around.get(passage.about.document, ()):
        if not stated.isdisjoint(lines):
            printed = [number for number in lines if number in stated or number in own]
            places.setdefault(newer.citation, (newer, []))[1].append((printed[0], printed[-1]))
    for newer in passage.corrected_by:
        first, last = newer.line or own[0], newer.line or own[-1]
        _, runs = places.setdefault(newer.citation, (newer, []))
        if not any(start <= first and last <= end for start, end in runs):
            runs.append((first, last))
    for newer, runs in sorted(places.values(), key=lambda place: min(place[1])):
        yield ", ".join(lines_of(*run) for run in sorted(runs)), newer


def _around(passage: RankedPassage, command: CommandContext, shape: Shape) -> Around:
    """Read the lines on each side; none if the file no longer contains the passage."""
    if not shape.around:
        return NOTHING_AROUND
    from memcli.api.read import get

    first = max(1, passage.start_line - shape.around)
    count = passage.end_line + shape.around - first + 1
    try:
        name = shown(*passage.about.document)
        neighbours = get(command.memory, name, first=first, count=count, is_use=False)
    except MemcliError:
        return NOTHING_AROUND
    lines = list(enumerate(neighbours.text.split("\n"), start=neighbours.start_line))
    inside = "\n".join(
        text for number, text in lines if passage.start_line <= number <= passage.end_line
    )
    if passage.text.strip("\n") not in inside:
        return NOTHING_AROUND
    return Around(
        tuple(each for each in lines if each[0] < passage.start_line),
        tuple(each for each in lines if each[0] > passage.end_line),
    )
