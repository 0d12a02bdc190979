"""Records are named tuples: whatever code does with one, it does with the other."""

from __future__ import annotations

import copy
import pickle
from typing import Any, NamedTuple

import pytest

from memcli.record import Record


class Point(Record):
    """A record as the package declares them."""

    x: int
    y: int
    name: str = "origin"
    tags: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """Add up."""
        return self.x + self.y


class Named(NamedTuple):
    """The same, made by the library."""

    x: int
    y: int
    name: str = "origin"
    tags: tuple[str, ...] = ()


def test_a_record_is_the_tuple_that_a_named_tuple_is() -> None:
    for values in ((1, 2), (1, 2, "a"), (1, 2, "a", ("b",))):
        ours, theirs = Point(*values), Named(*values)
        assert tuple(ours) == tuple(theirs)
        assert hash(ours) == hash(theirs)
        assert repr(ours) == repr(theirs).replace("Named", "Point")
        assert ours._asdict() == theirs._asdict()
    assert Point(y=2, x=1) == Point(1, 2)
    assert Point._fields == Named._fields
    assert Point._field_defaults == Named._field_defaults
    assert Point.__match_args__ == Named.__match_args__
    assert Point.__doc__ == "A record as the package declares them."


def test_it_has_what_its_class_adds_and_can_be_copied() -> None:
    point = Point(1, 2)._replace(name="there")
    assert tuple(point) == (1, 2, "there", ())
    assert point.total == 3
    assert tuple(Point._make(range(4))) == (0, 1, 2, 3)
    for again in (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point))):
        assert again == point
        assert type(again) is Point


def test_the_first_records_are_like_all_that_follow() -> None:
    """The constructor is compiled only once there are many."""

    class Fresh(Record):
        x: int
        y: int = 2
        z: int = 3

    made = [Fresh(1), Fresh(x=1), Fresh(1, 2), Fresh(1, z=3), Fresh(z=3, y=2, x=1)]
    assert "__new__" not in vars(Fresh)
    made += [Fresh(1, z=3) for _ in range(50)]
    assert "__new__" in vars(Fresh)
    assert set(made) == {Fresh(1, 2, 3)}
    assert set(map(type, made)) == {Fresh}


@pytest.mark.parametrize("values", [(), (1, 2, 3), (1,)], ids=str)
@pytest.mark.parametrize("named", [{}, {"x": 1}, {"y": 2}, {"z": 3}, {"y": 2, "z": 3}], ids=str)
def test_the_first_record_of_a_kind_is_refused_as_all_are(
    values: tuple[int, ...], named: dict[str, int]
) -> None:
    def outcome(kind: Any) -> object:
        try:
            return tuple(kind(*values, **named))
        except TypeError:
            return TypeError

    class New(Record):
        x: int
        y: int

    class Old(NamedTuple):
        x: int
        y: int

    assert outcome(New) == outcome(Old)


@pytest.mark.parametrize("wrong", [{}, {"x": 1}, {"x": 1, "y": 2, "z": 3}])
def test_a_record_takes_its_fields_and_no_others(wrong: dict[str, int]) -> None:
    for kind in (Point, Named):
        with pytest.raises(TypeError, match=r"missing 1|missing 2|unexpected keyword argument 'z'"):
            kind(**wrong)  # type: ignore[arg-type]


def test_nothing_about_it_can_be_changed() -> None:
    point = Point(1, 2)
    for name in ("x", "other"):
        with pytest.raises(AttributeError):
            setattr(point, name, 3)
    with pytest.raises(TypeError, match="no field other"):
        point._replace(other=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="4 fields, not 2"):
        Point._make((1, 2))


def test_fields_without_a_default_come_first() -> None:
    kind: Any = type(Record)
    body = {"__annotations__": {"a": "int", "b": "int"}, "a": 1}
    with pytest.raises(TypeError, match="a field without a default"):
        kind("Bad", (Record,), body)
