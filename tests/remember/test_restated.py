"""What an agent may not save: what a line says already, and what it is doing at the moment."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memcli.language.facts import facets_of
from memcli.remember.admission import AdmissionSettings, SimilarLine, judge
from memcli.remember.note_score import GateWeights, kind_of

SETTINGS = AdmissionSettings(GateWeights(0.3, 0.3, 0.4), 0.31, is_of_agent=True)
NEAR = SETTINGS._replace(knows_cosines=True)  # the model is the one that the limits are for
USER = ("Name: Runa", "Allergic to hazelnuts; vegetarian at team meals", "Likes short answers")
TOMAS = "Tomas is the site reliability engineer; owns paging and certificates."
NO_DEPLOYS = "No deploys after 15:00, none on Fridays."
LOGS = "The surplus may go into longer retention: logs are kept 90 days instead of 14."
PAGING = "The threshold goes from 500 ms to 800 ms; nine of ten pages were noise."
HOSTS = "| host | role | | --- | --- | | `bw-01` | primary | | `bw-02` | replica |"
TEAMS = "Ilse leads the platform team; Tomas owns paging."


def near(
    older: Sequence[str], cosine: float | None, path: str = "", headings: tuple[str, ...] = ()
) -> list[SimilarLine]:
    return [
        SimilarLine("memory", path or ("USER.md" if each in USER else "MEMORY.md"), at, at, each,
                    cosine=cosine, headings=headings)
        for at, each in enumerate(older, start=1)
    ]  # fmt: skip


def rule(
    text: str,
    *older: str,
    headings: tuple[str, ...] = (),
    cosine: float | None = None,
    settings: AdmissionSettings = NEAR,
) -> str:
    refusal = judge(text, near(older, cosine, headings=headings), settings).refusal
    return refusal.rule if refusal else ""


@pytest.mark.parametrize(
    ("text", "older"),
    [
        ("Runa is allergic to hazelnuts.", USER), ("The user has an allergy to hazelnuts.", USER),
        ("Tomas is the SRE and owns paging and certificates.", (TOMAS,)),
        ("Tomas owns paging.", (TOMAS,)), ("Logs are kept 90 days instead of 14.", (LOGS,)),
        ("The threshold is 800 ms.", (PAGING,)), ("bw-02 is the replica.", (HOSTS,)),
        ("Für ihre Praxis bestellt Weber Papier.", ("Weber bestellt Papier für ihre Praxis.",)),
        ("每周日我们给奶奶打电话。", ("我们每周日给奶奶打电话。",)),
        ("We don't deploy on Fridays or after 3 pm.", (NO_DEPLOYS,)),
        ("No deploys on Fridays, as you know.", (NO_DEPLOYS,)),
        ("Deploys after 15:00 are not allowed.", (NO_DEPLOYS,)),
        ("Mila plays the cello.", ("Mila was born on 4 May 2017 and plays the cello.",)),
        ("Keys are stored for 72 hours.", ("Keys are kept for 72 hours, see the webhook note.",)),
    ],
)  # fmt: skip
def test_a_known_fact_in_other_words_is_refused(text: str, older: tuple[str, ...]) -> None:
    assert rule(text, *older) in ("known", "near-duplicate")


@pytest.mark.parametrize(
    ("text", "older"),
    [
        ("Runa likes hazelnuts.", USER),
        ("Levente is allergic to hazelnuts.", USER),
        ("Ilse owns paging.", (TEAMS,)),
        ("Tomas no longer owns certificates.", (TOMAS,)),
        ("Logs are kept 14 days.", (LOGS,)),
        ("The threshold is 500 ms.", (PAGING,)),
        ("bw-01 is the replica.", (HOSTS,)),
        ("We use RabbitMQ for label jobs.", ("We drop RabbitMQ for label jobs and use a table.",)),
        ("Deploys after 15:00 are allowed.", ("No deploys after 15:00, none on Fridays.",)),
        ("A failed check blocks the merge and the release.",
         ("A failed check blocks the merge or the release.",)),
        ("Incidents are announced in #incidents.", ("Incidents are announced in #ops.",)),
        ("每周六我们给奶奶打电话。", ("我们每周日给奶奶打电话。",)),
        ("每周日奶奶给我们打电话。", ("我们每周日给奶奶打电话。",)),
        ("The mail gateway calls the billing job.", ("The billing job calls the mail gateway.",)),
        ("The alias is bw-03.", ("[ ] Set the alias bw-03",)),
        ("Ana runs the Berlin office.", ("Ana visited the Berlin office.",)),
        ("Ana runs the Berlin office.", ("Ana visited Rome and the Berlin office.",)),
        ("Ana sold the Berlin office.", ("Ana visited the Berlin office.",)),
        ("Runa runs the large Ulm office.", ("Name: Runa", "I visited the large Ulm office.")),
        ("Tom works at the Acme bakery.", ("Tom likes the bread of the Acme bakery.",)),
        ("Tom works at the Acme bakery.", ("Tom robbed the Acme bakery.",)),
        ("Mia became class speaker.", ("Mia congratulated the class speaker.",)),
        ("Mia provides the studio keys.", ("Mia lost the studio keys.",)),
        ("The export makes 3 CSV files a day.", ("The export deletes 3 CSV files a day.",)),
        ("Dogs are not allowed in the garden.", ("Dogs are not happy in the garden.",)),
        ("Guests are not permitted in the kitchen.", ("Guests do not eat in the kitchen.",)),
    ],
)  # fmt: skip
def test_a_new_fact_with_known_words_is_saved(text: str, older: tuple[str, ...]) -> None:
    assert rule(text, *older) == ""
    assert rule(text, *older, cosine=0.85) in ("", "low-score")


def test_a_line_that_is_near_says_the_same_without_a_plain_word() -> None:
    news = "Ilse wants bad news early; leads a team."
    limits = "Sandbox is limited to 5 requests a second; production to 50."
    assert rule("Ilse wants to hear bad news early.", news, cosine=0.85) == "known"
    assert rule("The sandbox allows 5 requests a second.", limits, cosine=0.85) == "known"
    assert rule("The sandbox allows 50 requests a second.", limits, cosine=0.85) != "known"
    assert rule("Tomas wants to hear bad news early.", news, cosine=0.85) != "known"
    assert rule("Ilse wants to hear bad news early.", news, cosine=0.6) == ""
    of_another = rule("Ilse wants to hear bad news early.", news, cosine=0.85, settings=SETTINGS)
    assert of_another == ""  # the cosine is of another model


def hints(text: str, *older: str) -> list[str]:
    return [each.text for each in judge(text, near(older, 0.3), SETTINGS).older]


def test_a_note_that_ends_what_a_line_says_is_compared_with_it() -> None:
    editor = "Editor: Helix, dark theme"
    lines = ("Name: Runa", editor)
    note = "Runa no longer uses Helix; she uses Zed since March 2026."
    [older] = judge(note, near(lines, 0.2, "USER.md"), SETTINGS).older
    assert (older.text, older.differs) == (editor, True)
    assert hints("Levente leads the platform team.", TEAMS) == [TEAMS]
    assert hints("Levente leads the billing team.", TEAMS) == []


def test_a_line_whose_number_was_replaced_is_no_hint() -> None:
    lines = ("Retention of application logs is 14 days from today.", LOGS)
    note = "Application logs have a retention of 30 days."
    assert [each.text for each in judge(note, near(lines, 0.75), SETTINGS).older] == [LOGS]
    rents = ["The rent is 980 euros.", "The rent is 1045 euros."]
    assert sorted(hints("The rent is 1100 euros.", *rents)) == sorted(rents)
    assert hints("The rent is 1100 euros.", rents[0]) == [rents[0]]


def test_the_heading_above_a_line_is_part_of_it() -> None:
    text = "The paging threshold is 800 ms."
    assert rule(text, "The threshold is 800 ms.", headings=("Paging",)) == "known"
    assert rule(text, "The threshold is 800 ms.", headings=("Disks",)) == ""


def test_an_older_value_that_was_replaced_may_hold_again() -> None:
    older = "Retention of logs is 14 days."
    newer = "Retention of logs is 90 days now, no longer 14."
    assert rule("The retention of logs is 14 days.", older) != ""
    note = "Logs have a retention of 14 days."
    assert rule(note, older) == "known"
    assert rule(note, newer, older) == ""


PROGRESS = (
    "I ran the tests and all 312 passed.",
    "All tests pass now.",
    "Fixed the failing test in test_orders.py.",
    "Currently investigating the failing build.",
    "Task completed: migrated 5 of 8 endpoints.",
    "Created the branch fix/label-retry and pushed 3 commits.",
    "The build is green again after my change.",
    "Ich habe die Tests laufen lassen, alle 41 sind grün.",
    "已经修复了登录页面的错误，测试全部通过。",
    "I could not reproduce the bug yet.",
    "The refactoring of labels.py is half done.",
    "The export is still running.",
    "Ich suche gerade nach Hotels.",
)
LASTING = (
    "We moved the night builds from the cellar to the cloud.",
    "The import fails on files over 2 GB with ERR_TOO_LARGE.",
    "Tests need a local PostgreSQL on port 5433.",
    "Linting is done with ruff.",
    "Fixed the pool leak in pool.py, caused by cursors that stayed open.",
    "Deployed v2.14.3 to production on 5 November 2025.",
    "All tests must pass before a merge.",
    "The build takes 12 minutes on the new runner.",
)


def test_progress_is_not_worth_saving_and_what_lasts_is() -> None:
    kinds = {text: kind_of(text, facets_of(text))[0] for text in (*PROGRESS, *LASTING)}
    assert [text for text, kind in kinds.items() if kind == "progress"] == [*PROGRESS]
    assert {rule(text) for text in PROGRESS} == {"low-score"}
