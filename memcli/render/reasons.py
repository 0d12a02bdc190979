"""Write a reason as a sentence; only this module joins a hint to its reason."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.errors import Reason
    from memcli.search.pipeline import Answer
    from memcli.search.repair import Repair


MOST_MISSING = 3  # words of a question that no note contains, named at most
TRY = " Try: "  # between a reason and its hint
_ANYWHERE = ("help", "completion")  # commands that ask no workspace
_WITHOUT_FILES = ("search", "context", "related", "get", "ls", "changes", "status")
# A hint with one of these is complete.
_NAMED = frozenset({"-w", "--workspace", "--workspace-name", "--tenant", "--help", "--user"})


def sentence(reason: Reason) -> str:
    """Write a reason and its hint. Example: `nothing is embedded yet. Try: memcli index`."""
    return f"{reason.text}.{TRY}{reason.hint}" if reason.hint else reason.text


def for_workspace(hint: str, value: str, option: str = "-w") -> str:
    """Let a hint name the workspace that it is for, if it is a command that asks one.

    Example: `memcli index` becomes `memcli index -w notes`. Only some commands know the options
    `--workspace-name` and `--tenant`.
    """
    from shlex import quote, split

    try:
        program, command, *rest = split(hint)
    except ValueError:  # text, or one word
        return hint
    if program != "memcli" or command in _ANYWHERE or _NAMED & {command, *rest}:
        return hint
    if option != "-w" and command not in _WITHOUT_FILES:
        return hint
    before, mark, query = hint.partition(" -- ")
    return f"{before} {option} {quote(value)}{mark}{query}"


def repaired(repairs: Sequence[Repair]) -> str:
    """Name the corrected spellings.

    Example: `Searched for education instead of educaton.`
    """
    texts = (
        f"{each.searched} {'instead of' if each.is_instead else 'besides'} {each.typed}"
        for each in repairs
    )
    return f"Searched for {', '.join(texts)}."


def doubt(answer: Answer) -> str:
    """Say in one line how the passages differ from the question; "" if they match it well."""
    if not answer.passages or answer.match == "strong":
        return ""
    if answer.missing_phrases:
        return f"No passage contains {quoted(answer.missing_phrases)}; these match the other words."
    if answer.split_phrases:
        return (
            f"No passage contains all of {quoted(answer.split_phrases)}; these contain one of them."
        )
    if answer.is_doubtful and not answer.is_long:
        return "No sure match; these are the nearest."
    if answer.is_of_others:
        return f"The best match is not by {' or '.join(answer.named_speakers)}."
    if answer.match_reason and answer.match_reason.code == "differs":
        return f"{answer.match_reason.text}."
    if answer.match_reason and answer.match_reason.code == "one-letter":
        return f"{answer.match_reason.text.capitalize()}."
    return "None of these is of that time." if answer.is_of_other_days else ""


def match_line(answer: Answer) -> str:
    """Say in a line that the passages may not answer; "" if they probably do."""
    return " ".join(filter(None, (doubt(answer), absent(answer))))


def absent(answer: Answer) -> str:
    """Name the words that no note contains, unless the passages match well without them.

    A long question always has such words.
    """
    from memcli.search.confidence import absent_words
    from memcli.search.pipeline import OFF_TOPIC

    is_off_topic = answer.match_reason == OFF_TOPIC
    if not (answer.passages or is_off_topic) or answer.is_long or answer.is_strong:
        return ""
    words = absent_words(answer.unmatched, answer.missing_phrases)
    note = "searched note" if answer.of_some else "note"
    return f"No {note} contains: {', '.join(words[:MOST_MISSING])}." if words else ""


def quoted(phrases: Sequence[str]) -> str:
    """Quote phrases as they were typed."""
    return ", ".join(f'"{phrase}"' for phrase in phrases)
