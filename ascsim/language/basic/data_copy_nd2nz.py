"""data_copy that changes the layout of matrices: to fractals on the way to L1, from fractals on the way out of UB.

Pages: DataCopy (GM to L1, ND to NZ), DataCopy (UB to GM, NZ to ND). The second is a program of the library over
data_copy_pad, and is one here.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ...hw.core import Core
from ...hw.errors import NotSimulatedError
from ...hw.findings import Site
from ...hw.global_memory import GlobalArray
from ...hw.instruction import ANY, Plan, gm_shape
from ..copies import BLOCK_LIMIT, Moves
from ..core.dtype import bfloat16, float16, float32, int8, int16, int32, uint8, uint16, uint32
from ..core.limits import within
from ..core.place import VECTOR_POSITIONS, Place, report
from ..core.types import Nd2NzParams, Nz2NdParamsFull
from ..fractals import BLOCK, SIDE, align_up, ceil_div, dims_of
from ..operand import aligned, typed
from ..paths import issue_global, load, one_type, way
from ..plans import present, zero

NAME = "data_copy"
WAYS = (("GM", "L1"), ("GM", "UB"), ("UB", "L1"))
TYPES = (int8, uint8, int16, uint16, float16, bfloat16, int32, uint32, float32)
# field: least and greatest value
LIMITS = {
    "nd_num": (0, 4095),
    "n_value": (0, 16384),
    "src_d_value": (1, 65535),
    "dst_nz_c0_stride": (1, 16384),
    "dst_nz_n_stride": (1, 16384),
    "dst_nz_matrix_stride": (0, 16384),
}
NZ2ND_LIMITS = {
    "nd_num": (0, 4095),
    "n_value": (1, 8192),
    "d_value": (1, 8192),
    "src_n_stride": (0, 4096),
    "dst_d_stride": (1, 65535),
}


def nd2nz(core: Core, dst: Any, src: Any, params: Nd2NzParams, site: Site) -> None:
    """Copy nd_num matrices of n_value rows and d_value columns out of global memory, each into fractals.

    Row n of a matrix lies src_d_value elements after the row before it, matrices src_nd_matrix_stride elements apart.
    Elements of 32 bytes (c0) stay together: block d // c0 of row n goes to byte
    32 * (d // c0 * dst_nz_c0_stride + n * dst_nz_n_stride) of the matrix, matrices dst_nz_matrix_stride elements apart;
    the last block of a row is filled with zeros. Blocks of one matrix, and matrices that are apart at all, may not
    overlap: the order of the writes is not defined (a dst_nz_matrix_stride of 0 puts each matrix over the one before).
    On MTE2. A count of 0: nothing is done.
    """
    along = way(core, dst, src, NAME, site, WAYS)
    if along.issue is not load:
        along.issue(core, NAME)  # says that it is not simulated
    if dst.place.position in VECTOR_POSITIONS:
        raise NotSimulatedError(NAME, "Nd2NzParams with UB is a program of the library over data_copy_pad, not built")
    here: Place = dst.place.live
    if not present(core, here.memory, NAME, site):
        return
    typed(core, here, TYPES, "dst", NAME, site)
    one_type(core, NAME, src, here, site)
    _limits(core, params, LIMITS, site)
    for name in ("nd_num", "n_value", "d_value"):
        if not getattr(params, name):
            zero(core, name, NAME, site)
            return
    aligned(core, here, "dst", NAME, site)
    plan = nd2nz_plan(core, here, params, site)
    _apart(core, here, params, site)
    issue_global(core, NAME, here, src, plan, site, params, True)


def nz2nd(core: Core, dst: Any, src: Any, params: Nz2NdParamsFull, site: Site) -> None:
    """Copy nd_num matrices of n_value rows and d_value columns (a multiple of 16) out of UB, where 16 columns of all
    rows lie together.

    Blocks of columns lie src_n_stride x 16 elements apart, matrices src_nd_matrix_stride x 256; in global memory rows
    lie dst_d_stride elements apart, matrices dst_nd_matrix_stride. Types of 16 and 32 bits. On MTE3, 16 columns of up
    to 4095 rows an instruction.
    """
    along = way(core, dst, src, NAME, site, (("UB", "GM"),))
    typed(core, src.place.live, TYPES[2:], "src", NAME, site)
    _limits(core, params, NZ2ND_LIMITS, site)
    if params.d_value % SIDE:
        nearest = align_up(params.d_value, SIDE)
        text = f"d_value = {params.d_value}; rule: a multiple of {SIDE}; nearest legal value: {nearest}"
        report(core, "BAD_STRIDE", text, site, NAME)
    if not params.nd_num:
        zero(core, "nd_num", NAME, site)
        return
    row, size = params.dst_d_stride, src.dtype.size
    for matrix in range(params.nd_num):
        for block in range(params.d_value // SIDE):
            since = matrix * params.src_nd_matrix_stride * SIDE * SIDE + block * params.src_n_stride * SIDE
            at = matrix * params.dst_nd_matrix_stride + block * SIDE
            for first in range(0, params.n_value, BLOCK_LIMIT):
                moves = Moves(SIDE * size, row * size, SIDE * size, min(BLOCK_LIMIT, params.n_value - first))
                to, source = dst[at + first * row :], src[since + first * SIDE :]
                along.issue(core, NAME, to, source, moves, site, (NAME, moves))


def _limits(core: Core, params: Any, limits: dict[str, tuple[int, int]], site: Site) -> None:
    for name, (low, high) in limits.items():
        within(core, "BAD_STRIDE", name, getattr(params, name), low, high, NAME, site)


def _apart(core: Core, here: Place, params: Nd2NzParams, site: Site) -> None:
    """No two blocks of the destination may share bytes."""
    size, rows, row = here.dtype.size, params.n_value, params.dst_nz_n_stride
    jump, rest = divmod(params.dst_nz_matrix_stride * size if params.nd_num > 1 else 0, BLOCK)
    if rest:
        text = f"dst_nz_matrix_stride = {params.dst_nz_matrix_stride}; rule: a multiple of {BLOCK // size} elements"
        report(core, "BAD_STRIDE", text, site, NAME)
        return
    blocks = ceil_div(params.d_value * size, BLOCK)
    matrix = [(rows, row), (blocks, params.dst_nz_c0_stride)]
    if not _distinct(matrix):
        text = f"dst_nz_c0_stride = {params.dst_nz_c0_stride}: {rows} rows of {blocks} blocks overlap"
        report(core, "BAD_STRIDE", f"{text}; rule: {rows * row} or more, or rows further apart", site, NAME)
    elif jump and not _distinct([*matrix, (params.nd_num, jump)]):
        text = f"dst_nz_matrix_stride = {params.dst_nz_matrix_stride}: the matrices overlap; rule: 0, or they lie apart"
        report(core, "BAD_STRIDE", text, site, NAME)


def _distinct(dims: list[tuple[int, int]]) -> bool:
    """Whether counts and strides of blocks, known to end inside L1, lead to a different block each."""
    reached = 1
    for count, stride in sorted(dims, key=lambda dim: dim[1]):
        if count > 1 and stride < reached:
            break
        reached += (count - 1) * stride
    else:
        return True
    total, end = math.prod(count for count, _ in dims), 1 + sum((count - 1) * stride for count, stride in dims)
    if total > end:
        return False
    found = np.zeros(1, np.intp)
    for count, stride in dims:
        found = (found[:, None] + np.arange(count) * stride).reshape(-1)
    return len(np.unique(found)) == total


def nd2nz_plan(core: Core, here: Place, params: Nd2NzParams, site: Site) -> Plan:
    """The plan of a copy whose operands and parameters are known to be legal."""
    size, many, rows = here.dtype.size, params.nd_num, params.n_value
    length = params.d_value * size
    full, rest = divmod(length, BLOCK)
    strides = (params.dst_nz_matrix_stride * size, params.dst_nz_n_stride * BLOCK, params.dst_nz_c0_stride * BLOCK)
    dims = zip((many, rows, full + bool(rest)), strides, strict=True)
    write = here.region(((here.start, dims_of([dim for dim in dims if dim[1]], BLOCK)),), "dst", NAME, site)
    jump, pitch = params.src_nd_matrix_stride * size, params.src_d_value * size
    shape = gm_shape(length, pitch, rows, many=many if jump else 1, jump=jump)
    memory = write.memory
    sides = [_Side(flat.data, here.start, (many, rows, full), strides, rest) for flat in (memory.bytes, memory.defined)]
    run, carry = partial(_move, sides[0], (jump, pitch)), partial(_carry, sides[1], (jump, pitch))
    cycles = core.device.cost.nd2nz(length, rows * many)
    plan = Plan(NAME, core.pipes["MTE2"], (), (write,), run, cycles, shape, carry=carry)
    plan.phase = ANY
    return plan


class _Side:
    """The blocks of the destination, in bytes or definedness: the full ones, and what holds and fills the last ones."""

    __slots__ = ("fill", "full", "rest")

    def __init__(
        self, flat: Any, start: int, counts: tuple[int, int, int], strides: tuple[int, int, int], rest: int
    ) -> None:
        many, rows, blocks = counts
        self.full = np.ndarray(counts, f"V{BLOCK}", flat, start, strides)
        self.rest: np.ndarray | None = None
        if rest:
            last = start + blocks * strides[2]
            self.rest = np.ndarray((many, rows), f"V{rest}", flat, last, strides[:2])
            self.fill = np.ndarray((many, rows, BLOCK - rest), np.uint8, flat, last + rest, (*strides[:2], 1))

    def take(self, source: Any, at: int, steps: tuple[int, int], fill: int) -> None:
        """Copy what lies in `source` from byte `at` on, with steps between matrices and rows."""
        np.copyto(self.full, np.ndarray(self.full.shape, self.full.dtype, source, at, (*steps, BLOCK)))
        at += self.full.shape[2] * BLOCK
        if self.rest is not None:
            np.copyto(self.rest, np.ndarray(self.rest.shape, self.rest.dtype, source, at, steps))
            self.fill[...] = fill


def _move(side: _Side, steps: tuple[int, int], array: GlobalArray, at: int) -> None:
    side.take(array.data, at, steps, 0)


def _carry(side: _Side, steps: tuple[int, int], array: GlobalArray, at: int) -> None:
    assert array.defined is not None
    side.take(array.defined.data, at, steps, 1)


__all__ = ["nd2nz", "nz2nd"]
