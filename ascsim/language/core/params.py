"""How parameter structures are declared: a class statement whose body is a table of fields.

    class BrcbRepeatParams(Params):
        dst_blk_stride: int = U16(1)
        dst_rep_stride: int = U16(8)

Each row gives the width that the field has on the device, and its default (none: the field must be given). The class
gets slots, a real signature, equality and hash. Instances are immutable; `key` is a tuple of plain numbers (and data
types) made at construction, a cheap part of cache keys. Not modelled: limits narrower than the field itself; those are
the business of the call that takes the structure.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, ClassVar

from ...hw.errors import ArgumentTypeError, ArgumentValueError, StructError
from . import dtype as _dtype
from .dtype import DataType, from_numpy
from .ir_value import PlainValue, to_index, unwrap, value

_REQUIRED = inspect.Parameter.empty


class Row:
    """One field: `take(given, owner, before)` gives its value, where `before` holds the fields before it by name."""

    def __init__(self, take: Callable[[Row, Any, str, dict[str, Any]], Any], default: Any) -> None:
        self._take, self.default, self.name = take, default, ""

    def take(self, given: Any, owner: str, before: dict[str, Any]) -> Any:
        return self._take(self, given, owner, before)


def _integer(type_: DataType) -> Callable[..., Any]:
    low, high = type_.low or 0, type_.high or 0

    def take(row: Row, given: Any, owner: str, before: dict[str, Any]) -> int:
        number = given if given.__class__ is int else to_index(given, owner, row.name)
        if not low <= number <= high:
            nearest, rule = min(max(number, low), high), f"{low}..{high}, a {type_} on the device"
            raise ArgumentValueError(owner, "does not fit", operand=row.name, value=number, rule=rule, nearest=nearest)
        return number

    return lambda default=_REQUIRED: Row(take, default)


U8, U16, U32, U64 = (_integer(t) for t in (_dtype.uint8, _dtype.uint16, _dtype.uint32, _dtype.uint64))
I16, I32 = _integer(_dtype.int16), _integer(_dtype.int32)


def Flag(default: Any = _REQUIRED) -> Any:
    """One bit; any integer serves."""
    return Row(lambda row, given, owner, before: bool(to_index(given, owner, row.name)), default)


def Number(default: Any = _REQUIRED) -> Any:
    """A number that the caller converts: its type is known only there."""

    def take(row: Row, given: Any, owner: str, before: dict[str, Any]) -> int | float:
        plain = unwrap(given)
        if not isinstance(plain, (int, float)):
            raise ArgumentTypeError(owner, f"a {type(plain).__name__} is no number", operand=row.name, value=plain)
        return plain

    return Row(take, default)


def Typed(default: Any = _REQUIRED) -> Any:
    """A number that brings its type along: kept as a run-time scalar (int32 and float32 for plain numbers)."""

    def take(row: Row, given: Any, owner: str, before: dict[str, Any]) -> PlainValue:
        plain = unwrap(given)
        own = isinstance(given, PlainValue)
        numpy_type = getattr(plain, "dtype", None)
        type_ = given.dtype if own else from_numpy(numpy_type) if numpy_type is not None else None
        return value(
            plain, type_ or (_dtype.float32 if isinstance(plain, float) else _dtype.int32), f"{owner}.{row.name}"
        )

    return Row(take, default)


def Float(type_: DataType | None, default: Any = _REQUIRED) -> Any:
    """A number of the given type; None: of the type in the field `dtype` that stands before."""

    def take(row: Row, given: Any, owner: str, before: dict[str, Any]) -> Any:
        target = before["dtype"] if type_ is None else type_
        number = value(given, target, f"{owner}.{row.name}").v
        plain = unwrap(given)
        if target.is_int() and number != plain:
            rule = f"{target.low}..{target.high}, the range of {target}"
            raise ArgumentValueError(owner, "does not fit", operand=row.name, value=plain, rule=rule, nearest=number)
        return number

    return Row(take, default)


def Member(enum: type[IntEnum], default: Any = _REQUIRED) -> Any:
    """A member of an enumeration, or its value."""

    def take(row: Row, given: Any, owner: str, before: dict[str, Any]) -> IntEnum:
        if given.__class__ is enum:
            return given
        number = to_index(given, owner, row.name)
        if number not in list(enum):
            rule = "one of " + ", ".join(f"{enum.__name__}.{member.name} ({int(member)})" for member in enum)
            raise ArgumentValueError(owner, f"is no {enum.__name__}", operand=row.name, value=number, rule=rule)
        return enum(number)

    return Row(take, default)


def Items(row_of: Callable[[], Row], lengths: tuple[int, int], default: Any = _REQUIRED) -> Any:
    """A tuple of `lengths` (least, most) items, each taken by a row of its own; given as any sequence."""
    item, (least, most) = row_of(), lengths

    def take(row: Row, given: Any, owner: str, before: dict[str, Any]) -> tuple[Any, ...]:
        item.name = row.name
        given = unwrap(given)
        if isinstance(given, (str, bytes)) or not hasattr(given, "__len__") or not hasattr(given, "__getitem__"):
            raise ArgumentTypeError(owner, f"a {type(given).__name__} is no sequence", operand=row.name, value=given)
        count = len(given)
        if not least <= count <= most:
            rule = f"{least} items" if least == most else f"{least} to {most} items"
            raise ArgumentValueError(owner, f"has {count} items", operand=row.name, value=given, rule=rule)
        return tuple(item.take(given[i], owner, before) for i in range(count))

    return Row(take, default)


def Type(*legal: DataType) -> Any:
    """A data type, one of `legal` where that is given."""

    def take(row: Row, given: Any, owner: str, before: dict[str, Any]) -> DataType:
        plain = unwrap(given)
        if not isinstance(plain, DataType):
            raise ArgumentTypeError(owner, "is no data type", operand=row.name, value=plain)
        if legal and plain not in legal:
            rule = "one of " + ", ".join(map(str, legal))
            raise ArgumentTypeError(owner, "is not supported", operand=row.name, value=plain, rule=rule)
        return plain

    return Row(take, _REQUIRED)


def Object(kind: type | None = None, default: Any = _REQUIRED) -> Any:
    """Any object, of the class `kind` where that is given, or the default as it is."""

    def take(row: Row, given: Any, owner: str, before: dict[str, Any]) -> Any:
        if kind is not None and given is not row.default and not isinstance(given, kind):
            raise ArgumentTypeError(owner, f"is no {kind.__name__}", operand=row.name, value=given)
        return given

    return Row(take, default)


class _Table(type):
    """Turns the rows of a class body into slots and a signature."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> _Table:
        rows = {key: entry for key, entry in body.items() if isinstance(entry, Row)}
        for key, row in rows.items():
            row.name = key
            del body[key]
        body["__slots__"] = (*rows, "key") if bases else ()
        cls = super().__new__(mcs, name, bases, body)
        cls._rows = tuple(rows.values())  # type: ignore[attr-defined]
        cls._setters = tuple(cls.__dict__[key].__set__ for key in (*rows, "key") if bases)  # type: ignore[attr-defined]
        cls.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=row.default)
                for key, row in rows.items()
            ]
        )
        return cls


