"""Write passages for a person: in a pipe all of them, on a terminal as many as fit it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcli.record import Record
from memcli.render import text as plain
from memcli.search.lines import cut_down
from memcli.search.pipeline import MODE_IS_LEXICAL
from memcli.search.snippet import make_snippet, marked
from memcli.types import MEMORY_SOURCE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memcli.api.ask import Answered
    from memcli.cli.search_form import Shape
    from memcli.cli.skin import Skin
    from memcli.render.text import Around
    from memcli.search.hits import Hit
    from memcli.search.views import Expanded

    Link = Callable[[str, str, int], str]  # from a source, a path and a line to a URL or nothing
    Show = Callable[[int, Hit], str]  # a passage of a rank

ROWS_BELOW = 2  # for what is said of the rest, and for the prompt
ROWS_ABOVE = 2  # of a passage, over its text


class Shows(Record):
    """How a passage is written: whole, in a line, and what is behind a summary."""

    whole: Show
    brief: Show
    behind: Callable[[Expanded], str]


def write_text(found: Answered, skin: Skin, shape: Shape, link: Link) -> None:
    """Write the passages, below their days in an order by date, then what is behind summaries."""
    terminal, hits = skin.terminal, found.answer.hits
    make = _for_screen if terminal.out_is_terminal else _for_pipe
    shows = make(found, skin, shape, link)
    if shape.in_days:
        shows = _in_days(shows, hits, skin)
    rows = None
    if shape.is_fitted and terminal.rows:
        rows = max(1, terminal.rows - ROWS_BELOW - _messages(found))
        hits = (*(_cut_to(hit, rows, terminal.width) for hit in hits[:1]), *hits[1:])
    blocks, whole = fitted(hits, shows, rows, is_brief=shape.brief)
    terminal.write("".join(blocks))
    for each in found.expanded:
        terminal.write(shows.behind(each))
    whole -= hits[:1] != found.answer.hits[:1]
    if cut := len(hits) - (len(blocks) if shape.brief else whole):
        terminal.flush()
        terminal.say(_more(cut, len(hits) - len(blocks)))


def _messages(found: Answered) -> int:
    """Count the lines that are said below the passages."""
    answer = found.answer
    says_no_vectors = not answer.dense.ran and answer.dense.reason not in (None, MODE_IS_LEXICAL)
    says_of_repair = any(repair.is_instead for repair in answer.repaired)
    says_of_words = says_of_repair + (found.is_unsure or bool(answer.absent or answer.apart))
    says_of_budget = bool(answer.dropped) + bool(answer.far)
    return says_of_words + bool(answer.dates) + says_no_vectors + says_of_budget


def _cut_to(hit: Hit, rows: int, width: int) -> Hit:
    """Cut a passage down to its best lines where it does not fit by itself."""
    from memcli.render.width import wrap

    def fits(text: str) -> bool:
        room = width - len(plain.INDENT)
        taken = sum(len(wrap(line, room)) for line in text.split("\n"))
        return taken + ROWS_ABOVE <= rows

    return cut_down(hit, fits) or hit


def fitted(
    hits: Sequence[Hit], shows: Shows, rows: int | None, *, is_brief: bool
) -> tuple[list[str], int]:
    """Give whole passages while `rows` leave a line to each of the others; count the whole ones.

    The first passage is given at any length, and without `rows` all are.
    """
    blocks: list[str] = []
    used, whole = 0, 0
    for rank, hit in enumerate(hits, start=1):
        block = (shows.brief if is_brief else shows.whole)(rank, hit)
        rest = len(hits) - rank
        is_tight = rows is not None and used + _rows(block) + (rest + 1 if rest else 0) > rows
        if is_tight and not is_brief and rank > 1:
            is_brief, block = True, shows.brief(rank, hit)
        if rows is not None and rank > 1 and used + _rows(block) > rows:
            break
        blocks.append(block)
        used += block.count("\n")
        whole += not is_brief
    return blocks, whole


def _more(cut: int, left: int) -> str:
    """Say how many passages are not shown whole, and how many of them have no line either."""
    passages = "1 passage is" if cut == 1 else f"{cut} passages are"
    if not left:
        return f"{passages} not shown whole; --more shows all."
    if left < cut:
        return f"{passages} not shown whole, {left} of them not listed; --more shows all."
    return f"{passages} not shown; --more shows all."


def _rows(block: str) -> int:
    """Count the rows of a passage; a blank one at its end needs none at the end of a screen."""
    return block.count("\n") - block.endswith("\n\n")


def _in_days(shows: Shows, hits: Sequence[Hit], skin: Skin) -> Shows:
    """Put its day above each passage that is the first of one."""
    days = [hit.about.date for hit in hits]

    def below_day(show: Show) -> Show:
        def shown(rank: int, hit: Hit) -> str:
            is_first = rank == 1 or days[rank - 2] != hit.about.date
            head = plain.day(hit.about.date, skin.terminal.style) if is_first else ""
            return head + show(rank, hit)

        return shown

    return shows._replace(whole=below_day(shows.whole), brief=below_day(shows.brief))


def _for_pipe(found: Answered, skin: Skin, shape: Shape, link: Link) -> Shows:
    terminal, words = skin.terminal, found.words
    style, safe = terminal.style, terminal.safe

    def whole(rank: int, hit: Hit) -> str:
        snippet, around = make_snippet(hit, words=words), _around(hit, skin, shape)
        shown = plain.passage(rank, hit, snippet, skin.cite(hit), around, style=style, safe=safe)
        return shown + (safe(plain.trace(hit.trace)) if shape.explain else "")

    def brief(rank: int, hit: Hit) -> str:
        from memcli.search.landing import landing

        at = landing(hit, words)
        where = f"{skin.name(*hit.about.document)}:{at.line}"
        return plain.brief(rank, where, marked(at.text, words), style=style, safe=safe)

    def behind(each: Expanded) -> str:
        where, summary = skin.cite(each.hit), skin.name(MEMORY_SOURCE, each.summary)
        return plain.behind(each.hit, where, summary, style=style, safe=safe)

    return Shows(whole, brief, behind)


def _for_screen(found: Answered, skin: Skin, shape: Shape, link: Link) -> Shows:
    from memcli.render import screen

    terminal, words = skin.terminal, found.words
    made = screen.Screen(
        terminal.width, terminal.style, terminal.safe, skin.age_days, skin.name, link
    )

    def whole(rank: int, hit: Hit) -> str:
        snippet, around = make_snippet(hit, words=words), _around(hit, skin, shape)
        shown = screen.passage(rank, hit, snippet, made, around)
        return shown + (terminal.safe(plain.trace(hit.trace)) + "\n" if shape.explain else "")

    def brief(rank: int, hit: Hit) -> str:
        from memcli.search.landing import landing

        return screen.brief(rank, hit, landing(hit, words), words, made)

    def behind(each: Expanded) -> str:
        return screen.behind(each, made)

    return Shows(whole, brief, behind)


def _around(hit: Hit, skin: Skin, shape: Shape) -> Around:
    if not shape.around:
        return plain.NOTHING_AROUND
    from memcli.cli.around import around

    return around(skin.memory, hit, shape.around)
