"""`memcli search`: find passages by words and meaning."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.choices import SORTS, check
from memcli.cli.filters import bounds_of, check_as_of, filters_of, sync_of
from memcli.cli.skin import Shared, Skin, make_skin
from memcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Annotated

    import typer

    from memcli.cli import options
    from memcli.cli.search_form import Shape


def command(
    query: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUERY",
            help="Any text; none lists all that --since, --until or --on selects.",
            show_default=False,
        ),
    ] = None,
    many: Annotated[
        bool, typer.Option("--stdin", help="Answer each line of stdin with a line of JSON.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option("-n", "--limit", metavar="N", help="Passages shown, 1 to 100.")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "-f",
            "--format",
            metavar="FORM",
            help="text, json, jsonl, markdown, paths, paths0 (ended by NUL), vimgrep, "
            "or a template such as '{citation}'.",
            show_default="text",
        ),
    ] = None,
    opened: Annotated[
        int | None,
        typer.Option("--open", metavar="[N]", help="Open passage N, or the first, in the editor."),
    ] = None,
    fields: Annotated[
        list[str] | None, typer.Option("--fields", metavar="KEYS", help="Only these keys of JSON.")
    ] = None,
    as_json: options.Json = False,
    full: Annotated[bool, typer.Option("--full", help="Show whole chunks.")] = False,
    brief: options.Brief = False,
    around: Annotated[
        int,
        typer.Option(
            "-C", "--context", metavar="N", min=0, help="Show N lines of the file around each."
        ),
    ] = 0,
    more: options.More = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how each score was computed.")
    ] = False,
    superseded: Annotated[
        bool, typer.Option("--superseded", help="Add older lines that a passage corrects.")
    ] = False,
    why_not: Annotated[
        str | None,
        typer.Option(metavar="REF", help="Say at which stage these lines were lost, instead."),
    ] = None,
    since: options.Since = None,
    until: options.Until = None,
    on: options.On = None,
    sort: Annotated[
        str,
        typer.Option(metavar="HOW", help="Order what is found: score, date (a timeline), newest."),
    ] = "score",
    undated: options.Undated = False,
    as_of: options.AsOf = None,
    path: options.Paths = None,
    source: options.Sources = None,
    kind: options.Kinds = None,
    scope: options.Scopes = None,
    trust: options.Trusts = None,
    heading: options.Headings = None,
    by: options.By = None,
    tag: options.Tags = None,
    where: options.Wheres = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Take words as they are typed, misspelt or not.",
            rich_help_panel=options.RANKING,
        ),
    ] = False,
    mode: Annotated[
        str | None,
        typer.Option(
            metavar="MODE", help="hybrid, lexical or dense.", rich_help_panel=options.RANKING
        ),
    ] = None,
    fusion: Annotated[
        str | None,
        typer.Option(
            metavar="HOW", help="scaled, weighted or rrf.", rich_help_panel=options.RANKING
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="default, classic, convex or two-pass.",
            rich_help_panel=options.RANKING,
        ),
    ] = None,
    rerank: Annotated[
        str | None,
        typer.Option(
            metavar="BY",
            help="Have the best read once more: none, tokens, onnx, endpoint.",
            rich_help_panel=options.RANKING,
        ),
    ] = None,
    view: Annotated[
        str | None,
        typer.Option(
            metavar="VIEW", help="all, active or raw; see compact.", rich_help_panel=options.RANKING
        ),
    ] = None,
    expand: Annotated[
        bool,
        typer.Option(
            "--expand", help="Add the lines behind summaries.", rich_help_panel=options.RANKING
        ),
    ] = False,
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="TOKENS", help="Give as many passages as fit, by the TOKENS of their text."
        ),
    ] = None,
    min_score: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Drop what is less sure, 0 to 1; literal matches stay.",
            rich_help_panel=options.RANKING,
        ),
    ] = None,
    exit_code: Annotated[
        bool,
        typer.Option("-e", "--exit-code", help="Exit 1 where nothing fits well."),
    ] = False,
    require_dense: Annotated[
        bool,
        typer.Option(
            "--require-dense",
            help="Exit 6 if vectors cannot be used.",
            rich_help_panel=options.RANKING,
        ),
    ] = False,
    no_sync: options.NoSync = False,
    sync: options.Sync = False,
    used: Annotated[
        list[str] | None,
        typer.Option(
            "--used",
            metavar="REF",
            help="Search nothing: count these as used, with access.count.",
            rich_help_panel=options.RANKING,
        ),
    ] = None,
    receipt: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write how the answer came about; see bench replay."),
    ] = None,
    workspace: options.Workspace = None,
    everywhere: options.Everywhere = False,
    presets: options.Presets = None,
    workspace_name: options.WorkspaceName = None,
    tenant: options.Tenant = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Find passages by words and meaning, best first.

    "a phrase", -without and prefix* are honoured; see: memcli help query-syntax

    Examples: memcli search "why did the pool run dry"      memcli search OPS-417 --json
    """
    from memcli.cli.search_form import shape_of
    from memcli.cli.search_run import Asking, deliver, each_line, write_loss
    from memcli.search.options import options_of
    from memcli.search.question import Question

    shared = Shared(
        workspace, quiet, verbose, color, now, everywhere, workspace_name, as_of, tenant, True
    )
    if used:
        return _count_used(used, query, make_skin(shared, {}))
    _check_open(opened, {"--format": form, "--fields": fields, "--json": as_json,
                         "--stdin": many, "--why-not": why_not})  # fmt: skip
    shape = shape_of(form, fields or (), _keys, json_by=_json_by(many=many, as_json=as_json))
    if (query and many) or query == ["-"] or not (query or many or since or until or on):
        raise _no_question(query, lists=bool(tag or where or kind or path))
    _check_shape(shape, {"--brief": brief, f"--context {around}": around, "--explain": explain,
                         "--superseded": superseded})  # fmt: skip
    wanted_sync = _check_values(sort, budget, query, sync=sync, no_sync=no_sync)
    flags = {
        "files.presets": presets,
        "search.limit": limit,
        "search.repair": False if exact else None,
        "search.mode": mode,
        "search.fusion": fusion,
        "search.profile": profile,
        "search.rerank": rerank,
        "search.min_score": min_score,
        "search.view": view,
    }
    skin = make_skin(check_as_of(shared, {"--open": opened, "--receipt": receipt}), flags)
    bounds = bounds_of({"--since": since, "--until": until, "--on": on}, skin, "search")
    given = {"paths": path, "sources": source, "kinds": kind, "scopes": scope, "trusts": trust,
             "headings": heading, "by": by, "tags": tag, "where": where}  # fmt: skip
    filters = filters_of(skin, given, bounds)
    filters = filters._replace(undated=undated, view=skin.config("search.view"))
    wanted = options_of(
        skin.config, budget=budget, whole=full, filters=filters, fill=not expand, sort=sort,
        ends=not (more or expand or explain),
    )  # fmt: skip
    shape = shape._replace(
        full=full, explain=explain, in_days=sort != "score", filters=bounds,
        has_question=bool(query) or many, brief=brief, around=around, superseded=superseded,
        is_fitted=not (more or limit or budget or explain or expand),
    )  # fmt: skip
    asked = Asking(skin, wanted, shape, expand, wanted_sync, opened)
    if many:
        return each_line(asked)
    text = " ".join(query) if query else _all_records(filters.since, filters.until)
    question = Question.by(skin.config, text, skin.asked)
    if why_not is not None:
        return write_loss(why_not, question, asked, as_json=as_json)
    found = deliver(question, asked, receipt=receipt, require_dense=require_dense)
    return ExitCode.NEGATIVE if exit_code and not found.is_sure else ExitCode.OK


