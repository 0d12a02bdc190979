"""Citations on a terminal are links to the line, by a template of the user's own."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from tests.cli.processes import on_terminal, run
from tests.context.makers import put

SEARCH = ("search", "pool", "--mode", "keyword", "-q")
LINK = re.compile(r"\x1b]8;;([^\x1b]*)\x1b\\(.*?)\x1b]8;;\x1b\\")


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("FORCE_HYPERLINK", "1")
    folder = put(tmp_path / "my notes", {"MEMORY.md": "# Ports\n\n## Pool\n\nThe pool\n"})
    monkeypatch.chdir(folder)
    return folder


def _links(**environ: str) -> list[tuple[str, str]]:
    shown = on_terminal(*SEARCH, **environ)
    return [(url, re.sub(r"\x1b\[[\d;]*m", "", text)) for url, text in LINK.findall(shown)]


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("", "file://{host}{path}"),
        ("file", "file://{host}{path}"),
        ("vscode", "vscode://file{path}:1"),
        ("cursor", "cursor://file{path}:1"),
        ("zed", "zed://file{path}:1"),
        ("kitty", "file://{host}{path}#1"),
        ("editor://open?file={path}&line={line}", "editor://open?file={path}&line=1"),
    ],
)
def test_a_citation_links_to_its_line(notes: Path, value: str, url: str) -> None:
    path = str(notes / "MEMORY.md").replace(" ", "%20")
    links = _links(MEMCLI_TERMINAL_HYPERLINK=value)
    assert links == [(url.format(host=socket.gethostname(), path=path), "MEMORY.md:1-5")]


def test_none_links_nothing_and_a_pipe_never_holds_a_link(notes: Path) -> None:
    assert _links(MEMCLI_TERMINAL_HYPERLINK="none") == []
    assert _links(FORCE_HYPERLINK="0") == []
    assert "\x1b]8" not in run(*SEARCH, "--color", "always").stdout


def test_your_own_file_sets_it_and_a_workspace_s_cannot(notes: Path, tmp_path: Path) -> None:
    text = "[terminal]\nhyperlink = 'zed'\n"
    put(tmp_path / "config", {"memcli/config.toml": text})
    assert [url.partition(":")[0] for url, _ in _links()] == ["zed"]
    (notes / "memcli.toml").write_text(text.replace("zed", "https://example.com{path}"))
    done = run(*SEARCH)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"memcli: {notes}/memcli.toml: terminal.hyperlink is allowed only in your own "
        f"configuration\nTry: move it to {tmp_path}/config/memcli/config.toml\n"
    )
