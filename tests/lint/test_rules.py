"""What each rule finds, and what looks like it and is right as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from memcli.lint.document import LintDocument, inspect
from memcli.lint.duplicates import Duplicates
from memcli.lint.findings import CODES, Finding
from memcli.lint.links import Links
from memcli.lint.rules import Contradictions, Tasks, document_findings

TOKEN = "ghp_" + "q8ZrT2mVx7KdLw4Hs9Bn3YfGc6Jp5Rt1EaUv"
FACT = "The pool of tracker-api holds sixty connections to the primary database"
Found = list[tuple[str, str, tuple[str, ...]]]


def seen(path: str, text: str, *, is_evergreen: bool = False) -> LintDocument:
    return inspect("memory", path, text, date_keys=("date",), is_evergreen=is_evergreen)


def brief(found: Iterator[Finding]) -> Found:
    return [
        (each.code, each.at.citation if each.at else "", tuple(o.citation for o in each.others))
        for each in found
    ]


def across(rule: Duplicates | Contradictions | Links | Tasks, files: Mapping[str, str]) -> Found:
    for path, text in sorted(files.items()):
        rule.take(seen(path, text))
    return brief(rule.findings())


def repeated(files: Mapping[str, str]) -> Found:
    return across(Duplicates(), files)


def contradicted(files: Mapping[str, str]) -> Found:
    return across(Contradictions(), files)


def linked(files: Mapping[str, str], *others: str) -> Found:
    names = [("memory", path) for path in files]
    return across(Links({"memory": "/n"}, names, lambda _, path: path in others), files)


def tasks(files: Mapping[str, str]) -> Found:
    return across(Tasks("2026-06-01"), files)


def test_a_secret_is_named_by_its_lines_and_put_out_of_sight() -> None:
    key = "\n".join(
        ["-----BEGIN PRIVATE KEY-----", "q8ZrT2mVx7KdLw4H" * 4, "-----END PRIVATE KEY-----"]
    )
    document = seen("a.md", f"# A\n\nPush with {TOKEN}.\n\n{key}\n")
    assert brief(document_findings(document)) == [
        ("secret", "a.md:3", ()),
        ("secret", "a.md:5-6", ()),
    ]
    assert TOKEN not in repr(document)


@pytest.mark.parametrize(
    ("path", "text", "codes"),
    [
        ("memory/02-16-2026.md", "x", ["undated-log"]), ("memory/feb-16.md", "x", ["undated-log"]),
        ("memory/2026-02-31.md", "x", ["undated-log"]),
        ("memory/0000-00-00.md", "x", ["undated-log"]),
        ("a.md", "---\ndate: 2026-99-99\n---\nx", ["undated-log"]),
        ("a.md", "---\ntags: [a, b\n---\nx", ["invalid-front-matter"]),
        (
            "a.md",
            "---\n# of a: day\ndate: 2026-02-01\ntags: [a, b\n---\nx",
            ["invalid-front-matter"],
        ),
        ("a.md", "---\nA rule, then a rule: no YAML\n\n---\nx", []),
        ("a.md", "---\ntags: [a, b\n\nno end\n", []), ("a.md", "---\nglobs: *.ts\n---\nx", []),
        ("b.md", "---\ndate: 2026-02-10\n---\ndate: soon", []),
        ("memory/day.md", "- 09:10 a\n- 10:20 b\n- 11:00 c\n", ["undated-log"]),
        ("memory/day.md", "## 2026-02-10\n\n- 09:10 a\n- 10:20 b\n- 11:00 c\n", []),
        ("memory/2026-02-10.md", "- 09:10 a\n- 10:20 b\n- 11:00 c\n", []),
        ("notes/ticket-20971618.md", "x", []), ("notes/march-of-the-penguins.md", "x", []),
        ("release-1-2-0.md", "x", []), ("MEMORY.md", "a\n\n" * 101, ["long-memory"]),
        ("MEMORY.md", "word " * 6000, ["long-memory"]), ("MEMORY.md", "a\n" * 200, []),
        ("OTHER.md", "a\n" * 300, []),
    ],
)  # fmt: skip
def test_rules_of_one_document(path: str, text: str, codes: list[str]) -> None:
    assert [found.code for found in document_findings(seen(path, text))] == codes


def test_what_is_evergreen_by_a_setting_needs_no_date() -> None:
    assert list(document_findings(seen("memory/02-16-2026.md", "x", is_evergreen=True))) == []


def test_the_same_words_are_found_once_with_all_their_places() -> None:
    files = {"a.md": f"- {FACT}\n", "b.md": f"# B\n\n{FACT}.\n", "c.md": f"> {FACT}!\n\nMore.\n"}
    assert repeated(files) == [("duplicate", "a.md:1", ("b.md:3", "c.md:1"))]


def test_lines_that_follow_each_other_in_both_places_are_one_finding() -> None:
    said = f"- {FACT}\n- Deploys of label-worker need a second pair of eyes on Mondays\n"
    assert repeated({"a.md": said, "b.md": f"# B\n\n{said}- More.\n"}) == [
        ("duplicate", "a.md:1-2", ("b.md:3-4",))
    ]


def test_a_copy_of_a_document_is_one_finding() -> None:
    text = f"# A\n\n- {FACT}\n- And so on.\n"
    assert repeated({"a.md": text, "b.md": f"{text}\n"}) == [("duplicate", "a.md", ("b.md",))]


@pytest.mark.parametrize(
    ("other", "is_found"),
    [
        ("The pool of the tracker-api holds sixty connections to our primary database", True),
        ("The pool of tracker-api holds seventy connections to the primary database", False),
        ("The pool of tracker-api holds sixty connections to the replica database", False),
        ("The pool of label-worker holds sixty connections to the primary database", False),
        ("The pool of tracker-api never holds sixty connections to the primary database", False),
    ],
)
def test_nearly_the_same_words_are_found_unless_they_tell_another_fact(
    other: str, is_found: bool
) -> None:
    found = repeated({"a.md": f"{FACT}.\n", "b.md": f"{other}.\n"})
    assert found == ([("near-duplicate", "a.md:1", ("b.md:1",))] if is_found else [])


@pytest.mark.parametrize(
    "line", ["- [ ] {0}", "```\n{0}\n```", "- **Kate** (D1:1): {0}\n- **Joe** (D1:2): so\n" * 4]
)
def test_tasks_code_and_talk_may_say_it_again(line: str) -> None:
    assert repeated({"a.md": line.format(FACT), "b.md": f"# B\n\n{line.format(FACT)}\n"}) == []


@pytest.mark.parametrize(
    "line",
    [
        "What the pool of tracker-api needs before it is changed again:\n\n- x",
        "**What the pool of tracker-api needs before it is changed again：**\n\n- x",
        "[Kate](https://example.com/kate/of/the/platform/team/in/hall/north) wrote",
    ],
)
def test_what_says_little_of_its_own_may_stand_twice(line: str) -> None:
    assert repeated({"a.md": f"{line}\n", "b.md": f"# B\n\n{line}\n"}) == []


def test_another_operator_is_another_fact() -> None:
    less = "`<` is true if the left string is less than the right string of the pair"
    assert repeated({"a.md": f"{less}\n\n{less.replace('`<`', '`<=`')}\n"}) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("`a =~ b` is true where the pattern fits", "`a !~ b` is true where the pattern fits"),
        ("Apply bitwise and to bytes of any length", "Apply bitwise xor to bytes of any length"),
        ("The mail gateway calls the billing job", "The billing job calls the mail gateway"),
        ("Exports with `export module` the parts", "Exports with `export use` the module parts"),
        ("Get the content, with a custom header,", "Get the headers, with a custom header,"),
        ("Cast a column in a frame to a number,", "Cast a column in a lazy frame to a number,"),
    ],
)
def test_what_turns_the_meaning_is_no_repetition(one: str, other: str) -> None:
    tail = "of the tracker in hall north"
    assert repeated({"a.md": f"{one} {tail}\n\n{other} {tail}\n"}) == []


@pytest.mark.parametrize(
    "text",
    [
        "- {0}\n\n  ```\n  {1}\n  ```\n",
        "- {0}\n\n  ~~~sh\n  {1}\n  ```\n  ~~~\n",
        "1. ```\n   {1}\n   ```\n",
        "> {0}\n> ```\n> {1}\n> ```\n",
    ],
)
def test_code_in_items_and_quotes_is_code(text: str) -> None:
    code = f"[x](nosuch.md) {FACT}"
    files = {f"{name}.md": text.format(f"Run {name}", code) for name in "ab"}
    assert repeated(files) == []
    assert linked(files) == []


def test_running_text_goes_on_behind_code_in_an_item() -> None:
    text = f"- Run\n  ```\n  x\n  ```\n  {FACT}\n"
    assert repeated({"a.md": text, "b.md": f"# B\n\n{text}"}) == [
        ("duplicate", "a.md:5", ("b.md:7",))
    ]


def test_a_line_of_chinese_has_fewer_words_than_pairs_of_signs() -> None:
    label, said = "完整套利机器人架构。", "完整的套利机器人架构在三月的会议上获得批准。"
    assert repeated({"a.md": label, "b.md": f"# B\n\n{label}"}) == []
    assert repeated({"a.md": said, "b.md": f"# B\n\n{said}"}) == [
        ("duplicate", "a.md:1", ("b.md:3",))
    ]


def test_many_lines_of_one_make_are_compared_in_bounded_time() -> None:
    lines = "".join(
        f"- Service number{n}x of the fleet runs on host{n}y in hall north\n" for n in range(3000)
    )
    assert repeated({"a.md": lines}) == []


OLD = "- We decided to keep the order store on MySQL with one replica.\n"


@pytest.mark.parametrize(
    ("newer", "is_found"),
    [
        (
            "- The order store is no longer on MySQL with one replica: decided for PostgreSQL.\n",
            True,
        ),
        ("- We decided to keep the order store on MySQL with one replica.\n", False),
        ("- The order store on MySQL was slow with one replica today.\n", False),
        ("- The label printer is no longer rented, we decided to buy it.\n", False),
    ],
)
def test_a_newer_note_of_a_change_corrects_an_older_decision(newer: str, is_found: bool) -> None:
    noise = "".join(
        f"- Talked to team {n} about the store of parcels and labels.\n" for n in range(9)
    )
    january, february, march = (f"memory/2026-0{month}-05.md" for month in (1, 2, 3))
    files = {january: OLD, february: noise, march: newer}
    expected = [("contradiction", f"{january}:1", (f"{march}:1",))]
    assert contradicted(files) == (expected if is_found else [])
    assert contradicted({january: newer, february: noise, march: OLD}) == []


@pytest.mark.parametrize("cited", ["memory/2026-01-05.md:1", "memory/2026-01-05.md:1-2"])
def test_a_recorded_correction_is_no_contradiction(cited: str) -> None:
    newer = "The order store is no longer on MySQL with one replica"
    january, march, april = (f"memory/2026-0{month}-05.md" for month in (1, 3, 4))
    files = {january: OLD, march: f"- {newer}. (corrects {cited})\n"}
    assert contradicted(files) == []
    later = {**files, april: f"- {newer}: it is SQLite.\n"}
    assert [place for _, place, _ in contradicted(later)] == [f"{march}:1"]
    other = files[march].replace(cited, "MEMORY.md:1")
    assert contradicted({january: OLD, march: other}) == []
    unrecorded = contradicted({january: OLD, march: other, april: f"- {newer}.\n"})
    assert ("contradiction", f"{january}:1", (f"{april}:1",)) in unrecorded


def test_a_link_on_a_line_that_speaks_of_a_change_corrects_what_it_names() -> None:
    files = {
        "memory/2026-01-05.md": OLD,
        "memory/2026-03-05.md": "This replaces what stands in [it](2026-01-05.md).\n",
    }
    assert linked(files) == [
        ("contradiction", "memory/2026-01-05.md:1", ("memory/2026-03-05.md:1",))
    ]


@pytest.mark.parametrize(
    "line",
    [
        "Building on the [work of January](2026-01-05.md), this goes from globs to paths.",
        "[January](2026-01-05.md) began it, and takes work away from our replacement.",
        "The pool was replaced. The log of [January](2026-01-05.md) has more.",
        "As [[2026-01-05]] says. The pool is no longer dry.",
    ],
)
def test_a_link_beside_a_change_is_no_correction(line: str) -> None:
    assert linked({"memory/2026-01-05.md": OLD, "memory/2026-03-05.md": f"{line}\n"}) == []


@pytest.mark.parametrize(
    "line",
    [
        "What [January](2026-01-05.md) says is no longer so.",
        "[January](2026-01-05.md) is superseded.",
        "Das ersetzt [[2026-01-05]].",
        "本条取代 [[2026-01-05]]。",
    ],
)
def test_a_line_that_says_of_its_link_that_it_holds_no_more_corrects_it(line: str) -> None:
    found = linked({"memory/2026-01-05.md": OLD, "memory/2026-03-05.md": f"{line}\n"})
    assert [code for code, *_ in found] == ["contradiction"]


def test_links_into_a_folder_that_is_not_there_are_one_finding() -> None:
    links = [f"![x](../assets/img/{at}.png)\n\n" for at in range(4)]
    files = {"memory/a.md": "".join(links[:3]), "memory/b.md": links[3]}
    assert linked(files) == [
        ("broken-link", "memory/a.md:1", ("memory/a.md:3", "memory/a.md:5", "memory/b.md:1"))
    ]
    assert len(linked({"memory/a.md": "".join(links[:3])})) == 3
    assert len(linked(files, "assets", "assets/img")) == 4


def test_changes_to_code_are_no_contradiction() -> None:
    link = "single values must not print as a table ([#88](https://h.example/pull/88))"
    files = {"memory/2026-01-05.md": f"- {link}\n", "memory/2026-03-05.md": f"- replaced: {link}\n"}
    assert contradicted(files) == []
    parted = {path: text.replace("pull/88", f"pull/{len(text)}") for path, text in files.items()}
    assert contradicted(parted) == []
    unnamed = {path: text.partition(" ([")[0] for path, text in files.items()}
    assert len(contradicted(unnamed)) == 1


@pytest.mark.parametrize(
    ("target", "is_broken"),
    [
        ("[x](nosuch.md)", True), ("[x](../nosuch.md#part)", True), ("[[No such note]]", True),
        ("![x](images/nosuch.png)", True), ("[x](other.md)", False),
        ("[x](other.md#any-heading)", False), ("[x](OTHER.md)", False), ("[x](other.html)", False),
        ("[x](with%20space.md)", False), ("[x](../MEMORY.md)", False),
        ("[x](/memory/other.md)", False), ("[x](images/there.png)", False), ("[x](deep)", False),
        ("[[other]]", False), ("[[The other|that]]", False), ("[[o2]]", False),
        ("[x](https://example.com/nosuch.md)", False), ("[x](mailto:a@example.com)", False),
        ("[x](#here)", False), ("[x](/docs/route)", False), ("[x](../../../etc/passwd)", False),
        ("`[x](nosuch.md)` and `[[ -f x ]]`", False), ("```\n[x](nosuch.md)\n```", False),
        ("[x]({{ page }})", False), ("<!-- [x](nosuch.md) -->", False), ("[[toc]]", False),
        ("[[reply_to_current]] and [[reply_to: 12]]", False), ("[[reply_to_all]]", True),
        ("![x](path/to/image.png)", False), ("![x](path_to_your_diagram)", False),
        ("as shown before [[1]]", False), ("more on [[2026-02-03]]", False),
    ],
)  # fmt: skip
def test_links(target: str, is_broken: bool) -> None:
    files = {
        "MEMORY.md": "# Rules\n",
        "memory/a.md": f"# A\n\n{target}\n",
        "memory/other.md": "---\naliases: [o2]\n---\n# The other\n",
        "memory/with space.md": "x",
        "memory/deep/README.md": "x",
    }
    found = linked(files, "memory/images/there.png")
    assert found == ([("broken-link", "memory/a.md:3", ())] if is_broken else [])


def test_what_the_front_matter_names_is_a_link() -> None:
    files = {"a.md": "---\ntitle: A\nrelated: [nosuch.md, a.md]\n---\nText.\n"}
    assert linked(files) == [("broken-link", "a.md:3", ())]


@pytest.mark.parametrize(
    ("later", "stale"),
    [
        ("", "memory/2026-02-01.md:1"),
        ("- [x] Order labels\n", None),
        ("- [ ] Order labels\n", "memory/2026-03-01.md:1"),
        ("- [x] Order toner\n", "memory/2026-02-01.md:1"),
    ],
)
def test_the_newest_copy_of_a_task_counts(later: str, stale: str | None) -> None:
    files = {"memory/2026-02-01.md": "- [ ] Order labels\n", "memory/2026-03-01.md": later}
    assert [at for _, at, _ in tasks(files)] == ([stale] if stale else [])


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("memory/2026-05-20.md", "- [ ] Order labels\n"),
        ("MEMORY.md", "- [ ] Order labels\n"),
        ("memory/2026-02-01.md", "- [ ] Renew the certificate on 2026-09-01\n"),
        ("memory/2026-02-01.md", "```\n- [ ] Order labels\n```\n"),
        ("memory/2027-02-01.md", "- [ ] Order labels\n"),
    ],
)
def test_tasks_that_are_not_stale(path: str, text: str) -> None:
    assert tasks({path: text}) == []


def test_a_task_below_a_dated_heading_is_of_its_day() -> None:
    text = "# Log\n\n## 2026-02-10\n\n- [ ] Order labels\n\n## 2026-05-30\n\n- [ ] Order toner\n"
    assert tasks({"LOG.md": text}) == [("stale-task", "LOG.md:5", ())]


def test_no_code_is_ever_renamed() -> None:
    assert list(CODES) == [
        "secret", "duplicate", "near-duplicate", "contradiction", "broken-link",
        "unmatched-glob", "stale-task", "long-memory", "undated-log", "invalid-summary",
        "invalid-front-matter",
    ]  # fmt: skip
