"""How much of an answer is worth reading."""

from __future__ import annotations

import pytest

from memcli.dates.intent import asks
from memcli.errors import Reason
from memcli.search.claims import blocks_of
from memcli.search.confidence import LOW
from memcli.search.pipeline import NOTHING, cut_to_worthwhile
from memcli.search.ranked import Correction, RankedPassage
from memcli.search.reading_value import asks_for_several, best_lines
from memcli.types import Turn
from tests.search.makers import candidate, fused

MISS = 1000  # tokens; what is worth reading in these examples
WORDS = "the pool ran dry before noon"  # 7 tokens


def _passage(at: int, score: float, confidence: float | None, *lines: str) -> RankedPassage:
    lines = lines or (WORDS,)
    (passage,) = fused(candidate(at, lines=lines, cosines=(0.5,) * len(lines)))
    return passage._replace(score=score, confidence=confidence, last=len(lines) - 1)


def _ended(
    passages: list[RankedPassage],
    *,
    match_reason: Reason | None = None,
    is_measured: bool = True,
    miss: int = MISS,
) -> tuple[list[RankedPassage], int]:
    answer = NOTHING._replace(
        passages=tuple(passages),
        match="weak" if match_reason else "strong",
        match_reason=match_reason,
        is_measured=is_measured,
    )
    read = cut_to_worthwhile(answer, miss=miss)
    return list(read.passages), read.weaker


def test_an_answer_ends_where_what_follows_is_far_less_likely() -> None:
    scores = ((1.0, 0.99), (0.97, 0.99), (0.3, 0.06), (0.25, 0.05))
    passages = [_passage(at, *each, *[WORDS] * 6) for at, each in enumerate(scores, 1)]
    kept, weaker = _ended(passages)
    assert (kept, weaker) == (passages[:2], 2)


def test_passages_that_are_as_likely_are_all_shown_unless_nothing_matches() -> None:
    passages = [_passage(at, 1.0, 0.5) for at in range(1, 8)]
    assert _ended(passages) == (passages, 0)
    assert _ended(passages, match_reason=LOW) == (passages[:3], 4)
    assert _ended(passages, match_reason=LOW, is_measured=False) == (passages[:3], 4)
    unknown = [passage._replace(confidence=None) for passage in passages]
    assert _ended(unknown) == (unknown, 0)


def test_of_an_identifier_the_passages_that_have_it_are_shown() -> None:
    has_it, also = (_passage(at, 0.5, 0.01)._replace(is_literal=True) for at in (1, 4))
    passages = [has_it, _passage(2, 0.9, 0.29), _passage(3, 0.4, 0.3), also]
    answer = NOTHING._replace(passages=tuple(passages), match="strong", is_exact=True)
    read = cut_to_worthwhile(answer)
    assert (read.passages, read.weaker) == ((has_it, passages[2], also), 1)
    inexact = tuple(passage._replace(is_literal=False) for passage in passages)
    assert cut_to_worthwhile(answer._replace(passages=inexact)).passages == inexact


def test_the_first_passage_is_shown_at_any_length_and_no_answer_is_none() -> None:
    long = _passage(1, 1.0, 0.1, WORDS * 500)
    assert _ended([long, _passage(2, 0.1, 0.0, WORDS * 500)]) == ([long], 1)
    assert _ended([]) == ([], 0)


def test_the_rest_of_an_answer_is_what_it_left_out() -> None:
    passages = [
        _passage(at, *each, *[WORDS] * 6) for at, each in enumerate([(1.0, 0.9), (0.2, 0.1)], 1)
    ]
    answer = NOTHING._replace(passages=tuple(passages), match="strong", is_measured=True)
    assert cut_to_worthwhile(answer).passages == (passages[0],)
    assert cut_to_worthwhile(answer).left == (passages[1],)
    bounded = cut_to_worthwhile(answer, budget=1)
    assert (bounded.passages, bounded.left) == ((), tuple(passages))
    assert (bounded.omitted_over_budget, bounded.weaker) == (1, 1)


