"""load_data: fractals from L1 or global memory to L0A, L0B and L1. Pages: LoadData (2D), LoadData (GM to L1, 2D).

The image-to-column forms (LoadData3DParams...) stand in `load_data_3d`.
"""

from __future__ import annotations

from typing import Any

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, ArgumentValueError, NotSimulatedError
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from .. import copies
from ..core.global_tensor import GlobalTensor
from ..core.place import L0_POSITIONS, L1_POSITIONS, Place, report, running
from ..core.types import (
    LoadData2DParams,
    LoadData2DParamsV2,
    LoadData3DParamsV1,
    LoadData3DParamsV2,
    LoadData3DParamsV2Pro,
)
from ..fractals import BLOCK, FRACTAL, SIDE
from ..moves import Side, move_plan
from ..operand import local, typed
from ..paths import load
from ..plans import zero
from ..signatures import signatures
from .load_data_3d import columns
from .load_operands import TYPES, places

NAME = "load_data"


def load_data(dst: Any, src: Any, params: Any) -> None:
    """Load fractals of 512 bytes, one a repeat.

        load_data(dst, src, params)

    LoadData2DParams: from L1 (A1, B1) to L0A or L0B (A2, B2) on MTE1; from global memory to L0A, L0B or L1 on MTE2.
    The first fractal is start_index; sources are src_stride apart from start to start (0: the same again),
    destinations dst_gap from end to start, all in fractals; repeat_times 0 to 255. if_transpose: each fractal of 16 x
    16 elements of 16 bits is transposed, from L1 only. addr_mode 1: towards lower sources, from global memory to L1
    only. sid has no effect.

    LoadData3DParamsV2: m_extension rows from m_start_pt and k_extension columns from k_start_pt of the column matrix of
    a feature map (`columns`) in L1, l1_h by l1_w pixels of channel_size channels; to L0A in ZZ order, with en_transpose
    the transposed matrix (types of 16 and 32 bits), to L0B in ZN order, never 8-bit types; MTE1. LoadData3DParamsV2Pro:
    the same from packed words, the feature map as the last load set it. Other structures belong to other chips.

    L0A and L0B operands lie at multiples of 512 bytes, L1 ones of 32. Types: int8, uint8, int16, uint16, float16,
    bfloat16, int32, uint32, float32; one for both. Faults: BAD_DTYPE, BAD_POSITION, MISALIGNED_ADDR, OOB_PHYS, OOB_GM;
    warnings: OOB_BUF, ZERO_LENGTH. Pages: LoadData (2D), LoadData (3D).
    """
    try:
        where = dst.place
        plan = where.plans[NAME, src.place, params.__class__, params.key]
        core = where.core
    except (AttributeError, KeyError, TypeError):
        site = author(1)
        core = running(NAME)
        form = FORMS.get(params.__class__)
        if form is None:
            raise ArgumentTypeError(
                NAME, "is no parameter object", operand="params", value=params, rule="LoadData2DParams ..."
            ) from None
        form(core, dst, src, params, site)
        return
    core.issue(plan)


load_data.__overloads__ = signatures("dst, src, params")  # type: ignore[attr-defined]


def _fractals(core: Core, dst: Any, src: Any, params: LoadData2DParams, site: Site) -> None:
    """LoadData2DParams."""
    if not params.repeat_times:
        zero(core, "repeat_times", NAME, site)
    elif isinstance(src, GlobalTensor):
        _from_global(core, dst, src, params, site)
    else:
        _only(params, "addr_mode", 0, "from global memory to L1")
        found = places(core, NAME, dst, src, site)
        if found is not None:
            plan = _plan(core, *found, params, site)
            found[0].keep((NAME, found[1], LoadData2DParams, params.key), plan)
            core.issue(plan, site)


def _only(params: LoadData2DParams, name: str, default: int, where: str) -> None:
    given = getattr(params, name)
    if given != default:
        rule = f"{default} but {where}"
        raise ArgumentValueError(NAME, "has no effect here", operand=name, value=given, rule=rule, nearest=default)


def _plan(core: Core, to: Place, source: Place, params: LoadData2DParams, site: Site) -> Plan:
    count, size = params.repeat_times, FRACTAL
    inside: tuple[tuple[int, int], ...] = ()
    across = inside
    if params.if_transpose:
        size = to.dtype.size
        if size != 2:
            text = f"if_transpose with {to.dtype}; rule: a type of 16 bits; load_data_with_transpose takes others"
            report(core, "BAD_DTYPE", text, site, NAME)
        inside, across = ((SIDE, BLOCK), (SIDE, size)), ((SIDE, size), (SIDE, BLOCK))
    first = source.start + params.start_index * FRACTAL
    dst = Side(to, to.start, ((count, (params.dst_gap + 1) * FRACTAL), *inside), size)
    src = Side(source, first, ((count, params.src_stride * FRACTAL), *across), size)
    assert to.memory is not None
    cycles = core.device.cost.load_l0(to.memory.name, count * FRACTAL)
    return move_plan(core, NAME, "MTE1", dst, src, cycles, site)


def _from_global(core: Core, dst: Any, src: GlobalTensor, params: LoadData2DParams, site: Site) -> None:
    _only(params, "if_transpose", False, "from L1")
    to = local(core, dst, "dst", NAME, site, L0_POSITIONS | L1_POSITIONS)
    typed(core, to, TYPES, "dst", NAME, site)
    if to.position in L0_POSITIONS:
        _only(params, "addr_mode", 0, "from global memory to L1")
    start, step, count = params.start_index, params.src_stride, params.repeat_times
    if params.addr_mode:
        start -= step * (count - 1)
    backwards = bool(params.addr_mode)
    moves = copies.Moves(FRACTAL, (params.dst_gap + 1) * FRACTAL, step * FRACTAL, count, backwards=backwards)
    load(core, NAME, dst, src[start * FRACTAL // src.dtype.size :], moves, site, (LoadData2DParams, params.key))


def _other_chip(core: Core, dst: Any, src: Any, params: Any, site: Site) -> None:
    raise NotSimulatedError(NAME, f"{type(params).__name__} belongs to other chips; this one has {_OURS}")


_OURS = "LoadData2DParams, LoadData3DParamsV2 and LoadData3DParamsV2Pro"
FORMS: dict[type, Any] = {
    LoadData2DParams: _fractals,
    LoadData2DParamsV2: _other_chip,
    LoadData3DParamsV1: _other_chip,
    LoadData3DParamsV2: columns,
    LoadData3DParamsV2Pro: columns,
}

__all__ = ["load_data"]
