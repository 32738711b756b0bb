"""Vector instructions whose destination has narrower elements than their sources: mul_cast, add_deq_relu.

The scale of add_deq_relu is a register of the core (set_deq_scale).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...hw.core import Core
from ...hw.errors import NotSimulatedError
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from ...hw.soc import RESERVED
from .. import mixed, values
from ..core.dtype import float16, int8, int32, uint8
from ..core.place import index, report, running
from ..forms import FORMS_DOC, Row, build, finish
from ..masks import ALL_LANES, Work, lanes_or_bits
from ..operand import Strided

SCRATCH, MOST = RESERVED[0].start, RESERVED[0].size  # bytes of UB that add_deq_relu uses behind the author's back


def mul_cast_value(a: Any, b: Any, limits: Any) -> Any:
    """a * b in half, rounded to the nearest integer, saturated; of NaN 0."""
    product = np.nan_to_num(np.rint((a * b).astype(np.float32)), nan=0.0, posinf=np.inf, neginf=-np.inf)
    return np.clip(product, limits.min, limits.max).astype(limits.dtype)


def add_deq_relu_value(a: Any, b: Any, scale: Any) -> Any:
    """max(0, half((a + b) * scale)) with the steps of the vendor's code: the factor 2**-17 keeps floats in range."""
    total = (a + b).astype(np.float32) * np.float32(2.0**-17) * np.float32(scale) * np.float32(2.0**17)
    return values.relu(total.astype(np.float16))


def _plan(
    core: Core,
    row: Row,
    tensors: mixed.Tensors,
    count: Any,
    times: Any,
    params: Any,
    set_mask: Any,
    extra: Any,
    make: mixed.Make,
    site: Site,
) -> Plan | None:
    """The plan of a call in either form, from the cache or new, with the mask registers written.

    `extra`: what the row's last argument is made of; None where the core does nothing.
    """
    legal = LEGAL[row.name]
    if times is not None or params is not None:
        key = (extra,)
        return mixed.plan_by_mask(core, row, tensors, legal, make, key, count, times, params, set_mask, site)
    count = index(count, row.name, "count")
    places = mixed.places_of(tensors)
    plan: Plan | None = None if places is None else places[0].plans.get((row, extra, count, *places[1:]))
    if plan is None:
        plan = mixed.plan_by_count(core, row.name, tensors, legal, make, count, site)
        if plan is not None and places is not None:
            live = [place.live for place in places]
            live[0].keep((row, extra, count, *live[1:]), plan)
    core.mask = ALL_LANES
    return plan


def _finished(core: Core, row: Row, extra: Any, site: Site) -> mixed.Make:
    """Makes plans of a row with its last argument."""

    def make(ops: list[Strided], works: list[Work]) -> Plan:
        plan = build(core, row, ops, works, site)
        assert row.scalar is not None
        plan.run = plan.run(row.scalar(extra, ops[0].place.dtype))
        return plan

    return make


def _eight_steps(core: Core, make: mixed.Make, site: Site) -> mixed.Make:
    """The eight vector instructions that add_deq_relu stands for: they leave nothing of its sources and scratch."""

    def made(ops: list[Strided], works: list[Work]) -> Plan:
        plan = make(ops, works)
        scratch = min(sum(times * runs[-1][1] * 4 for runs, times in works), MOST)  # four bytes a lane
        pieces = tuple(piece for region in plan.reads for piece in region.pieces)
        used = core.region("UB", (*pieces, (SCRATCH, ((scratch, 1),))), "add_deq_relu: scratch", site)
        return Plan(plan.name, plan.pipe, plan.reads, (*plan.writes, used), plan.run, plan.cycles * 8, voids=used)

    return made


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


LEGAL = {  # dst, src0, src1
    "mul_cast": ((int8, float16, float16), (uint8, float16, float16)),
    "add_deq_relu": ((float16, int32, int32),),
}


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
    tensors = (("dst", dst), ("src0", src0), ("src1", src1))
    lanes = lanes_or_bits(count, mask, "mul_cast")
    make = _finished(core, MUL_CAST, None, site)
    plan = _plan(core, MUL_CAST, tensors, lanes, repeat_times, repeat_params, True, None, make, site)
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
    tensors = (("dst", dst), ("src0", src0), ("src1", src1))
    lanes = lanes_or_bits(count, mask, "add_deq_relu")
    if repeat_times.__class__ is bool:  # is_set_mask by position: the count form takes it and drops it
        repeat_times = None
    make = _eight_steps(core, _finished(core, ADD_DEQ_RELU, scale, site), site)
    plan = _plan(core, ADD_DEQ_RELU, tensors, lanes, repeat_times, repeat_params, is_set_mask, repr(scale), make, site)
    if plan is None:
        return
    assert plan.voids is not None
    first, ((scratch, _),) = plan.voids.pieces[-1]
    if plan.voids.memory.defined[first : first + scratch].any():
        text = f"UB bytes [{first}:{first + scratch}) hold data, but they are the scratch of this instruction"
        report(core, "RESERVED_MEM", text, site, "add_deq_relu")
    core.issue(plan, site)
    core.barrier(core.pipes["V"], site)  # the vendor's code ends with one


_FORMS = ("dst, src0, src1, count", "dst, src0, src1, mask, repeat_times, repeat_params")
_SOURCES = (
    "Sources: {}. A repeat is 256 bytes of the sources; the destination takes its lanes in half as many blocks, so\n"
    "that dense data has a destination repeat stride of 4.\n{}" + FORMS_DOC
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
    "the page takes the scale from the register, whoever set it; the vendor's code takes that of the last "
    "set_deq_scale(scale), so that after another form of set_deq_scale results differ.",
)

__all__ = ["add_deq_relu", "mul_cast"]
