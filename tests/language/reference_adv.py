"""Element-wise mathematics in plain Python floats, one element at a time: math's functions, and series of its own."""

from __future__ import annotations

import math
from collections.abc import Callable


def erf(x: float) -> float:
    """A series of terms of one sign: 2 / sqrt(pi) exp(-x^2) sum of 2^n x^(2n+1) / (1 * 3 * ... * (2n+1))."""
    if abs(x) > 6.5:
        return math.copysign(1.0, x)
    term, total = x, x
    for n in range(1, 400):
        term *= 2 * x * x / (2 * n + 1)
        total += term
    return 2 / math.sqrt(math.pi) * math.exp(-x * x) * total


def erfc(x: float) -> float:
    """1 - erf, or the continued fraction exp(-x^2) / sqrt(pi) / (x + 1/2 / (x + 2/2 / (x + 3/2 / ...)))."""
    if x < 2:
        return 1 - erf(x)
    below = x
    for k in range(200, 0, -1):
        below = x + k / 2 / below
    return math.exp(-x * x) / math.sqrt(math.pi) / below


def lgamma(x: float) -> float:
    """Stirling's formula at x + 30, then back down; for negative x by reflection."""
    if x <= 0 and x == math.floor(x):
        return math.inf
    if x < 0:
        return math.log(math.pi / abs(math.sin(math.pi * x))) - lgamma(1 - x)
    y = x + 30
    stirling = (y - 0.5) * math.log(y) - y + 0.5 * math.log(2 * math.pi) + 1 / (12 * y) - 1 / (360 * y**3)
    return stirling - math.fsum(math.log(x + k) for k in range(30))


def digamma(x: float) -> float:
    """The asymptotic series at x + 200, then back down; for negative x by reflection."""
    if x < 0:
        return math.nan if x == math.floor(x) else digamma(1 - x) - math.pi / math.tan(math.pi * x)
    y = x + 200
    far = math.log(y) - 1 / (2 * y) - 1 / (12 * y**2) + 1 / (120 * y**4)
    return far - math.fsum(1 / (x + k) for k in range(200))


def sign(x: float) -> float:
    return 0.0 if x == 0 else math.copysign(1.0, x)


def exp_series(x: float, level: int) -> float:
    """exp(floor(x)) times sum of (x - floor(x))^k / k!, k from 0 to level."""
    part = x - math.floor(x)
    return math.exp(math.floor(x)) * math.fsum(part**k / math.factorial(k) for k in range(level + 1))


def int_power(base: int, exponent: int) -> int:
    """In 32 bits; a negative exponent divides 1 by the wrapped product, cut to an integer, and 0 where that is 0."""
    product = 1
    for _ in range(abs(exponent)):
        product = product * base & 0xFFFFFFFF
    signed = product - (1 << 32) if product >> 31 else product
    if exponent >= 0:
        return signed
    return int(1 / signed) if signed else 0


# name -> function, and an interval of arguments in which it is compared
FUNCTIONS: dict[str, tuple[Callable[[float], float], float, float]] = {
    "acos": (math.acos, -1, 1),
    "acosh": (math.acosh, 1, 65504),
    "asin": (math.asin, -1, 1),
    "asinh": (math.asinh, -65504, 65504),
    "atan": (math.atan, -1000, 1000),
    "atanh": (math.atanh, -0.99, 0.99),
    "ceil": (lambda x: float(math.ceil(x)), -1000, 1000),
    "cos": (math.cos, -100, 100),
    "cosh": (math.cosh, -11, 11),
    "digamma": (digamma, -9.5, 30),
    "erf": (erf, -4, 4),
    "erfc": (erfc, -4, 9),
    "floor": (lambda x: float(math.floor(x)), -1000, 1000),
    "frac": (lambda x: math.fmod(x, 1), -1000, 1000),
    "lgamma": (lgamma, 0.01, 100),
    "log": (math.log, 1e-4, 65504),
    "round": (lambda x: float(round(x)), -1000, 1000),
    "sign": (sign, -3, 3),
    "sin": (math.sin, -100, 100),
    "sinh": (math.sinh, -11, 11),
    "tan": (math.tan, -100, 100),
    "tanh": (math.tanh, -9, 9),
    "trunc": (lambda x: float(math.trunc(x)), -1000, 1000),
}
