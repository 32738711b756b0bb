"""select: elements of one source or the other, by bits that a tensor or the compare mask holds.

On the device a call of two to four instructions with barriers between them; here one, which takes as long as all of
them. Without automatic synchronisation the barrier in front of the selecting instruction is modelled. Not modelled:
counter mode with a mask in the modes that need scratch, and the form without mask in VSEL_TENSOR_TENSOR_MODE, for which
the compare mask holds an address. Page: Select.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, ArgumentValueError, NotSimulatedError
from ...hw.findings import Site, author
from ...hw.instruction import Plan, Region
from ...hw.soc import RESERVED
from .. import cmp_mask
from ..core.dtype import float16, float32, int1, uint8, uint16, uint32, uint64
from ..core.enums import SelMode
from ..core.ir_value import Int32, unwrap
from ..core.place import Place, index, report, running
from ..core.tensor import LocalTensor
from ..core.types import BinaryRepeatParams
from ..forms import element, number_of
from ..lanes import first_bytes, hidden
from ..masks import ALL_LANES, Runs, Work, counted, given, lanes_or_bits, plain, repeats, work
from ..mixed import lanes_of
from ..operand import BLOCK, Strided, aligned, local, typed
from ..overlap import disjoint
from ..plans import build, count_of, present, stride_key, zero
from ..rows import Row
from ..signatures import signatures

NAME = "select"
FLOATING = (float16, float32)
BITS = (uint8, uint16, uint32, uint64)
SCRATCH = RESERVED[0].start  # byte of UB that the modes with a number, or with bits for every element, use
FILLED = 32  # elements of it that they fill
EXTRA = {SelMode.VSEL_CMPMASK_SPR: 1, SelMode.VSEL_TENSOR_SCALAR_MODE: 2, SelMode.VSEL_TENSOR_TENSOR_MODE: 2}


def _choose(a: Any, b: Any, bits: Any) -> Any:
    return np.where(bits, a, b)


def _choose_or(a: Any, bits: Any, number: Any) -> Any:
    return np.where(bits, a, number)


TENSORS = Row(NAME, _choose, FLOATING, "dst = src0 where the bit is set, else src1", "Select")
NUMBER = Row(NAME, _choose_or, FLOATING, "dst = src0 where the bit is set, else the number", "Select")


def select(
    dst: Any,
    sel_mask: Any = None,
    src0: Any = None,
    src1: Any = None,
    sel_mode: Any = None,
    count: Any = None,
    repeat_times: Any = None,
    repeat_params: Any = None,
    is_set_mask: Any = True,
    *,
    mask: Any = None,
) -> None:
    """dst = src0 where a bit of sel_mask is set, else src1 (a tensor, or a number).

        select(dst, sel_mask, src0, src1, sel_mode, count)
        select(dst, sel_mask, src0, src1, sel_mode, mask, repeat_times, repeat_params, is_set_mask=True)
        select(dst, sel_mask, src0, repeat_times, repeat_params)              the number: set_cmp_mask
        select(dst, src0, src1, repeat_times, repeat_params, sel_mode)        the bits: set_cmp_mask or compare

    VSEL_CMPMASK_SPR: src1 a tensor; every repeat takes the first bits (64 for float32, 128 for float16).
    VSEL_TENSOR_TENSOR_MODE: src1 a tensor, VSEL_TENSOR_SCALAR_MODE: a number; element i takes bit i, lowest bit of the
    first byte first, counting all lanes of all repeats. These two use 32 elements of UB from 184 KiB on (warning
    RESERVED_MEM where there is data). The last two forms take the mask registers as they are. `is_set_mask` keeps its
    default. All in UB at multiples of 32 bytes. Faults: BAD_DTYPE, BAD_POSITION, BAD_MASK, BAD_REPEAT, BAD_STRIDE,
    MISALIGNED_ADDR, OOB_PHYS, OVERLAP_*; warnings: OOB_BUF, ZERO_LENGTH, UNINIT_READ. Types: float16, float32; sel_mask
    of unsigned integers. Page: Select.
    """
    site = author(1)
    core = running(NAME)
    if isinstance(sel_mode, BinaryRepeatParams):  # repeats, strides, and perhaps the mode, by position
        _by_register(core, dst, sel_mask, src0, src1, sel_mode, count, site)
        return
    if src1 is None or sel_mask is None:
        first, second = (sel_mask, src0) if src1 is None else (src0, src1)
        _by_register(core, dst, first, second, repeat_times, repeat_params, sel_mode, site)
        return
    if repeat_times is None and repeat_params is None and mask is None:
        if count.__class__ is not int:
            count = count.v if count.__class__ is Int32 else index(count, NAME, "count")
        try:
            other = src1.place if isinstance(src1, LocalTensor) else number_of(src1)
            key = (NAME, sel_mask.place, src0.place, other, sel_mode.__class__, sel_mode, count)  # 1.0 is no mode 1
            plan, steps = dst.place.plans[key]
        except (AttributeError, KeyError, TypeError):
            found = _by_count(core, dst, sel_mask, src0, src1, sel_mode, count, site)
            if found is None:
                return
            plan, steps = found
        core.mask = ALL_LANES
        _issue(core, plan, steps, site)
        return
    lanes = lanes_or_bits(count, mask, NAME)
    form = (lanes, repeat_times, repeat_params, is_set_mask)
    found = _by_mask(core, dst, sel_mask, src0, src1, sel_mode, *form, site)
    if found is not None:
        _issue(core, *found, site)


class Steps(NamedTuple):
    """What happens around the selecting instruction: before it, in scratch (bytes), and a barrier after it."""

    before: Plan | None
    scratch: int
    barrier_after: bool


def _issue(core: Core, plan: Plan, steps: Steps, site: Site) -> None:
    if steps.scratch:
        end = SCRATCH + steps.scratch
        if core.memories["UB"].defined[SCRATCH:end].tobytes() != bytes(steps.scratch):
            text = f"UB bytes [{SCRATCH}:{end}) hold data, but they are the scratch of this instruction"
            report(core, "RESERVED_MEM", text, site, NAME)
    cmp_mask.issued(core, 0)
    if plan.pipe.self_ordered:
        core.issue(plan, site)
        return
    if steps.before is not None:
        core.issue(steps.before, site)
    core.barrier(plan.pipe, site)
    core.issue(plan, site)
    if steps.barrier_after:
        core.barrier(plan.pipe, site)


def _operands(core: Core, tensors: Sequence[tuple[str, Any]], sel_mask: Any, site: Site) -> list[Strided] | None:
    """Destination and sources, then the bits if there are any; None where this kind of core does nothing."""
    ops: list[Strided] = []
    for name, tensor in tensors:
        where = local(core, tensor, name, NAME, site)
        typed(core, where, FLOATING, name, NAME, site)
        if ops and where.dtype is not ops[0].place.dtype:
            text = f"{name} has type {where.dtype}, dst has {ops[0].place.dtype}; rule: one type for all"
            report(core, "BAD_DTYPE", text, site, NAME)
        ops.append(Strided(name, where))
    if sel_mask is not None:
        where = local(core, sel_mask, "sel_mask", NAME, site)
        typed(core, where, BITS, "sel_mask", NAME, site)
        ops.append(Strided("sel_mask", where))
    if not present(core, ops[0].place.memory, NAME, site):
        return None
    for op in ops:
        aligned(core, op.place, op.name, NAME, site)
    return ops


def _mode(sel_mode: Any, src1: Any) -> SelMode:
    mode = index(sel_mode, NAME, "sel_mode", "a SelMode")
    if mode not in EXTRA:
        rule = ", ".join(m.name for m in SelMode)
        raise ArgumentValueError(NAME, operand="sel_mode", value=mode, rule=rule)
    number = mode == SelMode.VSEL_TENSOR_SCALAR_MODE
    if number is isinstance(src1, LocalTensor):
        rule = f"{'a number' if number else 'a LocalTensor'} with {SelMode(mode).name}"
        raise ArgumentTypeError(NAME, operand="src1", value=src1, rule=rule)
    return SelMode(mode)


def _sources(dst: Any, src0: Any, src1: Any, mode: SelMode) -> list[tuple[str, Any]]:
    tensors = [("dst", dst), ("src0", src0)]
    return tensors if mode == SelMode.VSEL_TENSOR_SCALAR_MODE else [*tensors, ("src1", src1)]


def _by_count(
    core: Core, dst: Any, sel_mask: Any, src0: Any, src1: Any, sel_mode: Any, count: Any, site: Site
) -> tuple[Plan, Steps] | None:
    mode = _mode(sel_mode, src1)
    ops = _operands(core, _sources(dst, src0, src1, mode), sel_mask, site)
    n = count_of(core, count, NAME, site)
    if n == 0:
        zero(core, "count", NAME, site)
    if ops is None or n == 0:
        return None
    *ops, bits = ops
    works = counted(n, lanes_of([ops[0].place]))
    found = _plan(core, ops, bits.place, src1, mode, works, site, barrier_after=mode != SelMode.VSEL_TENSOR_SCALAR_MODE)
    other = ops[2].place if len(ops) == 3 else number_of(src1)
    ops[0].place.keep((NAME, bits.place, ops[1].place, other, sel_mode.__class__, mode, n), found)
    return found


def _by_mask(
    core: Core,
    dst: Any,
    sel_mask: Any,
    src0: Any,
    src1: Any,
    sel_mode: Any,
    mask: Any,
    times: Any,
    params: Any,
    set_mask: Any,
    site: Site,
) -> tuple[Plan, Steps] | None:
    asked, words = None, plain(mask)
    numbers = words is not None and times.__class__ is int and sel_mode.__class__ is SelMode
    if numbers and set_mask is True and not core.mask[2]:
        try:
            other = src1.place if isinstance(src1, LocalTensor) else number_of(src1)
            form = NAME, words, times, params.__class__, params.key, sel_mode
            asked = (*form, other, sel_mask.place, src0.place)
            core.mask, known = dst.place.plans[asked]
            return known
        except (AttributeError, KeyError, TypeError):
            pass
    mode = _mode(sel_mode, src1)
    if not index(set_mask, NAME, "is_set_mask"):
        raise NotSimulatedError(
            NAME,
            "the parameter is reserved: the form without mask takes the mask registers as they are",
            operand="is_set_mask",
            value=unwrap(set_mask),
            rule="True",
        )
    if core.mask[2] and mode != SelMode.VSEL_CMPMASK_SPR:
        raise NotSimulatedError(NAME, f"{mode.name} in counter mode: the steps before it go wrong", rule="normal mode")
    ops = _operands(core, _sources(dst, src0, src1, mode), sel_mask, site)
    if ops is None:
        return None
    *ops, bits = ops
    lanes = lanes_of([ops[0].place])
    core.mask = registers = given(core, mask, lanes, NAME, site)
    n = repeats(core, times, NAME, site)
    key = stride_key(core, TENSORS, params, site)
    other = ops[2].place if len(ops) == 3 else number_of(src1)
    whole = (NAME, registers, n, key, bits.place, ops[1].place, other, mode)
    found = ops[0].place.plans.get(whole)
    if found is not None:
        if asked is not None and asked[-3:] == (other, bits.place, ops[1].place):  # all are alive
            ops[0].place.keep(asked, (registers, found))
        return found
    works = work(registers, n, lanes)
    if not works:
        zero(core, "mask" if n else "repeat_times", NAME, site)
        return None
    _stride(ops, key)
    found = _plan(core, ops, bits.place, src1, mode, works, site)
    ops[0].place.keep(whole, found)
    return found


def _stride(ops: list[Strided], key: tuple[int, ...]) -> None:
    """Strides of a BinaryRepeatParams for destination and one or two sources."""
    for op, block, repeat in zip(ops, key[:3], key[3:], strict=False):
        op.block, op.repeat = block, repeat


def _plan(
    core: Core,
    ops: list[Strided],
    bits: Place,
    src1: Any,
    mode: SelMode,
    works: list[Work],
    site: Site,
    barrier_after: bool = False,
) -> tuple[Plan, Steps]:
    """The plan of a form with sel_mode, and the steps around it."""
    dtype = ops[0].place.dtype
    again = mode == SelMode.VSEL_CMPMASK_SPR
    number = mode == SelMode.VSEL_TENSOR_SCALAR_MODE
    row = (
        replace(NUMBER, value=partial(_choose_or, number=element(src1, dtype, "select", "src1"))) if number else TENSORS
    )
    plan, footprint = _selecting(core, row, ops, bits, again, works, site)
    one = core.device.cost.vector(1)
    if again and not plan.pipe.self_ordered:
        return plan, Steps(Plan(NAME, plan.pipe, (footprint,), (), _nothing, one), 0, barrier_after)
    cycles = plan.cycles + EXTRA[mode] * one
    scratch = 0 if again else FILLED * (dtype.size if number else uint32.size)
    whole = Plan(NAME, plan.pipe, (*plan.reads, footprint), plan.writes, plan.run, cycles)
    return whole, Steps(None, scratch, barrier_after)


def _selecting(
    core: Core, row: Row, ops: list[Strided], bits: Place, again: bool, works: list[Work], site: Site
) -> tuple[Plan, Region]:
    """The selecting instruction, with bits that are spread out to one flag a lane when it runs, and their footprint.

    `again`: every repeat takes the same bits.
    """
    lanes = lanes_of([ops[0].place])
    total = sum(times for _, times in works)
    ends = [runs[-1][1] for runs, _ in works]
    nbytes = -(-(max(ends) if again else (total - 1) * lanes + ends[-1]) // 8)
    footprint, packed = first_bytes("sel_mask", bits, nbytes, NAME, site)  # fits, or no flags are made
    flags, spread = _flags(lanes, 1 if again else total, again)
    plan = build(core, row, ops, works, site, [spread])
    disjoint(core, ("dst", plan.writes[0]), ("sel_mask", footprint), NAME, site, "lie apart")
    plan.run = partial(_select, packed, flags[: 8 * nbytes], plan.run)
    return plan, footprint


def _flags(lanes: int, repeats: int, again: bool) -> tuple[Any, Strided]:
    flags = np.zeros(lanes * repeats, np.uint8)
    return flags, hidden("flags", flags.view(np.bool_), int1, 1, 0 if again else lanes // BLOCK)


def _select(packed: Any, flags: Any, run: Any) -> None:
    flags[:] = np.unpackbits(packed, bitorder="little")
    run()


def _nothing() -> None:
    """The bits go to the compare mask, where nothing else sees them."""


def _by_register(
    core: Core, dst: Any, first: Any, second: Any, times: Any, params: Any, sel_mode: Any, site: Site
) -> None:
    """The forms that take the number, or the bits, from the compare mask, and the mask registers as they are."""
    mode = SelMode.VSEL_TENSOR_SCALAR_MODE if sel_mode is None else index(sel_mode, NAME, "sel_mode", "a SelMode")
    if sel_mode is not None and mode != SelMode.VSEL_CMPMASK_SPR:
        if mode == SelMode.VSEL_TENSOR_TENSOR_MODE:
            raise NotSimulatedError(NAME, "without sel_mask, the compare mask holds the address of one", rule="give it")
        rule = "VSEL_CMPMASK_SPR; with a number sel_mode is left out"
        raise ArgumentValueError(NAME, operand="sel_mode", value=mode, rule=rule)
    number = sel_mode is None
    tensors = (("dst", dst), ("src0", second)) if number else (("dst", dst), ("src0", first), ("src1", second))
    ops = _operands(core, tensors, first if number else None, site)
    if ops is None:
        return
    bits = ops.pop().place if number else None
    dtype = ops[0].place.dtype
    lanes = lanes_of([ops[0].place])
    n = repeats(core, times, NAME, site)
    key = stride_key(core, TENSORS, params, site)
    works = work(core.mask, n, lanes)
    if not works:
        zero(core, "mask" if n else "repeat_times", NAME, site)
        return
    _stride(ops, key)
    if bits is not None:
        cmp_mask.need(core, (1 << 8 * dtype.size) - 1, NAME)
        row = replace(NUMBER, value=partial(_choose_or_register, core))
        plan, footprint = _selecting(core, row, ops, bits, False, works, site)
        plan = Plan(NAME, plan.pipe, (*plan.reads, footprint), plan.writes, plan.run, plan.cycles)
    else:
        cmp_mask.need(core, sum((1 << b) - (1 << a) for a, b in _union(works)), NAME)
        flags, spread = _flags(lanes, 1, True)
        plan = build(core, TENSORS, ops, works, site, [spread])
        plan.run = partial(_select_by_register, core, flags, plan.run)
    core.issue(plan, site)


def _union(works: list[Work]) -> Runs:
    """The lanes that take part in any repeat: the longer of the two where counter mode leaves a remainder."""
    return max((runs for runs, _ in works), key=lambda runs: runs[-1][1])


def _choose_or_register(core: Core, a: Any, bits: Any) -> Any:
    return np.where(bits, a, cmp_mask.read(core)[: a.itemsize].view(a.dtype)[0])


def _select_by_register(core: Core, flags: Any, run: Any) -> None:
    flags[:] = np.unpackbits(cmp_mask.read(core), bitorder="little")[: flags.size]
    run()


select.__overloads__ = signatures(  # type: ignore[attr-defined]
    "dst, sel_mask, src0, src1, sel_mode, count",
    "dst, sel_mask, src0, src1, sel_mode, mask, repeat_times, repeat_params, is_set_mask=True",
    "dst, sel_mask, src0, repeat_times, repeat_params",
    "dst, src0, src1, repeat_times, repeat_params, sel_mode",
)

__all__ = ["select"]
