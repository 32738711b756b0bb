"""Copies between global memory and a local one, inside UB, and from L1 to the bias table.

Pages: DataCopy (GM and UB contiguous; strided; slices; UB to UB; GM to L1; L1 to GM; L1 to bias table), DataCopyPad,
SetPadValue. A copy moves whole 32-byte blocks, data_copy_pad single bytes on the global side. Masks never apply.
Which memories are joined stands in `paths`, copies that make fractals in `data_copy_nd2nz`.
"""

from __future__ import annotations

from typing import Any

from ...hw.core import PLAIN_STORE
from ...hw.errors import ArgumentTypeError, NotSimulatedError
from ...hw.findings import Site, author
from ...hw.instruction import ANY
from .. import copies
from ..core.enums import TPosition
from ..core.global_tensor import GlobalTensor
from ..core.ir_value import Int32, unwrap
from ..core.limits import buffered, parameters
from ..core.place import BLOCK, index, report, running
from ..core.tensor import LocalTensor
from ..core.types import (
    DataCopyCO12DstParams,
    DataCopyEnhancedParams,
    DataCopyExtParams,
    DataCopyPadExtParams,
    DataCopyPadParams,
    DataCopyParams,
    Nd2NzParams,
    Nz2NdParamsFull,
)
from ..paths import EXACT, THROUGH_GM, way
from ..plans import zero
from ..signatures import signatures
from ..slices import moves_of_slices
from .data_copy_nd2nz import nd2nz, nz2nd
from .fixpipe import copy_out


def data_copy(
    dst: Any,
    src: Any,
    count: Any = None,
    enhanced_params: Any = None,
    dim_value: Any = None,
    repeat_params: Any = None,
    intri_params: Any = None,
    slice_list1: Any = None,
    slice_list2: Any = None,
) -> None:
    """Copy between global memory and UB or L1, inside UB, or from L1 to the bias table.

        data_copy(dst, src, count)
        data_copy(dst, src, repeat_params)
        data_copy(dst, src, repeat_params, enhanced_params)
        data_copy(dst, src, slice_list1, slice_list2, dim_value)
        data_copy(dst, src, intri_params)                            Nd2NzParams, Nz2NdParamsFull, DataCopyCO12DstParams

    `count`: elements; their bytes are rounded down to whole 32-byte blocks (warning MISALIGNED_LEN). `repeat_params`:
    DataCopyParams: block_count 0 to 4095 blocks of block_len, with gaps src_stride and dst_stride, all three in 32-byte
    blocks. `enhanced_params`, a DataCopyEnhancedParams, changes nothing on these chips, whatever it says. Slices: lists
    of SliceInfo, innermost axis first, of dst and of src; index and gap in elements, burst_len in 32-byte blocks. Local
    operands lie at multiples of 32 bytes, in the bias table of 64; both sides have one type. GM to UB and L1 goes to
    MTE2, UB and L1 to GM to MTE3, UB to UB to V, L1 to the bias table to MTE1: there block_len and dst_stride count 64
    bytes, types are int32 and float32, and a float16 source becomes float32. Faults: BAD_POSITION, BAD_DTYPE,
    BAD_STRIDE, MISALIGNED_ADDR, OOB_GM, OOB_PHYS; warnings: OOB_BUF, OOB_GM inside the padding, ZERO_LENGTH.
    Pages: DataCopy (all of a pair of memories).
    """
    if count.__class__ is not int:
        if count.__class__ is Int32:
            count = count.v
        elif count.__class__ not in FORMS:
            count = index(count, "data_copy", "count")
    if enhanced_params is None:
        try:
            if src.__class__ is GlobalTensor:
                window, at, where = src.window, src.start, dst.place
                plan = where.loads[count]
            elif dst.__class__ is GlobalTensor:
                window, at, where = dst.window, dst.start, src.place
                atomic = where.core.atomic
                plan = where.stores[count] if atomic is PLAIN_STORE else where.stores[atomic, count]
            else:
                where = dst.place
                where.core.issue(where.plans["data_copy", src.place, count])
                return
            phase = plan.phase
            if (phase == at & 511 or phase == ANY) and window.dtype is where.dtype and at + plan.span <= window.end:
                where.core.issue(plan, None, window.array, at)
                return
        except (AttributeError, KeyError, TypeError):
            pass
    site = author(1)
    form = next((form for form in (count, repeat_params, intri_params, slice_list1) if form is not None), None)
    if isinstance(form, (list, tuple)):
        _slices(dst, src, form, enhanced_params if slice_list2 is None else slice_list2, dim_value, site)
    elif isinstance(form, DataCopyParams):
        _strided(dst, src, form, enhanced_params, site)
    elif form.__class__ in LAYOUTS:
        core = running("data_copy")
        _element_size("data_copy", dst, src)
        LAYOUTS[form.__class__](core, dst, src, form, site)
    elif form is None:
        raise ArgumentTypeError(
            "data_copy", "says neither how many elements nor which blocks", rule="count or parameters"
        )
    elif enhanced_params is not None or dim_value is not None:
        running("data_copy")
        rule = "a count alone; parameters as an object"
        raise ArgumentTypeError("data_copy", "more than a count", operand="count", value=form, rule=rule)
    else:
        _contiguous(dst, src, index(form, "data_copy", "count"), site)


