"""Forms of an answer for other programs: quickfix lines, keys of JSON, templates."""

from __future__ import annotations

import json
import re
from itertools import chain
from pathlib import Path
from shlex import split

import pytest
from jsonschema import ValidationError

from memcli.cli.options import SEARCH_FORMATS
from memcli.cli.search_form import TEMPLATE
from memcli.cli.search_output import WRITERS
from memcli.language.tokens import estimate
from memcli.render.jsonio import RESULT_KEYS, joined
from tests.cli.processes import on_terminal
from tests.commands import NewWorkspace, checked, printed, record, valid
from tests.context.makers import put

FILES = {
    "MEMORY.md": "# Rules\n\n<!-- the pool\nis a comment --> Ünder 東京 the pool runs dry.\nNo.\n",
    "memory/2026-02-05.md": "# Pool\n\nNothing here.\n\n- why the pool ran\tdry \x1b[31mred\r\n",
}


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    return workspace(FILES, encoder="hashing")


def test_every_form_has_a_writer_of_its_own() -> None:
    assert set(WRITERS) == {*SEARCH_FORMATS, TEMPLATE}


def test_vimgrep_is_a_line_a_passage_at_the_word_that_matches(notes: Path) -> None:
    out, _ = printed("search", "pool dry", "-f", "vimgrep", "--mode", "keyword")
    assert out.splitlines() == [
        "memory/2026-02-05.md:5:11:- why the pool ran\tdry \x1b[31mred",
        "MEMORY.md:4:36:is a comment --> Ünder 東京 the pool runs dry.",
    ]
    for entry in out.splitlines():
        path, line, column, text = entry.split(":", 3)
        there = (notes / path).read_bytes().split(b"\n")[int(line) - 1].removesuffix(b"\r")
        assert there == text.encode()
        assert there[int(column) - 1 :].startswith(b"pool")


def test_vimgrep_is_made_safe_for_a_terminal(notes: Path) -> None:
    shown = on_terminal("search", "pool dry", "-f", "vimgrep", "-q", "--mode", "keyword")
    assert "memory/2026-02-05.md:5:11:- why the pool ran\tdry ␛[31mred\r\n" in shown


def test_vimgrep_keeps_to_limit_and_budget_as_every_form_does(notes: Path) -> None:
    search = ("search", "pool", "--mode", "keyword", "-n", "1")
    (only,) = printed(*search, "-f", "vimgrep")[0].splitlines()
    (result,) = record(*search)["results"]
    path, line, _, _ = only.split(":", 3)
    assert path == result["path"]
    assert result["start_line"] <= int(line) <= result["end_line"]


def test_fields_choose_keys_of_json_in_their_order(notes: Path) -> None:
    search = ("search", "pool", "--mode", "keyword", "--now", "2026-02-20")
    out, _ = printed(*search, "--fields", "date,citation", "--fields", "rank")
    answer = checked("memcli.search", out)
    assert answer["fields"] == ["date", "citation", "rank"]
    assert [list(each.values()) for each in answer["results"]] == [
        ["2026-02-05", "memory/2026-02-05.md:1-5", 1],
        [None, "MEMORY.md:1-5", 2],
    ]
    whole = checked("memcli.search", printed(*search, "--json")[0])
    del whole["results"][0]["citation"]
    with pytest.raises(ValidationError):
        valid(whole, "memcli.search")
    lines = printed(*search, "-f", "jsonl", "--fields", "text,trace,duplicates,cut")[0].splitlines()
    assert [list(json.loads(line)) for line in lines] == [["text", "trace"]] * 2


def test_a_template_writes_a_line_a_passage(notes: Path) -> None:
    search = ("search", "pool", "--mode", "keyword", "-f")
    assert printed(*search, r"{citation}\t{date}")[0] == (
        "memory/2026-02-05.md:1-5\t2026-02-05\nMEMORY.md:1-5\t\n"
    )
    assert printed(*search, r"{{{rank}}} \\ {heading_path}\0")[0] == "{1} \\ Pool\0{2} \\ Rules\0"
    assert printed(*search, r"{rank}: {cut} {duplicates}\n\n")[0] == "1:  \n\n2:  \n\n"
    assert printed(*search, "{text}", "-n", "1")[0] == (
        "# Pool␊␊Nothing here.␊␊- why the pool ran dry \x1b[31mred␍\n"
    )
    assert printed(*search, "{confidence}|{score}", "-n", "1")[0].count(".") == 2
    out, err = printed(*search, r"{citation}\x", code=2)
    assert (out, err.partition(" in ")[0]) == ("", "memcli: \\x is not allowed")


