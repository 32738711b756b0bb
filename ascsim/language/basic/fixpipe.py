"""Copies out of L0C to global memory or L1, converted on the way: fixpipe, data_copy with DataCopyCO12DstParams.

Pages: Fixpipe and DataCopy (L0C to GM, L0C to L1), NZ2ND, NZ2NZ, F32 channel split, int8 channel merge,
SetFixpipePreQuantFlag, UnitFlag. On pipe FIX. A vector of scales is read from L1 by the same instruction, which the
vendor's library brings to the fixpipe buffer first; nothing else is known to use that buffer. Not simulated: the
registers that the API has no name for (vector scales and ND layout of data_copy).
"""

from __future__ import annotations

from types import FunctionType, MethodType
from typing import Any

from ...hw import unitflag
from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, ArgumentValueError, NotSimulatedError
from ...hw.findings import Site, author
from ...hw.global_memory import GlobalArray
from ..core.enums import CO2Layout
from ..core.global_tensor import GlobalTensor
from ..core.place import index, report, running
from ..core.types import DataCopyCO12DstParams, FixpipeConfig, FixpipeParamsV220
from ..fractals import BLOCK
from ..l0c import Move, Steps, steps_of
from ..matrices import unit_flag
from ..paths import past_buffer
from ..quantization import MODES
from ..signatures import signatures


def fixpipe(dst: Any, src: Any, cbuf_workspace: Any = None, params: Any = None, config: Any = None) -> None:
    """dst = src, m_size rows and n_size columns of accumulators, converted on the way.

        fixpipe(dst, src, params, config)
        fixpipe(dst, src, cbuf_workspace, params, config)    a scale for each column

    src: float32 or int32 in CO1, a multiple of 64 bytes; dst: global memory, or with the NZ layout A1, B1 or C1.
    FixpipeParamsV220: n_size 0 to 4095, for NZ a multiple of 16 (with is_channel_split of 8); m_size 0 to 65535 (8192
    in row-major layout); src_stride between columns of fractals in 64 bytes, a multiple of 16 and not below m_size;
    dst_stride in elements of a row, for NZ in 32-byte blocks between columns of fractals. quant_pre: NoQuant (types
    alike, not to L1), F322F16, F322BF16; DEQF16 (int32 to float16), QF322B8_PRE (float32 to 8 bits), REQ8 (int32 to 8
    bits) by the word deq_scalar; VDEQF16, VQF322B8_PRE, VREQ8 by n_size words of cbuf_workspace (uint64 in L1; on FIX:
    order it behind its load by MTE2_FIX).
    relu_en: negative values become 0. unit_flag: 0, 2 or 3. nd_num row-major matrices: src_nd_stride 1 to 512 fractals
    of 1024 bytes, dst_nd_stride in elements. is_channel_split: NZ columns of 8 float32. 8-bit NZ has columns of 32, the
    last 16 apart. config: FixpipeConfig (row-major if not given).

    A call to global memory starts when the fixpipes before it have ended. Stores update under set_atomic_*. Faults:
    BAD_POSITION, BAD_DTYPE, BAD_STRIDE, MISALIGNED_ADDR, OOB_*, UNITFLAG_MISMATCH; warnings: OOB_BUF, ZERO_LENGTH,
    UNINIT_READ. Types: float32, int32. Page: Fixpipe.
    Device: what lies beyond float16 or bfloat16 follows the saturation mode of a control register; here it becomes an
    infinity, and saturates where there is a scale.
    """
    if cbuf_workspace.__class__ is FixpipeParamsV220:
        cbuf_workspace, params, config = None, cbuf_workspace, params if config is None else config
    site = author(1)
    core = running("fixpipe")
    layout = _layout(config)
    try:
        target = dst.dtype if dst.__class__ is GlobalTensor else dst.place
        key: Any = (params.key, layout, None if cbuf_workspace is None else cbuf_workspace.place, target)
        steps = src.place.stores.get(("fixpipe", core.atomic, key))
    except AttributeError:
        key, steps = None, None
    if steps is None:
        move = _move(params, layout, cbuf_workspace is not None)
        steps = steps_of(core, move, dst, src, cbuf_workspace, site)
        if steps is None:
            return
        if core.told:
            core.told = False  # as in `Place.keep`
        else:
            src.place.live.stores["fixpipe", core.atomic, key] = steps
    if MODES[params.quant_pre].scales == "scalar":
        core.state["quant_pre"] = params.deq_scalar
    if layout is CO2Layout.ROW_MAJOR:
        core.state["nd_para"] = params.nd_num, params.src_nd_stride, params.dst_nd_stride
    if dst.__class__ is GlobalTensor or cbuf_workspace is not None:
        core.barrier(core.pipes["FIX"], site)
    _send(core, steps, dst, params.unit_flag, layout is not CO2Layout.ROW_MAJOR, "fixpipe", site)


