"""axpy: a tensor times a scalar, added to the destination."""

from __future__ import annotations

import sys
from copy import copy
from functools import partial
from typing import Any

from ...hw.instruction import Plan
from .. import mixed
from ..core.dtype import DataType, float16, float32
from ..core.ir_value import Int32
from ..core.place import Place, index, running
from ..forms import element, number_of
from ..masks import ALL_LANES, Work, lanes_or_bits
from ..operand import Strided
from ..rows import FORMS_DOC, Row, finish

_getframe = sys._getframe


def _axpy(x: Any, dst: Any, scalar: Any) -> Any:
    """scalar * x + dst, rounded after the product and after the sum; the product of halves is exact in float32."""
    return x.astype(dst.dtype, copy=False) * dst.dtype.type(scalar) + dst


AXPY = Row(
    "axpy",
    _axpy,
    (float16, float32),
    "dst = scalar * src + dst, element by element",
    "Axpy",
    reads_dst=True,
    sources=1,
    scalar=partial(element, operation="axpy"),
)
PAIRS = ((float16, float16), (float32, float32), (float32, float16))  # dst, src


def _row(types: tuple[DataType, ...]) -> Row:
    return AXPY


def axpy(
    dst: Any,
    src: Any,
    scalar: Any,
    count: Any = None,
    repeat_times: Any = None,
    repeat_params: Any = None,
    is_set_mask: Any = True,
    *,
    mask: Any = None,
) -> None:
    frame = _getframe(1)
    site = (frame.f_code, frame.f_lasti)
    number = number_of(scalar)
    tensors = (("dst", dst), ("src", src))
    if repeat_times is not None or repeat_params is not None:
        core = running("axpy")
        lanes = lanes_or_bits(count, mask, "axpy")
        any_scalar = mixed.maker(core, _row, site)

        def make(ops: list[Strided], works: list[Work]) -> Plan:
            return _with(any_scalar(ops, works), scalar, ops[1].place)

        plan = mixed.plan_by_mask(
            core, AXPY, tensors, PAIRS, make, (number,), lanes, repeat_times, repeat_params, is_set_mask, site
        )
        if plan is not None:
            core.issue(plan, site)
        return
    if count.__class__ is not int:
        count = count.v if count.__class__ is Int32 else index(count, "axpy", "count")
    try:
        where = dst.place
        plan = where.plans["axpy", count, src.place, number]
        core = where.core
    except (AttributeError, KeyError, TypeError):
        core = running("axpy")
        template = mixed.plan_by_count(core, "axpy", tensors, PAIRS, mixed.maker(core, _row, site), count, site)
        if template is None:
            return
        plan = _with(template, scalar, src.place)
        dst.place.live.keep(("axpy", count, src.place.live, number), plan)
    core.mask = ALL_LANES
    core.issue(plan, site)


def _with(template: Plan, scalar: Any, source: Place) -> Plan:
    """The plan for one value of the scalar, which has the type of the source."""
    plan = copy(template)
    plan.run = plan.run(element(scalar, source.dtype, "axpy"))
    return plan


_FORMS = (
    "dst, src, scalar, count",
    "dst, src, scalar, mask, repeat_times, repeat_params, is_set_mask=True",
)
finish(
    axpy,
    AXPY,
    _FORMS,
    "src has the type of dst, or is float16 where dst is float32: then a repeat has 64 lanes, dense halves have a\n"
    "repeat stride of 4, and the operands lie apart. The scalar is rounded to the type of src.\n" + FORMS_DOC,
)

__all__ = ["axpy"]
