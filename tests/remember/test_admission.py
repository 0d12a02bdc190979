"""The rules of the gate: what each refuses, in their order, and what no rule may refuse."""

from __future__ import annotations

import pytest

from memcli.api.memory import Memory
from memcli.api.similar_lines import SimilarLines
from memcli.language.facts import differs, facets_of, jaccard, replaces
from memcli.mcp.shared_memory import SeenLines
from memcli.remember.admission import AdmissionSettings, Judgement, OlderLine, SimilarLine, judge
from memcli.remember.note_score import GateWeights, score_of
from tests.benchmarks import gate as benchmark

WEIGHTS = GateWeights(0.3, 0.3, 0.4)
OLD = "The pool of api-7 holds 40 connections."


def _judged(text: str, *old: str, cosine: float | None = None, **settings: object) -> Judgement:
    near = [
        SimilarLine("memory", "MEMORY.md", at, at, each, cosine) for at, each in enumerate(old, 1)
    ]
    return judge(text, near, AdmissionSettings(WEIGHTS, **settings))  # type: ignore[arg-type]


def _rule(judged: Judgement) -> str:
    return judged.refusal.rule if judged.refusal else ""


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (" … ", "empty"),
        ("word " * 801, "too-long"),
        ("ghp_" + "q8ZrT2mVx7KdLw4Hs9Bn3YfGc6Jp5Rt1EaUv", "secret"),
        ("the pool of API-7 holds 40 connections", "duplicate"),
        ("- 14:03 (project) The pool of api-7 holds 40 connections.", "duplicate"),
        ("Also, the pool of api-7 holds 40 connections", "duplicate"),
        ("So the pool of api-7 really holds 40 connections", "near-duplicate"),
        ("The pool of api-7 holds 60 connections.", ""),
        ("The pool of api-9 holds 40 connections.", ""),
        ("The pool of api-7 never holds 40 connections.", ""),
        ("The queue of api-7 holds 40 connections.", ""),
    ],
)
def test_the_first_rule_that_refuses_ends_it(text: str, rule: str) -> None:
    expected = "near-duplicate" if text.startswith("Also") else rule
    judged = _judged(text, OLD)
    assert _rule(judged) == expected
    assert [check.passed for check in judged.checks] == [True] * (
        len(judged.checks) - bool(expected)
    ) + [False] * bool(expected)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Mom is allergic to peanut butter", "Mom is allergic to peanuts"),
        (
            "The night job copies the orders history table to the archive bucket.",
            "The night job copies the orders table to the archive bucket.",
        ),
        ("妈妈对花生酱过敏。", "妈妈对花生过敏。"),
    ],
)
def test_what_adds_a_word_to_a_line_is_another_fact_and_the_line_alone_is_not(
    new: str, old: str
) -> None:
    """As for Chinese, which the bundled model does not read: of words alone."""
    cosine = None if "妈" in new else 0.99
    assert _rule(_judged(new, old, cosine=cosine)) == ""
    assert _rule(_judged(old, new, cosine=0.99)) == "near-duplicate"
    assert _rule(_judged(new.replace("is ", "is really "), new)) != ""


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Deploys are on Tuesdays.", "Deploys are on Mondays."),
        ("`<=` compares two strings by their bytes", "`<` compares two strings by their bytes"),
        ("Anna moved from Ghent to Bonn.", "Anna moved from Bonn to Ghent."),
        ("Anna beat Ben at chess on the roof.", "Ben beat Anna at chess on the roof."),
        ("Anna likes tea.", "Ben likes tea."),
        ("Logs are kept after the release.", "Logs are kept before the release."),
        ("Der Server steht nicht in Zürich.", "Der Server steht in Zürich."),
        ("Das Lager ist dienstags zu.", "Das Lager ist montags zu."),
        ("周四上午部署。", "周二上午部署。"),
        ("妈妈不吃花生。", "妈妈吃花生。"),
        ("连接池最多六十个连接。", "连接池最多四十个连接。"),
        ("The cat sleeps on the warm oven.", "The dog sleeps on the warm oven."),
        ("The pool went from 60 to 40 slots.", "The pool went from 40 to 60 slots."),
        ("It has 5 replicas and 3 shards.", "It has 3 replicas and 5 shards."),
        ("the dog chased the cat home", "the cat chased the dog home"),
        ("Drain the queue before you restart.", "Restart before you drain the queue."),
        ("`a !~ b` is true where both match", "`a =~ b` is true where both match"),
        ("It needs a review or a green build.", "It needs a review and a green build."),
        ("部署从周四改到周二。", "部署从周二改到周四。"),
        ("妈妈把钥匙给了爸爸。", "爸爸把钥匙给了妈妈。"),
    ],
)  # fmt: skip
def test_another_number_name_day_or_negation_is_another_fact(new: str, old: str) -> None:
    """Even where a model takes both for the same, unless only a plain word differs."""
    a, b = facets_of(new), facets_of(old)
    assert differs(a, b) or (replaces(a, b) and jaccard(a, b) < 1)
    assert _rule(_judged(new, old)) == ""
    if differs(a, b):
        assert _rule(_judged(new, old, cosine=0.99)) == ""


