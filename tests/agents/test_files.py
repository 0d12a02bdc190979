"""`memcli agents export` prints what install writes, and --to writes a plugin."""

from __future__ import annotations

import json
import re

import pytest

from memcli.agents.table import BY_NAME, NAMES, PARTS, USER
from memcli.agents.texts import quoted
from tests.agents.conftest import Site
from tests.cli import processes


@pytest.mark.parametrize("name", NAMES)
def test_the_very_files_are_printed_and_nothing_is_written(site: Site, name: str) -> None:
    before = site.tree()
    printed = site.type(f"agents export {name}")
    assert (printed.code, printed.err, site.tree()) == (0, "", before)
    for part in PARTS:
        place = BY_NAME[name].place(part, USER)
        if place is None:
            continue
        site.type(f"agents install {name} --scope user --with {part} --apply")
        path = place.shown.removeprefix("~/").replace(".config/", "config/")
        file = site.home / (f"{path}SKILL.md" if path.endswith("/") else path)
        text = file.read_text()
        assert place.shown in printed.out
        assert f"````\n{text}````\n" in printed.out
        site.type(f"agents uninstall {name} --apply")


def test_a_plugin_is_its_own_marketplace(site: Site) -> None:
    said = site.type("agents export claude-code --to ~/plugin")
    root = site.home / "plugin"
    assert (said.code, said.out) == (0, "")
    assert said.err == (
        f"Wrote the plugin to {root}. To install it:\n"
        f"  claude plugin marketplace add {root}\n"
        "  claude plugin install memcli@memcli\n"
    )
    files = {str(p.relative_to(root)): p.read_text() for p in root.rglob("*") if p.is_file()}
    assert set(files) == {
        ".claude-plugin/marketplace.json", ".claude-plugin/plugin.json", ".mcp.json",
        "hooks/hooks.json", "skills/memcli/SKILL.md",
    }  # fmt: skip
    [listed] = json.loads(files[".claude-plugin/marketplace.json"])["plugins"]
    manifest = json.loads(files[".claude-plugin/plugin.json"])
    assert (listed["name"], listed["source"]) == (manifest["name"], "./")
    printed = site.type("agents export claude-code").out
    for path, text in files.items():
        assert f"{path}\n````\n{text}````\n" in printed
    site.type("agents install claude-code --with mcp,hooks --apply")
    for path, file in (("hooks/hooks.json", "settings.json"), (".mcp.json", "../.claude.json")):
        assert json.loads(files[path]) == json.loads((site.home / ".claude" / file).read_text())
    assert site.type(f"agents export claude-code --to {root}").code == 0


def test_a_plugin_of_openclaw_has_a_manifest_and_its_hooks(site: Site) -> None:
    said = site.type("agents export openclaw --to ~/plugin")
    root = site.home / "plugin"
    assert said.err.split("\n")[1:] == [
        f"  openclaw plugins install --link {root} --force --accept-capabilities",
        "  openclaw config set plugins.entries.memcli.hooks.allowConversationAccess true",
        "",
    ]
    files = {str(p.relative_to(root)): p.read_text() for p in root.rglob("*") if p.is_file()}
    assert set(files) == {"package.json", "openclaw.plugin.json", "index.js",
                          "skills/memcli/SKILL.md"}  # fmt: skip
    (script,) = json.loads(files["package.json"])["openclaw"]["extensions"]
    assert script == "./index.js"
    assert json.loads(files["openclaw.plugin.json"])["id"] == "memcli"
    workspace = str(site.home / ".openclaw/workspace")
    assert _constants(files["index.js"])[1] == ["--for", "openclaw", "-w", workspace]


def test_the_command_in_a_script_answers_as_the_script_reads_it(site: Site) -> None:
    site.type("agents install opencode --with hooks --apply")
    [file] = site.home.rglob("plugins/memcli.js")
    program, options = _constants(file.read_text())
    assert program == [str(site.program)]
    notes = site.write("notes/MEMORY.md", "# Notes\n\n- We deploy the okapi on Tuesdays.\n")
    sent = {"session_id": "s", "cwd": str(notes.parent), "source": "startup"}
    done = processes.run("hook", "session-start", *options, input=json.dumps(sent))
    answer = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert "okapi" in answer


def _constants(script: str) -> tuple[list[str], list[str]]:
    """Read the program that a script runs, and the options that follow the event."""
    program, options = re.findall(r"^const (?:MEMCLI|OPTIONS) = (.*);$", script, re.MULTILINE)
    return json.loads(program), json.loads(options)


def test_a_plugin_takes_the_place_of_nothing(site: Site) -> None:
    mine = site.write("plugin/hooks/hooks.json", "{}")
    before = site.tree()
    said = site.type(f"agents export claude-code --to {site.home}/plugin")
    assert (said.code, site.tree()) == (2, before)
    assert said.err == (
        f"memcli: {mine} already exists with other content\n"
        f"Try: memcli agents export claude-code --to {site.home}/plugin-2\n"
    )


def test_a_command_line_is_quoted_for_its_system() -> None:
    assert quoted(("/opt/a b/memcli", "mcp")) == "'/opt/a b/memcli' mcp"
    assert quoted((r"C:\a b\memcli.exe", "mcp")) == r'"C:\a b\memcli.exe" mcp'
