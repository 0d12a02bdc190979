"""The form of the output of a search."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.options import SEARCH_FORMATS, check
from memcli.errors import UsageError
from memcli.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memcli.dates.find import DateSpan
    from memcli.render.template import Template

TEMPLATE = "template"  # a text with keys in braces


class Shape(Record):
    """The form of the output, and how much it contains."""

    form: str  # one of SEARCH_FORMATS, or TEMPLATE
    full: bool = False
    explain: bool = False
    in_days: bool = False  # with the days as headings
    filters: tuple[DateSpan, ...] = ()  # the dates of the filters
    has_question: bool = True  # False: everything that passes the filters
    fields: tuple[str, ...] = ()  # the only keys of JSON
    template: Template | None = None  # the text of a template
    brief: bool = False  # one line per passage
    one_line: bool = False  # one line per passage, with a count
    options: Callable[[], str] = str  # writes those of the command that prints what follows
    around: int = 0  # lines before and after each passage
    superseded: bool = False  # also the lines that a passage corrects
    budget: int | None = None  # maximum tokens on stdout
    has_budget: bool = False  # it was requested
    worthwhile: bool = False  # leave out passages that are not worth reading
    after: int = 0  # passages, from the first, that were printed before
    page_lines: int = 0  # most lines of a page of a list; 0: any number
    place: int = 0  # number of its question, from 1, if there are several
    # The lines that earlier ones of several questions printed; they are only cited.
    printed: set[tuple[tuple[str, str], int, str]] | None = None
    is_fitted: bool = False  # only what fits the terminal
    folder: str = ""  # the one that -w names

    @property
    def is_whole(self) -> bool:
        """Return whether passages are printed with their own headings."""
        return self.full or self.around > 0


def shape_of(
    form: str | None,
    fields: Sequence[str],
    keys: Callable[[], Sequence[str]],
    *,
    forms: Sequence[str] = SEARCH_FORMATS,
    json_by: str = "",
) -> Shape:
    """Read a form, which may be a template, and the requested `keys` of JSON.

    The option `json_by`, or keys without a form, request JSON. UsageError if the form is neither in
    `forms` nor a template, and for any other key.
    """
    if json_by and form not in (None, "json"):
        raise UsageError(f"--format {form} cannot be combined with {json_by}", hint="--format json")
    if form is None:
        form = "json" if fields or json_by else "text"
    if form in forms and not fields:
        return Shape(form)
    from memcli.render import template

    known = keys()
    requested = tuple(key for each in fields for key in each.split(","))
    check("--fields", requested, known)
    if form not in forms and "{" in form:
        read = template.parse(form, known)
        form, shape = TEMPLATE, Shape(TEMPLATE, fields=read.keys, template=read)
    else:
        check("--format", [form], forms)
        shape = Shape(form, fields=requested)
    if requested and form not in ("json", "jsonl"):
        raise UsageError(
            "--fields chooses keys of JSON; use a template for other forms",
            hint=f"--format '{''.join(f'{{{key}}} ' for key in requested).strip()}'",
        )
    return shape
