"""Save facts from the transcript of a session, and review the saved facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from memcli.api.remember import TODAY, RememberOptions, RememberResult, forget, remember, root_of
from memcli.checking import TYPE_CHECKING
from memcli.errors import UsageError
from memcli.markdown.parse import parse
from memcli.markdown.transcript import USER
from memcli.record import Record
from memcli.remember.append import read
from memcli.types import AGENT, MEMORY_SOURCE, PRIVATE, cite
from memcli.workspace.reading import decode

if TYPE_CHECKING:
    from memcli.api.workspace import Workspace
    from memcli.remember.capture import SessionFact

INBOX = "memory/inbox.md"
MOST_PER_SESSION = 10
_TO = {"inbox": INBOX, "direct": TODAY}  # by the setting `capture`


class InboxEntry(Record):
    """A line about which the owner has not decided yet."""

    number: int  # from 1
    citation: str
    text: str


def fact_key(fact: SessionFact) -> str:
    """Return a key by which a later run knows a fact again, wherever its line is by then."""
    from memcli.digests import sha256

    return sha256(fact.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def capture(
    workspace: Workspace, facts: Sequence[SessionFact], name: str, *, room: int, now: datetime
) -> Iterator[tuple[str, RememberResult]]:
    """Save facts of the transcript `name` in their order: at most `room` notes.

    Each passes the rules of `remember`, and is saved or refused before its key is yielded.
    """
    to = _TO[workspace.config("capture")]
    scope = PRIVATE if to == INBOX else ""
    for each in facts:
        if room <= 0:
            return
        source = f"{name}:{each.line}"
        if each.role != USER:
            source = f"said by the assistant, {source}"
        wish = RememberOptions(to=to, gate=True, by=AGENT, source=source, scope=scope)
        noted = remember(workspace, each.text, wish, now)
        room -= noted.stored
        yield fact_key(each), noted


def inbox(workspace: Workspace) -> list[InboxEntry]:
    """List the lines of the inbox in their order."""
    from memcli.markdown.units import units

    text = decode(read(root_of(workspace), INBOX) or b"")
    parsed = parse("" if isinstance(text, str) else text[0])
    items = [
        unit
        for block in parsed.blocks
        if block.kind == "item"
        for unit in units(block, parsed.lines)
    ]
    return [
        InboxEntry(number, cite(MEMORY_SOURCE, INBOX, each.numbers[0], each.numbers[-1]), each.text)
        for number, each in enumerate(items, start=1)
    ]


def settle(workspace: Workspace, entry: InboxEntry, *, keep: bool, now: datetime) -> None:
    """Remove an entry from the inbox; one to `keep` goes into today's log first.

    UsageError if the entry was edited; it stays then.
    """
    if keep:
        remember(workspace, entry.text, RememberOptions(force=True), now)
    done = forget(workspace, entry.citation, by=AGENT)
    if done.reason:
        raise UsageError(
            f"{entry.citation} stays: {done.reason}", hint=f"delete the line in {INBOX}"
        )
