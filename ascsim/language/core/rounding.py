"""Rounding of Python floats to the device's float types: to nearest, ties to even, in one step from double.

Not modelled: other rounding modes (`cast` has its own) and the flush of subnormal numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from ctypes import c_float

from .dtype import DataType, bfloat16, float16, float32, float64


def _rounder(precision: int, quantum: int, largest: float) -> Callable[[float], float]:
    """To `precision` significand bits, a least step of 2**quantum, and infinity above `largest`."""

    def rounded(x: float) -> float:
        if not math.isfinite(x):
            return x
        step = max(math.frexp(x)[1] - precision, quantum)
        y = math.copysign(math.ldexp(round(math.ldexp(x, -step)), step), x)
        return y if abs(y) <= largest else math.copysign(math.inf, x)

    return rounded


ROUND: dict[DataType, Callable[[float], float]] = {
    float16: _rounder(11, -24, 65504.0),
    bfloat16: _rounder(8, -133, float.fromhex("0x1.fep127")),
    float32: lambda x: c_float(x).value,
    float64: float,
}