def test_a_template_takes_every_key_of_json(notes: Path) -> None:
    template = "|".join(f"{{{key}}}" for key in RESULT_KEYS)
    assert printed("search", "why", "--mode", "keyword", "-f", template)[0].count("\n") == 1


def test_values_of_a_template_are_made_safe_for_a_terminal(notes: Path) -> None:
    shown = on_terminal("search", "why", "-f", r"{text}\t{rank}", "-q", "--mode", "keyword")
    assert "\x1b" not in shown
    assert shown.endswith("dry ␛[31mred\t1\r\n")


@pytest.mark.parametrize(
    "form", ["text", "json", "jsonl", "markdown", "paths", "vimgrep", "{citation}\t{snippet}"]
)
def test_a_budget_bounds_all_that_is_printed(notes: Path, form: str) -> None:
    line = '- the pool ran dry, and (D{n}:7) OPS-{n} says why: "東京", 3 of 17 `workers`.\n'
    log = "".join(f"# Day {n}\n\n{line.format(n=n) * 3}\n" for n in range(20))
    put(notes, {"memory/2026-02-06.md": log, "memory/2026-02-07.md": log.replace("dry", "low")})
    shown = []
    for budget in (40, 150, 700, 1500):
        out, _ = printed("search", "pool", "-f", form, "--budget", str(budget), "--mode", "keyword")
        has_passages = form != "json" or bool(json.loads(out)["results"])
        assert estimate(out) <= budget or not has_passages
        shown.append(len(out))
    assert shown == sorted(shown)
    assert shown[-1] > 0


def test_an_answer_ends_where_it_is_not_worth_reading_on_in_every_form(notes: Path) -> None:
    long = "The pool is blue and cold and wide, and so on. " * 40
    others = {f"memory/2026-03-{n:02}.md": f"# Day\n\n{long}{n}\n" for n in range(1, 15)}
    put(notes, {**others, "memory/2026-04-01.md": "# Filter\n\nThe pool filter valve broke.\n"})
    query = ("search", "pool filter valve broke", "--mode", "keyword", "-n", "10")
    for form in ("text", "json", "paths", "vimgrep"):
        ended, said = printed(*query, "-f", form)
        whole, silent = printed(*query, "-f", form, "--more")
        assert "memory/2026-04-01.md" in ended
        assert "2026-03" not in ended
        assert "2026-03" in whole
        assert ("--after" in said, "--after" in silent) == (False, False)
        later, _ = printed(*query, "-f", form, "--after", "1")
        assert ("memory/2026-04-01.md" in later, "2026-03" in later) == (False, True)
    answer = record(*query)
    assert (len(answer["results"]), "weaker" in answer) == (1, False)
    assert record(*query, "-v")["weaker"] == 9
    assert len(record(*query, "--after", "1")["results"]) == 10
    # A budget is a bound: it adds nothing, and what it leaves out comes after it.
    assert printed(*query, "--budget", "9000") == printed(*query)
    again = re.findall("^9 weaker: memcli (.*--after 1 -- .*)$", printed(*query, "-v")[1], re.M)
    assert printed(*split(again[0]))[0] == printed(*query, "--after", "1")[0]
    none, said = printed(*query, "--budget", "20")
    assert ("2026-04-01" in none, "more: --after" in said) == (False, False)
    assert printed(*query, "--after", "30") == (
        "",
        "The answer has no more passages; --limit allows more of them.\n",
    )
    assert "takes one question" in printed(*query, "who is it", "--after", "1", code=2)[1]
    assert "combined with --open" in printed(*query, "--after", "1", "--open", "1", code=2)[1]
    assert len(record(*query, "--more")["results"]) == 10


