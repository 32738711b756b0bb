"""Vector instructions with a source tensor and a scalar."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...hw.errors import ArgumentValueError
from .. import values
from ..core import ir_value
from ..core.dtype import DataType, float16, float32, int16, int32, uint16, uint32
from ..forms import element, with_scalar

ARITHMETIC = (int16, float16, int32, float32)
INTEGERS = (int16, uint16, int32, uint32)


def amount(number: Any, dtype: DataType, operation: str) -> int:
    """A shift amount: 0 to the width of the type."""
    bits = dtype.size * 8
    shift: int = ir_value.value(number, ir_value.Int32.dtype, operation, "scalar").v
    if not 0 <= shift <= bits:
        nearest = min(max(shift, 0), bits)
        raise ArgumentValueError(operation, operand="scalar", value=shift, rule=f"0 to {bits}", nearest=nearest)
    return shift


adds = with_scalar("adds", np.add, ARITHMETIC, "dst = src + scalar", "Adds", element)
muls = with_scalar("muls", np.multiply, ARITHMETIC, "dst = src * scalar", "Muls", element)
maxs = with_scalar("maxs", values.maximum, ARITHMETIC, "dst = the greater of src and scalar; NaN wins", "Maxs", element)
mins = with_scalar("mins", values.minimum, ARITHMETIC, "dst = the lesser of src and scalar; NaN wins", "Mins", element)
leaky_relu = with_scalar(
    "leaky_relu", values.leaky_relu, (float16, float32), "dst = src >= 0 ? src : scalar * src", "LeakyRelu", element
)
shift_left = with_scalar(
    "shift_left", values.shift_left, INTEGERS, "dst = src << scalar; signed types keep their sign", "ShiftLeft", amount
)
shift_right = with_scalar(
    "shift_right",
    values.shift_right,
    INTEGERS,
    "dst = src >> scalar; arithmetic for signed types",
    "ShiftRight",
    amount,
)

__all__ = ["adds", "leaky_relu", "maxs", "mins", "muls", "shift_left", "shift_right"]
