"""Cycles of one core for a way of cutting a product, to compare ways with each other: no schedule is made.

The busiest of four pipes rules: loads to L1, loads to L0, the cube, stores of C. A block that does not alternate
between two buffers cannot overlap with what fills it, so its loads are added. Prices are the machine's own.
"""

from __future__ import annotations

from typing import NamedTuple

from ...hw.cost import (
    FIXPIPE_RATE,
    FIXPIPE_START,
    L1_RATE,
    LOAD_START,
    MMAD_K,
    MMAD_START,
    ND2NZ_RATE,
    ND2NZ_ROW,
    ND2NZ_START,
)
from ..fractals import SIDE, align_up
from .tiling_rules import ACCUMULATOR, Matrix, Product


class Block(NamedTuple):
    """The blocks of a core's part: sizes in elements, counts along M, N and K, buffers in L0."""

    m: int
    n: int
    k: int
    count_m: int
    count_n: int
    count_k: int
    db_l0a: int
    db_l0b: int
    db_l0c: int


class Loads(NamedTuple):
    """How one matrix comes to L1: blocks of a load along M or N, and along K; buffers; bytes; cycles of one pass."""

    step: int
    step_k: int
    db: int
    room: int
    cycles: float
    groups: int  # loads along M or N
    along_k: int  # loads along K
    whole_k: bool
    resident: bool  # all of the core's part is in L1 after one pass


def compute(product: Product, part: tuple[int, int, int], block: Block) -> float:
    """Cycles of the pipes behind L1."""
    m, n, k = part
    size, blocks = product.a.dtype.size, block.count_m * block.count_n
    fractals = -(-m // SIDE) * -(-n // SIDE) * -(-k // MMAD_K[str(product.a.dtype)])
    cube = blocks * block.count_k * MMAD_START + fractals
    starts = blocks * block.count_k * (LOAD_START["L0A"] + LOAD_START["L0B"])
    moved_a, moved_b = m * k * size * block.count_n / L1_RATE["L0A"], n * k * size * block.count_m / L1_RATE["L0B"]
    loads = starts + moved_a + moved_b
    stores = blocks * FIXPIPE_START + m * n * ACCUMULATOR / FIXPIPE_RATE
    inner = max(cube, loads) if block.db_l0a == block.db_l0b == 2 else cube + loads
    return max(inner, stores) if block.db_l0c == 2 else inner + stores


def one_pass(matrix: Matrix, lines: int, k: int, groups: int, along_k: int, turned: bool) -> float:
    """Cycles to bring `lines` of M or N by `k` to L1 once, in groups * along_k loads."""
    if matrix.in_l1:
        return 0.0
    rows = 0 if matrix.is_nz else k * groups if turned else lines * along_k
    moved = align_up(lines, SIDE) * align_up(k, matrix.c0) * matrix.dtype.size
    return groups * along_k * ND2NZ_START + max(moved / ND2NZ_RATE, rows * ND2NZ_ROW)


def total(inner: float, a: Loads, b: Loads, order: int) -> float:
    """Cycles of the core; `order`: 0 where the next block is the next along M, 1 along N."""
    passes_a = 1 if a.resident or (order and a.whole_k) else b.groups
    passes_b = 1 if b.resident or (not order and b.whole_k) else a.groups
    sides = ((a, a.cycles * passes_a), (b, b.cycles * passes_b))
    alternating = sum(cycles for side, cycles in sides if side.db == 2)
    return max(inner, alternating) + sum(cycles for side, cycles in sides if side.db == 1)
