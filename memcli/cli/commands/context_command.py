"""`memcli context`: the right memory for a prompt, within a budget of tokens."""

from __future__ import annotations

from memcli.cli.command_context import command_context, progress_of
from memcli.cli.filters import check_as_of, sync_of
from memcli.cli.options import (
    AGENT_MEMORIES,
    AS_OF,
    COMMON,
    CONTEXT_FORMATS,
    EVERYWHERE,
    FILES,
    JSON,
    TENANT,
    WORKSPACE,
    WORKSPACE_NAME,
    CommandArgument,
    Option,
    Options,
    check,
)
from memcli.errors import ExitCode

ARGUMENTS = (
    CommandArgument("query", "[QUERY]", "A question, or none for rules and new entries.", list),
)
OPTIONS = (
    Option("--budget", "Maximum tokens of the whole block.",
        "TOKENS", int, setting="context.budget"),
    Option("--tail", "Number of newest entries to include.", "COUNT", int,
        setting="context.tail"),
    Option("-f --format", "Output: markdown or json.",
        "FORM", default="markdown", choices=CONTEXT_FORMATS),
    JSON,
    Option("--explain", "Print the tokens of each part and what was left out."),
    Option("--mode", "Search by: hybrid, keyword or semantic.", "MODE", setting="search.mode"),
    Option("--profile", "Ranking: default, classic, convex or two-pass.",
        "NAME", setting="search.profile"),
    Option("--rerank", "Rerank the top 20: none, tokens, onnx or endpoint.", "BY",
        setting="search.rerank"),
    AS_OF,
    Option("--no-sync", "Do not update the index."),
    Option("--sync", "Index all changes first."),
    Option("--trace", "Write a trace, for bench replay.", "FILE", choices=FILES),
    WORKSPACE, EVERYWHERE, AGENT_MEMORIES, WORKSPACE_NAME, TENANT, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Collect notes for a prompt: rules, the newest entries, passages for a question.

    Files marked `always` are included in full. See: memcli help context

    Examples: memcli context --budget 1500      memcli context "why did the pool run dry" --json
    """
    form = "json" if options.json else options.format
    check("--format", [form], CONTEXT_FORMATS)
    wanted_sync = sync_of(options, "context")
    check_as_of(options, {"--trace": options.trace})
    command = command_context(options)

    from memcli.api.assemble import context_of, sharing_of
    from memcli.cli import context_output
    from memcli.context.assemble import check_shares

    sharing = check_shares(sharing_of(command.config))
    text = " ".join(options.query or ())
    with progress_of(command) as observe:
        found = context_of(
            command.memory, text, command.question_time, sharing, sync=wanted_sync, observe=observe
        )
    if options.trace is not None:
        from memcli.cli import traces

        record = traces.make_of_context(found, command, budget=sharing.budget)
        traces.write(options.trace, record, command)
    context_output.write(found, sharing, command, form=form, explain=options.explain)
    if command.config("secrets") == "warn":
        from memcli.cli.command_context import warn_of_secrets

        parts = found.assembled.parts
        warn_of_secrets(command, ((part.excerpt.about.citation, part.text) for part in parts))
    return ExitCode.OK
