"""`memcli get`: print lines of a document from disk, by path, citation or record ref."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from memcli.api.opened import current_folder
from memcli.checking import TYPE_CHECKING
from memcli.cli.skin import Shared, Skin, make_skin
from memcli.errors import ExitCode, NotFoundError, UsageError
from memcli.types import MEMORY_SOURCE, shown

if TYPE_CHECKING:
    from typing import Annotated, Any

    import typer

    from memcli.api.behind import RawLines
    from memcli.api.memory import Memory
    from memcli.api.read import Lines
    from memcli.cli import options


def command(
    targets: Annotated[
        list[str], typer.Argument(metavar="PATH[:FROM-TO]", help="Or a record ref; several.")
    ],
    first: Annotated[
        int | None,
        typer.Option("--from", metavar="LINE", help="First line, from 1.", show_default="1"),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(
            "--lines", metavar="COUNT", help="How many lines at most.", show_default="all"
        ),
    ] = None,
    expected: Annotated[
        str | None,
        typer.Option("--hash", metavar="HASH", help="Exit 1 unless the lines still have it."),
    ] = None,
    expand: Annotated[
        bool, typer.Option("--expand", help="Print the lines that a summary stands for.")
    ] = False,
    history: Annotated[
        bool, typer.Option("--history", help="Print the versions of the lines, newest first.")
    ] = False,
    show_secrets: Annotated[
        bool, typer.Option("--show-secrets", help="Print keys and tokens as they stand.")
    ] = False,
    as_of: options.AsOf = None,
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    everywhere: options.Everywhere = False,
    presets: options.Presets = None,
    workspace_name: options.WorkspaceName = None,
    tenant: options.Tenant = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Print lines of a document, as they are on disk now.

    Examples: memcli get MEMORY.md      memcli get memory/2026-02-05.md:3-9
    """
    if (first is not None and first < 1) or (count is not None and count < 1):
        from shlex import quote

        raise UsageError(
            "--from and --lines must be at least 1",
            hint=f"memcli get {quote(targets[0])} --from 1 --lines 40",
        )
    shared = Shared(
        workspace, quiet, verbose, color, now, everywhere, workspace_name, as_of, tenant, True
    )
    shown = {"secrets": "off"} if show_secrets else {}
    skin = _opened(shared, targets, {"files.presets": presets, **shown})
    if history:
        others = {"--hash": expected, "--expand": expand or None, "--as-of": as_of}
        return _history(targets, first, count, skin, others=others, as_json=as_json)
    if len(targets) == 1:
        return run(targets[0], first, count, expected, skin, expand=expand, as_json=as_json)
    if (first, count, expected) != (None, None, None):
        raise UsageError(
            "--from, --lines and --hash are of one document, and there are several",
            hint="write the lines as PATH:FROM-TO",
        )
    return _several(targets, skin, expand=expand, as_json=as_json)


def _history(
    targets: Sequence[str],
    first: int | None,
    count: int | None,
    skin: Skin,
    *,
    others: Mapping[str, object],
    as_json: bool,
) -> int:
    """Print the versions of some lines, each below its citation, its day and its commit."""
    given = [option for option, value in others.items() if value is not None]
    if given or len(targets) > 1:
        from shlex import quote

        what = f"{given[0]} cannot be combined with it" if given else "it is about one place"
        raise UsageError(f"--history: {what}", hint=f"memcli get {quote(targets[0])} --history")
    from memcli.api.versions import versions

    found = versions(skin.memory, targets[0], first=first, count=count, here=skin.here)
    terminal = skin.terminal
    if as_json:
        from memcli.render.jsonio import dumps, reason

        told = [{**each._asdict(), "citation": each.citation} for each in found.versions]
        notices = [reason(each) for each in found.notices]
        record = {"schema": "memcli.get-history/1", "versions": told, "notices": notices}
        terminal.write(dumps(record) + "\n")
        return ExitCode.OK
    for each in found.versions:
        when = f"{each.day} ({each.commit})" if each.commit else "in no commit yet"
        terminal.write(f"==> {terminal.safe_line(f'{each.citation}  {when}')} <==\n")
        terminal.write(terminal.safe(each.text) + "\n")
    for notice in found.notices:
        terminal.advise(notice)
    return ExitCode.OK


def _opened(shared: Shared, targets: Sequence[str], flags: Mapping[str, Any]) -> Skin:
    """Open the workspace, or where there is none all those whose names the targets begin with."""
    try:
        return make_skin(shared, flags)
    except NotFoundError:
        if not shared.workspace and all(map(_absolute, targets)):
            skin = make_skin(shared, flags, here=os.path.dirname(_absolute(targets[0])))
            return skin._replace(here=current_folder())
        if shared.workspace or not all(map(_is_named, targets)):
            raise
    return make_skin(shared._replace(everywhere=True), flags)


