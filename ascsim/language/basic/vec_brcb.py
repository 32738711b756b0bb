"""brcb: eight elements a repeat, each filling a block of 32 bytes of its own. Page: Brcb.

Not simulated: counter mode (the vendor says nothing about it).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, NotSimulatedError
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from ..core.dtype import bfloat16, float16, float32, int16, int32, uint16, uint32
from ..core.place import report, running
from ..core.tensor import LocalTensor
from ..core.types import BrcbRepeatParams
from ..masks import ALL_LANES, repeats
from ..operand import BLOCK, Strided, aligned, local, parts, region, typed
from ..overlap import apart
from ..plans import lanes_of, present, zero
from ..spans import span

TYPES = (int16, uint16, float16, bfloat16, int32, uint32, float32)


def brcb(dst: Any, src0: Any, repeat_times: Any, repeat_params: Any) -> None:
    """Every element of block b of repeat r of dst = src0[8 * r + b].

    `repeat_times`: 0 to 255; `repeat_params`: a BrcbRepeatParams, block stride 1 or more. dst and src0 lie apart. All
    lanes of the mask registers are set. Faults: BAD_*, MISALIGNED_ADDR, OOB_PHYS, OVERLAP_PARTIAL; warnings: OOB_BUF,
    ZERO_LENGTH, UNINIT_READ. Types: int16, uint16, float16, bfloat16, int32, uint32, float32. Page: Brcb.
    """
    site = author(1)
    core = running("brcb")
    if not isinstance(repeat_params, BrcbRepeatParams):
        rule = "a BrcbRepeatParams"
        raise ArgumentTypeError("brcb", operand="repeat_params", value=repeat_params, rule=rule)
    if core.mask[2]:
        raise NotSimulatedError("brcb", "in counter mode: the vendor says nothing about it", rule="set_mask_norm()")
    times = repeats(core, repeat_times, "brcb", site)
    block, pitch = repeat_params.key
    core.mask = ALL_LANES
    if isinstance(dst, LocalTensor) and isinstance(src0, LocalTensor):
        plan = dst.place.plans.get(("brcb", src0.place, times, block, pitch))
        if plan is not None:
            core.issue(plan, site)
            return
    plan = _plan(core, dst, src0, times, block, pitch, site)
    if plan is not None:
        dst.place.live.keep(("brcb", src0.place.live, times, block, pitch), plan)
        core.issue(plan, site)


def _plan(core: Core, dst: Any, src0: Any, times: int, block: int, pitch: int, site: Site) -> Plan | None:
    """The plan of a call; None where there is nothing to do."""
    to, source = (local(core, tensor, what, "brcb", site) for what, tensor in (("dst", dst), ("src0", src0)))
    typed(core, to, TYPES, "dst", "brcb", site)
    typed(core, source, (to.dtype,), "src0", "brcb", site)
    if not present(core, to.memory, "brcb", site):
        return None
    aligned(core, to, "dst", "brcb", site)
    aligned(core, source, "src0", "brcb", site)
    if not block:
        text = "dst_blk_stride = 0; rule: 1 or more; nearest legal value: 1"
        report(core, "BAD_STRIDE", text, site, "brcb")
    if not times:
        zero(core, "repeat_times", "brcb", site)
        return None
    size = to.dtype.size
    target = Strided("dst", to, block, pitch)
    write = region(target, 0, parts([target], [(((0, lanes_of(to.dtype)),), times)]), "brcb", site)
    read = span(source, times * 8 * size, "src0", "brcb", site)
    apart(core, write, (read,), "brcb", site)
    assert to.memory is not None
    blocks = np.ndarray(
        (times, 8, BLOCK // size),
        to.dtype.np,
        to.memory.bytes.data,
        to.start,
        (pitch * BLOCK, block * BLOCK, size),
    )
    elements = source.array(times * 8).reshape(times, 8, 1)
    run = partial(_fill, blocks, elements, pitch < 8 * block)
    return Plan("brcb", core.pipes["V"], (read,), (write,), run, core.device.cost.vector(times))


def _fill(blocks: np.ndarray, elements: np.ndarray, in_order: bool) -> None:
    if not in_order:
        blocks[...] = elements
        return
    for block, element in zip(blocks, elements.copy(), strict=True):  # repeats may write the same blocks
        block[...] = element


__all__ = ["brcb"]
