"""`memcli context`: the right memory for a prompt, within a budget of tokens."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.choices import CONTEXT_FORMATS, check
from memcli.cli.filters import check_as_of, sync_of
from memcli.cli.skin import Shared, first_index, make_skin
from memcli.errors import ExitCode

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from memcli.cli import options


def command(
    query: Annotated[
        list[str] | None, typer.Argument(metavar="[QUERY]", help="Any text, or none.")
    ] = None,
    budget: Annotated[int | None, typer.Option(metavar="TOKENS", help="All it may cost.")] = None,
    tail: Annotated[
        int | None,
        typer.Option(metavar="COUNT", help="Newest records it must hold; 0: no tail."),
    ] = None,
    form: Annotated[
        str, typer.Option("-f", "--format", metavar="FORM", help="markdown or json.")
    ] = "markdown",
    as_json: options.Json = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what got how many tokens, and what had no room.")
    ] = False,
    mode: Annotated[
        str | None, typer.Option(metavar="MODE", help="hybrid, lexical or dense.")
    ] = None,
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", help="default, two-pass, classic or convex.")
    ] = None,
    rerank: Annotated[
        str | None,
        typer.Option(
            metavar="BY", help="Have the best read once more: none, tokens, onnx, endpoint."
        ),
    ] = None,
    as_of: options.AsOf = None,
    no_sync: Annotated[bool, typer.Option("--no-sync", help="Do not update the index.")] = False,
    sync: Annotated[bool, typer.Option("--sync", help="Index every change first.")] = False,
    receipt: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write how it came about; see bench replay.")
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
    """Assemble the memory for a prompt: rules, the newest records, what a question asks for.

    Files marked always come whole; see: memcli help front-matter

    Examples: memcli context --budget 1500      memcli context "why did the pool run dry" --json
    """
    form = "json" if as_json else form
    check("--format", [form], CONTEXT_FORMATS)
    wanted_sync = sync_of(sync=sync, no_sync=no_sync, command="context")
    flags = {
        "files.presets": presets,
        "context.budget": budget,
        "context.tail": tail,
        "search.mode": mode,
        "search.profile": profile,
        "search.rerank": rerank,
    }
    shared = Shared(
        workspace, quiet, verbose, color, now, everywhere, workspace_name, as_of, tenant, True
    )
    skin = make_skin(check_as_of(shared, {"--receipt": receipt}), flags)

    from memcli.api.assemble import context_of, wanted_of
    from memcli.cli import context_output
    from memcli.context.assemble import check_shares

    wanted = check_shares(wanted_of(skin.config))
    text = " ".join(query or ())
    with first_index(skin):
        found = context_of(skin.memory, text, skin.asked, wanted, sync=wanted_sync)
    if receipt is not None:
        from memcli.cli import search_receipt

        record = search_receipt.make_of_context(found, skin, budget=wanted.budget)
        search_receipt.write(receipt, record, skin)
    context_output.write(found, wanted, skin, form=form, explain=explain)
    if skin.config("secrets") == "warn":
        from memcli.cli.secret_warnings import warn_of_secrets

        parts = found.assembled.parts
        warn_of_secrets(skin, ((part.excerpt.about.citation, part.text) for part in parts))
    return ExitCode.OK