# forms that change the layout: called with core, dst, src, params, call site
LAYOUTS: dict[type, Any] = {Nd2NzParams: nd2nz, Nz2NdParamsFull: nz2nd, DataCopyCO12DstParams: copy_out}
FORMS = frozenset({type(None), list, tuple, DataCopyParams, *LAYOUTS})  # what may stand in the place of a count
data_copy.__overloads__ = signatures(  # type: ignore[attr-defined]
    "dst, src, count",
    "dst, src, repeat_params",
    "dst, src, repeat_params, enhanced_params",
    "dst, src, intri_params",
    "dst, src, slice_list1, slice_list2, dim_value",
)


def _contiguous(dst: Any, src: Any, count: int, site: Site) -> None:
    core = running("data_copy")
    size = _element_size("data_copy", dst, src)
    if count < 0:
        text = f"count = {count}; rule: 0 or more elements; nearest legal value: 0"
        report(core, "BAD_MASK", text, site, "data_copy")
    along = way(core, dst, src, "data_copy", site)
    nbytes = count * size // along.block * along.block
    if nbytes != count * size:
        text = (
            f"count = {count} asks for {count * size} bytes, {nbytes} are moved: copies go by whole "
            f"{along.block}-byte blocks; data_copy_pad moves single bytes; "
            f"nearest legal value: {max(nbytes, along.block) // size}"
        )
        report(core, "MISALIGNED_LEN", text, site, "data_copy")
    if not nbytes:
        if count * size == 0:
            zero(core, "count", "data_copy", site)
        return
    along.issue(core, "data_copy", dst, src, copies.Moves(nbytes, nbytes, nbytes, 1), site, count)


def _strided(dst: Any, src: Any, params: DataCopyParams, enhanced: Any, site: Site) -> None:
    core = running("data_copy")
    _element_size("data_copy", dst, src)
    if enhanced is not None:
        parameters("data_copy", enhanced, DataCopyEnhancedParams, operand="enhanced_params")
    copies.block_count(core, "data_copy", params.block_count, site)
    if not params.block_count or not params.block_len:
        zero(core, "block_count" if not params.block_count else "block_len", "data_copy", site)
        return
    along = way(core, dst, src, "data_copy", site)
    length = params.block_len * along.block
    moves = copies.Moves(
        length, length + params.dst_stride * along.block, length + params.src_stride * BLOCK, params.block_count
    )
    along.issue(core, "data_copy", dst, src, moves, site, params)


def _slices(dst: Any, src: Any, dst_slices: Any, src_slices: Any, dim_value: Any, site: Site) -> None:
    core = running("data_copy")
    size = _element_size("data_copy", dst, src)
    along = way(core, dst, src, "data_copy", site, EXACT)
    for dst_at, src_at, moves in moves_of_slices(core, dst, src, dst_slices, src_slices, dim_value, size, site):
        along.issue(core, "data_copy", dst[dst_at:], src[src_at:], moves, site, ("data_copy", moves))


def _element_size(operation: str, dst: Any, src: Any) -> int:
    """Bytes of an element of two operands that are tensors with something behind them."""
    for name, tensor in (("dst", dst), ("src", src)):
        if not isinstance(tensor, (LocalTensor, GlobalTensor)):
            rule = "a LocalTensor or GlobalTensor"
            raise ArgumentTypeError(operation, "is no tensor", operand=name, value=tensor, rule=rule)
        if isinstance(tensor, GlobalTensor):
            buffered(operation, tensor, name)
    size: int = dst.dtype.size
    return size


