"""The words that options take, where no setting lists them, and the refusal of any other."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.errors import UsageError

SHELLS = ("bash", "zsh", "fish")  # that there is a completion script for
SEARCH_FORMATS = ("text", "json", "jsonl", "markdown", "paths", "paths0", "vimgrep")
SORTS = ("score", "date", "newest")
LIST_FORMATS = ("text", "json", "jsonl", "paths", "paths0")
LIST_ORDERS = ("path", "date", "newest")
COUNTED = ("kind", "tag", "key", "source")
_SHORT = {"md": "markdown", "ndjson": "jsonl", "files": "paths", "0": "paths0"}
CHANGES_FORMATS = ("text", "json", "markdown")
CONTEXT_FORMATS = ("markdown", "json")
SUMMARIZERS = ("extractive", "command", "onnx")


def check(option: str, given: Sequence[str], known: Sequence[str]) -> None:
    """Raise UsageError for a word that an option does not take, naming the nearest that it does."""
    for word in given:
        if word not in known:
            from memcli.config.nearest import nearest

            short = _SHORT.get(word, "")
            raise UsageError(
                f"{option} must be one of {', '.join(known)}, not {word!r}",
                hint=f"{option} {short if short in known else nearest(word, known)}",
            )
