"""Sum, greatest and least of a whole tensor: one call for several rounds of instructions on the device.

The vendor's rounds are one instruction here, priced by the repeats of the source; where the device's scalar unit
fetches the result of the last round, S waits for V. Of the work buffer the documented bytes are used up: undefined
afterwards (here they keep what they held). Pages: ReduceSum, ReduceMax, ReduceMin. Not simulated: counter mode, of
which a sum by count alone is free (nothing is said about the rest), and what the last round leaves in the mask
registers (here the mask of the call; all lanes by count).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...hw.core import Core
from ...hw.errors import NotSimulatedError
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from ..core.ir_value import Int32
from ..core.limits import within
from ..core.place import Place, flag, report, running
from ..masks import ALL_LANES, Work, counted, given, lanes_or_bits, work
from ..operand import BLOCK, REPEAT, Strided, aligned, local, parts, region, typed
from ..plans import again, count_of, lanes_of, present, zero
from ..reduction import Lanes, extreme, lanes_of_works, tree
from ..rows import Row, finish, register
from ..spans import span
from ..values import SIGNED
from ..waits import scalar_waits
from .vec_reduce import FLOATING, stride

TIMES_LIMIT = (1 << 31) - 1
_PLAIN = (int, type(None))  # classes of numbers that need no look


class Call(NamedTuple):
    """A checked call. `by_count`: the count form; `indexed`: the index is asked for.

    `dense`: the elements of the source, where they lie one behind the other and all take part.
    """

    dst: Place
    src: Strided
    buffer: Place
    works: list[Work]
    by_count: bool
    indexed: bool
    dense: np.ndarray | None = None

    @property
    def times(self) -> int:
        """Repeats of the source."""
        return sum(times for _, times in self.works)


def _blocks(elements: int, size: int) -> int:
    """Elements of `size` bytes, rounded up to whole blocks."""
    per_block = BLOCK // size
    return -(-elements // per_block) * per_block


def _sum_room(call: Call) -> int:
    """Elements of the work buffer that a sum needs: none by count, else one a repeat."""
    return 0 if call.by_count else _blocks(call.times, call.src.size)


def _extreme_room(call: Call) -> int:
    """Elements of the work buffer that an extreme needs: pairs of value and index, of every round with an index."""
    size = call.src.size
    lanes = REPEAT // size
    first = max(1, call.times - (len(call.works) > 1)) if call.by_count else call.times
    pairs = 2 * first
    room = _blocks(pairs, size)
    if not call.indexed:
        return room
    pairs = -(-pairs // lanes) * 2
    room += _blocks(pairs, size)
    if pairs > 2:
        room += _blocks(-(-pairs // lanes) * 2, size)
    return room


def _sum(call: Call, steps: list[Lanes], to: np.ndarray) -> None:
    """Trees within repeats; then in order by count, trees again otherwise."""
    rows = [tree(lanes.read()) for lanes in steps]
    sums = np.concatenate(rows) if len(rows) > 1 else rows[0]
    if call.by_count:
        to[0] = np.add.accumulate(sums, dtype=sums.dtype)[-1]
        return
    lanes = REPEAT // call.src.size
    while sums.size > 1:
        filled = np.full((-(-sums.size // lanes), lanes), -0.0, sums.dtype)
        filled.reshape(-1)[: sums.size] = sums
        sums = tree(filled)
    to[0] = sums[0]


def _extreme(greatest: bool, call: Call, steps: list[Lanes], to: np.ndarray) -> None:
    """The first of equals; its index counts elements from the start of the source, the gaps of strides included."""
    dense = call.dense
    if dense is not None:
        place = dense.argmax() if greatest else dense.argmin()
        if dense[place]:  # of zeros the sign counts: as below
            bits = to.view(SIGNED[to.itemsize])
            bits[0] = dense.view(bits.dtype)[place]
            if call.indexed:
                bits[1:] = place.astype(bits.dtype)
            return
    found = [extreme(lanes.read(), None if lanes.all else lanes.active, greatest) for lanes in steps]
    bits, at = (np.concatenate(part) for part in zip(*found, strict=True))
    best, repeat = extreme(bits.view(to.dtype)[None], None, greatest)
    to[:1] = best.view(to.dtype)
    if call.indexed:
        first = int(repeat[0])
        where = int(at[first]) + first * call.src.repeat * BLOCK // call.src.size
        to[1:] = np.array([where]).astype(f"u{call.src.size}").view(to.dtype)


SUM = register(Row("reduce_sum", _sum, FLOATING, "dst[0] = the sum of all lanes", "ReduceSum", sources=1))
MAX = register(
    Row(
        "reduce_max",
        partial(_extreme, True),
        FLOATING,
        "dst[0] = the greatest of all lanes; with cal_index dst[1] = where it stands",
        "ReduceMax",
        sources=1,
    )
)
MIN = register(
    Row(
        "reduce_min",
        partial(_extreme, False),
        FLOATING,
        "dst[0] = the least of all lanes; with cal_index dst[1] = where it stands",
        "ReduceMin",
        sources=1,
    )
)


def _fetched(row: Row, call: Call) -> bool:
    """Whether the device's scalar unit fetches the result of the last round, as the vendor's code has it."""
    if row is SUM and not call.by_count and call.times > 1:
        return call.times <= REPEAT // call.src.size
    return not call.indexed or call.times > 1


def _reduce(
    row: Row,
    room: Callable[[Call], int],
    tensors: tuple[Any, Any, Any],
    lanes: Any,
    times: Any,
    rep_stride: Any,
    indexed: Any,
    site: Site,
) -> None:
    """Issue a call in either form; `times` and `rep_stride` are None in the count form."""
    name = row.name
    if lanes.__class__ is Int32:
        lanes = lanes.v
    asked = (row, lanes, times, rep_stride, indexed)
    plain = lanes.__class__ is int and times.__class__ is rep_stride.__class__ and times.__class__ in _PLAIN
    if plain and indexed.__class__ is bool:
        dst, src, buffer = tensors
        kept = again(dst, (asked, getattr(src, "place", None), getattr(buffer, "place", None)))
        if kept is not None:
            plan, waits = kept
            _send(dst.place.core, plan, waits, site)
            return
    core = running(name)
    places: list[Place] = []
    for what, tensor in zip(("dst", "src", "shared_tmp_buffer"), tensors, strict=True):
        where = local(core, tensor, what, name, site)
        typed(core, where, row.dtypes, what, name, site)
        if places and where.dtype is not places[0].dtype:
            text = f"{what} has type {where.dtype}, dst has {places[0].dtype}; rule: one type for all"
            report(core, "BAD_DTYPE", text, site, name)
        places.append(where)
    to, source, buffer = places
    if not present(core, to.memory, name, site):
        return
    size, wants_index = source.dtype.size, flag(indexed, name, "cal_index")
    by_count = times is None and rep_stride is None
    if core.mask[2] and not (by_count and row is SUM):
        raise NotSimulatedError(name, "in counter mode: the vendor says nothing about it", rule="set_mask_norm()")
    if by_count:
        core.mask = ALL_LANES
        n = count_of(core, lanes, name, site)
        works, gap, empty = counted(n, lanes_of(source.dtype)), 8, "count"
    else:
        core.mask = given(core, lanes, lanes_of(source.dtype), name, site)
        n = within(core, "BAD_REPEAT", "repeat_time", times, 0, TIMES_LIMIT, name, site)
        gap = stride(core, name, "src_rep_stride", rep_stride, site)
        works, empty = work(core.mask, n, lanes_of(source.dtype)), "mask" if n else "repeat_time"
    if not works:
        zero(core, empty, name, site)
        return
    call = Call(to, Strided("src", source, 1, gap), buffer, works, by_count, wants_index)
    form = (row, source, buffer, tuple(works), gap, by_count, wants_index)
    plan = to.plans.get(form)
    if plan is None:
        aligned(core, source, "src", name, site)
        aligned(core, buffer, "shared_tmp_buffer", name, site)
        aligned(core, to, "dst", name, site, size * (1 + wants_index))
        plan = to.keep(form, _plan(core, row, call, room(call) * size, site))
    waits = _fetched(row, call)
    if plain and to.plans.get(form) is plan:  # it need not be checked again
        to.keep((asked, source, buffer), (core.mask, (plan, waits)))
    _send(core, plan, waits, site)


def _send(core: Core, plan: Plan, waits: bool, site: Site) -> None:
    """Issue a plan, and wait for it where the scalar unit reads the result."""
    core.issue(plan, site)
    if waits:
        scalar_waits(core, site)


def _plan(core: Core, row: Row, call: Call, room: int, site: Site) -> Plan:
    name, to, buffer = row.name, call.dst, call.buffer
    read = region(call.src, 0, parts([call.src], call.works), name, site)
    length = call.src.size * (1 + call.indexed)
    writes = [span(to, length, "dst", name, site)]
    voids = None
    if room:
        if buffer.nbytes < room:
            text = f"shared_tmp_buffer has {buffer.nbytes} bytes; rule: at least {room} for this call"
            report(core, "OOB_BUF", f"{text}; it is {buffer.origin()}", site, name)
        a, b = buffer.start, buffer.start + room  # less the result, which may lie there
        runs = [(a, min(b, to.start)), (max(a, to.start + length), b)]
        if b <= to.start or to.start + length <= a:
            runs = [(a, b)]
        pieces = tuple((first, ((end - first, 1),)) for first, end in runs if first < end)
        voids = core.region("UB", pieces, f"{name}: shared_tmp_buffer", site) if pieces else None
        writes += [voids] if voids is not None else []
    run = partial(
        row.value, call._replace(dense=_dense(call)), lanes_of_works(call.src, call.works), to.array(1 + call.indexed)
    )
    return Plan(name, core.pipes["V"], (read,), writes, run, core.device.cost.vector(call.times), voids=voids)


def _dense(call: Call) -> np.ndarray | None:
    """The elements of the source, where they lie one behind the other and all take part."""
    lanes = REPEAT // call.src.size
    if call.src.repeat * BLOCK != REPEAT or (not call.by_count and call.works[0][0] != ((0, lanes),)):
        return None
    return call.src.place.array(sum(runs[-1][1] * times for runs, times in call.works))


def reduce_sum(
    dst: Any,
    src: Any,
    shared_tmp_buffer: Any,
    count: Any = None,
    repeat_time: Any = None,
    src_rep_stride: Any = None,
    *,
    mask: Any = None,
) -> None:
    lanes = lanes_or_bits(count, mask, "reduce_sum")
    _reduce(SUM, _sum_room, (dst, src, shared_tmp_buffer), lanes, repeat_time, src_rep_stride, False, author(1))


def reduce_max(
    dst: Any,
    src: Any,
    shared_tmp_buffer: Any,
    count: Any = None,
    repeat_time: Any = None,
    src_rep_stride: Any = None,
    cal_index: Any = False,
    *,
    mask: Any = None,
) -> None:
    if src_rep_stride is None and repeat_time is not None:  # cal_index by position
        repeat_time, cal_index = None, repeat_time
    lanes = lanes_or_bits(count, mask, "reduce_max")
    tensors = (dst, src, shared_tmp_buffer)
    _reduce(MAX, _extreme_room, tensors, lanes, repeat_time, src_rep_stride, cal_index, author(1))


def reduce_min(
    dst: Any,
    src: Any,
    shared_tmp_buffer: Any,
    count: Any = None,
    repeat_time: Any = None,
    src_rep_stride: Any = None,
    cal_index: Any = False,
    *,
    mask: Any = None,
) -> None:
    if src_rep_stride is None and repeat_time is not None:  # cal_index by position
        repeat_time, cal_index = None, repeat_time
    lanes = lanes_or_bits(count, mask, "reduce_min")
    tensors = (dst, src, shared_tmp_buffer)
    _reduce(MIN, _extreme_room, tensors, lanes, repeat_time, src_rep_stride, cal_index, author(1))


_DOC = """`count`: elements from the start. `mask`: lanes of a repeat of 256 bytes, as a number or as two words of bits
[low, high]; `repeat_time`: 0 to 2147483647; `src_rep_stride` in blocks of 32 bytes.
{}
Faults: BAD_DTYPE, BAD_POSITION, BAD_MASK, BAD_REPEAT, BAD_STRIDE, MISALIGNED_ADDR, OOB_PHYS, DEADLOCK; warnings:
OOB_BUF, ZERO_LENGTH, UNINIT_READ."""
_SUMS = """Sums within a repeat are binary trees over neighbouring lanes; those of the repeats are added one after the
other (count) or by trees again (mask). `shared_tmp_buffer`: not used by count, else an element a repeat, in whole
blocks."""
_INDEX = """The index has the bits of an unsigned number of the element's width; the first of equals counts, NaN wins.
`shared_tmp_buffer`: two elements a repeat, in whole blocks; with cal_index two more for every 256 bytes of these, and
so on until two are left."""
_NANS = "which of several NaNs the index names is not published; the first here."
_FORMS = ("dst, src, shared_tmp_buffer, count", "dst, src, shared_tmp_buffer, mask, repeat_time, src_rep_stride")
finish(reduce_sum, SUM, _FORMS, _DOC.format(_SUMS))
for _function, _row in ((reduce_max, MAX), (reduce_min, MIN)):
    finish(_function, _row, [f"{form}, cal_index=False" for form in _FORMS], _DOC.format(_INDEX), _NANS)

__all__ = ["reduce_max", "reduce_min", "reduce_sum"]
