"""The places of a module where one thing can be changed, and what each becomes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

_PAIRS = ((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot),
          (ast.In, ast.NotIn), (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.BitAnd, ast.BitOr),
          (ast.And, ast.Or), (ast.LShift, ast.RShift))  # fmt: skip
SWAPS: dict[type, Any] = {
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
    **dict(_PAIRS), **{b: a for a, b in _PAIRS},
}  # fmt: skip
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
SQL = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE|PRAGMA|WHERE|ORDER BY|JOIN)\b")
SQL_WORDS = {
    "<=": "<", ">=": ">", "<": "<=", ">": ">=", "AND": "OR", "OR": "AND", "ASC": "DESC",
    "DESC": "ASC", "MIN": "MAX", "MAX": "MIN", "ON": "OFF", "OFF": "ON", "DISTINCT": "",
    "NOT IN": "IN", "IS NOT": "IS", "NOT EXISTS": "EXISTS", "UNION ALL": "UNION",
    "LEFT JOIN": "JOIN", "OR IGNORE": "", "OR REPLACE": "",
}  # fmt: skip
SQL_WORD = re.compile(
    r"(?<![-<>])(?:<=|>=|[<>])(?![<>=])|\b\d+\b"
    + rf"|\b(?:{'|'.join(sorted(filter(str.isalpha, SQL_WORDS)))}|NOT IN|IS NOT|NOT EXISTS"
    + r"|UNION ALL|LEFT JOIN|OR IGNORE|OR REPLACE)\b"
)


class Mutant(NamedTuple):
    """A place and what it becomes. `lines` are those that a test must touch to feel it."""

    path: str
    line: int
    start: int  # of the bytes of the file
    end: int
    new: str
    lines: range
    names: tuple[str, ...]  # whose uses stand for a line that runs when it is loaded
    inside: bool  # of a function


def _changed(node: Any, **fields: Any) -> Any:
    return type(node)(**{**{name: getattr(node, name) for name in node._fields}, **fields})


def _variants(node: Any) -> Iterator[tuple[Any, ast.AST]]:
    """Yield pairs of a part of the node and what it becomes."""
    yield from ((node, new) for new in _of_operator(node))
    yield from ((node, new) for new in _of_rest(node))
    tests = node.ifs if isinstance(node, ast.comprehension) else [getattr(node, "test", None)]
    for test in tests:
        if test is not None and not isinstance(test, ast.Compare | ast.UnaryOp | ast.BoolOp):
            yield test, ast.UnaryOp(ast.Not(), test)


def _of_operator(node: Any) -> Iterator[ast.AST]:
    match node:
        case ast.Compare():
            for at, op in enumerate(node.ops):
                if other := SWAPS.get(type(op)):
                    yield _changed(node, ops=[*node.ops[:at], other(), *node.ops[at + 1 :]])
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign() if type(node.op) in SWAPS:
            yield _changed(node, op=SWAPS[type(node.op)]())
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand


def _of_rest(node: Any) -> Iterator[ast.AST]:
    match node:
        case ast.Constant(value=bool() as told):
            yield ast.Constant(not told)
        case ast.Constant(value=int() | float() as number):
            yield ast.Constant(number + 1)
        case ast.Slice():
            for side in ("lower", "upper"):
                if getattr(node, side) is not None:
                    yield _changed(node, **{side: None})
        case ast.Call(func=ast.Name(id=name)) if name in CALLS:
            yield _changed(node, func=ast.Name(CALLS[name]))
        case ast.Expr(value=ast.Call()) | ast.Raise():
            yield ast.Pass()
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield ast.Return(None)


def _walk(node: Any, lines: range, inside: bool) -> Iterator[tuple[Any, range, bool]]:
    """Yield what runs, with the lines of its statement and whether these are of a function."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    body = getattr(node, "body", None) if isinstance(node, ast.stmt | ast.match_case) else None
    if isinstance(node, ast.stmt):
        last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
        lines = range(node.lineno, last + 1)
    is_function = isinstance(node, ast.FunctionDef)
    if is_function:
        lines, inside = range(body[0].lineno, node.end_lineno + 1), True  # type: ignore[index]
    elif isinstance(node, ast.match_case):
        lines = range(node.pattern.lineno, max(node.pattern.lineno, node.body[0].lineno - 1) + 1)
    yield node, lines, inside
    if isinstance(node, ast.JoinedStr):  # its parts do not know their place before 3.12
        return
    for field, value in ast.iter_fields(node):
        if field not in ("annotation", "returns", "decorator_list"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _walk(child, lines, inside)


def find(root: Path, path: str) -> Iterator[Mutant]:
    """Yield the mutants of a module, in the order of its text."""
    source = (root / path).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(source)
    named = {
        line: tuple(name.id for name in ast.walk(stmt) if isinstance(name, ast.Name)
                    and isinstance(name.ctx, ast.Store))
        for stmt in tree.body
        for line in range(stmt.lineno, (stmt.end_lineno or stmt.lineno) + 1)
    }  # fmt: skip
    for node, lines, inside in _walk(tree, range(0), False):
        for part, new in _variants(node):
            start = starts[part.lineno - 1] + part.col_offset
            end = starts[part.end_lineno - 1] + part.end_col_offset
            # As many lines as before: functions are known by where they begin.
            text = ast.unparse(ast.fix_missing_locations(new)) + "\n" * source.count(
                b"\n", start, end
            )
            if isinstance(new, ast.expr) and not isinstance(new, ast.Slice):
                text = f"({text})"
            yield Mutant(path, part.lineno, start, end, text, lines, named[part.lineno], inside)
        if isinstance(node, ast.JoinedStr | ast.Constant) and isinstance(
            getattr(node, "value", ""), str
        ):
            start = starts[node.lineno - 1] + node.col_offset
            held = source[start : starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)]
            for hit in _sql(held.decode()):
                word, at = hit[0], start + len(held.decode()[: hit.start()].encode())
                other = str(int(word) + 1) if word.isdigit() else SQL_WORDS[word]
                end = at + len(word)
                yield Mutant(path, node.lineno, at, end, other, lines, named[node.lineno], inside)


def _sql(text: str) -> Iterator[re.Match[str]]:
    if SQL.search(text):
        yield from SQL_WORD.finditer(text)


def changed(mutant: Mutant, text: bytes) -> str:
    """Give its lines with the changed part in brackets, and what this becomes."""
    first = text.rfind(b"\n", 0, mutant.start) + 1
    last = text.find(b"\n", mutant.end)
    was = text[first : mutant.start] + b"[" + text[mutant.start : mutant.end] + b"]"
    shown = f"{(was + text[mutant.end : last]).decode()} -> {mutant.new}"
    return " ".join(shown.split())


def equivalents() -> dict[tuple[str, str], str]:
    """Read which mutants change nothing that a test could see, and why."""
    text = (Path(__file__).parent / "equivalent.tsv").read_text("utf-8")
    rows = [line.split("\t") for line in text.splitlines()]
    return {(path, shown): why for path, shown, why in rows}
