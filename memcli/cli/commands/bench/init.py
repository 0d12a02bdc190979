"""`memcli bench init`: draft a file of questions for a person to edit."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli import side_files
from memcli.cli.commands.bench.running import QUESTIONS
from memcli.cli.options import COMMON, FILES, JSON, WORKSPACE, Option, Options
from memcli.cli.skin import Skin, make_skin
from memcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from memcli.markdown.parse import Parsed

DRAFTS = 30
_MISSED = ("unreadable", "not-text", "too-large")  # not what somebody wants left out


OPTIONS = (
    Option("--out", "The file.", "FILE", shown_default=".memcli/questions.jsonl", choices=FILES),
    Option("-n --limit", "Most drafts.", "N", int, default=DRAFTS),
    JSON, WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Draft questions from headings and decisions; a file that exists is never written over.

    Each line is marked "draft": true and is not counted until you set it to false. Reword it
    as you would ask it, and check the lines that answer it.

    Examples: memcli bench init -w notes      memcli bench init --out questions.jsonl
    """
    from memcli.bench import drafts

    if options.limit < 1:
        raise UsageError(
            f"--limit counts from 1, not {options.limit}", hint="memcli bench init --help"
        )
    skin = make_skin(options)
    path = options.out or side_files.own_file(QUESTIONS, skin)
    chosen = drafts.draft(_documents(skin), options.limit)
    if not chosen:
        raise UsageError(
            "the memory has no headings or decisions to draft questions from", hint="memcli status"
        )
    lines = [drafts.line(number, each) + "\n" for number, each in enumerate(chosen, start=1)]
    side_files.write_text(path, "".join(lines), skin, is_new=True)
    if options.json:
        record = {"schema": "memcli.bench-init/1", "file": path, "drafts": len(chosen)}
        skin.terminal.write_json(record)
    skin.terminal.say(f"{len(chosen)} drafts in {path}.")
    skin.terminal.say('Reword each as you would ask it, check its lines, set "draft": false.')
    return ExitCode.OK


def _documents(skin: Skin) -> dict[str, Parsed]:
    """Read the documents of all sources, by name."""
    from functools import partial

    from memcli.indexing.document import made_or_skip
    from memcli.indexing.planning import plan, read
    from memcli.markdown.parse import parse
    from memcli.types import Skip, shown

    settings = skin.memory.index_settings()
    listing = plan(settings, {}).listing
    found, missed = {}, [*listing.unlisted, *(s for s in listing.skips if s.reason in _MISSED)]
    for stat in listing.files:
        file = read(settings, stat.source, stat.path)
        if isinstance(file, Skip):
            missed.append(file)
            continue
        parsed = made_or_skip(stat.source, stat.path, partial(parse, file.text))
        if isinstance(parsed, Skip):
            missed.append(parsed)
        else:
            found[shown(stat.source, stat.path)] = parsed
    for skip in missed:
        why = skip.detail or skip.reason
        skin.terminal.warn(f"no drafts of {shown(skip.source, skip.path or '.')}: {why}")
    return found
