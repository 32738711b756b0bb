"""softmax of the rows of [m, k]. Page: SoftMax.

One instruction of the vector pipe here, a program of seven steps on the device, of which the price is the sum. Float32
inside: the difference and the exponential are rounded, a row's sum and the quotient are rounded once (the order of the
device's sum is not published, so its last bits may differ). Not simulated: the NZ layout, and the effect of a tiling
on time.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ...hw.core import Core
from ...hw.cost import CYCLES_PER_REPEAT
from ...hw.errors import ArgumentTypeError, ArgumentValueError, NotSimulatedError
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from ..core.dtype import DataType, float16, float32
from ..core.ir_value import unwrap
from ..core.place import Place, index, running
from ..masks import ALL_LANES
from ..mixed import operands
from ..operand import BLOCK, REPEAT
from ..spans import span
from .scratch import apart, scratch
from .tiling import SoftmaxTiling

NAME = "adv.softmax"
_OPERANDS = ("dst", "sum", "max", "src")
_TYPES = ((float16,) * 4, (float32,) * 4, (float16, float32, float32, float16))
_MORE = 64  # elements of scratch a row, on top of the row and of a block
_SIMPLE = 3  # passes over [m, k]: maximum, difference, sum
_SLOW = 2  # exponential, quotient


class Rows(NamedTuple):
    """The shape: m rows of k elements, of which the first `used` count."""

    m: int
    k: int
    used: int


def softmax(
    dst: Any,
    sum: Any,
    max: Any,
    src: Any,
    tiling: Any,
    temp_buffer: Any = None,
    reuse_source: Any = False,
    basic_block: Any = False,
    data_format_nz: Any = False,
) -> None:
    """dst = exp(src - max) / sum, where max and sum are those of a row and of its exponentials.

    The shape is the one set on src (`set_shape_info`): the last axis is a row of a multiple of 32 bytes, of which the
    original shape says how much counts; what dst then has behind it is undefined. `sum` and `max` get 32 bytes a row,
    the row's value throughout. dst may start where src does. Types: all float16, all float32, or float32 for sum and
    max only. `tiling`: a SoftmaxTiling of this shape; of another shape it is made anew, as on the device.
    `temp_buffer`: uint8 scratch, undefined afterwards; without one the free memory of the TPipe serves.
    `basic_block` promises rows of 256 bytes to 2047 elements, a multiple of 64, and a multiple of 8 of them.
    reuse_source has no effect. Faults: BAD_*, MISALIGNED_ADDR, OVERLAP_PARTIAL, OOB_PHYS, MEM_OVERFLOW; warnings:
    OOB_BUF, UNINIT_READ.
    """
    site = author(1)
    core = running(NAME)
    index(reuse_source, NAME, "reuse_source")
    if index(data_format_nz, NAME, "data_format_nz"):
        raise NotSimulatedError(NAME, "of the NZ layout: only rows that lie one behind the other are built")
    tensors = tuple(zip(_OPERANDS, (dst, sum, max, src), strict=True))
    ops = operands(core, NAME, tensors, _TYPES, site)
    if ops is None:
        return
    places = [op.place for op in ops]
    rows = _rows(src, places[3].dtype, bool(index(basic_block, NAME, "basic_block")))
    _agrees(tiling, rows)
    core.mask = ALL_LANES
    core.issue(_plan(core, places, rows, temp_buffer, site), site)


def _rows(src: Any, dtype: DataType, basic: bool) -> Rows:
    """The shape of a call, from what was set on src."""
    shape, original = src.get_shape_info().key[:2]
    if not shape or not original:
        raise ArgumentValueError(NAME, "src has no shape", operand="src", rule="set_shape_info(asc.ShapeInfo(...))")
    k, used = shape[-1], original[-1]
    m, block = math.prod(shape[:-1]), BLOCK // dtype.size
    if k == 0 or k % block:
        rule = f"a multiple of {block} elements (32 bytes)"
        nearest = (k // block + 1) * block
        raise ArgumentValueError(NAME, operand="last axis of src", value=k, rule=rule, nearest=nearest)
    if m == 0:
        raise ArgumentValueError(NAME, operand="rows of src", value=m, rule="1 or more", nearest=1)
    if not 1 <= used <= k:
        raise ArgumentValueError(NAME, operand="last axis of the original shape", value=used, rule=f"1 to {k}")
    if basic and not (m % 8 == 0 and k % 64 == 0 and REPEAT // dtype.size <= k < 2048):
        rule = f"with basic_block: m a multiple of 8, k one of 64 from {REPEAT // dtype.size} to 1984"
        raise ArgumentValueError(NAME, operand="[m, k] of src", value=[m, k], rule=rule)
    return Rows(m, k, used)


def _agrees(tiling: Any, rows: Rows) -> None:
    """A tiling of this shape must cut it without a rest."""
    if not isinstance(tiling, SoftmaxTiling):
        raise ArgumentTypeError(NAME, "is no SoftmaxTiling", operand="tiling", value=tiling)
    m, k, piece, pieces, tail = (
        unwrap(getattr(tiling, name)) for name in ("src_m", "src_k", "split_m", "range_m", "tail_m")
    )
    if (m, k) == (rows.m, rows.k) and piece * pieces + tail != m:
        rule = f"split_m * range_m + tail_m = src_m = {m}"
        value = f"{piece} * {pieces} + {tail}"
        raise ArgumentValueError(NAME, operand="tiling", value=value, rule=rule)


def _plan(core: Core, places: list[Place], rows: Rows, temp: Any, site: Site) -> Plan:
    dst, src = places[0], places[3]
    m, k, used = rows
    size = src.dtype.size
    sizes = (m * k * size, m * BLOCK, m * BLOCK, m * k * size)
    regions = [
        span(core, where, nbytes, name, NAME, site)
        for where, nbytes, name in zip(places, sizes, _OPERANDS, strict=True)
    ]
    named = list(zip(_OPERANDS, regions, strict=True))
    for one, other in combinations(named, 2):
        if (one[0], other[0]) != ("dst", "src") or dst.start != src.start:
            apart(core, one, other, NAME, site)
    least = 4 * (BLOCK // size + k + _MORE)
    lost = scratch(core, temp, least, least * m, NAME, site)
    for other in named:
        apart(core, ("temp_buffer", lost), other, NAME, site)
    pieces = lost.pieces
    if used < k:
        pieces += ((dst.start + used * size, ((m, k * size), ((k - used) * size, 1))),)
    voids = core.region("UB", pieces, NAME, site)
    views = [
        where.array(nbytes // where.dtype.size).reshape(m, -1) for where, nbytes in zip(places, sizes, strict=True)
    ]
    price, repeats = core.device.cost.vector, -(-m * k * 4 // REPEAT)
    slow = price(repeats, CYCLES_PER_REPEAT["exp"][4])
    fills = 2 * price(-(-m * BLOCK // REPEAT))  # a row's maximum, and its sum, to a block each
    cycles = _SIMPLE * price(repeats) + _SLOW * slow + fills
    run = partial(_compute, views, used)
    return Plan(NAME, core.pipes["V"], (regions[3],), (*regions[:3], lost), run, cycles, voids=voids)


def _compute(views: list[np.ndarray], used: int) -> None:
    dst, total, peak, src = views
    x = src[:, :used].astype(np.float32)
    most = x.max(axis=1, keepdims=True)
    power = np.exp((x - most).astype(np.float64)).astype(np.float32)
    row = power.sum(axis=1, keepdims=True, dtype=np.float64).astype(np.float32)
    peak[...], total[...] = most, row
    dst[:, :used] = power / row


__all__ = ["softmax"]
