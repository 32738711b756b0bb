"""gather_mask: the elements of a source that a pattern selects, packed one behind the other. Page: GatherMask.

How many there are is read from a register of V within the call, so S waits for V.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, ArgumentValueError, NotSimulatedError
from ...hw.findings import Site, author
from ...hw.instruction import Plan, Region
from ...hw.memory import runs_of, show_meeting
from ..core.dtype import bfloat16, float16, float32, int16, int32, uint16, uint32
from ..core.enums import GatherMaskMode
from ..core.ir_value import PlainValue, UInt64
from ..core.limits import within
from ..core.place import Place, index, report, running, truth
from ..core.tensor import LocalTensor
from ..core.types import GatherMaskParams
from ..masks import COUNT
from ..operand import BLOCK, Strided, aligned, local, parts, region, typed
from ..plans import lanes_of, present, zero
from ..spans import span
from ..waits import ready, scalar_waits

NAME = "gather_mask"
TYPES = (int16, uint16, float16, bfloat16, int32, uint32, float32)
PATTERNS = {  # which of four neighbours are taken
    1: (1, 0, 1, 0),
    2: (0, 1, 0, 1),
    3: (1, 0, 0, 0),
    4: (0, 1, 0, 0),
    5: (0, 0, 1, 0),
    6: (0, 0, 0, 1),
    7: (1, 1, 1, 1),
}


class Call(NamedTuple):
    """A checked call: `times` repeats of `length` elements each; strides in blocks."""

    dst: Place
    src0: Strided
    pattern: Place | int
    length: int
    times: int
    pattern_stride: int
    operation: str = NAME

    @property
    def key(self) -> tuple[Any, ...]:
        """Of its plan."""
        src0 = self.src0
        form = (src0.place, src0.block, src0.repeat, self.pattern, self.length, self.times, self.pattern_stride)
        return self.operation, form


class Known(NamedTuple):
    """What was worked out for a call: for these bits of a pattern in memory (None: a built-in one)."""

    bits: np.ndarray | None
    plan: Plan
    kept: int  # elements


def gather_mask(
    dst: Any,
    src0: Any,
    src1_pattern: Any,
    reduce_mode: Any,
    mask: Any,
    params: Any,
    gather_mask_mode: Any = GatherMaskMode.DEFAULT,
) -> PlainValue:
    """dst = the selected elements of src0, packed; returns how many (uint64).

    `src1_pattern`: 1 even, 2 odd elements, 3 to 6 the first to fourth of every four, 7 all; or a tensor of bits (uint16
    or uint32, as wide as the elements), lowest first, read on within a repeat. `reduce_mode` False: every repeat has
    256 bytes and `mask` is ignored; True: every repeat has `mask` elements. `params`: a GatherMaskParams; without a
    tensor its src1_repeat_stride is ignored. Afterwards the mask mode is normal, and the registers hold `mask`.
    Faults: BAD_*, MISALIGNED_ADDR, OOB_PHYS, OVERLAP_REPEAT, DEADLOCK; warnings: OOB_BUF, ZERO_LENGTH, UNINIT_READ.
    Types: int16, uint16, float16, bfloat16, int32, uint32, float32. Page: GatherMask.
    """
    site = author(1)
    plain = src1_pattern.__class__ is mask.__class__ is int and reduce_mode.__class__ is bool
    if plain and gather_mask_mode is GatherMaskMode.DEFAULT and params.__class__ is GatherMaskParams:
        asked = (NAME, src1_pattern, reduce_mode, mask, params.key)
        try:
            core, known = dst.place.plans[asked, src0.place]
        except (AttributeError, KeyError):
            pass
        else:
            core.mask = (0, mask & COUNT, False)
            ready(core, site)
            core.issue(known.plan, site)
            return _counted(core, known.kept, site)
    core = running(NAME)
    if not isinstance(params, GatherMaskParams):
        raise ArgumentTypeError(NAME, operand="params", value=params, rule="a GatherMaskParams")
    index(gather_mask_mode, NAME, "gather_mask_mode")  # reserved: it has one member
    to, source = (local(core, tensor, what, NAME, site) for what, tensor in (("dst", dst), ("src0", src0)))
    typed(core, to, TYPES, "dst", NAME, site)
    typed(core, source, (to.dtype,), "src0", NAME, site)
    pattern = _pattern(core, src1_pattern, to, site)
    if not present(core, to.memory, NAME, site):
        return UInt64.pack(0)
    for what, where in (("dst", to), ("src0", source), ("src1_pattern", pattern)):
        if isinstance(where, Place):
            aligned(core, where, what, NAME, site)
    number = index(mask, NAME, "mask")
    count = lanes_of(to.dtype)
    if truth(reduce_mode, NAME, "reduce_mode"):
        count = within(core, "BAD_MASK", "mask", number, 1, COUNT, NAME, site, "elements")
    core.mask = (0, number & COUNT, False)
    block, times, repeat, pattern_repeat = params.key
    if not times:
        zero(core, "repeat_times", NAME, site)
        return _counted(core, 0, site)
    call = Call(to, Strided("src0", source, block, repeat), pattern, count, times, pattern_repeat)
    known = gathered(core, call, site)
    if plain and to.plans.get(call.key) is known:  # it need not be checked again
        to.keep(((NAME, pattern, reduce_mode, mask, params.key), source), (core, known))
    return _counted(core, known.kept, site)


def _counted(core: Core, kept: int, site: Site) -> PlainValue:
    """What a call returns, after S has waited for V."""
    core.state["gather_mask_count"] = kept
    scalar_waits(core, site)
    return UInt64.pack(kept)


def get_gather_mask_remain_count() -> PlainValue:
    """How many elements the last gather_mask kept (uint64). Page: GatherMask, rsvdCnt."""
    kept = running("get_gather_mask_remain_count").state.get("gather_mask_count")
    if kept is None:
        text = "no gather_mask came before; what the register holds at first is not published"
        raise NotSimulatedError("get_gather_mask_remain_count", text)
    return UInt64.pack(kept)


def _pattern(core: Core, pattern: Any, to: Place, site: Site) -> Place | int:
    """A pattern of bits, or the number of a built-in one."""
    if isinstance(pattern, LocalTensor):
        where = local(core, pattern, "src1_pattern", NAME, site)
        typed(core, where, (uint16 if to.dtype.size == 2 else uint32,), "src1_pattern", NAME, site)
        return where
    number = index(pattern, NAME, "src1_pattern")
    if number not in PATTERNS:
        nearest = min(max(number, 1), 7)
        raise ArgumentValueError(
            NAME, operand="src1_pattern", value=number, rule="1 to 7, or a tensor", nearest=nearest
        )
    return number


def gathered(core: Core, call: Call, site: Site) -> Known:
    """Issue the instruction; S is to wait for how many elements it keeps."""
    ready(core, site)
    pattern, key = call.pattern, call.key
    footprint, bits = (None, None) if isinstance(pattern, int) else _read_bits(core, call, pattern, site)
    known: Known | None = call.dst.plans.get(key)
    if known is None or not (bits is None or np.array_equal(known.bits, bits)):  # type: ignore[arg-type]
        known = call.dst.keep(key, _worked_out(core, call, footprint, bits, site))
    core.issue(known.plan, site)
    return known


def _worked_out(core: Core, call: Call, footprint: Region | None, bits: np.ndarray | None, site: Site) -> Known:
    """The plan of a call whose bits are known."""
    to, src0, size, operation = call.dst, call.src0, call.src0.size, call.operation
    per_block = BLOCK // size
    reads = [region(src0, 0, parts([src0], [(((0, call.length),), call.times)]), operation, site)]
    selected = _selected(call, bits)
    lane, repeat = np.arange(call.length), np.arange(call.times)[:, None]
    where = repeat * src0.repeat * per_block + lane // per_block * src0.block * per_block + lane % per_block
    sources = (src0.place.start // size + where)[selected]
    kept = int(sources.size)
    writes = []
    if kept:
        writes.append(span(to, kept * size, "dst", operation, site))
        if writes[0].meets(reads[0]):
            _overtaken(core, call, src0.place.start // size + where, selected, site)
    assert to.memory is not None
    elements = to.memory.bytes.view(f"u{size}")
    run = partial(elements.take, sources, 0, elements[to.start // size :][:kept], "clip")  # all are read first

    if footprint is not None:
        reads.append(footprint)
    plan = Plan(operation, core.pipes["V"], reads, writes, run, core.device.cost.vector(call.times))
    return Known(None if bits is None else bits.copy(), plan, kept)


def _read_bits(core: Core, call: Call, pattern: Place, site: Site) -> tuple[Region, np.ndarray]:
    """The footprint of a pattern in memory, and its bytes: (repeats, bytes of one)."""
    word = pattern.dtype.size
    length = -(-call.length // (8 * word)) * word  # bytes a repeat
    pitch = call.pattern_stride * BLOCK
    times = call.times if pitch else 1
    piece = (pattern.start, ((times, pitch), (length, 1)) if times > 1 else ((length, 1),))
    footprint = pattern.region((piece,), "src1_pattern", call.operation, site)
    assert pattern.memory is not None
    memory = pattern.memory.bytes.data
    return footprint, np.ndarray((call.times, length), np.uint8, memory, pattern.start, (pitch, 1))


def _selected(call: Call, bits: np.ndarray | None) -> np.ndarray:
    """Which elements are kept: (repeats, elements)."""
    if isinstance(call.pattern, int):
        row = np.resize(np.array(PATTERNS[call.pattern], np.bool_), call.length)
        return np.broadcast_to(row, (call.times, call.length))
    assert bits is not None
    return np.unpackbits(bits, axis=1, bitorder="little")[:, : call.length].astype(np.bool_)


def _overtaken(core: Core, call: Call, sources: np.ndarray, selected: np.ndarray, site: Site) -> None:
    """Report results that fall on elements which a later repeat reads. Packing in place does not."""
    to, size = call.dst, call.src0.size
    assert to.memory is not None
    last = np.full(to.memory.size // size, -1)
    last[sources.reshape(-1)] = np.repeat(np.arange(call.times), call.length)  # the later of two stays
    writer = np.repeat(np.arange(call.times), call.length)[selected.reshape(-1)]
    targets = to.start // size + np.arange(writer.size)
    late = last[targets] > writer
    if late.any():
        hit = np.zeros(to.memory.size, np.bool_)
        hit.reshape(-1, size)[targets[late]] = True
        read = np.repeat(last >= 0, size)
        both = ("dst", [(to.start, to.start + writer.size * size)]), ("src0", runs_of(read))
        text = f"{show_meeting(*both, runs_of(hit))} at repeat {writer[late.argmax()]}"
        rule = "the destination of a repeat is no source of a later one"
        report(core, "OVERLAP_REPEAT", f"{text}; rule: {rule}", site, call.operation)


__all__ = ["gather_mask", "get_gather_mask_remain_count"]
