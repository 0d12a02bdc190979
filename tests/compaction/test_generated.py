"""A local model words the summary: what no line supports is dropped, the rest is cited."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memcli.compaction.generated import generating
from memcli.embedding.generator import Generated
from tests.commands import NewWorkspace, say
from tests.embedding.writing import make_copier, make_teller, make_tokenizer

LINES = """# 2025-03-01

## pool

- The pool ran dry after the pump had failed twice (memory/2025-03-01.md:3)
- Anna called the plumber on 2025-03-02 (memory/2025-03-01.md:4)
- He wanted 240 EUR for a new pump (memory/2025-03-01.md:5-6)

### fox

- A fox sleeps under the shed (memory/2025-03-02.md:9)
"""


class Quoting:
    """Writes the same sentences of whatever it reads."""

    def __init__(self, said: str, reads: int = 99) -> None:
        self.said, self.reads = said, reads
        self.asked: list[str] = []

    def count(self, text: str) -> int:
        return len(text.split())

    def write(self, text: str) -> Generated:
        self.asked.append(text)
        return Generated(self.said, -1.0, 2)


def worded(said: str) -> list[str]:
    *lines, confidence = generating(Quoting(said), "")(LINES).split("\n")
    assert confidence == "confidence: 0.606531"  # exp of -1 / 2, the mean of all tokens
    return lines


@pytest.mark.parametrize(
    ("said", "cited"),
    [
        ("The pool ran dry.", "memory/2025-03-01.md:3"),
        ("Anna called the plumber.", "memory/2025-03-01.md:4"),
        ("Anna called the plumber, who wanted 240 EUR.", "memory/2025-03-01.md:4-6"),
        ("The pump failed, so Anna called.", "memory/2025-03-01.md:3-4"),
    ],
)
def test_a_sentence_cites_the_fewest_lines_that_support_it(said: str, cited: str) -> None:
    assert worded(said)[0] == f"- {said} ({cited})"


@pytest.mark.parametrize(
    "said",
    [
        "A dragon guards the castle.",
        "The pool ran dry when Bertha left.",  # its words are there, its name is not
        "It was.",
    ],
)
def test_what_no_line_supports_cites_none(said: str) -> None:
    assert worded(said) == [f"- {said}"] * 2


def test_sections_are_read_apart_and_in_pieces_that_the_model_takes() -> None:
    model = Quoting("So.", reads=18)
    generating(model, "Tell {text} shortly:")(LINES)
    assert [text.count("\n") + 1 for text in model.asked] == [2, 1, 1]
    assert model.asked[2] == "Tell A fox sleeps under the shed shortly:"
    generating(model, "summarize: ")(LINES)
    assert model.asked[-1] == "summarize: A fox sleeps under the shed"


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    text = (
        "Pool notes of a long day at the house.\n\nThe pool ran dry in the morning and we all"
        " stood around it for quite some time wondering what might have happened there. Nobody"
        " had seen anything at all, the neighbours said the same when they were asked about it"
        " later on in the afternoon by whoever passed their garden fence."
    )
    return workspace({f"memory/2025-03-0{n}.md": text for n in range(1, 5)}, encoder="hashing")


def use(folder: Path, prompt: str) -> None:
    own = Path(os.environ["XDG_CONFIG_HOME"]) / "memcli"
    own.mkdir(parents=True, exist_ok=True)
    (own / "config.toml").write_text(
        f"[compact]\nfolder = '{folder}'\nprompt = '{prompt}'\nreads = 2000\nwrites = 999\n"
    )


def compact(notes: Path, *flags: str) -> tuple[int, str, str]:
    return say("compact", "-w", str(notes), "--summarizer", "onnx", "--tail", "0", "--tail-days",
               "0", "--ratio", "0.6", "--cluster", "4", *flags)  # fmt: skip


def test_a_model_of_ones_own_words_summaries_that_hold(notes: Path, tmp_path: Path) -> None:
    make_teller(tmp_path / "m", (), {"Tell": "The pool ran dry. Dragons drank it empty."})
    use(tmp_path / "m", "Tell ")
    code, out, err = compact(notes, "--show")
    assert code == 0, err
    assert "- The pool ran dry. (01:3)" in out
    assert "Dragons" not in out
    assert ", onnx, confidence 1.00; 4 invented lines dropped\n" in out
    assert compact(notes, "--apply")[0] == 0
    (summary,) = (notes / "memory" / "summaries").glob("*.md")
    assert "\nmethod: onnx\n" in summary.read_text()
    assert compact(notes, "--verify")[0] == 0


def test_one_that_does_not_shrink_makes_way_for_sentences(notes: Path, tmp_path: Path) -> None:
    words = (notes / "memory" / "2025-03-01.md").read_text().split()
    make_copier(tmp_path / "m", words)
    use(tmp_path / "m", "")
    code, out, err = compact(notes)
    assert code == 0, err
    assert ", onnx" not in out
    assert "; what the model wrote costs " in out


def test_a_folder_that_holds_no_model_is_named(notes: Path, tmp_path: Path) -> None:
    use(tmp_path, "")
    code, out, err = compact(notes)
    assert (code, out) == (2, "")
    assert f"{tmp_path} has no tokenizer.json" in err
    assert "memcli help compact" in err


def test_a_model_that_fails_is_named(notes: Path, tmp_path: Path) -> None:
    make_teller(tmp_path / "m", (), {"Tell": "So."})
    make_tokenizer(tmp_path / "m", [f"word{number}" for number in range(9)] + ["Nobody"])
    use(tmp_path / "m", "Nobody ")
    code, _, err = compact(notes)
    assert code == 2
    assert f"{tmp_path / 'm'}: the model failed" in err
    assert "memcli compact --summarizer extractive" in err
