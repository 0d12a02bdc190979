"""What other programs send or leave behind, fed to those who read it; an error is a finding.

The bytes of an index are no target here: `tests.benchmarks.damage` changes each page and each cell.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from math import isclose
from struct import unpack
from typing import Any

from memcli.agents import UnfitError, blocks, json_edit
from memcli.agents.json_edit import Slot
from memcli.bench import replay
from memcli.bench.compare import compare, read_sets
from memcli.bench.runs import read_run
from memcli.config import settings
from memcli.config.keys import BY_NAME
from memcli.embedding.encoders import Endpoint
from memcli.embedding.endpoint import EndpointEncoder
from memcli.embedding.rerankers import Reranking, ServerReranker
from memcli.embedding.server import message
from memcli.errors import MemcliError, UsageError
from memcli.history import commits, differences, tree
from memcli.history.git import GitObject
from memcli.hook.agents import AGENTS, EVENTS, read_event, read_object, reply
from memcli.hook.prompts import is_wish, query_of
from memcli.hook.session import _owners as owners
from memcli.markdown.parse import parse
from memcli.mcp import definitions
from memcli.mcp.calls import Cursor
from memcli.mcp.pipes import whole
from memcli.remember.block import Note, cleaned, place
from memcli.render import template as templates
from memcli.secrets.finding import find_secrets, redacted

KEY = "sk-very-secret-7f3a"
KEYS = ("citation", "date", "heading_path", "score", "text")
DIMENSION = 4


def any_text(data: bytes) -> str:
    """Read any bytes as text, half surrogates among it, as the system reads arguments."""
    return data.decode("utf-8", "surrogateescape")


def tried(work: Callable[..., Any], *given: Any, **named: Any) -> tuple[Any, MemcliError | None]:
    """Give what a call gives, or the error that it is refused with."""
    try:
        return work(*given, **named), None
    except MemcliError as error:
        return None, error


def secret(data: bytes) -> None:
    """Secrets are found in order and apart; without them a text has the lines that it had."""
    text = any_text(data)
    at = 0
    found = find_secrets(text)
    for each in found:
        assert at <= each.start < each.end <= len(text)
        at = each.end
    left = redacted(text)
    assert left.count("\n") == text.count("\n")
    assert (left == text) == (not found)
    for each in found:
        assert f"[secret: {each.kind}]" in left


def template(data: bytes) -> None:
    """A template is filled on one line for each of its own, or refused."""
    text = any_text(data)
    head, _, value = text.partition("\0")
    made, error = tried(templates.parse, head, KEYS)
    if error:
        assert error.hint
        return
    record = dict.fromkeys(KEYS, value) | {"heading_path": [value, value], "score": 0.5}
    filled = made.filled(record, lambda text: text.replace("\n", " "))
    own = sum(piece.count("\n") for piece, is_key in made.pieces if not is_key)
    assert filled.count("\n") == own
    assert filled.endswith(("\n", "\0"))
    assert set(made.keys) <= set(KEYS)


def hook(data: bytes) -> None:
    """Whatever an agent sends is answered with an object of JSON in UTF-8, or refused."""
    rest = iter((data[: len(data) // 2], data[len(data) // 2 :], b""))
    try:
        told = read_object(lambda size: next(rest, b""))
    except UsageError:
        return
    for agent in AGENTS:
        for event in EVENTS:
            given = read_event(agent, event, told)
            if given is not None:
                text = query_of(given.prompt)
                is_wish(given.prompt)
                answer = reply(agent, given, text)
                json.dumps(answer, ensure_ascii=False).encode()
    owners(any_text(data))


def mcp(data: bytes) -> None:
    """A message of a client stays one line; arguments are of their kinds, or refused by name."""
    line = whole(data.decode("utf-8", "replace").replace("\n", " ") + "\n")
    assert line.count("\n") == 1
    line.encode()
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        return
    given = given if isinstance(given, dict) else {"query": given, "budget": given, "path": given}
    for tool in definitions.tools_of(("home", "work"), writes=True):
        for arguments in (given, {name: given.get(name) for name in ("query", "path", "text")}):
            known = {name: arguments.get(name) for name in tool.schema["properties"]}
            for asked in (arguments, known):
                try:
                    read = definitions.read(tool.name, tool.arguments, asked)
                except UsageError as error:
                    str(error).encode("utf-8", "replace")
                    continue
                assert read.keys() == {each.name for each in tool.arguments}
                if isinstance(read.get("cursor"), str):
                    _go_on(read["cursor"])


def _go_on(text: str) -> None:
    here = Cursor.of("3", ["why"])
    try:
        moved = here.moved_to(text)
    except UsageError:
        return
    assert here.moved_to(moved.text) == moved


def configuration(data: bytes) -> None:
    """The file of a workspace gives settings within their bounds, or an error with its name."""
    config, error = tried(settings.load, "/nowhere/at/all", {}, {}, own=data)
    if error:
        assert error.hint
        assert len(error.message) < 1000
        return
    for name, found in config.values.items():
        key = BY_NAME[name]
        assert type(found.value) is key.type
        assert found.origin == "default" or not key.user_only
    json.dumps({name: found.value for name, found in config.values.items()})
    for source in config.sources:
        assert "\0" not in source.root


@cache
def _servers() -> tuple[EndpointEncoder, ServerReranker]:
    where: dict[str, Any] = {"url": "http://127.0.0.1:9/v1", "model": "m", "key": lambda: KEY}
    encoder = EndpointEncoder(Endpoint(**where, key_variable="KEY", dimension=DIMENSION))
    return encoder, ServerReranker(Reranking("endpoint", 1.0, **where, key_variable="KEY"))


def answer(data: bytes) -> None:
    """What a server answers is vectors of length one, or scores, or an error without the key."""
    encoder, reranker = _servers()
    encoder._answering = ""  # each answer is the first of its server
    for read in (encoder._read, reranker._read):
        found, error = tried(read, data, 2)
        if error:
            assert KEY not in error.message
            continue
        assert len(found) == 2
        for each in found:
            if isinstance(each, bytes):
                numbers = unpack(f"<{DIMENSION}f", each)
                assert isclose(sum(n * n for n in numbers), 1.0, rel_tol=1e-3)
    said = message(data.replace(b"KEY", KEY.encode()), KEY)
    assert KEY not in said
    assert "\n" not in said


def receipt(data: bytes) -> None:
    """A receipt is one that can be compared with itself, or is refused."""
    text = any_text(data)
    for read, use in (
        (replay.read, lambda found: replay.lines(replay.compare(found, found))),
        (read_run, lambda found: compare(found, found)),
        (read_sets, lambda found: [each.queries for each in found.sets.values()]),
    ):
        try:
            found = read(text, "r")
        except UsageError:
            continue
        use(found)


def agent_settings(data: bytes) -> None:
    """What is put into the settings of an agent goes without a trace, and nothing else does."""
    text = data.decode("utf-8", "replace")
    value = '{"command": "memcli", "args": ["mcp"]}'
    for is_json5 in (False, True):
        for slot in (Slot(("servers", "memcli")), Slot(("hooks", "start"), is_item=True)):
            try:
                made, trace = json_edit.put(text, slot, value, is_json5=is_json5)
            except UnfitError:
                continue
            assert json_edit.entry_state(made, slot, value, is_json5=is_json5) == "same"
            assert json_edit.take(made, slot, value, trace, is_json5=is_json5) == text
    inside = '[servers.memcli]\ncommand = "memcli"\n'
    try:
        made, lead = blocks.put_table(text, inside)
    except UnfitError:
        pass
    else:
        assert blocks.take_table(made, inside, lead) == text
    try:
        made, lead = blocks.put(text, "Search first.\n", blocks.MARKDOWN)
    except UnfitError:
        return
    assert blocks.take(made, "Search first.\n", lead, blocks.MARKDOWN) == text


def note(data: bytes) -> None:
    """Behind any file a note stands as blocks of its own, or it is refused."""
    head, _, file = data.partition(b"\0")
    said, error = tried(cleaned, any_text(head))
    if not error:
        asked = Note(said, heading="Said")
        placed, error = tried(place, file, asked, name="a.md", title="A")
    if error:
        assert error.hint
        return
    assert 1 <= placed.first_line <= placed.last_line
    assert placed.text.count("\n") == placed.last_line - placed.first_line


def repository(data: bytes) -> None:
    """A damaged tree is an error of the system, and any header of a commit has a moment."""
    try:
        for name, mode, oid in tree._parse(data, 20):
            assert name
            assert "/" not in name
            assert 0 <= mode < 1 << 18
            assert len(oid) == 40
    except OSError:
        pass
    assert commits._parsed(GitObject("0" * 40, "commit", len(data), data)).moment.tzinfo


def change(data: bytes) -> None:
    """Of two states of a document every change names lines of one of them."""
    name = ("memory", "a.md")
    before, after = (part.decode("utf-8", "replace") for part in (data + b"\0").split(b"\0", 1))
    old, new = differences.passages(name, before), differences.passages(name, after)
    learned = differences.compare({name: old}, {name: new})
    for each in learned.changes:
        assert each.old or each.new
    assert not differences.compare({name: old}, {name: old}).changes
    lines = max(len(parse(before).lines), len(parse(after).lines))
    assert all(1 <= each.start_line <= each.end_line <= lines for each in (*old, *new))


ALL = (
    secret, template, hook, mcp, configuration, answer, receipt, agent_settings, note, repository,
    change,
)  # fmt: skip