def test_meaning_alone_makes_a_duplicate_where_nothing_differs() -> None:
    new, old = "She enjoys hiking near lakes", "Walking beside lakes pleases her"
    assert _rule(_judged(new, old, cosine=0.94)) == ""
    assert _rule(_judged(new, old, cosine=0.96)) == "near-duplicate"


def test_the_exact_line_of_a_conversation_is_a_duplicate() -> None:
    said = "Ruben: The pool of api-7 holds 40 connections."
    assert _rule(_judged("- **Ruben** (T4): The pool of api-7 holds 40 connections.", said)) == (
        "duplicate"
    )
    assert _rule(_judged("**Odette** (T4): The pool of api-7 holds 40 connections.", said)) == ""


def test_a_sentence_that_a_session_was_given_over_two_lines_is_an_echo() -> None:
    given = SeenLines()
    given.add("memory", "MEMORY.md", "- **Ann** (T1): The pool of api-7\n  holds 40 connections.")
    for line in ("Ann: The pool of api-7 holds 40 connections.", "holds 40 connections."):
        assert given("memory", "MEMORY.md", line)
        assert not given("memory", "other.md", line)
    assert not given("memory", "MEMORY.md", "The pool of api-7 holds 50 connections.")


def test_what_the_session_was_given_is_an_echo_and_nothing_else_is() -> None:
    text = "So we read, the pool of api-7 holds 40 connections."
    assert _rule(_judged(text, OLD)) == ""
    given = _judged(text, OLD, was_shown=lambda *line: line == ("memory", "MEMORY.md", OLD))
    assert (_rule(given), given.checks[-1].citation) == ("echo", "MEMORY.md:1")
    assert _rule(_judged(text, OLD, was_shown=lambda *line: False)) == ""
    other = "So we read, the pool of api-7 holds 50 connections."
    assert _rule(_judged(other, OLD, was_shown=lambda *line: True)) == ""


@pytest.mark.parametrize(
    ("lead", "fact"),
    [
        ("As the notes say, ", OLD), ("According to our notes: ", OLD),
        ("As mentioned before, ", OLD), ("Laut Notizen ", "steht der Server in Bonn"),
        ("In den Notizen steht: ", "der Server steht in Bonn"),
        ("根据笔记，", "测试服务器在上海机房。"), ("记忆里说", "妈妈对花生过敏。"),
        ("如前所述，", "妈妈对花生过敏。"),
    ],
)  # fmt: skip
def test_who_says_that_the_notes_say_it_adds_nothing(lead: str, fact: str) -> None:
    assert facets_of(lead + fact) == facets_of(fact)
    assert facets_of("记录保存七天。") != facets_of("保存七天。")


def test_an_older_note_that_a_change_is_about_is_named() -> None:
    judged = _judged("The pool of api-7 no longer holds 40 connections.", OLD, "It rains.")
    assert judged.older == (OlderLine("MEMORY.md:1", OLD, differs=True),)
    assert _judged("Backups go to Lisbon now.", OLD).older == ()


