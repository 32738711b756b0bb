"""A slow second opinion on reductions, gathers, packing and copies of lanes: element loops, as `reference`.

It shares no code with the package. A sum over lanes is a tree of halves: the sum of lanes [a, b) is that of the lower
half plus that of the upper half, rounded; a half without an active lane is left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from reference import BLOCK, DTYPES, REPEAT, Number, active_lanes, fit, load, store

Mask = int | Sequence[int] | None


def tree(values: Sequence[Number | None], dtype: str) -> Number | None:
    """The sum of the values that are there; their count is a power of two."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    low, high = tree(values[:half], dtype), tree(values[half:], dtype)
    if low is None or high is None:
        return high if low is None else low
    return fit(low + high, dtype)


def better(a: float, b: float, greatest: bool) -> bool:
    """Whether a beats b, which stands before it."""
    if b != b:
        return False
    if a != a:
        return True
    if a == b == 0:
        return math.copysign(1, a) > math.copysign(1, b) if greatest else math.copysign(1, a) < math.copysign(1, b)
    return a > b if greatest else a < b


def extreme(values: Sequence[Number | None], greatest: bool) -> int | None:
    """Where the greatest or least of the values that are there stands."""
    best = None
    for i, value in enumerate(values):
        if value is not None and (best is None or better(value, values[best], greatest)):
            best = i
    return best