def test_a_list_has_the_best_line_of_each_passage_that_may_answer() -> None:
    pools, others = _passage(1, 0.9, 0.5, "A bus.", "- The pool ran dry."), _passage(2, 0.1, 0.01)
    (line,) = best_lines([pools, others], ["pool"])
    assert (line.citation, line.text) == (f"{pools.about.path}:2", "- The pool ran dry.")
    assert [passage.citation for passage in best_lines([others], ["pool"])] == [others.citation]


def test_a_line_of_a_list_has_only_the_corrections_of_its_item() -> None:
    lines = ("- The pool is", "  cold.", "- The bus is red.")
    newer = Correction(9, "", "9.md", 1, 1, "2026-01-02", "The pool is warm.", line=1)
    passage = _passage(1, 0.9, 0.5, *lines)._replace(
        corrected_by=(newer, newer._replace(text="The bus is blue.", line=3))
    )
    for word, text in (("cold", "The pool is warm."), ("bus", "The bus is blue.")):
        (line,) = best_lines([passage], [word])
        assert [each.text for each in line.corrected_by] == [text]


CHATTER = "And what else is new with you, and with everybody at home. " * 10


def _talk(*said: tuple[str, str, float], best: float = 1.0) -> RankedPassage:
    """A passage of turns: who speaks, what, and which share of the question it holds."""
    lines = [f"- **{who}**: {text}" for who, text, _ in said]
    turns = tuple(Turn(n, n, who) for n, (who, _, _) in enumerate(said, 1))
    shares = tuple((n, share) for n, (_, _, share) in enumerate(said, 1))
    return _passage(1, best, 0.3, *lines)._replace(turns=turns, shares=shares)


def test_a_list_has_each_line_of_a_conversation_with_all_words_of_the_question() -> None:
    talk = _talk(("Ann", "The pool.", 1.0), ("Bo", "Oh.", 0.0), ("Ann", "The pool is dry.", 1.0))
    lines = best_lines([talk], ["pool"])
    assert [line.text for line in lines] == ["- **Ann**: The pool.", "- **Ann**: The pool is dry."]


def test_a_list_has_the_turns_of_a_conversation_with_a_gain_between_other_best_lines() -> None:
    pool, bus = (
        _talk(
            ("Ann", CHATTER * 20, 0.0),
            ("Bo", text, 1.0),
            ("Ann", "Dry.", 0.9),
            best=best,
        )
        for text, best in (("The pool.", 1.0), ("Our bus and the pool.", 0.7))
    )
    bus = bus._replace(candidate=bus.candidate._replace(about=_passage(2, 1.0, 0.3).about))
    lines = best_lines([pool, bus], ["pool"], is_measured=True)
    assert [line.text.rpartition(": ")[2] for line in lines] == [
        "The pool.", "Dry.", "Our bus and the pool.", "Dry.",
    ]  # fmt: skip
    assert len(best_lines([pool, bus], ["pool"])) == 2
    prose = _passage(1, 0.9, 0.5, "# Pools", "- One in Graz, near the pool.", "- One in Linz.")
    prose = prose._replace(shares=((2, 1.0), (3, 0.5)))
    for of_several, count in ((False, 1), (True, 2)):
        lines = best_lines([prose], ["pool"], is_measured=True, of_several=of_several)
        assert [line.start_line for line in lines] == [2, 3][:count]


def test_sentences_of_a_message_that_say_nothing_are_an_ellipsis() -> None:
    opening = "Hey Bo, so good to hear from you, I was just thinking about all of our friends here."
    facts, praise = (
        "We saw the pool in Oslo. It was dry.",
        "You are the best. So keep it up always!",
    )
    talk = _talk(("Ann", f"{opening} {praise} {facts} {praise}", 0.9), ("Bo", praise, 0.0))
    answer = NOTHING._replace(passages=(talk,), match="strong", words=("pool",))
    (read,) = cut_to_worthwhile(answer).passages
    assert read.shown.split("\n")[0] == f"- **Ann**: {opening} … {facts} …"
    assert (read.text, read.citation) == (talk.text, talk.citation)
    steps = f"{opening} 1. Drain it. 2. {praise} 3. Fill it. {praise}"
    deed = f"{opening} I finally mended the pump of ours. {praise}"
    for text, end in ((steps, steps), (deed, deed.replace(praise, "…"))):
        (read,) = cut_to_worthwhile(answer._replace(passages=(_talk(("Ann", text, 0.0)),))).passages
        assert read.shown == f"- **Ann**: {end}"
    (same,) = cut_to_worthwhile(answer._replace(words=("dónde", "está", "la", "piscina"))).passages
    assert same.shown == same.text


