"""Frozen records that cost next to nothing to define: what `typing.NamedTuple` makes, made late.

A command defines some ninety kinds of record and makes one or two of most. `NamedTuple` compiles
the constructor and every annotation of each where the class stands, .2 ms a class; here a
constructor is compiled once records of its kind are many. A checker of types reads `NamedTuple`.
"""

from __future__ import annotations

from collections import _tuplegetter  # type: ignore[attr-defined]  # a field of a named tuple

from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any
    from typing import NamedTuple as Record

__all__ = ["Record", "expect_many"]

# Of a kind: from here on a constructor that has to be compiled (.08 ms) costs less than to go
# without (2 us a record).
_MANY = 40
_made: dict[type, int] = {}


def expect_many(kind: Any) -> None:  # noqa: ANN401
    """Let the first record of a kind compile its constructor."""
    _made[kind] = _MANY


class _Fields(tuple):  # type: ignore[type-arg]
    """What all records share; each kind is a subclass without a dictionary."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()
    _field_defaults: Mapping[str, Any]

    def __new__(cls, *values: Any, **named: Any) -> Any:  # noqa: ANN401
        """Make one of the first records of its kind; compile the constructor for more of them.

        That constructor also says what is wrong with the values.
        """
        if len(values) == len(cls._fields) and not named:
            return tuple.__new__(cls, values)
        made = _made[cls] = _made.get(cls, 0) + 1
        rest = cls._fields[len(values) :]
        if made < _MANY and all(name in rest for name in named):
            given = {**cls._field_defaults, **named}
            whole = (*values, *[given[name] for name in rest if name in given])
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
        """Tell `copy` and `pickle` what to make it of again."""
        return tuple(self)


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
        """Give a subclass of `tuple`; TypeError where a field without a default follows one."""
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