@pytest.mark.parametrize("form", ["--full", "--explain", "-v"])
def test_json_with_every_key_keeps_to_a_budget_without_room_for_a_passage(
    notes: Path, form: str
) -> None:
    out, said = printed("search", "pool", form, "--json", "--budget", "100", "--mode", "keyword")
    answer = valid(json.loads(out), "memcli.search")
    assert (answer["results"], estimate(out) <= 100) == ([], True)
    needed = re.findall(r"--budget (\d+) shows the best one", said)
    enough = ("search", "pool", form, "--budget", needed[0], "--mode", "keyword")
    assert record(*enough)["results"]


def test_a_limit_is_that_of_the_page_and_a_weak_answer_names_the_next_one(notes: Path) -> None:
    days = {f"memory/2026-03-{n:02}.md": f"# Day\n\nThe pool number {n}.\n" for n in range(1, 8)}
    put(notes, days)
    query = ("search", "pool number", "--mode", "keyword", "--more", "--fields", "citation")
    every = record(*query, "-n", "5")["results"]
    pages = [record(*query, "-n", "1", "--after", str(n))["results"] for n in range(5)]
    assert [*chain.from_iterable(pages)] == every
    weak = ("search", "number of zebras", "--mode", "keyword")
    said = printed(*weak)[1]
    more = re.findall(r"^\d+ weaker: (memcli .*)$", said, re.M)
    assert len(more) == 1
    assert printed(*split(more[0])[1:])[0]


def test_a_list_has_a_line_for_each_passage_and_counts_what_a_budget_leaves_out(
    notes: Path,
) -> None:
    said = ("bill", "shop in Graz", "drawing", "song", "spare parts", "smell")
    days = [f"memory/filter/{n}.md" for n in range(1, 7)]
    put(notes, {day: f"# Day\n\n- Pool filter {x}.\n" for day, x in zip(days, said, strict=True)})
    query = ("search", "pool filter", "--mode", "keyword", "--list", "--path", "memory/filter/*")
    *lines, count = printed(*query)[0].splitlines()
    assert sorted(zip(lines[::2], lines[1::2], strict=True)) == [
        (f"{day}  Day", f"3: - Pool filter {x}.") for day, x in zip(days, said, strict=True)
    ]
    assert count == "6 lines"
    put(
        notes, {"memory/several/1.md": "# Day\n\nA pool filter.\nNo filter.\n\n- pool, filter: 4\n"}
    )
    both = printed("search", "pool filter", "--list", "--path", "memory/several/*")[0]
    assert both.splitlines()[1:] == ["3: A pool filter.", "6: - pool, filter: 4", "2 lines"]
    put(notes, {f"memory/days/2026-01-{n}.md": f"# Day\n\nLine {n}.\n" for n in range(10, 20)})
    dated = ("search", "january 2026", "--list", "--path", "memory/days/*", "-n", "60")
    assert printed(*dated)[0].endswith("\n10 lines\n")
    *few, count = printed(*query, "--budget", "100")[0].splitlines()
    assert few == lines[: len(few)] != []
    assert estimate("\n".join([*few, count])) <= 100
    least = len(few) // 2
    options = f"--list --path 'memory/filter/*' --mode keyword --budget 100 --after {least}"
    again = f"memcli search {options} -- 'pool filter'"
    assert count == f"{least} of 6 lines; {6 - least} more: {again}"
    assert printed(*split(again)[1:])[0].startswith("\n".join(lines[len(few) : 2 * len(few)]))
    several = printed(*query[:2], "pool, filter", *query[2:], "--budget", "200")[0]
    assert f"more: {again}\n" in several
    by_day = printed("search", "--since", "2026-01", "--list", "--budget", "99")[0]
    assert "more: memcli search --list --since 2026-01 --budget 99 --after " in by_day
    answer = record(*query)
    assert [each["citation"] for each in answer["results"]] == [
        f"{path.partition(' ')[0]}:3" for path in lines[::2]
    ]
    assert answer["count"] == 6
    short = record(*query, "--budget", "150")
    assert (len(short["results"]) < 6, short["count"]) == (True, 6)
    long = {
        f"memory/filter/{n}.md": f"# Day\n\n- Pool filter {'x ' * 99}{n}.\n" for n in range(9, 69)
    }
    put(notes, long)
    at_most = (*query, "--budget", "9000")
    assert estimate(printed(*query)[0]) <= 500 < estimate(printed(*at_most)[0]) <= 9000
    out, err = printed(*query, "--after", "3", "--budget", "10")
    assert (out, "budget is too small" in err) == ("", True)


