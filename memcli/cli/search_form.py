"""The form that an answer is wanted in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcli.cli.choices import SEARCH_FORMATS, check
from memcli.errors import UsageError
from memcli.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.render.template import Template
    from memcli.search.dates import DateSpan

TEMPLATE = "template"  # the form of a text with keys in braces


class Shape(Record):
    """The form that an answer is written in, and how much of it."""

    form: str  # one of `choices.SEARCH_FORMATS`, or TEMPLATE
    full: bool = False
    explain: bool = False
    in_days: bool = False  # passages stand below their days
    filters: tuple[DateSpan, ...] = ()  # the dates of filters, as they were read
    has_question: bool = True  # of its own; else it is what the filters let through
    fields: tuple[str, ...] = ()  # keys of JSON, where not all are wanted
    template: Template | None = None  # of the form TEMPLATE
    brief: bool = False  # a line a passage
    around: int = 0  # lines of the file above and below each passage
    is_fitted: bool = False  # a terminal shows what fits it


def shape_of(form: str, fields: Sequence[str]) -> Shape:
    """Read a form that may be a template, and the keys of JSON that are wanted.

    UsageError for what is neither, and for a key that the JSON of a passage does not have.
    """
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