def data_copy_pad(
    dst: Any, src: Any, data_copy_params: Any, pad_params: Any = None, *, nd2nz_params: Any = None
) -> None:
    """Copy blocks whose length is not a multiple of 32 bytes, between global memory and UB.

        data_copy_pad(dst, src, data_copy_params, pad_params)      global memory to UB
        data_copy_pad(dst, src, data_copy_params)                  either way

    DataCopyExtParams or DataCopyParams: block_count 0 to 4095; block_len in bytes; the gap on the global side in bytes,
    on the UB side in 32-byte blocks. In UB each block takes whole 32-byte blocks. DataCopyPadExtParams or
    DataCopyPadParams: left_padding and right_padding in elements, at most 32 bytes each; where there is a padding and
    is_pad is false, pads and tail take the value of set_pad_value, and are undefined if there was none. With no
    padding at all the tail repeats the block's first element. Page: DataCopyPad.
    """
    try:
        loads = src.__class__ is GlobalTensor
        outside, where = (src, dst.place) if loads else (dst, src.place)
        plan, written = where.plans[data_copy_pad, loads, data_copy_params, pad_params]
        core, window, at, phase = where.core, outside.window, outside.start, plan.phase
        inside = (phase == at & 511 or phase == ANY) and window.dtype is where.dtype and at + plan.span <= window.end
        if inside and nd2nz_params is None and (loads or core.atomic is PLAIN_STORE):
            if written:
                core.pad_value = written[0]
            core.issue(plan, None, window.array, at)
            return
    except (AttributeError, KeyError, TypeError):
        pass
    site = author(1)
    core = running("data_copy_pad")
    if nd2nz_params is not None or isinstance(pad_params, Nd2NzParams):
        raise NotSimulatedError("data_copy_pad", THROUGH_GM)
    parameters("data_copy_pad", data_copy_params, DataCopyExtParams, DataCopyParams, operand="data_copy_params")
    if pad_params is not None:
        parameters("data_copy_pad", pad_params, DataCopyPadExtParams, DataCopyPadParams, operand="pad_params")
    params = data_copy_params
    size = _element_size("data_copy_pad", dst, src)
    along = way(core, dst, src, "data_copy_pad", site, EXACT)
    copies.block_count(core, "data_copy_pad", params.block_count, site)
    if params.block_len % size:
        nearest = params.block_len // size * size
        text = f"block_len = {params.block_len}; rule: a multiple of {size} bytes; nearest legal value: {nearest}"
        report(core, "BAD_STRIDE", text, site, "data_copy_pad")
    if params.block_len > copies.PAD_LIMIT:
        text = (
            f"block_len = {params.block_len}; rule: at most {copies.PAD_LIMIT}; nearest legal value: {copies.PAD_LIMIT}"
        )
        report(core, "BAD_STRIDE", text, site, "data_copy_pad")
    if not params.block_count or not params.block_len:
        zero(core, "block_count" if not params.block_count else "block_len", "data_copy_pad", site)
        return
    if isinstance(dst, LocalTensor):
        pads = copies.pads_of(core, pad_params, dst.dtype, site)
        padded = pads.left * size + params.block_len + pads.right * size
        pitch = -(-padded // BLOCK) * BLOCK
        moves = copies.Moves(
            params.block_len,
            pitch + params.dst_stride * BLOCK,
            params.block_len + params.src_stride,
            params.block_count,
            pads,
        )
    else:
        if pad_params is not None:
            text = "pad_params; rule: only copies from global memory to UB are padded"
            report(core, "BAD_POSITION", text, site, "data_copy_pad")
        pitch = -(-params.block_len // BLOCK) * BLOCK
        moves = copies.Moves(
            params.block_len,
            params.block_len + params.dst_stride,
            pitch + params.src_stride * BLOCK,
            params.block_count,
        )
    key = ("data_copy_pad", moves)
    along.issue(core, "data_copy_pad", dst, src, moves, site, key)
    loads = isinstance(dst, LocalTensor)
    where = (dst if loads else src).place.live
    plan = (where.loads if loads else where.stores).get(key)
    written = (core.pad_value,) if pad_params is not None and pad_params.is_pad else ()
    if plan is not None and (written or pad_params is None or moves.pads.repeats_first):
        where.keep((data_copy_pad, loads, params, pad_params), (plan, written))  # it need not be checked again


data_copy_pad.__overloads__ = signatures(  # type: ignore[attr-defined]
    "dst, src, data_copy_params, pad_params", "dst, src, data_copy_params", "dst, src, data_copy_params, nd2nz_params"
)


def set_pad_value(padding_value: Any, pos: Any = TPosition.MAX) -> None:
    """The value that data_copy_pad fills in where its is_pad is false, in the type of that copy.

    `pos`: MAX, VECIN or VECOUT. Page: SetPadValue.
    """
    core = running("set_pad_value")
    where = index(pos, "set_pad_value", "pos", "a TPosition")
    if where not in (TPosition.MAX, TPosition.VECIN, TPosition.VECOUT):
        report(core, "BAD_POSITION", f"pos = {where}; rule: MAX, VECIN or VECOUT", author(1), "set_pad_value")
    value = unwrap(padding_value)
    if not isinstance(value, (int, float)):
        raise ArgumentTypeError("set_pad_value", "is no number", operand="padding_value", value=padding_value)
    core.pad_value = value


__all__ = ["data_copy", "data_copy_pad", "set_pad_value"]
