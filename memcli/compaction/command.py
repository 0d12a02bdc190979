"""Let a program of the user's own write the lines of a summary: its shell and its protocol.

The program reads every sentence of a cluster as `- text (path:line)` below their headings and
writes fewer lines in the same form. A line that cites nothing it was given is not used, and what
must survive is added where the program has left it out.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence

from memcli.compaction.compose import Entry
from memcli.compaction.sentences import Sentence
from memcli.errors import ConfigError, UsageError
from memcli.markdown.lineage import cited

TIMEOUT_SECONDS = 600.0
WITHOUT = "memcli compact --summarizer extractive"
Rewrite = Callable[[str], str]


def program(command: Sequence[str]) -> Rewrite:
    """Give a function that hands a text to the program and returns what it writes."""
    if not command:
        raise ConfigError(
            "compact.command names no program",
            hint="set compact.command in your own config.toml, as a list of words",
        )

    def rewrite(text: str) -> str:
        try:
            done = subprocess.run(
                list(command),
                input=text.encode("utf-8", "replace"),
                capture_output=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise UsageError(
                f"{command[0]} took more than {TIMEOUT_SECONDS:.0f} s", hint=WITHOUT
            ) from None
        except OSError as error:
            raise ConfigError(
                f"compact.command: {command[0]}: {error.strerror}", hint=WITHOUT
            ) from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
            raise UsageError(
                f"{command[0]} failed with exit code {done.returncode}: {said}", hint=WITHOUT
            )
        return done.stdout.decode("utf-8", "replace")

    return rewrite


def written(entries: Sequence[Entry], output: str) -> list[Entry]:
    """Sort the lines of a program's output into the entries whose lines they cite."""
    found: list[list[Sentence]] = [[] for _ in entries]
    for line in output.split("\n"):
        cite = cited(line.strip())
        if cite is None:
            continue
        said, path, first, last = cite
        said = " ".join(said.split())
        for at, entry in enumerate(entries):
            if entry.path == path and entry.first <= first <= last <= entry.last and said:
                found[at].append(Sentence(said, entry.path, first, last, "", "", ""))
                break
    return [_with_kept(entry, own) for entry, own in zip(entries, found, strict=True)]


def _with_kept(entry: Entry, own: Sequence[Sentence]) -> Entry:
    texts = [sentence.text for sentence in own]
    lost = [s for s in entry.sentences if s.kept and not any(s.text in text for text in texts)]
    told = sorted([*own, *lost], key=lambda s: (s.first, s.last))
    return entry._replace(sentences=tuple(told), also=() if told else ("…",))
