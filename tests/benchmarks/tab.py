"""Time TAB in bash, zsh and fish: from the key to the completed word on a pseudo-terminal.

    python -m tests.benchmarks.tab [WORKSPACE] [--rounds 30]

Each shell is a real interactive one without the user's own files; a shell that is not installed
is named and left out. The floor is the shell's own completion of a file name by the same way.
"""

from __future__ import annotations

import argparse
import os
import pty
import select
import shlex
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
WAIT_SECONDS = 20.0
START = {
    "bash": (["--norc", "--noprofile", "-i"], "PS1='ready> '; source {completions}/memcli.bash"),
    "zsh": (["-f", "-i"], "PS1='ready> '; fpath=({completions} $fpath); autoload -U compinit;"
            " compinit -u -D; unsetopt zle_bracketed_paste"),
    "fish": (["--no-config", "-i"], "function fish_prompt; echo -n 'ready> '; end;"
             " set -g fish_autosuggestion_enabled 0; source {completions}/memcli.fish"),
}  # fmt: skip
CASES = {
    "an option": ("memcli search --req", "uire-dense"),
    "a value": ("memcli search --profile cla", "ssic"),
    "a setting": ("memcli config watch.deb", "ounce_ms"),
    "a source": ("memcli search --source me", "mory"),
    "a document": ("memcli get US", "ER.md"),
    "a file, by the shell itself": ("cat US", "ER.md"),
}


class Shell:
    """An interactive shell on a pseudo-terminal."""

    def __init__(self, name: str, folder: Path, environ: dict[str, str]) -> None:
        options, setup = START[name]
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(name, [name, *options], environ)
        self.types(setup.format(completions=shlex.quote(str(REPOSITORY / "completions"))) + "\r")
        self.types("echo set''up\r")
        self.waits_for("setup")

    def types(self, text: str) -> None:
        os.write(self.end, text.encode())

    def waits_for(self, text: str) -> float:
        """Read until `text` was shown; give the seconds that took."""
        started, shown = time.perf_counter(), ""
        while text not in shown:
            left = WAIT_SECONDS - (time.perf_counter() - started)
            if left <= 0 or not select.select([self.end], [], [], left)[0]:
                sys.exit(f"{text!r} did not come: {shown[-200:]!r}")
            received = os.read(self.end, 65536).decode("utf-8", "replace")
            if "\x1b[0c" in received or "\x1b[c" in received:  # it asks what terminal this is
                self.types("\x1b[?62;c")
            shown += received
        return time.perf_counter() - started

    def quiet(self) -> None:
        """Read what is still to come."""
        while select.select([self.end], [], [], 0.15)[0]:
            os.read(self.end, 65536)

    def tab(self, typed: str, rest: str) -> float:
        """Type the beginning of a line, press TAB, and give the seconds until the rest is there."""
        self.types(typed)
        self.quiet()
        self.types("\t")
        seconds = self.waits_for(rest)
        self.quiet()
        self.types("\x15")
        self.quiet()
        return seconds


def _percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    notes = REPOSITORY / "fixtures" / "workspaces" / "engineer"
    parser.add_argument("workspace", type=Path, nargs="?", default=notes)
    parser.add_argument("--rounds", type=int, default=30)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "memcli"
        program.write_text(
            f'#!{sys.executable}\nimport sys\nsys.path.insert(0, "{REPOSITORY}")\n'
            "from memcli.cli.main import main\nmain()\n"
        )
        program.chmod(0o755)
        environ = {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": folder, "LANG": "C.UTF-8",
                   "TERM": "xterm"}  # fmt: skip
        for name in START:
            if shutil.which(name) is None:
                print(f"{name}: not installed")
                continue
            shell = Shell(name, wanted.workspace, environ)
            for what, (typed, rest) in CASES.items():
                times = [shell.tab(typed, rest) * 1000 for _ in range(wanted.rounds)]
                print(f"{name:<5} {what:<28} p50 {statistics.median(times):6.1f} ms"
                      f"   p95 {_percentile(times, 0.95):6.1f} ms", flush=True)  # fmt: skip
            shell.types("\x15exit\r")
            os.close(shell.end)
            os.waitpid(shell.pid, 0)


if __name__ == "__main__":
    main()
