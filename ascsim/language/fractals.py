"""Matrices in fractals, as the cube side keeps them: addresses, numpy views that share the memory, exact footprints.

A fractal is 512 bytes: 16 rows of 32 bytes, c0 = 32 / size elements each (in L0C 16 by 16 accumulators, 1024 bytes).
The first letter of an order tells how fractals follow each other, the second how elements do inside one: Z along a
row, N along a column. Within N the 16 is the number of columns, and the c0 elements of a column lie side by side.

    ZZ  L0A             NZ  L1, L0C             ZN  L0B             NN  L1, transposed

Not here: which memory takes which order, and what an instruction does with the elements beyond a matrix's edge.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..hw.memory import Memory, Piece
from .core.dtype import DataType
from .core.place import BLOCK

FRACTAL = 512  # bytes
SIDE = 16  # rows (Z inside) or columns (N inside) of a fractal
ROW = f"V{BLOCK}"  # a row of a fractal (Z inside) as one element
Dims = tuple[tuple[int, int], ...]  # (count, stride in bytes), outermost first


class Order(NamedTuple):
    """`outer`, `inner`: "Z" along rows, "N" along columns, of fractals and inside one."""

    outer: str
    inner: str


ZZ, ZN, NZ, NN = (Order(*name) for name in ("ZZ", "ZN", "NZ", "NN"))


def c0_of(dtype: DataType) -> int:
    """Elements of 32 bytes."""
    return BLOCK // dtype.size


def ceil_div(n: int, step: int) -> int:
    """n / step, rounded up."""
    return -(-n // step)


def align_up(n: int, step: int) -> int:
    """n, rounded up to a multiple of `step`."""
    return -(-n // step) * step


class Fractals:
    """`rows` x `columns` elements from byte `start` of a memory on, in fractals of an order.

    `c0`: elements of a fractal's short side (0: 32 bytes of them; L0C: 16). `pitch`: bytes from one row of fractals
    (outer Z) or column of fractals (outer N) to the next (0: no gap). `strides` are in bytes: of a row of fractals, a
    row inside, a column of fractals, a column inside.
    """

    __slots__ = ("columns", "dtype", "fractal", "rows", "shape", "start", "strides")

    def __init__(
        self, start: int, dtype: DataType, rows: int, columns: int, order: Order, c0: int = 0, pitch: int = 0
    ) -> None:
        c0 = c0 or c0_of(dtype)
        size = dtype.size
        self.start, self.dtype, self.rows, self.columns = start, dtype, rows, columns
        self.fractal = high, wide = (SIDE, c0) if order.inner == "Z" else (c0, SIDE)  # elements
        nbytes = SIDE * c0 * size
        down, across = ceil_div(rows, high), ceil_div(columns, wide)  # fractals
        self.shape = (down, high, across, wide)
        inside = (c0 * size, size) if order.inner == "Z" else (size, c0 * size)
        outside = (pitch or across * nbytes, nbytes) if order.outer == "Z" else (nbytes, pitch or down * nbytes)
        self.strides = (outside[0], inside[0], outside[1], inside[1])

    def view(self, memory: Memory) -> np.ndarray:
        """Whole fractals as (rows of fractals, rows inside, columns of fractals, columns inside), sharing bytes."""
        return np.ndarray(self.shape, self.dtype.np, memory.bytes.data, self.start, self.strides)

    def rectangles(self, flat: np.ndarray, kind: str) -> list[tuple[slice, slice, np.ndarray]]:
        """The matrix in up to four rectangles: its rows, its columns, and a view of them, in bytes or definedness, as
        (rows of fractals, rows inside, columns of fractals, columns inside). With ROW as the kind of elements, for an
        order that is Z inside and full fractals across: one column of 32-byte rows a fractal."""
        out = []
        for row, column, counts in self._parts():
            if kind == ROW:  # there is no second part across
                counts = (*counts[:3], 1)
            view: np.ndarray = np.ndarray(counts, kind, flat.data, self.at(row, column), self.strides)
            out.append((slice(row, row + counts[0] * counts[1]), slice(column, column + counts[2] * counts[3]), view))
        return out

    def at(self, row: int, column: int) -> int:
        """Byte of an element."""
        (high, wide), (s0, s1, s2, s3) = self.fractal, self.strides
        return self.start + row // high * s0 + row % high * s1 + column // wide * s2 + column % wide * s3

    def pieces(self, whole: bool = False) -> tuple[Piece, ...]:
        """The footprint of the elements, or of all the fractals that hold them; up to four rectangles."""
        if whole:
            return (self._piece(0, 0, *self.shape),)
        return tuple(self._piece(row, column, *counts) for row, column, counts in self._parts())

    def _parts(self) -> list[tuple[int, int, tuple[int, int, int, int]]]:
        """Rectangles of whole fractals, and of those at the edges: first row, first column, counts as in `shape`."""
        high, wide = self.fractal
        return [
            (row, column, (many_rows, rows, many_columns, columns))
            for row, many_rows, rows in _cut(self.rows, high)
            for column, many_columns, columns in _cut(self.columns, wide)
        ]

    def _piece(self, row: int, column: int, *counts: int) -> Piece:
        return self.at(row, column), dims_of(zip(counts, self.strides, strict=True), self.dtype.size)


def _cut(n: int, side: int) -> list[tuple[int, int, int]]:
    """n lines as (first, fractals, lines of each): the whole fractals, then the last one that is filled in part."""
    full, rest = divmod(n, side)
    return [part for part in ((0, full, side), (full * side, 1, rest)) if part[1] and part[2]]


def dims_of(steps: Iterable[tuple[int, int]], size: int) -> Dims:
    """The dims of a footprint's piece from (count, stride) pairs in any order and the bytes of an element.

    Neighbours without a gap become one; strides are positive.
    """
    out: list[tuple[int, int]] = [(size, 1)]
    for count, stride in sorted((step for step in steps if step[0] > 1), key=lambda step: step[1]):
        inner, unit = out[-1]
        if stride == inner * unit:
            out[-1] = inner * count, unit
        else:
            out.append((count, stride))
    return tuple(reversed(out))
