"""data_copy that makes fractals of row-major matrices on the way to L1. Page: DataCopy (GM to L1, ND to NZ)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...hw.core import Core
from ...hw.errors import NotSimulatedError
from ...hw.findings import Site
from ...hw.global_memory import GlobalArray
from ...hw.instruction import Plan, gm_shape
from ..core.dtype import bfloat16, float16, float32, int8, int16, int32, uint8, uint16, uint32
from ..core.place import VECTOR_POSITIONS, Place, report
from ..core.types import Nd2NzParams
from ..fractals import BLOCK, dims_of
from ..moves import reach
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
}


def nd2nz(core: Core, dst: Any, src: Any, params: Nd2NzParams, site: Site) -> None:
    """Copy nd_num matrices of n_value rows and d_value columns out of global memory, each into fractals.

    Row n of a matrix lies src_d_value elements after the row before it, matrices src_nd_matrix_stride elements apart.
    Elements of 32 bytes (c0) stay together: block d // c0 of row n goes to byte
    32 * (d // c0 * dst_nz_c0_stride + n * dst_nz_n_stride) of the matrix, matrices dst_nz_matrix_stride elements apart;
    the last block of a row is filled with zeros. On MTE2. A count of 0: nothing is done.
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
    for name, (low, high) in LIMITS.items():
        given = getattr(params, name)
        if not low <= given <= high:
            nearest = min(max(given, low), high)
            text = f"{name} = {given}; rule: {low} to {high}; nearest legal value: {nearest}"
            report(core, "BAD_STRIDE", text, site, NAME)
    for name in ("nd_num", "n_value", "d_value"):
        if not getattr(params, name):
            zero(core, name, NAME, site)
            return
    aligned(core, here, "dst", NAME, site)
    plan = nd2nz_plan(core, here, params, site)
    issue_global(core, NAME, here, src, plan, site, params, True)


def nd2nz_plan(core: Core, here: Place, params: Nd2NzParams, site: Site) -> Plan:
    """The plan of a copy whose operands and parameters are known to be legal."""
    size, many, rows = here.dtype.size, params.nd_num, params.n_value
    length = params.d_value * size
    full, rest = divmod(length, BLOCK)
    strides = (params.dst_nz_matrix_stride * size, params.dst_nz_n_stride * BLOCK, params.dst_nz_c0_stride * BLOCK)
    dims = zip((many, rows, full + bool(rest)), strides, strict=True)
    write = reach(core, here, ((here.start, dims_of([dim for dim in dims if dim[1]], BLOCK)),), "dst", NAME, site)
    jump, pitch = params.src_nd_matrix_stride * size, params.src_d_value * size
    shape = gm_shape(length, pitch, rows, many=many if jump else 1, jump=jump)
    memory = write.memory
    sides = [_Side(flat.data, here.start, (many, rows, full), strides, rest) for flat in (memory.bytes, memory.defined)]
    run, carry = partial(_move, sides[0], (jump, pitch)), partial(_carry, sides[1], (jump, pitch))
    cycles = core.device.cost.nd2nz(length, rows * many)
    return Plan(NAME, core.pipes["MTE2"], (), (write,), run, cycles, shape, carry=carry)


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


__all__ = ["nd2nz"]