@pytest.mark.parametrize("size", ["--budget 150", "--budget 333", "--budget 500", "-n 1", "-n 7"])
def test_pages_of_a_list_have_each_of_its_lines_once_from_any_folder(
    notes: Path, monkeypatch: pytest.MonkeyPatch, size: str
) -> None:
    _put_filters(notes)
    (notes / "deep" / "er").mkdir(parents=True)
    query = ["search", "pool filter", "--list", "--mode", "keyword", "-w", str(notes)]
    every, seen = _lines_of(printed(*query, "--more")[0]), list[tuple[str, str]]()
    page = [*query, *size.split()]
    for folder in (notes, notes / "deep", notes / "deep" / "er", notes.parent) * 40:
        monkeypatch.chdir(folder)
        out = printed(*page)[0]
        seen += (lines := _lines_of(out))
        last, total = len(seen), len(every)
        first = last - len(lines)
        place = f"lines {first + 1} to {last} of {total}" if first else f"{last} of {total} lines"
        assert place in out
        assert size != "-n 7" or len(lines) == min(7, len(every) - len(seen) + len(lines))
        if " more: memcli " not in out:
            break
        page = split(out.rpartition(" more: ")[2])[1:]
    assert (len(seen), sorted(seen)) == (len(every), sorted(every))


def test_a_later_page_has_the_passages_that_follow(notes: Path) -> None:
    _put_filters(notes)
    query = ("search", "pool filter", "--mode", "keyword", "-f", "vimgrep", "-n", "12")

    def after(number: int, *options: str) -> list[str]:
        return printed(*query, "--after", str(number), *options)[0].splitlines()

    for options in ((), ("--more",), ("--sort", "date")):
        first = after(0, *options, "--budget", "120")
        others = after(len(first), *options)
        whole = after(0, *options) + after(len(after(0, *options)), *options)
        assert (first + others)[:12] == whole[:12]
        assert 0 < len(first) < len({*first, *others}) == len(first) + len(others)
        for n in (1, 5):
            assert after(len(first) + n, *options)[: len(others) - n] == others[n:]


def _put_filters(notes: Path) -> None:
    day = "# Day\n\n- Pool filter {n}.\n\n- A filter of the pool: {n}.\n"
    put(notes, {f"memory/2026-03-{n:02}.md": day.format(n=n) for n in range(1, 20)})


def _lines_of(out: str) -> list[tuple[str, str]]:
    """Return the lines of a list, each with the name of its file."""
    lines, name = list[tuple[str, str]](), ""
    for line in out.splitlines()[:-1]:
        if re.match(r"\d+: ", line):
            lines.append((name, line))
        elif not line.startswith(" "):  # of a correction
            name = re.sub(r"^.*/|  .*", "", line)
    return lines


def test_a_list_by_keyword_has_only_lines_with_a_word_of_it_and_as_many_as_asked_for(
    notes: Path,
) -> None:
    eras = ("jazz", "steam", "bronze", "empire", "ice", "iron", "stone", "radio", "print", "sail")
    turns = ("- **Ann**: Is it yours?", "- **Bo**: Oh, all of them.", "- **Ann**: Fair.")
    chats = ("\n".join((*turns, f"- **Bo**: The era of {x}, {f'{x} things ' * 90}")) for x in eras)
    put(notes, {f"memory/chat/2026-01-1{n}.md": f"# Chat\n\n{x}\n" for n, x in enumerate(chats)})
    query = ("search", "era", "--mode", "keyword", "--list", "--path", "memory/chat/*")
    *lines, count = printed(*query, "-n", "60")[0].splitlines()
    shown = [line for line in lines if not line.startswith("memory/")]
    assert all("era" in line for line in shown)
    assert count == "10 lines" == f"{len(shown)} lines"
    # A long line is cut to its beginning and to the words around a match.
    words = " ".join(f"word{n}" for n in range(99))
    put(notes, {"memory/long/1.md": f"# Day\n\n- {words} the pool filter broke. {words}\n"})
    cut = printed("search", "pool filter broke", "--list", "--path", "memory/long/*")[0]
    assert cut.splitlines()[1].startswith("3: - word0 word1 ")
    assert " … word" in cut
    assert " the pool filter broke. word0 " in cut
    assert len(cut.splitlines()[1]) < 430


