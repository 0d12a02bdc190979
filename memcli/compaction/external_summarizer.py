"""Let a program of the user's own write the lines of a summary: its shell and its protocol.

The program reads every sentence of a cluster as `- text (path:line)` below their headings and
writes fewer lines in the same form. A line that cites nothing it was given is invented, and so is
one with a date, an amount or an identifier that the lines it cites do not hold: these are dropped
and counted. What must survive is added where the program has left it out. A line `confidence: 0.8`
says how sure the program is of what it wrote.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence

from memcli import system
from memcli.compaction.compose import EntrySummary
from memcli.compaction.sentences import Sentence
from memcli.errors import ConfigError, UsageError
from memcli.language import salience
from memcli.language.salience import HARD
from memcli.markdown.evidence import BY_COMMAND
from memcli.markdown.lineage import cited
from memcli.record import Record

TIMEOUT_SECONDS = 600.0
WITHOUT = "memcli compact --summarizer extractive"
Rewrite = Callable[[str], str]
_CONFIDENCE = re.compile(r"confidence: *(0(?:\.\d+)?|1(?:\.0+)?)", re.IGNORECASE)


class Wording(Record):
    """A writer that replaces the sentences of the log in a summary."""

    method: str  # one of `evidence.WORDED`
    name: str  # in an answer
    rewrite: Rewrite


class Rewritten(Record):
    """The text of a program, checked."""

    entries: tuple[EntrySummary, ...]
    confidence: float | None  # the program's own value, 0 to 1; None without one
    invented: int  # lines that were dropped


def program(command: Sequence[str]) -> Wording:
    """Return a writer that sends a text to the program and reads its output."""
    if not command:
        raise ConfigError(
            "compact.command names no program",
            hint="set compact.command in your own config.toml, as a list of words",
        )

    def rewrite(text: str) -> str:
        try:
            done = _done(command, text.encode("utf-8", "replace"))
        except subprocess.TimeoutExpired:
            raise UsageError(
                f"{command[0]} took more than {TIMEOUT_SECONDS:.0f} s", hint=WITHOUT
            ) from None
        except OSError as error:
            raise ConfigError(
                f"compact.command: {command[0]}: {error.strerror}", hint=WITHOUT
            ) from None
        if done.returncode:
            message = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
            raise UsageError(
                f"{command[0]} failed with exit code {done.returncode}: {message}", hint=WITHOUT
            )
        return done.stdout.decode("utf-8", "replace")

    return Wording(BY_COMMAND, "the program", rewrite)


def _done(command: Sequence[str], data: bytes) -> subprocess.CompletedProcess[bytes]:
    """Run a program, and end it if the caller stops waiting.

    Its children end with it, except at a terminal: there the program may ask for a password, which
    it could not do from a process group of its own.
    """
    pipe, group = subprocess.PIPE, None if _has_terminal() else 0
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, process_group=group
    ) as process:
        try:
            out, errors = process.communicate(data, TIMEOUT_SECONDS)
        except BaseException:
            if group is not None:
                system.end_group(process.pid)
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, errors)


def _has_terminal() -> bool:
    """Return whether this process receives what is typed at a terminal."""
    try:
        with open("/dev/tty", "rb", buffering=0) as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False


def written(entries: Sequence[EntrySummary], output: str) -> Rewritten:
    """Sort the lines of a program's output into the entries whose lines they cite."""
    per_entry: list[list[Sentence]] = [[] for _ in entries]
    confidence, invented = None, 0
    for line in filter(None, map(str.strip, output.split("\n"))):
        match = _CONFIDENCE.fullmatch(line)
        if match:
            confidence = float(match[1])
        elif not line.startswith("#"):
            at, sentence = _placed(line, entries)
            if sentence is None:
                invented += 1
            else:
                per_entry[at].append(sentence)
    reworded = (_with_own(entry, own) for entry, own in zip(entries, per_entry, strict=True))
    return Rewritten(tuple(reworded), confidence, invented)


def _placed(line: str, entries: Sequence[EntrySummary]) -> tuple[int, Sentence | None]:
    """Find the entry that a line cites; no sentence if the line is invented."""
    cite = cited(line)
    text = " ".join(cite.text.split()) if cite else ""
    for at, entry in enumerate(entries):
        if not cite or not text or entry.path != cite.path:
            continue
        if entry.first <= cite.first <= cite.last <= entry.last:
            lines = [
                f"{sentence.shown} {sentence.mark}"
                for sentence in entry.sentences
                if sentence.first <= cite.last and cite.first <= sentence.last
            ]
            if salience.is_supported(text, lines):
                return at, Sentence(text, entry.path, cite.first, cite.last, "", "", "")
    return 0, None


def _with_own(entry: EntrySummary, own: Sequence[Sentence]) -> EntrySummary:
    texts = [sentence.text for sentence in own]
    lost = [
        s for s in entry.sentences if s.reason in HARD and not any(s.text in text for text in texts)
    ]
    both = sorted([*own, *lost], key=lambda s: (s.first, s.last))
    return entry._replace(sentences=tuple(both))
