"""Frozen records that are cheap to define: like `typing.NamedTuple`, but compiled when used.

A command defines about ninety kinds of records and creates one or two of most. `NamedTuple`
compiles each constructor and annotation at the definition, about .09 ms per class. Here a
constructor is compiled only if many records of its kind are created. Type checkers see
`NamedTuple`.
"""

from __future__ import annotations

from collections import _tuplegetter  # type: ignore[attr-defined]  # a field of a named tuple

from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any
    from typing import NamedTuple as Record

__all__ = ["Record", "expect_many", "plain"]

# From so many records of a kind on, compiling its constructor (.08 ms) is cheaper than creating
# them without it (2 us each).
_MANY = 40
_made: dict[type, int] = {}


def expect_many(kind: Any) -> None:  # noqa: ANN401
    """Let the first record of a kind compile its constructor."""
    _made[kind] = _MANY


class _Fields(tuple):  # type: ignore[type-arg]
    """The base of all records; each kind is a subclass without a dictionary."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()
    _field_defaults: Mapping[str, Any]

    def __new__(cls, *values: Any, **named: Any) -> Any:  # noqa: ANN401
        """Create one of the first records of its kind; compile the constructor for more.

        The compiled constructor also reports wrong arguments.
        """
        if len(values) == len(cls._fields) and not named:
            return tuple.__new__(cls, values)
        made = _made[cls] = _made.get(cls, 0) + 1
        rest = cls._fields[len(values) :]
        if made < _MANY and all(name in rest for name in named):
            all_values = {**cls._field_defaults, **named}
            whole = (*values, *[all_values[name] for name in rest if name in all_values])
            if len(whole) == len(cls._fields):
                return tuple.__new__(cls, whole)
        cls.__new__ = _constructor(cls)  # type: ignore[method-assign]
        return cls.__new__(cls, *values, **named)

    @classmethod
    def _make(cls, values: Iterable[Any]) -> _Fields:
        record = tuple.__new__(cls, values)
        if len(record) != len(cls._fields):
            raise TypeError(f"{cls.__name__} has {len(cls._fields)} fields, not {len(record)}")
        return record

    def _replace(self, **changed: Any) -> _Fields:  # noqa: ANN401
        record: _Fields = tuple.__new__(type(self), map(changed.pop, self._fields, self))
        if changed:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(changed)}")
        return record

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
        return f"{type(self).__name__}({shown})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Return the values, for `copy` and `pickle`."""
        return tuple(self)


def plain(value: Any) -> Any:  # noqa: ANN401
    """Turn a record into the object of its JSON, with all records inside it.

    A field that is a word of Python ends with an underscore, which is left out: `from_` is `from`.
    A record may name fields in `json_omits`, which JSON does not have.
    """
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        named, omits = zip(value._fields, value, strict=True), getattr(value, "json_omits", ())
        return {name.rstrip("_"): plain(each) for name, each in named if name not in omits}
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return value


def _constructor(kind: type[_Fields]) -> Callable[..., Any]:
    """Compile `__new__`, which takes the fields by place or by name."""
    names = ", ".join(kind._fields)
    code = f"lambda _kind, {names}: _new(_kind, ({names},))"
    made: Any = eval(code, {"_new": tuple.__new__, "__builtins__": {}})  # fields of our own classes
    made.__name__, made.__qualname__ = "__new__", f"{kind.__qualname__}.__new__"
    made.__defaults__ = tuple(kind._field_defaults.values())
    return staticmethod(made)


class _Kind(type):
    """Turn the body of a class into a kind of record: its annotations are the fields."""

    def __new__(cls, name: str, _: tuple[type, ...], body: dict[str, Any]) -> Any:  # noqa: ANN401
        """Create a subclass of `tuple`; TypeError if a field without a default follows one with."""
        fields = tuple(body.get("__annotations__", ()))
        defaults = {field: body[field] for field in fields if field in body}
        if fields[len(fields) - len(defaults) :] != tuple(defaults):
            raise TypeError(f"{name}: a field without a default follows one that has a default")
        made = {
            **body,
            **{field: _tuplegetter(place, "") for place, field in enumerate(fields)},
            "__slots__": (),
            "__match_args__": fields,
            "_fields": fields,
            "_field_defaults": defaults,
        }
        return type(name, (_Fields,), made)


if not TYPE_CHECKING:
    Record = type.__new__(_Kind, "Record", (), {})
