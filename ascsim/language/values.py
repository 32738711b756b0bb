"""What the vector unit computes, element by element, in the declared type: value functions of whole arrays.

Rounding is to nearest even in the type of the operands; integers wrap. Edge values follow the vendor's table of edge
values, in its INF/NAN mode: halves may become infinite and NaN stays. Exp, Ln, Rsqrt and Reciprocal give the correctly
rounded value (a last-bit choice of this simulator: the vendor publishes no bound for the first two and calls the others
approximations).

Not modelled: the saturating mode of halves (CTRL[48] = 0: 65504 for infinity, 0 for NaN), which SetSaturationFlag and
SetCtrlSpr choose; the API has no name for either. The table calls the INF/NAN mode the default, the page of SetCtrlSpr
the other one. Float32 has one mode. Conversions: `conversions`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any  # np.ndarray of the declared type
# Signed integers by their bytes: the type, its least and its greatest number (arrays, which numpy converts faster).
SIGNED: dict[int, Any] = {2: np.dtype(np.int16), 4: np.dtype(np.int32)}
LEAST: dict[int, Any] = {size: np.array(np.iinfo(kind).min, kind) for size, kind in SIGNED.items()}
MOST: dict[int, Any] = {size: np.array(np.iinfo(kind).max, kind) for size, kind in SIGNED.items()}


def maximum(a: Array, b: Array) -> Array:
    """NaN wins; of two zeros the positive one."""
    out = np.maximum(a, b)
    if out.dtype.kind not in "iu" and _any_zero(out, negative=True):
        np.copyto(out, a + b, where=(out == 0) & (a == b))
    return out


def minimum(a: Array, b: Array) -> Array:
    """NaN wins; of two zeros the negative one."""
    out = np.minimum(a, b)
    if out.dtype.kind not in "iu" and _any_zero(out, negative=False):
        np.copyto(out, -(-a + -b), where=(out == 0) & (a == b))
    return out


def _any_zero(x: Array, negative: bool) -> bool:
    """Whether floats have a zero of that sign."""
    bits = x.view(SIGNED[x.itemsize])
    return bool(np.count_nonzero(bits == LEAST[x.itemsize] if negative else bits == 0))


def relu(x: Array) -> Array:
    """max(0, x); -0 becomes +0, NaN stays."""
    zero = x.dtype.type(0)
    return np.maximum(x, zero) + zero


def add_relu(a: Array, b: Array) -> Array:
    """max(0, a + b), the sum rounded (or wrapped) first."""
    return relu(a + b)


def sub_relu(a: Array, b: Array) -> Array:
    """max(0, a - b), the difference rounded (or wrapped) first."""
    return relu(a - b)


def fused_mul_add(a: Array, b: Array, dst: Array) -> Array:
    """a * dst + b, rounded after the product and after the sum."""
    return a * dst + b


def fused_mul_add_relu(a: Array, b: Array, dst: Array) -> Array:
    """max(0, a * dst + b), rounded after the product and after the sum."""
    return relu(a * dst + b)


def mul_add_dst(a: Array, b: Array, dst: Array) -> Array:
    """a * b + dst, rounded after the product and after the sum."""
    return a * b + dst


def exp(x: Array) -> Array:
    """e to the x."""
    return np.exp(x.astype(np.float64)).astype(x.dtype)


def ln(x: Array) -> Array:
    """Natural logarithm; of zero -inf, of a negative number NaN."""
    return np.log(x.astype(np.float64)).astype(x.dtype)


def rsqrt(x: Array) -> Array:
    """1 / sqrt(x)."""
    return (1 / np.sqrt(x.astype(np.float64))).astype(x.dtype)


def reciprocal(x: Array) -> Array:
    """1 / x."""
    return x.dtype.type(1) / x


def leaky_relu(x: Array, slope: Any) -> Array:
    """x where its sign bit is clear, else slope * x (so -0 is multiplied)."""
    return np.where(np.signbit(x) | np.isnan(x), x * slope, x)


def shift_left(x: Array, amount: int) -> Array:
    """Logical for unsigned types; signed types keep their sign bit, the bits below it move."""
    bits = x.dtype.itemsize * 8
    if x.dtype.kind == "u":
        return x << x.dtype.type(amount) if amount < bits else np.zeros_like(x)
    if amount >= bits:
        return x & LEAST[x.itemsize]
    moved = x << x.dtype.type(amount)
    moved ^= x
    moved &= MOST[x.itemsize]
    moved ^= x
    return moved


def shift_right(x: Array, amount: int) -> Array:
    """Logical for unsigned types, arithmetic for signed ones."""
    bits = x.dtype.itemsize * 8
    if amount >= bits:
        return np.zeros_like(x) if x.dtype.kind == "u" else x >> x.dtype.type(bits - 1)
    return x >> x.dtype.type(amount)
