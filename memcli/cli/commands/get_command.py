"""`memcli get`: print lines of a document from disk, by path, citation or record ref."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from memcli.api.open import open_workspaces
from memcli.api.read import Lines, RawLines, get, with_newer_lines
from memcli.api.targets import bare
from memcli.api.workspace import current_folder
from memcli.api.workspaces import Selection, Workspaces
from memcli.checking import Any
from memcli.cli.command_context import CommandContext, command_context, warn_of_secrets
from memcli.cli.options import AS_OF, DOCUMENTS, JSON, SEVERAL, CommandArgument, Option, Options
from memcli.errors import ExitCode, NotFoundError, UsageError, quote
from memcli.types import MEMORY_SOURCE, lines_of, shown

_DIGITS = frozenset("0123456789")
ARGUMENTS = (
    CommandArgument(
        "targets",
        "PATH[:FROM-TO]",
        "A path, a citation or a ref. Repeat it for more.",
        list,
        is_required=True,
        choices=DOCUMENTS,
    ),
)
OPTIONS = (
    Option("--from", "First line to print.", "LINE", int, shown_default="1", least=1,
        attribute="first"),
    Option("--lines", "Maximum number of lines.", "COUNT", int, shown_default="all", least=1),
    Option("-C --context", "Number the lines, and print N around.", "N", int, least=0),
    Option("--hash", "Exit 1 if the lines have another hash now.", "HASH"),
    Option("--expand", "Print the source lines of a summary."),
    Option("--history", "Print all versions of the lines, newest first."),
    Option("--show-secrets", "Print keys and tokens unredacted."),
    AS_OF, JSON, *SEVERAL,
)  # fmt: skip


def run(options: Options) -> int:
    """Print lines of a document as they are on disk now.

    Examples: memcli get MEMORY.md      memcli get memory/2026-02-05.md:3-9
    """
    shown = {"secrets": "off"} if options.show_secrets else {}
    command = _opened(options, shown)
    if options.history:
        return _history(options, command)
    if len(options.targets) == 1:
        return _print(options.targets[0], options, command)
    if (options.first, options.lines, options.hash) != (None, None, None):
        raise UsageError(
            "--from, --lines and --hash work with one document, not with several",
            hint="write the lines as PATH:FROM-TO",
        )
    return _print_several(options, command)


def _history(options: Options, command: CommandContext) -> int:
    """Print the versions of some lines, each below its citation, its day and its commit."""
    others = {
        "--hash": options.hash,
        "--expand": options.expand or None,
        "--as-of": options.as_of,
        "--context": options.context,
    }
    others_set = [option for option, value in others.items() if value is not None]
    targets = options.targets
    if others_set or len(targets) > 1:
        what = (
            f"{others_set[0]} cannot be combined with it" if others_set else "it is about one place"
        )
        raise UsageError(f"--history: {what}", hint=f"memcli get {quote(targets[0])} --history")
    from memcli.api.versions import versions

    listed, notices = versions(
        command.memory, targets[0], first=options.first, count=options.lines, here=command.here
    )
    terminal = command.terminal
    if options.json:
        from memcli.render.jsonio import reason

        records = [{**each._asdict(), "citation": each.citation} for each in listed]
        of_json = {"versions": records, "notices": [reason(each) for each in notices]}
        terminal.write_json({"schema": "memcli.get-history/1", **of_json})
        return ExitCode.OK
    for each in listed:
        when = f"{each.day} ({each.commit})" if each.commit else "in no commit yet"
        terminal.write(f"==> {terminal.safe_line(f'{each.citation}  {when}')} <==\n")
        terminal.write(terminal.safe(each.text) + "\n")
    for notice in notices:
        terminal.advise(notice)
    return ExitCode.OK


def _opened(options: Options, settings: Mapping[str, Any]) -> CommandContext:
    """Open the workspace, or without one, all workspaces that the targets name."""
    try:
        return command_context(options, settings)
    except NotFoundError:
        if not options.workspace and all(map(_absolute, options.targets)):
            here = os.path.dirname(_absolute(options.targets[0]))
            return command_context(options, settings, here=here)._replace(here=current_folder())
        if options.workspace or not all(map(_is_named, options.targets)):
            raise
    return command_context(options.having(everywhere=True), settings)


def _absolute(target: str) -> str:
    """Return the absolute path of a citation; "" if it has none."""
    return bare(target) if os.path.isabs(bare(target)) else ""


def _is_named(target: str) -> bool:
    """Return whether a target begins with the name of a workspace."""
    from memcli.config.workspaces import named_workspaces

    name, colon, _ = target.partition(":")
    return bool(colon) and name in named_workspaces(os.environ)


def _read(target: str, options: Options, command: CommandContext) -> tuple[Lines, CommandContext]:
    """Read lines; a named workspace answers if the open one has no such document."""

    def lines(command: CommandContext) -> Lines:
        result = get(
            command.memory,
            target,
            first=options.first,
            count=options.lines,
            around=options.context or 0,
            expand=options.expand,
            here=command.here,
        )
        is_whole = (result.start_line, result.end_line) == (1, result.total_lines)
        if options.json or ":" in target or not is_whole or _may_be_dated(result):
            return with_newer_lines(command.memory, result)
        return result

    try:
        return lines(command), command
    except NotFoundError:
        if command.memory.members or not (_is_named(target) or _absolute(target)):
            raise
        memory = _memory_of(target, command)
        if memory.config.workspace == command.config.workspace and not memory.members:
            raise
    command = command._replace(memory=memory)
    return lines(command), command


def _may_be_dated(document: Lines) -> bool:
    """Return whether newer lines may correct a whole document, by its name and front matter.

    Without a date, only lines that cite it correct it. To find those takes longer than to read it.
    """
    has_date = document.text.startswith("---") and "date:" in document.text.partition("\n---")[0]
    return has_date or not _DIGITS.isdisjoint(document.path)


def _memory_of(target: str, command: CommandContext) -> Workspaces:
    """Open the workspace of an absolute path, or for other targets the named workspaces."""
    if path := _absolute(target):
        shown = {"secrets": "off"} if command.config("secrets") == "off" else {}
        try:
            return open_workspaces(Selection(here=os.path.dirname(path), settings=shown))
        except NotFoundError:  # no workspace is there
            text = f"{path} is outside of {command.config.workspace}"
            raise NotFoundError(text, hint="memcli ls") from None
    return open_workspaces(Selection(everywhere=True, with_shared=False))


def _print_several(options: Options, command: CommandContext) -> int:
    """Print each target below its citation; report missing ones and change the exit code.

    With --json, a missing target is an error, and memcli prints none of the others.
    """

    def write() -> None:
        for target in options.targets:
            _print(target, options, command)

    if options.json:
        command.terminal.write(command.terminal.captured(write))
        return ExitCode.OK
    code: int = ExitCode.OK
    for target in options.targets:
        try:
            _print(target, options, command, named=True)
        except NotFoundError as error:
            command.terminal.advise(error.reason)
            code = error.exit_code
    return code


def _print(target: str, options: Options, command: CommandContext, *, named: bool = False) -> int:
    """Print the lines, below their citation if `named`."""
    lines, command = _read(target, options, command)
    _say_which(target, lines, command)
    citation = (
        f"{command.name(lines.source, lines.path)}:{lines_of(lines.start_line, lines.end_line)}"
    )
    if named and not options.json:
        command.terminal.write(f"==> {command.terminal.safe_line(citation)} <==\n")
    if options.json:
        from memcli.render.jsonio import source_of

        file = command.file_from_here(lines.source, lines.path)
        record = {"schema": "memcli.get/1", **lines._asdict(), "file": file}
        record |= source_of(lines.source)
        record["expanded"] = [each._asdict() for each in lines.expanded]
        for key in ("expanded", "corrected_by"):
            if not record[key] and not (key == "expanded" and options.expand):
                del record[key]
        command.terminal.write_json(record)
    elif options.expand:
        _write_behind(lines.expanded, command)
    elif text := lines.text:
        if options.context is not None:
            numbers = enumerate(text.split("\n"), start=lines.start_line)
            text = "\n".join(f"{number}: {line}".rstrip() for number, line in numbers)
        command.terminal.write(command.terminal.safe(text) + "\n")
    for older, newer in () if options.json else lines.marks:
        by = f"{command.name(str(newer['source']), str(newer['path']))}:{newer['start_line']}"
        text = " ".join(str(newer["text"]).split())
        name = command.name(lines.source, lines.path)
        command.terminal.warn(f"{name}:{older} is corrected by {by} ({newer['date']}): {text}")
    if command.config("secrets") == "warn":
        warn_of_secrets(command, [(citation, lines.text)])
    if options.hash is not None and options.hash.lower() != lines.text_hash:
        command.terminal.warn(f"{citation} has changed: its hash is {lines.text_hash}")
        return ExitCode.NEGATIVE
    return ExitCode.OK


def _say_which(target: str, lines: Lines, command: CommandContext) -> None:
    """Print which document an ambiguous name was read as."""
    source, path = lines.source, lines.path
    elsewhere = command.memory.provenance()
    if elsewhere is not None:
        command.terminal.advise(elsewhere)
        return
    if command.memory.members:  # the name contains its workspace
        return
    name = command.name(source, path)
    if source != MEMORY_SOURCE:
        if not target.startswith((f"{source}:", "./", "../", "/", name)):
            command.terminal.warn(f"the memory has no {path}; this is {shown(source, path)}")
    elif name != path and target.startswith(path) and os.path.isfile(path):
        file = command.file_of(source, path)
        if file and os.path.samefile(path, file):
            return
        command.terminal.warn(f"this is {name}; the file of that name here is ./{path}")


def _write_behind(behind: Sequence[RawLines], command: CommandContext) -> None:
    terminal = command.terminal
    for each in behind:
        text = terminal.safe(each.text)
        where = f"{command.name(each.source, each.path)}:{lines_of(each.start_line, each.end_line)}"
        terminal.write(f"==> {terminal.safe_line(where)} <==\n{text}\n")
        if each.changed:
            terminal.warn(f"{where} has changed since it was summarised")
