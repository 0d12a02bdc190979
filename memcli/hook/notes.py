"""Choose the passages that a hook adds to a prompt, and write them; pure.

The block is that of a context: quotations in fences that no text can close, each with its source.

Nobody asked for these passages, so a good answer is not enough: "why is the sky blue" matches the
words of any chat. Unless the prompt names a day or an identifier of the notes, the first passage
must also be near. With vectors, its cosine decides (.3 for the bundled model; .2 to .4 were tried),
and a weak match counts too if it is nearer. Without vectors, the passage must contain half of the
weight of the prompt's words, and at least two of them.

A prompt about the world or a piece of code differs from one about what somebody did: it has no name
that the passage contains too, no "we" and no past tense. Then the passage must be much nearer.
`tests.benchmarks.hook` measures all this.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import dropwhile, takewhile

from memcli.checking import TYPE_CHECKING
from memcli.context.parts import NO_RULES, opening_line
from memcli.hook.prompts import (
    asks_about_product,
    asks_for_definition,
    contained,
    is_of_the_past,
    subject,
)
from memcli.hook.session import line_keys
from memcli.language.tokens import estimate
from memcli.record import Record
from memcli.render.reasons import absent
from memcli.render.sanitize import broken_up, fence_for
from memcli.search.budget import fit_budget
from memcli.search.ranked import RankedPassage, mark_of
from memcli.search.snippet import make_snippet
from memcli.types import TRUSTS, About

if TYPE_CHECKING:
    from memcli.search.pipeline import Answer
    from memcli.search.question import Question

# Within 600 tokens, the first three have evidence for .545 of LoCoMo's questions, .507 within 400;
# the first five have it for .547 and cost 63 tokens more.
PASSAGES, BUDGET = 3, 600
# The least confidence of a passage, if another has more. Without it 88 of 92 prompts get evidence,
# in 483 tokens each; with it 87 do, in 365.
LEAST_CONFIDENCE = 0.3


class Nearness(Record):
    """What a first passage needs."""

    nearer: float  # cosine beyond `Calibration.near`
    nearer_if_weak: float  # the same, if the match is weak
    term_share: float  # without vectors: the share of the prompt's words, by weight
    words: int  # and by number


# Of 271 questions to five collections, 126 get notes with vectors, and so does 1 of 785 prompts off
# the topic or about code. A nearness of .2 gives notes to 12 more questions, and in a chat about a
# web application to 10 of 157 such prompts. Without vectors 91 of 229 and 5 of 785 get notes.
OF_THE_PAST, OF_THE_WORLD = Nearness(0.0, 0.15, 0.52, 2), Nearness(0.3, 0.35, 0.75, 2)
# Where words have no spaces, a search is for pairs of characters, and about every second pair only
# joins two words. So such a prompt needs less of their weight, by this share. In four Chinese
# collections 283 of 514 questions get notes, 157 without this; so do two more other prompts.
OF_PAIRS = 0.5
# A passage is left out if more than this share of its characters was shown before.
MOST_GIVEN = 0.5


def why_nothing(question: Question, answer: Answer) -> str:
    """Return why a prompt gets no passages unasked; "" if it gets some."""
    is_strong = answer.is_strong
    if not answer.passages or not (is_strong or _may_answer(answer)):
        return "the memory has no sure answer"
    first = answer.passages[0]
    if is_strong and _names_what_is_there(first, question, answer):
        return ""
    # A newer line often has fewer words of the prompt than the line that it corrects.
    judged = answer.passages[: PASSAGES if first.is_moved_newer else 1]
    distances = [_distance(passage, question, answer) for passage in judged]
    return distances[0] if all(distances) else ""


def _may_answer(answer: Answer) -> bool:
    """Return whether a weak match, if it is near, probably answers.

    It does not if another speaker says it, if only one word fits and it is not of the day in
    question, or if a word is in no note.
    """
    has_vectors = answer.constants is not None and answer.constants.near > 0
    reason = answer.match_reason.code if answer.match_reason else "close"
    is_close = reason == "close" or (reason == "one-word" and bool(answer.dates))
    return has_vectors and answer.passages[0].cosine is not None and is_close and not absent(answer)


def deserved(question: Question, answer: Answer) -> Sequence[RankedPassage]:
    """Return the passages that a prompt may get unasked; none without a sure answer.

    If the prompt has an identifier of the notes, only passages with it.
    """
    if why_nothing(question, answer):
        return ()
    if named := _with_names(question, answer):
        return named[:PASSAGES]
    first = answer.passages[:PASSAGES]
    good = dropwhile(lambda passage: not _is_worth_it(passage), first)
    return [*takewhile(_is_worth_it, good)] or first[:1]


def _with_names(question: Question, answer: Answer) -> list[RankedPassage]:
    """Return the passages that contain an identifier of the prompt, the best first."""
    names = [name.casefold() for name in _identifiers(question)]
    every = (*answer.passages, *answer.left) if names else ()
    return [each for each in every if any(name in each.text.casefold() for name in names)]


def _identifiers(question: Question) -> list[str]:
    """List the identifiers of a prompt, unless it asks what a thing is in general."""
    if asks_for_definition(question.text) or asks_about_product(question.text):
        return []
    return [term.text for term in question.query.terms if term.kind == "identifier"]


def _is_worth_it(passage: RankedPassage) -> bool:
    return (passage.confidence or 0.0) >= LEAST_CONFIDENCE


def _names_what_is_there(passage: RankedPassage, question: Question, answer: Answer) -> bool:
    """Return whether a prompt names an identifier that some passage contains, or a day.

    If it is not only about that day, the passage has to contain a word of it too.
    """
    unmatched = set(answer.unmatched)
    if any(name not in unmatched for name in _identifiers(question)):
        return True
    names_day = any(date.start or date.end for date in answer.dates)
    words, there = _words(passage, question)
    return names_day and (there > 0 or not words)


def _distance(passage: RankedPassage, question: Question, answer: Answer) -> str:
    """Return why a passage is too far by meaning, else by its words; "" if it is near."""
    near = answer.constants.near if answer.constants else 0.0
    limits = OF_THE_PAST if is_of_the_past(question.text, passage.text) else OF_THE_WORLD
    if near and passage.cosine is not None:
        is_strong = answer.is_strong
        least = near + (limits.nearer if is_strong else limits.nearer_if_weak)
        is_near = passage.cosine >= least
        digits = 2 if f"{passage.cosine:.2f}" != f"{least:.2f}" else 3
        text = f"a cosine of {passage.cosine:.{digits}f}, and {least:.{digits}f} is wanted"
    else:
        words = _words(passage, question)[1]
        least = limits.term_share * (1 - OF_PAIRS * question.query.unspaced)
        is_near = passage.term_share >= least and words >= limits.words
        text = (
            f"{words} words of the prompt, {passage.term_share:.0%} of their weight;"
            f" {limits.words} and {least:.0%} are wanted"
        )
    return "" if is_near else f"{passage.citation} is not near enough: it has {text}"


def _words(passage: RankedPassage, question: Question) -> tuple[int, int]:
    """Count the words that a prompt could be about, and those of them that a passage contains."""
    words = [term.text for term in subject(question.query)]
    return len(words), len(contained(words, passage.text))


def fitting(
    passages: Sequence[RankedPassage], seen_lines: Collection[str], *, budget: int
) -> list[RankedPassage]:
    """Return the passages that the session has not seen, as many as fit with their notices.

    `budget` is in tokens, `seen_lines` has the keys of lines.
    """
    known = set(seen_lines)
    fresh = []
    for passage in passages:
        if not is_known(passage, known):
            fresh.append(passage)
            known.update(keys_of(passage.about, passage.text))
    room = budget
    while True:
        chosen = fit_budget(fresh, budget=max(0, room))[0]
        over = estimate(block(chosen)) - budget
        if over <= 0 or not chosen:
            return chosen
        room -= over


def is_known(passage: RankedPassage, seen_lines: Collection[str]) -> bool:
    """Return whether most of a passage was shown before."""
    lines = passage.text.split("\n")
    keys = line_keys(*passage.about.document, lines)
    had = sum(len(line) for line, key in zip(lines, keys, strict=True) if key in seen_lines)
    return had > MOST_GIVEN * sum(map(len, lines))


def keys_of(about: About, text: str) -> list[str]:
    """Return the keys of the lines of a text."""
    return line_keys(*about.document, filter(None, text.split("\n")))


def block(passages: Sequence[RankedPassage]) -> str:
    """Write passages for a model; "" of none."""
    return NO_RULES + "\n".join(map(_quoted, passages)) if passages else ""


def _quoted(passage: RankedPassage) -> str:
    from memcli.remember.orders import is_plain_order

    text = broken_up(make_snippet(passage, words=()).text)
    about = passage.about._replace(start_line=passage.start_line, end_line=passage.end_line)
    if is_plain_order(passage.text):
        about = about._replace(trust=TRUSTS[1])
    fence = fence_for(text)
    return f"{fence}{opening_line(about, text, mark_of(passage.corrected_by))}\n{text}\n{fence}\n"
