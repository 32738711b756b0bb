"""Copies between global memory and UB, and inside UB.

Pages: DataCopy (GM and UB contiguous; strided; slices; UB to UB), DataCopyPad, SetPadValue.
A copy moves whole 32-byte blocks, data_copy_pad single bytes on the global side. Masks never apply.
Copies to and from the cube side's memories, quantising and layout-changing forms are not simulated yet.
"""

from __future__ import annotations

from typing import Any

from ...hw.core import PLAIN_STORE, Core
from ...hw.errors import ArgumentTypeError, NotSimulatedError
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from .. import copies
from ..core.enums import TPosition
from ..core.global_tensor import GlobalTensor
from ..core.ir_value import Int32, unwrap
from ..core.place import VECTOR_POSITIONS, Place, index, report, running
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
from ..operand import aligned, local
from ..plans import present, zero
from ..signatures import signatures
from ..slices import moves_of_slices

BLOCK = 32


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
    """Copy between global memory and UB, or inside UB.

        data_copy(dst, src, count)
        data_copy(dst, src, repeat_params)
        data_copy(dst, src, repeat_params, enhanced_params)
        data_copy(dst, src, slice_list1, slice_list2, dim_value)

    `count`: elements; their bytes are rounded down to whole 32-byte blocks (warning MISALIGNED_LEN). `repeat_params`:
    DataCopyParams: block_count 0 to 4095 blocks of block_len, with gaps src_stride and dst_stride, all three in 32-byte
    blocks. Slices: lists of SliceInfo, innermost axis first, of dst and of src; index and gap in elements, burst_len in
    32-byte blocks. Local operands lie at multiples of 32 bytes; both sides have one type. GM to UB goes to MTE2, UB to
    GM to MTE3, UB to UB to V. Faults: BAD_POSITION, BAD_DTYPE, BAD_STRIDE, MISALIGNED_ADDR, OOB_GM, OOB_PHYS; warnings:
    OOB_BUF, OOB_GM inside the padding, ZERO_LENGTH. Page: DataCopy.
    """
    if count.__class__ is Int32:
        count = count.v
    try:
        if src.__class__ is GlobalTensor:
            window, at, where = src.window, src.start, dst.place
            plan = where.loads[count]
        else:
            window, at, where = dst.window, dst.start, src.place
            atomic = where.core.atomic
            plan = where.stores[count] if atomic is PLAIN_STORE else where.stores[atomic, count]
        if window.dtype is where.dtype and plan.phase == at & 511 and at + plan.span <= window.end:
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
    elif isinstance(form, (Nd2NzParams, Nz2NdParamsFull, DataCopyCO12DstParams)):
        raise NotSimulatedError(
            "data_copy", f"the form with {type(form).__name__} belongs to the cube side, not built yet"
        )
    elif form is None:
        raise ArgumentTypeError(
            "data_copy", "says neither how many elements nor which blocks", rule="count or parameters"
        )
    else:
        _contiguous(dst, src, index(form, "data_copy", "count"), site)


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
    nbytes = count * size // BLOCK * BLOCK
    if nbytes != count * size:
        text = (
            f"count = {count} asks for {count * size} bytes, {nbytes} are moved: copies go by whole 32-byte blocks; "
            "data_copy_pad moves single bytes"
        )
        report(core, "MISALIGNED_LEN", text, site, "data_copy")
    if not nbytes:
        if count * size == 0:
            zero(core, "count", "data_copy", site)
        return
    _issue(core, "data_copy", dst, src, copies.Moves(nbytes, 0, 0, 1), site, count)


def _strided(dst: Any, src: Any, params: DataCopyParams, enhanced: Any, site: Site) -> None:
    core = running("data_copy")
    _element_size("data_copy", dst, src)
    if enhanced is not None:
        if not isinstance(enhanced, DataCopyEnhancedParams):
            raise ArgumentTypeError(
                "data_copy",
                "is no parameter object",
                operand="enhanced_params",
                value=enhanced,
                rule="DataCopyEnhancedParams",
            )
        if enhanced != DataCopyEnhancedParams():
            raise NotSimulatedError("data_copy", "enhanced parameters other than the default are not built yet")
    copies.block_count(core, "data_copy", params.block_count, site)
    if not params.block_count or not params.block_len:
        zero(core, "block_count" if not params.block_count else "block_len", "data_copy", site)
        return
    length = params.block_len * BLOCK
    moves = copies.Moves(
        length, length + params.dst_stride * BLOCK, length + params.src_stride * BLOCK, params.block_count
    )
    _issue(core, "data_copy", dst, src, moves, site, params)


def _slices(dst: Any, src: Any, dst_slices: Any, src_slices: Any, dim_value: Any, site: Site) -> None:
    core = running("data_copy")
    size = _element_size("data_copy", dst, src)
    for dst_at, src_at, moves in moves_of_slices(core, dst, src, dst_slices, src_slices, dim_value, size, site):
        _issue(core, "data_copy", dst[dst_at:], src[src_at:], moves, site, ("data_copy", moves))


