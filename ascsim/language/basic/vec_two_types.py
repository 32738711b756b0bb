"""Vector instructions whose destination has narrower elements than their sources: mul_cast, add_deq_relu.

A repeat is 256 bytes of the sources; the destination takes its lanes in half as many blocks, one behind the other, so
that dense data has a destination repeat stride of 4. Not simulated: another block stride of the destination than 1.
The scale of add_deq_relu is a register of the core (set_deq_scale).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...hw.core import Core
from ...hw.errors import NotSimulatedError
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from ...hw.soc import RESERVED
from .. import values
from ..core.dtype import DataType, float16, int8, int32, uint8
from ..core.place import report, running
from ..core.tensor import LocalTensor
from ..forms import FORMS_DOC, Row, build, count_of, finish, lanes_of, present, stride_key, strides, zero
from ..masks import ALL_LANES, Mask, Work, counted, given, repeats, work
from ..operand import Strided, aligned, local, typed

DENSE: tuple[int, ...] = (1, 1, 1, 4, 8, 8)  # block strides, then repeat strides, of dst, src0, src1
SCRATCH, MOST = RESERVED[0].start, RESERVED[0].size  # bytes of UB that add_deq_relu uses behind the author's back


def mul_cast_value(a: Any, b: Any, limits: Any) -> Any:
    """a * b in half, rounded to the nearest integer, saturated; of NaN 0."""
    product = np.nan_to_num(np.rint((a * b).astype(np.float32)), nan=0.0, posinf=np.inf, neginf=-np.inf)
    return np.clip(product, limits.min, limits.max).astype(limits.dtype)


def add_deq_relu_value(a: Any, b: Any, scale: Any) -> Any:
    """max(0, half((a + b) * scale)) with the steps of the vendor's code: the factor 2**-17 keeps floats in range."""
    total = (a + b).astype(np.float32) * np.float32(2.0**-17) * np.float32(scale) * np.float32(2.0**17)
    return values.relu(total.astype(np.float16))


def _works(
    core: Core, row: Row, source: DataType, count: Any, times: Any, params: Any, set_mask: Any, site: Site
) -> tuple[list[Work], tuple[int, ...]]:
    """The lanes and repeats of a call in either form, and its strides; writes the mask registers."""
    lanes = lanes_of(source)
    if params is None:
        core.mask = ALL_LANES
        n = count_of(core, count, row.name, site)
        works, key, empty = counted(n, lanes), DENSE, "count"
    else:
        registers: Mask = given(core, count, lanes, row.name, site) if set_mask else core.mask
        core.mask = registers
        n = repeats(core, times, row.name, site)
        works, empty = work(registers, n, lanes), "mask" if n else "repeat_times"
        key = stride_key(core, row, params, site)
    if not works:
        zero(core, empty, row.name, site)
    if key[0] != 1:
        raise NotSimulatedError(
            row.name,
            "blocks of a destination with narrower elements follow each other here",
            operand="repeat_params.dst_blk_stride",
            value=key[0],
            rule="1",
        )
    return works, key


def _operands(core: Core, row: Row, source: DataType, tensors: Sequence[Any], site: Site) -> list[Strided] | None:
    """The checked operands; None where this kind of core does nothing."""
    out = []
    for name, tensor, legal in zip(("dst", "src0", "src1"), tensors, (row.dtypes, (source,), (source,)), strict=True):
        where = local(core, tensor, name, row.name, site)
        typed(core, where, legal, name, row.name, site)
        if not present(core, where.memory, row.name, site):
            return None
        aligned(core, where, name, row.name, site)
        out.append(Strided(name, where))
    return out


def _plan(
    core: Core,
    row: Row,
    source: DataType,
    tensors: Sequence[Any],
    works: list[Work],
    key: tuple[int, ...],
    extra: Any,
    site: Site,
    completed: Callable[[Core, Plan, list[Work], Site], Plan],
) -> Plan | None:
    """The plan with its last argument, from the cache or new; None where this kind of core does nothing."""
    places = [tensor.place if isinstance(tensor, LocalTensor) else None for tensor in tensors]
    form = (tuple(works), key, repr(extra))
    plan: Plan | None = None if places[0] is None else places[0].plans.get((row, *places[1:], *form))
    if plan is None:
        ops = _operands(core, row, source, tensors, site)
        if ops is None:
            return None
        strides(ops, key)
        plan = build(core, row, ops, works, site)
        assert row.scalar is not None
        plan.run = plan.run(row.scalar(extra, ops[0].place.dtype))
        plan = completed(core, plan, works, site)
        dst, src0, src1 = (op.place for op in ops)
        dst.keep((row, src0, src1, *form), plan)
    return plan


