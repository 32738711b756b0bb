"""What the cube computes: a product of two tiles in fractals, added to a start value in L0C.

A tile is brought into rows in the type of the multiplication (float32; float64 where sums of int8 products leave
float32's 24 bits), multiplied by one call of numpy, and the result is added into the fractals of L0C. So a float sum
has the order of numpy's product, and the start value is added last: the hardware's order is not published. Sums of
int32 saturate; infinities and NaN stay (non-saturating mode).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..hw.core import Core
from .core.dtype import DataType, bfloat16, float16, float32, int8
from .fractals import SIDE, Fractals

HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)  # by bits: quicker than a cast
EXACT_K = 1024  # an int8 product is at most 2**14: sums of so many are exact in float32
LOW, HIGH = -(1 << 31), (1 << 31) - 1
HF32_LOST = 12  # of float32's 23 mantissa bits
Part = tuple[Any, Any]  # views of L0C and of the product, alike in shape


def work_type(dtype: DataType, k: int) -> Any:
    """The numpy type in which tiles of an element type are multiplied."""
    return np.float64 if dtype is int8 and k > EXACT_K else np.float32


def scratch(core: Core, work: Any) -> list[np.ndarray]:
    """Room for A, B and their product in rows: as much as L0A, L0B and L0C can hold. One set a core and type."""
    found: list[np.ndarray] | None = core.operands.get(("scratch", work))
    if found is None:
        sizes = core.memories["L0A"].size, core.memories["L0B"].size, core.memories["L0C"].size // 4  # elements
        found = core.operands["scratch", work] = [np.empty(size, work) for size in sizes]
    return found


def hf32(x: np.ndarray, to_zero: bool) -> None:
    """Round float32 in place to the 11 mantissa bits of HF32: to nearest, ties to even or toward zero."""
    bits = x.view(np.uint32)
    half = (1 << HF32_LOST - 1) - 1
    nan = np.isnan(x)
    bits += half if to_zero else half + (bits >> HF32_LOST & 1)
    bits &= np.uint32(0xFFFFFFFF << HF32_LOST & 0xFFFFFFFF)
    x[nan] = np.nan


def loader(tile: np.ndarray, dtype: DataType, rows: np.ndarray, rounding: bool | None = None) -> Callable[[], None]:
    """What brings a tile's elements into rows; `rounding`: float32 is rounded to HF32, ties toward zero or not."""
    if dtype is float16:
        return partial(np.take, HALVES, tile.view(np.uint16), out=rows, mode="clip")
    if dtype is bfloat16:
        return partial(np.left_shift, tile.view(np.uint16), np.uint32(16), out=rows.view(np.uint32), dtype=np.uint32)
    if dtype is float32 and rounding is not None:
        return partial(_rounded, tile, rows, rounding)
    return partial(_assign, rows, tile)


def _rounded(tile: np.ndarray, rows: np.ndarray, to_zero: bool) -> None:
    rows[...] = tile
    hf32(rows, to_zero)


def _assign(rows: np.ndarray, tile: np.ndarray) -> None:
    rows[...] = tile


def parts(product: np.ndarray, columns: Sequence[np.ndarray]) -> list[Part]:
    """A product (m, n) against the columns of fractals that it goes to: (many, m, 16), and the last one cut short."""
    m = product.shape[0]
    out: list[Part] = []
    at = 0
    for view in columns:
        many, _, wide = view.shape
        piece = product[:, at : at + many * wide].reshape(m, many, wide).transpose(1, 0, 2)
        out.append((view, piece))
        at += many * wide
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
    starts: Sequence[Any] | None,
    integer: bool,
) -> None:
    """The work of a multiply: `product` = a @ b, then targets = starts + product (None: 0)."""
    for load in loads:
        load()
    np.matmul(a, b, out=product)
    if starts is None:
        for c, value in targets:
            c[...] = value
    elif integer:
        for (c, value), start in zip(targets, starts, strict=True):
            c[...] = np.clip(start + value.astype(np.float64), LOW, HIGH)
    else:
        for (c, value), start in zip(targets, starts, strict=True):
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
