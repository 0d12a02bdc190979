"""Write the answer of a search in the chosen form, with messages about it on stderr."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from memcli.checking import TYPE_CHECKING, Any
from memcli.cli.search_form import TEMPLATE, Shape
from memcli.errors import Reason
from memcli.language.tokens import estimate
from memcli.render.reasons import match_line, repaired, sentence
from memcli.render.text import counted
from memcli.search.budget import fit_budget, shortened
from memcli.search.ranked import RankedPassage, mark_of
from memcli.search.retrievers import MODE_IS_KEYWORD, RetrieverUse, missing_vectors
from memcli.search.snippet import Snippet, make_snippet
from memcli.types import EMPTY, About

if TYPE_CHECKING:
    from memcli.api.ask import SearchResult
    from memcli.cli.command_context import CommandContext
    from memcli.cli.terminal import Terminal
    from memcli.dates.find import DateSpan
    from memcli.indexing.freshness import Freshness
    from memcli.search.pipeline import Answer
    from memcli.search.repair import Repair
    from memcli.search.rerank import RerankResult

NO_MORE = "The answer has no more passages; --limit allows more of them."
NO_DOCUMENTS = Reason(
    "empty", "There are no Markdown files here", 'memcli remember "A first note."'
)


def write(result: SearchResult, command: CommandContext, shape: Shape) -> None:
    """Write to stderr what the index lacks and how well they match, then the passages to stdout.

    The other messages follow. For several questions, the index is mentioned once.
    """
    if shape.place < 2:
        say_index(result, command)
    if not shape.place:
        say_match(result.answer, command.terminal)
    if shape.budget is None:
        WRITERS[shape.form](result, command, shape)
    else:
        result, text = _within(shape.budget, result, command, shape)
        command.terminal.write(text)
    command.terminal.flush()
    if shape.printed is not None:
        from memcli.cli.search_text import note_printed

        note_printed(result, shape)
    say(result, command, shape)


def _within(
    budget: int, result: SearchResult, command: CommandContext, shape: Shape
) -> tuple[SearchResult, str]:
    """Leave out passages until the output fits the budget, and return the answer and the output.

    The last one is cut down to its best lines, except in a list. Without passages the output may
    exceed the budget.
    """
    whole = result.answer.passages
    sizes = [1 if shape.one_line else estimate(each.shown) for each in whole]

    def written(size: int) -> tuple[SearchResult, str]:
        fewer = whole[:size] if shape.one_line else fit_budget(whole, budget=size)[0]
        return _with_only(fewer, result, command, shape)

    fits, over = 0, sum(sizes) + 1
    best = written(over - 1)
    if estimate(best[1]) <= budget:
        return best
    best = written(0)
    while over - fits > 1:  # `fits` tokens of passages fit, and `over` are too many
        middle = (fits + over) // 2
        made = written(middle)
        if estimate(made[1]) <= budget:
            fits, best = middle, made
        else:
            over = middle
    return best


def _with_only(
    passages: Sequence[RankedPassage], result: SearchResult, command: CommandContext, shape: Shape
) -> tuple[SearchResult, str]:
    """Leave out all other passages; return the answer and the output."""
    answer = result.answer
    over = answer.omitted_over_budget + len(answer.passages) - len(passages)
    expanded = result.expanded if passages == answer.passages else ()
    left = (*answer.passages[len(passages) :], *answer.left)
    answer = answer._replace(passages=tuple(passages), left=left, omitted_over_budget=over)
    fewer = result._replace(answer=answer, expanded=expanded)
    return fewer, command.terminal.captured(lambda: WRITERS[shape.form](fewer, command, shape))


def _cost(
    passages: Sequence[RankedPassage], result: SearchResult, command: CommandContext, shape: Shape
) -> int:
    return estimate(_with_only(passages, result, command, shape)[1])


def _dates(result: SearchResult, shape: Shape) -> tuple[DateSpan, ...]:
    """Return the dates that were understood, in the question and in filters."""
    return (*(result.answer.dates if shape.has_question else ()), *shape.filters)


def _write_paths(result: SearchResult, command: CommandContext, shape: Shape) -> None:
    documents = dict.fromkeys(passage.about.document for passage in result.answer.passages)
    write_names((command.file_from_here(*each) for each in documents), command, shape)


def write_names(names: Iterable[str], command: CommandContext, shape: Shape) -> None:
    """Write names of files, one per line, or as `paths0` exactly and each before a NUL."""
    terminal = command.terminal
    is_exact = shape.form == "paths0" and not terminal.out_is_terminal
    for name in names:
        terminal.write(f"{name}\0" if is_exact else terminal.safe_line(name) + "\n")


def _write_vimgrep(result: SearchResult, command: CommandContext, shape: Shape) -> None:
    """Write `path:line:column:text` of the line that matches best in each passage."""
    from memcli.search.cursor import corrections_at, cursor_of

    terminal = command.terminal
    for passage in (*result.answer.passages, *(each.passage for each in result.expanded)):
        name, at = (
            command.file_from_here(*passage.about.document),
            cursor_of(passage, result.answer.words),
        )
        mark = mark_of(corrections_at(passage, at.line))
        text = terminal.safe_line(f"{at.text} [{mark}]" if mark else at.text)
        line = f"{terminal.safe_line(name)}:{at.line}:{at.column}:{text}\n"
        terminal.write(line)


def _write_template(result: SearchResult, command: CommandContext, shape: Shape) -> None:
    if shape.template is not None:
        for record in described(result, command, shape):
            command.terminal.write(shape.template.filled(record, command.terminal.safe_line))


def _write_markdown(result: SearchResult, command: CommandContext, shape: Shape) -> None:
    from memcli.render.sanitize import fenced_passage

    terminal = command.terminal
    shown = [(passage, make_snippet(passage, words=())) for passage in result.answer.passages]
    shown += [(each.passage, Snippet(each.passage.text, ())) for each in result.expanded]
    for passage, snippet in shown:
        terminal.write(terminal.safe(fenced_passage(passage, snippet, command.cite(passage))))


def _write_text(result: SearchResult, command: CommandContext, shape: Shape) -> None:
    from memcli.cli.search_text import write_text

    if shape.place:
        command.terminal.write(_heading(result, command, shape.place))
    write_text(result, command, shape, _links(command))


def _heading(result: SearchResult, command: CommandContext, place: int) -> str:
    """Write one of several questions above its answer.

    The heading also says how well the passages match, and how dates were read.
    """
    from memcli.render.dates import line

    terminal, answer = command.terminal, result.answer
    question = terminal.safe_line(result.question.text)
    nothing = "" if answer.passages else _nothing(answer)
    remarks = " ".join(filter(None, (nothing, match_line(answer), line(answer.dates))))
    beside = f"  ({terminal.safe_line(remarks)})" if remarks else ""
    above = "\n" if place > 1 else ""
    return f"{above}{terminal.style.heading}# {question}{terminal.style.end}{beside}\n"


def _nothing(answer: Answer) -> str:
    is_small = answer.omitted_over_budget > 0
    return "The budget is too small for a passage." if is_small else "No passages found."


def shares_of(
    budget: int, results: Sequence[SearchResult], command: CommandContext, shape: Shape
) -> tuple[list[int], int]:
    """Share a budget among questions; if it is too small, also return one that is large enough.

    The shares are equal if each question then gets a passage. Otherwise, as many as possible get
    their best one, the cheapest first.
    """
    equal, places = max(1, budget // len(results)), range(1, len(results) + 1)
    if shape.one_line or all(
        _within(equal, result, command, shape._replace(place=place))[0].answer.passages
        for place, result in zip(places, results, strict=True)
        if _best(result.answer)
    ):
        return [equal] * len(results), 0

    def total(chosen: Collection[int]) -> int:
        return sum(_costs(results, chosen, command, shape))

    chosen: list[int] = []
    for place in sorted(places, key=lambda place: total([place])):
        if total([*chosen, place]) <= budget:
            chosen.append(place)
    shares, needed = _costs(results, chosen, command, shape), total(places)
    spare = max(0, budget - sum(shares)) // len(shares)
    return [share + spare for share in shares], needed * (needed > budget)


def _costs(
    results: Sequence[SearchResult], chosen: Collection[int], command: CommandContext, shape: Shape
) -> list[int]:
    """Return the tokens of each answer if only the questions of these numbers get a passage."""
    from memcli.cli.search_text import note_printed

    costs, printed = [], None if shape.printed is None else set(shape.printed)
    for place, result in enumerate(results, start=1):
        own = shape._replace(place=place, printed=printed)
        passages = _best(result.answer) if place in chosen else ()
        costs.append(_cost(passages, result, command, own))
        note_printed(result._replace(answer=result.answer._replace(passages=passages)), own)
    return costs


def _best(answer: Answer) -> tuple[RankedPassage, ...]:
    """Return the best passage, also if it did not fit a budget."""
    return tuple((answer.passages or answer.left[: answer.omitted_over_budget])[:1])


def _links(command: CommandContext) -> Callable[[str, str, int], str]:
    """Return a function for the URL of a line, if the terminal opens links.

    A source that is no longer configured has no folder, so its lines have no URL.
    """
    template = command.config("terminal.hyperlink")
    if template == "none" or not command.terminal.has_links:
        return lambda source, path, line: ""
    import socket

    from memcli.render.screen import file_url

    host = socket.gethostname()

    def link(source: str, path: str, line: int) -> str:
        file = command.file_of(source, path)
        return file_url(template, host=host, path=file, line=line) if file else ""

    return link


def described(result: SearchResult, command: CommandContext, shape: Shape) -> list[dict[str, Any]]:
    """Describe each passage with the requested keys of JSON."""
    from memcli.render import jsonio
    from memcli.search.passages import passages_of

    keys, passages = shape.fields, result.answer.passages
    full, explain = shape.full or "text" in keys, shape.explain or "trace" in keys
    results = [
        jsonio.result(public, _file(passage.about, command), full=full, explain=explain)
        for public, passage in zip(passages_of(passages), passages, strict=True)
    ]
    for record, passage in zip(results, passages, strict=True):
        if older := (result.superseded or {}).get(passage.citation):
            record["superseded"] = [{**o._asdict(), "citation": o.citation} for o in older]
    if keys:
        return [{key: each[key] for key in keys if key in each} for each in results]
    if has_all(command, shape):
        return results
    one = "" if command.memory.members else command.config.workspace
    is_in = bool(shape.folder) and os.path.abspath(shape.folder) == one
    records = [jsonio.few(each, is_in=is_in) for each in results]
    return records if shape.one_line else jsonio.joined(records)


def has_all(command: CommandContext, shape: Shape) -> bool:
    """Return whether JSON has all keys."""
    return shape.full or shape.explain or command.terminal.verbose


def _write_json(result: SearchResult, command: CommandContext, shape: Shape) -> None:
    from memcli.render import jsonio

    results = described(result, command, shape)
    expanded = [jsonio.lines(each, _file(each.passage.about, command)) for each in result.expanded]
    if shape.form == "jsonl":
        lines = results + expanded
    else:
        from memcli.api.records import search_record

        envelope = search_record(
            result,
            results,
            command.config,
            now=command.now,
            dates=_dates(result, shape),
            # If no passage fits the budget, the rest has to.
            whole=has_all(command, shape)
            and not (result.answer.omitted_over_budget and not results),
        )
        if shape.place:
            envelope["query"] = result.question.typed or result.question.text
        if shape.one_line:
            omitted = result.answer.omitted_over_budget
            envelope["count"] = shape.after + len(results) + omitted
        if shape.fields:
            envelope["fields"] = list(shape.fields)
        lines = [{**envelope, "expanded": expanded} if result.expanded else envelope]
    for record in lines:
        command.terminal.write_json(record)


WRITERS: Mapping[str, Callable[[SearchResult, CommandContext, Shape], None]] = {
    "text": _write_text,
    "json": _write_json,
    "jsonl": _write_json,
    "markdown": _write_markdown,
    "paths": _write_paths,
    "paths0": _write_paths,
    "vimgrep": _write_vimgrep,
    TEMPLATE: _write_template,
}


def _file(place: About, command: CommandContext) -> str | None:
    """Return the path of the file from here; None if its source is no longer configured."""
    source, path = place.source, place.path
    return None if command.file_of(source, path) is None else command.file_from_here(source, path)


def say(result: SearchResult, command: CommandContext, shape: Shape) -> None:
    """Write messages: what was read, what is left out."""
    answer, terminal = result.answer, command.terminal
    if result.freshness.state == EMPTY:
        return
    say_repaired(answer.repaired, terminal, explain=shape.explain)
    say_reranked(answer.reranked, terminal)
    is_headed = bool(shape.place) and shape.form == "text"  # the heading names its dates
    if not is_headed:
        say_dates(_dates(result, shape), terminal)
    elif shape.place == 1:
        say_dates(shape.filters, terminal)
    if not answer.passages:
        if not is_headed:
            is_end = shape.after and not answer.omitted_over_budget
            terminal.say(NO_MORE if is_end else _nothing(answer))
        if answer.omitted_over_budget and answer.left and shape.budget and not shape.place:
            needed = _cost(answer.left[:1], result, command, shape)
            terminal.say(f"--budget {needed} shows the best one.")
        if result.empty_reason is not None:
            terminal.advise(result.empty_reason)
    is_alone = shape.worthwhile and not shape.place
    _say_budget(result, terminal, shape if is_alone else None)
    say_uncalibrated(answer, command, explain=shape.explain)
    if (shape.explain or terminal.verbose) and answer.keyword.ran and answer.keyword.reason:
        terminal.say(f"words: {sentence(answer.keyword.reason)}")
    if (shape.explain or terminal.verbose) and answer.match_reason:
        terminal.say(terminal.safe_line(f"match weak: {sentence(answer.match_reason)}"))
    if terminal.verbose:
        terminal.say(
            f"{len(answer.passages)} of {answer.candidates} candidates, match {answer.match}, "
            f"index {result.freshness.state.replace('_', ' ')}, revision {answer.revision}"
        )
        if answer.unmatched:
            terminal.say("in no chunk: " + ", ".join(answer.unmatched))


def say_index(result: SearchResult, command: CommandContext) -> None:
    """Say which files and vectors the answer lacks."""
    if say_freshness(result.freshness, command.terminal):
        say_semantic(result.answer.semantic, command, result.freshness)
    else:
        command.terminal.say(sentence(NO_DOCUMENTS))


def _say_budget(result: SearchResult, terminal: Terminal, shape: Shape | None) -> None:
    """Say how many passages did not fit, and after a weak match or with -v how many are left out.

    With a `shape`, the command that prints them follows.
    """
    from memcli.search.pipeline import OFF_TOPIC

    answer = result.answer
    over, weaker = answer.omitted_over_budget, len(answer.left)
    more = ""
    if shape and answer.match_reason == OFF_TOPIC and weaker:
        more = f"{weaker} weaker"
    elif shape and answer.passages and over:
        more = f"{over} more"
    elif shape and weaker and answer.passages and (terminal.verbose or answer.match == "weak"):
        more = f"{weaker} weaker"
    if more and shape:
        from memcli.cli.search_text import next_page

        again = next_page(result, shape, len(answer.passages))
        terminal.say(terminal.safe_line(f"{more}: {again}"))
    elif over and answer.passages and terminal.verbose:
        terminal.say(f"{counted(over, 'more passage')} did not fit the budget.")
    if (terminal.verbose or (shape and over)) and (whole := shortened(answer.passages)):
        terminal.say(terminal.safe_line(f"To fit the budget, {whole} is shown only in part."))
    if answer.omitted_low_confidence and terminal.verbose:
        weak = answer.omitted_low_confidence
        left_out = counted(weak, "more passage is", "more passages are")
        terminal.say(f"{left_out} weak and left out; -n 100 includes them.")


def say_repaired(repairs: Sequence[Repair], terminal: Terminal, *, explain: bool) -> None:
    """Say which words replaced others; with --explain or -v, also which were added."""
    shown = [each for each in repairs if each.is_another_word or explain or terminal.verbose]
    if shown:
        terminal.say(terminal.safe_line(repaired(shown)))


def say_reranked(reranked: RerankResult | None, terminal: Terminal) -> None:
    """Say why a configured reranker did not run."""
    if reranked is not None and reranked.reason is not None and reranked.reason.code != "sure":
        text = f"not reranked by {reranked.by}: {reranked.reason.text}"
        terminal.advise(reranked.reason._replace(text=text))


def say_match(answer: Answer, terminal: Terminal) -> None:
    """Say how well the passages match, unless they match well."""
    if text := match_line(answer):
        terminal.say(terminal.safe_line(text))


def say_uncalibrated(answer: Answer, command: CommandContext, *, explain: bool) -> None:
    """Print what confidences are based on if the model was never measured.

    memcli prints it if a minimum confidence is set and with --explain; else once per workspace,
    when it has decided the match.
    """
    reason, terminal = answer.uncalibrated, command.terminal
    if reason is None or not answer.candidates:
        return
    is_asked = explain or terminal.verbose or command.config("search.min_score") > 0
    if is_asked or (answer.match == "weak" and not terminal.quiet and command.is_news(reason.code)):
        terminal.advise(reason)


def say_dates(dates: Sequence[DateSpan], terminal: Terminal) -> None:
    """Print how memcli read dates that are not ISO days."""
    if not dates:
        return
    from memcli.render.dates import line

    if text := line(dates):
        terminal.say(text)


def say_freshness(freshness: Freshness, terminal: Terminal, answer: str = "this answer") -> bool:
    """Print which files the answer lacks; return False if the index is empty."""
    for notice in freshness.notices:
        terminal.advise(notice)
    if freshness.state == EMPTY:
        if freshness.reason is not None:
            terminal.advise(freshness.reason)
        return False
    if freshness.reason is not None:
        terminal.advise(_behind(freshness, freshness.reason, answer))
    return True


def _behind(freshness: Freshness, reason: Reason, answer: str) -> Reason:
    """Add the missing files to the reason."""
    if not freshness.pending:
        return reason
    files = freshness.missing or f"{freshness.pending} files"
    verb = "is" if freshness.pending == 1 else "are"
    return reason._replace(text=f"{files} {verb} not in {answer} ({reason.text})")


def say_semantic(semantic: RetrieverUse, command: CommandContext, freshness: Freshness) -> None:
    """Print why vectors were not used, or how many are missing.

    memcli prints once per workspace, and with -v each time, that the model cannot read a script;
    it does not if a notice of the index names a model that can.
    """
    terminal, reason = command.terminal, semantic.reason
    if reason is not None:  # with `semantic.ran`, the reason concerns some of several workspaces
        if reason.code == MODE_IS_KEYWORD.code:
            return
        if reason.code == "script" and not terminal.verbose:
            is_news = not terminal.quiet and command.is_news(reason.code)
            if not is_news or any(each.code == "language" for each in freshness.notices):
                return
        terminal.advise(by_keywords(reason))
    elif missing := missing_vectors(semantic, f"memcli index {command.memory.named_by}".rstrip()):
        from memcli.api.ask import indexing_of

        terminal.advise(indexing_of(command.memory) or missing)


def by_keywords(reason: Reason) -> Reason:
    """Say that the search uses keywords only."""
    return reason._replace(text=f"keywords only: {reason.text}")
