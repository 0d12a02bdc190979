"""Entries go into settings and come out again, and no other byte is touched."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.agents import UnfitError, edits
from memcli.agents.edits import JSON, JSON5, MARKDOWN, TOML, AgentEntry
from memcli.agents.json_edit import AddedSpace, Slot
from memcli.agents.json_read import content_of, read

SERVER = '{"type": "stdio", "command": "/opt/a b/memcli", "args": ["mcp"]}'
HOOK = '{"hooks": [{"type": "command", "command": "/opt/memcli", "args": ["hook", "stop"]}]}'
MEMBER = AgentEntry(JSON, Slot(("mcpServers", "memcli")), SERVER)
TABLE = AgentEntry(
    TOML, Slot(("mcp_servers", "memcli")), '[mcp_servers.memcli]\ncommand = "/opt/m"\n'
)
BLOCK = AgentEntry(MARKDOWN, Slot(()), "Before you answer, search.\n")


def item(event: str, json_format: str = JSON) -> AgentEntry:
    return AgentEntry(json_format, Slot(("hooks", event), is_item=True), HOOK)


# What agents call their settings, so that an entry often meets what it needs.
KEYS = st.sampled_from(
    ["mcpServers", "hooks", "Stop", "SessionStart", "mcp", "servers", "a", "ключ", "", 'a"b', "//"]
)
SPACES = st.sampled_from(
    ["", " ", "\n", "\n  ", "\n\t", "\r\n  ", "  ", "/* c */", " // c\n", "\n// \"a\": {\n  ",
     "/* \n */", "\n/* a */ /**/\n"]
)  # fmt: skip
SCALARS = st.one_of(
    st.sampled_from(["true", "false", "null", "0", "-1.50", "1e5", "12345678901234567890", '""']),
    st.text(max_size=8).map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.sampled_from(['"\\u00e9\\/"', '"// no comment"', '"/*"', '"\\ud83d\\ude00"']),
)


@st.composite
def documents(draw: st.DrawFn, depth: int = 3, *, only_objects: bool = True) -> str:
    """Write JSON with comments, trailing commas and any layout."""
    kind = "object" if only_objects else draw(st.sampled_from(["scalar", "array", "object"]))
    if kind == "scalar" or (depth == 0 and not only_objects):
        return draw(SCALARS)
    entries = []
    keys: list[str | None] = [None] * draw(st.integers(0, 2))
    if kind == "object":
        keys = list(draw(st.lists(KEYS, max_size=3, unique=True)))
    for key in keys:
        # An entry of memcli needs objects on its way, and lists below the hooks.
        inner = draw(documents(depth - 1, only_objects=key in ("mcpServers", "hooks")))
        if key in ("Stop", "SessionStart"):
            inner = f"[{draw(SPACES)}{inner}{draw(SPACES)}]"
        name = "" if key is None else json.dumps(key, ensure_ascii=False) + draw(SPACES) + ":"
        entries.append(draw(SPACES) + name + draw(SPACES) + inner + draw(SPACES))
    comma = "," if bool(entries) and draw(st.booleans()) else ""
    left, right = "{}" if kind == "object" else "[]"
    return left + ",".join(entries) + comma + draw(SPACES) + right


@st.composite
def files(draw: st.DrawFn) -> str:
    mark = draw(st.sampled_from(["", "", "\ufeff"]))
    return mark + draw(SPACES) + draw(documents()) + draw(SPACES)


Added = tuple[AgentEntry, AddedSpace]


def added(text: str | None, entry: AgentEntry) -> tuple[str, Added]:
    made, space = edits.put(text, entry)
    return made, (entry, space)


def put_all(text: str, entries: list[AgentEntry]) -> tuple[str, list[Added]]:
    puts = []
    for entry in entries:
        assert edits.entry_state(text, entry) == "absent"
        text, put = added(text, entry)
        assert edits.entry_state(text, entry) == "same"
        puts.append(put)
    return text, puts


def take(text: str, put: Added) -> str:
    left = edits.take(text, *put)
    assert left is not None
    return left


def take_all(text: str, puts: list[Added]) -> str:
    for put in reversed(puts):
        text = take(text, put)
        assert edits.entry_state(text, put[0]) == "absent"
    return text


ENTRIES = st.permutations([MEMBER, item("Stop"), item("SessionStart"), item("UserPromptSubmit")])


@given(files(), ENTRIES)
def test_what_is_put_into_json_and_taken_out_leaves_every_byte(
    text: str, entries: list[AgentEntry]
) -> None:
    before = read(text, is_json5=False).content
    try:
        made, puts = put_all(text, entries)
    except UnfitError:  # a scalar, or the same key twice, is where an object belongs
        return
    assert read(made, is_json5=False).content != before
    assert take_all(made, puts) == text


@given(files())
def test_a_strict_file_stays_strict(text: str) -> None:
    """What Python's own reader takes, it takes with the entry in it."""
    try:
        plain: dict[str, Any] = json.loads(text)
        made, _ = edits.put(text, MEMBER)
    except (ValueError, UnfitError):
        return
    wanted = {**plain, "mcpServers": {**plain.get("mcpServers", {}), "memcli": json.loads(SERVER)}}
    assert json.loads(made) == wanted


