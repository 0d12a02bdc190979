r"""Match paths against globs in linear time.

Literals, `*` and `**` are matched here, without a regular expression that could
backtrack. Patterns with `?`, `[…]`, `\` or `!` go to pathspec, which costs 22-50 ms to
import and is loaded only for those.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memcli.errors import ConfigError
from memcli.record import Record

# Character classes, escapes and negation need pathspec.
_COMPLEX = frozenset("?[\\")
# Regular expressions take about length**stars steps; three keep a 255 byte name at 20 ms, and the
# patterns of one origin together at 60.
_MAX_STARS = 3
_NAME_LENGTH = 255
_MAX_STEPS = 3 * _NAME_LENGTH**_MAX_STARS


class Glob(Record):
    """One pattern as path segments; `**` means any number of folders."""

    segments: tuple[str, ...]
    folder: bool = False  # matches folders only (and so all that is below them)


def parse(pattern: str, *, anchored: bool) -> Glob | None:
    r"""Split a pattern without `?`, `[`, `\` and `!`; None if it is empty or a comment.

    With `anchored` a pattern without a slash means only the root, otherwise any depth.
    """
    body = composed(pattern.strip("\r\n").rstrip())
    if not body or body.startswith("#") or not body.strip("/"):
        return None
    folder = body.endswith("/")
    body = body.removesuffix("/")
    loose = "/" not in body and not anchored
    segments = body.removeprefix("/").split("/")
    if segments[-1] == "**":
        # Everything below: one more segment means the same.
        segments[-1] = "*"
        loose = len(segments) == 1
    if loose:
        segments.insert(0, "**")
    pieces = [
        s for i, s in enumerate(segments) if not (s == "**" and segments[i - 1 : i] == ["**"])
    ]
    return Glob(tuple(pieces), folder)


def composed(name: str) -> str:
    """Write accents as one sign with their letter: macOS and some programs store two."""
    if name.isascii():
        return name
    from unicodedata import normalize

    return normalize("NFC", name)


def is_complex(pattern: str) -> bool:
    """Return whether a pattern needs pathspec."""
    return pattern.startswith("!") or not _COMPLEX.isdisjoint(pattern)


def compile_complex(patterns: Sequence[str], origin: str) -> Callable[[str], bool]:
    """Compile gitignore lines by pathspec; `origin` names them in an error."""
    for pattern in patterns:
        if _stars(pattern) > _MAX_STARS:
            raise ConfigError(
                f"{origin}: the pattern {pattern!r} has more than {_MAX_STARS} stars"
                " next to ?, [], \\ or !",
                hint="split it into simpler patterns",
            )
    if sum(_NAME_LENGTH ** _stars(pattern) for pattern in patterns) > _MAX_STEPS:
        raise ConfigError(
            f"{origin}: too many patterns with several stars next to ?, [], \\ or !",
            hint="write fewer patterns, or without those",
        )
    import re
    import warnings

    from pathspec import GitIgnoreSpec

    try:
        with warnings.catch_warnings():
            # A class such as [[a] is one of two characters in gitignore, as it is for now in `re`.
            warnings.simplefilter("ignore", FutureWarning)
            spec = GitIgnoreSpec.from_lines(map(composed, patterns))
    except (ValueError, re.error) as error:  # a range such as [5-0]
        raise ConfigError(f"{origin}: {error}", hint="use gitignore syntax") from None
    return lambda path: bool(spec.match_file(composed(path)))


def _stars(pattern: str) -> int:
    """Count the stars; `**` between slashes is one, and in a name each is one of its own."""
    return sum(1 if name == "**" else name.count("*") for name in pattern.split("/"))


def match_name(segment: str, name: str) -> bool:
    """Match one segment with `*` against one name; the leftmost fit is always enough."""
    if "*" not in segment:
        return segment == name
    first, *middle, last = segment.split("*")
    if len(name) < len(first) + len(last) or not name.startswith(first):
        return False
    if not name.endswith(last):
        return False
    at, end = len(first), len(name) - len(last)
    for piece in middle:
        start = name.find(piece, at, end)
        if start < 0:
            return False
        at = start + len(piece)
    return True


def match_path(glob: Glob, path: str, is_folder: bool) -> bool:
    """Return whether the glob matches the path or a folder above it."""
    segments, end = glob.segments, len(glob.segments)
    names = composed(path).split("/")
    states = _closure(segments, {0})
    for i, name in enumerate(names):
        after = set()
        for state in states:
            if segments[state] == "**":
                after.add(state)
            elif match_name(segments[state], name):
                after.add(state + 1)
        states = _closure(segments, after)
        if end in states:
            if i < len(names) - 1 or is_folder or not glob.folder:
                return True
            states.discard(end)
    return False


def literal_start(glob: Glob) -> str:
    """Return the folders before the first star, with a slash; every match begins with them."""
    start = ""
    for segment in glob.segments[:-1]:
        if "*" in segment:
            break
        start += f"{segment}/"
    return start


def _closure(segments: tuple[str, ...], states: set[int]) -> set[int]:
    """Add the states after `**`, which may match no folder at all."""
    for state in tuple(states):
        if state < len(segments) and segments[state] == "**":
            states.add(state + 1)
    return states


def matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Compile patterns into a test for one file path, in gitignore syntax.

    If one of them starts with `!`, the last pattern that matches decides.
    """
    if any(is_complex(p) for p in patterns):
        return compile_complex(patterns, "glob")
    globs = [g for g in (parse(p, anchored=False) for p in patterns) if g is not None]
    return lambda path: any(match_path(g, path, False) for g in globs)


def anchor(pattern: str) -> str:
    """Write a pattern so that gitignore syntax ties it to the root."""
    sign, body = ("!", pattern[1:]) if pattern.startswith("!") else ("", pattern)
    if not body or body.startswith(("/", "#", "**/")):
        return pattern
    return f"{sign}/{body}"