def test_small_talk_without_a_word_of_the_question_is_left_out_unless_it_replies() -> None:
    praise = "Thanks, Bo! You are so kind, and it means such a lot to me."
    talk = _talk(
        ("Ann", "The pool in Oslo was dry.", 1.0),
        ("Bo", "Oh no! Did the pool make you sad?", 0.5),
        ("Ann", praise, 0.0),
        ("Bo", "I hope that you are well. Keep it up!", 0.0),
        ("Ann", praise, 0.0),
        ("Ann", "We saw the museum in Bergen.", 0.0),
    )
    passages = (talk, *[_passage(2, 0.01, 0.0, CHATTER)] * 9)
    answer = NOTHING._replace(match="strong", is_measured=True, passages=passages, words=("pool",))
    shown = cut_to_worthwhile(answer, miss=480).passages
    lines = [line for part in shown for line in part.text.split("\n")]
    assert lines == [talk.text.split("\n")[at] for at in (0, 1, 2, 5)]


def test_an_ellipsis_never_stands_for_what_somebody_says_of_himself_or_shows() -> None:
    opening = "For sure, Bo! We can keep doing great things for all of the people in our town here."
    answer = NOTHING._replace(match="strong", words=("pool",))
    for said in (
        "Well, I'm off to have dinner with some friends from the gym.",
        "They're tough kids.",
        "And, I bought a cross necklace.",
        "Just got a pair of skates.",
        "Look at this homemade cream!",
    ):
        talk = _talk(("Ann", f"{opening} {said} I'm so happy for you! We can do it!", 0.0))
        (read,) = cut_to_worthwhile(answer._replace(passages=(talk,))).passages
        assert read.shown == f"- **Ann**: {opening} {said} …"


def test_an_ellipsis_never_stands_for_what_a_sentence_of_the_answer_refers_to() -> None:
    opening = "So good to hear from you, Bo, we all think of you so often here in the old house."
    text = f"{opening} Those games went badly. It was a pool of tears."
    answer = NOTHING._replace(
        match="strong", words=("pool",), passages=(_talk(("Ann", text, 1.0)),)
    )
    (read,) = cut_to_worthwhile(answer).passages
    assert read.shown == f"- **Ann**: {text}"


def test_a_greeting_is_left_out_if_anything_else_is_found() -> None:
    fact = "The two of us both enjoy a long walk by the sea."
    hello = _talk(("Ann", "Hey Bo! How've you been?", 0.0))
    talk = _talk(("Bo", "Hello Ann. How are you?", 0.5), ("Ann", fact, 0.5), ("Bo", "Bye!", 0.5))
    answer = NOTHING._replace(
        match="strong", is_measured=True, passages=(hello, talk), words=("enjoy",)
    )
    (read,) = cut_to_worthwhile(answer).passages
    assert read.text == f"- **Ann**: {fact}"
    (read,) = cut_to_worthwhile(answer._replace(passages=(hello,))).passages
    assert read.text == hello.text


def _citations(passage: RankedPassage, *, of_writer: bool = False) -> list[str]:
    answer = NOTHING._replace(
        passages=(passage, *[_passage(2, 0.01, 0.0, CHATTER)] * 9), match="strong"
    )
    answer = answer._replace(is_measured=True, of_writer=of_writer)
    read = cut_to_worthwhile(answer, miss=MISS)
    assert (read.weaker, {each.score for each in read.passages}) == (9, {passage.score})
    return [each.citation for each in read.passages]