fixpipe.__overloads__ = signatures(  # type: ignore[attr-defined]
    "dst, src, params, config=None", "dst, src, cbuf_workspace, params, config=None"
)


def set_fix_pipe_pre_quant_flag(config: Any) -> None:
    """The word of scale, offset and sign for later data_copy calls out of L0C. Page: SetFixpipePreQuantFlag."""
    core = running("set_fix_pipe_pre_quant_flag")
    core.state["quant_pre"] = index(config, "set_fix_pipe_pre_quant_flag", "config") & ((1 << 64) - 1)


def copy_out(core: Core, dst: Any, src: Any, params: DataCopyCO12DstParams, site: Site) -> None:
    """data_copy out of L0C: as fixpipe without unit flag and barrier, with scale and ND layout from registers."""
    mode, name = params.quant_pre, "data_copy"
    scale = 0
    if MODES[mode].scales == "vector":
        raise NotSimulatedError(
            name, "the API has no name for the register that takes the vector of scales", rule="fixpipe", value=mode
        )
    if MODES[mode].scales:
        if "quant_pre" not in core.state:
            rule = "set_fix_pipe_pre_quant_flag before it"
            raise ArgumentValueError(name, "has no scale", operand="quant_pre", value=mode, rule=rule)
        scale = core.state["quant_pre"]
    many = (1, 0, 0)
    if params.nz2nd_en:
        if "nd_para" not in core.state:
            text = "the API has no name for the register of the row-major layout, and no fixpipe has set it"
            raise NotSimulatedError(name, text, operand="nz2nd_en", value=True, rule="fixpipe")
        many = core.state["nd_para"]
    move = Move(
        name, params.n_size, params.m_size, params.src_stride, params.dst_stride, mode, scale, bool(params.relu_pre),
        params.channel_split, params.nz2nd_en, *many,
    )  # fmt: skip
    steps = steps_of(core, move, dst, src, None, site)
    if steps is not None:
        core.told = False
        _send(core, steps, dst, 0, not params.nz2nd_en, name, site)


def _layout(config: Any) -> CO2Layout:
    """The layout that a call asks for: a FixpipeConfig, a function that gives one, or nothing."""
    if config is None:
        return CO2Layout.ROW_MAJOR
    given = config() if isinstance(config, (FunctionType, MethodType)) else config
    if not isinstance(given, FixpipeConfig):
        raise ArgumentTypeError("fixpipe", operand="config", value=config, rule="a FixpipeConfig")
    if given.layout is CO2Layout.COLUMN_MAJOR:
        rule = "NZ or ROW_MAJOR"
        raise ArgumentValueError("fixpipe", "is of another chip", operand="layout", value=given.layout, rule=rule)
    return given.layout


def _move(params: Any, layout: CO2Layout, vector: bool) -> Move:
    if not isinstance(params, FixpipeParamsV220):
        raise ArgumentTypeError("fixpipe", operand="params", value=params, rule="a FixpipeParamsV220")
    unit_flag("fixpipe", params.unit_flag)
    if params.unit_flag and params.is_channel_split:
        raise ArgumentValueError("fixpipe", operand="unit_flag", value=params.unit_flag, rule="0 with a channel split")
    needs = MODES[params.quant_pre].scales
    if vector is not (needs == "vector"):
        rule = "cbuf_workspace goes with VDEQF16, VQF322B8_PRE and VREQ8, and they with it"
        raise ArgumentValueError("fixpipe", operand="quant_pre", value=params.quant_pre, rule=rule)
    row_major = layout is CO2Layout.ROW_MAJOR
    many = (params.nd_num, params.src_nd_stride, params.dst_nd_stride) if row_major else (1, 0, 0)
    return Move(
        "fixpipe", params.n_size, params.m_size, params.src_stride, params.dst_stride, params.quant_pre,
        params.deq_scalar, params.relu_en, params.is_channel_split, row_major, *many,
    )  # fmt: skip


def _send(core: Core, steps: Steps, dst: Any, flag: int, fractal: bool, name: str, site: Site) -> None:
    """Issue the instructions of a call."""
    array: GlobalArray | None = None
    at = 0
    if dst.__class__ is GlobalTensor:
        window, at = dst.window, dst.start
        array = window.array
        assert array is not None
        if fractal and at % BLOCK:
            text = f"dst starts at byte {at} of {array.name!r}; rule: a multiple of 32 where the layout is NZ"
            report(core, "MISALIGNED_ADDR", text, site, name)
        past_buffer(core, window, at + steps.span, "dst", name, site)
        core.told = False  # no plan of these is kept
    for plan, offset in steps.plans:
        unitflag.send(core, plan, flag, site, array, at + offset)


__all__ = ["fixpipe", "set_fix_pipe_pre_quant_flag"]
