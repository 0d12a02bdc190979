"""`memcli search`: find passages by keyword and by meaning."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli import options as rows
from memcli.cli.command_context import CommandContext, command_context
from memcli.cli.filters import bounds_of, check_as_of, filters_of, sync_of
from memcli.cli.options import (
    CommandArgument,
    Option,
    Options,
    check,
    refuse,
    result_keys,
    words_of,
)
from memcli.errors import ExitCode, UsageError, quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.cli.search_form import Shape
    from memcli.cli.search_run import SearchRequest
    from memcli.search.question import Question

LIST_BUDGET = 500  # tokens of a list, unless a number of tokens or lines is wanted
PAGE_OPTIONS = ("budget", "after")
ARGUMENTS = (
    CommandArgument(
        "query",
        "QUERY",
        "What to look for: words, or questions in quotes. Optional with --since, --until or --on.",
        list,
    ),
)
OPTIONS = (
    Option("--stdin", "Answer each line of stdin with one line of JSON."),
    rows.LIMIT, rows.FORMAT,
    Option("--open", "Open passage N in the editor (default 1).", rows.NUMBER_OR_NONE, int),
    Option("-i --interactive", "Choose a passage, and open or print it."),
    Option("--fields", "Only these JSON keys.", "KEYS", list, choices=result_keys),
    rows.JSON, rows.FULL, rows.BRIEF,
    Option("--list", "Print one line per occurrence, and their number."),
    Option("-C --context", "Print N lines of the file around each passage.", "N", int,
        default=0, least=0),
    rows.MORE,
    Option("--after", "Print only what follows the first N passages.", "N", int,
        default=0, least=0),
    Option("--explain", "Print how each score was computed."),
    Option("--superseded", "Print the older lines that a passage corrects."),
    Option("--why-not", "Explain why PATH:LINE was not found.", "REF",
        choices=rows.DOCUMENTS),
    *rows.DATES,
    Option("--sort", "Order: score, date (oldest first) or newest.", "HOW",
        default="score"),
    rows.UNDATED, rows.AS_OF, *rows.FILTER_OPTIONS,
    Option("--exact", "Do not correct misspelled words.", group=rows.RANKING),
    rows.MODE._replace(group=rows.RANKING), rows.FUSION._replace(group=rows.RANKING),
    rows.PROFILE._replace(group=rows.RANKING), rows.RERANK._replace(group=rows.RANKING),
    Option("--view", "Logs and summaries: all, active or raw.", "VIEW", setting="search.view",
        group=rows.RANKING),
    Option("--expand", "Print the source lines of summaries.", group=rows.RANKING),
    Option("--budget", "Maximum tokens to print. With --more, print as many as fit.",
           "TOKENS", int),
    Option("--min-score", "Minimum confidence, 0 to 1, except exact matches.", "X", float,
        setting="search.min_score", group=rows.RANKING),
    Option("--exit-code", "Exit 1 if nothing matches, or only with low confidence."),
    Option("--require-semantic", "Exit 6 if semantic search is not possible.", group=rows.RANKING),
    rows.NO_SYNC, rows.SYNC,
    Option("--used", "Count these documents as used. No search.", "REF", list,
        group=rows.RANKING, choices=rows.DOCUMENTS),
    Option("--trace", "Write a trace of the search, for bench replay.", "FILE",
        choices=rows.FILES),
    *rows.SEVERAL,
)  # fmt: skip

USUAL_OPTIONS = (
    "--limit", "--format", "--open", "--brief", "--context", "--explain", "--budget", "--since",
    "--until", "--path", "--tag", "--mode",
)  # fmt: skip


def run(options: Options) -> int:
    """Find passages by keyword and by meaning, best first.

    A query may contain "a phrase", -without and prefix*. See: memcli help query-syntax

    Examples: memcli search "why did the pool run dry"
    memcli search "who owns billing" "when may we deploy"
    """
    from memcli.cli.search_form import shape_of
    from memcli.cli.search_run import SearchRequest, deliver, deliver_each, each_line, write_loss
    from memcli.search.options import BUDGET_LIMIT, options_of
    from memcli.search.question import Question

    if options.used:
        return _count_used(options.used, options.query, command_context(options))
    _check_open(options)
    if options.after:
        alone = ("open", "interactive", "why_not", "trace", "expand")
        refuse(options, alone, "--after cannot be combined with {}", "{}")
    json_by = "--stdin" if options.stdin else "--json" if options.json else ""
    shape = shape_of(options.format, options.fields or (), result_keys, json_by=json_by)
    _check_question(options)
    if options.interactive:
        _check_interactive(options, shape)
    _check_shape(options, shape)
    _check_values(options)
    questions = _questions(options)
    if len(questions) > 1:
        _check_several(options, shape)
    wanted_sync = sync_of(options, "search")
    check_as_of(options, "open", "trace")
    command = command_context(options, {"search.repair": False} if options.exact else {})
    _say_joined(options, questions, command)
    _say_options_inside(options.query or (), command)
    bounds = bounds_of(options, command, "search")
    filters = filters_of(command, options, bounds)._replace(view=command.config("search.view"))
    search_options = options_of(
        command.config,
        budget=None if options.list else _bound(options),
        whole=options.full,
        filters=filters,
        fill=not options.expand,
        sort=options.sort,
        worthwhile=not (options.more or options.expand or options.explain)
        and not (options.open or options.interactive),
        one_line=options.list,
    )._replace(by_turn=options.brief)
    if options.limit and options.list:  # a page of a list has a limit, not the list
        search_options = search_options._replace(limit=BUDGET_LIMIT)
    elif options.limit and options.sort == "score":  # more passages would change another order
        search_options = search_options._replace(limit=options.after + options.limit)
    shape = _filled(shape, options)._replace(filters=bounds, worthwhile=search_options.worthwhile)
    request = SearchRequest(command, options, search_options, shape, wanted_sync)
    if options.stdin:
        return each_line(request)
    if options.interactive and not (options.query or filters.since or filters.until):
        return _choose(None, request)
    if len(questions) > 1:
        are_sure = deliver_each(questions, request)
        return ExitCode.NEGATIVE if options.exit_code and not are_sure else ExitCode.OK
    text = questions[0] if questions else _all_records(filters.since, filters.until)
    question = Question.by(command.config, text, command.question_time)
    if options.interactive:
        return _choose(question, request)
    if options.why_not is not None:
        return write_loss(question, request)
    result = deliver(question, request)
    return ExitCode.NEGATIVE if options.exit_code and not result.is_sure else ExitCode.OK


def _choose(question: Question | None, request: SearchRequest) -> int:
    from memcli.cli.picking import choose

    groups = (rows.FILTERS, rows.RANKING, rows.INDEX)
    own = [row for row in OPTIONS if row.group in groups or row is rows.LIMIT]
    return choose(question, request, words_of(request.line, own))


def _count_used(refs: Sequence[str], query: list[str] | None, command: CommandContext) -> int:
    """Count documents as used; if one of them does not exist, count none."""
    from memcli.api.usage_counts import note

    if query:
        raise UsageError("--used takes no query", hint="memcli search --help")
    if not command.config("access.count"):
        raise UsageError(
            "uses are not counted: access.count is not set in your own configuration",
            hint="memcli config access.count",
        )
    documents = []
    for ref in refs:
        owner = command.memory.owner_of(ref)
        document = owner.workspace.find(owner.target, command.here)[0].document
        documents.append((owner.workspace, document))
    for memory, document in documents:
        note(memory, [document])
    return ExitCode.OK


def _filled(shape: Shape, options: Options) -> Shape:
    """Return the form of output, changed by the options."""
    is_sized, folders = options.limit or options.budget, options.workspace or []
    same = ("full", "explain", "brief", "superseded", "after")
    return shape._replace(
        **{name: getattr(options, name) for name in same},
        budget=_list_budget(options) if options.list else options.budget,
        has_budget=options.budget is not None,
        in_days=options.sort != "score",
        has_question=bool(options.query) or options.stdin,
        one_line=options.list,
        page_lines=options.limit if options.list and options.limit else 0,
        options=lambda: _page_options(options),
        around=options.context,
        folder=folders[0] if len(folders) == 1 else "",
        is_fitted=not (options.more or is_sized or options.explain or options.expand),
    )


def _bound(options: Options) -> int | None:
    """Return the budget of the search; on a later page it bounds only what is printed."""
    from memcli.api.ask import WITHOUT_BOUND

    budget: int | None = options.budget
    return WITHOUT_BOUND if budget and options.after else budget


def _page_options(options: Options) -> str:
    """Write the options that do not change from page to page."""
    from shlex import join  # people paste hints

    return join(words_of(options, [each for each in OPTIONS if each.name not in PAGE_OPTIONS]))


def _list_budget(options: Options) -> int | None:
    """Return the most tokens of all lists; a number of lines and --more need no other bound."""
    budget: int | None = options.budget
    if options.limit or options.more:
        return budget
    return budget or LIST_BUDGET * max(1, len(_questions(options)))


def _check_open(options: Options) -> None:
    """Raise UsageError for a number below 1, and for forms of output."""
    if options.open is None:
        return
    if options.open < 1:
        raise UsageError(f"--open must be at least 1, not {options.open}", hint="--open 1")
    text = "--open prints nothing and cannot be combined with {}"
    refuse(options, ("format", "fields", "json", "stdin", "why_not"), text, "--open")


def _check_interactive(options: Options, shape: Shape) -> None:
    """Raise UsageError for a form of output that is not for one passage."""
    text = "--interactive cannot be combined with {}"
    refuse(options, ("stdin", "open", "why_not"), text, "{}")
    if shape.form not in ("text", "json") and not shape.template:
        raise UsageError(
            f"--interactive cannot print --format {shape.form}", hint="--format '{file}'"
        )


def _check_shape(options: Options, shape: Shape) -> None:
    """Raise UsageError for options that the form of output cannot show."""
    shown = {
        "--brief": options.brief,
        "--list": options.list,
        f"--context {options.context}": options.context,
        "--explain": options.explain,
        "--superseded": options.superseded,
    }
    of_json = ("--list", "--explain", "--superseded")
    allowed = {"text": tuple(shown), "json": of_json, "jsonl": of_json}
    chosen = [option for option, value in shown.items() if value]
    for option in chosen:
        if option not in allowed.get(shape.form, ()):
            form = "a template" if shape.template else f"--format {shape.form}"
            hint = "--json" if option in of_json else "--format text"
            raise UsageError(f"{option} cannot be combined with {form}", hint=hint)
    if len(chosen) > 1 and (chosen[0] in ("--brief", "--list")):
        from shlex import join  # people paste hints

        line = ["memcli", "search", *(options.query or ["some words"]), *chosen[1].split()]
        raise UsageError(f"{chosen[0]} cannot be combined with {chosen[1]}", hint=join(line))


def _questions(options: Options) -> list[str]:
    """Return the questions of a line: if most arguments are more than a word, each is one."""
    words = options.query or []
    if len(words) < 2 or 2 * sum(map(_is_question, words)) > len(words):
        return words
    return [" ".join(words)]


def _is_question(argument: str) -> bool:
    return argument.rstrip().endswith(("?", "？")) or _is_phrase(argument)


def _is_phrase(argument: str) -> bool:
    """Return whether an argument contains a space, or asks in Chinese or Japanese."""
    if argument.isascii() or _has_space(argument):
        return _has_space(argument)
    from memcli.dates.intent import asks
    from memcli.language.terms import has_han

    return has_han(argument) and asks(argument)


def _has_space(argument: str) -> bool:
    return " " in argument.strip()


def _say_joined(options: Options, questions: Sequence[str], command: CommandContext) -> None:
    """Say that arguments were read as one question, if one of them is more than a word."""
    words = options.query or []
    if len(words) > len(questions) == 1 and any(map(_is_phrase, words)):
        command.terminal.say('The arguments are one question. To ask several, end each with "?".')


def _say_options_inside(words: Sequence[str], command: CommandContext) -> None:
    """Name the search options that are inside a quoted question."""
    if "--" not in "".join(words):
        return
    options = {name for row in OPTIONS for name in row.names.split() if name.startswith("--")}
    parts = (part.partition("=")[0] for word in words if _has_space(word)
             for part in word.split())  # fmt: skip
    if names := list(dict.fromkeys(part for part in parts if part in options)):
        verb = "is" if len(names) == 1 else "are"
        command.terminal.say(f"{', '.join(names)} inside the question {verb} searched as text")


def _check_several(options: Options, shape: Shape) -> None:
    """Raise UsageError for options that are for one question only."""
    from shlex import join  # people paste hints

    text = f"{{}} takes one question, not {len(options.query)}"
    own = words_of(options, [row for row in OPTIONS if row not in rows.SEVERAL])
    first = options.query[0]
    words = [*own, "--", first] if first.startswith("-") else [first, *own]
    one = join(["memcli", "search", *words]).replace("{", "{{").replace("}", "}}")
    refuse(options, ("open", "interactive", "why_not", "trace", "after"), text, one)
    if shape.form not in ("text", "json"):
        raise UsageError(
            f"--format {options.format} takes one question, not {len(options.query)}",
            hint="--format text",
        )


def _check_values(options: Options) -> None:
    """Check the values that no setting checks."""
    check("--sort", [options.sort], rows.SORTS)
    if options.budget is not None and options.budget < 1:
        question = quote(" ".join(options.query)) if options.query else "--stdin"
        raise UsageError(
            f"--budget must be at least 1, not {options.budget}",
            hint=f"memcli search {question} --budget 800",
        )


def _check_question(options: Options) -> None:
    """Raise UsageError if there is not exactly one source of questions."""
    query = options.query
    if query and (options.stdin or query == ["-"]):
        text = "--stdin reads one question per line and takes no other"
        raise UsageError(text, hint="memcli search --stdin")
    is_asked = query or options.stdin or options.interactive
    if not (is_asked or any(getattr(options, each.name) for each in rows.DATES)):
        lists = options.tags or options.where or options.kinds or options.paths
        hint = "memcli ls" if lists else 'memcli search "some words"'
        raise UsageError("search needs some words to look for", hint=hint)


def _all_records(first: str | None, last: str | None) -> str:
    """Write the filter for all records from one day to another.

    The first and last day of the calendar set no limit.
    """
    first = "0001-01-02" if first == "0001-01-01" else first
    last = "9999-12-30" if last == "9999-12-31" else last
    if first and last:
        return first if first == last else f"{first} to {last}"
    return f"since {first}" if first else f"until {last}"