def test_a_line_about_the_same_is_named_and_a_private_one_without_its_text() -> None:
    owner, facets = "Dana owns the billing service.", "The billing service is written in Go."
    first, second = _judged("Lee owns the billing service.", facets, owner, "It rains.").older
    assert (first.text, second.text, first.differs) == (owner, facets, False)
    private = SimilarLine("memory", "diary.md", 4, 4, owner, cosine=0.9, is_private=True)
    judged = judge("Lee owns the billing service.", [private], AdmissionSettings(WEIGHTS))
    assert judged.older == (OlderLine("diary.md:4", "", differs=False),)


@pytest.mark.parametrize(
    ("note", "line", "is_named"),
    [
        ("The log service moves to ClickHouse in June.", "The log service runs on MariaDB.", True),
        ("Ada switched to Ghostty as her terminal.", "Terminal: kitty, dark theme", True),
        ("Ada likes tea.", "Terminal: kitty, dark theme", False),
        ("The terminal of the depot is old.", "Terminal: kitty, dark theme", False),
        ("Parcels are weighed on Sunday evenings.", "No releases on Sundays.", False),
    ],
)  # fmt: skip
def test_a_line_that_a_note_contradicts_is_named(note: str, line: str, is_named: bool) -> None:
    lines = [
        SimilarLine("memory", "USER.md", at, at, text, cosine)
        for at, (text, cosine) in enumerate([("Name: Ada", 0.3), (line, 0.39)], start=1)
    ]
    older = [each.text for each in judge(note, lines, AdmissionSettings(WEIGHTS)).older]
    assert older == [line] * is_named


def test_a_line_near_in_meaning_is_named_without_a_common_word() -> None:
    note, line = "Originals are deposited with the bank.", "Wills are kept in the basement safe."
    for cosine, older in ((0.41, [OlderLine("a.md:3", line, differs=False)]), (0.39, [])):
        near = SimilarLine("memory", "a.md", 3, 3, line, cosine)
        assert [*judge(note, [near], AdmissionSettings(WEIGHTS)).older] == older


def test_score_is_what_the_formula_says() -> None:
    """Of six terms Ghent and 9 are specific, 2/6 and doubled; a rule is 1; half is known."""
    text = "never call Ghent before 9 am"
    score = score_of(text, facets_of(text), 0.5, WEIGHTS)
    assert score.kind == "rule"
    assert score.specificity == pytest.approx(2 / 3)
    assert score.value == pytest.approx(0.3 * 0.25 + 0.3 * 2 / 3 + 0.4)


def test_least_score_is_asked_only_where_it_is_set() -> None:
    assert _rule(_judged("Thanks, that works!")) == ""
    refused = _judged("Thanks, that works!", least=0.35)
    assert _rule(refused) == "low-score"
    assert refused.score.kind == "chatter"


def test_no_line_that_is_worth_keeping_is_called_known() -> None:
    """Of the 374 labelled lines, by keywords only; the benchmark measures the rest."""
    found, weights = benchmark.look("none")
    assert len(found) > 300
    results = benchmark.judged(found, weights, 0.0)
    refused = [(line.text, _rule(each)) for line, each in results if line.label in benchmark.KEPT]
    assert [each for each in refused if each[1]] == []
    secrets = [_rule(each) for line, each in results if line.label == "secret"]
    assert set(secrets) == {"secret"}
    again = [_rule(each) for line, each in results if line.label == "again"]
    assert sum(map(bool, again)) >= 0.5 * len(again)


def test_a_line_of_the_memory_that_says_it_is_found(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    root = tmp_path_factory.mktemp("notes")
    benchmark.make_memory(root)
    with Memory.open(root, settings={"embedding.encoder": "none"}) as memory:
        first = SimilarLines(memory.workspaces.lead).of("api-7's pool holds 40 connections")[0]
    assert first.citation == "memory/en.md:3"


def test_orders_to_a_model_are_refused_and_rules_of_a_team_are_not() -> None:
    settings = AdmissionSettings(WEIGHTS, is_of_agent=True)
    for line in (benchmark.FOLDER / "orders.tsv").read_text("utf-8").splitlines():
        label, text = line.split("\t")  # an order, a rule of a team or a wish of the user
        check = judge(text, [], settings).refusal
        is_refused = check is not None and check.rule == "instruction"
        assert is_refused == (label == "order"), text
