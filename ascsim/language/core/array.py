"""`asc.array`: a fixed-length array on the stack of a kernel. Reading an element that was never written raises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...hw.errors import ArgumentTypeError, ArgumentValueError, ArrayIndexError
from .dtype import DataType
from .ir_value import PlainValue, to_index, value

LONGEST = (1 << 31) - 1  # elements


class Array:
    """Elements of one type: `a[i]` is a run-time scalar, `a[i] = v` converts to the type, `len(a)` is fixed."""

    __slots__ = ("_elements", "dtype", "length")

    def __init__(self, dtype: DataType, elements: list[PlainValue | None]) -> None:
        self.dtype, self.length, self._elements = dtype, len(elements), elements

    def __len__(self) -> int:
        return self.length

    def __repr__(self) -> str:
        return f"array({self.dtype}, {['unset' if e is None else e.v for e in self._elements]})"

    def _index(self, index: Any) -> int:
        i = to_index(index, "array", "index")
        if not 0 <= i < self.length:
            last = self.length - 1
            raise ArrayIndexError(
                "array", "outside the array", operand="index", value=i, rule=f"0..{last}", nearest=min(max(i, 0), last)
            )
        return i

    def __getitem__(self, index: Any) -> PlainValue:
        i = self._index(index)
        element = self._elements[i]
        if element is None:
            raise ArgumentValueError(
                "array", "read before it was written", operand="index", value=i, rule="give a fill_value"
            )
        return element

    def __setitem__(self, index: Any, new: Any) -> None:
        self._elements[self._index(index)] = value(new, self.dtype, "array")


def array(dtype: DataType, length_or_values: int | Sequence[Any], fill_value: Any = None) -> Array:
    """An array of `length` elements, unset or all equal to `fill_value`, or one that holds the given values."""
    if not isinstance(dtype, DataType) or not dtype.is_numeric():
        raise ArgumentTypeError(
            "array", "holds no numbers", operand="dtype", value=dtype, rule="an integer or float type"
        )
    if isinstance(length_or_values, (str, bytes)) or not isinstance(length_or_values, Sequence):
        length = to_index(length_or_values, "array", "length")
        if length <= 0:
            raise ArgumentValueError("array", "is empty", operand="length", value=length, rule="at least 1", nearest=1)
        if length > LONGEST:
            rule = f"at most {LONGEST}, an int32"
            raise ArgumentValueError("array", operand="length", value=length, rule=rule, nearest=LONGEST)
        fill = None if fill_value is None else value(fill_value, dtype, "array")
        return Array(dtype, [fill] * length)
    if fill_value is not None:
        raise ArgumentValueError(
            "array", "cannot go with initial values", operand="fill_value", value=fill_value, rule="a length or values"
        )
    if not len(length_or_values):
        raise ArgumentValueError(
            "array", "is empty", operand="values", value=length_or_values, rule="at least one value"
        )
    return Array(dtype, [value(element, dtype, "array") for element in length_or_values])