def lanes_of_repeat(
    memory: np.ndarray, dtype: str, src: int, repeat: int, flags: Sequence[bool], blk: int, rep: int
) -> list[Number | None]:
    size = DTYPES[dtype].itemsize
    per_block = BLOCK // size
    out: list[Number | None] = []
    for lane, active in enumerate(flags):
        at = src + BLOCK * (repeat * rep + lane // per_block * blk) + size * (lane % per_block)
        out.append(load(memory, at, dtype) if active else None)
    return out


def flags_of(repeat: int, lanes: int, mask: Mask, count: int | None) -> list[bool]:
    if count is None:
        return active_lanes(mask, lanes)
    return [repeat * lanes + lane < count for lane in range(lanes)]


def put_bits(memory: np.ndarray, address: int, size: int, bits: int) -> None:
    memory[address : address + size] = list((bits & ((1 << 8 * size) - 1)).to_bytes(size, "little"))


def fold(
    memory: np.ndarray,
    op: str,
    dtype: str,
    dst: int,
    src: int,
    *,
    mask: Mask = None,
    count: int | None = None,
    repeat: int = 1,
    dst_rep: int,
    src_blk: int = 1,
    src_rep: int = 8,
    order: str = "value",
) -> None:
    """block_, pair_, repeat_ and whole_reduce in place. `op`: "block sum", "pair sum", "whole max" ...

    `order` of whole extremes: "value index", "index value", "value", "index".
    """
    kind, what = op.split()
    size = DTYPES[dtype].itemsize
    lanes = REPEAT // size
    group = {"block": lanes // 8, "pair": 2, "whole": lanes}[kind]
    width = 4 if order == "index" else size * len(order.split())
    pitch = dst_rep * width * (lanes // group)
    for number in range(repeat if count is None else -(-count // lanes)):
        values = lanes_of_repeat(memory, dtype, src, number, flags_of(number, lanes, mask, count), src_blk, src_rep)
        results = []
        for first in range(0, lanes, group):
            part = values[first : first + group]
            at = dst + number * pitch + first // group * width
            if all(value is None for value in part):
                continue
            if what == "sum":
                results.append((at, tree(part, dtype), None))
            else:
                best = extreme(part, what == "max")
                assert best is not None
                results.append((at, part[best], best))
        for at, value, best in results:
            for word in order.split():
                if word == "value":
                    store(memory, at, dtype, value)
                    at += size
                else:
                    put_bits(memory, at, 4 if order == "index" else size, best)
                    at += size


def tensor(
    memory: np.ndarray,
    what: str,
    dtype: str,
    src: int,
    *,
    mask: Mask = None,
    count: int | None = None,
    repeat: int = 1,
    src_rep: int = 8,
) -> tuple[Number, int]:
    """reduce_sum, reduce_max, reduce_min: the result and, for extremes, the element of the source where it stands."""
    size = DTYPES[dtype].itemsize
    lanes = REPEAT // size
    rows = [
        lanes_of_repeat(memory, dtype, src, number, flags_of(number, lanes, mask, count), 1, src_rep)
        for number in range(repeat if count is None else -(-count // lanes))
    ]
    if what != "sum":
        flat = [value for row in rows for value in row]
        best = extreme(flat, what == "max")
        assert best is not None
        return flat[best], best // lanes * src_rep * (BLOCK // size) + best % lanes
    sums = [tree(row, dtype) for row in rows]
    if count is not None:
        total = sums[0]
        for value in sums[1:]:
            total = fit(total + value, dtype)
        return total, 0
    while len(sums) > 1:
        sums += [None] * (-len(sums) % lanes)
        sums = [tree(sums[at : at + lanes], dtype) for at in range(0, len(sums), lanes)]
    return sums[0], 0


def gather(
    memory: np.ndarray,
    size: int,
    dst: int,
    src: int,
    offsets: int,
    base: int,
    *,
    mask: Mask = None,
    count: int | None = None,
    repeat: int = 1,
    dst_rep: int = 8,
) -> None:
    """Elements of `size` bytes by byte offsets."""
    lanes, per_block = REPEAT // size, BLOCK // size
    for number in range(repeat if count is None else -(-count // lanes)):
        for lane, active in enumerate(flags_of(number, lanes, mask, count)):
            if active:
                at = src + base + load(memory, offsets + 4 * (number * lanes + lane), "uint32")
                to = dst + BLOCK * (number * dst_rep + lane // per_block) + size * (lane % per_block)
                memory[to : to + size] = memory[at : at + size]


def gatherb(memory: np.ndarray, dst: int, src: int, offsets: int, repeat: int, blk: int, rep: int) -> None:
    """Blocks of 32 bytes by byte offsets."""
    for number in range(repeat):
        for block in range(8):
            at = src + load(memory, offsets + 4 * (8 * number + block), "uint32")
            to = dst + BLOCK * (number * rep + block * (blk or 1))
            memory[to : to + BLOCK] = memory[at : at + BLOCK]


def brcb(memory: np.ndarray, size: int, dst: int, src: int, repeat: int, blk: int, rep: int) -> None:
    """Eight elements a repeat, each filling a block."""
    for number in range(repeat):
        for block in range(8):
            element = memory[src + size * (8 * number + block) :][:size]
            to = dst + BLOCK * (number * rep + block * blk)
            memory[to : to + BLOCK] = np.tile(element, BLOCK // size)


def copy(
    memory: np.ndarray,
    size: int,
    dst: int,
    src: int,
    *,
    mask: Mask = None,
    length: int | None = None,
    repeat: int,
    blks: tuple[int, int],
    reps: tuple[int, int],
) -> None:
    """Lanes of repeats from src to dst; in counter mode `length` elements a repeat."""
    per_block = BLOCK // size
    flags = active_lanes(mask, REPEAT // size) if length is None else [True] * length
    for number in range(repeat):
        moved = []
        for lane, active in enumerate(flags):
            if active:
                to, at = (
                    base + BLOCK * (number * rep + lane // per_block * blk) + size * (lane % per_block)
                    for base, blk, rep in zip((dst, src), blks, reps, strict=True)
                )
                moved.append((to, memory[at : at + size].copy()))
        for to, element in moved:
            memory[to : to + size] = element


def gather_mask(
    memory: np.ndarray,
    size: int,
    dst: int,
    src: int,
    pattern: int | tuple[int, int],
    *,
    length: int | None,
    repeat: int,
    blk: int,
    rep: int,
) -> int:
    """Pack selected elements; `pattern`: 1 to 7, or (address, repeat stride in blocks) of bits. Returns how many."""
    per_block = BLOCK // size
    kept = 0
    for number in range(repeat):
        for lane in range(REPEAT // size if length is None else length):
            if isinstance(pattern, int):
                taken = {1: lane % 2 == 0, 2: lane % 2 == 1, 7: True}.get(pattern, lane % 4 == pattern - 3)
            else:
                byte = memory[pattern[0] + BLOCK * number * pattern[1] + lane // 8]
                taken = bool(byte >> lane % 8 & 1)
            if taken:
                at = src + BLOCK * (number * rep + lane // per_block * blk) + size * (lane % per_block)
                to = dst + size * kept
                memory[to : to + size] = memory[at : at + size]
                kept += 1
    return kept
