"""Matrix multiply-accumulate on the cube: mmad, mmad_with_sparse. Pages: Mmad, MmadWithSparse, GEMV, HF32, UnitFlag.

dst (L0C, NZ) = start + fm (L0A, ZZ; one row as it stands where m is 1) x filter (L0B, ZN), on pipe M. Elements of a
fractal beyond m, n and k take no part: they are neither read nor written. Not modelled: int4 (the API has no name for
it), the saturating float mode, the order of the additions inside a float sum.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...hw import unitflag
from ...hw.core import Core
from ...hw.errors import ArgumentValueError
from ...hw.findings import Site, author
from ...hw.instruction import Plan, Region
from .. import products
from ..core.dtype import DataType, bfloat16, float16, float32, int8, int32
from ..core.enums import TPosition
from ..core.limits import parameters, required
from ..core.place import Place, running
from ..core.types import MmadParams
from ..fractals import FRACTAL, NZ, SIDE, ZN, ZZ, Fractals, align_up, ceil_div
from ..matrices import index_pieces, unit_flag
from ..operand import aligned, local, typed
from ..plans import present, zero
from ..signatures import signatures

SIZE_LIMIT = 4095  # of m, n and k
ACCUMULATOR = 2 * FRACTAL  # bytes: 16 x 16 elements of 32 bits
CHAINED = 10  # blocks of 16 x 16 from which on the hardware orders an accumulation behind the one before it
SUMS: dict[DataType, DataType] = {float16: float32, bfloat16: float32, float32: float32, int8: int32}  # element, dst
_MMAD, _SPARSE = "mmad", "mmad_with_sparse"


def mmad(dst: Any, fm: Any, filter: Any, bias: Any = None, params: Any = None) -> None:
    """dst = start + fm x filter: m rows and k columns of A, k rows and n columns of B.

        mmad(dst, fm, filter, params)
        mmad(dst, fm, filter, bias, params)

    fm and filter: both float16, bfloat16 or float32 (dst float32), or both int8 (dst int32). dst lies in CO1, a
    multiple of 1024 bytes; fm in A2 and filter in B2, of 512. MmadParams: m, n, k 0 to 4095, of which 0 means that
    nothing is done. The start value is 0 where cmatrix_init_val is set and is_bias is not; else it is `bias` (n
    elements in C2, a multiple of 64 bytes, for every row; or a matrix in CO1), or without a bias operand what stands at
    byte 0 of C2 (cmatrix_source) or in dst. unit_flag: 0, 2 or 3. fm_offset, en_ssparse, en_winograd_a and
    en_winograd_b have no effect on this chip. With m = 1 the k elements of fm lie one after the other (GEMV).
    set_hf32_mode rounds float32 operands.

    An accumulation needs pipe_barrier(PIPE_M) after the multiply before it where (m // 16) * (n // 16) is below 10
    (NO_BARRIER_RAW). Faults: BAD_POSITION, BAD_DTYPE, MISALIGNED_ADDR, OOB_PHYS, UNITFLAG_MISMATCH; warnings: OOB_BUF,
    ZERO_LENGTH, UNINIT_READ. Types: float16, bfloat16, float32, int8. Page: Mmad.
    Device: the order of a float sum is not published, so its last bits may differ; here it is numpy's.
    """
    if params is None:
        bias, params = None, bias
    try:
        where = dst.place
        core = where.core
        table = None if bias is None else bias.place
        plan = where.plans[_MMAD, fm.place, filter.place, table, params.key, core.state.get("hf32")]
    except (AttributeError, KeyError, TypeError):
        site = author(1)
        core = running(_MMAD)
        plan = _plan(core, _MMAD, dst, fm, filter, bias, params, site)
        if plan is None:
            return
        table = None if bias is None else bias.place.live
        key = (_MMAD, fm.place.live, filter.place.live, table, params.key, core.state.get("hf32"))
        dst.place.live.keep(key, plan)
    flag = params.unit_flag
    if flag:
        unitflag.issue(core, plan, flag, author(1))
        return
    if core.marks:
        unitflag.plain(core, plan, author(1))
    core.issue(plan)


mmad.__overloads__ = signatures("dst, fm, filter, params", "dst, fm, filter, bias, params")  # type: ignore[attr-defined]


def mmad_with_sparse(dst: Any, fm: Any, filter: Any, mmad_params: Any) -> None:
    """dst = start + fm x filter, where filter is 4:2 compressed: int8 in, int32 out.

    `filter` holds k / 2 of the k rows; load_data_with_sparse has brought it, and its index along with it. Operands,
    MmadParams (k counts the uncompressed rows) and faults as mmad, without GEMV. Types: int8. Page: MmadWithSparse.
    Device: a second field that names an element in front of the first one's is no row of the page's table but (2, 0);
    here the first element counts again.
    """
    site = author(1)
    core = running(_SPARSE)
    plan = _plan(core, _SPARSE, dst, fm, filter, None, mmad_params, site)
    if plan is None:
        return
    unitflag.send(core, plan, mmad_params.unit_flag, site)


def _plan(core: Core, name: str, dst: Any, fm: Any, filter: Any, bias: Any, params: Any, site: Site) -> Plan | None:
    """The plan of a call; None where there is nothing to do."""
    parameters(name, params, MmadParams)
    to = local(core, dst, "dst", name, site, (TPosition.CO1,))
    left = local(core, fm, "fm", name, site, (TPosition.A2,))
    right = local(core, filter, "filter", name, site, (TPosition.B2,))
    typed(core, left, (int8,) if name is _SPARSE else tuple(SUMS), "fm", name, site)
    typed(core, right, (left.dtype,), "filter", name, site)
    typed(core, to, (SUMS[left.dtype],), "dst", name, site)
    table = None
    if bias is not None:
        table = local(core, bias, "bias", name, site, (TPosition.C2, TPosition.CO1))
        typed(core, table, (to.dtype,), "bias", name, site)
    if not present(core, to.memory, name, site):
        return None
    for where, what, align in ((to, "dst", ACCUMULATOR), (left, "fm", 0), (right, "filter", 0), (table, "bias", 0)):
        if where is not None:
            aligned(core, where, what, name, site, align)
    unit_flag(name, params.unit_flag)
    for what in ("m", "n", "k"):
        size = getattr(params, what)
        required(name, what, size, 0, SIZE_LIMIT)
        if not size:
            zero(core, what, name, site)
            return None
    return _Multiply(core, name, to, left, right, params, site).plan(table)


def multiply_plan(
    core: Core,
    to: Place,
    left: Place,
    right: Place,
    params: MmadParams,
    table: Place | None,
    site: Site,
    sparse: bool = False,
) -> Plan:
    """The plan of an mmad, or mmad_with_sparse, whose operands and parameters are known to be legal."""
    return _Multiply(core, _SPARSE if sparse else _MMAD, to, left, right, params, site).plan(table)


class _Multiply:
    """One multiply, while its plan is made."""

    def __init__(
        self, core: Core, name: str, to: Place, left: Place, right: Place, params: MmadParams, site: Site
    ) -> None:
        self.core, self.name, self.to, self.site, self.params = core, name, to, site, params
        self.dtype = left.dtype
        self.m, self.n, self.k = params.m, params.n, params.k
        self.pitch = ceil_div(self.m, SIDE) * ACCUMULATOR
        self.left, self.right = left, right
        self.scratch = products.scratch(core, products.work_type(self.dtype, self.k))
        self.taken = 0  # elements of the room for rows
        self.loads: list[Any] = []

    def region(self, where: Place, pieces: Any, what: str) -> Region:
        return where.region(pieces, what, self.name, self.site)

    def room(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Room for so many elements, in their own type and in that of the multiplication: one place for float32."""
        start, size_of = self.taken, self.dtype.size
        self.taken += size
        rows = self.scratch.rows[start : self.taken]
        if self.dtype is float32:
            return rows, rows
        return self.scratch.raw[start * size_of : self.taken * size_of].view(self.dtype.np), rows

    def rows(self, where: Place, tile: Fractals, axes: tuple[int, ...]) -> np.ndarray:
        """The matrix that a tile is brought into, its axes taken in this order: fractals, lines, fractals, lines."""
        assert where.memory is not None
        view = tile.view(where.memory).transpose(axes)
        high, wide = view.shape[0] * view.shape[1], view.shape[2] * view.shape[3]
        own, rows = self.room(high * wide)
        self.loads.append(products.loader(view, own))
        return rows.reshape(high, wide)

    def plan(self, table: Place | None) -> Plan:
        core, m, n, k, to = self.core, self.m, self.n, self.k, self.to
        sparse = self.name is _SPARSE
        if m == 1 and not sparse:
            reads = [self.region(self.left, ((self.left.start, ((k * self.dtype.size, 1),)),), "fm")]
            own, row = self.room(k)
            self.loads.append(partial(np.copyto, own, self.left.array(k)))
            a = row.reshape(1, k)
        else:
            grid = Fractals(self.left.start, self.dtype, m, k, ZZ)
            reads = [self.region(self.left, grid.pieces(), "fm")]
            a = self.rows(self.left, grid, (0, 1, 2, 3))[:m, :k]
        kept = ceil_div(k, 2) if sparse else k
        grid = Fractals(self.right.start, self.dtype, kept, n, ZN)
        reads.append(self.region(self.right, grid.pieces(), "filter"))
        b = self.rows(self.right, grid, (2, 3, 0, 1))[:n, :kept].T
        whole, self.taken = self.taken, 0
        own, rows = self.room(whole)  # both at once
        self.loads += products.widened(own, self.dtype, rows, core.state.get("hf32"))
        if sparse:
            b = self.dense(grid, b)
            lines = align_up(2 * ceil_div(k, 4), 4)
            fields = index_pieces(Fractals(self.right.start, self.dtype, lines, n, ZN).pieces())
            reads.append(core.region("IX", fields, f"{self.name}: index of filter", self.site))
        target = Fractals(to.start, to.dtype, m, n, NZ, SIDE)
        write = self.region(to, target.pieces(), "dst")
        starts = self.starts(table, reads, write)
        product = self.scratch.product[: m * n].reshape(m, n)
        assert to.memory is not None
        columns = products.columns_of(to.memory.bytes.data, to.dtype, to.start, m, n, self.pitch)
        sums: list[Any] = []
        if starts is not None:
            added = products.columns_like(columns, self.scratch.columns)
            sums, columns = list(zip(starts, added, columns, strict=True)), added
        targets = products.parts(product, columns)
        run: Any = partial(products.multiply, self.loads, a, b, product, targets, sums, to.dtype is int32)
        cycles = core.device.cost.mmad(m, n, k, self.dtype.name, core.state.get("hf32") is not None, sparse)
        big = (m // SIDE) * (n // SIDE) >= CHAINED
        return Plan(self.name, core.pipes["M"], reads, (write,), run, cycles, chained=big)

    def dense(self, grid: Fractals, kept: np.ndarray) -> np.ndarray:
        """The matrix behind the compressed one."""
        out = np.empty((4 * ceil_div(self.k, 4), self.n), kept.dtype)
        fields = products.fields_of(self.core.memories["IX"].bytes, grid)
        self.loads.append(partial(products.expand, out, kept, fields))
        return out[: self.k]

    def starts(self, table: Place | None, reads: list[Region], write: Region) -> list[np.ndarray] | None:
        """Views of the start value, None for 0; what is read for it joins `reads`."""
        params, to, m, n = self.params, self.to, self.m, self.n
        if params.cmatrix_init_val and (table is not None or not params.is_bias):  # a call with a bias takes no is_bias
            if table is not None:
                raise ArgumentValueError(
                    self.name,
                    "lets the multiply start from 0, so that the bias has no effect",
                    operand="cmatrix_init_val",
                    value=True,
                    rule="False where a bias is given",
                )
            return None
        assert to.memory is not None
        if table is None and not params.cmatrix_source:
            reads.append(write)
            return products.columns_of(to.memory.bytes.data, to.dtype, to.start, m, n, self.pitch)
        if table is not None and table.position is TPosition.CO1:
            pieces = Fractals(table.start, to.dtype, m, n, NZ, SIDE).pieces()
            reads.append(self.region(table, pieces, "bias"))
            return products.columns_of(to.memory.bytes.data, to.dtype, table.start, m, n, self.pitch)
        bias = self.core.memories["BT"]
        start = 0 if table is None else table.start
        pieces = ((start, ((n * to.dtype.size, 1),)),)
        if table is None:
            reads.append(self.core.region("BT", pieces, f"{self.name}: bias", self.site))
        else:
            reads.append(self.region(table, pieces, "bias"))
        return products.columns_of(bias.bytes.data, to.dtype, start, m, n, SIDE * to.dtype.size, row=0)


__all__ = ["mmad", "mmad_with_sparse"]
