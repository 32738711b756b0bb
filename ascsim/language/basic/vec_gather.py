"""gather and gatherb: elements, or blocks of 32 bytes, collected by byte offsets from a source. Pages: Gather, Gatherb.

The offsets lie one behind the other, one a lane (gather; also for lanes that are masked off) or one a block. Which
bytes are read depends on them, so the instruction is made when V comes to it. Not simulated: gatherb, and gather by
count, in counter mode (the vendor says nothing about either).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, NotSimulatedError
from ...hw.findings import Site, author
from ...hw.instruction import Plan, Region
from ...hw.memory import Piece
from ..core.dtype import bfloat16, float16, float32, int16, int32, uint16, uint32
from ..core.ir_value import Int32
from ..core.limits import within
from ..core.place import Place, index, report, running
from ..core.types import GatherRepeatParams
from ..masks import ALL_LANES, Mask, Work, counted, given, lanes_or_bits, repeats, words, work
from ..operand import BLOCK, Strided, aligned, local, parts, region, typed
from ..overlap import apart
from ..plans import again, count_of, lanes_of, present, repeated, zero
from ..signatures import signatures

GATHER_TYPES = (int16, uint16, float16, bfloat16, int32, uint32, float32)
GATHERB_TYPES = (uint16, uint32)
OFFSET = 4  # bytes
BASE_LIMIT = (1 << 32) - 1
_PLAIN = {(int, int, type(None), type(None)), (int,) * 4}  # classes of numbers that need no look


class Call(NamedTuple):
    """A checked call. A grain is what one offset stands for: an element or a block; its number is address / bytes."""

    name: str
    src: Place
    offsets: Place
    write: Region
    grain: int  # bytes
    base: int  # bytes added to every offset
    targets: np.ndarray  # grains of UB that are written
    positions: np.ndarray  # which offset each has
    pieces: tuple[Piece, ...]  # footprint of the offsets
    times: int
    end: int  # offsets up to the last one
    table: np.ndarray  # these, in memory
    known: list[Any]  # their bytes at the last issue, and its plan; empty at first


def gather(
    dst: Any,
    src: Any,
    src_offset: Any,
    src_base: Any,
    count: Any = None,
    repeat_times: Any = None,
    dst_rep_stride: Any = None,
    *,
    mask: Any = None,
) -> None:
    """dst[i] = the element of src at byte src_base + src_offset[i].

        gather(dst, src, src_offset, src_base, count)
        gather(dst, src, src_offset, src_base, mask, repeat_times, dst_rep_stride)

    `src_offset`: uint32, multiples of the element's size, lane l of repeat r has number r * lanes + l. `mask`: lanes of
    a repeat of 256 bytes; `repeat_times`: 0 to 255; `dst_rep_stride` in 32-byte blocks. dst lies apart from src and
    src_offset. Faults: BAD_*, MISALIGNED_ADDR, OOB_PHYS, OVERLAP_PARTIAL; warnings: OOB_BUF, ZERO_LENGTH, UNINIT_READ.
    Types: int16, uint16, float16, bfloat16, int32, uint32, float32. Page: Gather.
    """
    site = author(1)
    if count.__class__ is Int32:
        count = count.v
    asked = ("gather", src_base, count, repeat_times, dst_rep_stride)
    kinds = src_base.__class__, count.__class__, repeat_times.__class__, dst_rep_stride.__class__
    plain = kinds in _PLAIN and mask is None
    if plain:
        call = again(dst, (asked, getattr(src, "place", None), getattr(src_offset, "place", None)))
        if call is not None:
            _issue(dst.place.core, call, site)
            return
    core = running("gather")
    places = _places(core, "gather", (dst, src, src_offset), GATHER_TYPES, site)
    if places is None:
        return
    to, source, offsets = places
    size, lanes = to.dtype.size, lanes_of(to.dtype)
    base = index(src_base, "gather", "src_base")
    if not 0 <= base <= BASE_LIMIT or base % size:
        text = f"src_base = {base}; rule: a multiple of {size} bytes, 0 to {BASE_LIMIT}"
        report(core, "MISALIGNED_ADDR", f"{text}; nearest legal value: {max(base - base % size, 0)}", site, "gather")
    if repeat_times is None and dst_rep_stride is None:
        works, pitch = _by_count(core, count, lanes, site), 8
    else:
        works = _by_mask(core, lanes_or_bits(count, mask, "gather"), repeat_times, lanes, site)
        pitch = within(core, "BAD_STRIDE", "dst_rep_stride", dst_rep_stride, 0, 0xFFFF, "gather", site, "blocks")
    if not works:
        return
    key = ("gather", source, offsets, base, tuple(works), pitch)
    call = to.plans.get(key)
    if call is None:
        call = to.keep(key, _elements(core, to, source, offsets, base, works, pitch, site))
    elif plain and not core.mask[2]:  # it need not be checked again
        to.keep((asked, source, offsets), (core.mask, call))
    _issue(core, call, site)


def _elements(
    core: Core, to: Place, source: Place, offsets: Place, base: int, works: list[Work], pitch: int, site: Site
) -> Call:
    """A call of gather, whatever its offsets say."""
    size, lanes = to.dtype.size, lanes_of(to.dtype)
    target = Strided("dst", to, 1, pitch)
    write = region(target, 0, parts([target], works), "gather", site)
    repeated(core, works, write.memory, "gather", site)
    positions, targets, pieces = [], [], []
    first = 0
    for runs, times in works:
        lane = np.concatenate([np.arange(*run) for run in runs])
        repeat = np.arange(first, first + times)[:, None]
        positions.append((repeat * lanes + lane).reshape(-1))
        targets.append(((to.start + repeat * pitch * BLOCK) // size + lane).reshape(-1))
        start = offsets.start + first * lanes * OFFSET
        pieces += [_rows(start + a * OFFSET, (b - a) * OFFSET, lanes * OFFSET, times) for a, b in runs]
        first += times
    at, grains = np.concatenate(positions), np.concatenate(targets)
    end = int(at[-1]) + 1
    table = offsets.array(end)
    return Call("gather", source, offsets, write, size, base, grains, at, tuple(pieces), first, end, table, [])


def gatherb(dst: Any, src0: Any, offset: Any, repeat_times: Any, repeat_params: Any) -> None:
    """Block b of repeat r of dst = the 32 bytes of src0 at byte offset[8 * r + b].

    `offset`: uint32, multiples of 32. `repeat_params`: a GatherRepeatParams; its block stride 0 stands for 1. Types:
    uint16, uint32. dst lies apart from src0 and offset. All lanes of the mask registers are set. Faults: BAD_*,
    MISALIGNED_ADDR, OOB_PHYS, OVERLAP_PARTIAL; warnings: OOB_BUF, ZERO_LENGTH, UNINIT_READ. Page: Gatherb.
    """
    site = author(1)
    asked = ("gatherb", repeat_times, repeat_params.key) if repeat_params.__class__ is GatherRepeatParams else None
    plain = repeat_times.__class__ is int and asked is not None
    if plain:
        call = again(dst, (asked, getattr(src0, "place", None), getattr(offset, "place", None)))
        if call is not None:
            _issue(dst.place.core, call, site)
            return
    core = running("gatherb")
    places = _places(core, "gatherb", (dst, src0, offset), GATHERB_TYPES, site)
    if places is None:
        return
    to, source, offsets = places
    if not isinstance(repeat_params, GatherRepeatParams):
        rule = "a GatherRepeatParams"
        raise ArgumentTypeError("gatherb", operand="repeat_params", value=repeat_params, rule=rule)
    if core.mask[2]:
        raise NotSimulatedError("gatherb", "in counter mode: the vendor says nothing about it", rule="set_mask_norm()")
    times = repeats(core, repeat_times, "gatherb", site)
    block, pitch = repeat_params.key
    block = within(core, "BAD_STRIDE", "dst_blk_stride", block, 0, 0xFF, "gatherb", site, "blocks") or 1
    core.mask = ALL_LANES
    if not times:
        zero(core, "repeat_times", "gatherb", site)
        return
    key = ("gatherb", source, offsets, times, block, pitch)
    call = to.plans.get(key)
    if call is None:
        call = to.keep(key, _blocks(core, to, source, offsets, times, block, pitch, site))
    elif plain:  # it need not be checked again
        to.keep((asked, source, offsets), (ALL_LANES, call))
    _issue(core, call, site)


def _blocks(
    core: Core, to: Place, source: Place, offsets: Place, times: int, block: int, pitch: int, site: Site
) -> Call:
    """A call of gatherb, whatever its offsets say."""
    target = Strided("dst", to, block, pitch)
    write = region(target, 0, parts([target], [(((0, lanes_of(to.dtype)),), times)]), "gatherb", site)
    grains = to.start // BLOCK + np.arange(times)[:, None] * pitch + np.arange(8) * block
    pieces = (_rows(offsets.start, times * 8 * OFFSET, 0, 1),)
    at = np.arange(times * 8)
    table = offsets.array(at.size)
    return Call("gatherb", source, offsets, write, BLOCK, 0, grains.reshape(-1), at, pieces, times, at.size, table, [])


def _places(
    core: Core, name: str, tensors: tuple[Any, Any, Any], types: tuple[Any, ...], site: Site
) -> tuple[Place, Place, Place] | None:
    """The checked operands; None where this kind of core does nothing."""
    what = ("dst", "src" if name == "gather" else "src0", "src_offset" if name == "gather" else "offset")
    to, source, offsets = (local(core, tensor, n, name, site) for n, tensor in zip(what, tensors, strict=True))
    typed(core, to, types, what[0], name, site)
    typed(core, source, (to.dtype,), what[1], name, site)
    typed(core, offsets, (uint32,), what[2], name, site)
    if not present(core, to.memory, name, site):
        return None
    for n, where in zip(what, (to, source, offsets), strict=True):
        aligned(core, where, n, name, site)
    return to, source, offsets


def _by_count(core: Core, count: Any, lanes: int, site: Site) -> list[Work]:
    """The work of a call by count; the registers are left as the last repeat needs them."""
    if core.mask[2]:
        text = "by count in counter mode: the vendor says nothing about it"
        raise NotSimulatedError("gather", text, rule="set_mask_norm()")
    n = count_of(core, count, "gather", site)
    if not n:
        zero(core, "count", "gather", site)
        return []
    high, low = words(n % lanes or lanes)
    core.mask = (high, low, False) if n % lanes else ALL_LANES
    return counted(n, lanes)


def _by_mask(core: Core, mask: Any, times: Any, lanes: int, site: Site) -> list[Work]:
    registers: Mask = given(core, mask, lanes, "gather", site)
    core.mask = registers
    n = repeats(core, times, "gather", site)
    works = work(registers, n, lanes)
    if not works:
        zero(core, "mask" if n else "repeat_times", "gather", site)
    return works


def _rows(start: int, length: int, pitch: int, times: int) -> Piece:
    if times == 1 or pitch == length:
        return start, ((length * times, 1),)
    return start, ((times, pitch), (length, 1))


def _issue(core: Core, call: Call, site: Site) -> None:
    """Issue it now, or when V has come to it: then its offsets are known."""
    pipe = core.pipes["V"]
    if pipe.parked is not None:
        core.park(pipe, _issue, (core, call, site), site)
        return
    name, src, grain = call.name, call.src, call.grain
    if call.end * OFFSET > call.offsets.nbytes:
        text = f"{call.end} offsets are read of a tensor of {call.offsets.origin()}{core.loop()}"
        report(core, "OOB_BUF", text, site, name)
    now = call.table.tobytes()
    if call.known and call.known[0] == now:  # a loop that gathers by one table
        core.issue(call.known[1], site)
        return
    known = core.region("UB", call.pieces, f"{name}: offsets", site)
    starts = call.table[call.positions].astype(np.int64) + call.base
    _check(core, call, starts, site)
    sources = (src.start + starts) // grain
    read = core.region("UB", _runs(sources, grain), f"{name}: src", site)
    apart(core, call.write, (read, known), name, site)
    plan = Plan(name, pipe, (read, known), (call.write,), _mover(call, sources), core.device.cost.vector(call.times))
    if not core.told:  # as in `Place.keep`
        call.known[:] = now, plan
    core.told = False
    core.issue(plan, site)


def _mover(call: Call, sources: np.ndarray) -> Callable[[], Any]:
    """What does the work: all grains are read before one is written."""
    assert call.src.memory is not None
    data, targets = call.src.memory.bytes, call.targets
    grains = data.reshape(-1, BLOCK) if call.grain == BLOCK else data.view(f"u{call.grain}")
    first = int(targets[0])
    if np.array_equal(targets, np.arange(first, first + targets.size)):  # one behind the other
        return partial(np.take, grains, sources, 0, grains[first : first + targets.size], "clip")

    def run() -> None:
        grains[targets] = grains[sources]

    return run


def _check(core: Core, call: Call, starts: np.ndarray, site: Site) -> None:
    """Report the first offset that is no multiple of the grain, and the first that leaves the source."""
    name, grain, src = call.name, call.grain, call.src
    for code, bad, rule in (
        ("MISALIGNED_ADDR", starts % grain != 0, f"a multiple of {grain} bytes"),
        ("OOB_BUF", starts + grain > src.nbytes, f"at most {src.nbytes - grain}, src is {src.origin()}"),
    ):
        if bad.any():
            i = int(bad.argmax())
            text = f"offset[{call.positions[i]}] = {int(starts[i]) - call.base}"
            where = f" from src_base = {call.base}" if call.base else ""
            report(core, code, f"{text}{where}; rule: {rule}", site, name)


def _runs(grains: np.ndarray, size: int) -> tuple[Piece, ...]:
    """The bytes of these grains as runs."""
    found = np.unique(grains)
    breaks = np.flatnonzero(np.diff(found) > 1)
    firsts = found[np.concatenate(([0], breaks + 1))].tolist()
    lasts = found[np.concatenate((breaks, [found.size - 1]))].tolist()
    return tuple((a * size, (((b - a + 1) * size, 1),)) for a, b in zip(firsts, lasts, strict=True))


gather.__overloads__ = signatures(  # type: ignore[attr-defined]
    "dst, src, src_offset, src_base, count",
    "dst, src, src_offset, src_base, mask, repeat_times, dst_rep_stride",
)

__all__ = ["gather", "gatherb"]
