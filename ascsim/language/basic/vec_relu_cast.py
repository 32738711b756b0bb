"""Sums and differences with relu and a cast: two sources of one type, a narrower destination."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...hw.findings import author
from .. import mixed
from ..conversions import integer_of
from ..core.dtype import float16, float32, int8, int16
from ..core.ir_value import Int32
from ..core.place import index, running
from ..masks import ALL_LANES, lanes_or_bits
from ..rows import FORMS_DOC, Row, finish
from ..values import relu


def _saturating(combine: np.ufunc) -> Callable[[Any, Any], Any]:
    """int16 to int8: the sum or difference saturates, as the result does."""

    def value(a: Any, b: Any) -> Any:
        return np.clip(combine(a.astype(np.int32), b.astype(np.int32)), 0, int8.high).astype(np.int8)

    return value


def _halves(combine: np.ufunc) -> Callable[[Any, Any], Any]:
    """float16 to int8: rounded to half first, then to the nearest integer, saturated."""

    def value(a: Any, b: Any) -> Any:
        return integer_of(relu(combine(a, b)), np.rint, int8)

    return value


def _floats(combine: np.ufunc) -> Callable[[Any, Any], Any]:
    """float32 to float16; NaN becomes 0."""

    def value(a: Any, b: Any) -> Any:
        out = combine(a, b)
        np.fmax(out, ZERO, out)
        out += ZERO  # -0 becomes +0
        return out.astype(np.float16)

    return value


ZERO = np.float32(0)
_SUM = (
    "int16 sums and differences saturate here, as the result does; no page says so, and if they wrap, overflows differ."
)
_KINDS = {(int8, float16, float16): _halves, (int8, int16, int16): _saturating, (float16, float32, float32): _floats}


def _with_cast(name: str, combine: np.ufunc, does: str, page: str) -> Any:
    """An instruction with two sources of one type and a narrower destination."""
    form = Row(name, combine, (float16, int16, float32), does, page)
    rows: dict[mixed.Types, Row] = {types: replace(form, value=kind(combine)) for types, kind in _KINDS.items()}
    legal = tuple(rows)

    def call(
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
        tensors = (("dst", dst), ("src0", src0), ("src1", src1))
        if repeat_times.__class__ is bool:  # is_set_mask by position: the count form takes it and drops it
            repeat_times = None
        if repeat_times is None and repeat_params is None and mask is None:
            if count.__class__ is not int:
                count = count.v if count.__class__ is Int32 else index(count, name, "count")
            try:
                where = dst.place
                plan = where.plans[name, src0.place, src1.place, count]
                core = where.core
            except (AttributeError, KeyError, TypeError):
                site = author(1)
                core = running(name)
                plan = mixed.plan_by_count(
                    core, name, tensors, legal, mixed.maker(core, rows.__getitem__, site), count, site
                )
                if plan is None:
                    return
                dst.place.live.keep((name, src0.place.live, src1.place.live, count), plan)
            core.mask = ALL_LANES
            core.issue(plan)
            return
        site = author(1)
        core = running(name)
        lanes = lanes_or_bits(count, mask, name)
        make = mixed.maker(core, rows.__getitem__, site)
        plan = mixed.plan_by_mask(
            core, form, tensors, legal, make, (), lanes, repeat_times, repeat_params, is_set_mask, site
        )
        if plan is not None:
            core.issue(plan, site)

    doc = "Types are of the sources; dst: int8 of float16 and int16, float16 of float32.\n" + FORMS_DOC
    return finish(call, form, _BINARY_FORMS, doc, _SUM)


_BINARY_FORMS = (
    "dst, src0, src1, count, is_set_mask=True",
    "dst, src0, src1, mask, repeat_times, repeat_params, is_set_mask=True",
)
add_relu_cast = _with_cast("add_relu_cast", np.add, "dst = max(0, src0 + src1), converted; of NaN 0", "AddReluCast")
sub_relu_cast = _with_cast(
    "sub_relu_cast", np.subtract, "dst = max(0, src0 - src1), converted; of NaN 0", "SubReluCast"
)

__all__ = ["add_relu_cast", "sub_relu_cast"]
