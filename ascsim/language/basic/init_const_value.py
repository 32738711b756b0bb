"""init_const_value: a part of L1, L0A or L0B filled with one value. Page: Fill."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...hw.core import Core
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from ..core.dtype import bfloat16, float16, float32, int16, int32, uint16, uint32
from ..core.ir_value import value
from ..core.limits import parameters, within
from ..core.place import L0_POSITIONS, L1_POSITIONS, Place, running
from ..core.types import InitConstValueParams
from ..fractals import BLOCK, FRACTAL
from ..moves import Side
from ..operand import aligned, local, typed
from ..plans import present, zero

NAME = "init_const_value"
TYPES = (int16, uint16, float16, bfloat16, int32, uint32, float32)
LIMIT = 32767  # of every count


def init_const_value(dst: Any, init_const_value_params: Any) -> None:
    """Fill blocks of L1 (on MTE2), L0A or L0B (on MTE1) with a value.

        init_const_value(dst, init_const_value_params)

    InitConstValueParams: repeat_times runs of block_num blocks, with dst_gap blocks between two runs, each 0 to 32767;
    a block has 32 bytes in L1, 512 in L0A and L0B; init_value in the type of dst. A count of 0: nothing is done.
    Operands lie at multiples of 32 bytes in L1, of 512 in L0A and L0B. Types: int16, uint16, float16, bfloat16, int32,
    uint32, float32. Faults: BAD_DTYPE, BAD_POSITION, BAD_STRIDE, MISALIGNED_ADDR, OOB_PHYS; warnings: OOB_BUF,
    ZERO_LENGTH. Page: Fill.
    """
    site = author(1)
    core = running(NAME)
    params = init_const_value_params
    parameters(NAME, params, InitConstValueParams, operand="init_const_value_params")
    where = local(core, dst, "dst", NAME, site, L0_POSITIONS | L1_POSITIONS)
    typed(core, where, TYPES, "dst", NAME, site)
    for name in ("repeat_times", "block_num", "dst_gap"):
        given = within(core, "BAD_STRIDE", name, getattr(params, name), 0, LIMIT, NAME, site)
        if not given and name != "dst_gap":
            zero(core, name, NAME, site)
            return
    if not present(core, where.memory, NAME, site):
        return
    aligned(core, where, "dst", NAME, site)
    key = (NAME, params.key)
    core.issue(where.plans.get(key) or where.keep(key, _plan(core, where, params, site)), site)


def _plan(core: Core, where: Place, params: InitConstValueParams, site: Site) -> Plan:
    in_l0 = where.position in L0_POSITIONS
    block, size = FRACTAL if in_l0 else BLOCK, where.dtype.size
    length = params.block_num * block
    dims = ((params.repeat_times, length + params.dst_gap * block), (length // size, size))
    side = Side(where, where.start, dims, size)
    region = where.region((side.piece(),), "dst", NAME, site)
    number = where.dtype.np.type(value(params.init_value, where.dtype, "init_value").v)
    run = partial(np.copyto, side.view(region.memory.bytes, where.dtype.np), number)
    nbytes = params.repeat_times * length
    cost = core.device.cost
    cycles = cost.load_l0(region.memory.name, nbytes) if in_l0 else cost.load(nbytes)
    return Plan(NAME, core.pipes["MTE1" if in_l0 else "MTE2"], (), (region,), run, cycles)


__all__ = ["init_const_value"]
