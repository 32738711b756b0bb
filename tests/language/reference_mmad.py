"""A slow second opinion on mmad, mmad_with_sparse and fixpipe: loops over elements, by the documented addresses.

Shares no code with the package. Images are bytes; what a matrix does not fill is 0xFF, as undefined bytes are. Numbers
are exact: the tests use small whole numbers.
"""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np

# --- places ----------------------------------------------------------------------------------------------------------


def in_l0a(row: int, column: int, k: int, size: int) -> int:
    """Byte of A[row, column]: fractals of 16 rows of 32 bytes, row after row of fractals; inside row by row."""
    c0 = 32 // size
    across = (k + c0 - 1) // c0
    return (row // 16 * across + column // c0) * 512 + row % 16 * 32 + column % c0 * size


def in_l0b(row: int, column: int, n: int, size: int) -> int:
    """Byte of B[row, column]: fractals of 32 bytes by 16 columns, row after row of them; inside column by column."""
    c0 = 32 // size
    across = (n + 15) // 16
    return (row // c0 * across + column // 16) * 512 + column % 16 * 32 + row % c0 * size


def in_l0c(row: int, column: int, m: int, stride: int = 0) -> int:
    """Byte of C[row, column]: columns of fractals of 16 x 16 words; `stride`: words' rows between columns, 0: none."""
    rows = stride or (m + 15) // 16 * 16
    return column // 16 * rows * 64 + row * 64 + column % 16 * 4


def image(matrix: Any, place: Any, nbytes: int) -> np.ndarray:
    """Bytes of a memory that holds a matrix; `place(row, column)` is the first byte of an element."""
    out = bytearray(b"\xff" * nbytes)
    size = matrix.dtype.itemsize
    for row in range(matrix.shape[0]):
        for column in range(matrix.shape[1]):
            at = place(row, column)
            out[at : at + size] = matrix[row, column].tobytes()
    return np.frombuffer(bytes(out), np.uint8)


def l0a(a: Any) -> np.ndarray:
    """L0A with A in it; one row lies as it is."""
    size, (m, k) = a.dtype.itemsize, a.shape
    if m == 1:
        return image(a, lambda row, column: column * size, (k * size + 511) // 512 * 512)
    nbytes = in_l0a(m - 1, k - 1, k, size) // 512 * 512 + 512
    return image(a, lambda row, column: in_l0a(row, column, k, size), nbytes)


def l0b(b: Any) -> np.ndarray:
    """L0B with B in it."""
    size, (k, n) = b.dtype.itemsize, b.shape
    return image(
        b, lambda row, column: in_l0b(row, column, n, size), in_l0b(k - 1, 16 * ((n - 1) // 16), n, size) + 512
    )


def l0c(c: Any, stride: int = 0) -> np.ndarray:
    """L0C with C in it."""
    m, n = c.shape
    nbytes = in_l0c((m - 1) // 16 * 16, (n - 1) // 16 * 16, m, stride) + 1024
    return image(c, lambda row, column: in_l0c(row, column, m, stride), nbytes)


def read_l0c(memory: Any, m: int, n: int, dtype: Any) -> np.ndarray:
    """C out of the bytes of L0C."""
    out = np.empty((m, n), dtype)
    for row in range(m):
        for column in range(n):
            at = in_l0c(row, column, m)
            out[row, column] = np.frombuffer(bytes(memory[at : at + 4]), dtype)[0]
    return out


# --- the multiply ----------------------------------------------------------------------------------------------------


def multiplied(a: Any, b: Any, start: Any) -> list[list[float]]:
    """start[row][column] + the sum of products, exact."""
    rows, columns, deep = a.tolist(), b.tolist(), len(b)
    return [
        [start(i, j) + sum(row[k] * columns[k][j] for k in range(deep)) for j in range(len(columns[0]))]
        for i, row in enumerate(rows)
    ]


# The page's table: the two fields of a group, and which of its four elements they take.
CHOICE = {
    (2, 2): (2, 3), (1, 2): (1, 3), (0, 2): (0, 3), (1, 1): (1, 2),
    (0, 1): (0, 2), (0, 0): (0, 1), (2, 0): (2, 2), (1, 0): (1, 1),
}  # fmt: skip


def chosen(kept: Any, fields: Any) -> np.ndarray:
    """B (k, n) behind the kept rows (k / 2, n) and their two-bit fields."""
    half, n = kept.shape
    out = np.zeros((2 * half, n), kept.dtype)
    for row in range(0, half, 2):
        for column in range(n):
            for which, element in enumerate(CHOICE[int(fields[row, column]), int(fields[row + 1, column])]):
                out[2 * row + element, column] += kept[row + which, column]
    return out


# --- the way out -----------------------------------------------------------------------------------------------------


def word(scale: float, offset: int = 0, signed: bool = True, shift: int = 0) -> int:
    """The 64 bits of a scale; a shift of 0 is none."""
    bits = int.from_bytes(struct.pack("<f", scale), "little")
    return bits | (shift - 1 << 32 | 1 << 36 if shift else 0) | (offset & 511) << 37 | signed << 46


def quantised(x: float, scale: int, relu: bool, to: str, integer: bool) -> float:
    """One accumulator times its scale; `to`: "half" or "byte"."""
    factor = struct.unpack("<f", ((scale & 0xFFFFFFFF) >> 13 << 13).to_bytes(4, "little"))[0]
    if integer and scale >> 36 & 1:
        x = min(max(math.floor(x / (1 << (scale >> 32 & 15) + 1)), -32768), 32767)
    y = float(np.float32(x) * np.float32(factor)) if x >= 0 or not relu else 0.0
    if to == "half":
        return float(np.float16(min(max(y, -65504.0), 65504.0)))
    offset = scale >> 37 & 511
    whole = min(max(round(y), -256), 255) + (offset - 512 if offset > 255 else offset)  # round: ties to even
    return min(max(whole, -128), 127) if scale >> 46 & 1 else min(max(whole, 0), 255)


def nz_place(row: int, column: int, stride: int, size: int, wide: int, n: int) -> int:
    """Byte of an element in columns of fractals `wide` elements across, `stride` 32-byte blocks apart; what is left
    over of the last one is as wide as it is."""
    last = n // wide * wide
    width = wide if column < last else n - last
    return column // wide * stride * 32 + row * width * size + column % wide * size