@given(files(), st.sampled_from(["before", "behind", "around"]))
def test_edits_around_an_entry_stay(text: str, where: str) -> None:
    try:
        made, put = added(text, MEMBER)
    except UnfitError:
        return
    servers = next(c for c in read(made, is_json5=False).children if c.key == "mcpServers")
    ours = next(child for child in servers.children if child.key == "memcli")
    if where == "before":
        edited = made[: ours.start] + '"new": [1], ' + made[ours.start :]
    elif where == "behind":
        edited = made[: ours.end] + ', "new": [1]' + made[ours.end :]
    else:
        edited = "/* by hand */ " + made.lstrip("\ufeff") + "\n// and here\n"
    left = take(edited, put)
    assert "memcli" not in left
    if where == "around":
        assert left == "/* by hand */ " + text.lstrip("\ufeff") + "\n// and here\n"
    else:
        found = next(c for c in read(left, is_json5=False).children if c.key == "mcpServers")
        assert ("new", ("array", (("literal", "1"),))) in found.content[1]


LAYOUTS = [
    ("{}", '{\n  "mcpServers": {\n    "memcli": [1]\n  }\n}'),
    ('{"x": 1}', '{"x": 1, "mcpServers": {"memcli": [1]}}'),
    ('{"mcpServers": {}}', '{"mcpServers": {"memcli": [1]}}'),
    (
        '{\n    "x": 1\n}\n',
        '{\n    "x": 1,\n    "mcpServers": {\n        "memcli": [1]\n    }\n}\n',
    ),
    (
        '{\n\t"mcpServers": {\n\t\t"o": {}, // mine\n\t},\n}',
        '{\n\t"mcpServers": {\n\t\t"o": {}, // mine\n\t\t"memcli": [1],\n\t},\n}',
    ),
    (
        '{\r\n  "mcpServers": {\r\n    "o": {} // mine\r\n  }\r\n}',
        '{\r\n  "mcpServers": {\r\n    "o": {}, // mine\r\n    "memcli": [1]\r\n  }\r\n}',
    ),
    ("{ // none\n}", '{ // none\n  "mcpServers": {\n    "memcli": [1]\n  }\n}'),
]


@pytest.mark.parametrize(("before", "after"), LAYOUTS)
def test_an_entry_keeps_to_the_layout(before: str, after: str) -> None:
    made, put = added(before, MEMBER._replace(text="[1]"))
    assert made == after
    assert take(made, put) == before


@pytest.mark.parametrize("text", ["{}", '{"a": 1}', '{\n@"a": 1\n@}', '{"hooks": {"Stop": []}}'])
def test_an_indent_as_wide_as_a_file_is_not_repeated_on_every_line(text: str) -> None:
    wide = " " * 100_000
    before = wide + text.replace("@", wide)
    for entry in (MEMBER, item("Stop")):
        after, put = added(before, entry)
        assert len(after) < len(before) + 2000
        assert edits.take(after, *put) == before


def test_an_entry_of_json5_keeps_what_json5_allows() -> None:
    text = (
        "// mine\n{\n  mcp: {\n    servers: {\n      'o': {x: +.5, y: 0xFF, s: 'it\\'s',},\n"
        "    },\n  },\n}\n"
    )
    entry = AgentEntry(JSON5, Slot(("mcp", "servers", "memcli")), SERVER)
    with pytest.raises(UnfitError, match="is not JSON at line 3"):
        edits.put(text, entry._replace(format=JSON))
    made, put = added(text, entry)
    assert made.startswith(text[: text.index("    },\n  },")])
    assert made.endswith("      },\n    },\n  },\n}\n")
    assert take(made, put) == text


