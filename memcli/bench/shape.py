"""Whether a receipt that is read back has the shape of its schema, as far as readers count on it.

Of JSON Schema this heeds `type`, `const`, `required`, `properties`, `items`, a schema under
`additionalProperties` and `$ref` to `#/$defs`. What bounds a value further is not heeded: it may
have been otherwise in an earlier version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

_SCHEMAS = Path(__file__).parent.parent / "schemas"
_MOST_DIGITS = 300  # of a number: a float has no more
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,),
    "integer": (int,), "number": (int, float), "null": (type(None),),
}  # fmt: skip


def fits(record: Any) -> bool:  # noqa: ANN401
    """Tell whether a record says which schema it has, and has it."""
    name = record.get("schema") if isinstance(record, dict) else None
    schema = _schema(name) if isinstance(name, str) else None
    return schema is not None and _fits(record, schema, schema)


@cache
def _schema(name: str) -> dict[str, Any] | None:
    """Read the schema of that name, None where there is none."""
    known = {f"{path.stem.rpartition('.')[0]}/1": path for path in _SCHEMAS.glob("*.1.json")}
    return dict(json.loads(known[name].read_text("utf-8"))) if name in known else None


def _fits(value: Any, schema: Mapping[str, Any], whole: Mapping[str, Any]) -> bool:  # noqa: ANN401
    if "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].rpartition("/")[2]]
    if "const" in schema and value != schema["const"]:
        return False
    kinds = schema.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        return False
    if isinstance(value, list):
        return "items" not in schema or all(_fits(each, schema["items"], whole) for each in value)
    return not isinstance(value, dict) or _members_fit(value, schema, whole)


def _members_fit(
    value: Mapping[str, Any], schema: Mapping[str, Any], whole: Mapping[str, Any]
) -> bool:
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    if not all(name in value for name in schema.get("required", ())):
        return False
    if schema is not whole and known.keys() == {"schema"}:  # another receipt within this one
        return fits(value)
    return all(
        _fits(each, known[name], whole)
        if name in known
        else not isinstance(others, dict) or _fits(each, others, whole)
        for name, each in value.items()
    )


def _is(value: Any, kind: str) -> bool:  # noqa: ANN401
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, float) and not isfinite(value):
        return False
    if isinstance(value, int) and abs(value) >= 10**_MOST_DIGITS:
        return False
    return isinstance(value, _TYPES[kind])