def _count_used(refs: Sequence[str], query: list[str] | None, skin: Skin) -> int:
    """Count documents as used; nothing is where one of them is none."""
    from memcli.api.access import note

    if query:
        raise UsageError(
            "--used searches nothing, and there is a query", hint="memcli search --help"
        )
    if not skin.config("access.count"):
        raise UsageError(
            "uses are not counted: access.count is not set in your own configuration",
            hint="memcli config access.count",
        )
    found = []
    for ref in refs:
        memory, target, *_ = skin.memory.owner_of(ref)
        found.append((memory, memory.find(target, skin.here)[0].document))
    for memory, document in found:
        note(memory, [document])
    return ExitCode.OK


def _json_by(*, many: bool, as_json: bool) -> str:
    """Name the option that asks for JSON; "" where none does."""
    return "--stdin" if many else "--json" if as_json else ""


def _check_open(opened: int | None, others: Mapping[str, object]) -> None:
    """Raise UsageError for a number that counts nothing, and for forms of output."""
    if opened is None:
        return
    if opened < 1:
        raise UsageError(f"--open must be at least 1, not {opened}", hint="--open 1")
    for option, value in others.items():
        if value:
            raise UsageError(
                f"--open prints nothing and cannot be combined with {option}", hint="--open"
            )


def _check_shape(shape: Shape, shown: Mapping[str, object]) -> None:
    """Raise UsageError for what the form of output has no place for."""
    of_json = ("--explain", "--superseded")
    allowed = {"text": tuple(shown), "json": of_json, "jsonl": of_json}
    given = [option for option, value in shown.items() if value]
    for option in given:
        if option not in allowed.get(shape.form, ()):
            form = "a template" if shape.template else f"--format {shape.form}"
            hint = "--json" if option in of_json else "--format text"
            raise UsageError(f"{option} has no place in {form}", hint=hint)
    if "--brief" in given and len(given) > 1:
        raise UsageError(
            f"--brief shows a line a passage, and {given[1]} shows more", hint=given[1]
        )


def _keys() -> Sequence[str]:
    from memcli.render.jsonio import RESULT_KEYS

    return RESULT_KEYS


def _check_values(
    sort: str, budget: int | None, query: list[str] | None, *, sync: bool, no_sync: bool
) -> bool | None:
    """Check what no setting checks; give what is asked for of the index, as `sync_of` says it."""
    wanted = sync_of(sync=sync, no_sync=no_sync, command="search")
    check("--sort", [sort], SORTS)
    if budget is not None and budget < 1:
        from shlex import quote  # a hint is pasted

        asked = quote(" ".join(query)) if query else "--stdin"
        raise UsageError(
            f"--budget must be at least 1, not {budget}",
            hint=f"memcli search {asked} --budget 800",
        )
    return wanted


def _no_question(query: Sequence[str] | None, *, lists: bool) -> UsageError:
    if query:
        text = "--stdin reads the questions, a line each, and takes no other"
        return UsageError(text, hint="memcli search --stdin")
    hint = "memcli ls" if lists else 'memcli search "some words"'
    return UsageError("search needs some words to look for", hint=hint)


def _all_records(first: str | None, last: str | None) -> str:
    """Ask for all records from one day to another."""
    if first and last:
        return first if first == last else f"{first} to {last}"
    return f"since {first}" if first else f"until {last}"
