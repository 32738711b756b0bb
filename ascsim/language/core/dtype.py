"""The data types of kernels: `DataType`, its constants, and the way from numpy's types to them.

A `DataType` is interned by name, aliases included, so types may be compared with `is` and used as dictionary keys.
Sub-byte types other than the one-bit `int1`, and the 8-bit floats, are not modelled: the API has no names for them.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

import ml_dtypes
import numpy as np

from ...hw.errors import ArgumentTypeError, ArgumentValueError

# bytes an element takes in memory, and numpy's type for it; the name itself gives kind and width in bits
_TYPES: dict[str, tuple[int, Any]] = {
    "void": (0, None),
    "int1": (1, np.bool_),  # C's bool: one bit of value, one byte of memory
    **{f"{sign}{bits}": (bits // 8, f"{sign}{bits}") for sign in ("int", "uint") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": (bits // 8, f"float{bits}") for bits in (16, 32, 64)},
    "bfloat16": (2, ml_dtypes.bfloat16),
}
# `bool` arrays and arguments travel as int8
_ALIASES = {
    "half": "float16",
    "float_": "float32",
    "double": "float64",
    "int_": "int32",
    "bit": "int1",
    "bool_": "int8",
    "bool": "int8",
}
_interned: dict[str, DataType] = {}
_NAME = re.compile(r"^(int|b?float|uint)([0-9]+)$")


class DataType:
    """An element type. `DataType("half") is float16`: one object a type, equal by name whatever the spelling.

    Attributes: `name`, `kind` (a `DataType.Kind`), `bitwidth` (None for void), `np` (numpy's dtype, None for void),
    `size` (bytes of an element in memory), and for integers `low` and `high`, the least and greatest value (else None).
    """

    class Kind(Enum):
        """What the bits of a type mean."""

        Any = ""
        Int = "int"
        Float = "float"
        UInt = "uint"

    __slots__ = ("bitwidth", "high", "kind", "low", "name", "np", "size")

    name: str
    kind: DataType.Kind
    bitwidth: int | None
    np: Any
    size: int
    low: int | None
    high: int | None

    def __new__(cls, name: str) -> DataType:
        if not isinstance(name, str):
            raise ArgumentTypeError("DataType", "is not a name", operand="name", value=name)
        known = _interned.get(_ALIASES.get(name, name))
        if known is not None:
            return known
        if name not in _TYPES:
            legal = ", ".join([*_TYPES, *_ALIASES])
            raise ArgumentValueError("DataType", "no such type", operand="name", value=name, rule=f"one of {legal}")
        self = super().__new__(cls)
        self.name = name
        self.size, np_type = _TYPES[name]
        self.np = None if np_type is None else np.dtype(np_type)
        match = _NAME.match(name)
        self.kind = cls.Kind(match[1].lstrip("b")) if match else cls.Kind.Any
        self.bitwidth = bits = int(match[2]) if match else None
        self.low = self.high = None
        if bits is not None and self.kind is not cls.Kind.Float:
            signed = self.kind is cls.Kind.Int and bits > 1
            self.low, self.high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        _interned[name] = self
        return self

    def __eq__(self, other: object) -> bool:
        return self is other  # there is one object a name

    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[type[DataType], tuple[str]]:
        return DataType, (self.name,)

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__

    def is_int(self) -> bool:
        """Signed or unsigned integer, `int1` included."""
        return self.is_signed() or self.is_unsigned()

    def is_float(self) -> bool:
        return self.kind is DataType.Kind.Float

    def is_numeric(self) -> bool:
        return self.is_int() or self.is_float()

    def is_signed(self) -> bool:
        return self.kind is DataType.Kind.Int

    def is_unsigned(self) -> bool:
        return self.kind is DataType.Kind.UInt

    def is_void(self) -> bool:
        return self.name == "void"

    def sizeof(self) -> int:
        """Bytes of one element; refused for types that do not fill whole bytes (`void`, `int1`)."""
        if self.bitwidth is None or self.bitwidth % 8:
            raise ArgumentValueError("DataType.sizeof", "does not fill whole bytes", operand="dtype", value=self)
        return self.size


void, int1 = DataType("void"), DataType("int1")
int8, int16, int32, int64 = (DataType(f"int{bits}") for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (DataType(f"uint{bits}") for bits in (8, 16, 32, 64))
float16, float32, float64 = (DataType(f"float{bits}") for bits in (16, 32, 64))
bfloat16 = DataType("bfloat16")
half, float_, double = float16, float32, float64
int_, bit, bool_ = int32, int1, int8


class KnownTypes:
    """Every type by name, for code that imports only this class."""

    void, int1, int8, int16, int32, int64 = void, int1, int8, int16, int32, int64
    uint8, uint16, uint32, uint64 = uint8, uint16, uint32, uint64
    float16, float32, float64, bfloat16 = float16, float32, float64, bfloat16
    half, float_, double, int_, bit, bool_ = half, float_, double, int_, bit, bool_


KT = KnownTypes


_OF_NUMPY: dict[np.dtype[Any], DataType] = {}  # answers of from_numpy; a dtype's name takes numpy long to work out


def from_numpy(np_dtype: Any) -> DataType:
    """The type that carries `np_dtype` (a numpy dtype or anything `numpy.dtype` takes); boolean arrays are int8."""
    try:
        given = np.dtype("none" if np_dtype is None else np_dtype)  # numpy itself takes None for float64
    except TypeError:
        raise ArgumentTypeError("from_numpy", "is not a numpy dtype", operand="dtype", value=np_dtype) from None
    known = _OF_NUMPY.get(given)
    if known is not None:
        return known
    if given.isnative and (given.name in _TYPES or given == np.bool_):
        known = _OF_NUMPY[given] = DataType(given.name)
        return known
    legal = ", ".join(["bool", *(name for name in _TYPES if name not in ("void", "int1"))])
    raise ArgumentTypeError(
        "from_numpy",
        "has no counterpart on the device",
        operand="dtype",
        value=given,
        rule=f"native order, one of {legal}",
    )