def test_the_best_line_of_a_conversation_leaves_out_remarks_unless_it_is_full(
    workspace: NewWorkspace,
) -> None:
    praise = "You are the best. So keep it up always!"
    said = "We saw the pool in Oslo. It was dry, and both of the lamps above it were broken."
    others = "- **Bo** (D1:2): Did you count the birds?\n- **Ann** (D1:3): Nine, all young.\n"
    chat = f"# 2026-02-05\n\n- **Ann** (D1:1): {said} {praise}\n{others * 2}"
    workspace({"memory/2026-02-05.md": chat}, encoder="bundled")
    query = ("search", "pool in Oslo", "-1", "-n", "1")
    place = f"memory/2026-02-05.md:3: Ann (D1:1): {said}"
    assert printed(*query)[0] == f"{place} …\n"
    assert printed(*query, "--full")[0] == f"{place} {praise}\n"


def test_a_list_of_a_prefix_has_only_lines_with_a_word_that_continues_it(
    workspace: NewWorkspace,
) -> None:
    others = "".join(f"- Plot {n} has new bulbs in the meadow.\n" for n in range(12))
    log = f"# Day\n\n- Amsler wants the hedge cut.\n{others}- The gate of Amslers.\n"
    workspace({"memory/1.md": log}, encoder="bundled")
    shown = printed("search", "Amsl*", "--list")[0].splitlines()[1:]
    assert shown == ["3: - Amsler wants the hedge cut.", "16: - The gate of Amslers.", "2 lines"]


def test_several_questions_in_quotes_are_answered_one_after_the_other(notes: Path) -> None:
    put(notes, {"memory/2026-03-01.md": "# Billing\n\nOdette owns billing.\n"})
    both = ("search", "who owns billing", "when is the zebra fed", "--mode", "keyword")
    out, err = printed(*both)
    first, second = out.split("\n\n# ")
    assert first.startswith("# who owns billing\nmemory/2026-03-01.md")
    assert second == "when is the zebra fed  (No passages found.)\n"
    assert err == ""
    one = ("search", "who owns billing", "--mode", "keyword")
    alone, _ = printed(*one)
    assert first == f"# who owns billing\n{alone}".rstrip("\n")
    records = [json.loads(line) for line in printed(*both, "--json")[0].splitlines()]
    assert [each["query"] for each in records] == ["who owns billing", "when is the zebra fed"]
    assert estimate(printed(*both, "--budget", "60")[0]) <= 60
    assert "(The budget is too small for a passage.)" in printed(*both, "--budget", "20")[0]
    assert printed(*both, "--exit-code", code=1)[0] == out
    # If equal shares are too small, one of the questions gets its best passage.
    two = ("search", "who owns billing", "whose billing is it", "--mode", "keyword", "--json")
    err = printed(*two, "--budget", "5")[1]
    needed = re.findall(r"--budget (\d+) shows the best one for each", err)
    for budget, count in ((int(needed[0]), 2), (int(needed[0]) - 20, 1)):
        small, err = printed(*two, "--budget", str(budget))
        assert sum(bool(json.loads(line)["results"]) for line in small.splitlines()) == count
        assert estimate(small) <= budget
        assert (f"--budget {needed[0]} shows" in err) == (count < 2)
    needed = re.findall(r"--budget (\d+) shows the best one", printed(*one, "--budget", "5")[1])
    assert printed(*one, "--budget", *needed)[0] == alone
    twice, _ = printed("search", "who owns billing", "whose billing is it", "--mode", "keyword")
    assert "\n# whose billing is it\nmemory/2026-03-01.md  Billing\n3: printed above\n" in twice
    # A word among questions is one too; a phrase among words is a part of one question.
    out, err = printed("search", "who owns billing", "when did it run dry", "pool")
    assert [line for line in out.splitlines() if line.startswith("# ")][2].startswith("# pool")
    assert "arguments" not in err
    out, err = printed("search", "billing", "owns it")
    assert out == printed("search", "billing owns it")[0]
    assert "The arguments are one question." in err
    assert "arguments" not in printed("search", "billing", "owns")[1]
    out, err = printed(*both, "--trace", "{x}.json", code=2)
    assert "takes one question, not 2" in err
    assert f"Try: memcli search '{both[1]}' --mode keyword --trace '{{x}}.json'" in err
    assert out == ""
    _, err = printed("search", "--open", "1", "--", "-v owns it", "is it -v", code=2)
    assert "Try: memcli search --open 1 -- '-v owns it'" in err
    lists = printed(*both, "--list", "--path", "memory/2026-03-01.md")[0]
    assert [line.partition("  ")[0] for line in lists.splitlines() if line.startswith("#")] == [
        f"# {question}" for question in both[1:3]
    ]
    assert "takes one question, not 2" in printed(*both, "-f", "paths", code=2)[1]


