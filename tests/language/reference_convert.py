"""A slow second opinion on conversions, comparisons and selections: element loops over (repeat, block, lane).

It shares no code with the package. Values are exact fractions: a number is rounded by counting steps of the
destination type, so no float arithmetic takes part. Addresses follow the rule of `reference`, whose helpers are used.
Not here: the dequantising forms, timing, the legality of operands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from reference import BLOCK, REPEAT, Number, active_lanes, fit, is_integer

DTYPES = {name: np.dtype(name) for name in "int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32".split()}
DTYPES["bfloat16"] = np.dtype(ml_dtypes.bfloat16)
# Significand bits, exponent of the least step, largest finite value.
FLOATS = {
    "float16": (11, -24, Fraction(65504)),
    "bfloat16": (8, -133, Fraction(255 * 2**120)),
    "float32": (24, -149, Fraction((2**24 - 1) * 2**104)),
}


def load(memory: np.ndarray, address: int, dtype: str) -> Number:
    kind = DTYPES[dtype]
    value = memory[address : address + kind.itemsize].view(kind)[0]
    return int(value) if is_integer(dtype) else float(value)


def store(memory: np.ndarray, address: int, dtype: str, value: Number) -> None:
    kind = DTYPES[dtype]
    with np.errstate(all="ignore"):
        memory[address : address + kind.itemsize] = np.array([value], kind).view(np.uint8)


def to_integer(value: Fraction, mode: str) -> int:
    """The integer that a rounding mode picks."""
    low = math.floor(value)
    rest = value - low
    if rest == 0:
        return low
    up = {
        "FLOOR": False,
        "CEIL": True,
        "TRUNC": value < 0,
        "ROUND": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and value > 0),
        "RINT": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low % 2 == 1),
        "ODD": low % 2 == 0,
    }["RINT" if mode == "NONE" else mode]
    return low + up


def convert(value: Number, src: str, dst: str, mode: str) -> Number:
    """One element, as the vendor's rules of precision conversion and table of edge values say."""
    finite = isinstance(value, int) or math.isfinite(value)
    if is_integer(dst):
        bits = 8 * DTYPES[dst].itemsize
        low, high = (0, (1 << bits) - 1) if dst[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)
        if not finite:
            return 0 if value != value else high if value > 0 else low
        return min(max(to_integer(Fraction(value), mode), low), high)
    if not finite:
        return value
    if src == dst:
        return float(to_integer(Fraction(value), mode))  # also turns -0 into +0
    precision, least, largest = FLOATS[dst]
    exact = Fraction(value)
    if exact == 0:
        return value
    exponent = 0  # 2**exponent <= |value| < 2**(exponent + 1)
    while abs(exact) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while abs(exact) < Fraction(2) ** exponent:
        exponent -= 1
    step = Fraction(2) ** max(exponent - precision + 1, least)
    out = to_integer(exact / step, mode) * step
    sign = -1 if exact < 0 else 1
    return sign * (math.inf if abs(out) > largest else abs(float(out)))


def compares(a: Number, b: Number, mode: str) -> bool:
    """NaN compares as nothing, not even as unequal."""
    if a != a or b != b:
        return False
    return {"LT": a < b, "GT": a > b, "EQ": a == b, "LE": a <= b, "GE": a >= b, "NE": a != b}[mode]


