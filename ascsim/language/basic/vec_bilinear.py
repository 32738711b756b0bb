"""bilinear_interpolation: blocks gathered by offsets, each times a weight, summed up. Page: BilinearInterpolation.

On the device a program of gathers, broadcasts, products and sums; here one instruction that takes as long as they do.
Which blocks it reads depends on the offsets, so it is made when V comes to it. Not simulated: counter mode.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...hw.core import Core
from ...hw.errors import NotSimulatedError
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from ..core.dtype import float16, uint8, uint32
from ..core.limits import within
from ..core.place import Place, report, running, truth
from ..forms import present, zero
from ..masks import Runs, given, work
from ..operand import BLOCK, REPEAT, Strided, aligned, local, parts, region, typed
from ..spans import span

NAME = "bilinear_interpolation"
LANES = 128
_TYPES = {"dst": float16, "src0": float16, "src0_offset": uint32, "src1": float16, "shared_tmp_buffer": uint8}


class Call(NamedTuple):
    """One call, checked: horizontal and vertical repeats, a weight a block or a repeat, and where results go."""

    places: dict[str, Place]
    runs: Runs
    across: int
    down: int
    by_block: bool
    block_stride: int  # of dst, in blocks
    pitch: int  # from one vertical repeat's result to the next, in elements

    @property
    def weights(self) -> int:
        """Elements of src1 that are read: the device broadcasts eight at a time."""
        return -(-self.across * self.down * (8 if self.by_block else 1) // 8) * 8


def bilinear_interpolation(
    dst: Any,
    src0: Any,
    src0_offset: Any,
    src1: Any,
    mask: Any,
    h_repeat: Any,
    repeat_mode: Any,
    dst_blk_stride: Any,
    v_r_offset: Any,
    v_repeat: Any,
    shared_tmp_buffer: Any,
) -> None:
    """dst[v] = sum over h of (8 blocks of src0 at the offsets of repeat v * h_repeat + h) * weight, halves throughout.

    `src0_offset`: uint32 byte offsets from src0, multiples of 32, eight a repeat. Weight: src1[repeat] for all lanes;
    with `repeat_mode` src1[8 * repeat + b] for block b. Result v lies `v_r_offset` elements after result v - 1, its
    blocks `dst_blk_stride` apart; `mask` says which of the 128 lanes are written. Repeats: 1 to 255, and so is their
    product. `shared_tmp_buffer`: 32 bytes an element of src0 and of src1. Every product and sum is rounded to half.
    Faults: BAD_*, MISALIGNED_ADDR, OOB_PHYS; warnings: OOB_BUF, UNINIT_READ. Types: float16. Page:
    BilinearInterpolation.
    """
    site = author(1)
    core = running(NAME)
    places = {}
    tensors = (dst, src0, src0_offset, src1, shared_tmp_buffer)
    for (name, dtype), tensor in zip(_TYPES.items(), tensors, strict=True):
        where = places[name] = local(core, tensor, name, NAME, site)
        typed(core, where, (dtype,), name, NAME, site)
        if not present(core, where.memory, NAME, site):
            return
        aligned(core, where, name, NAME, site)
    across = within(core, "BAD_REPEAT", "h_repeat", h_repeat, 1, 255, NAME, site)
    down = within(core, "BAD_REPEAT", "v_repeat", v_repeat, 1, 255, NAME, site)
    within(core, "BAD_REPEAT", "h_repeat * v_repeat", across * down, 1, 255, NAME, site)
    stride = within(core, "BAD_STRIDE", "dst_blk_stride", dst_blk_stride, 1, 65535, NAME, site)
    pitch = within(core, "BAD_STRIDE", "v_r_offset", v_r_offset, 128, 65534, NAME, site)
    if pitch % 16:
        text = f"v_r_offset = {pitch}; rule: a multiple of 16 elements (32 bytes); nearest legal value: {pitch & -16}"
        report(core, "BAD_STRIDE", text, site, NAME)
    if core.mask[2]:
        raise NotSimulatedError(NAME, "in counter mode: the vendor says nothing about it", rule="set_mask_norm()")
    core.mask = registers = given(core, mask, LANES, NAME, site)
    works = work(registers, 1, LANES)
    if not works:
        zero(core, "mask", NAME, site)
        return
    needs = BLOCK * (places["src0"].nbytes + places["src1"].nbytes) // 2
    if places["shared_tmp_buffer"].nbytes < needs:
        text = f"shared_tmp_buffer has {places['shared_tmp_buffer'].nbytes} bytes; rule: at least {needs}"
        text = f"{text}, 32 an element of src0 and src1; it is {places['shared_tmp_buffer'].origin()}"
        report(core, "OOB_BUF", text, site, NAME)
    _issue(core, Call(places, works[0][0], across, down, truth(repeat_mode, NAME, "repeat_mode"), stride, pitch), site)


def _issue(core: Core, call: Call, site: Site) -> None:
    """Issue it now, or when V has come to it: then its offsets are known."""
    pipe, places = core.pipes["V"], call.places
    if pipe.parked is not None:
        core.park(pipe, _issue, (core, call, site), site)
        return
    repeats = call.across * call.down
    src0, offsets = places["src0"], span(places["src0_offset"], repeats * 32, "src0_offset", NAME, site)
    blocks = places["src0_offset"].array(repeats * 8).tolist()
    for i, offset in enumerate(blocks):
        if offset % BLOCK:
            text = f"src0_offset[{i}] = {offset}; rule: a multiple of 32 bytes; nearest legal value: {offset & -BLOCK}"
            report(core, "MISALIGNED_ADDR", text, site, NAME)
    if max(blocks) + BLOCK > src0.nbytes:
        text = f"src0_offset[{blocks.index(max(blocks))}] = {max(blocks)} lies outside src0 ({src0.nbytes} bytes)"
        report(core, "OOB_BUF", text, site, NAME)
    pieces = tuple((src0.start + offset, ((BLOCK, 1),)) for offset in sorted(set(blocks)))
    reads = (
        src0.region(pieces, "src0", NAME, site),
        offsets,
        span(places["src1"], call.weights * 2, "src1", NAME, site),
    )
    scratch = repeats * REPEAT + call.weights * BLOCK
    target = Strided("dst", places["dst"], call.block_stride, call.pitch // 16)
    steps = parts([target], [(call.runs, call.down)], one_by_one=True)
    writes = (
        region(target, 0, steps, NAME, site),
        core.region("UB", ((places["shared_tmp_buffer"].start, ((scratch, 1),)),), f"{NAME}: shared_tmp_buffer", site),
    )
    views = [[part.view(0, places["dst"]) for part in step] for step in steps]
    price = core.device.cost.vector
    cycles = 3 * price(repeats) + price(call.weights // 8) + price(call.down)  # gather, product, sum; broadcast; + 0
    core.issue(Plan(NAME, pipe, reads, writes, partial(_run_all, call, views), cycles), site)


def _run_all(call: Call, views: list[list[np.ndarray]]) -> None:
    places, repeats = call.places, call.across * call.down
    src0 = places["src0"]
    assert src0.memory is not None
    starts = src0.start + places["src0_offset"].array(repeats * 8).astype(np.int64)
    data = src0.memory.bytes[starts[:, None] + np.arange(BLOCK)].view(np.float16).reshape(repeats, 8, 16)
    weights = places["src1"].array(call.weights)
    shape = (repeats, 8, 1) if call.by_block else (repeats, 1, 1)
    products = (data * weights[: shape[0] * shape[1]].reshape(shape)).reshape(call.down, call.across, LANES)
    total = products[:, 0]
    for step in range(1, call.across):
        total = products[:, step] + total
    total = total + np.float16(0)  # -0 becomes +0
    lanes = np.concatenate([np.arange(*run) for run in call.runs])
    for result, step_views in zip(total[:, lanes], views, strict=True):
        at = 0
        for view in step_views:
            view[...] = result[at : at + view.size].reshape(view.shape)
            at += view.size
    scratch = places["shared_tmp_buffer"].array(repeats * REPEAT)
    scratch[:] = products.reshape(-1).view(np.uint8)


__all__ = ["bilinear_interpolation"]
