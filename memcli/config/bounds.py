"""Check that a configuration is small enough to parse, since it may come with a clone.

The TOML parser's time and memory grow with the square of the dots in a key, and its numbers have no
limit. No setting needs many of either, so both are counted outside strings and comments, in one
pass before parsing.
"""

from __future__ import annotations

import re

MOST_BYTES = 64 * 1024
MOST_DOTS = 16  # a line; a setting has one
MOST_OPEN = 16  # brackets and braces at once; a list of texts has one
MOST_WORD = 100  # characters of a bare key or a number

# As TOML defines them. An unclosed one ends with the file, where the parser stops too.
_STRINGS_AND_COMMENTS = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"""|\\?\Z)'
    r"|'''.*?(?:'''|\Z)"
    r'|"(?:[^"\\\n]|\\[^\n])*(?:"|\\?$)'
    r"|'[^'\n]*(?:'|$)"
    r"|#[^\n]*",
    re.DOTALL | re.MULTILINE,
)
_LONG_WORD = re.compile(rf"[\w+-]{{{MOST_WORD + 1}}}")


def excess(text: str) -> str:
    """Name what a configuration has too much of; empty if it can be parsed."""
    bare = _STRINGS_AND_COMMENTS.sub("''", text)
    for number, line in enumerate(bare.split("\n"), start=1):
        if line.count(".") > MOST_DOTS:
            return f"more than {MOST_DOTS} dots in line {number}"
        if _LONG_WORD.search(line):
            return f"a word of more than {MOST_WORD} characters in line {number}"
    opened = 0
    for bracket in re.findall(r"[\[\]{}]", bare):
        opened += 1 if bracket in "[{" else -1
        if opened > MOST_OPEN:
            return f"more than {MOST_OPEN} brackets in one another"
    return ""