def _key_part(field: Any) -> Any:
    if isinstance(field, Params):
        return field.key
    if isinstance(field, PlainValue):
        return field.dtype, field.v
    return int(field) if isinstance(field, IntEnum) else field


class Params(metaclass=_Table):
    """Base of parameter structures. One positional argument too many (the front end's hidden handle) is ignored."""

    key: tuple[Any, ...]
    _rows: ClassVar[tuple[Row, ...]]
    _setters: ClassVar[tuple[Callable[[Any, Any], None], ...]]
    _ignored: ClassVar[frozenset[str]] = frozenset()  # keywords of the published signature that have no effect

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        rows, owner = self._rows, self.__class__.__name__
        if kwargs or len(args) != len(rows):
            args = tuple(self._bind(args, kwargs))
        before: dict[str, Any] = {}
        for row, setter, given in zip(rows, self._setters, args):  # noqa: B905 (the last setter is the key's)
            before[row.name] = field = row.take(given, owner, before)
            setter(self, field)
        self._setters[-1](self, tuple(map(_key_part, before.values())))

    def _bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        """One value a field, in order."""
        owner, count = self.__class__.__name__, len(self._rows)
        if len(args) > count + 1:
            raise ArgumentTypeError(owner, f"{len(args)} arguments for {count} fields", operand="args", value=args)
        given = [*args[:count], *(kwargs.pop(row.name, row.default) for row in self._rows[len(args) :])]
        wrong = sorted(set(kwargs) - self._ignored)
        if wrong:
            twice = any(row.name == wrong[0] for row in self._rows)
            rule = "fields: " + ", ".join(row.name for row in self._rows)
            raise ArgumentTypeError(owner, "is given twice" if twice else "is no field", operand=wrong[0], rule=rule)
        for row, field in zip(self._rows, given, strict=True):
            if field is _REQUIRED:
                raise ArgumentTypeError(
                    owner, "is missing", operand=row.name, rule=f"{owner}{inspect.signature(self.__class__)}"
                )
        return given

    def __setattr__(self, name: str, new: Any) -> None:
        raise StructError(self.__class__.__name__, "cannot change after construction", operand=name, value=new)

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __eq__(self, other: object) -> bool:
        return self.__class__ is other.__class__ and self.key == other.key

    def __hash__(self) -> int:
        return hash((self.__class__, self.key))

    def __repr__(self) -> str:
        fields = ", ".join(f"{row.name}={getattr(self, row.name)!r}" for row in self._rows)
        return f"{self.__class__.__name__}({fields})"

    def __reduce__(self) -> tuple[Any, ...]:
        return self.__class__, tuple(getattr(self, row.name) for row in self._rows)

    def to_ir(self) -> Params:
        """Itself: the front end's hook, for code that calls it."""
        return self

    @classmethod
    def from_ir(cls, params: Params) -> Params:
        """`params` itself: the counterpart of `to_ir`."""
        return params
