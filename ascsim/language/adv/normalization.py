"""rmsnorm of the rows of [b, s, h]. Page: RmsNorm.

On the device a program that goes through the rows in pieces, as many at a time as the tiling says; here each piece is
one instruction of the vector pipe that finds the factors of its rows, and one that multiplies. Between them the
scalar unit waits and reads the factors, where the program has it so. The price is that of its instructions, without
barriers. Float32 inside, halves too, with every step rounded as the vendor's program has it; its exponential and
logarithm are the correctly rounded ones here.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ...hw.core import Core
from ...hw.cost import CYCLES_PER_REPEAT
from ...hw.errors import ArgumentValueError
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from .. import values
from ..core.dtype import DataType, float16, float32
from ..core.ir_value import unwrap
from ..core.place import Place, index, running
from ..forms import element, number_of
from ..fractals import align_up, ceil_div
from ..masks import ALL_LANES
from ..operand import BLOCK, REPEAT
from ..overlap import disjoint
from ..plans import zero
from ..reduction import tree
from ..spans import span
from ..waits import scalar_waits
from .calls import packed, planned
from .scratch import BUFFER, drained, key, scratch
from .tiling import RmsNormTiling

NAME = "adv.rmsnorm"
_OPERANDS = ("dst", "src", "gamma")
_TYPES = ((float16,) * 3, (float32,) * 3)
_LANES = 64  # of float32 in a repeat
_BASIC = (8, 64, 2048)  # basic block: b * s a multiple, h a multiple, h less than
_MOST_ROWS = 255  # of a piece, for they are the repeats of an instruction


class Shape(NamedTuple):
    """`rows` of h elements, of which `used` count, in pieces of `main` rows; the rest is the last piece."""

    rows: int
    h: int
    used: int
    main: int
    factor: float  # the reciprocal of `used`


Plans = tuple[tuple[Plan, bool, Plan], ...]  # of each piece: factors, whether S waits for them, products


def rmsnorm(
    dst: Any, src: Any, gamma: Any, epsilon: Any, tiling: Any, temp_buffer: Any = None, basic_block: Any = False
) -> None:
    """dst = src / sqrt(mean of src * src + epsilon) * gamma, the mean that of a row.

    src and dst are [b, s, h], gamma is [h], all of one type; a row is a multiple of 32 bytes, of which
    only the elements of the original h (2 or more) count for the mean. `epsilon` is rounded to the type of src: to 0
    for a half below 3e-8. `tiling`: an RmsNormTiling, from which the shape comes; one of no rows does nothing.
    `temp_buffer`: uint8 scratch of the bytes that the tiling asks for, undefined afterwards; without one the free
    memory of the TPipe serves. `basic_block` promises a multiple of 8 rows of a multiple of 64 elements, less than
    2048, all of which count. dst may start where src does. It ends with a barrier of the vector pipe. Faults: BAD_*,
    MISALIGNED_ADDR, OVERLAP_PARTIAL, OOB_PHYS, MEM_OVERFLOW, DEADLOCK; warnings: OOB_BUF, ZERO_LENGTH, UNINIT_READ.
    Types: float16, float32. Page: RmsNorm.
    """
    site = author(1)
    core = running(NAME)
    basic = bool(index(basic_block, NAME, "basic_block"))
    given = (packed(NAME, tiling, RmsNormTiling), basic, number_of(epsilon), key(core, temp_buffer, NAME))

    def make(places: list[Place]) -> Plans | None:
        dtype = places[1].dtype
        shape, added = _shape(tiling, dtype, basic), element(epsilon, dtype)
        if not shape.rows:
            zero(core, "b_length * s_length of tiling", NAME, site)
            return None
        return _plans(core, places, shape, basic, added, temp_buffer, site)

    tensors = tuple(zip(_OPERANDS, (dst, src, gamma), strict=True))
    plans = planned(core, NAME, tensors, _TYPES, given, make, site)
    if plans is None:
        return
    core.mask = ALL_LANES
    for factors, waits, products in plans:
        core.issue(factors, site)
        if waits:
            scalar_waits(core, site)
        drained(core, site)
        core.issue(products, site)
        drained(core, site)


def _shape(tiling: RmsNormTiling, dtype: DataType, basic: bool) -> Shape:
    """The shape and the pieces of a tiling, whose fields must agree with each other."""
    given = {name: unwrap(getattr(tiling, name)) for name in RmsNormTiling.struct_fields}
    rows, h, used, main = (
        given["b_length"] * given["s_length"],
        given["h_length"],
        given["original_h_length"],
        given["main_bs_length"],
    )
    if not rows:
        return Shape(0, h, used, main, 0.0)
    step = BLOCK // dtype.size
    many, columns, limit = _BASIC

    def need(good: bool, name: str, rule: str, nearest: int) -> None:
        if not good:
            raise ArgumentValueError(NAME, operand=f"tiling.{name}", value=given[name], rule=rule, nearest=nearest)

    need(h > 0 and h % step == 0, "h_length", f"a multiple of {step} (32 bytes)", max(1, ceil_div(h, step)) * step)
    rule = f"2 to h_length = {h}: what the device takes for the sum of one element is undefined"
    need(2 <= used <= h, "original_h_length", rule, min(max(used, 2), h))
    need(1 <= main <= rows, "main_bs_length", f"1 to b_length * s_length = {rows}", min(max(main, 1), rows))
    if basic and (rows % many or h % columns or h >= limit or used != h):
        rule = f"with basic_block: rows a multiple of {many}, h one of {columns} below {limit}, without padding"
        raise ArgumentValueError(NAME, operand="[rows, h, original h]", value=[rows, h, used], rule=rule)
    if not basic:
        need(main <= _MOST_ROWS, "main_bs_length", f"at most {_MOST_ROWS}, except for basic blocks", _MOST_ROWS)
    loops, tail = divmod(rows, main)
    for name, right in (
        ("main_bsh_length", main * h),
        ("main_bs_length_align", align_up(main, 8)),
        ("loop_round", loops),
        ("tail_bs_length", tail),
        ("tail_bsh_length", tail * h),
        ("input_tail_pos", loops * main * h),
    ):
        need(given[name] == right, name, f"{right} for pieces of {main} of {rows} rows of {h}", right)
    return Shape(rows, h, used, main, given["reciprocal_of_h_length"])


def _plans(core: Core, places: list[Place], shape: Shape, basic: bool, small: Any, temp: Any, site: Site) -> Plans:
    dst, src, gamma = places
    half = src.dtype is float16
    counts = (shape.rows * shape.h, shape.rows * shape.h, shape.h)
    whole = {
        name: span(where, n * where.dtype.size, name, NAME, site)
        for name, where, n in zip(_OPERANDS, places, counts, strict=True)
    }
    for one, other in combinations(whole.items(), 2):
        together = (one[0], other[0]) == ("dst", "src") and dst.start == src.start
        if not together and (one[0], other[0]) != ("src", "gamma"):
            disjoint(core, one, other, NAME, site)
    nbytes = 4 * (align_up(shape.main, 8) + shape.main * shape.h * (1 + half))
    lost = scratch(core, temp, nbytes, nbytes, NAME, site)
    for named in whole.items():
        disjoint(core, (BUFFER, lost), named, NAME, site)
    assert lost.memory is not None
    out = []
    for first in range(0, shape.rows, shape.main):
        many = min(shape.main, shape.rows - first)
        n = many * shape.h
        parts = [where.offset(first * shape.h) for where in (dst, src)]
        write, read = (core.region("UB", ((p.start, ((n * p.dtype.size, 1),)),), NAME, site) for p in parts)
        y, x = (where.array(n).reshape(many, shape.h) for where in parts)
        head = core.region("UB", ((lost.start, ((many * 4, 1),)),), NAME, site)
        rest = core.region("UB", ((lost.start + many * 4, ((nbytes - many * 4, 1),)),), NAME, site)
        held = lost.memory.bytes[lost.start : lost.start + many * 4].view(np.float32)
        waits = not (basic and many > _BASIC[0] and many > shape.h // _LANES)
        prices = _prices(core, shape, many, basic, half, waits)
        factors = partial(_factors, held, x, shape, basic, np.float32(small))
        products = partial(_products, held, x, gamma.array(shape.h), y)
        pipe = core.pipes["V"]
        out.append(
            (
                Plan(NAME, pipe, (read,), (lost,), factors, prices[0], voids=rest),
                waits,
                Plan(NAME, pipe, (read, whole["gamma"], head), (write, lost), products, prices[1], voids=lost),
            )
        )
    return tuple(out)


def _factors(held: np.ndarray, src: np.ndarray, shape: Shape, basic: bool, small: Any) -> None:
    """1 / sqrt(mean + epsilon) of each row, as exp(-ln / 2)."""
    x = src.astype(np.float32)
    x = x * x
    total = _basic_sums(x) if basic else _sums(x[:, : shape.used])
    mean = total * np.float32(shape.factor) + small
    held[...] = values.exp(values.ln(mean) * np.float32(-0.5))


def _products(held: np.ndarray, src: np.ndarray, gamma: np.ndarray, dst: np.ndarray) -> None:
    dst[...] = (src.astype(np.float32) * held[:, None] * gamma.astype(np.float32)).astype(dst.dtype)


def _sums(x: np.ndarray) -> np.ndarray:
    """Rounds of sums of 64 neighbours, each a tree, until one is left; missing lanes hold -0, which adds nothing."""
    while x.shape[1] > 1:
        full = np.full((len(x), align_up(x.shape[1], _LANES)), -0.0, np.float32)
        full[:, : x.shape[1]] = x
        x = tree(full.reshape(len(x), -1, _LANES))
    return x[:, 0]


def _basic_sums(x: np.ndarray) -> np.ndarray:
    """All repeats of a row added to the first lane by lane, then its lanes as a tree."""
    lanes = x[:, :_LANES].copy()
    for start in range(_LANES, x.shape[1], _LANES):
        lanes += x[:, start : start + _LANES]
    return tree(lanes)


def _prices(core: Core, shape: Shape, many: int, basic: bool, half: bool, waits: bool) -> tuple[int, int]:
    """Cycles of the two parts of a piece, instruction by instruction."""

    def price(elements: int, cost: str = "simple") -> int:
        return core.device.cost.vector(ceil_div(elements * 4, REPEAT), CYCLES_PER_REPEAT[cost][4])

    whole, row = price(many * shape.h), price(shape.h)
    steps = shape.h // _LANES  # repeats of a row
    factors = whole * (1 + half) + 3 * price(many) + 2 * price(many, "exp")  # cast, mul; muls, adds, muls; ln, exp
    if basic:
        factors += steps * price(many * _LANES)  # add, for all but one; repeat_reduce_sum
    else:
        left = shape.used
        while left > 1:
            factors += many * price(left)
            left = ceil_div(left, _LANES)
    products = many * row if waits else price(many * BLOCK // 4) + steps * price(many * _LANES) + whole
    products += many * row if steps >= many else ceil_div(shape.h, _LANES) * price(many * _LANES)
    if half:
        products += row + whole  # casts of gamma and of the result
    return factors, products


__all__ = ["rmsnorm"]
