"""Split Markdown text into front matter, headings and atomic blocks with line ranges.

Only the block rules of markdown-it-py run, because memcli needs line ranges and takes the text from
the source. Only a line feed ends a line; a lone CR counts as a space. Lines without a token (link
definitions) become paragraphs, so no line is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby

from memcli.checking import TYPE_CHECKING, Any
from memcli.markdown.comments import visible
from memcli.markdown.frontmatter import split
from memcli.record import Record

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

# The commonmark preset ends a document at level 20, which ten list levels reach. Each level
# costs stack and another pass over the lines below, so there is a limit.
MAX_NESTING = 100
# Characters of a heading; a longer one is a paragraph. Each chunk below a heading contains it, so
# the index, and the time to find tags, would grow with the square of its length.
LONGEST_TITLE = 1000
# `<T>` and `<name>` stay: nothing closes them, and they have no attributes.
_TAGS = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    r"|<[A-Za-z][\w.-]*(?:\s[^<>]*)?/>|</[A-Za-z][\w.-]*>|<[A-Za-z][\w.-]*\s[^<>]*=[^<>]*>",
    re.DOTALL,
)


# The beginning of a line that may open another block, underline a heading or divide a table.
_NOT_PROSE = re.compile(
    r"[>=|:<-]|```|~~~|[*+](?:[ \t\n]|\Z)|[*_][*_ \t]*(?:\n|\Z)"
    r"|[0-9]{1,9}[.)](?:[ \t\n]|\Z)|#{1,6}(?:[ \t\n]|\Z)"
)


class Block(Record):
    """A block, not split if it fits: lines `start` to `end`, from 0, `end` not included."""

    kind: str  # heading | paragraph | item | fence | table | quote | html
    start: int
    end: int
    level: int = 0  # of a heading
    title: str = ""  # of a heading


class ParsedMarkdown(Record):
    """A document's lines, its metadata and its blocks in order."""

    lines: tuple[str, ...]
    front_matter: dict[str, Any]
    blocks: tuple[Block, ...]


def parse(text: str) -> ParsedMarkdown:
    """Parse a document's text, which must not begin with a byte order mark."""
    lines = tuple(text.split("\n"))
    front_matter, body_start = split(lines)
    blank = [""] * body_start
    body = "\n".join([*blank, *lines[body_start:]]).replace("\r\n", "\n").replace("\r", " ")
    tokens = _parser().parse(body)
    own_blocks = [block for block in _blocks(tokens) if block.end > block.start]
    blocks = tuple(_without_comments(_fill_gaps(own_blocks, lines, body_start), lines))
    return ParsedMarkdown(lines, front_matter, blocks)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table")
    parser.core.ruler.disable(["inline", "text_join"])
    parser.block.ruler.before("table", "prose", _prose)
    parser.normalizeLink = str  # type: ignore[assignment]  # the targets are not used
    return parser


def _prose(state: StateBlock, start: int, _end: int, _silent: bool) -> bool:
    """Take a paragraph whose lines concern no other rule, in a third of the usual time.

    A link definition may begin with `[`. Only a paragraph of level 0 makes a block, so the others
    get no token.
    """
    if state.is_code_block(start) or state.src[state.bMarks[start] + state.tShift[start]] == "[":
        return False
    line = start
    while line < state.lineMax and not state.isEmpty(line):
        if _NOT_PROSE.match(state.src, state.bMarks[line] + state.tShift[line]):
            return False
        line += 1
    state.line = line
    if not state.level:
        state.push("paragraph_open", "p", 0).map = [start, line]
    return True


def _blocks(tokens: list[Token]) -> Iterator[Block]:
    """Yield the blocks of level 0, with top-level lists opened into their items."""
    quote_end = -1
    for index, token in enumerate(tokens):
        if token.map is None or token.map[0] < quote_end:
            continue
        start, end = token.map
        if token.level == 0 and token.type == "heading_open":
            content = tokens[index + 1].content
            if len(content) > LONGEST_TITLE:
                yield Block("paragraph", start, end)
                continue
            title = _without_tags(visible(content))
            yield Block("heading", start, end, int(token.tag[1]), title)
        elif token.level == 0 and token.type in _LEAF_KINDS:
            yield Block(_LEAF_KINDS[token.type], start, end)
            if token.type == "blockquote_open":
                quote_end = end
        elif token.level == 1 and token.type == "list_item_open":
            yield Block("item", start, end)


def _without_tags(heading: str) -> str:
    """Leave out tags with attributes, closing ones and components such as `<JumpToc/>`."""
    if "<" in heading:
        heading = _TAGS.sub(lambda match: match[0] if match["code"] else " ", heading)
    return " ".join(heading.split())


_LEAF_KINDS = {
    "paragraph_open": "paragraph",
    "fence": "fence",
    "code_block": "fence",
    "table_open": "table",
    "blockquote_open": "quote",
    "html_block": "html",
}


def _fill_gaps(blocks: list[Block], lines: tuple[str, ...], first: int) -> Iterator[Block]:
    """Trim blank edges off each block and turn uncovered text between blocks into paragraphs."""
    at = first
    for block in blocks:
        yield from _paragraphs(lines, at, block.start)
        start, end = max(block.start, at), block.end
        while end > start and not lines[end - 1].strip():
            end -= 1
        while start < end and not lines[start].strip():
            start += 1
        if start < end:
            yield block._replace(start=start, end=end)
        at = max(at, block.end)
    yield from _paragraphs(lines, at, len(lines))


def _paragraphs(lines: tuple[str, ...], start: int, end: int) -> Iterator[Block]:
    for is_text, run in groupby(range(start, end), lambda at: _is_text(lines[at])):
        if is_text:
            first, *rest = run
            yield Block("paragraph", first, first + len(rest) + 1)


def _is_text(line: str) -> bool:
    """Return whether it is neither blank nor a thematic break, which has nothing to search."""
    joined = "".join(line.split())
    is_rule = len(joined) >= 3 and joined[0] in "-*_" and joined == joined[0] * len(joined)
    return joined != "" and not is_rule


def _without_comments(blocks: Iterator[Block], lines: tuple[str, ...]) -> Iterator[Block]:
    """Remove blocks that are only comments; an unclosed comment continues after its HTML block."""
    until = 0
    for whole in blocks:
        if whole.end <= until:
            continue
        block = whole._replace(start=max(whole.start, until))
        if block.kind == "html":
            text = "\n".join(lines[block.start : block.end])
            if text.rfind("<!--") > text.rfind("-->") and visible(text + "x") == visible(text):
                close = (n for n in range(block.end, len(lines)) if "-->" in lines[n])
                until = next(close, len(lines) - 1) + 1
                block = block._replace(end=until)
                text = "\n".join(lines[block.start : block.end])
            if not visible(text).strip():
                continue
        yield block
