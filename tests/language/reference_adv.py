"""Operations of adv in plain Python floats, one element at a time: math's functions, series, sums in a given order."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence


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


# Rows in float32: a Python float holds the exact sum, product or quotient to be rounded.


def single(x: float) -> float:
    """Rounded to float32."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)


def half(x: float) -> float:
    """Rounded to float16."""
    try:
        return float(struct.unpack("<e", struct.pack("<e", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)


def half_ties_away(x: float) -> float:
    """Rounded to float16, ties away from zero."""
    if x == 0 or not math.isfinite(x):
        return x
    step = 2.0 ** (max(math.frexp(abs(x))[1] - 1, -14) - 10)
    return math.copysign(math.floor(abs(x) / step + 0.5) * step, x)


def tree(x: Sequence[float | None]) -> float | None:
    """Neighbours first; None takes no part."""
    if len(x) == 1:
        return x[0]
    left, right = tree(x[: len(x) // 2]), tree(x[len(x) // 2 :])
    return plus(left, right)


def plus(a: float | None, b: float | None) -> float | None:
    return b if a is None else a if b is None else single(a + b)


def row_sum(x: Sequence[float], order: str) -> float:
    """The sum of a row in the order of a program.

    "repeats": 64 lanes, to which each further 64 elements are added; "generic": from 512 elements on the lanes start
    as the sums of 64 blocks of 8; "flash": so too, but 1024 elements in 16 repeats, of which the first 8 get the
    others; "nz": 16 lanes, of which the first 8 get the others; "rounds": trees of 64 elements, again and again.
    """
    if order == "rounds":
        sums: list[float | None] = list(x)
        while len(sums) > 1:
            padded = sums + [None] * (-len(sums) % 64)
            sums = [tree(padded[i : i + 64]) for i in range(0, len(padded), 64)]
        return sums[0]  # type: ignore[return-value]
    if order == "flash" and len(x) == 1024:
        whole = [tree(x[i : i + 64]) for i in range(0, 1024, 64)]
        return tree([plus(whole[i], whole[i + 8]) for i in range(8)])  # type: ignore[return-value]
    width = 16 if order == "nz" else 64
    lanes: list[float | None] = [x[i] if i < len(x) else None for i in range(width)]
    first = width
    if order in ("generic", "flash") and len(x) >= 512:
        lanes, first = [tree(x[8 * i : 8 * i + 8]) for i in range(64)], 512
    for i in range(first, len(x)):
        lanes[(i - first) % width] = plus(lanes[(i - first) % width], x[i])
    if order == "nz" and len(x) >= 16:
        lanes = [plus(lanes[i], lanes[i + 8]) for i in range(8)]
    return tree(lanes)  # type: ignore[return-value]


def softmax(x: Sequence[float], order: str) -> tuple[list[float], float, float]:
    """Quotients, sum and maximum of a row, before they are rounded to the operands' types."""
    most = max(x)
    powers = [single(math.exp(single(v - most))) for v in x]
    total = row_sum(powers, order)
    return [single(p / total) for p in powers], total, most


def flash(
    x: Sequence[float], order: str, before: tuple[float, float] | None = None
) -> tuple[list[float], float, float, float]:
    """Exponentials, sum, maximum, and the factor of what was before: a sum and a maximum."""
    most = max(x) if before is None else max(*x, before[1])
    powers = [single(math.exp(single(v - most))) for v in x]
    total = row_sum(powers, order)
    if before is None:
        return powers, total, most, 1.0
    factor = single(math.exp(single(before[1] - most)))
    return powers, single(single(factor * before[0]) + total), most, factor


def rmsnorm(x: Sequence[float], gamma: Sequence[float], used: int, epsilon: float, order: str) -> list[float]:
    """A row over the root of its mean square, times gamma."""
    total = row_sum([single(v * v) for v in x[:used]], order)
    mean = single(single(total * single(1 / used)) + epsilon)
    factor = single(math.exp(single(single(math.log(mean)) * -0.5)))
    return [single(single(v * factor) * g) for v, g in zip(x, gamma, strict=True)]


def swiglu(up: float, gate: float, beta: float) -> float:
    power = single(math.exp(single(gate * -beta)))
    return single(up * single(gate / single(power + 1)))