def _element_size(operation: str, dst: Any, src: Any) -> int:
    """Bytes of an element of two operands that are tensors with something behind them."""
    for name, tensor in (("dst", dst), ("src", src)):
        if not isinstance(tensor, (LocalTensor, GlobalTensor)):
            rule = "a LocalTensor or GlobalTensor"
            raise ArgumentTypeError(operation, "is no tensor", operand=name, value=tensor, rule=rule)
        if isinstance(tensor, GlobalTensor) and tensor.window.array is None:
            rule = "call set_global_buffer first"
            raise ArgumentTypeError(operation, "has no buffer yet", operand=name, value=tensor, rule=rule)
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
    site = author(1)
    core = running("data_copy_pad")
    if nd2nz_params is not None or isinstance(pad_params, Nd2NzParams):
        raise NotSimulatedError("data_copy_pad", "the ND-to-NZ form belongs to the cube side, not built yet")
    if not isinstance(data_copy_params, (DataCopyExtParams, DataCopyParams)):
        raise ArgumentTypeError(
            "data_copy_pad",
            "is no parameter object",
            operand="data_copy_params",
            value=data_copy_params,
            rule="DataCopyExtParams or DataCopyParams",
        )
    if pad_params is not None and not isinstance(pad_params, (DataCopyPadExtParams, DataCopyPadParams)):
        raise ArgumentTypeError(
            "data_copy_pad",
            "is no parameter object",
            operand="pad_params",
            value=pad_params,
            rule="DataCopyPadExtParams or DataCopyPadParams",
        )
    params = data_copy_params
    size = _element_size("data_copy_pad", dst, src)
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
    if not (isinstance(dst, GlobalTensor) or isinstance(src, GlobalTensor)):
        report(core, "BAD_POSITION", "one operand; rule: lies in global memory", site, "data_copy_pad")
    _issue(core, "data_copy_pad", dst, src, moves, site, ("data_copy_pad", moves))


data_copy_pad.__overloads__ = signatures(  # type: ignore[attr-defined]
    "dst, src, data_copy_params, pad_params", "dst, src, data_copy_params", "dst, src, data_copy_params, nd2nz_params"
)


def set_pad_value(padding_value: Any, pos: Any = TPosition.MAX) -> None:
    """The value that data_copy_pad fills in where its is_pad is false, in the type of that copy.

    `pos`: MAX, VECIN or VECOUT. Page: SetPadValue.
    """
    core = running("set_pad_value")
    where = index(pos, "set_pad_value", "pos")
    if where not in (TPosition.MAX, TPosition.VECIN, TPosition.VECOUT):
        report(core, "BAD_POSITION", f"pos = {where}; rule: MAX, VECIN or VECOUT", author(1), "set_pad_value")
    value = unwrap(padding_value)
    if not isinstance(value, (int, float)):
        raise ArgumentTypeError("set_pad_value", "is no number", operand="padding_value", value=padding_value)
    core.pad_value = value


def _issue(core: Core, operation: str, dst: Any, src: Any, moves: copies.Moves, site: Site, key: Any) -> None:
    """Issue a copy between global memory and UB; its plan is remembered under `key`."""
    if isinstance(dst, LocalTensor) and isinstance(src, GlobalTensor):
        here, tensor, load = _local(core, dst, "dst", operation, site), src, True
    elif isinstance(src, LocalTensor) and isinstance(dst, GlobalTensor):
        here, tensor, load = _local(core, src, "src", operation, site), dst, False
    else:
        _inside(core, operation, dst, src, moves, site)
        return
    if not present(core, here.memory, operation, site):
        return
    window, at = tensor.window, tensor.start
    plans: Any = here.loads if load else here.stores
    if not load and core.atomic is not PLAIN_STORE:
        key = (core.atomic, key)
    plan = plans.get(key)
    if plan is not None and plan.phase == at & 511 and at + plan.span <= window.end and window.dtype is here.dtype:
        core.issue(plan, site, window.array, at)
        return
    if window.dtype is not here.dtype:
        text = f"dst has type {dst.dtype}, src has {src.dtype}; rule: one type for both"
        report(core, "BAD_DTYPE", text, site, operation)
    aligned(core, here, "dst" if load else "src", operation, site)
    make = copies.load_plan if load else copies.store_plan
    plan = make(core, operation, here, moves, at, site)
    _inside_window(core, operation, tensor, plan, "src" if load else "dst", site)
    plan.phase = at & 511
    if core.told:
        core.told = False  # as in `Place.keep`
    else:
        plans[key] = plan
    core.issue(plan, site, window.array, at)


def _local(core: Core, tensor: LocalTensor, name: str, operation: str, site: Site) -> Place:
    where = local(core, tensor, name, operation, site, _KNOWN)
    if where.position not in VECTOR_POSITIONS:
        raise NotSimulatedError(operation, f"copies of {where.position.name} belong to the cube side, not built yet")
    return where


_KNOWN = frozenset(position for position in TPosition if position not in (TPosition.GM, TPosition.MAX, TPosition.CO2))


def _inside_window(core: Core, operation: str, tensor: GlobalTensor, plan: Plan, name: str, site: Site) -> None:
    """A copy past the declared end of its global tensor, but inside the argument."""
    window = tensor.window
    assert plan.gm is not None
    assert window.array is not None
    past = tensor.start + plan.gm.span - window.end
    if past > 0 and tensor.start + plan.gm.span <= window.array.nbytes:
        text = f"{name} reaches {past} bytes past the buffer that set_global_buffer declared for {window.array.name!r}"
        report(core, "OOB_BUF", text, site, operation)


def _inside(core: Core, operation: str, dst: Any, src: Any, moves: copies.Moves, site: Site) -> None:
    """UB to UB, a vector instruction; anything else that is no path of this chip is refused."""
    to, source = _local(core, dst, "dst", operation, site), _local(core, src, "src", operation, site)
    if not present(core, to.memory, operation, site):
        return
    if to.dtype is not source.dtype:
        text = f"dst has type {to.dtype}, src has {source.dtype}; rule: one type for both"
        report(core, "BAD_DTYPE", text, site, operation)
    aligned(core, to, "dst", operation, site)
    aligned(core, source, "src", operation, site)
    core.issue(copies.local_plan(core, operation, to, source, moves, site), site)


__all__ = ["data_copy", "data_copy_pad", "set_pad_value"]