TABLES = st.sampled_from(
    ['model = "o3"', "[mcp_servers.other]\ncommand = 'x'", "# a comment", "", "[features]",
     "x = [\n  1, # one\n]", 'text = """\n# memcli:\n"""', "[[profiles]]\nnan = nan", "\t"]
)  # fmt: skip


@given(
    st.lists(TABLES, max_size=6, unique=True),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n", "\n\n"]),
)
def test_what_is_put_into_toml_and_taken_out_leaves_every_byte(
    lines: list[str], end: str, last: str
) -> None:
    text = ("\n".join(lines) + last).replace("\n", end)
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        with pytest.raises(UnfitError, match="is not TOML"):
            edits.put(text, TABLE)
        return
    made, put = added(text, TABLE)
    assert made.startswith(text)
    assert edits.entry_state(made, TABLE) == "same"
    assert take(made, put) == text
    more = made + f'[mcp_servers.later]{end}command = "x"{end}'
    assert take(more, put).startswith(text)
    assert "memcli" not in take(more, put).replace("# memcli:", "")
    with pytest.raises(UnfitError, match="more in the table"):
        take(made + "enabled = false\n", put)


@given(st.text(alphabet="ab \n\r#`é", max_size=40))
def test_what_is_put_into_markdown_and_taken_out_leaves_every_byte(text: str) -> None:
    made, put = added(text, BLOCK)
    assert made.startswith(text)
    assert take(made, put) == text
    left = take(made + "More.\n", put)
    assert left.startswith(text)
    assert left.endswith("More.\n")
    assert left.splitlines()[-1] == "More."


@pytest.mark.parametrize(
    ("entry", "text", "why"),
    [
        (MEMBER, '{"mcpServers": []}', "needs an object at mcpServers"),
        (MEMBER, '{"mcpServers": {}, "mcpServers": {}}', 'the key "mcpServers" more than once'),
        (MEMBER, '{"a": 1,, }', "not JSON at line 1"),
        (MEMBER, '{"a": 1 "b": 2}', "not JSON at line 1"),
        (MEMBER, "{\n'a': 1}", "not JSON at line 2"), (MEMBER, '{"a": 01}', "not JSON at line 1"),
        (MEMBER, '{"a": 1} x', "not JSON at line 1"), (MEMBER, "{\n/* \n", "not JSON at line 2"),
        (MEMBER, "[]", "needs an object at the whole of it"),
        (MEMBER, '{"a": ' + "[" * 300 + "]" * 300 + "}", "nested more than 200 levels"),
        (item("Stop"), '{"hooks": {"Stop": {}}}', "needs a list at hooks.Stop"),
        (TABLE, "a = ", "is not TOML"), (TABLE, 'mcp_servers = {a = "b"}', "is not TOML"),
        (TABLE, "# memcli: end\n", "marks of memcli that make no pair"),
        (BLOCK, "<!-- memcli: begin -->\n" * 2, "marks of memcli that make no pair"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(entry: AgentEntry, text: str, why: str) -> None:
    with pytest.raises(UnfitError, match=why):
        edits.put(text, entry)


@pytest.mark.parametrize("entry", [MEMBER, item("Stop"), TABLE, BLOCK], ids=lambda e: e.format)
def test_what_was_edited_is_not_taken_out(entry: AgentEntry) -> None:
    made, put = added("", entry)
    for old, new in (("/opt", "/usr"), ("Before", "After")):
        made = made.replace(old, new)
    with pytest.raises(UnfitError):
        edits.take(made, *put)


@pytest.mark.parametrize("text", [None, "", " \n"])
@pytest.mark.parametrize("entry", [MEMBER, item("Stop")], ids=["member", "item"])
def test_where_there_was_nothing_an_empty_object_is_left(
    text: str | None, entry: AgentEntry
) -> None:
    made, put = added(text, entry)
    assert edits.is_bare(take(made, put), entry)


def test_numbers_keep_their_spelling_and_keys_their_order() -> None:
    assert content_of('{"b": 1.0, "a": 1}') != content_of('{"a": 1, "b": 1.0}')
    assert content_of('{"a": 1}') != content_of('{"a": 1.0}')
    assert content_of('{"a": "1"}') != content_of('{"a": 1}')
