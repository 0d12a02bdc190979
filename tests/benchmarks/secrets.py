"""Measure the rules for secrets on lines with labels.

`fixtures/gate/secrets.tsv` has a label and a line: the kind of the secret that stands in it,
`unknown` for a secret that has no prefix and no rule means to know, or `none` for what merely looks
like one. Keys are made up where they are read: `{alnum:36}` is 36 letters and digits, by a seed, so
no scanner takes the file for a leak. Lines are read anew with `--seeds` other keys each.
`--wrong` prints the lines that went wrong, `--write PAGE.md` puts the figures there.
"""

from __future__ import annotations

import re
import string
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from memcli.secrets.finding import find_secrets
from tests.benchmarks.figures import option, table

FILE = Path(__file__).parents[2] / "fixtures" / "gate" / "secrets.tsv"
NONE, UNKNOWN = "none", "unknown"
ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
    "base32": string.ascii_uppercase + "234567",
    "bech32": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "digits": string.digits,
    "hex": "0123456789abcdef",
    "letters": string.ascii_letters,
    "upper": string.ascii_uppercase + string.digits,
    "url": string.ascii_letters + string.digits + "-_",
}
_KEY = re.compile(rf"\{{({'|'.join(ALPHABETS)}):(\d+)\}}")


class Line(NamedTuple):
    """A line and what is found in it."""

    label: str
    text: str
    kinds: tuple[str, ...]

    @property
    def is_secret(self) -> bool:
        """Tell whether it holds one."""
        return self.label != NONE

    @property
    def is_right(self) -> bool:
        """Tell that the secret was found by its kind, or that there was none to find."""
        return self.kinds == () if self.label == NONE else self.label in self.kinds


def lines(seed: int) -> Iterator[Line]:
    """Read the lines with keys made by a seed."""
    draw = Random(seed)

    def key(found: re.Match[str]) -> str:
        return "".join(draw.choices(ALPHABETS[found[1]], k=int(found[2])))

    for row in FILE.read_text("utf-8").splitlines():
        label, text = row.split("\t")
        text = _KEY.sub(key, text)
        yield Line(label, text, tuple(secret.kind for secret in find_secrets(text)))


OPTIONS = (
    option("--seeds", type=int, default=10),
    option("--wrong", action="store_true"),
)


def main(options: Namespace) -> str:
    found = [line for seed in range(options.seeds) for line in lines(seed)]
    known = [line for line in found if line.label not in (NONE, UNKNOWN)]
    named = [line for line in found if line.kinds]
    pairs = {
        "a key with a known prefix, found by its kind": (known, [e for e in known if e.is_right]),
        "a secret without a prefix, found": _found(found, UNKNOWN),
        "only looks like a secret, wrongly redacted": _found(found, NONE),
        "redacted lines that contain a secret (precision)": (
            named,
            [e for e in named if e.is_secret],
        ),
    }
    told = table(
        ["test lines", "lines", "found", "share"],
        [
            [name, f"{len(of)}", f"{len(passage)}", f"{len(passage) / len(of):.1%}"]
            for name, (of, passage) in pairs.items()
        ],
    )
    for line in dict.fromkeys(found) if options.wrong else ():
        if not line.is_right:
            print(f"{line.label} -> {', '.join(line.kinds) or NONE}: {line.text}")
    return told


def _found(found: list[Line], label: str) -> tuple[list[Line], list[Line]]:
    of = [line for line in found if line.label == label]
    return of, [line for line in of if line.kinds]