def _as_it_is(core: Core, plan: Plan, works: list[Work], site: Site) -> Plan:
    return plan


def _eight_steps(core: Core, plan: Plan, works: list[Work], site: Site) -> Plan:
    """The eight vector instructions that add_deq_relu stands for: they leave nothing of its sources and scratch."""
    pieces = tuple(piece for region in plan.reads for piece in region.pieces)
    used = core.region("UB", (*pieces, (SCRATCH, ((_scratch(works), 1),))), "add_deq_relu: scratch", site)
    return Plan(plan.name, plan.pipe, plan.reads, (*plan.writes, used), plan.run, plan.cycles * 8, voids=used)


def _scratch(works: list[Work]) -> int:
    """Bytes of scratch: four a lane, 8 KiB at most."""
    return min(sum(times * runs[-1][1] * 4 for runs, times in works), MOST)


MUL_CAST = Row(
    "mul_cast",
    mul_cast_value,
    (int8, uint8),
    "dst = src0 * src1 of halves, rounded to the nearest integer and saturated; of NaN 0.",
    "MulCast",
    scalar=lambda _, dtype: np.iinfo(dtype.np),
)
ADD_DEQ_RELU = Row(
    "add_deq_relu",
    add_deq_relu_value,
    (float16,),
    "dst = max(0, half((src0 + src1) * scale)) of int32, with the scale of set_deq_scale.",
    "AddDeqRelu",
    scalar=lambda scale, _: scale,
)


def mul_cast(
    dst: Any,
    src0: Any,
    src1: Any,
    count: Any = None,
    repeat_times: Any = None,
    repeat_params: Any = None,
    *,
    mask: Any = None,
) -> None:
    site = author(1)
    core = running("mul_cast")
    lanes = count if mask is None else mask
    works, key = _works(core, MUL_CAST, float16, lanes, repeat_times, repeat_params, True, site)
    if works:
        plan = _plan(core, MUL_CAST, float16, (dst, src0, src1), works, key, None, site, _as_it_is)
        if plan is not None:
            core.issue(plan, site)


def add_deq_relu(
    dst: Any,
    src0: Any,
    src1: Any,
    count: Any = None,
    repeat_times: Any = None,
    repeat_params: Any = None,
    is_set_mask: Any = True,
    *,
    mask: Any = None,
) -> None:
    site = author(1)
    core = running("add_deq_relu")
    scale = core.state.get("deq_scale")
    if scale is None:
        raise NotSimulatedError("add_deq_relu", "no scale was set; what the register holds at first is not published")
    lanes = count if mask is None else mask
    works, key = _works(core, ADD_DEQ_RELU, int32, lanes, repeat_times, repeat_params, is_set_mask, site)
    if not works:
        return
    plan = _plan(core, ADD_DEQ_RELU, int32, (dst, src0, src1), works, key, scale, site, _eight_steps)
    if plan is None:
        return
    assert plan.voids is not None
    end = SCRATCH + _scratch(works)
    if plan.voids.memory.defined[SCRATCH:end].any():
        text = f"UB bytes [{SCRATCH}:{end}) hold data, but they are the scratch of this instruction"
        report(core, "RESERVED_MEM", text, site, "add_deq_relu")
    core.issue(plan, site)
    core.barrier(core.pipes["V"], site)  # the vendor's code ends with one


_FORMS = ("dst, src0, src1, count", "dst, src0, src1, mask, repeat_times, repeat_params")
_SOURCES = (
    "Sources: {}. One more rule: the destination's block stride is 1, its repeat stride 4 for dense data.\n{}"
    + FORMS_DOC
)
finish(mul_cast, MUL_CAST, _FORMS, _SOURCES.format("float16", ""))
finish(
    add_deq_relu,
    ADD_DEQ_RELU,
    [f"{form}, is_set_mask=True" for form in _FORMS],
    _SOURCES.format(
        "int32",
        "The sources are used up (undefined afterwards; here they keep their bytes), and so are up to 8 KiB of UB\n"
        "from 184 KiB on (RESERVED_MEM where they hold data).\n",
    ),
)

__all__ = ["add_deq_relu", "mul_cast"]
