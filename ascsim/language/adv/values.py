"""What the mathematical operations compute: value functions of whole arrays.

Each is evaluated in float64 and rounded once to the type of the operands. The device works in float32 (float16 goes
through float32) with series and fits of its own; the vendor publishes no error bound for them, so its last bits, and
its results outside the domain that a page gives, may differ. What a page documents is kept: the Taylor form of exp,
sign of NaN, rounding of ties, wrapping and division of integer powers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..conversions import whole

Array = Any  # np.ndarray of the declared type
Value = Callable[..., Array]


def once(function: Callable[[Any], Any]) -> Value:
    """The value function of a float64 function: evaluated there, rounded once to the type of the operand."""

    def value(x: Array) -> Array:
        return function(x.astype(np.float64)).astype(x.dtype)

    return value


def _each(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """A function of Python's math module, element by element."""
    call = np.frompyfunc(function, 1, 1)
    return lambda x: call(x).astype(np.float64)


erf = _each(math.erf)
erfc = _each(math.erfc)


def lgamma(x: Array) -> Array:
    """ln |gamma(x)|; at 0 and at negative integers +inf."""
    pole = (x <= 0) & (x == np.floor(x))
    return np.where(pole, np.inf, _each(math.lgamma)(np.where(pole, 1.0, x)))


def digamma(x: Array) -> Array:
    """Derivative of ln gamma; at negative integers NaN, at 0 the infinity of the other sign."""
    negative = x < 0
    y = np.where(negative, 1 - x, x)
    total = np.zeros_like(y)
    for _ in range(10):  # psi(y) = psi(y + 1) - 1 / y, up to where ten terms of the asymptotic series are exact
        small = y < 10
        total -= np.where(small, 1 / y, 0)
        y += small
    square = 1 / (y * y)
    series = np.zeros_like(y)
    for weight in (1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12):  # Bernoulli(2k) / 2k
        series = (series + weight) * square
    total += np.log(y) - 0.5 / y - series
    past = x - np.rint(x)  # the cotangent has period 1
    reflected = total - np.pi / np.tan(np.pi * past)
    return np.where(negative, np.where(past == 0, np.nan, reflected), total)


def sign(x: Array) -> Array:
    """1, -1, or +0 for zeros and NaN."""
    return (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)


def to_integer(rounding: Value) -> Value:
    """Rounded to an integer as `cast` to the same type does it: -0 becomes +0."""
    return partial(whole, rounding=rounding)


def frac(x: Array) -> Array:
    """x less its integer part; exact. Of an infinity NaN, of an integer other than -0 +0."""
    return x - whole(x, np.trunc)


def exp_taylor(level: int) -> Value:
    """exp(floor(x)) times the Taylor series of exp at x - floor(x) up to power `level`; at infinities NaN."""

    def value(x: Array) -> Array:
        whole = np.floor(x)
        part = x - whole
        term, total = part, 1 + part
        for i in range(2, level + 1):
            term = term * part / i
            total = total + term
        return np.exp(whole) * total

    return once(np.exp if level == 0 else value)


def power(base: Array, exponent: Array) -> Array:
    """base to the exponent; edge values as the C function pow has them. Integers: `integer_power`."""
    if base.dtype.kind == "i":
        return integer_power(base, exponent)
    return np.power(base.astype(np.float64), exponent.astype(np.float64)).astype(base.dtype)


def integer_power(base: Array, exponent: Array) -> Array:
    """Wrapping products; with a negative exponent 1 / (the product), cut to an integer, and 0 where that is 1 / 0."""
    left = np.abs(exponent.astype(np.int64))
    square, product = base.astype(np.uint32), np.ones(base.shape, np.uint32)
    while left.any():
        product = np.where(left & 1, product * square, product)
        square = square * square
        left >>= 1
    out = product.astype(np.int32)
    return np.where((exponent < 0) & (np.abs(out.astype(np.int64)) != 1), 0, out).astype(np.int32)


def axpy(x: Array, dst: Array, scalar: Any) -> Array:
    """scalar * x + dst in float32, rounded after product and sum, then to the type of dst."""
    product = x.astype(np.float32, copy=False) * np.float32(scalar)
    return (product + dst.astype(np.float32, copy=False)).astype(dst.dtype, copy=False)
