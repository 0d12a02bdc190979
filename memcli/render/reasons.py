"""Write a reason as a sentence; only this module joins a hint to its reason."""

from __future__ import annotations

import re

from memcli.checking import TYPE_CHECKING
from memcli.language.stopwords import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.errors import Reason
    from memcli.search.pipeline import Answer
    from memcli.search.repair import Repair


# Words joined by the one who asks, such as Wars-related: that no note has this form says nothing.
_COMPOUND = re.compile(r"[^\W\d_]+(?:[-/][^\W\d_]+)+")
# Words that only ask, as in "how much memory", "what kind of", "what was said regarding".
_WORDS = """
    according actually average based briefly conclusion considered currently describe described
    discuss discussed exactly far general happen happened kind long many mention mentioned much
    often particularly please recently regarding sort specifically summarise summarize terms type
    types various
"""
_ASKING = frozenset(_WORDS.split())
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
    """Say in one line how the passages differ from the question; "" if they do not."""
    if not answer.passages:
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
    return "None of these is of that time." if _is_of_other_days(answer) else ""


def _is_of_other_days(answer: Answer) -> bool:
    """Return whether a question names days, and no passage is of them or names their year.

    If the question names no year, a passage may name their month or day.
    """
    spans = [each for each in answer.dates if not (each.excluded or each.order)]
    if not spans:
        return False
    from memcli.dates.find import mentions, names_no_year

    bounds = [(each.start or "", each.end or "9999") for each in spans]
    months = [bound for each, bound in zip(spans, bounds, strict=True) if names_no_year(each)]
    years = {day[:4] for bound in bounds for day in bound}
    return not any(
        any(first <= (about.date or "") and (about.first_day or about.date or "") <= last
            for first, last in bounds)
        or any(year in text for year in years)
        or any(mentions(text, first, last, about.date) for first, last in months)
        for about, text in ((each.about, each.text) for each in answer.passages)
    )  # fmt: skip


def match_line(answer: Answer) -> str:
    """Say in a line that the passages may not answer; "" if they probably do."""
    return " ".join(filter(None, (doubt(answer), absent(answer))))


def absent(answer: Answer) -> str:
    """Name the words that no note contains; if the passages match well without them, only names.

    A long question always has such words.
    """
    from memcli.search.pipeline import OFF_TOPIC

    words = [
        word
        for word in answer.unmatched
        if word not in answer.missing_phrases
        and word not in _ASKING
        and word.lower() not in ENGLISH
        and not _COMPOUND.fullmatch(word)
    ]
    if answer.is_strong:
        words = [word for word in words if word[:1].isupper()]
    is_off_topic = answer.match_reason == OFF_TOPIC
    if not (answer.passages or is_off_topic) or answer.is_long or not words:
        return ""
    note = "searched note" if answer.of_some else "note"
    return f"No {note} contains: {', '.join(words[:MOST_MISSING])}."


def quoted(phrases: Sequence[str]) -> str:
    """Quote phrases as they were typed."""
    return ", ".join(f'"{phrase}"' for phrase in phrases)