def test_a_passage_of_a_conversation_is_narrowed_to_the_turns_that_answer() -> None:
    passage = _talk(
        ("Odette", CHATTER, 0.0), ("Kate", "the pool ran dry", 0.9), ("Odette", CHATTER, 0.0)
    )
    passage = passage._replace(named_speakers=("Kate",))
    assert _citations(passage) == ["1.md:2"]
    claimed = passage._replace(claims=(1,))
    (narrow,) = cut_to_worthwhile(
        NOTHING._replace(passages=(claimed,), match="strong", is_measured=True)
    ).passages
    assert (claimed.is_claimed, narrow.is_claimed) == (True, False)
    assert (claimed.claim_at(1), claimed.claim_at(2)) == ("[not Kate]", "")
    corrected = passage._replace(corrected_by=(Correction(9, "memory", "9.md", 1, 1, "", "no"),))
    assert _citations(corrected) == ["1.md:1-3"]


def test_a_note_is_narrowed_to_the_blocks_that_answer() -> None:
    lines = (f"- {CHATTER}", "- The pool", "  ran dry.", f"- {CHATTER}")
    note = _passage(1, 1.0, 0.3, *lines)
    note = note._replace(shares=tuple((at, float(at == 2)) for at in range(1, 5)))
    assert _citations(note) == ["1.md:2-3"]
    assert _citations(note._replace(is_literal=True)) == ["1.md:1-4"]
    newer = Correction(9, "memory", "9.md", 1, 1, "", "No.", line=4)
    assert _citations(note._replace(corrected_by=(newer,))) == ["1.md:1-4"]
    assert _citations(note._replace(corrected_by=(newer._replace(line=0),))) == ["1.md:2-3"]


@pytest.mark.parametrize(
    ("lines", "blocks"),
    [
        (["One line", "of a paragraph.", "", "Another."], [0, 0, 0, 3]),
        (["- item", "  below it", "  - nested", "- next"], [0, 0, 0, 3]),
        (["## Heading", "", "Text.", "- item"], [0, 0, 0, 3]),
        (["As follows:", "", "```", "a: 1", "", "b: 2", "```", "Then."], [0] * 8),
        (["Text.", "", "```", "x", "```", "", "After."], [0, 0, 2, 2, 2, 2, 6]),
        (["| a | b |", "|---|---|", "| 1 | 2 |", "", "After."], [0, 0, 0, 0, 4]),
        (["1. one", "2. two", "> quote", "> goes on"], [0, 1, 2, 2]),
    ],
)
def test_a_block_is_an_item_a_paragraph_a_table_or_code(
    lines: list[str], blocks: list[int]
) -> None:
    assert blocks_of("\n".join(lines)) == blocks


def test_turns_that_answer_apart_from_each_other_are_passages_of_their_own() -> None:
    fact = "the pool ran dry at noon, long before anybody had looked at it or refilled it again"
    passage = _talk(("Kate", fact, 0.9), ("Odette", CHATTER, 0.0), ("Kate", fact, 0.9))
    assert _citations(passage) == ["1.md:1", "1.md:3"]
    assert [each.citation for each in _ended([passage])[0]] == ["1.md:1"]  # no more than there were


def test_only_the_first_passage_has_turns_beside_the_best_one() -> None:
    fact = "the pool ran dry at noon, long before anybody had looked at it or refilled it again"
    first = _talk(("Kate", fact, 0.9), ("Odette", CHATTER, 0.8))
    second = first.candidate._replace(about=first.about._replace(chunk_id=2, path="2.md"))
    shown, _ = _ended([first, first._replace(candidate=second)])
    assert [each.citation for each in shown] == ["1.md:1-2", "2.md:1"]


def test_a_short_answer_keeps_its_question_unless_turns_are_apart() -> None:
    long = "Tell me at last, after all those weeks in which you never wrote, " * 4
    passage = _talk(("Odette", f"{long} why did the pool run dry?", 0.0), ("Kate", "A leak!", 0.9))
    assert _citations(passage) == ["1.md:1-2"]
    answer = NOTHING._replace(passages=(passage,), match="strong", is_measured=True)
    assert [each.citation for each in cut_to_worthwhile(answer, apart=True).passages] == ["1.md:2"]
    both = _talk(("Odette", "The pool is dry.", 0.3), ("Kate", "The pool ran dry by a leak.", 0.9))
    answer = answer._replace(passages=(both, _talk(("Kate", "No.", 0.0), best=0.1)))
    apart = cut_to_worthwhile(answer, apart=True).passages
    assert [each.citation for each in apart] == ["1.md:2", "1.md:1"]  # the best turn comes first


