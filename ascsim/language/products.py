"""What the cube computes: a product of two tiles in fractals, added to a start value in L0C.

A tile is brought into rows, 32 bytes at a time, and these into the type of the multiplication (float32; float64 where
sums of int8 products leave float32's 24 bits), multiplied by one call of numpy, and the result is added into the
fractals of L0C. So a float sum has the order of numpy's product, and the start value is added last: the hardware's
order is not published. Sums of int32 saturate; infinities and NaN stay (non-saturating mode).

Passes over contiguous arrays and moves of whole rows of fractals are what numpy does fast: a multiply of large tiles
costs not much more than its product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..hw.core import Core
from .core.dtype import DataType, bfloat16, float16, float32, int8
from .fractals import ROW, SIDE, Fractals

HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)  # by bits: quicker than a cast
# A finite half in float32: its bits 13 places up, the sign at the top, the exponent's bias of 15 made one of 127.
HALF_BITS, HALF_KEPT, HALF_BIAS = np.int32(13), np.int32(0x8FFFE000 - (1 << 32)), np.float32(2.0 ** (127 - 15))
HALF_EXPONENT = np.uint16(0x7C00)  # all ones: infinity or NaN
BFLOAT_BITS = np.uint32(16)
EXACT_K = 1024  # an int8 product is at most 2**14: sums of so many are exact in float32
LOW, HIGH = -(1 << 31), (1 << 31) - 1
HF32_LOST = 12  # of float32's 23 mantissa bits
Part = tuple[Any, Any]  # views of L0C and of the product, alike in shape


class Scratch(NamedTuple):
    """Room for the rows of A and, after them, B; for their product in rows and in columns; and for the rows of A and B
    in their own type, in bytes."""

    rows: np.ndarray
    product: np.ndarray
    columns: np.ndarray
    raw: np.ndarray


def work_type(dtype: DataType, k: int) -> Any:
    """The numpy type in which tiles of an element type are multiplied."""
    return np.float64 if dtype is int8 and k > EXACT_K else np.float32


def scratch(core: Core, work: Any) -> Scratch:
    """As much as L0A, L0B and L0C can hold. One set a core and type."""
    found: Scratch | None = core.operands.get(("scratch", work))
    if found is None:
        left, right, sums = (core.memories[name].size for name in ("L0A", "L0B", "L0C"))
        rows, product, columns = (np.empty(size, work) for size in (left + right, sums // 4, sums // 4))  # elements
        raw = np.empty(left + right, np.uint8)
        found = core.operands["scratch", work] = Scratch(rows, product, columns, raw)
    return found


def hf32(x: np.ndarray, to_zero: bool) -> None:
    """Round float32 in place to the 11 mantissa bits of HF32: to nearest, ties to even or toward zero."""
    bits = x.view(np.uint32)
    half = (1 << HF32_LOST - 1) - 1
    nan = np.isnan(x)
    bits += half if to_zero else half + (bits >> HF32_LOST & 1)
    bits &= np.uint32(0xFFFFFFFF << HF32_LOST & 0xFFFFFFFF)
    x[nan] = np.nan


def loader(tile: np.ndarray, own: np.ndarray) -> Callable[[], Any]:
    """What brings a tile, its last axis 32 bytes that lie together, into rows of its type, one after the other."""
    lines = tile.view(ROW)
    return partial(np.copyto, own.view(ROW).reshape(lines.shape), lines)


def widened(x: np.ndarray, dtype: DataType, rows: np.ndarray, rounding: bool | None = None) -> list[Callable[[], Any]]:
    """What brings contiguous elements into the type of the multiplication; float32 may be there already."""
    if dtype is float16:
        return [partial(_halves, x.view(np.uint16), rows)]
    if dtype is bfloat16:
        return [partial(np.left_shift, x.view(np.uint16), BFLOAT_BITS, out=rows.view(np.uint32), dtype=np.uint32)]
    steps: list[Callable[[], Any]] = [] if x is rows else [partial(np.copyto, rows, x)]
    if dtype is float32 and rounding is not None:
        steps.append(partial(hf32, rows, rounding))
    return steps


def _halves(x: np.ndarray, rows: np.ndarray) -> None:
    """Halves as float32, by what a vector unit can do; by table where one is no finite number."""
    exponents = rows.view(np.uint16)[: x.size]  # before the rows are filled
    np.bitwise_and(x, HALF_EXPONENT, out=exponents)
    if np.maximum.reduce(exponents) == HALF_EXPONENT:
        np.take(HALVES, x, out=rows, mode="clip")
        return
    bits = rows.view(np.int32)
    np.left_shift(x.view(np.int16), HALF_BITS, out=bits, dtype=np.int32)  # copies of the sign go above
    np.bitwise_and(bits, HALF_KEPT, out=bits)
    np.multiply(rows, HALF_BIAS, out=rows)


def parts(product: np.ndarray, columns: Sequence[np.ndarray]) -> list[Part]:
    """A product (m, n) against the columns of fractals that it goes to, (many, m, 16) and the last one cut short: their
    rows as one element each, where both have one type."""
    m = product.shape[0]
    out: list[Part] = []
    at = 0
    for view in columns:
        many, _, wide = view.shape
        piece = product[:, at : at + many * wide]
        if view.dtype == product.dtype:
            row = f"V{wide * product.itemsize}"
            out.append((view.view(row)[..., 0], piece.view(row).T))
        else:
            out.append((view, piece.reshape(m, many, wide).transpose(1, 0, 2)))
        at += many * wide
    return out


def columns_like(views: Sequence[np.ndarray], room: np.ndarray) -> list[np.ndarray]:
    """Columns of the same shapes in a room of their own, without gaps."""
    out, at = [], 0
    for view in views:
        out.append(room[at : at + view.size].reshape(view.shape))
        at += view.size
    return out


def columns_of(
    buffer: Any, dtype: DataType, start: int, m: int, n: int, pitch: int, row: int = SIDE * 4
) -> list[np.ndarray]:
    """m x n elements in columns of 16, `pitch` bytes apart; the rows of a column lie `row` bytes apart.

    Views as (many, m, 16), the last column of fewer than 16 apart. A `row` of 0 repeats one row.
    """
    full, rest = divmod(n, SIDE)
    size = dtype.size
    out = []
    if full:
        out.append(np.ndarray((full, m, SIDE), dtype.np, buffer, start, (pitch, row, size)))
    if rest:
        out.append(np.ndarray((1, m, rest), dtype.np, buffer, start + full * pitch, (pitch, row, size)))
    return out


def multiply(
    loads: Sequence[Callable[[], Any]],
    a: np.ndarray,
    b: np.ndarray,
    product: np.ndarray,
    targets: Sequence[Part],
    sums: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
    integer: bool,
) -> None:
    """The work of a multiply: targets = `product` = a @ b, then the last of each of `sums` = the first + the second."""
    for load in loads:
        load()
    np.matmul(a, b, out=product)
    for to, value in targets:
        np.copyto(to, value, casting="unsafe")
    for start, value, c in sums:
        if integer:
            c[...] = np.clip(start + value.astype(np.float64), LOW, HIGH)
        else:
            np.add(start, value, out=c)


def fields_of(index: np.ndarray, grid: Fractals) -> np.ndarray:
    """Bytes of the index that belong to a tile of L0B, as (rows of fractals, 8, columns of fractals, 16).

    The index has a two-bit field for each byte of L0B, four to a byte, low bits first.
    """
    down, _, across, wide = grid.shape
    s0, _, s2, _ = grid.strides
    return np.ndarray((down, 8, across, wide), np.uint8, index.data, grid.start // 4, (s0 // 4, 1, s2 // 4, 8))


def expand(out: np.ndarray, kept: np.ndarray, index: np.ndarray) -> None:
    """The matrix (k, n) behind a 4:2 compressed one (k / 2, n), in whole groups of four rows.

    Of every four rows two are kept: the first field of a pair is the row of the first one, the second the row of the
    second one less one (0 to 2 each). A second one in front of the first is the first again.
    """
    half, n = kept.shape
    groups = out.shape[0] // 4
    down, _, across, wide = index.shape
    fields = index[:, :, None] >> np.arange(0, 8, 2, dtype=np.uint8)[:, None, None] & 3  # (down, 8, 4, across, wide)
    pairs = fields.reshape(down * 32, across * wide)[: 2 * groups, :n].reshape(groups, 2, n).astype(np.intp)
    first = pairs[:, :1]
    second = np.maximum(first, np.minimum(pairs[:, 1:] + 1, 3))
    values = np.zeros((groups, 2, n), kept.dtype)
    values.reshape(-1, n)[:half] = kept
    fours = out.reshape(groups, 4, n)
    fours[...] = 0
    np.put_along_axis(fours, first, values[:, :1], 1)
    np.put_along_axis(fours, second, np.take_along_axis(fours, second, 1) + values[:, 1:], 1)