def test_a_statement_after_a_question_for_several_things_prints_as_much(
    workspace: NewWorkspace,
) -> None:
    talk = "Kate: I put a {0} pie in the oven.\nTom: How {0}! We went to the lake."
    pies = ("apple", "cherry", "plum", "lemon", "walnut", "peach", "pear", "quince", "fig", "mango")
    chat = {f"memory/2026-01-{n:02}.md": talk.format(pie) for n, pie in enumerate(pies, start=1)}
    workspace(chat, encoder="bundled")
    same = "Kate put a pie in the oven"
    counts = []
    for question in ("What trees does Tom have?", "When did Tom call?"):
        answer = printed("search", question, same)[0].partition(f"# {same}")[2]
        counts.append(answer.count("memory/"))
        lists = json.loads(printed("search", question, same, "--list", "--json")[0].splitlines()[1])
        assert lists["count"] == 10  # as alone
    assert counts[0] > counts[1] > 0


def test_a_budget_is_enough_for_questions_that_have_the_same_passage(notes: Path) -> None:
    put(notes, {"memory/2026-03-01.md": f"# Billing\n\nOdette owns billing{', and so on' * 30}.\n"})
    three = ("search", "who owns billing", "whose billing is it", "billing of Odette")
    query = (*three, "--mode", "keyword", "--budget")
    (needed,) = re.findall(r"--budget (\d+) shows the best one", printed(*query, "5")[1])
    for budget, count in ((int(needed), 3), (int(needed) - 1, 2)):
        out, err = printed(*query, str(budget))
        assert (out.count("memory/2026-03-01.md"), out.count("printed above")) == (count, count - 1)
        assert (budget - 1 <= estimate(out) <= budget) == (count == 3) == (needed not in err)


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (["数据库端口是多少", "负责人是谁", "用户喜欢什么主题"], 3),
        (["谁负责", "什么时候部署"], 2),
        (["数据库迁移", "部署计划"], 1),
        (["担当者は誰", "ポートは何番ですか"], 2),
        (["stand-up?", "deploys?", "on-call?"], 3),
        (["数据库", "端口"], 1),
        (["データベース", "ポート番号"], 1),
        (["who", "owns", "billing?"], 1),
    ],
)
def test_a_question_needs_no_space(notes: Path, arguments: list[str], count: int) -> None:
    out, err = printed("search", *arguments, "--mode", "keyword", "--json")
    assert len(out.splitlines()) == count
    assert "The arguments are one question." not in err


def test_dates_of_several_questions_stand_beside_their_question(notes: Path) -> None:
    both = ("search", "the pool in June 2026", "why it ran dry", "--mode", "keyword")
    now = ("--now", "2026-07-01T12:00:00")
    out, err = printed(*both, *now)
    first, second = (line for line in out.splitlines() if line.startswith("# "))
    assert first.startswith("# the pool in June 2026  (")
    assert first.endswith('Read "June 2026" as 2026-06-01 to 2026-06-30.)')
    assert "Read" not in second + err
    _, err = printed(*both, *now, "--since", "30 days ago")
    assert err.count("Read ") == 1
    assert 'Read "--since 30 days ago" as 2026-06-01 and later.' in err.splitlines()


