"""Filling a tensor with one number."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from ..core.dtype import bfloat16, float16, float32, int16, int32, uint16, uint32
from ..core.limits import within
from ..core.place import index, running
from ..forms import element, masked, number_of, scaled
from ..masks import ALL_LANES, lanes_or_bits
from ..plans import FillStrides, count_of, plan_by_count
from ..rows import FORMS_DOC, Row, finish, register

_getframe = sys._getframe
ROW = register(
    Row(
        "duplicate",
        lambda scalar: scalar,
        (int16, uint16, float16, bfloat16, int32, uint32, float32),
        "dst = scalar, in every element",
        "Duplicate",
        sources=0,
        scalar=partial(element, operation="duplicate"),
    )
)
_FORMS = (
    "dst, scalar, count",
    "dst, scalar, mask, repeat_times, dst_block_stride, dst_repeat_stride, is_set_mask=True",
)


def duplicate(
    dst: Any,
    scalar: Any,
    count: Any = None,
    repeat_times: Any = None,
    dst_block_stride: Any = None,
    dst_repeat_stride: Any = None,
    is_set_mask: Any = True,
    *,
    mask: Any = None,
) -> None:
    frame = _getframe(1)
    site = (frame.f_code, frame.f_lasti)
    core = running("duplicate")
    tensors = (("dst", dst),)
    if repeat_times.__class__ is bool:  # is_set_mask by position: the count form takes it and drops it
        repeat_times = None
    if repeat_times is not None or dst_repeat_stride is not None:
        block = within(core, "BAD_STRIDE", "dst_block_stride", dst_block_stride, 1, 0xFFFF, "duplicate", site, "blocks")
        repeat = within(
            core, "BAD_STRIDE", "dst_repeat_stride", dst_repeat_stride, 0, 0xFF, "duplicate", site, "blocks"
        )
        mask = lanes_or_bits(count, mask, "duplicate")
        masked(ROW, tensors, mask, repeat_times, FillStrides(block, repeat), is_set_mask, site, scalar)
        return
    number = number_of(scalar)
    if count.__class__ is not int:
        count = index(count, "duplicate", "count")
    try:
        plan = dst.place.plans[ROW, count, number]
    except (AttributeError, KeyError, TypeError):
        count = count_of(core, count, "duplicate", site)
        make = partial(plan_by_count, core, ROW, tensors, count, site)
        plan = scaled(ROW, tensors, (ROW, count), scalar, number, make)
        if plan is None:
            return
    core.mask = ALL_LANES
    core.issue(plan, site)


finish(duplicate, ROW, _FORMS, FORMS_DOC)

__all__ = ["duplicate"]
