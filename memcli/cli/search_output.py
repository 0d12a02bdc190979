"""Write the answer of a search in the form that was asked for, and say what it rests on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memcli.search.snippet import Snippet, make_snippet

if TYPE_CHECKING:
    from memcli.cli.context import Context
    from memcli.cli.search_run import Found
    from memcli.cli.terminal import Terminal
    from memcli.indexing.freshness import Freshness
    from memcli.search.hits import Hit
    from memcli.search.pipeline import Leg

Shown = list[tuple[int, "Hit", Snippet]]


def write(found: Found, context: Context, *, form: str, full: bool, explain: bool) -> None:
    """Write the passages to stdout, then the messages to stderr."""
    terminal = context.terminal
    words = [term.text for term in found.query.sought]
    shown = [
        (rank, hit, make_snippet(hit.text, words=words, limit=len(hit.text) if full else None))
        for rank, hit in enumerate(found.answer.hits, start=1)
    ]
    if form in ("json", "jsonl"):
        _write_json(found, shown, context, form=form, full=full, explain=explain)
    elif form in ("paths", "paths0"):
        is_exact = form == "paths0" and not terminal.out_is_terminal
        for name in dict.fromkeys(hit.about.name for hit in found.answer.hits):
            terminal.write(f"{name}\0" if is_exact else terminal.safe_line(name) + "\n")
    elif form == "markdown":
        from memcli.render.markdown import passage as markdown_passage

        for _, hit, snippet in shown:
            terminal.write(terminal.safe(markdown_passage(hit, snippet)))
        for each in found.expanded:
            terminal.write(terminal.safe(markdown_passage(each.hit, Snippet(each.hit.text, ()))))
    elif terminal.out_is_terminal:
        _write_screen(found, shown, context, explain=explain)
    else:
        from memcli.render import text as plain

        for rank, hit, snippet in shown:
            terminal.write(
                plain.passage(rank, hit, snippet, style=terminal.style, safe=terminal.safe)
            )
            if explain:
                terminal.write(terminal.safe(plain.trace(hit.trace)))
        for each in found.expanded:
            terminal.write(plain.behind(each, style=terminal.style, safe=terminal.safe))
    terminal.flush()
    _say(found, context, explain=explain)


def _write_screen(found: Found, shown: Shown, context: Context, *, explain: bool) -> None:
    from memcli.render import screen
    from memcli.render.text import trace

    terminal = context.terminal
    made = screen.Screen(
        terminal.width, terminal.style, terminal.safe, context.age_days, _links(context)
    )
    for rank, hit, snippet in shown:
        terminal.write(screen.passage(rank, hit, snippet, made))
        if explain:
            terminal.write(terminal.safe(trace(hit.trace)) + "\n")
    for each in found.expanded:
        terminal.write(screen.behind(each, made))


def _links(context: Context) -> Callable[[str, str], str]:
    """Name the URL of a document where the terminal opens links.

    A source that is no longer configured has no folder, and what the index holds of it no URL.
    """
    if not context.terminal.has_links:
        return lambda source, path: ""
    import os
    import socket

    from memcli.render.screen import file_url

    roots = {source.name: source.root for source in context.config.sources}
    host = socket.gethostname()
    return lambda source, path: (
        file_url(host, os.path.join(roots[source], path)) if source in roots else ""
    )


def _write_json(
    found: Found, shown: Shown, context: Context, *, form: str, full: bool, explain: bool
) -> None:
    from memcli.render import jsonio

    results = [jsonio.result(r, h, s, full=full, explain=explain) for r, h, s in shown]
    expanded = [jsonio.lines(each) for each in found.expanded]
    if form == "jsonl":
        lines = results + expanded
    else:
        envelope = jsonio.search_envelope(
            found.query.text, results, found.freshness, found.answer, context.now
        )
        lines = [{**envelope, "expanded": expanded} if found.expanded else envelope]
    for record in lines:
        context.terminal.write(jsonio.dumps(record) + "\n")


def _say(found: Found, context: Context, *, explain: bool) -> None:
    """Say what the answer rests on where that is less than everything."""
    answer, terminal = found.answer, context.terminal
    if not say_freshness(found.freshness, terminal):
        if found.freshness.state == "empty":
            terminal.say("This workspace holds no documents yet. Try: memcli status")
        return
    say_dense(answer.dense, terminal)
    if not answer.hits:
        terminal.say("No passages found.")
    elif found.is_unsure:
        terminal.say("No sure match; these are the nearest.")
    if answer.dropped:
        more = "1 more passage" if answer.dropped == 1 else f"{answer.dropped} more passages"
        terminal.say(f"{more} did not fit the budget.")
    if (explain or terminal.verbose) and answer.lexical.ran and answer.lexical.reason:
        terminal.say(f"words: {answer.lexical.reason}")
    if terminal.verbose:
        terminal.say(
            f"{len(answer.hits)} of {answer.candidates} candidates, verdict {answer.verdict}, "
            f"index {found.freshness.state}, revision {answer.revision}"
        )
        if answer.unmatched:
            terminal.say("in no chunk: " + ", ".join(answer.unmatched))


def say_freshness(freshness: Freshness, terminal: Terminal) -> bool:
    """Say how far the index is behind; tell whether there was anything to ask."""
    for notice in freshness.notices:
        terminal.warn(notice)
    if freshness.state == "empty":
        return False
    if freshness.state == "not_indexed":
        terminal.warn(f"nothing is indexed yet ({freshness.reason}). Try: memcli search --sync")
        return False
    if freshness.state == "stale":
        reason = f" ({freshness.reason})" if freshness.reason else ""
        files = (
            "1 changed file is"
            if freshness.pending == 1
            else (f"{freshness.pending} changed files are")
        )
        terminal.warn(f"{files} not in this answer{reason}. Try: memcli index")
    return True


def say_dense(dense: Leg, terminal: Terminal) -> None:
    """Say why vectors took no part, or how many are missing."""
    if not dense.ran and dense.reason != "mode is lexical":
        terminal.warn(f"by keywords alone: {dense.reason}")
    elif dense.ran and dense.embedded < dense.total:
        terminal.warn(f"{dense.embedded} of {dense.total} texts are embedded. Try: memcli index")
