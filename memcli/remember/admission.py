"""Decide whether a note belongs in the memory, by rules in a fixed order; pure.

A rule refuses with a reason and, if a line of the memory is the reason, its citation. The first
refusal ends the check. A line with another number, name or negation is another fact, and no rule
about duplicates refuses it. The result cites older lines about the same thing: the note may replace
one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from memcli.language.correction import corrects
from memcli.language.facts import (
    Facets,
    adds,
    containment,
    differs,
    facets_of,
    jaccard,
    replaces,
    says_more,
)
from memcli.language.terms import has_form, has_han, terms
from memcli.language.word_order import is_moved
from memcli.record import Record
from memcli.remember.note_score import GateWeights, NoteScore, score_of
from memcli.remember.orders import is_order
from memcli.remember.restated import ends, has_new_value, is_of_owner, owner_names, restates
from memcli.secrets.finding import find_secrets
from memcli.secrets.stated import stated_secret
from memcli.types import cite

MOST_CHARACTERS = 4000  # about two pages; a longer text is a document
SAME_WORDS = 0.8  # Jaccard
SAME_MEANING = 0.95  # cosine
# A note counts as a repetition of what the session was shown if it shares this much of its content.
ECHOED = 0.7
ABOUT_THE_SAME = 0.5  # Jaccard: from here on two lines are about the same
# A line that a note may replace: cosine, or without vectors Jaccard, in Chinese of pairs. For 74
# English notes that replace a line in other words (`paraphrased` in the fixture), 66 lines are
# named, and 48 of them are right; at .35 it is 95 and 58.
NEAR, NEAR_BY_WORDS, NEAR_BY_PAIRS = 0.4, 0.15, 0.06
SHARED_WORDS = 2
SAME_THING = 0.7  # likeness of a line that has another number for the same thing
MOST_OLDER = 2
_PRESENT = frozenset(["now", "since", "jetzt", "seit"])
# A little above the weight of novelty: a line that is only new, and has no content, is not worth
# saving.
LEAST_WORTH = 0.31

# Whether a line was shown to this session: (source, path, text of the line).
WasShown = Callable[[str, str, str], bool]


class SimilarLine(Record):
    """A line of the memory that may say the same."""

    source: str
    path: str
    start_line: int
    end_line: int
    text: str
    cosine: float | None = None  # to the note; None if no model has compared them
    is_private: bool = False
    is_heading: bool = False
    headings: tuple[str, ...] = ()  # above it

    @property
    def citation(self) -> str:
        """Name the lines."""
        return cite(self.source, self.path, self.start_line, self.end_line)

    def overlaps(self, other: SimilarLine) -> bool:
        """Return whether both have a line of a document."""
        is_near = self.start_line <= other.end_line and other.start_line <= self.end_line
        return is_near and (self.source, self.path) == (other.source, other.path)


class Check(Record):
    """The result of one rule."""

    # empty, too-long, secret, instruction, duplicate, near-duplicate, known, echo or low-score
    rule: str
    passed: bool
    reason: str
    citation: str | None = None


class OlderLine(Record):
    """A line about the same thing as a note, which may replace it."""

    citation: str
    text: str  # "" if it is private
    differs: bool  # the note may correct it


class Judgement(Record):
    """The results of the rules that were checked, and the score of the note."""

    checks: tuple[Check, ...]  # in their order; the last may have refused
    score: NoteScore
    older: tuple[OlderLine, ...] = ()  # MOST_OLDER at most

    @property
    def refusal(self) -> Check | None:
        """Return the rule that refuses the note."""
        return next((check for check in self.checks if not check.passed), None)


class AdmissionSettings(Record):
    """The settings of the rules."""

    weights: GateWeights
    least: float = 0.0  # score; 0: any
    was_shown: WasShown | None = None
    # Refuse what a line says in other words, and texts that tell a model what to do.
    is_of_agent: bool = False
    knows_cosines: bool = False  # the constant for a near line was measured with the same model


def judge(
    text: str, neighbours: Sequence[SimilarLine], settings: AdmissionSettings, *, heading: str = ""
) -> Judgement:
    """Check the rules; `neighbours` are the most similar lines of the memory.

    The heading above the note is written with it, so it must not contain a secret either.
    """
    facets = facets_of(text)
    compared = [(each, facets_of(each.text)) for each in neighbours]
    same = (pair for pair in compared if not _is_another(facets, pair[1]))
    best = max((_likeness(facets, other, each) for each, other in same), default=0.0)
    score = score_of(text, facets, best, settings.weights)
    checks: list[Check] = []
    for check in (
        _length(text, facets),
        _secret(f"{heading}\n{text}"),
        *([_order(text)] if settings.is_of_agent else []),
        _duplicate(facets, compared),
        _near_duplicate(facets, compared),
        *([_known(text, compared, settings)] if settings.is_of_agent else []),
        _echo(facets, compared, settings.was_shown),
        _least_score(score, settings.least),
    ):
        checks.append(check)
        if not check.passed:
            break
    return Judgement(tuple(checks), score, tuple(_older(text, facets, compared)))


def is_same(a: str, b: str) -> bool:
    """Return whether two lines are the same words in the same order."""
    one, other = facets_of(a), facets_of(b)
    return bool(one.sequence) and _has_same_words(one, other)


def _has_same_words(a: Facets, b: Facets) -> bool:
    """Return whether two lines have the same words, counting operators of code as words."""
    return a.sequence == b.sequence and a.telling == b.telling


Compared = Sequence[tuple[SimilarLine, Facets]]


def _length(text: str, facets: Facets) -> Check:
    if not facets.sequence:
        return Check("empty", False, "it has no words")
    if len(text) > MOST_CHARACTERS:
        why = f"it has {len(text)} characters, and a note at most {MOST_CHARACTERS}"
        return Check("too-long", False, why)
    return Check("too-long", True, f"{len(text)} of at most {MOST_CHARACTERS} characters")


def _secret(text: str) -> Check:
    secrets = [f"{each.kind} ({each.fingerprint})" for each in find_secrets(text)]
    kinds = dict.fromkeys(secrets or filter(None, [stated_secret(text)]))
    if not kinds:
        return Check("secret", True, "it contains no known secret")
    return Check("secret", False, f"it contains a secret: {', '.join(kinds)}")


def _order(text: str) -> Check:
    if is_order(text):
        return Check("instruction", False, "it tells a model what to do instead of what is true")
    return Check("instruction", True, "it does not address a model")


def _duplicate(facets: Facets, compared: Compared) -> Check:
    for each, other in compared:
        if _has_same_words(other, facets):
            return Check("duplicate", False, "duplicate of an existing line", each.citation)
    return Check("duplicate", True, "no line of the memory has the same words")


def _near_duplicate(facets: Facets, compared: Compared) -> Check:
    nearest, what = 0.0, ""
    for each, other in compared:
        words, meaning = jaccard(facets, other), each.cosine or 0.0
        otherwise = differs(facets, other)
        goes_on = says_more(facets, other)  # and where it says all of the other too, it adds
        by_words = words >= SAME_WORDS and not goes_on
        by_order = is_moved(facets.tokens, other.tokens)
        by_meaning = meaning >= SAME_MEANING and not (goes_on and not says_more(other, facets))
        if (by_words or by_order or by_meaning) and not otherwise:
            shared = f"cosine {meaning:.2f}"
            if by_words or by_order:
                shared = f"{words:.0%} of the words" if by_words else "its words in another order"
            return Check("near-duplicate", False, f"nearly a duplicate ({shared})", each.citation)
        if max(words, meaning) > nearest:
            nearest, what = max(words, meaning), otherwise
    detail = f"the nearest line is {nearest:.2f} alike" if nearest else "no line is alike"
    return Check("near-duplicate", True, f"{detail}, with {what}" if what else detail)


def _known(text: str, compared: Compared, settings: AdmissionSettings) -> Check:
    owner = owner_names([(each.path, each.text) for each, _ in compared])
    for each, _ in compared:
        own = owner if is_of_owner(each.path, each.text) else ()
        cosine = (each.cosine or 0.0) if settings.knows_cosines else 0.0
        if each.is_heading or not restates(
            text, each.text, context=each.headings, owner=own, cosine=cosine
        ):
            continue
        # A value that a newer line replaced may hold again.
        newer = [
            line.text
            for line, _ in compared
            if not line.is_heading and corrects(line.text, each.text)
        ]
        if not any(corrects(line, text) for line in newer):
            return Check("known", False, "an existing line says the same", each.citation)
    return Check("known", True, "no line says the same in other words")


def _echo(facets: Facets, compared: Compared, was_shown: WasShown | None) -> Check:
    if was_shown is None:
        return Check("echo", True, "this session got no passages so far")
    for each, other in compared:
        if containment(facets, other) < ECHOED or replaces(facets, other) or adds(facets, other):
            continue
        if was_shown(each.source, each.path, each.text):
            why = "it repeats the memory: this session was shown the line"
            return Check("echo", False, why, each.citation)
    return Check("echo", True, "this session was not shown it")


def _least_score(score: NoteScore, least: float) -> Check:
    made_of = (
        f"{score.value:.2f} = novelty {score.novelty:.2f}, specificity {score.specificity:.2f},"
        f" {score.kind} {score.kind_value:.1f}"
    )
    if score.value < least:
        return Check("low-score", False, f"its score is {made_of}; it must be at least {least:.2f}")
    return Check("low-score", True, f"its score is {made_of}")


def _older(text: str, facets: Facets, compared: Compared) -> list[OlderLine]:
    """List the lines that the note may replace: first those that it corrects, then the nearest.

    A line that a newer line of the memory corrects is not one of them.
    """
    older = []
    owner = owner_names([(each.path, each.text) for each, _ in compared])
    by_words = all(each.cosine is None for each, _ in compared)
    least = (NEAR_BY_PAIRS if has_han(text) else NEAR_BY_WORDS) if by_words else NEAR
    for each, other in compared:
        if each.is_heading or _names_subject(each, facets):
            continue
        own = owner if is_of_owner(each.path, each.text) else frozenset()
        strength = max(corrects(text, each.text), 1.0 * ends(text, each.text, owner=own))
        likeness = jaccard(facets, other) if by_words else each.cosine or 0.0
        is_near = (
            likeness >= least or _says_of_another(facets, other) or _has_label(each, facets, own)
        )
        if not (strength or is_near) or _is_replaced(each, compared):
            continue
        is_other_value = bool(facets.numbers - other.numbers and other.numbers - facets.numbers)
        has_changed = strength > 0 or (is_other_value and likeness >= SAME_THING)
        shown = "" if each.is_private else each.text
        line = OlderLine(each.citation, shown, differs=has_changed)
        older.append((strength, likeness, each, line))
    older.sort(key=lambda it: it[:2], reverse=True)
    named: list[tuple[SimilarLine, OlderLine]] = []
    for _, _, each, line in older:
        if not any(each.overlaps(other) for other, _ in named):  # a run of lines and one of them
            named.append((each, line))
    return [line for _, line in named[:MOST_OLDER]]


def _says_of_another(facets: Facets, other: Facets) -> bool:
    """Return whether a line has what a note says, of another thing or with another number.

    Example: `Levente leads the platform team`, and `Ilse leads the platform team`
    """
    values = {term for name in (*facets.names, facets.opening) for term in terms(name)}
    plain = {word for word in facets.content - values if not word[:1].isdigit()} - _PRESENT
    shared = {word for word in plain if word in other.terms or has_form(word, other.terms)}
    return len(shared) >= SHARED_WORDS + 1 and shared == plain


def _has_label(each: SimilarLine, facets: Facets, owner: Collection[str]) -> bool:
    """Return whether a note about the owner names the label of a line, and has another value.

    Example: `Runa uses Zed as her editor`, and `Editor: Helix` in her USER.md
    """
    label, _, value = each.text.partition(":")
    named, values = facets_of(label).content, facets_of(value).content
    return (
        each.path == "USER.md"
        and bool(named and values and facets.content & set(owner))
        and len(named) <= SHARED_WORDS
        and named <= facets.content - set(owner)
        and not values & facets.content
    )


def _is_replaced(line: SimilarLine, compared: Compared) -> bool:
    """Return whether another line, which is clearly the newer, has replaced the number in a line.

    Two lines such as `The rent is 980 euros` with two numbers may each correct the other.
    """
    return any(
        has_new_value(each.text, line.text)
        and corrects(each.text, line.text)
        and not corrects(line.text, each.text)
        for each, _ in compared
    )


def _names_subject(each: SimilarLine, facets: Facets) -> bool:
    """Return whether a line only names what the note is about, such as `Name: Runa`."""
    label, _, value = each.text.partition(":")
    words = facets_of(value).content
    return bool(words) and words <= facets.content and not facets_of(label).content & facets.content


def _is_another(facets: Facets, other: Facets) -> bool:
    """Return whether a line is another fact, however similar it is."""
    is_like = jaccard(facets, other) >= ABOUT_THE_SAME
    return adds(facets, other) or (is_like and replaces(facets, other))


def _likeness(facets: Facets, other: Facets, each: SimilarLine) -> float:
    return each.cosine if each.cosine is not None else jaccard(facets, other)
