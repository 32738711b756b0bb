"""A slow second opinion on transposition and sorting: loops over repeats, blocks and elements.

It shares no code with the package. Memory is a flat uint8 array; tensors are byte addresses. Scores are compared as
Python numbers, NaN as greater than every number.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

BLOCK = 32  # bytes


def to_5hd(
    memory: np.ndarray,
    dst: Sequence[int],
    src: Sequence[int],
    size: int,
    repeats: int,
    dst_stride: int = 0,
    src_stride: int = 0,
    dst_high: bool = False,
    src_high: bool = False,
) -> None:
    """Element j of source block i goes to number 16 * j + i of the destination blocks, read one behind the other."""
    per_block = 16 if size == 1 else BLOCK // size
    for repeat in range(repeats):
        moved = repeat + (1 if repeats == 1 else 0)
        taken = []
        for j in range(per_block):
            for block in src:
                at = block + moved * src_stride * BLOCK + (16 if src_high else 0) + j * size
                taken.append(memory[at : at + size].tobytes())
        for number, raw in enumerate(taken):
            block, place = divmod(number, per_block)
            at = dst[block] + moved * dst_stride * BLOCK + (16 if dst_high else 0) + place * size
            memory[at : at + size] = np.frombuffer(raw, np.uint8)


def swapped(memory: np.ndarray, dst: int, src: int, size: int, images: int, rows: int, columns: int) -> None:
    """dst[n][column][row] = src[n][row][column]."""
    before = memory.copy()
    for n in range(images):
        for row in range(rows):
            for column in range(columns):
                a = src + ((n * rows + row) * columns + column) * size
                b = dst + ((n * columns + column) * rows + row) * size
                memory[b : b + size] = before[a : a + size]


def greater(a: float, b: float) -> bool:
    """Whether score a goes before score b, whichever came first."""
    if a != a:
        return b == b
    return a > b


def sorted_run(scores: Sequence[float], indices: Sequence[int]) -> list[tuple[float, int]]:
    """Insertion sort, stable, the greatest first."""
    out: list[tuple[float, int]] = []
    for pair in zip(scores, indices, strict=True):
        at = len(out)
        while at and greater(pair[0], out[at - 1][0]):
            at -= 1
        out.insert(at, pair)
    return out


def merged(
    lists: Sequence[Sequence[tuple[float, int]]], stop_when_exhausted: bool = False
) -> tuple[list[tuple[float, int]], list[int]]:
    """Take the greatest head, of equal ones that of the first list; the pairs and how many each list gave."""
    taken = [0] * len(lists)
    out: list[tuple[float, int]] = []
    while any(n < len(pairs) for n, pairs in zip(taken, lists, strict=True)):
        if stop_when_exhausted and any(n == len(pairs) for n, pairs in zip(taken, lists, strict=True)):
            break
        best = -1
        for i, pairs in enumerate(lists):
            if taken[i] < len(pairs) and (best < 0 or greater(pairs[taken[i]][0], lists[best][taken[best]][0])):
                best = i
        out.append(lists[best][taken[best]])
        taken[best] += 1
    return out, taken