def test_what_a_machine_says_is_less_likely_to_answer_who_asks_of_himself() -> None:
    told = "the pool ran dry before noon, and it will again unless the pump is repaired " * 14
    passage = _talk(("User", told, 0.9), ("Assistant", told, 0.9))
    assert _citations(passage) == ["1.md:1-2"]
    assert _citations(passage, of_writer=True) == ["1.md:1"]


def test_a_question_on_another_subject_and_the_first_words_of_an_assistant_are_left_out() -> None:
    fact = "the pool ran dry before noon, and it will again unless the pump is repaired by May"
    other = "And what will you do on the long weekend that is coming, now that it is so warm?"
    passage = _talk(("Kate", fact, 0.3), ("Odette", f"{other} " * 11, 0.0), ("Kate", fact, 0.3))
    assert _citations(passage) == ["1.md:1", "1.md:3"]
    steps = f"Certainly! Here is how you can find out why the pool ran dry{' dry' * 40}:"
    passage = _talk(("User", fact, 0.3), ("Assistant", steps, 0.3))
    assert _citations(passage) == ["1.md:1"]


@pytest.mark.parametrize(
    ("question", "is_so"),
    [
        ("Which cities has Kate visited?", True),
        ("What kinds of tea does she buy?", True),
        ("What has Kate cooked?", True),
        ("What are her plans?", True),
        ("In June, what books did she read?", True),
        ("How often did the pool run dry?", True),
        ("List what broke", True),
        ("Wie viele Häuser hat Kate?", True),
        ("凯特去过哪些城市", True),
        ("凯特有多少朋友", True),
        ("日志保留多少天", False),
        ("What is the address of the class?", False),
        ("What does Kate's bus cost?", False),
        ("Who lives in this house?", False),
        ("Why are there two lists?", False),
        ("pool filter valves", False),
    ],
)
def test_a_question_asks_for_several_things(question: str, is_so: bool) -> None:
    assert asks_for_several(question) is is_so


def test_a_question_for_several_things_prints_more_passages() -> None:
    passages = [_passage(n, 1.0 - n / 20, 0.5, CHATTER) for n in range(1, 9)]
    answer = NOTHING._replace(passages=tuple(passages), match="strong", is_measured=True)
    counted = [
        len(cut_to_worthwhile(answer._replace(of_several=more)).passages) for more in (False, True)
    ]
    assert counted[0] < counted[1]


@pytest.mark.parametrize(
    ("first", "second", "named", "last"),
    [
        ("Ann", "Bo", ("Bo",), 2),  # the reply is by the speaker whom the question names
        ("Bo", "Ann", ("Bo",), 2),  # it tells who did what the question says of Bo
        ("Bo", "Bo", ("Bo",), 1),
        ("Ann", "Cy", ("Bo",), 1),
        ("Ann", "Bo", (), 1),
    ],
)
def test_a_passage_that_ends_with_a_question_has_the_reply_if_a_named_speaker_takes_part(
    first: str, second: str, named: tuple[str, ...], last: int
) -> None:
    lines = ("Do you like the pool? [image: a pool]", "Yes, and I like the sea.", "So do I.")
    turns = (Turn(1, 1, first), Turn(2, 2, second), Turn(3, 3, first))
    (whole,) = fused(candidate(1, lines=lines, cosines=(0.5,) * 3))
    asked = whole._replace(first=0, last=0, turns=turns, named_speakers=named, confidence=0.9)
    (kept,), _ = _ended([asked])
    assert (kept.start_line, kept.end_line) == (1, last)
    other = asked._replace(first=1, last=1, best=1)
    assert sum("sea" in each.text for each in _ended([asked, other])[0]) == 1


def test_a_cheaper_miss_prints_less_and_a_question_is_known_by_its_words() -> None:
    passages = [_passage(n, 1.0 - n / 20, 0.5, CHATTER) for n in range(1, 9)]
    counted = [len(_ended(passages, miss=miss)[0]) for miss in (4000, 300)]
    assert counted[0] > counted[1] > 0
    assert asks("who owns billing")
    assert asks("¿tiene un gato?")
    assert not asks("pool timeout")
