"""What `cast` computes: rounding modes, and the conversions between element types with the modes that each takes.

Integers saturate and NaN becomes 0. Floats round with an unbounded exponent first; what is then beyond the type's
largest value becomes an infinity in every mode, as the vendor's table of edge values has it. Pages: Cast, the rules
of precision conversion. Not modelled: int4 (the API has no name for it) and the saturating float mode.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .core.dtype import DataType, bfloat16, float16, float32, int8, int16, int32, int64, uint8
from .core.enums import RoundMode
from .core.enums import RoundMode as R

Array = Any  # np.ndarray of the declared type
Value = Callable[[Array], Array]

# Significand bits, and the exponent of the least step.
_GRID = {float16: (11, -24), bfloat16: (8, -133), float32: (24, -149)}
_EXPONENT = 0x7FF << 52  # of a double, as bits
_EXACT = 1 << 53  # integers up to here are exact as doubles
_LOW = (1 << 11) - 1  # bits of an int64 that a double cannot hold next to its sign and 52 others


def half_away(x: Array) -> Array:
    """To the nearest integer, ties away from zero."""
    whole = np.trunc(x)
    return whole + np.copysign(np.abs(x - whole) >= 0.5, x)


def to_odd(x: Array) -> Array:
    """Integers stay; what lies between two integers goes to the odd one."""
    low = np.floor(x)
    return np.where(low == x, x, low + (low % 2 == 0))


ROUNDING: dict[RoundMode, Value] = {
    R.CAST_NONE: np.rint,
    R.CAST_RINT: np.rint,
    R.CAST_FLOOR: np.floor,
    R.CAST_CEIL: np.ceil,
    R.CAST_ROUND: half_away,
    R.CAST_TRUNC: np.trunc,
    R.CAST_ODD: to_odd,
}


def integer_of(x: Array, rounding: Value, target: DataType) -> Array:
    """A float as an integer: rounded, saturated, NaN to 0."""
    assert target.low is not None
    assert target.high is not None
    y = rounding(x.astype(np.float32, copy=False))
    end = float(target.high + 1)
    if y.min() >= target.low and y.max() < end:  # false for NaN
        return y.astype(target.np)
    y = y.astype(np.float64)
    np.copyto(y, 0, where=y != y)
    if target.size < 8:
        return np.clip(y, target.low, target.high, out=y).astype(target.np)
    out = np.clip(y, -end, np.nextafter(end, 0)).astype(target.np)  # the greatest int64 itself is no double
    out[y >= end] = target.high
    return out


def narrowed(x: Array, target: DataType) -> Array:
    """An integer as a narrower one: saturated."""
    return np.clip(x, target.low, target.high).astype(target.np)


def nearest(x: Array, target: DataType) -> Array:
    """Rounded to the nearest value of the type, ties to even; exact where the type is wide enough."""
    return x.astype(target.np)


def float_of(x: Array, rounding: Value, target: DataType) -> Array:
    """Rounded to one of the type's values in a given way."""
    x = _sticky(x) if x.dtype == np.int64 else x.astype(np.float64)
    precision, least = _GRID[target]
    step = ((x.view(np.int64) & _EXPONENT) - (precision - 1 << 52)).view(np.float64)  # no positive number near zero
    step = np.maximum(step, 2.0**least)
    return (rounding(x / step) * step).astype(target.np)


def _sticky(x: Array) -> Array:
    """An int64 as a double that rounds to 24 bits as the int64 would: bits that are lost stay as one set bit."""
    kept = (x & ~_LOW) | (((x & _LOW) != 0).astype(np.int64) << 11)
    return np.where((x > -_EXACT) & (x < _EXACT), x, kept).astype(np.float64)


def whole(x: Array, rounding: Value) -> Array:
    """Rounded to an integer and still a float; -0 becomes +0."""
    return rounding(x) + x.dtype.type(0)


def dequantised(x: Array, scale: Any) -> Array:
    """int32 times the scale of set_deq_scale as a half, with a detour over 2**-17 that keeps the product in range."""
    product = x.astype(np.float32) * np.float32(2.0**-17) * np.float32(scale) * np.float32(2.0**17)
    return product.astype(np.float16)


class Conversion(NamedTuple):
    """From one type to another: the modes it takes, and its kind, a function of values, rounding and target."""

    modes: tuple[RoundMode, ...]
    make: Callable[[RoundMode, DataType], Value]


def _to_integer(mode: RoundMode, target: DataType) -> Value:
    return partial(integer_of, rounding=ROUNDING[mode], target=target)


def _to_narrower(mode: RoundMode, target: DataType) -> Value:
    return partial(narrowed, target=target)


def _exactly(mode: RoundMode, target: DataType) -> Value:
    return partial(nearest, target=target)


def _to_float(mode: RoundMode, target: DataType) -> Value:
    if mode in (R.CAST_NONE, R.CAST_RINT):
        return partial(nearest, target=target)
    return partial(float_of, rounding=ROUNDING[mode], target=target)


def _to_whole(mode: RoundMode, target: DataType) -> Value:
    return partial(whole, rounding=ROUNDING[mode])


_NONE = (R.CAST_NONE,)
_FIVE = (R.CAST_RINT, R.CAST_FLOOR, R.CAST_CEIL, R.CAST_ROUND, R.CAST_TRUNC)
_SIX = (*_FIVE, R.CAST_NONE)

# Source and destination of every pair, except int32 to float16: that is `dequantised`, whatever the mode.
CONVERSIONS: dict[tuple[DataType, DataType], Conversion] = {
    (int8, float16): Conversion(_NONE, _exactly),
    (uint8, float16): Conversion(_NONE, _exactly),
    (int16, float16): Conversion(_SIX, _to_float),
    (int16, float32): Conversion(_NONE, _exactly),
    (float16, int8): Conversion(_SIX, _to_integer),
    (float16, uint8): Conversion(_SIX, _to_integer),
    (float16, int16): Conversion(_FIVE, _to_integer),
    (float16, int32): Conversion(_FIVE, _to_integer),
    (float16, float32): Conversion(_NONE, _exactly),
    (bfloat16, int32): Conversion(_FIVE, _to_integer),
    (bfloat16, float32): Conversion(_NONE, _exactly),
    (int32, int16): Conversion(_NONE, _to_narrower),
    (int32, float32): Conversion(_SIX, _to_float),
    (int32, int64): Conversion(_NONE, _exactly),
    (float32, int16): Conversion(_FIVE, _to_integer),
    (float32, float16): Conversion((*_SIX, R.CAST_ODD), _to_float),
    (float32, bfloat16): Conversion(_FIVE, _to_float),
    (float32, int32): Conversion(_FIVE, _to_integer),
    (float32, float32): Conversion(_FIVE, _to_whole),
    (float32, int64): Conversion(_FIVE, _to_integer),
    (int64, int32): Conversion(_NONE, _to_narrower),
    (int64, float32): Conversion(_FIVE, _to_float),
}
