"""How parameter structures are declared: a class statement whose body is a table of fields.

    class BrcbRepeatParams(Params):
        dst_blk_stride: int = U16(1)
        dst_rep_stride: int = U16(8)

Each row gives the width that the field has on the device, and its default (none: the field must be given). The class
gets slots, a real signature, equality and hash. Instances are immutable; `key` is a tuple of plain numbers (and data
types) made at construction, a cheap part of cache keys, in which 0.0 and -0.0 differ. Not modelled: limits narrower
than the field itself; those are the business of the call that takes the structure.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any, ClassVar

from ...hw.errors import ArgumentTypeError, ArgumentValueError, StructError
from ...hw.findings import one
from . import dtype as _dtype
from .dtype import DataType, from_numpy
from .ir_value import PlainValue, to_index, unwrap, value

_REQUIRED = inspect.Parameter.empty
_EXTENTS = ("stride", "gap", "len", "count")  # ends of the names of fields whose limits are faults of the list


class Row:
    """One field: `take(given, owner, before)` gives its value, where `before` lists the fields, those before it set.

    What is of the class `kind` and lies from `low` to `high` stands for itself and need not be taken.
    """

    def __init__(
        self,
        take: Callable[[Row, Any, str, list[Any]], Any],
        default: Any,
        low: int = 1,
        high: int = 0,
        nested: bool = False,
        kind: type = int,
    ) -> None:
        self._take, self.default, self.name = take, default, ""
        self.plain = kind, low, high
        self.nested = nested  # the value needs `_key_part` to become a part of a key

    def take(self, given: Any, owner: str, before: list[Any]) -> Any:
        return self._take(self, given, owner, before)


def _integer(type_: DataType) -> Callable[..., Any]:
    low, high = type_.low or 0, type_.high or 0

    def take(row: Row, given: Any, owner: str, before: list[Any]) -> int:
        number = to_index(given, owner, row.name)
        if not low <= number <= high:
            nearest, rule = min(max(number, low), high), f"{low}..{high}, a {type_} on the device"
            code = "BAD_STRIDE" if row.name.endswith(_EXTENTS) else ""
            raise ArgumentValueError(
                owner, "does not fit", operand=row.name, value=number, rule=rule, nearest=nearest, code=code
            )
        return number

    return lambda default=_REQUIRED: Row(take, default, low, high)


U8, U16, U32, U64 = (_integer(t) for t in (_dtype.uint8, _dtype.uint16, _dtype.uint32, _dtype.uint64))
I16, I32 = _integer(_dtype.int16), _integer(_dtype.int32)


def Flag(default: Any = _REQUIRED) -> Any:
    """One bit; any integer serves."""
    return Row(lambda row, given, owner, before: bool(to_index(given, owner, row.name)), default, 0, 1, kind=bool)


def Number(default: Any = _REQUIRED) -> Any:
    """A number that the caller converts: its type is known only there."""

    def take(row: Row, given: Any, owner: str, before: list[Any]) -> int | float:
        plain = unwrap(given)
        if not isinstance(plain, (int, float)):
            raise ArgumentTypeError(owner, f"{one(type(plain).__name__)} is no number", operand=row.name, value=plain)
        return plain

    return Row(take, default, nested=True)


def Typed(default: Any = _REQUIRED) -> Any:
    """A number that brings its type along: kept as a run-time scalar (int32 and float32 for plain numbers)."""

    def take(row: Row, given: Any, owner: str, before: list[Any]) -> PlainValue:
        plain = unwrap(given)
        own = isinstance(given, PlainValue)
        numpy_type = getattr(plain, "dtype", None)
        type_ = given.dtype if own else from_numpy(numpy_type) if numpy_type is not None else None
        return value(
            plain, type_ or (_dtype.float32 if isinstance(plain, float) else _dtype.int32), f"{owner}.{row.name}"
        )

    return Row(take, default, nested=True)


def Float(type_: DataType | None, default: Any = _REQUIRED) -> Any:
    """A number of the given type; None: of the type that is the first field."""

    def take(row: Row, given: Any, owner: str, before: list[Any]) -> Any:
        if type_ is None and not before:
            return given  # the default, taken when the class is made
        target = before[0] if type_ is None else type_
        number = value(given, target, f"{owner}.{row.name}").v
        plain = unwrap(given)
        if target.is_int() and number != plain:
            rule = f"{target.low}..{target.high}, the range of {target}"
            raise ArgumentValueError(owner, "does not fit", operand=row.name, value=plain, rule=rule, nearest=number)
        return number

    return Row(take, default, nested=True)


def Member(enum: type[IntEnum], default: Any = _REQUIRED) -> Any:
    """A member of an enumeration, or its value."""

    def take(row: Row, given: Any, owner: str, before: list[Any]) -> IntEnum:
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

    def take(row: Row, given: Any, owner: str, before: list[Any]) -> tuple[Any, ...]:
        item.name = row.name
        parts = sequence(given, owner, row.name)
        if not least <= len(parts) <= most:
            rule = f"{least} items" if least == most else f"{least} to {most} items"
            raise ArgumentValueError(owner, f"has {len(parts)} items", operand=row.name, value=given, rule=rule)
        return tuple(item.take(part, owner, before) for part in parts)

    return Row(take, default)


def sequence(given: Any, operation: str, operand: str) -> list[Any]:
    """The items of a list, a tuple, an `asc.array`, or a numpy array of one axis."""
    plain = unwrap(given)
    whole = isinstance(plain, (str, bytes, type, Mapping)) or getattr(plain, "ndim", 1) != 1
    if whole or not hasattr(plain, "__len__") or not hasattr(plain, "__getitem__"):
        raise ArgumentTypeError(operation, f"{one(type(plain).__name__)} is no sequence", operand=operand, value=plain)
    return [plain[i] for i in range(len(plain))]


def Type(*legal: DataType) -> Any:
    """A data type, one of `legal` where that is given."""

    def take(row: Row, given: Any, owner: str, before: list[Any]) -> DataType:
        plain = unwrap(given)
        if not isinstance(plain, DataType):
            raise ArgumentTypeError(owner, "is no data type", operand=row.name, value=plain)
        if legal and plain not in legal:
            rule = "one of " + ", ".join(map(str, legal))
            raise ArgumentTypeError(owner, "is not supported", operand=row.name, value=plain, rule=rule)
        return plain

    return Row(take, _REQUIRED)


def Object(kind: type, default: Any = _REQUIRED) -> Any:
    """An object of the class `kind`, or the default as it is."""

    def take(row: Row, given: Any, owner: str, before: list[Any]) -> Any:
        if given is not row.default and not isinstance(given, kind):
            raise ArgumentTypeError(owner, f"is no {kind.__name__}", operand=row.name, value=given)
        return given

    return Row(take, default, nested=True)


def Tensor(default: Any = _REQUIRED) -> Any:
    """A LocalTensor, which is known by its place (its class comes after the parameters), or the default as it is."""

    def take(row: Row, given: Any, owner: str, before: list[Any]) -> Any:
        if given is not row.default and not hasattr(given, "place"):
            raise ArgumentTypeError(owner, "is no LocalTensor", operand=row.name, value=given)
        return given

    return Row(take, default, nested=True)


def _reader(i: int) -> property:
    return property(lambda self: self._fields[i])


class _Table(type):
    """Turns the rows of a class body into attributes and a signature."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> _Table:
        named = {key: entry for key, entry in body.items() if isinstance(entry, Row)}
        for i, (key, row) in enumerate(named.items()):
            row.name = key
            body[key] = _reader(i)
        rows = list(named.values())
        body["_rows"] = tuple(rows)
        body["_plain"] = tuple(row.plain for row in rows)
        body["_required"] = sum(row.default is _REQUIRED for row in rows)  # these come first
        body["_defaults"] = [
            row.default if row.default is _REQUIRED else row.take(row.default, name, []) for row in rows
        ]
        body["_nested"] = any(row.nested for row in rows)
        body["__slots__"] = body.get("__slots__", ())
        body["__signature__"] = inspect.Signature(
            [inspect.Parameter(row.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=row.default) for row in rows]
        )
        return super().__new__(mcs, name, bases, body)


