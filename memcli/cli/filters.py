"""What the options of filters mean, and how far a command brings the index in step."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.choices import check
from memcli.errors import UsageError
from memcli.types import SCOPES, TRUSTS, Where

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memcli.cli.skin import Skin
    from memcli.search.dates import DateSpan


def sync_of(*, sync: bool, no_sync: bool, command: str) -> bool | None:
    """Say how far the index is brought in step: all, not at all, or within the bounds (None)."""
    if sync and no_sync:
        raise UsageError(
            "--sync cannot be combined with --no-sync", hint=f"memcli {command} --help"
        )
    return True if sync else False if no_sync else None


def check_words(
    skin: Skin,
    source: list[str] | None,
    scope: list[str] | None = None,
    trust: list[str] | None = None,
) -> None:
    """Raise UsageError for a source, a scope or a trust that there is not."""
    check("--source", source or (), [each.name for each in skin.config.sources])
    check("--scope", scope or (), SCOPES)
    check("--trust", trust or (), TRUSTS)


def tags_of(given: list[str] | None) -> tuple[str, ...]:
    """Take the tags of --tag; UsageError for one without a letter."""
    for tag in given or ():
        if not tag.strip(" #/"):
            raise UsageError(f"--tag names no tag: {tag!r}", hint="--tag infra")
    return tuple(given or ())


def where_of(given: list[str] | None) -> tuple[Where, ...]:
    """Read `key=value`, `key!=value`, `key` and `!key`; UsageError for anything else."""
    return tuple(map(_where, given or ()))


def _where(text: str) -> Where:
    key, sign, value = text.partition("=")
    negated = key.endswith("!") if sign else key.startswith("!")
    key, value = key.strip("! "), value.strip()
    if not key or key.endswith(("<", ">")) or bool(sign) != bool(value):
        raise UsageError(
            f"--where takes KEY=VALUE, KEY!=VALUE, KEY or !KEY, not {text!r}",
            hint="--where status=open",
        )
    return Where(key, value if sign else None, negated)


def bounds_of(given: Mapping[str, str | None], skin: Skin, command: str) -> tuple[DateSpan, ...]:
    """Read the dates of filters, by option: what each lets through."""
    named = {option: text for option, text in given.items() if text is not None}
    if not named:
        return ()
    from memcli.search.date_filters import bounds_of as read

    hint = f"memcli {command} --help"
    return read(named, skin.today, day_first=skin.has_day_first, hint=hint)


def span_of(bounds: Sequence[DateSpan]) -> tuple[str | None, str | None]:
    """Give the first and the last day that filters let through, None where there is no bound."""
    if not bounds:
        return None, None
    from memcli.search.date_filters import span_of as read

    return read(bounds)


def paths_of(given: list[str] | None, skin: Skin) -> tuple[str, ...]:
    """Let each name or glob stand for files and for all below a folder, from here or of a source.

    The name of a source stands for all of it. One that begins with `./` or `../` is a path from
    here alone, where it leads into a source.
    """
    if not given:
        return ()
    from memcli.workspace.here import globs_of

    roots = {source.name: source.root for source in skin.config.sources}
    return globs_of(given, skin.here, roots)
