"""Run-time scalars: typed numbers as a kernel sees them, with C's arithmetic.

One class per data type, all derived from `PlainValue`. A result has the type of the left operand if that is a run-time
scalar, else of the right; the other operand is converted to it first. Integers wrap at their width, `/` and `//` on
them truncate toward zero, `%` takes the sign of the dividend; floats are rounded to their type after every operation.
A constant that does not fit the type wraps too, where the front end would refuse to compile it.

Results of integer arithmetic are interned (`_Interned`), since kernels compute the same small indices again and again.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import numpy as np

from ...hw.errors import ArgumentTypeError, ScalarError, ScalarRangeError
from ...hw.findings import one
from . import dtype as _dtype
from .arithmetic import COMPARISONS, OPERATORS, UFUNCS, shift
from .constexpr import ConstExpr
from .dtype import DataType
from .rounding import ROUND

_HOST = "numpy and math work on the host alone: compute it before the launch, or on a tensor (asc.sqrt, asc.abs ...)"
_INTERN_LIMIT = 65536  # integer results of one type kept for reuse: indices, counts, offsets


class PlainValue:
    """A run-time scalar: a number with a dtype, produced by kernel arguments, loops, `get_*` calls and `asc.number`.

    `v` is the plain Python number, `dtype` the type. Integers serve as index, bound and count (`__index__`); `int(x)`
    and `float(x)` are refused as in the front end: use `.cast`. Truth is "not zero", for integers only.
    `pack(number)` of a class makes the scalar of a number that is already of the right kind.
    """

    __slots__ = ("v",)

    dtype: ClassVar[DataType]
    pack: ClassVar[Any]  # callable: number -> scalar
    v: Any

    # set per class below: `+ - * / // % << >> & | ^` and the comparisons
    __add__: Callable[[Any, Any], PlainValue]
    __sub__: Callable[[Any, Any], PlainValue]
    __mul__: Callable[[Any, Any], PlainValue]
    __truediv__: Callable[[Any, Any], PlainValue]
    __floordiv__: Callable[[Any, Any], PlainValue]
    __mod__: Callable[[Any, Any], PlainValue]
    __lt__: Callable[[Any, Any], PlainValue]
    __le__: Callable[[Any, Any], PlainValue]
    __gt__: Callable[[Any, Any], PlainValue]
    __ge__: Callable[[Any, Any], PlainValue]

    def __new__(cls, number: Any) -> PlainValue:
        if cls is PlainValue:
            raise ArgumentTypeError(
                "PlainValue", "has no type of its own", rule="make one with asc.number(value, dtype)"
            )
        return cls.pack(convert(number, cls.dtype, cls.__name__))

    def __reduce__(self) -> tuple[Any, ...]:
        return value, (self.v, self.dtype)

    def __hash__(self) -> int:
        return hash(self.v)

    def __bool__(self) -> bool:
        _refuse(self, "truth", "a float is no condition: compare it")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **more: Any) -> Any:
        """An operator whose left operand is a number of numpy is ours; no other function of numpy is."""
        left = inputs[0]
        if method != "__call__" or ufunc not in UFUNCS or not isinstance(left, (np.generic, np.ndarray)) or left.ndim:
            _refuse(self, f"np.{ufunc.__name__}", _HOST)
        return UFUNCS[ufunc](left.item(), self)

    def __array__(self, *more: Any, **named: Any) -> NoReturn:
        _refuse(self, "a numpy array of it", _HOST)

    def __int__(self) -> NoReturn:
        _refuse(self, "int(x)", "use x.cast(dtype) for a typed number, operator.index(x) for a plain int")

    def __float__(self) -> NoReturn:
        _refuse(self, "float(x)", f"use x.cast(dtype); {_HOST}")

    def __pow__(self, other: Any, modulus: Any = None) -> NoReturn:
        _refuse(self, "**", "multiply instead; ** works on compile-time numbers only")

    __rpow__ = __pow__

    def __invert__(self) -> NoReturn:
        _refuse(self, "~", "use x ^ -1; ~ works on compile-time numbers only")

    def __abs__(self) -> NoReturn:
        _refuse(self, "abs(x)", "an `if`, or asc.abs on a tensor")

    def __round__(self, digits: Any = None) -> NoReturn:
        _refuse(self, "round(x)", "asc.scalar_cast(x, asc.int32, asc.RoundMode.CAST_RINT) rounds a float32")

    def __divmod__(self, other: Any) -> NoReturn:
        _refuse(self, "divmod", "use / and %")

    __rdivmod__ = __divmod__

    def __pos__(self) -> PlainValue:
        return self

    def __neg__(self) -> PlainValue:
        return self.pack(-self.v)

    def __str__(self) -> str:
        return str(self.v)

    __repr__ = __str__

    def __format__(self, format_spec: str) -> str:
        return format(self.v, format_spec)

    def cast(self, dtype: DataType) -> PlainValue:
        """The value in another type: any integer to any integer, any float to any float, and between the two at equal
        width only. To integers a float is truncated toward zero, to a narrower integer the upper bits are dropped."""
        if not isinstance(dtype, DataType):
            raise ArgumentTypeError("cast", "is not a data type", operand="dtype", value=dtype)
        return self if dtype is self.dtype else value(self, dtype, "cast")

    def ceildiv(self, other: Any) -> PlainValue:
        """The quotient rounded up; integers only."""
        if self.dtype in ROUND:
            _refuse(self, "ceildiv", "integers only")
        divisor = self.pack(convert(other, self.dtype, "ceildiv")).v
        if divisor == 0:
            _refuse(self, "ceildiv", "division by zero")
        return self.pack(-(-self.v // divisor))

    def logical_and(self, other: Any) -> PlainValue:
        """One bit: both values are not zero."""
        return Bit.pack(convert(self, _dtype.int1, "logical_and") & convert(other, _dtype.int1, "logical_and"))

    def logical_or(self, other: Any) -> PlainValue:
        """One bit: at least one value is not zero."""
        return Bit.pack(convert(self, _dtype.int1, "logical_or") | convert(other, _dtype.int1, "logical_or"))


RuntimeBool = PlainValue | bool
RuntimeInt = PlainValue | int
RuntimeFloat = PlainValue | float
RuntimeNumeric = PlainValue | int | float


def _refuse(scalar: PlainValue, operation: str, rule: str) -> NoReturn:
    raise ScalarError(operation, "is not available", operand=str(scalar.dtype), value=scalar.v, rule=rule)


# --- conversion ---------------------------------------------------------------------------------------------------


def convert(x: Any, dtype: DataType, operation: str, operand: str = "operand") -> Any:
    """The plain number that `x` becomes in `dtype`, before wrapping or rounding: what an operand undergoes."""
    x = ConstExpr.unwrap(x)
    if isinstance(x, PlainValue):
        source, x = x.dtype, x.v
        if (source in ROUND) != (dtype in ROUND) and source.bitwidth != dtype.bitwidth:
            raise ScalarError(
                operation,
                f"no conversion from {source} to {dtype}",
                operand=operand,
                value=x,
                rule="integers and floats convert into each other at equal width only: cast within the kind first",
            )
    elif isinstance(x, np.generic):
        x = x.item()
    if not isinstance(x, (int, float)):
        problem, rule = f"{one(type(x).__name__)} is no number", "a number; get_value reads one from a tensor"
        raise ArgumentTypeError(operation, problem, operand=operand, value=x, rule=rule)
    if not dtype.is_numeric():
        raise ArgumentTypeError(operation, "holds no number", operand="dtype", value=dtype)
    if dtype in ROUND:
        try:
            return float(x)
        except OverflowError:
            raise ScalarRangeError(operation, f"does not fit {dtype}", operand=operand, value=x) from None
    if dtype is _dtype.int1:
        return x != 0
    if isinstance(x, float) and not math.isfinite(x):
        raise ScalarRangeError(operation, f"does not fit {dtype}", operand=operand, value=x, rule="finite numbers only")
    return int(x)


class _Interned(dict[int, PlainValue]):
    """Scalar of an integer, made on demand, wrapped to the width; all are forgotten when there are too many."""

    def __init__(self, cls: type[PlainValue]) -> None:
        super().__init__()
        dtype = cls.dtype
        self.cls, self.low, self.high, self.span = cls, dtype.low or 0, dtype.high or 0, 1 << (dtype.bitwidth or 0)

    def __missing__(self, number: int) -> PlainValue:
        number = int(number)  # True, 1.0 and numpy.int8(1) find the entry of 1
        if not self.low <= number <= self.high:
            return self[(number - self.low) % self.span + self.low]
        scalar = object.__new__(self.cls)
        scalar.v = number
        if len(self) >= _INTERN_LIMIT:
            self.clear()
        self[number] = scalar
        return scalar


# --- arithmetic, written once for every class ----------------------------------------------------------------------


def _no_operator(symbol: str) -> Callable[[Any, Any], NoReturn]:
    def refused(self: PlainValue, other: Any) -> NoReturn:
        _refuse(self, symbol, "integers only")

    return refused


def _operand(cls: type[PlainValue], symbol: str) -> Callable[[Any], Any]:
    """Conversion of an operand of another class, plain floats of a float class included."""
    dtype, pack = cls.dtype, cls.pack
    kind = float if dtype in ROUND else int

    def operand(other: Any) -> Any:
        if other.__class__ is kind:
            return pack(other).v
        if not isinstance(other, (int, float, PlainValue, ConstExpr, np.number, np.bool_)):
            return NotImplemented  # lists, addresses, None ...: Python asks the other side, then says so itself
        return pack(convert(other, dtype, symbol)).v

    return operand


def _plain(cls: type[PlainValue], symbol: str) -> type | None:
    """The class of plain numbers taken as they are: int, where the result wraps enough; for int32 always."""
    enough = cls.dtype is _dtype.int32 or symbol not in ("/", "//", "%", "<", "<=", ">", ">=")
    return int if enough and cls.dtype not in (*ROUND, _dtype.int1) else None


def _forward(cls: type[PlainValue], symbol: str, function: Callable[..., Any]) -> Any:
    pack, plain, operand = cls.pack, _plain(cls, symbol), _operand(cls, symbol)

    def method(self: PlainValue, other: Any) -> Any:
        c = other.__class__
        if c is plain:
            return pack(function(self.v, other))
        if c is cls:
            return pack(function(self.v, other.v))
        b = operand(other)
        return b if b is NotImplemented else pack(function(self.v, b))

    return method


def _reflected(cls: type[PlainValue], symbol: str, function: Callable[..., Any]) -> Any:
    pack, operand = cls.pack, _operand(cls, symbol)
    plain = None if symbol == ">>" else _plain(cls, symbol)

    def method(self: PlainValue, other: Any) -> Any:
        b = other if other.__class__ is plain else operand(other)
        return b if b is NotImplemented else pack(function(b, self.v))

    return method


def _comparison(cls: type[PlainValue], symbol: str, function: Callable[..., Any]) -> Any:
    plain, operand = _plain(cls, symbol), _operand(cls, symbol)

    def method(self: PlainValue, other: Any) -> Any:
        c = other.__class__
        b = other if c is plain else other.v if c is cls else operand(other)
        return b if b is NotImplemented else TRUE if function(self.v, b) else FALSE

    return method


def _scalar_class(name: str, dtype: DataType) -> type[PlainValue]:
    """The class of run-time scalars of one type, with every operator filled in."""
    cls: type[PlainValue] = type(name, (PlainValue,), {"__slots__": (), "__module__": __name__, "dtype": dtype})
    if dtype in ROUND:
        rounded, new = ROUND[dtype], object.__new__

        def pack(number: float) -> PlainValue:
            scalar = new(cls)
            scalar.v = rounded(number)
            return scalar

        cls.pack = staticmethod(pack)
    elif dtype is _dtype.int1:
        false, true = object.__new__(cls), object.__new__(cls)
        false.v, true.v = False, True
        cls.pack = staticmethod(lambda number: true if number else false)
        cls.__index__ = lambda self: int(self.v)  # type: ignore[attr-defined]
        cls.__bool__ = lambda self: self.v  # type: ignore[method-assign]
    else:
        cls.pack = _Interned(cls).__getitem__
        cls.__index__ = lambda self: self.v  # type: ignore[attr-defined]
        cls.__bool__ = lambda self: self.v != 0  # type: ignore[method-assign]
    for method, symbol, _, on_ints, on_floats in OPERATORS:
        function = on_floats if dtype in ROUND else on_ints
        if function is None:
            forward = reflected = _no_operator(symbol)
        else:
            if symbol in ("<<", ">>"):
                function = shift(function, symbol, dtype.bitwidth or 0)
            forward, reflected = _forward(cls, symbol, function), _reflected(cls, symbol, function)
        setattr(cls, f"__{method}__", forward)
        setattr(cls, f"__r{method}__", reflected)
    for method, symbol, _, function, _ in COMPARISONS:
        setattr(cls, f"__{method}__", _comparison(cls, symbol, function))
    return cls


Bit = _scalar_class("Bit", _dtype.int1)
Int8 = _scalar_class("Int8", _dtype.int8)
Int16 = _scalar_class("Int16", _dtype.int16)
Int32 = _scalar_class("Int32", _dtype.int32)
Int64 = _scalar_class("Int64", _dtype.int64)
UInt8 = _scalar_class("UInt8", _dtype.uint8)
UInt16 = _scalar_class("UInt16", _dtype.uint16)
UInt32 = _scalar_class("UInt32", _dtype.uint32)
UInt64 = _scalar_class("UInt64", _dtype.uint64)
Float16 = _scalar_class("Float16", _dtype.float16)
BFloat16 = _scalar_class("BFloat16", _dtype.bfloat16)
Float32 = _scalar_class("Float32", _dtype.float32)
Float64 = _scalar_class("Float64", _dtype.float64)
TRUE, FALSE = Bit.pack(True), Bit.pack(False)
CLASSES: dict[DataType, type[PlainValue]] = {
    cls.dtype: cls
    for cls in (
        *(Bit, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64),
        *(Float16, BFloat16, Float32, Float64),
    )
}


# --- what the rest of the package calls ----------------------------------------------------------------------------

int32: Callable[[int], PlainValue] = Int32.pack


def value(number: Any, dtype: DataType, operation: str = "value", operand: str = "operand") -> PlainValue:
    """`number` (Python, numpy, `ConstExpr` or run-time scalar) as a scalar of `dtype`; integers wrap to the width."""
    plain = convert(number, dtype, operation, operand)
    return CLASSES[dtype].pack(plain)


def unwrap(x: Any) -> Any:
    """The plain number of a run-time scalar, the value of a `ConstExpr`; anything else unchanged."""
    if isinstance(x, PlainValue):
        return x.v
    return x.value if isinstance(x, ConstExpr) else x


def to_index(x: Any, operation: str, operand: str, rule: str = "an integer") -> int:
    """`x` as a plain int, for addresses, counts and indices; anything but an integer raises by name."""
    if x.__class__ is Int32:
        return x.v
    try:
        return int(operator.index(x))
    except TypeError:
        kind = f"{x.dtype} scalar" if isinstance(x, PlainValue) else type(x).__name__
        problem = "is missing" if x is None else f"{one(kind)} is no integer"
        raise ArgumentTypeError(operation, problem, operand=operand, value=x, rule=rule) from None