def _key_part(field: Any) -> Any:
    if isinstance(field, Params):
        return field.key
    if isinstance(field, PlainValue):
        return field.dtype, _key_part(field.v)
    # in a key zeros differ by their sign, though they are equal, and NaNs are equal, though they differ
    return str(field) if isinstance(field, float) and (not field or field != field) else field


class Params(metaclass=_Table):
    """Base of parameter structures. One positional argument too many (the front end's hidden handle) is ignored."""

    __slots__ = ("_fields", "key")

    key: tuple[Any, ...]
    _fields: tuple[Any, ...]
    _rows: ClassVar[tuple[Row, ...]]
    _plain: ClassVar[tuple[tuple[Any, Any, Any], ...]]  # class and range of what stands for itself, row by row
    _required: ClassVar[int]
    _nested: ClassVar[bool]
    _defaults: ClassVar[list[Any]]
    _ignored: ClassVar[frozenset[str]] = frozenset()  # keywords of the published signature that have no effect

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        rows, count = self._rows, len(args)
        fields = [*args[: len(rows)], *self._defaults[count:]]
        for i, (given, (kind, low, high)) in enumerate(zip(args, self._plain)):  # noqa: B905 (their numbers may differ)
            if given.__class__ is not kind or not low <= given <= high:
                fields[i] = rows[i].take(given, self.__class__.__name__, fields)
        if kwargs or not self._required <= count <= len(rows) + 1:
            self._take_keywords(fields, args, kwargs)
        settled = tuple(fields)
        _set_fields(self, settled)
        _set_key(self, tuple(map(_key_part, settled)) if self._nested else settled)

    def _take_keywords(self, fields: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Take the fields that are given by name, and see that none is unknown, missing or given twice."""
        rows, owner = self._rows, self.__class__.__name__
        if len(args) > len(rows) + 1:
            raise ArgumentTypeError(owner, f"{len(args)} arguments for {len(rows)} fields", operand="args", value=args)
        for i, row in enumerate(rows[len(args) :], len(args)):
            if row.name in kwargs:
                fields[i] = row.take(kwargs.pop(row.name), owner, fields)
            elif fields[i] is _REQUIRED:
                rule = f"{owner}{inspect.signature(self.__class__)}"
                raise ArgumentTypeError(owner, "is missing", operand=row.name, rule=rule)
        for name in kwargs:
            if name not in self._ignored:
                twice = any(row.name == name for row in rows)
                rule = "fields: " + ", ".join(row.name for row in rows)
                raise ArgumentTypeError(owner, "is given twice" if twice else "is no field", operand=name, rule=rule)

    def __setattr__(self, name: str, new: Any) -> None:
        raise StructError(self.__class__.__name__, "cannot change after construction", operand=name, value=new)

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __eq__(self, other: object) -> bool:
        return self.__class__ is other.__class__ and self.key == other.key

    def __hash__(self) -> int:
        return hash((self.__class__, self.key))

    def __repr__(self) -> str:
        fields = ", ".join(f"{row.name}={field!r}" for row, field in zip(self._rows, self._fields, strict=True))
        return f"{self.__class__.__name__}({fields})"

    def __reduce__(self) -> tuple[Any, ...]:
        return self.__class__, self._fields

    def to_ir(self) -> Params:
        """Itself: the front end's hook, for code that calls it."""
        return self

    @classmethod
    def from_ir(cls, params: Params) -> Params:
        """`params` itself: the counterpart of `to_ir`."""
        return params


# the way past __setattr__, for the constructor alone
_set_fields, _set_key = Params.__dict__["_fields"].__set__, Params.__dict__["key"].__set__
