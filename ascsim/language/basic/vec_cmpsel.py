"""Comparisons: one bit an element, into a tensor or into the compare mask, and that register's own instructions.

Bit i of the result is element i, lowest bit of the first byte first. Results follow each other without a gap: the
strides of dst are not used. Nothing is masked where the result is a tensor. An order comparison with NaN is false, and
so is NE (the vendor's table of edge values). Not modelled: counter mode with the result in a tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...hw.core import Core
from ...hw.cost import bank_factor
from ...hw.errors import ArgumentValueError, NotSimulatedError
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from .. import cmp_mask
from ..core.dtype import DataType, float16, float32, int1, int8, int32, uint8
from ..core.enums import CMPMODE
from ..core.ir_value import Int32, unwrap
from ..core.place import Place, index, report, running
from ..core.tensor import LocalTensor
from ..forms import element, number_of
from ..lanes import first_bytes, hidden
from ..masks import Work, lanes_or_bits, plain, registers, repeats, work
from ..mixed import lanes_of
from ..operand import BLOCK, Strided, aligned, local, parts, region, typed
from ..overlap import disjoint
from ..plans import count_of, present, stride_key, zero
from ..rows import Row
from ..signatures import signatures

Value = Callable[..., Any]  # (a, b, out of bool)
LEAST = 128  # bytes of the destination of get_cmp_mask


def _unequal(a: Any, b: Any, out: Any) -> Any:
    """Neither is NaN and they differ."""
    return np.logical_or(np.less(a, b, out), np.greater(a, b), out)


VALUES: dict[int, Value] = {
    CMPMODE.LT: np.less,
    CMPMODE.GT: np.greater,
    CMPMODE.EQ: np.equal,
    CMPMODE.LE: np.less_equal,
    CMPMODE.GE: np.greater_equal,
    CMPMODE.NE: _unequal,
}
FLOATING = (float16, float32)
TYPES = (*FLOATING, int32)
_DOES = "bits of dst: whether src0 compares with "
COMPARE = Row("compare", np.less, TYPES, f"{_DOES}src1", "Compare")
COMPARE_SCALAR = Row("compare_scalar", np.less, TYPES, f"{_DOES}a number", "Compares", sources=1)


def compare(
    dst: Any = None,
    src0: Any = None,
    src1: Any = None,
    cmp_mode: Any = None,
    count: Any = None,
    repeat_times: Any = None,
    repeat_params: Any = None,
    is_set_mask: Any = True,
    mask: Any = None,
) -> None:
    """One bit an element of src0 that compares as `cmp_mode` (LT, GT, EQ, LE, GE, NE) says with src1.

        compare(dst, src0, src1, cmp_mode, count)
        compare(dst, src0, src1, cmp_mode, mask, repeat_times, repeat_params, is_set_mask=True)
        compare(src0, src1, cmp_mode, mask, repeat_params, is_set_mask=True)

    First forms: bits into dst, int8 or uint8, one behind the other. `count`: elements in whole repeats of 256 bytes;
    a rest is left out (warning MISALIGNED_LEN). `mask` has no effect on this chip, nor have the mask registers and the
    strides of dst. Last form: one repeat into the compare mask, for select and get_cmp_mask; bits of lanes that the
    mask leaves out are undefined. Types: float16, float32; int32 with EQ into dst. Operands lie in UB at multiples of
    32 bytes. Faults: BAD_DTYPE, BAD_POSITION, BAD_MASK, BAD_REPEAT, BAD_STRIDE, MISALIGNED_ADDR, OOB_PHYS,
    OVERLAP_PARTIAL; warnings: OOB_BUF, ZERO_LENGTH, UNINIT_READ. Pages: Compare, Compare into a register.
    """
    if count.__class__ is Int32:
        count = count.v
    plain = count.__class__ is int and cmp_mode.__class__ is CMPMODE  # 64.0 finds 64, and a mask may be a list
    counted = count if plain and repeat_times is None and repeat_params is None and mask is None else None
    try:
        where = dst.place
        core = where.core
        plan = where.plans["compare", src0.place, src1.place, cmp_mode, core.mask[2], counted]
    except (AttributeError, KeyError, TypeError):
        site = author(1)
        core = running("compare")
        if dst is None or not isinstance(src1, LocalTensor):
            given = (dst, src0, src1, cmp_mode, count, repeat_times, repeat_params, is_set_mask, mask)
            _compare_register(core, _moved_up(*given), site)
            return
        form = (cmp_mode, lanes_or_bits(count, mask, "compare"), repeat_times, repeat_params)
        plan = _bits(core, COMPARE, dst, (("src0", src0), ("src1", src1)), None, *form, is_set_mask, site)
        if plan is not None:
            core.issue(plan, site)
        return
    core.issue(plan)


def compare_scalar(
    dst: Any,
    src0: Any,
    src1_scalar: Any,
    cmp_mode: Any,
    count: Any = None,
    repeat_times: Any = None,
    repeat_params: Any = None,
    is_set_mask: Any = True,
    mask: Any = None,
) -> None:
    """One bit an element of src0 that compares as `cmp_mode` says with a number in the type of src0.

        compare_scalar(dst, src0, src1_scalar, cmp_mode, count)
        compare_scalar(dst, src0, src1_scalar, cmp_mode, mask, repeat_times, repeat_params, is_set_mask=True)

    As compare into a tensor; dst is uint8. Types: float16, float32; int32 with EQ. Page: Compares.
    """
    site = author(1)
    core = running("compare_scalar")
    if count.__class__ is Int32:
        count = count.v
    plain = count.__class__ is int and cmp_mode.__class__ is CMPMODE  # as in compare
    counted = count if plain and repeat_times is None and repeat_params is None and mask is None else None
    try:
        plan = dst.place.plans["compare_scalar", src0.place, number_of(src1_scalar), cmp_mode, core.mask[2], counted]
    except (AttributeError, KeyError, TypeError):
        form = (cmp_mode, lanes_or_bits(count, mask, "compare_scalar"), repeat_times, repeat_params)
        plan = _bits(core, COMPARE_SCALAR, dst, (("src0", src0),), src1_scalar, *form, is_set_mask, site)
    if plan is not None:
        core.issue(plan, site)


def _mode(core: Core, operation: str, cmp_mode: Any, dtype: DataType, site: Site) -> CMPMODE:
    mode = index(cmp_mode, operation, "cmp_mode", "a CMPMODE")
    if mode not in VALUES:
        rule = ", ".join(m.name for m in CMPMODE)
        raise ArgumentValueError(operation, operand="cmp_mode", value=mode, rule=rule)
    if dtype is int32 and mode != CMPMODE.EQ:
        text = f"cmp_mode = {CMPMODE(mode).name} with src0 of int32; rule: EQ; nearest legal value: EQ"
        report(core, "BAD_DTYPE", text, site, operation)
    return CMPMODE(mode)


def _bits(
    core: Core,
    row: Row,
    dst: Any,
    sources: tuple[tuple[str, Any], ...],
    scalar: Any,
    cmp_mode: Any,
    lanes_or_count: Any,
    times: Any,
    params: Any,
    set_mask: Any,
    site: Site,
) -> Plan | None:
    """The plan of a comparison into a tensor, from the cache or new; None where there is nothing to do."""
    name, asked, bits = row.name, None, plain(lanes_or_count)
    if bits is not None and times.__class__ is int and cmp_mode.__class__ is CMPMODE and set_mask is True:
        try:
            operands = [tensor.place for _, tensor in sources]
            given = name, core.mask[2], bits, times, params.__class__, params.key, cmp_mode, number_of(scalar)
            asked = (*given, *operands)
            return dst.place.plans[asked]
        except (AttributeError, KeyError, TypeError):
            pass
    if core.mask[2]:
        raise NotSimulatedError(name, "in counter mode: the page does not say what it does; set_mask_norm comes before")
    to = local(core, dst, "dst", name, site)
    typed(core, to, (uint8,) if row is COMPARE_SCALAR else (int8, uint8), "dst", name, site)
    ops = []
    for operand, tensor in sources:
        where = local(core, tensor, operand, name, site)
        typed(core, where, row.dtypes, operand, name, site)
        ops.append(Strided(operand, where))
    dtype = ops[0].place.dtype
    if ops[-1].place.dtype is not dtype:
        text = f"src1 has type {ops[-1].place.dtype}, src0 has {dtype}; rule: one type for both"
        report(core, "BAD_DTYPE", text, site, name)
    mode = _mode(core, name, cmp_mode, dtype, site)
    if not present(core, to.memory, name, site):
        return None
    for operand, where in (("dst", to), *((op.name, op.place) for op in ops)):
        aligned(core, where, operand, name, site)
    lanes = lanes_of([ops[0].place])
    by_count = times is None and params is None
    if by_count:
        what, times = "count", _whole_repeats(core, name, lanes_or_count, lanes, site)
    else:
        what, times = "repeat_times", repeats(core, times, name, site)
        _, *steps = stride_key(core, row, params, site)
        for op, block, repeat in zip(ops, steps[: len(ops)], steps[len(ops) + 1 :], strict=True):
            op.block, op.repeat = block, repeat
        _note_mask(core, name, lanes_or_count, lanes, set_mask, site)
    if not times:
        zero(core, what, name, site)
        return None
    places, number = [op.place for op in ops], [] if row is COMPARE else [number_of(scalar)]
    form = (index(lanes_or_count, name, "count"),) if by_count else (times, *((op.block, op.repeat) for op in ops))
    key = (name, *places, *number, mode, core.mask[2], *form)
    plan: Plan | None = to.plans.get(key)
    if plan is None:
        value = VALUES[mode] if row is COMPARE else partial(_call, VALUES[mode], element(scalar, dtype, name))
        plan = to.keep(key, _bits_plan(core, name, value, to, ops, times, site))
    elif asked is not None and operands == places:  # all are alive
        to.keep(asked, plan)
    return plan


def _call(value: Value, number: Any, a: Any, out: Any) -> Any:
    return value(a, number, out)


def _whole_repeats(core: Core, name: str, count: Any, lanes: int, site: Site) -> int:
    n = count_of(core, count, name, site)
    if n % lanes:
        text = (
            f"count = {n}; rule: whole repeats of {lanes} elements (256 bytes), the last {n % lanes} are left out; "
            f"nearest legal value: {n // lanes * lanes}"
        )
        report(core, "MISALIGNED_LEN", text, site, name)
    return n // lanes


def _note_mask(core: Core, name: str, mask: Any, lanes: int, set_mask: Any, site: Site) -> None:
    """A mask that would leave out a lane is worth a warning: on this chip it does not."""
    mask = unwrap(mask)
    if not index(set_mask, name, "is_set_mask") or mask is None:
        return
    words = [index(word, name, "mask") for word in mask] if isinstance(mask, (list, tuple)) else None
    bits = words[0] | words[-1] << 64 if words else (1 << min(max(index(mask, name, "mask"), 0), 128)) - 1
    if ~bits & ((1 << lanes) - 1):
        text = f"mask = {mask} has no effect on this chip: all {lanes} lanes of a repeat are compared"
        report(core, "BAD_MASK", text, site, name, severity="warn")


def _bits_plan(core: Core, name: str, value: Value, to: Place, ops: list[Strided], times: int, site: Site) -> Plan:
    lanes = lanes_of([ops[0].place])
    write, packed = first_bytes("dst", to, times * lanes // 8, name, site)  # fits, or no flags are made
    flags = np.empty(times * lanes, np.bool_)
    bits = hidden("flags", flags, int1, 1, lanes // BLOCK)
    every: list[Work] = [(((0, lanes),), times)]
    [[part]] = parts([bits, *ops], every)
    reads = [region(op, i, [[part]], name, site) for i, op in enumerate(ops, 1)]
    for op, read in zip(ops, reads, strict=True):
        disjoint(core, ("dst", write), (op.name, read), name, site, "lie apart")
    out, *sources = (part.view(i, op.place) for i, op in enumerate([bits, *ops]))
    run = partial(_compare, value, sources, out, flags, packed)
    places = tuple((op.place.start, op.block, op.repeat) for op in ops)
    cycles = core.device.cost.vector(times, bank_factor((to.start, 0, 0), places, times))
    return Plan(name, core.pipes["V"], reads, (write,), run, cycles)


def _compare(value: Value, sources: list[Any], out: Any, flags: Any, dst: Any) -> None:
    value(*sources, out)
    dst[:] = np.packbits(flags, bitorder="little")


# ------------------------------------------------------------------ the compare mask


def _moved_up(
    dst: Any, src0: Any, src1: Any, cmp_mode: Any, count: Any, times: Any, params: Any, set_mask: Any, mask: Any
) -> tuple[Any, ...]:
    """The arguments of the form without dst, which have moved up by one where they came by position."""
    if dst is None:
        return src0, src1, cmp_mode, mask, params, set_mask
    if src1 is None:
        return dst, src0, cmp_mode, mask, params, set_mask
    return (
        dst,
        src0,
        src1,
        cmp_mode if mask is None else mask,
        count if params is None else params,
        set_mask if times is None else times,
    )


def _compare_register(core: Core, arguments: tuple[Any, ...], site: Site) -> None:
    src0, src1, cmp_mode, mask, params, set_mask = arguments
    ops = []
    for name, tensor in (("src0", src0), ("src1", src1)):
        where = local(core, tensor, name, "compare", site)
        typed(core, where, FLOATING, name, "compare", site)
        ops.append(Strided(name, where))
    if ops[0].place.dtype is not ops[1].place.dtype:
        text = f"src1 has type {ops[1].place.dtype}, src0 has {ops[0].place.dtype}; rule: one type for both"
        report(core, "BAD_DTYPE", text, site, "compare")
    value = VALUES[_mode(core, "compare", cmp_mode, ops[0].place.dtype, site)]
    if not present(core, ops[0].place.memory, "compare", site):
        return
    for op in ops:
        aligned(core, op.place, op.name, "compare", site)
    lanes = lanes_of([ops[0].place])
    core.mask = registers(core, mask, set_mask, lanes, "compare", site)
    key = stride_key(core, COMPARE, params, site)
    for op, block in zip(ops, key[1:3], strict=True):
        op.block = block
    works = work(core.mask, 1, lanes)
    if not works:
        zero(core, "mask", "compare", site)
        return
    if sum(times for _, times in works) > 1:
        rule = f"at most {lanes} elements: the register takes one repeat"
        raise NotSimulatedError("compare", "in counter mode", operand="mask", value=core.mask[1], rule=rule)
    flags = np.zeros(8 * cmp_mask.NBYTES, np.bool_)
    every = [hidden("flags", flags, int1, 1, 0), *ops]
    [steps] = parts(every, works)
    reads = [region(op, i, [steps], "compare", site) for i, op in enumerate(ops, 1)]
    tasks = [[part.view(i, op.place) for i, op in enumerate(every)] for part in steps]
    run = partial(_compare_to_register, core, value, tasks, flags)
    cmp_mask.issued(core, sum((1 << b) - (1 << a) for a, b in works[0][0]))
    core.issue(Plan("compare", core.pipes["V"], reads, (), run, core.device.cost.vector(1)), site)


def _compare_to_register(core: Core, value: Value, tasks: list[list[Any]], flags: Any) -> None:
    for out, a, b in tasks:
        value(a, b, out)
    cmp_mask.write(core, np.packbits(flags, bitorder="little"))


def set_cmp_mask(src: Any) -> None:
    """Write the compare mask from the first 16 bytes of a tensor, for a select without sel_mode or without mask.

    For VSEL_CMPMASK_SPR the tensor holds bits, for a scalar its first element is the scalar. Elements of any size, at
    a multiple of 16 bytes. Faults: BAD_DTYPE, BAD_POSITION, MISALIGNED_ADDR, OOB_PHYS; warnings: OOB_BUF, UNINIT_READ.
    Page: SetCmpMask.
    """
    site = author(1)
    core = running("set_cmp_mask")
    where = _register_operand(core, "set_cmp_mask", "src", src, site)
    if where is None:
        return
    footprint, view = first_bytes("src", where, cmp_mask.NBYTES, "set_cmp_mask", site)
    cmp_mask.issued(core, cmp_mask.ALL)
    run = partial(cmp_mask.write, core, view)
    core.issue(Plan("set_cmp_mask", core.pipes["V"], (footprint,), (), run, core.device.cost.vector(1)), site)


def get_cmp_mask(dst: Any) -> None:
    """Write the compare mask, 16 bytes, to a tensor of at least 128 bytes at a multiple of 16.

    Bytes with a bit that compare did not set are undefined afterwards: the upper eight after float32, and those of
    lanes that its mask left out. Faults: as set_cmp_mask. Page: GetCmpMask.
    """
    site = author(1)
    core = running("get_cmp_mask")
    where = _register_operand(core, "get_cmp_mask", "dst", dst, site)
    if where is None:
        return
    if where.nbytes < LEAST:
        text = f"dst has {where.nbytes} bytes; rule: {LEAST} or more; nearest legal value: {LEAST}"
        report(core, "OOB_BUF", f"{text}; it is {where.origin()}", site, "get_cmp_mask")
    known = cmp_mask.known(core)
    if not known:
        cmp_mask.need(core, 1, "get_cmp_mask")
    footprint, view = first_bytes("dst", where, cmp_mask.NBYTES, "get_cmp_mask", site)
    unknown = [i for i in range(cmp_mask.NBYTES) if known >> 8 * i & 0xFF != 0xFF]
    pieces = tuple((where.start + i, ((1, 1),)) for i in unknown)
    voids = core.region("UB", pieces, "get_cmp_mask: dst", site) if pieces else None
    run = partial(_store, core, view)
    cycles = core.device.cost.vector(1)
    core.issue(Plan("get_cmp_mask", core.pipes["V"], (), (footprint,), run, cycles, voids=voids), site)


def _store(core: Core, view: Any) -> None:
    view[:] = cmp_mask.read(core)


def _register_operand(core: Core, operation: str, name: str, tensor: Any, site: Site) -> Place | None:
    where = local(core, tensor, name, operation, site)
    if not present(core, where.memory, operation, site):
        return None
    aligned(core, where, name, operation, site, cmp_mask.NBYTES)
    return where


compare.__overloads__ = signatures(  # type: ignore[attr-defined]
    "dst, src0, src1, cmp_mode, count",
    "dst, src0, src1, cmp_mode, mask, repeat_times, repeat_params, is_set_mask=True",
    "src0, src1, cmp_mode, mask, repeat_params, is_set_mask=True",
)
compare_scalar.__overloads__ = signatures(  # type: ignore[attr-defined]
    "dst, src0, src1_scalar, cmp_mode, count",
    "dst, src0, src1_scalar, cmp_mode, mask, repeat_times, repeat_params, is_set_mask=True",
)

__all__ = ["compare", "compare_scalar", "get_cmp_mask", "set_cmp_mask"]