def test_an_option_inside_the_quotes_of_a_question_is_named(notes: Path) -> None:
    one = ("search", "the pool --path MEMORY.md --path x", "--mode", "keyword")
    assert "--path inside the question is searched as text" in printed(*one)[1].splitlines()
    two = ("search", "the pool --limit=3", "who ran --json now", "--mode", "keyword")
    assert "--limit, --json inside the question are searched as text" in printed(*two)[1]
    for query in (("the pool --shiny",), ("--", "pool", "--path"), ("pool -x --",)):
        assert "inside the question" not in printed("search", "--mode", "keyword", *query)[1]


def test_only_a_heading_that_is_the_name_of_the_file_is_left_out(workspace: NewWorkspace) -> None:
    code = "# notes\n\nHow to install the tracker:\n\n```sh\n# notes\ninstall tracker\n```\n"
    workspace({"notes.md": code})
    found = printed("search", "install the tracker")[0]
    assert ("1: # notes" in found, "6: # notes" in found) == (False, True)
    for more in (("--full",), ("-C", "1")):
        assert "1: # notes" in printed("search", "install the tracker", *more)[0]


def test_three_passages_are_shown_if_none_is_sure(workspace: NewWorkspace) -> None:
    workspace({f"memory/{n}.md": f"The tracker number {n} is in barn {n}.\n" for n in range(9)})
    query = "zeppelin umbrella carousel violin saffron giraffe the tracker"
    for more, count in (((), 3), (("--more",), 9)):
        out, err = printed("search", query, *more)
        assert out.count("memory/") == count
        assert "No sure match" in err


def test_a_line_of_a_corrected_passage_shows_its_text_and_then_what_corrects_it(
    notes: Path,
) -> None:
    put(notes, {"memory/2026-03-01.md": "# Pool\n\nThe pool host is basalt.\n",
                "memory/2026-04-01.md": "# Pool\n\nThe pool host is granite.\n"})  # fmt: skip
    shown = on_terminal("search", "pool host basalt", "-1", "--mode", "keyword").splitlines()
    at = next(number for number, line in enumerate(shown) if "2026-03-01.md:3" in line)
    assert "basalt" in shown[at]
    assert "corrected by memory/2026-04-01.md" in shown[at + 1]


def test_bounds_at_the_ends_of_the_calendar_list_everything(notes: Path) -> None:
    every, _ = printed("search", "--since", "2000-01-01")
    assert "memory/2026-02-05.md" in every
    assert printed("search", "--since", "0001-01-01") == (every, "")
    assert printed("search", "--since", "2000-01-01", "--until", "9999-12-31") == (every, "")


def test_json_has_one_result_for_lines_that_continue_each_other_without_their_title(
    notes: Path,
) -> None:
    text = "# 2026-04-02\n\n- Rufus lent us a smoker.\n- He wants the smoker in May.\n"
    put(notes, {"memory/2026-04-02.md": text})
    found = record("search", "who lent us a smoker", "--mode", "keyword")["results"][0]
    assert found["citation"] == "memory/2026-04-02.md:3-4"
    assert (found["start_line"], found["snippet"]) == (3, text.partition("\n\n")[2].rstrip())
    apart = "\n<!-- a\nb -->\n\n- Rufus lent us bees.\n"
    put(
        notes,
        {"memory/far.md": "# far\n\n \n\nA smoker hums.\n", "memory/bee.md": f"# bee\n{apart}"},
    )
    for words, cited, snippet in (
        ("smoker hums", "memory/far.md:5", "A smoker hums."),
        ("bees", "memory/bee.md:1-6", None),
    ):
        found = record("search", words, "--mode", "keyword")["results"][0]
        assert found["citation"] == cited
        assert snippet in (None, found["snippet"])
    parts = [
        {"path": "a.md", "start_line": at, "end_line": at, "citation": f"a.md:{at}",
         "snippet": str(at), "confidence": 0.5}
        for at in (3, 4, 6, 5)
    ]  # fmt: skip
    made = joined(parts)
    assert [each["citation"] for each in made] == ["a.md:3-4", "a.md:6", "a.md:5"]
    assert made[0]["snippet"] == "3\n4"