def place(base: int, rep: int, lane: int, size: int, blk_stride: int, rep_stride: int) -> int:
    block, inside = divmod(lane, BLOCK // size)
    return base + BLOCK * (rep * rep_stride + block * blk_stride) + size * inside


def works(lanes: int, count: int | None, mask: Any, repeats: int) -> list[list[int]]:
    """The lanes of every repeat that take part."""
    if count is not None:
        return [[lane for lane in range(lanes) if rep * lanes + lane < count] for rep in range(-(-count // lanes))]
    flags = active_lanes(mask, lanes)
    return [[lane for lane in range(lanes) if flags[lane]] for _ in range(repeats)]


def cast(
    memory: np.ndarray,
    src_dtype: str,
    dst_dtype: str,
    mode: str,
    dst: int,
    src: int,
    *,
    count: int | None = None,
    mask: Any = None,
    repeats: int = 1,
    blocks: Sequence[int] = (1, 1),
    steps: Sequence[int] | None = None,
) -> None:
    """`blocks` and `steps`: block and repeat strides of dst and src; dense where not given."""
    sizes = [DTYPES[dst_dtype].itemsize, DTYPES[src_dtype].itemsize]
    lanes = REPEAT // max(sizes)
    steps = [lanes * size // BLOCK for size in sizes] if steps is None else steps
    for rep, active in enumerate(works(lanes, count, mask, repeats)):
        results = []
        for lane in active:
            value = load(memory, place(src, rep, lane, sizes[1], blocks[1], steps[1]), src_dtype)
            results.append((lane, convert(value, src_dtype, dst_dtype, mode)))
        for lane, value in results:
            store(memory, place(dst, rep, lane, sizes[0], blocks[0], steps[0]), dst_dtype, value)


def axpy(
    memory: np.ndarray,
    src_dtype: str,
    dst_dtype: str,
    scalar: float,
    dst: int,
    src: int,
    *,
    count: int | None = None,
    mask: Any = None,
    repeats: int = 1,
    blocks: Sequence[int] = (1, 1),
    steps: Sequence[int] | None = None,
) -> None:
    sizes = [DTYPES[dst_dtype].itemsize, DTYPES[src_dtype].itemsize]
    lanes = REPEAT // max(sizes)
    steps = [lanes * size // BLOCK for size in sizes] if steps is None else steps
    scalar = fit(scalar, src_dtype)
    for rep, active in enumerate(works(lanes, count, mask, repeats)):
        results = []
        for lane in active:
            x = load(memory, place(src, rep, lane, sizes[1], blocks[1], steps[1]), src_dtype)
            at = place(dst, rep, lane, sizes[0], blocks[0], steps[0])
            product = fit(x * scalar, dst_dtype)
            results.append((at, fit(product + load(memory, at, dst_dtype), dst_dtype)))
        for at, value in results:
            store(memory, at, dst_dtype, value)


def compare(
    memory: np.ndarray,
    dtype: str,
    mode: str,
    dst: int,
    srcs: Sequence[int],
    repeats: int,
    *,
    scalar: Number = None,
    blocks: Sequence[int] = (1, 1),
    steps: Sequence[int] = (8, 8),
) -> None:
    """Whole repeats; the result is one row of bits."""
    size = DTYPES[dtype].itemsize
    lanes = REPEAT // size
    for rep in range(repeats):
        for lane in range(lanes):
            values = [
                load(memory, place(base, rep, lane, size, blk, step), dtype)
                for base, blk, step in zip(srcs, blocks, steps, strict=False)
            ]
            if scalar is not None:
                values.append(fit(scalar, dtype))
            byte, bit = divmod(rep * lanes + lane, 8)
            memory[dst + byte] &= ~(1 << bit) & 0xFF
            memory[dst + byte] |= compares(values[0], values[1], mode) << bit


def select(
    memory: np.ndarray,
    dtype: str,
    dst: int,
    bits: int,
    srcs: Sequence[int],
    *,
    again: bool,
    scalar: float | None = None,
    count: int | None = None,
    mask: Any = None,
    repeats: int = 1,
    blocks: Sequence[int] = (1, 1, 1),
    steps: Sequence[int] = (8, 8, 8),
) -> None:
    """`again`: every repeat starts with the first bit."""
    size = DTYPES[dtype].itemsize
    lanes = REPEAT // size
    before = memory.copy()
    for rep, active in enumerate(works(lanes, count, mask, repeats)):
        for lane in active:
            byte, bit = divmod(lane if again else rep * lanes + lane, 8)
            values = [
                load(before, place(base, rep, lane, size, blk, step), dtype)
                for base, blk, step in zip(srcs, blocks[1:], steps[1:], strict=False)
            ]
            values += [] if scalar is None else [fit(scalar, dtype)]
            chosen = values[0] if before[bits + byte] >> bit & 1 else values[1]
            store(memory, place(dst, rep, lane, size, blocks[0], steps[0]), dtype, chosen)
