"""`memcli bench init`: draft a file of questions for a person to edit."""

from __future__ import annotations

from memcli.cli import side_files
from memcli.cli.command_context import command_context
from memcli.cli.commands.bench.running import QUESTIONS
from memcli.cli.options import COMMON, FILES, JSON, ONE_WORKSPACE, Option, Options
from memcli.errors import ExitCode, UsageError
from memcli.types import shown

DRAFTS = 30


OPTIONS = (
    Option("--out", "File for the questions.",
        "FILE", shown_default=".memcli/questions.jsonl", choices=FILES),
    Option("-n --limit", "Number of drafts.", "N", int, default=DRAFTS),
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Draft questions from headings and decisions. An existing file is never overwritten.

    Each line has "draft": true and does not count until you set it to false. Reword the question
    as you would ask it, and check the lines that answer it.

    Examples: memcli bench init -w notes      memcli bench init --out questions.jsonl
    """
    from memcli.bench import drafts

    if options.limit < 1:
        raise UsageError(
            f"--limit counts from 1, not {options.limit}", hint="memcli bench init --help"
        )
    command = command_context(options)
    path = options.out or side_files.own_file(QUESTIONS, command)
    documents, missed = drafts.documents(command.workspace.index_settings())
    for skip in missed:
        why = skip.detail or skip.reason
        command.terminal.warn(f"cannot draft from {shown(skip.source, skip.path or '.')}: {why}")
    chosen = drafts.draft(documents, options.limit)
    if not chosen:
        raise UsageError(
            "the memory has no headings or decisions to draft questions from", hint="memcli status"
        )
    lines = [drafts.line(number, each) + "\n" for number, each in enumerate(chosen, start=1)]
    side_files.write_text(path, "".join(lines), command, is_new=True)
    if options.json:
        record = {"schema": "memcli.bench-init/1", "file": path, "drafts": len(chosen)}
        command.terminal.write_json(record)
    command.terminal.say(f"{len(chosen)} drafts in {path}.")
    command.terminal.say('Reword each as you would ask it, check its lines, set "draft": false.')
    return ExitCode.OK
