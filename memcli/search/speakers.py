"""Weigh the lines of a conversation by their speakers, if the question asks for some; pure.

A question in the first person asks for the words of its writer, which an assistant's long advice
would bury. So the lines of a machine count for less by MACHINE_SHARE, and those after the first
lines of a long turn by PASTED_SHARE. If the question names speakers, the lines of others are
trimmed off the ends of a passage unless they contain a word of the question. A passage without a
line of the named speakers counts for less by OTHERS_SHARE. Notes have no speakers, so their scores
stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from math import fsum
from operator import itemgetter

from memcli.checking import TYPE_CHECKING
from memcli.language.stopwords import ENGLISH
from memcli.language.words import prepare
from memcli.markdown.turns import ROLES, USER, is_machine, role_of, speaker_at
from memcli.record import Record
from memcli.search.focus import WeightedTerm, idf_share
from memcli.search.lines import by_line
from memcli.search.ranked import RankedPassage, ordered
from memcli.search.recall import part_tokens, shares_of, with_shares

if TYPE_CHECKING:
    from memcli.store.port import Snapshot
    from memcli.types import Candidate, Turn

# Over ten BEAM conversations (178 questions) nDCG@10 is .432 without it, .526 at .2, .562 at .4 and
# .552 at .6, Recall@1000tok .473, .546, .588 and .604.
MACHINE_SHARE = 0.4
# Code and logs that people paste into a long turn follow their own words. It takes nDCG@10 of the
# same 178 questions from .557 to .562, Recall@2000tok from .668 to .676 and Recall@500tok from .481
# to .478; it was chosen on them, and changes the three chats about programs and one other.
PASTED_SHARE = 0.5
LONG_TURN = 13  # lines
SAID_LINES = 4  # of a long turn, its first
# On LoCoMo (760 questions) both rules raise Recall@500/1000/2000tok by .004, .008 and .005 and cost
# .004 of nDCG@10, while a passage shrinks from 4.3 to 3.6 lines; on REALTALK (282) they raise it by
# .009, .020 and .011.
OTHERS_SHARE = 0.2

_FIRST_PERSON = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|myself|we|our|ours|ourselves"
    r"|ich|mich|mir|mein(?:e[mnrs]?)?|wir|unser(?:e[mnrs]?)?|yo|mi|mis|nosotr[oa]s|nuestr[oa]s?"
    r"|je|moi|mon|mes|nous|notre|nos)\b|\bus\b|[我咱私僕]",
    re.IGNORECASE,
)
_SECOND_PERSON = re.compile(
    r"\b(?:you|you're|you've|your|yours|yourself|du|dich|dir|dein(?:e[mnrs]?)?|euch|euer|eure"
    r"|tú|ti|tus?|usted(?:es)?|vous|votre|vos|toi)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_ASKS_THE_MACHINE = re.compile(
    r"\bdid you\b|\byou(?:'ve| have| had)? (?:told|said|suggested|recommended|advised|explained"
    r"|mentioned|gave|given|proposed|wrote|written)\b|你(?:告诉|说|建议|推荐|提到|给)",
    re.IGNORECASE,
)
_OF_THE_USER = re.compile(r"\bthe user\b|\buser['’]s\b", re.IGNORECASE)
_COUNTRY = re.compile(r"\bUS\b")
_WORD = re.compile(r"[^\W_](?:[\w'’&-]*[^\W_])?")


# Of 746 LoCoMo questions and 236 that ask one person about the other's actions, the area under the
# ROC of `lead_of` is .811. Below this lead the answer is not sure, which applies to a sixth of the
# former and two thirds of the latter.
DOUBTFUL_LEAD = 0.0
# By how much more of the question a line of another speaker must contain than each line of those
# whom it names. On LoCoMo, 3 in 10 questions about the wrong person then have a claim, and 2 in 100
# others.
CLAIM_LEAD = 0.1
MOST_JUDGED = 5


class SpeakerFocus(Record):
    """The speakers whose words a question is about."""

    names: tuple[str, ...] = ()  # speakers that it names, as the index has them
    of_writer: bool = False  # the question is in the first person, or about "the user"


def speaker_focus(question: str, speakers: Iterable[str]) -> SpeakerFocus:
    """Find out whose words a question is about.

    Example: speaker_focus("Who is Kate?", ["Kate", "Odette"]) -> SpeakerFocus(("Kate",), False)
    """
    words = _words(question)
    named = tuple(name for name in speakers if role_of(name) != USER and _is_in(name, words))
    speaks = _FIRST_PERSON.search(_COUNTRY.sub("", question))
    of_writer = speaks and not _ASKS_THE_MACHINE.search(question)
    return SpeakerFocus(named, bool(of_writer or _OF_THE_USER.search(question)))


def labels_of(label: str, speakers: Sequence[str]) -> list[str]:
    """Find the speakers that a name or a role means; none if no such speaker exists.

    `user` means everybody except machines if nobody has that name.
    """
    role = label.casefold()
    labels = [name for name in speakers if name.casefold() == role]
    if role in ROLES:
        labels = [name for name in speakers if role_of(name) == role]
        if role == USER and not labels:
            labels = [name for name in speakers if not is_machine(name)]
    return labels


def _words(text: str) -> list[str]:
    return [re.sub("['’]s?$", "", word) for word in _WORD.findall(text)]


def _is_in(name: str, words: Sequence[str]) -> bool:
    """Return whether words contain a name, also in the German genitive."""
    if name[0].lower() == name[0].upper():
        # If words are pairs of characters, lines of others contain as many by chance.
        return False
    name_words = _words(name)
    if name.casefold() in ENGLISH:  # Will, May: at the beginning of a sentence it may be the word
        return name in words[1:]
    runs = (words[at : at + len(name_words)] for at in range(len(words)))
    spelt = " ".join(name_words).casefold()
    return bool(name_words) and any(
        " ".join(run).casefold() in (spelt, f"{spelt}s") for run in runs
    )


class ConversationSpeakers(Record):
    """The speakers in the chunks that were found, and those whose words are wanted."""

    focus: SpeakerFocus
    by: tuple[str, ...]  # the only speakers whose lines are wanted; empty for all
    turns: Mapping[int, Sequence[Turn]]  # by chunk id

    def leaned(self, passages: Sequence[RankedPassage]) -> Sequence[RankedPassage]:
        """Lower chunks in which only machines speak, if the question is about its writer."""
        if not self.focus.of_writer:
            return passages
        leaned = []
        for passage in passages:
            about = passage.about
            weight = weight_of(self.turns.get(about.chunk_id, ()), about.start_line, about.end_line)
            leaned.append(passage if weight == 1.0 else _lowered(passage, weight))
        return ordered(leaned)

    def weights(self, chunks: Iterable[Candidate]) -> dict[int, list[float]]:
        """Return how much each segment counts in chunks with speakers, by chunk id."""
        return {
            c.about.chunk_id: [
                weight_of(turns, segment.start_line, segment.end_line) for segment in c.segments
            ]
            for c in (chunks if self.focus.of_writer else ())
            if (turns := self.turns.get(c.about.chunk_id))
        }

    def voices(
        self, snapshot: Snapshot, chunks: Iterable[Candidate], terms: Iterable[WeightedTerm]
    ) -> Voices | None:
        """Cut chunks into lines and find those with words of the question besides the names."""
        names = self.by or self.focus.names
        if not names:
            return None
        lines = [by_line(chunk) for chunk in chunks if chunk.about.chunk_id in self.turns]
        counted = _without(snapshot, terms, names)
        return Voices(
            names,
            bool(self.by),
            self.turns,
            {candidate.about.chunk_id: candidate for candidate in lines},
            {
                chunk: [idf_share(line, counted) for line in cut]
                for chunk, cut in part_tokens(snapshot, lines).items()
            },
        )


def with_claims(
    snapshot: Snapshot,
    passages: Sequence[RankedPassage],
    terms: Iterable[WeightedTerm],
    names: Sequence[str],
) -> tuple[RankedPassage, ...]:
    """Compute how much of the question each line contains, without the speakers whom it names.

    Lines in which another speaker claims what is asked about them become the `claims` of their
    passage.
    """
    counted = _without(snapshot, terms, names)
    made = with_shares(snapshot, passages, counted)
    spoken = [
        (passage, line, share, speaker_at(passage.turns, line))
        for passage in made
        for line, share in passage.shares
    ]
    least = max((share for *_, share, by in spoken if by in names), default=0.0) + CLAIM_LEAD
    claims: dict[int, list[int]] = {}
    for passage, line, share, by in spoken:
        if share > least and by and by not in names:
            sentences = _SENTENCE_END.split(_line(passage, line))
            shares = shares_of(snapshot, sentences, counted)
            best = max(zip(shares, sentences, strict=True), key=itemgetter(0))[1]
            if _is_claim(best, names):
                claims.setdefault(id(passage), []).append(line)
    return tuple(passage._replace(claims=tuple(claims.get(id(passage), ()))) for passage in made)


def _line(passage: RankedPassage, line: int) -> str:
    """Return the words of a line behind the name of its speaker."""
    text = passage.text.split("\n")[line - passage.start_line]
    return text.partition(f"{speaker_at(passage.turns, line)}**")[2] or text


def _is_claim(sentence: str, names: Sequence[str]) -> bool:
    """Return whether a sentence is in the first person and about nobody whom the question names."""
    words = _words(sentence)
    is_about_them = _SECOND_PERSON.search(sentence) or any(_is_in(name, words) for name in names)
    return bool(_FIRST_PERSON.search(sentence)) and not is_about_them


def _without(
    snapshot: Snapshot, terms: Iterable[WeightedTerm], names: Sequence[str]
) -> list[WeightedTerm]:
    """Leave out the terms that are names."""
    own = {token for cut in snapshot.tokens([*map(prepare, names)]) for token in cut}
    return [term for term in terms if term.tokens and not own.issuperset(term.tokens)]


def resolve_speakers(
    turns: Mapping[int, Sequence[Turn]],
    question: str,
    speakers: Sequence[str],
    *,
    by: tuple[str, ...] = (),
) -> ConversationSpeakers | None:
    """Find out whose words a question is about; None if it makes no difference who speaks.

    `turns` are those of the candidates, by chunk id.
    """
    focus = speaker_focus(question, speakers)
    return ConversationSpeakers(focus, by, turns) if focus.names or focus.of_writer or by else None


def weight_of(turns: Iterable[Turn], first: int, last: int) -> float:
    """Return how much some lines count: less by the machine's share, if nobody else speaks.

    What a person has pasted after their own words counts less, too.
    """
    machine = 0
    for turn in turns:
        lines = min(turn.end_line, last) - max(turn.start_line, first) + 1
        if lines > 0 and not is_machine(turn.speaker):
            is_long = turn.end_line - turn.start_line >= LONG_TURN - 1
            return 1.0 - PASTED_SHARE * (is_long and first >= turn.start_line + SAID_LINES)
        machine += max(0, lines)
    return 1.0 - MACHINE_SHARE * min(1.0, machine / (last - first + 1))


def lead_of(passages: Iterable[RankedPassage]) -> float | None:
    """Return how much more of the question named speakers' lines contain than lines of others.

    It is the mean over the first passages of the share of IDF in the best line, from -1 to 1; None
    if the question names nobody who speaks.
    """
    matches = (each.speaker_match for each in passages)
    leads = [*islice((match for match in matches if match is not None), MOST_JUDGED)]
    return fsum(leads) / len(leads) if leads else None


def _lowered(passage: RankedPassage, weight: float = 1.0 - OTHERS_SHARE) -> RankedPassage:
    return passage.moved(passage.score * weight, "speaker", weight=weight)


class Voices(Record):
    """The speakers in the chunks of a search, line by line, and those whose lines are wanted."""

    names: tuple[str, ...]
    only: bool  # no lines of others at all
    turns: Mapping[int, Sequence[Turn]]  # by chunk id
    lines: Mapping[int, Candidate]  # chunks with one segment per line
    # The share of the question's IDF, without the names, in each line.
    shares: Mapping[int, Sequence[float]]

    def trimmed(self, passages: Sequence[RankedPassage]) -> list[RankedPassage]:
        """Trim lines of others off passages, and lower passages without any line of the speakers.

        With `only`, leave out every line of others.
        """
        moved: list[RankedPassage] = []
        for passage in passages:
            if passage.about.chunk_id not in self.lines:
                moved.append(passage)
            else:
                moved += self._theirs(passage) if self.only else [self._cut(passage)]
        return ordered(moved)

    def _theirs(self, passage: RankedPassage) -> list[RankedPassage]:
        """Make a passage of each run of lines of the wanted speakers.

        The run with the best line keeps the score, and the others count less.
        """
        candidate, inside, best = self._inside(passage)
        shares, turns = self.shares[passage.about.chunk_id], self.turns[passage.about.chunk_id]
        runs: list[list[int]] = []
        for at in inside:
            if speaker_at(turns, candidate.segments[at].start_line) not in self.names:
                continue
            if runs and runs[-1][-1] == at - 1:
                runs[-1].append(at)
            else:
                runs.append([at])
        if not runs:
            return []

        def worth(run: list[int]) -> tuple[bool, float]:
            return best in run, max(shares[at] for at in run)

        first = max(runs, key=worth)
        made = []
        for run in runs:
            known = [c for at in run if (c := candidate.segments[at].cosine) is not None]
            cut = passage._replace(
                candidate=candidate,
                first=run[0],
                last=run[-1],
                best=best if best in run else max(run, key=shares.__getitem__),
                own_cosine=min(1.0, max(0.0, *known)) if known else passage.own_cosine,
                own_coverage=min(passage.term_share, fsum(shares[at] for at in run)),
                is_literal=passage.is_literal and run is first,
            )
            made.append(cut if run is first else _lowered(cut))
        return made

    def _cut(self, passage: RankedPassage) -> RankedPassage:
        """Return a passage without the idle lines at its ends; lower one of others only."""
        chunk, shares = passage.about.chunk_id, self.shares[passage.about.chunk_id]
        candidate, inside, best = self._inside(passage)
        own, lines = ("", *self.names), candidate.segments
        others = {
            at for at in inside if speaker_at(self.turns[chunk], lines[at].start_line) not in own
        }
        if len(others) < len(inside):
            places = [at for at in inside if at not in others or shares[at]]
            inside = [at for at in inside if places[0] <= at <= places[-1]]
        first, last = inside[0], inside[-1]
        theirs = max((shares[at] for at in inside if at not in others), default=0.0)
        lead = theirs - max((shares[at] for at in inside if at in others), default=0.0)
        cut = passage._replace(
            candidate=candidate,
            first=first,
            last=last,
            best=min(max(best, first), last),
            named_speakers=self.names,
            speaker_match=lead,
        )
        return cut if any(at not in others for at in inside) else _lowered(cut)

    def _inside(self, passage: RankedPassage) -> tuple[Candidate, list[int], int]:
        """Return the chunk cut into lines, the lines of a passage, and the best of these."""
        candidate, segments = self.lines[passage.about.chunk_id], passage.candidate.segments
        start, end = segments[passage.first].start, segments[passage.last].end
        inside = [at for at, line in enumerate(candidate.segments) if start <= line.start < end]
        best = next(
            at for at in inside if candidate.segments[at].end > segments[passage.best].start
        )
        return candidate, inside, best