def _absolute(target: str) -> str:
    """Give an absolute path, as a citation may have it; empty where a target names none."""
    from memcli.api.targets import bare

    return bare(target) if os.path.isabs(bare(target)) else ""


def _is_named(target: str) -> bool:
    """Tell that a target begins with the name of a workspace."""
    from memcli.config.workspaces import named_workspaces

    name, colon, _ = target.partition(":")
    return bool(colon) and name in named_workspaces(os.environ)


def _read(
    target: str, skin: Skin, *, first: int | None, count: int | None, expand: bool
) -> tuple[Lines, Skin]:
    """Read lines, of a workspace that has a name where the own one has no such document."""
    from memcli.api.read import get

    def lines(skin: Skin) -> Lines:
        return get(skin.memory, target, first=first, count=count, expand=expand, here=skin.here)

    try:
        return lines(skin), skin
    except NotFoundError:
        if skin.memory.asked or not (_is_named(target) or _absolute(target)):
            raise
        memory = _memory_of(target, skin)
        if memory.config.workspace == skin.config.workspace and not memory.asked:
            raise
    skin = skin._replace(memory=memory)
    return lines(skin), skin


def _memory_of(target: str, skin: Skin) -> Memory:
    """Open the workspace that an absolute path lies in, or those that have names."""
    if path := _absolute(target):
        from memcli.api.memory import Memory

        shown = {"secrets": "off"} if skin.config("secrets") == "off" else {}
        return Memory.open(settings=shown, here=os.path.dirname(path))
    from memcli.api.several import open_several

    return open_several((), everywhere=True)


def _several(targets: Sequence[str], skin: Skin, *, expand: bool, as_json: bool) -> int:
    """Print what each is, below its citation; what is missing is said and changes the exit code."""
    code: int = ExitCode.OK
    for target in targets:
        try:
            run(target, None, None, None, skin, expand=expand, as_json=as_json, named=True)
        except NotFoundError as error:
            skin.terminal.advise(error.reason)
            code = error.exit_code
    return code


def run(
    target: str,
    first: int | None,
    count: int | None,
    expected: str | None,
    skin: Skin,
    *,
    expand: bool,
    as_json: bool,
    named: bool = False,
) -> int:
    """Print what was asked for, `named` below its citation."""
    found, skin = _read(target, skin, first=first, count=count, expand=expand)
    _say_which(target, found, skin)
    citation = f"{skin.name(found.source, found.path)}:{found.start_line}-{found.end_line}"
    if named and not as_json:
        skin.terminal.write(f"==> {skin.terminal.safe_line(citation)} <==\n")
    if as_json:
        from memcli.render.jsonio import dumps, source_of

        file = skin.file_from_here(found.source, found.path)
        record = {"schema": "memcli.get/1", **found._asdict(), "file": file}
        record |= source_of(found.source)
        record["expanded"] = [each._asdict() for each in found.expanded]
        if not expand:
            del record["expanded"]
        skin.terminal.write(dumps(record) + "\n")
    elif expand:
        _write_behind(found.expanded, skin)
    elif found.text:
        skin.terminal.write(skin.terminal.safe(found.text) + "\n")
    if skin.config("secrets") == "warn":
        from memcli.cli.secret_warnings import warn_of_secrets

        warn_of_secrets(skin, [(citation, found.text)])
    if expected is not None and expected.lower() != found.text_hash:
        skin.terminal.warn(f"{citation} has changed: its hash is {found.text_hash}")
        return ExitCode.NEGATIVE
    return ExitCode.OK


def _say_which(target: str, found: Lines, skin: Skin) -> None:
    """Say which document a bare name was taken for, where another may have been meant."""
    source, path = found.source, found.path
    elsewhere = skin.memory.provenance()
    if elsewhere is not None:
        skin.terminal.advise(elsewhere)
        return
    if skin.memory.asked:  # a name says whose it is
        return
    name = skin.name(source, path)
    if source != MEMORY_SOURCE:
        if not target.startswith((f"{source}:", "./", "../", "/", name)):
            skin.terminal.warn(f"the memory has no {path}; this is {shown(source, path)}")
    elif name != path and target.startswith(path) and _is_other(path, skin.file_of(source, path)):
        skin.terminal.warn(f"this is {name}; the file of that name here is ./{path}")


def _is_other(path: str, file: str | None) -> bool:
    """Tell whether a path from here names a file, and not the one that was found."""
    return os.path.isfile(path) and not (file and os.path.samefile(path, file))


def _write_behind(behind: Sequence[RawLines], skin: Skin) -> None:
    terminal = skin.terminal
    for each in behind:
        text = terminal.safe(each.text)
        where = f"{skin.name(each.source, each.path)}:{each.start_line}-{each.end_line}"
        terminal.write(f"==> {terminal.safe_line(where)} <==\n{text}\n")
        if each.changed:
            terminal.warn(f"{where} has changed since it was summarised")
