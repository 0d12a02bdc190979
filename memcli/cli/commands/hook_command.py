"""`memcli hook`: what an agent runs when a session starts, at each prompt, and at the end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

from memcli.checking import Any
from memcli.cli import options as rows
from memcli.cli.command_context import CommandContext, command_context
from memcli.cli.hook_reply import COLLECTING_SECONDS, LIMIT_SECONDS, REPLY
from memcli.cli.options import CommandArgument, Option, Options
from memcli.config.keys import nearest
from memcli.config.settings import Config, cache_folder
from memcli.errors import MemcliError, NotFoundError, UsageError
from memcli.hook.agents import AGENTS, EVENTS, SILENCE, HookEvent, read_event, read_object, reply
from memcli.hook.session import (
    CHECKED,
    KEPT,
    READ,
    SUGGESTED,
    WISHED,
    SessionFile,
    line_keys,
    prune,
    session_before,
    session_path,
)
from memcli.record import Record
from memcli.render.sanitize import visible_line
from memcli.types import OPEN_SCOPES, Filters, memory_path

# Limits of the work on the index in a hook; a search does more.
BOUNDS = {"sync.seconds": 0.3, "sync.segments": 16, "sync.first": 50}
MOST_TRANSCRIPT = 64 << 20  # characters
SHOWN_NAME = 40  # shown characters of an unknown event
_AT_A_TERMINAL = "a hook is run by an agent, which writes one JSON object to stdin"
_KEEPS = 'memcli remember "TEXT" keeps it for later sessions.'
_BEFORE_COMPACTING = f"Should later sessions know anything from this conversation? {_KEEPS}"
_AFTER_A_WISH = f"You have said how you want things done. {_KEEPS}"


ARGUMENTS = (
    CommandArgument(
        "event", "EVENT", "The event: session-start, prompt, pre-compact or stop.", is_required=True
    ),
)
OPTIONS = (
    Option("--for", "The agent that runs the hook.", "AGENT", default="claude-code",
        choices=tuple(AGENTS), attribute="agent"),
    Option("--budget", "Maximum tokens that are added to the conversation.", "TOKENS", int,
        shown_default="context.budget, or 600 for a prompt", least=1),
    *rows.SEVERAL,
)  # fmt: skip


def run(options: Options) -> int:
    """Answer an agent's hook: read JSON from stdin, write JSON to stdout, exit 0.

    The agent runs this command. Its settings are in: memcli help hook

    Examples: memcli hook prompt      memcli hook session-start --for codex
    """
    REPLY.take()
    is_collecting = options.event in ("pre-compact", "stop")
    seconds = max(LIMIT_SECONDS, COLLECTING_SECONDS) if is_collecting else LIMIT_SECONDS
    cut_off = f"memcli hook: cut off after {seconds} seconds\n"
    REPLY.limit(seconds, "" if options.quiet else cut_off)
    if options.event not in EVENTS:
        raise UsageError(
            f"a hook is one of {', '.join(EVENTS)}, not {options.event!r}",
            hint=f"memcli hook {nearest(options.event, EVENTS)}",
        )
    line = HookLine(options)
    try:
        REPLY.write(_answer(options.event, line))
    except MemcliError as error:
        from memcli.render.reasons import sentence

        line.say(sentence(error.reason))
    return REPLY.settle()


class HookLine(Record):
    """The command line of a hook."""

    options: Options

    def open(self, event: HookEvent) -> CommandContext:
        """Open the workspace of a conversation, with little time to update its index.

        It is the named one, or else that of the agent's folder, or of its project.
        """
        here = event.folder if os.path.isabs(event.folder) and os.path.isdir(event.folder) else None
        here = here or os.environ.get("CLAUDE_PROJECT_DIR") or None
        command = command_context(self.options, here=here)
        memory = command.memory.having(_bounded)
        is_attached = not memory.members and memory.lead.store.local_fallback() is not None
        if not (command.config.is_marked or memory.members or is_attached or memory.store.exists()):
            raise NotFoundError(
                f"{command.config.workspace} is not a workspace, and memcli does not index it",
                hint="memcli init",
            )
        return command._replace(memory=memory)

    def session(self, event: HookEvent, command: CommandContext) -> SessionFile | None:
        """Return the file of a conversation; None if it has no name."""
        if not event.session:
            return None
        path = session_path(
            sessions_folder(), self.options.agent, command.config.workspace, event.session
        )
        return SessionFile(path, os.urandom(8).hex())

    def say(self, text: str) -> None:
        """Print why the hook returns no text."""
        if not self.options.quiet:
            sys.stderr.write(f"memcli hook: {visible_line(text)}\n")

    def nothing(self, why: str) -> str:
        """Return the empty text, and with --verbose print why."""
        if self.options.verbose:
            self.say(f"nothing to add: {why}")
        return ""


def sessions_folder() -> str:
    """Return the folder with a file for each session."""
    return os.path.join(cache_folder(os.environ), "hooks")


def _bounded(config: Config) -> Config:
    """Limit the work to the time of a hook."""
    return config.having({name: min(config(name), most) for name, most in BOUNDS.items()})


def _answer(event: str, line: HookLine) -> Mapping[str, Any]:
    sent = _read(event, line)
    if sent is None:
        return SILENCE
    return reply(line.options.agent, sent, ANSWERS[event](sent, line))


def _read(event: str, line: HookLine) -> HookEvent | None:
    try:
        if os.isatty(0):
            line.say(_AT_A_TERMINAL)
            return None
        record = read_object(lambda size: os.read(0, size))
    except OSError:  # stdin is closed
        record = {}
    sent = read_event(line.options.agent, event, record)
    if sent is None:
        name = record["hook_event_name"][:SHOWN_NAME]
        line.say(f"{name!r} is not what {line.options.agent} runs {event} at")
    return sent


def _session_start(event: HookEvent, line: HookLine) -> str:
    """Return the context of a new session; a resumed session has it already."""
    from memcli.api.assemble import session_start, sharing_of
    from memcli.context.assemble import check_shares
    from memcli.context.parts import markdown
    from memcli.hook.notes import keys_of

    command = line.open(event)
    folder, now_ns = sessions_folder(), command.memory.clock.now_ns()
    prune(folder, now_ns)
    session = line.session(event, command)
    if session and not session.starts(event.source, now_ns):
        return line.nothing("another hook has answered this start")
    if session and event.source in ("clear", "compact"):
        session.forget()
    if session and event.source == "resume" and session.has_shown():
        return line.nothing("the resumed session has its context")
    config = command.config
    if line.options.budget is not None:
        config = config.having({"context.budget": line.options.budget})
    before = session_before(folder, command.config.workspace, event.session, now_ns)
    sharing = check_shares(sharing_of(config))
    made = session_start(command.memory, command.question_time, sharing, since_ns=before).assembled
    if not made.parts:
        return line.nothing("the memory has no notes that may be shown unasked")
    if session:
        session.claim({k for part in made.parts for k in keys_of(part.excerpt.about, part.text)})
    return markdown(made.parts, notice=made.notice)


def _prompt(event: HookEvent, line: HookLine) -> str:
    """Return notes for a prompt that they surely answer."""
    from memcli.hook.prompts import has_subject, is_wish, query_of

    text = query_of(event.prompt)
    if not text:
        return line.nothing("the prompt is a command, or too short")
    from memcli.api.ask import ask
    from memcli.hook.notes import BUDGET, block, deserved, fitting, is_known, keys_of, why_nothing
    from memcli.search.options import options_of
    from memcli.search.question import Question
    from memcli.store.qualified_names import private_summaries

    command = line.open(event)
    session = line.session(event, command)
    if session and is_wish(event.prompt):
        session.claim([WISHED])
    question = Question.by(command.config, text, command.question_time)
    if not has_subject(question):
        return line.nothing("the prompt is small talk")
    open_to_all = Filters(view=command.config("search.view"), scopes=OPEN_SCOPES)
    options = options_of(command.config, filters=open_to_all)
    answer = ask(command.memory, question, options).answer
    worthy = deserved(question, answer)
    if not worthy:
        return line.nothing(why_nothing(question, answer))
    if any(passage.about.is_summary for passage in worthy):
        with command.memory.store.snapshot() as snapshot:
            hidden = private_summaries(snapshot) or frozenset()
        worthy = [
            passage for passage in worthy if memory_path(*passage.about.document) not in hidden
        ]
        if not worthy:
            return line.nothing("the passages are summaries of private notes")
    claimed = session.claimed() if session else {}
    if claimed is None:
        return line.nothing("the session has been shown too much to keep track of")
    passages = fitting(worthy, claimed, budget=line.options.budget or BUDGET)
    if session:
        hashes = {key for passage in passages for key in keys_of(passage.about, passage.text)}
        lost = hashes - session.claim(hashes - set(claimed))
        passages = [passage for passage in passages if not is_known(passage, lost)]
    return block(passages) or line.nothing("the session has been shown these passages")


def _end(event: HookEvent, line: HookLine) -> str:
    """Collect facts before a conversation is shortened, or when the agent stops.

    If that is off, suggest once per session to save what the person wished for or knows.
    """
    command, is_stop = line.open(event), event.event == "stop"
    session = line.session(event, command)
    if session is None:
        return line.nothing("the agent has not named its session")
    if not is_stop:
        session.forget()
    if _captures(event, command):
        return _captured(event, line, command, session)
    if is_stop and WISHED not in (session.claimed() or ()):
        return line.nothing("the person has stated no wish in this session")
    if command.config.is_marked and session.claim([SUGGESTED]):
        return _AFTER_A_WISH if is_stop else _BEFORE_COMPACTING
    return line.nothing("the session has had its reminder, or the folder is not a workspace")


def _captures(event: HookEvent, command: CommandContext) -> bool:
    is_on: bool = command.config("capture") != "off"
    return (
        is_on and bool(event.transcript) and command.config.is_marked and not command.memory.members
    )


def _captured(
    event: HookEvent, line: HookLine, command: CommandContext, session: SessionFile
) -> str:
    """Save facts from the new lines of the transcript; return where they are."""
    from memcli.api.capture import MOST_PER_SESSION, capture, fact_key
    from memcli.markdown.transcript import read_transcript
    from memcli.remember.capture import facts_of, read_lines

    claimed = session.claimed()
    if claimed is None:
        return ""
    try:
        with open(event.transcript, encoding="utf-8", errors="replace") as file:
            text = file.read(MOST_TRANSCRIPT)
    except OSError as error:
        line.say(f"{event.transcript} cannot be read: {error.strerror}")
        return ""
    read = [int(key.removeprefix(READ)) for key in claimed if key.startswith(READ)]
    saved = before = sum(key.startswith(KEPT) for key in claimed)
    where = "memcli changes --by agent"
    if command.config("capture") == "inbox":
        where = "memcli inbox"
    turns = [*read_transcript(text, after=max(read, default=0))]
    facts = [each for each in facts_of(turns) if f"{CHECKED}{fact_key(each)}" not in claimed]

    def message(rest: str) -> str:
        return _saved_notes(saved - before, saved, rest, where)

    # If the time ends, the next run checks the facts that are left.
    REPLY.otherwise(reply(line.options.agent, event, message(_unchecked(len(facts)))))
    name, room = os.path.basename(event.transcript), MOST_PER_SESSION - saved
    captured = capture(command.workspace, facts, name, room=room, now=command.moment)
    left = len(facts)
    for left, (key, note) in zip(range(len(facts) - 1, -1, -1), captured, strict=False):
        keys = [f"{CHECKED}{key}"]
        if note.stored:
            keys += (f"{KEPT}{key}" for key in line_keys("", note.path, [note.text]))
            saved += 1
        session.claim(keys)
        REPLY.otherwise(reply(line.options.agent, event, message(_unchecked(left))))
    session.claim([f"{READ}{read_lines(turns, text.count(chr(10)))}"])
    limit = f"a session saves at most {MOST_PER_SESSION} notes"
    if saved == before:
        is_full = bool(facts) and room <= 0
        return line.nothing(limit if is_full else "no line of the transcript is worth saving")
    return message(f"{left} left out, because {limit}" if left else "")


def _saved_notes(now: int, in_all: int, rest: str, where: str) -> str:
    """Say how many notes of a session were saved, and what became of the rest of its facts."""
    notes = f"memcli saved {now} note{'s' * (now != 1)} of this session"
    parts = filter(None, (notes, f"{in_all} so far" if in_all > now else "", rest))
    review = f" To review: {where}" if in_all else ""
    return f"{', '.join(parts)}.{review}" if now or rest else ""


def _unchecked(left: int) -> str:
    return f"{left} more to check at the next stop" if left else ""


ANSWERS: Mapping[str, Callable[[HookEvent, HookLine], str]] = {
    "session-start": _session_start,
    "prompt": _prompt,
    "pre-compact": _end,
    "stop": _end,
}
