"""What a fixpipe makes of the accumulators on their way out of L0C: conversion, quantisation, relu.

Pages: on-the-fly quantisation, on-the-fly ReLU, their combinations. A scale is a 64-bit word: bits 0 to 31 a float32
whose low 13 bits do not count (1, 8, 10), 32 to 35 a shift less one, 36 whether int32 is shifted right and saturated to
16 bits first, 37 to 45 a signed offset, 46 whether the 8-bit result is signed. Conversions to float16 and bfloat16
without a scale round to nearest even and overflow to infinity; with a scale float16 saturates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import values
from .core.dtype import DataType, bfloat16, float16, float32, int8, int32, uint8
from .core.enums import QuantModes

Array = Any  # np.ndarray (..., m, n), or a row of n
HALF_MAX = 65504.0


class Scales(NamedTuple):
    """Scale words taken apart: each an array of one element, or of one a column."""

    factor: Array
    shift: Array  # bits to the right; 0 where int32 is taken as it is
    offset: Array
    signed: Array


def scales_of(words: Array) -> Scales:
    """Take 64-bit scale words apart."""
    words = np.asarray(words, np.uint64).reshape(-1)
    low = (words & np.uint64(0xFFFFE000)).astype(np.uint32)
    shift = np.where(_field(words, 36, 1), _field(words, 32, 4) + 1, 0)
    offset = _field(words, 37, 9)
    offset = np.where(offset > 255, offset - 512, offset)
    return Scales(low.view(np.float32), shift, offset, _field(words, 46, 1).astype(np.bool_))


def _field(words: Array, first: int, bits: int) -> Array:
    return (words >> np.uint64(first)).astype(np.int64) & ((1 << bits) - 1)


def usable(factor: float) -> bool:
    """A factor may not be an infinity, NaN or denormal."""
    return bool(np.isfinite(factor)) and (factor == 0 or abs(factor) >= float(np.finfo(np.float32).tiny))


def kept(x: Array, scales: Scales | None, relu: bool, target: DataType) -> Array:
    """No quantisation: the value in the target's type, negative ones as 0 under relu."""
    return (values.relu(x) if relu else x).astype(target.np, copy=False)


def scaled(x: Array, scales: Scales, relu: bool) -> Array:
    """The value times its factor; under relu negative ones times 0."""
    if x.dtype == np.int32 and scales.shift.any():
        moved = np.clip(x >> scales.shift.astype(np.int32), -(1 << 15), (1 << 15) - 1)
        x = np.where(scales.shift > 0, moved, x)
    x = x.astype(np.float32, copy=False)
    return x * (np.where(x >= 0, scales.factor, np.float32(0)) if relu else scales.factor)


def to_half(x: Array, scales: Scales, relu: bool, target: DataType) -> Array:
    """int32 to float16 by a factor; saturates."""
    return np.clip(scaled(x, scales, relu), -HALF_MAX, HALF_MAX).astype(np.float16)


def to_byte(x: Array, scales: Scales, relu: bool, target: DataType) -> Array:
    """To 8 bits by a factor: to nearest even, saturated to 9 bits, the offset added, saturated; NaN becomes 0."""
    y = np.rint(scaled(x, scales, relu))
    y = np.where(y != y, 0, np.clip(y, -256, 255)).astype(np.int64) + scales.offset
    low, high = np.where(scales.signed, -128, 0), np.where(scales.signed, 127, 255)
    return np.clip(y, low, high).astype(np.uint8).view(target.np)


class Mode(NamedTuple):
    """A quantisation: from what, to what, where its scales come from ("", "scalar", "vector"), what it computes."""

    sources: tuple[DataType, ...]
    targets: tuple[DataType, ...]
    scales: str
    value: Callable[..., Array]


_BYTES = (int8, uint8)
Q = QuantModes
MODES: dict[QuantModes, Mode] = {
    Q.NoQuant: Mode((float32, int32), (float32, int32), "", kept),  # one type on both sides
    Q.F322F16: Mode((float32,), (float16,), "", kept),
    Q.F322BF16: Mode((float32,), (bfloat16,), "", kept),
    Q.DEQF16: Mode((int32,), (float16,), "scalar", to_half),
    Q.VDEQF16: Mode((int32,), (float16,), "vector", to_half),
    Q.QF322B8_PRE: Mode((float32,), _BYTES, "scalar", to_byte),
    Q.VQF322B8_PRE: Mode((float32,), _BYTES, "vector", to_byte),
    Q.REQ8: Mode((int32,), _BYTES, "scalar", to_byte),
    Q.VREQ8: Mode((int32,), _BYTES, "vector", to_byte),
}
