"""A newer note comes first where it tells of a change, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.language.change import speaks_of_change
from memcli.search.claims import claims_of
from memcli.search.corrections import Corrections, with_corrections
from memcli.search.mmr import diversify, folded
from memcli.search.newer_first import NOISE, newer_first
from memcli.search.question import asks_about_now
from memcli.search.ranked import Quotation, RankedPassage, mark_of, ordered
from memcli.types import Turn
from tests.benchmarks.corrections import FIGURES, measured, rows_of
from tests.search.makers import candidate, ids


def passage(
    chunk_id: int,
    score: float,
    text: str,
    date: str | None,
    *,
    coverage: float = 1.0,
    heading: str = "",
) -> RankedPassage:
    made = candidate(chunk_id, lines=(text,), date=date, heading_path=(heading,) if heading else ())
    return RankedPassage(made, 0, 0, score, None, coverage)


OLD = passage(1, 0.7, "Orders are kept in MySQL.", "2025-03-03")
NEW = passage(2, 0.6, "Orders moved from MySQL to PostgreSQL.", "2025-08-18")


def order(*passages: RankedPassage) -> list[int]:
    return [each.candidate.about.chunk_id for each in newer_first(passages, turns={})]


def marked(older: RankedPassage, *newer: RankedPassage) -> RankedPassage:
    (found,) = with_corrections([older], Corrections(map(_quoted, newer), {}))
    return found


def test_a_newer_note_that_tells_of_a_change_comes_first() -> None:
    moved = newer_first([OLD, NEW], turns={})
    assert [each.candidate.about.chunk_id for each in moved] == [2, 1]
    assert [each.score for each in moved] == [0.7, 0.6]
    assert moved[0].trace[-1].stage == "newer"
    assert dict(moved[0].trace[-1].inputs) == {"before": "1.md:1"}


def test_it_stays_behind_what_is_newer_undated_or_about_something_else() -> None:
    assert order(OLD, passage(2, 0.6, NEW.text, "2025-01-01")) == [1, 2]
    assert order(OLD._replace(candidate=candidate(1)), NEW) == [1, 2]
    text = "Invoices moved from MySQL to PostgreSQL."
    assert order(OLD, passage(2, 0.6, text, "2025-08-18", coverage=0.2)) == [1, 2]
    assert order(OLD, passage(2, 0.7, "Orders are kept in PostgreSQL.", "2025-08-18")) == [2, 1]
    untrusted = NEW.about._replace(trust="untrusted")
    assert order(OLD, NEW._replace(candidate=NEW.candidate._replace(about=untrusted))) == [1, 2]


@pytest.mark.parametrize("is_now", [False, True])
def test_a_newer_line_is_as_sure_as_the_line_that_it_corrects(*, is_now: bool) -> None:
    answer = [OLD._replace(confidence=0.8), NEW._replace(confidence=0.2)]
    first, second = newer_first(answer, turns={}, is_now=is_now)
    assert first.is_moved_newer
    assert not second.is_moved_newer
    assert (first.confidence, second.confidence) == (0.8, 0.8)


def test_a_newer_line_outside_the_time_of_the_question_stays_behind() -> None:
    for spans, expected in (
        ((("2025-03-01", "2025-03-31"),), [1, 2]),
        ((("2025-03-01", "2025-08-31"),), [2, 1]),
    ):
        assert ids(newer_first([OLD, NEW], turns={}, spans=spans)) == expected


def test_a_value_may_be_most_of_a_short_line() -> None:
    old = passage(1, 0.9, "Stopcock is under the kitchen sink.", "2026-01-05")
    new = passage(2, 0.8, "Stopcock is behind the washing machine.", "2026-03-05")
    assert ids(newer_first([old, new], turns={})) == [2, 1]


def test_variety_does_not_put_an_older_line_before_its_correction() -> None:
    other = passage(3, 0.9, "Orders moved from MySQL to PostgreSQL in spring.", None)
    ranked = newer_first([other, OLD, NEW], turns={})
    assert ids(ranked) == [3, 2, 1]
    for limit in (2, 3):
        kept = diversify(ranked, lambda_=0.5, limit=limit)
        assert ids(kept) == [3, 2, 1][:limit]


def test_only_the_line_that_answers_lets_its_correction_come_first() -> None:
    text = (
        "- Met Torvald, he owns the calibration rig.\n- Calibration of the sensors every 6 weeks."
    )
    two = candidate(1, lines=(text,), date="2026-05-06")
    old = OLD._replace(candidate=two)
    new = passage(
        2, 0.6, "We changed the calibration of the sensors: every 12 weeks, not 6.", "2026-08-11"
    )
    for question, expected in (
        ("who owns the calibration rig", [1, 2]),
        ("how often are the sensors calibrated", [2, 1]),
        ("Torvald", [1, 2]),
        ("the price of the tent", [2, 1]),  # no word shows which line answers
    ):
        moved = newer_first([old, new], turns={}, question=question)
        assert ids(moved) == expected


def test_a_line_below_its_heading_is_a_line_of_its_own() -> None:
    old = passage(1, 0.7, "# 2026-05-06\n## Orders\nOrders are kept in MySQL.", "2026-05-06")
    new = NEW._replace(candidate=candidate(2, lines=(f"## Orders\n{NEW.text}",), date="2026-08-11"))
    (line,) = marked(old, new).corrected_by
    assert line.text == NEW.text


@pytest.mark.parametrize(
    ("first", "second", "is_new"),
    [
        ("It rained.", "The pool has 20 slots.", True),
        ("很慢。", "换了。", True),
        ("The gateway broke.", "14:02 it is up.", True),
        ("- We moved the orders to SQLite.", "  No longer PostgreSQL.", False),
        ("The backups run at 2 a.m.", "on atlas.", False),
        ("The deploy takes approx.", "20 minutes.", False),
        ("Standup is at 10.", "(was 9:30)", False),
        ("I met Ada.", "She has the key now.", False),
        ("it rained.", "the pool has 20 slots.", True),
        ("It rained.", "[[Ada]] has the key now.", True),
    ],
)
def test_a_line_after_a_sentence_is_compared_by_itself_if_it_needs_no_other(
    first: str, second: str, *, is_new: bool
) -> None:
    claims = [first, second] if is_new else [f"{first} {second.strip()}"]
    assert [unit.text for unit in claims_of(f"{first}\n{second}")] == claims


def test_an_item_of_two_lines_corrects_what_both_lines_say() -> None:
    old = passage(1, 0.7, "- Orders are kept in PostgreSQL.", "2025-03-03")
    text = "- We moved the orders to SQLite.\n  No longer PostgreSQL."
    (line,) = marked(old, passage(2, 0.6, text, "2025-08-18")).corrected_by
    assert (line.start_line, line.end_line) == (1, 2)


def test_words_of_the_question_count_for_the_order_and_not_for_a_mark() -> None:
    old = passage(1, 0.7, "7b has room 204.", "2024-03-03")
    text = "Burst pipe in 204, 7b is taught in the annex."
    for coverage, expected in ((1.0, [2, 1]), (0.1, [1, 2])):
        assert order(old, passage(2, 0.6, text, "2025-08-18", coverage=coverage)) == expected
    assert not marked(old, passage(2, 0.6, text, "2025-08-18")).corrected_by


def test_a_sentence_of_a_long_turn_is_its_speaker_s() -> None:
    old = passage(1, 0.7, "- **Ann** (D1:1): Our orders are kept in MySQL.", "2025-03-03")
    long = "It rained all week, and nobody went out. " * 6
    for name, expected in (("Ann", [2, 1]), ("Ben", [1, 2])):
        text = f"- **{name}** (D2:1): {long}Our orders moved from MySQL to PostgreSQL."
        assert order(old, passage(2, 0.6, text, "2025-08-18")) == expected


def test_a_turn_is_what_its_speaker_says_whatever_its_form() -> None:
    def moved(form: str, speaker: str) -> list[int]:
        texts = "Our orders are kept in MySQL.", "Our orders moved from MySQL to PostgreSQL."
        names = "Ann", speaker
        lines = [form.format(name) + text for name, text in zip(names, texts, strict=True)]
        passages = [
            passage(1, 0.7, lines[0], "2025-03-03"),
            passage(2, 0.6, lines[1], "2025-08-18"),
        ]
        turns = {1: [Turn(1, 1, "Ann")], 2: [Turn(1, 1, speaker)]}
        return ids(newer_first(passages, turns=turns))

    for form in ("{}: ", "- **{}:** ", "**{}** (D1:1): "):
        assert moved(form, "Ann") == [2, 1]
        assert moved(form, "Ben") == moved(form, "Assistant") == [1, 2]
    for old, new in (("Mm .", "Yeah ."), ("Yes .", "No ."), ("I like it", "I like two")):
        turns = {n: [Turn(1, 1, "User Interface")] for n in (1, 2)}
        said = [passage(n, 0.8 - n / 10, f"User Interface: {text}", f"2025-0{n}-01")
                for n, text in ((1, old), (2, new))]  # fmt: skip
        assert newer_first(said, turns=turns) == said


def test_what_is_of_a_month_is_newer_than_what_lies_before_the_whole_of_it() -> None:
    about = NEW.about._replace(date="2025-03-31", document_date="2025-03-31")
    of_march = NEW.candidate._replace(about=about._replace(first_day="2025-03-01"))
    of_the_end = NEW.candidate._replace(about=about)
    earlier = passage(1, 0.7, "Orders are kept in MySQL.", "2025-02-28")
    assert order(OLD, NEW._replace(candidate=of_the_end)) == [2, 1]
    assert order(OLD, NEW._replace(candidate=of_march)) == [1, 2]
    assert order(earlier, NEW._replace(candidate=of_march)) == [2, 1]


def test_only_the_first_sixty_are_compared_so_a_limit_changes_nothing() -> None:
    between = [passage(n, 0.75, "x", None) for n in range(10, 69)]
    assert order(OLD, *between[:58], NEW)[0] == 2
    assert order(OLD, NEW._replace(score=0.1)) == [2, 1]
    assert order(OLD, NEW._replace(score=0.05)) == [2, 1]  # whatever it matches
    assert order(OLD, *between, NEW)[0] == 1


def test_a_chain_of_corrections_leads_to_its_newest_line() -> None:
    newest = passage(3, 0.7, "Orders moved from PostgreSQL to SQLite.", "2025-12-01")
    assert order(OLD, NEW, newest) == [3, 2, 1]
    assert [each.citation for each in marked(OLD, NEW, newest).corrected_by] == ["3.md:1"]
    assert marked(newest, OLD, NEW).corrected_by == ()


def test_what_scores_the_same_up_to_noise_is_in_the_order_of_its_dates() -> None:
    first, undated = passage(1, 1.0, "x", "2025-01-01"), passage(3, 0.995, "x", None)
    other = passage(2, 0.995, "y", "2025-02-01")
    assert order(first, other) == [1, 2]
    near, far = (passage(2, 1 - NOISE * part, "x", "2025-02-01") for part in (0.9, 1.1))
    assert order(first, undated, near) == [2, 1, 3]
    assert order(first, undated, far) == [1, 3, 2]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what do we do about the alert for the disk", [2, 1]),
        ("which alert do we have", [2, 1]),
        ("is the alert turned off", [2, 1]),
        ("welche Schwelle nutzen wir", [2, 1]),
        ("wer hat den Alarm", [2, 1]),
        ("was macht die Schwelle", [2, 1]),
        ("磁盘告警是多大", [2, 1]),
        ("alert for the disk", [1, 2]),
        ("what did we do about the alert", [1, 2]),
        ("which alert did we have before", [1, 2]),
        ("what have we tried", [1, 2]),
        ("which alerts do we have", [1, 2]),
        ("how many alerts are there", [1, 2]),
        ("welche Schwelle hatten wir", [1, 2]),
        ("was haben wir probiert", [1, 2]),
        ("以前的告警是什么", [1, 2]),
        ("who wrote the alert", [1, 2]),
        ("who built the alert", [1, 2]),
        ("how is the alert built", [2, 1]),
        ("wer baute den Alarm", [1, 2]),
    ],
)
def test_a_question_about_now_wants_the_newer_of_two_lines_about_one_thing(
    question: str, expected: list[int]
) -> None:
    old = passage(1, 0.9, "The disk alert fires at 80 %.", "2025-01-01")
    new = passage(2, 0.6, "Kim grumbled, so now the alert is quiet up to 90 %.", "2025-02-01")

    def asked(one: RankedPassage, other: RankedPassage) -> list[int]:
        return ids(newer_first([one, other], turns={}, is_now=asks_about_now(question)))

    assert asked(old, new) == expected
    assert asked(old, new._replace(score=0.3)) == [1, 2]
    for text in ("Now lunch is at noon.", "Somebody grumbled that the disk alert is loud."):
        assert asked(old, passage(2, 0.6, text, "2025-02-01")) == [1, 2]
    ann, ben = (
        passage(n, 1.0 - n / 10, f"**{name}**: my alert fires at {n}0 %", f"2025-0{n}-01")
        for n, name in ((1, "Ann"), (2, "Ben"))
    )
    assert asked(ann, ben) == [1, 2]


@pytest.mark.parametrize(
    ("question", "older", "newer", "expected"),
    [
        (
            "What is the wifi password of the Berlin office?",
            "The wifi password of the Berlin office is heron7.",
            "The wifi password of the Munich office was changed to crane9.",
            [1, 2],
        ),
        (
            "Who leads the platform team?",
            "Ann leads the platform team.",
            "Bob no longer leads the data team; Eve does now.",
            [1, 2],
        ),
        (
            "What is the rent of the garage?",
            "The rent of the garage is 70.00 euros.",
            "The rent of the cellar was raised to 95.00 euros.",
            [1, 2],
        ),
        (
            "Which host does pipeline 6 run on?",
            "Pipeline 6 runs on host atlas.",
            "Pipeline 7 moved to host hydra.",
            [1, 2],
        ),
        (
            "What is the radio channel?",
            "The working channel of the radio is 37.",
            "The committee has us on 72 instead of 37 on the radio.",
            [2, 1],
        ),
        (
            "What does a parking permit cost?",
            "The parking permit is 40 a year.",
            "Permit for parking: 55 a year.",
            [2, 1],
        ),
        (
            "Wann tagt der Elternbeirat?",
            "Elternbeirat: dienstags um 19 Uhr",
            "Der Elternbeirat trifft sich mittwochs um 20 Uhr in der Aula.",
            [2, 1],
        ),
        (
            "When do deploys go out?",
            "Deploys go out on Thursdays with make ship.",
            "Told Petra that deploys go out on Thursdays.",
            [1, 2],
        ),
        ("Which bank do we use?", "We use Lark Bank.", "Maybe we use Finch Bank.", [1, 2]),
    ],
)
def test_a_change_of_another_thing_than_the_question_names_comes_after(
    question: str, older: str, newer: str, expected: list[int]
) -> None:
    new = passage(2, 0.6, newer, "2025-06-01", coverage=0.7)
    answer = [passage(1, 0.9, older, "2025-01-01"), new]
    assert ids(newer_first(answer, turns={}, question=question, is_now=True)) == expected


@pytest.mark.parametrize(
    ("question", "older", "newer", "is_marked"),
    [
        (
            "Who has the spare key to the studio?",
            "**Milo**: Jess has the spare key to the studio",
            "**Milo**: the spare studio key is with Andrei",
            True,
        ),
        (
            "Wie viel wiegt Kater Moritz?",
            "**Edda**: Kater Moritz wiegt 6,8 kg, sagt die Tierärztin",
            "**Edda**: Kater Moritz wiegt 5,4 kg, Tierärztin ist zufrieden",
            True,
        ),
        (
            "When does my library card expire?",
            "My library card expires in November.",
            "Clara's library card expires in March.",
            False,
        ),
        (
            "When is the sourdough starter fed?",
            "Our sourdough starter is fed every Sunday.",
            "Fed the sourdough starter on Wednesday too.",
            False,
        ),
        (
            "What is ticket PAY-311 blocked by?",
            "Ticket PAY-311 is blocked by the bank.",
            "Ticket PAY-317 is blocked by legal.",
            False,
        ),
        ("How is Kim's shop doing?", "**Lee**: Hey Kim!", "**Lee**: Hey Kim, a day off!", False),
    ],
)
def test_an_older_answer_to_a_question_about_now_is_marked(
    question: str, older: str, newer: str, is_marked: bool
) -> None:
    old, new = passage(1, 0.9, older, "2025-01-01"), _quoted(passage(2, 0.6, newer, "2025-06-01"))
    newer_lines = Corrections([new], {})
    newer_lines.question = question
    (shown,) = with_corrections([old], newer_lines)
    assert bool(shown.corrected_by) == is_marked
    assert marked(old, passage(2, 0.6, newer, "2025-06-01")).corrected_by == ()


def test_folds_keep_the_newest_and_ties_go_to_it() -> None:
    older, newer = (passage(n, 0.7, "The pool has ten slots.", f"2025-0{n}-01") for n in (1, 2))
    assert ids(ordered([older, newer])) == [2, 1]
    (kept,) = folded([older._replace(score=0.9), newer])
    assert (kept.about.chunk_id, kept.score, kept.duplicates) == (2, 0.9, ("1.md:1",))


def test_a_note_that_names_the_one_it_corrects_comes_first_whatever_it_matches() -> None:
    between = [passage(n, 0.75, "x", None) for n in range(10, 22)]
    for text in ("This replaces [[1]].", "No longer as in [the old note](2025/1.md)."):
        naming = passage(2, 0.3, f"On PostgreSQL.\n{text}", "2025-08-18", coverage=0.1)
        assert order(OLD, *between, naming)[:2] == [2, 1]
    for text in ("See [[1]].", "This replaces [[11]].", "It is replaced.\nSee [[1]]."):
        naming = passage(2, 0.3, text, "2025-08-18", coverage=0.1)
        assert order(OLD, *between, naming)[:2] == [1, 10]
    earlier = passage(2, 0.3, "This replaces [[1]].", "2025-01-01", coverage=0.1)
    assert order(OLD, earlier) == [1, 2]


def test_a_summary_is_newer_only_than_what_lies_before_all_that_it_cites() -> None:
    def place(made: RankedPassage, path: str, kind: str = "log") -> RankedPassage:
        about = made.about._replace(path=path, kind=kind)
        return made._replace(candidate=made.candidate._replace(about=about))

    text = "- Orders moved from MySQL to PostgreSQL. ({})"
    for cites, before, is_newer in (
        ("memory/2025-03-03.md:1", "memory/2025-03-03.md", False),
        ("memory/2025-03-04.md:1", "memory/2025-03-03.md", True),
        ("orders.md:1", "memory/2025-03-03.md", False),
        ("memory/2025-08-18.md:1", "memory/2025-08-18.md", False),  # dated by its front matter
    ):
        summary = place(passage(2, 0.6, text.format(cites), "2025-08-18"), "s.md", kind="summary")
        assert order(place(OLD, before), summary) == ([2, 1] if is_newer else [1, 2])


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("The date no longer holds.", True),
        ("We **replaced** the broker", True),
        ("the plan was (moved to May)", True),
        ("Statt MySQL jetzt PostgreSQL", True),
        ("数据库改为 PostgreSQL", True),
        ("A removed tooth", False),
        ("Orders are kept in MySQL.", False),
    ],
)
def test_words_of_change(text: str, tells: bool) -> None:
    assert speaks_of_change(text) is tells


def test_a_heading_may_correct_if_no_line_below_it_does() -> None:
    older = passage(1, 0.8, "We will use MySQL 8.0 for the new order store.", "2025-03-03")
    newer = passage(2, 0.7, "Why", "2025-08-18", heading="Order store: PostgreSQL instead of MySQL")
    assert order(older, newer) == [2, 1]
    for text, named in (("Why", 1), ("We moved the orders from MySQL.", 3)):
        lines = f"# Orders: PostgreSQL instead of MySQL\n\n{text}"
        found = marked(OLD, passage(2, 0.7, lines, "2025-08-18"))
        assert [each.start_line for each in found.corrected_by] == [named]


def test_a_number_of_the_question_keeps_the_line_that_contains_it_first() -> None:
    older, newer = (
        passage(rank, 0.9 - rank / 10, f"The deploy waits for pipeline {rank}.", f"2025-0{rank}-01")
        for rank in (1, 2)
    )
    for question, first in (("what does the deploy wait for", [2, 1]), ("pipeline 1", [1, 2])):
        ranked = newer_first([older, newer], turns={}, question=question)
        assert ids(ranked) == first


def test_a_row_of_a_table_is_corrected_by_a_line_that_cites_it() -> None:
    table = passage(1, 0.8, "| host | dumps |\n|---|---|\n| db-02 | 02:40 |", "2025-03-03")
    newer = passage(2, 0.7, "db-02 dumps at 03:10. (corrects 1.md:3)", "2025-08-18")
    assert mark_of(marked(table, newer).corrected_by) == "3 corrected by 2.md:1 (2025-08-18)"


def test_of_two_corrections_of_a_line_the_older_is_corrected_too() -> None:
    older = passage(1, 0.8, "The Linz office opens at 8:00.", "2025-03-03")
    lines = "\n".join(f"- Opening is at 7:{at}. (corrects 1.md:1)" for at in (30, 10))
    newer = passage(2, 0.7, lines, "2025-08-18")
    latest = passage(3, 0.6, "Nine it is. (corrects 1.md:1)", "2025-09-01")
    for quoted, marks in (
        ([newer], ["corrected by 2.md:2 (2025-08-18)", "1 corrected by 2.md:2 (2025-08-18)"]),
        (
            [newer, latest],
            ["corrected by 3.md:1 (2025-09-01)", "1, 2 corrected by 3.md:1 (2025-09-01)"],
        ),
    ):
        found = with_corrections([older, newer], Corrections([*map(_quoted, quoted)], {}))
        assert [mark_of(each.corrected_by) for each in found] == marks


def test_a_mark_names_the_corrected_line_of_several() -> None:
    for lead, line in (("", ""), ("# Orders\n\n", "3 ")):
        older = passage(1, 0.8, f"{lead}Orders are kept in MySQL.", "2025-03-03")
        mark = mark_of(marked(older, NEW).corrected_by)
        assert mark == f"{line}corrected by 2.md:1 (2025-08-18)"


def _quoted(passage: RankedPassage) -> Quotation:
    return Quotation(passage.about, passage.text)


def test_what_holds_now_is_first_and_what_does_not_is_marked(tmp_path: Path) -> None:
    """All pairs in one workspace, by half; four questions share no word with their notes."""
    counts = measured(rows_of("pairs"), tmp_path, "keyword")
    found = {key: tuple(count[each] for each in ("n", *FIGURES)) for key, count in counts.items()}
    assert found.pop(("holds", 0))[2] == found.pop(("holds", 1))[2] == 0
    assert found == {
        ("change", 0): (24, 24, 22, 0, 22),
        ("change", 1): (23, 21, 19, 1, 18),
        ("plain", 0): (23, 22, 22, 0, 22),
        ("plain", 1): (24, 24, 23, 0, 22),
    }


def test_a_note_that_replaces_a_part_of_another_marks_only_what_it_is_about() -> None:
    """Lines around the link count if its own does not; if no line is about them, all are meant."""
    of_line = "We switch the order store to PostgreSQL. This replaces the decision of [[1]]."
    of_block = (
        "- The paint is blue.\n\n- NATS carries our events.\n- This replaces the decision of [[1]]."
    )
    elsewhere = candidate(3, lines=("The order store gets MySQL; events use Kafka.",))
    laptop = "- Laptop replaced; the old one goes back to IT."
    for text, lines, heading, rest, marked in (
        (of_line, ("We take MySQL for the order store.",), "", [], [0]),
        (of_line, ("Tracked in OPS-301.",), "Decision: MySQL", [], [0]),
        (of_line, (laptop,), "Also", [elsewhere], []),
        (of_line, (laptop,), "Also", [], [0]),
        (of_line, ("- Laptop replaced.", "- The order store gets MySQL."), "Also", [], [2]),
        (of_block, ("- We chose Kafka.",), "", [], [0]),
        (of_block, ("- Lunch is at 13.", "- Kafka for events."), "", [], [2]),
        (of_block, ("- Lunch is at 13.",), "", [elsewhere], []),
    ):
        naming = _quoted(passage(2, 0.3, text, "2025-08-18"))
        made = candidate(1, lines=lines, cosines=(None,) * len(lines), date="2025-03-03",
                         heading_path=(heading,))  # fmt: skip
        older = OLD._replace(candidate=made, last=len(made.segments) - 1)
        others = {older.about.document: [Quotation(each.about, each.text) for each in rest]}
        (kept,) = with_corrections([older], Corrections([naming], {}, others))
        assert [each.line for each in kept.corrected_by] == marked, lines
