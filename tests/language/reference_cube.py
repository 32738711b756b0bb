"""A slow second opinion on the data movement of the cube side: loops over elements by the documented formulas.

Memories are numpy arrays of elements; every function writes to `dst` in place. Nothing here comes from the package.
"""

from __future__ import annotations

import numpy as np


def nd2nz(dst: np.ndarray, src: np.ndarray, p: tuple[int, ...]) -> None:
    """`p`: nd_num, n_value, d_value, src_nd_matrix_stride, src_d_value, dst_nz_c0_stride, dst_nz_n_stride,
    dst_nz_matrix_stride."""
    many, rows, columns, jump, pitch, c0_stride, n_stride, nz_jump = p
    c0 = 32 // dst.itemsize
    for i in range(many):
        for n in range(rows):
            for d in range(-(-columns // c0) * c0):
                to = i * nz_jump + (d // c0 * c0_stride + n * n_stride) * c0 + d % c0
                dst[to] = src[i * jump + n * pitch + d] if d < columns else 0


def load_2d(dst: np.ndarray, src: np.ndarray, p: tuple[int, ...]) -> None:
    """`p`: start_index, repeat_times, src_stride, sid, dst_gap, if_transpose, addr_mode."""
    first, repeats, stride, _, gap, turn, down = p
    side = 512 // dst.itemsize
    for i in range(repeats):
        at = (first + (-1 if down else 1) * i * stride) * side
        to = i * (gap + 1) * side
        for e in range(side):
            dst[to + e] = src[at + (e % 16 * 16 + e // 16 if turn else e)]


def load_transposed(dst: np.ndarray, src: np.ndarray, p: tuple[int, ...]) -> None:
    """`p`: start_index, repeat_times, src_stride, dst_gap, dst_frac_gap, addr_mode."""
    first, repeats, stride, gap, frac_gap, down = p
    size = dst.itemsize
    c0, fractal = 32 // size, 512 // size
    side = 32 if size == 1 else 16
    for i in range(repeats):
        at = (first + (-1 if down else 1) * i * stride) * side * side
        to = i * (gap + 1) * fractal

        def place(row: int, column: int) -> tuple[int, int]:
            """Fractal of a square, element in it. Fractals are 16 rows of c0 columns."""
            return row // 16 + column // c0, row % 16 * c0 + column % c0

        square = np.zeros((side, side), dst.dtype)
        for row in range(side):
            for column in range(side):
                fractal_number, inside = place(row, column)
                square[row, column] = src[at + fractal_number * fractal + inside]
        for row in range(side):
            for column in range(side):
                number, inside = place(row, column)
                dst[to + number * (frac_gap + 1) * fractal + inside] = square[column, row]


def column_matrix(src: np.ndarray, map_: dict, rows: range, columns: range, pad: object) -> np.ndarray:
    """Rows and columns of the column matrix of a feature map (C1, H, W, channels of a block)."""
    left, right, top, _ = map_["pads"]
    height, width, channels = map_["height"], map_["width"], map_["channels"]
    (sw, sh), (fw, fh), (dw, dh) = map_["strides"], map_["filter"], map_["dilation"]
    block = min(32 // src.itemsize, channels)
    wide = (width + left + right - (fw - 1) * dw - 1) // sw + 1
    out = np.zeros((len(rows), len(columns)), src.dtype)
    for i, m in enumerate(rows):
        for j, k in enumerate(columns):
            c1, rest = divmod(k, fw * fh * block)
            point, c = divmod(rest, block)
            h = m // wide * sh + point // fw * dh - top
            w = m % wide * sw + point % fw * dw - left
            inside = 0 <= h < height and 0 <= w < width
            out[i, j] = src[((c1 * height + h) * width + w) * block + c] if inside else pad
    return out


def store_matrix(dst: np.ndarray, matrix: np.ndarray, order: str, rows: int, columns: int) -> None:
    """A matrix into fractals; the memory is laid out for `rows` x `columns` elements."""
    c0 = 32 // dst.itemsize
    high, wide = (16, c0) if order[1] == "Z" else (c0, 16)
    down, across = -(-rows // high), -(-columns // wide)
    for r in range(matrix.shape[0]):
        for c in range(matrix.shape[1]):
            fractal = r // high * across + c // wide if order[0] == "Z" else c // wide * down + r // high
            inside = r % high * wide + c % wide if order[1] == "Z" else c % wide * high + r % high
            dst[fractal * 16 * c0 + inside] = matrix[r, c]
