"""Read which form an answer is wanted in, where that is more than a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcli.cli.choices import SEARCH_FORMATS, check
from memcli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.cli.search_output import Shape


def shape_of(form: str, fields: Sequence[str]) -> Shape:
    """Read a form that may be a template, and the keys of JSON that are wanted.

    UsageError for what is neither, and for a key that the JSON of a passage does not have.
    """
    from memcli.cli.search_output import TEMPLATE, Shape
    from memcli.render import template
    from memcli.render.jsonio import RESULT_KEYS

    wanted = tuple(key for each in fields for key in each.split(","))
    check("--fields", wanted, RESULT_KEYS)
    if form not in SEARCH_FORMATS and "{" in form:
        read = template.parse(form, RESULT_KEYS)
        form, told = TEMPLATE, Shape(TEMPLATE, fields=read.keys, template=read)
    else:
        check("--format", [form], SEARCH_FORMATS)
        told = Shape(form, fields=wanted)
    if wanted and form not in ("json", "jsonl"):
        raise UsageError(
            "--fields chooses keys of JSON; other forms are made by a template",
            hint=f"--format '{''.join(f'{{{key}}} ' for key in wanted).strip()}'",
        )
    return told
