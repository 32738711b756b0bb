"""Loads from L1 that are not plain fractals: transposed squares, a sparse tile with its index. Pages:
LoadDataWithTranspose, LoadDataWithSparse.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...hw.core import Core
from ...hw.errors import NotSimulatedError
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from ..core.dtype import bfloat16, float16, float32, int8, int32, uint8, uint32
from ..core.enums import TPosition
from ..core.limits import parameters
from ..core.place import L1_POSITIONS, Place, report, running
from ..core.types import LoadData2DParams, LoadData2dTransposeParams, LoadData2dTransposeParamsV2
from ..fractals import BLOCK, FRACTAL
from ..matrices import index_pieces
from ..moves import Side, move_plan
from ..operand import aligned, local, typed
from ..plans import present, zero
from ..signatures import signatures
from .load_operands import places

_TURN, _SPARSE = "load_data_with_transpose", "load_data_with_sparse"
INDEX = 128  # bytes of the index of a fractal: two bits an element
_TURNED = (int8, uint8, float16, bfloat16, int32, uint32, float32)
_B2 = frozenset((TPosition.B2,))


def load_data_with_transpose(dst: Any, src: Any, params: Any) -> None:
    """Load squares of fractals from L1 (A1, B1) to L0A or L0B (A2, B2), each transposed, one a repeat. On MTE1.

        load_data_with_transpose(dst, src, params)

    A square: 8-bit types 32 x 32 (two fractals), 16-bit types 16 x 16 (one), 32-bit types 16 x 16 (two fractals of 16
    x 8 side by side). LoadData2dTransposeParams: the first square is start_index; sources are src_stride squares apart
    from start to start (addr_mode 1: towards lower ones); the fractals of a square go dst_frac_gap fractals apart, from
    end to start (16-bit types have one), the first fractals of repeats dst_gap apart; repeat_times 0 to 255.

    L0A and L0B operands lie at multiples of 512 bytes, L1 ones of 32. Types: int8, uint8, float16, bfloat16, int32,
    uint32, float32; one for both. Faults: BAD_DTYPE, BAD_POSITION, MISALIGNED_ADDR, OOB_PHYS; warnings: OOB_BUF,
    ZERO_LENGTH. LoadData2dTransposeParamsV2 belongs to other chips. Page: LoadDataWithTranspose.
    """
    try:
        where = dst.place
        plan = where.plans[_TURN, src.place, params.key]
        core = where.core
    except (AttributeError, KeyError, TypeError):
        site = author(1)
        core = running(_TURN)
        if isinstance(params, LoadData2dTransposeParamsV2):
            rule = "this one has LoadData2dTransposeParams"
            raise NotSimulatedError(_TURN, f"LoadData2dTransposeParamsV2 belongs to other chips; {rule}") from None
        parameters(_TURN, params, LoadData2dTransposeParams)
        _transposed(core, dst, src, params, site)
        return
    core.issue(plan)


def _transposed(core: Core, dst: Any, src: Any, params: LoadData2dTransposeParams, site: Site) -> None:
    if not params.repeat_times:
        zero(core, "repeat_times", _TURN, site)
        return
    found = places(core, _TURN, dst, src, site, _TURNED)
    if found is not None:
        plan = _turned_plan(core, *found, params, site)
        found[0].keep((_TURN, found[1], params.key), plan)
        core.issue(plan, site)


def _turned_plan(core: Core, to: Place, source: Place, params: LoadData2dTransposeParams, site: Site) -> Plan:
    size, count = to.dtype.size, params.repeat_times
    square = FRACTAL if size == 2 else 2 * FRACTAL
    step = params.src_stride * square * (-1 if params.addr_mode else 1)
    first = source.start + params.start_index * square
    between, apart = (params.dst_gap + 1) * FRACTAL, (params.dst_frac_gap + 1) * FRACTAL
    if size != 2 and count > 1 and not _apart(count, between, apart):
        text = f"dst_gap = {params.dst_gap} with dst_frac_gap = {params.dst_frac_gap}: fractals of dst coincide"
        report(core, "BAD_STRIDE", f"{text}; rule: they lie apart", site, _TURN)
    # (count, stride of dst, stride of src) of the transposed square's rows and columns
    if size == 1:  # a row of the square has 32 elements, 16 of its columns become a fractal's rows
        steps = [(2, apart, 16), (16, BLOCK, 1), (32, 1, BLOCK)]
    elif size == 2:
        steps = [(16, BLOCK, 2), (16, 2, BLOCK)]
    else:  # fractal b, row 8a + i, column j goes to fractal a, row 8b + j, column i
        steps = [(2, 8 * BLOCK, FRACTAL), (2, apart, 8 * BLOCK), (8, BLOCK, 4), (8, 4, BLOCK)]
    dims_to = ((count, between), *((n, a) for n, a, _ in steps))
    dims_from = ((count, step), *((n, b) for n, _, b in steps))
    assert to.memory is not None
    cycles = core.device.cost.load_l0(to.memory.name, count * square)
    target, origin = Side(to, to.start, dims_to, size), Side(source, first, dims_from, size)
    return move_plan(core, _TURN, "MTE1", target, origin, cycles, site)


def _apart(count: int, between: int, apart: int) -> bool:
    """Whether the fractals of all squares are different ones."""
    return apart % between != 0 or apart // between >= count


load_data_with_transpose.__overloads__ = signatures("dst, src, params")  # type: ignore[attr-defined]


def load_data_with_sparse(dst: Any, src: Any, idx: Any, load_data_params: Any) -> None:
    """Load fractals of a 4:2 compressed matrix from L1 to L0B, and their index to the cube's index buffer. On MTE1.

        load_data_with_sparse(dst, src, idx, load_data_params)

    dst int8 in B2; src int8 and idx uint8 in L1. LoadData2DParams: start_index and repeat_times as in load_data, with
    fractals one after the other; the other fields have no effect. The index has 128 bytes a fractal, two bits an
    element, low bits first; it goes where mmad_with_sparse looks for it, a quarter of dst's place. Page:
    LoadDataWithSparse.
    """
    site = author(1)
    core = running(_SPARSE)
    parameters(_SPARSE, load_data_params, LoadData2DParams, operand="load_data_params")
    if not load_data_params.repeat_times:
        zero(core, "repeat_times", _SPARSE, site)
        return
    places_ = []
    for name, tensor, positions, dtype in (
        ("dst", dst, _B2, int8),
        ("src", src, L1_POSITIONS, int8),
        ("idx", idx, L1_POSITIONS, uint8),
    ):
        where = local(core, tensor, name, _SPARSE, site, positions)
        typed(core, where, (dtype,), name, _SPARSE, site)
        if not present(core, where.memory, _SPARSE, site):
            return
        aligned(core, where, name, _SPARSE, site)
        places_.append(where)
    to, source, index = places_
    key = (_SPARSE, source, index, load_data_params.key)
    plan = to.plans.get(key) or to.keep(key, sparse_plan(core, to, source, index, load_data_params, site))
    core.issue(plan, site)


def sparse_plan(core: Core, to: Place, source: Place, index: Place, params: LoadData2DParams, site: Site) -> Plan:
    """The plan of a load whose operands and parameters are known to be legal."""
    count, first = params.repeat_times, params.start_index
    sides = (
        (to, to.start, FRACTAL),
        (source, source.start + first * FRACTAL, FRACTAL),
        (index, index.start + first * INDEX, INDEX),
    )
    regions = [
        where.region(((start, ((count * unit, 1),)),), name, _SPARSE, site)
        for (where, start, unit), name in zip(sides, ("dst", "src", "idx"), strict=True)
    ]
    regions.insert(1, core.region("IX", index_pieces(regions[0].pieces), f"{_SPARSE}: index of dst", site))
    ends = [(region.pieces[0][0], region.end) for region in regions]
    memories = [region.memory for region in regions]
    views, known = (
        [array[a:b] for array, (a, b) in zip(arrays, ends, strict=True)]
        for arrays in ([m.bytes for m in memories], [m.defined for m in memories])
    )
    cycles = core.device.cost.load_l0("L0B", count * FRACTAL)
    run, carry = partial(_move_sparse, views), partial(_move_sparse, known)
    return Plan(_SPARSE, core.pipes["MTE1"], regions[2:], regions[:2], run, cycles, carry=carry)


def _move_sparse(views: list[np.ndarray]) -> None:
    to, held, source, index = views
    to[...] = source
    held[...] = index


__all__ = ["load_data_with_sparse", "load_data_with_transpose"]
