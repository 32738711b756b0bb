"""softmax of the rows of [m, k]. Page: SoftMax.

One instruction of the vector pipe here, a program of seven steps on the device, of which the price is the sum.
Values, layouts and what is not modelled: `softmax_rows`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...hw.findings import author
from ...hw.instruction import Plan
from ..core.dtype import float16, float32
from ..core.place import Place, index, running
from ..masks import ALL_LANES
from ..operand import BLOCK
from . import softmax_rows as sm
from .calls import packed, planned
from .scratch import BUFFER, key
from .tiling import SoftmaxTiling

NAME = "adv.softmax"
_OPERANDS = {"dst": (True, True), "sum": (False, True), "max": (False, True), "src": (True, False)}
_TYPES = ((float16,) * 4, (float32,) * 4, (float16, float32, float32, float16))
_STEPS = "reduce broadcast sub exp reduce broadcast div"


def softmax(
    dst: Any,
    sum: Any,
    max: Any,
    src: Any,
    tiling: Any,
    temp_buffer: Any = None,
    reuse_source: Any = False,
    basic_block: Any = False,
    data_format_nz: Any = False,
) -> None:
    """dst = exp(src - max) / sum, where max and sum are those of a row and of its exponentials.

    The shape is the one set on src (`set_shape_info`): the last axis is a row of a multiple of 32 bytes, of which the
    original shape says how much counts; what dst then has behind it is undefined. `sum` and `max` get 32 bytes a row,
    the row's value throughout. dst may start where src does. Types: all float16, all float32, or float32 for sum and
    max only. `tiling`: a SoftmaxTiling of this shape; of another shape it is made anew, as on the device.
    `temp_buffer`: uint8 scratch, undefined afterwards; without one the free memory of the TPipe serves.
    `basic_block` promises rows of 256 bytes to 2047 elements, a multiple of 64, all of which count, and a multiple of 8
    of them. `data_format_nz`: src and dst lie in fractals of 16 by 16 elements (NZ), and basic_block has no effect;
    m and k are multiples of 16, all of the padding of k lies in the last column of fractals, and only the rows of the
    original shape are written.
    reuse_source has no effect. Faults: BAD_*, MISALIGNED_ADDR, OVERLAP_PARTIAL, OOB_PHYS, MEM_OVERFLOW; warnings:
    OOB_BUF, UNINIT_READ. Page: SoftMax.
    Device: the exponential is correctly rounded here, its last bit may differ there; halves are rounded with ties away
    from zero, as the vendor's implementation does.
    """
    site = author(1)
    core = running(NAME)
    index(reuse_source, NAME, "reuse_source")
    nz = bool(index(data_format_nz, NAME, "data_format_nz"))
    basic = bool(index(basic_block, NAME, "basic_block")) and not nz
    tensors = tuple(zip(_OPERANDS, (dst, sum, max, src), strict=True))
    given = (packed(NAME, tiling, SoftmaxTiling), sm.attached(src), nz, basic, key(core, temp_buffer, NAME))

    def make(places: list[Place]) -> Plan:
        rows = sm.rows_of(NAME, sm.shape_of(NAME, src, "src"), places[3].dtype, "src", nz, basic)
        if basic:
            sm.all_count(NAME, rows)
        sm.agrees(NAME, tiling, rows)
        named = [sm.Operand(name, where, *_OPERANDS[name]) for name, where in zip(_OPERANDS, places, strict=True)]
        least = 4 * (sm.C0 + rows.k if nz else BLOCK // places[3].dtype.size + rows.k + sm.LANES)
        run = partial(_compute, [sm.view_of(operand, rows) for operand in named], rows, basic)
        room = (least, least * rows.lines)
        return sm.plan(core, NAME, named, (("dst", "src"),), rows, room, (BUFFER, temp_buffer), run, _STEPS, site)

    plan = planned(core, NAME, tensors, _TYPES, given, make, site)
    if plan is not None:
        core.mask = ALL_LANES
        core.issue(plan, site)


def _compute(views: list[np.ndarray], rows: sm.Rows, basic: bool) -> None:
    dst, total, peak, src = views
    power, row = sm.exponentials(total, peak, src, rows, repeats=basic, special=False)
    sm.put(dst, rows, power / row)


__all__ = ["softmax"]
