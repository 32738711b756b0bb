"""The call forms of vector instructions.

A family (binary, unary, tensor with scalar) takes a row - name, value function, legal types, one sentence - and gives
the function of the API: both call forms (a count; mask and repeats), masks from the call or from the registers,
checks, footprints, work and price.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any

from ..hw.findings import Site, author
from ..hw.instruction import Plan
from .core.dtype import DataType
from .core.ir_value import Int32
from .core.ir_value import value as value_of
from .core.place import index, running
from .core.tensor import LocalTensor
from .core.types import UnaryRepeatParams
from .masks import ALL_LANES, lanes_or_bits, plain, registers, repeats
from .operand import REPEAT
from .plans import (
    FillStrides,
    again,
    build,
    count_of,
    lanes_of,
    plan_by_count,
    plan_by_mask,
    present,
    stride_key,
    strides,
    zero,
)
from .rows import FORMS_DOC, REGISTRY, Row, finish, register
from .signatures import signatures

__all__ = [
    "FORMS_DOC",
    "REGISTRY",
    "FillStrides",
    "Row",
    "binary",
    "build",
    "count_of",
    "element",
    "finish",
    "lanes_of",
    "masked",
    "number_of",
    "plan_by_count",
    "present",
    "register",
    "scaled",
    "signatures",
    "stride_key",
    "strides",
    "unary",
    "with_scalar",
    "zero",
]
_getframe = sys._getframe


def binary(
    name: str,
    value: Callable[..., Any],
    dtypes: Sequence[DataType],
    does: str,
    page: str,
    cost: str = "simple",
    *,
    reads_dst: bool = False,
    accumulates: bool = False,
) -> Any:
    """An instruction with two source tensors: `name(dst, src0, src1, ...)`."""
    row = register(Row(name, value, tuple(dtypes), does, page, cost, reads_dst, accumulates))

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
        if repeat_times.__class__ is bool:  # is_set_mask by position: the count form takes it and drops it
            repeat_times = None
        if repeat_times is None and repeat_params is None and mask is None:
            if count.__class__ is not int:
                count = count.v if count.__class__ is Int32 else index(count, name, "count")
            try:
                where = dst.place
                plan = where.plans[row, src0.place, src1.place, count]
                core = where.core
            except (AttributeError, KeyError, TypeError):
                site = author(1)
                tensors = (("dst", dst), ("src0", src0), ("src1", src1))
                core = running(name)
                plan = plan_by_count(core, row, tensors, count, site)
                if plan is None:
                    return
                dst.place.live.keep((row, src0.place.live, src1.place.live, count), plan)
            core.mask = ALL_LANES
            core.issue(plan)
            return
        tensors = (("dst", dst), ("src0", src0), ("src1", src1))
        masked(row, tensors, lanes_or_bits(count, mask, name), repeat_times, repeat_params, is_set_mask, author(1))

    return finish(call, row, _BINARY_FORMS, FORMS_DOC)


def unary(
    name: str,
    value: Callable[..., Any],
    dtypes: Sequence[DataType],
    does: str,
    page: str,
    cost: str = "simple",
    device: str = "",
) -> Any:
    """An instruction with one source tensor: `name(dst, src, ...)`."""
    row = register(Row(name, value, tuple(dtypes), does, page, cost, sources=1))

    def call(
        dst: Any,
        src: Any,
        count: Any = None,
        repeat_times: Any = None,
        repeat_params: Any = None,
        is_set_mask: Any = True,
        *,
        mask: Any = None,
    ) -> None:
        if repeat_times is None and repeat_params is None and mask is None:
            if count.__class__ is not int:
                count = count.v if count.__class__ is Int32 else index(count, name, "count")
            try:
                where = dst.place
                plan = where.plans[row, src.place, count]
                core = where.core
            except (AttributeError, KeyError, TypeError):
                site = author(1)
                core = running(name)
                plan = plan_by_count(core, row, (("dst", dst), ("src", src)), count, site)
                if plan is None:
                    return
                dst.place.live.keep((row, src.place.live, count), plan)
            core.mask = ALL_LANES
            core.issue(plan)
            return
        tensors = (("dst", dst), ("src", src))
        masked(row, tensors, lanes_or_bits(count, mask, name), repeat_times, repeat_params, is_set_mask, author(1))

    return finish(call, row, _UNARY_FORMS, FORMS_DOC, device)


def number_of(scalar: Any) -> Any:
    """A dictionary key for a scalar operand: 0.0, -0.0, NaN and run-time scalars of different types differ."""
    return scalar.__class__, repr(scalar)


def element(number: Any, dtype: DataType, operation: str = "scalar", name: str = "scalar") -> Any:
    """A scalar operand in the tensor's type: truncated for integers, rounded for floats."""
    return dtype.np.type(value_of(number, dtype, operation, name).v)


def with_scalar(
    name: str,
    value: Callable[..., Any],
    dtypes: Sequence[DataType],
    does: str,
    page: str,
    scalar: Callable[..., Any],
) -> Any:
    """An instruction with a source tensor and a scalar: `name(dst, src, scalar, ...)`."""
    row = register(Row(name, value, tuple(dtypes), does, page, sources=1, scalar=partial(scalar, operation=name)))

    def call(
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
        tensors = (("dst", dst), ("src", src))
        if repeat_times.__class__ is bool:  # is_set_mask by position
            is_set_mask, repeat_times = repeat_times, None
        if repeat_times is not None or repeat_params is not None or mask is not None:
            masked(
                row, tensors, lanes_or_bits(count, mask, name), repeat_times, repeat_params, is_set_mask, site, scalar
            )
            return
        if is_set_mask is not True and not index(
            is_set_mask, name, "is_set_mask"
        ):  # one repeat under the registers as they are; count is ignored
            masked(row, tensors, None, 1, UnaryRepeatParams(), False, site, scalar)
            return
        if count.__class__ is not int:
            count = count.v if count.__class__ is Int32 else index(count, name, "count")
        known = scalar.__class__ is int or scalar.__class__ is float
        number = scalar if known and scalar and scalar == scalar else number_of(scalar)
        try:
            where = dst.place
            plan = where.plans[row, count, src.place, number]
            core = where.core
        except (AttributeError, KeyError, TypeError):
            core = running(name)
            count = count_of(core, count, name, site)
            make = partial(plan_by_count, core, row, tensors, count, site)
            plan = scaled(row, tensors, (row, count), scalar, number, make)
            if plan is None:
                return
        core.mask = ALL_LANES
        core.issue(plan, site)

    return finish(call, row, _SCALAR_FORMS, FORMS_DOC)


def scaled(
    row: Row, tensors: Sequence[tuple[str, Any]], key: Any, scalar: Any, number: Any, make: Callable[[], Plan | None]
) -> Plan | None:
    """The plan for one value of the scalar: a copy of the plan for any, which is worked out once.

    `number` is the dictionary key of the scalar (`number_of`).
    """
    places = tuple(tensor.place if isinstance(tensor, LocalTensor) else None for _, tensor in tensors)
    template = None if None in places else places[0].plans.get((key, places[1:]))  # type: ignore[union-attr]
    warned = False
    if template is None:
        template = make()
        if template is None:
            return None
        places = tuple(where.live for where in places)  # type: ignore[union-attr]
        warned = places[0].core.told  # type: ignore[union-attr]
        places[0].keep((key, places[1:]), template)  # type: ignore[union-attr]
    assert row.scalar is not None
    where: Any = places[0]
    plan = copy(template)
    plan.run = plan.run(row.scalar(scalar, where.dtype))
    if not warned:
        where.keep((*key, *places[1:], number), plan)
    return plan


def masked(
    row: Row,
    tensors: Sequence[tuple[str, Any]],
    mask: Any,
    times: Any,
    params: Any,
    set_mask: Any,
    site: Site,
    scalar: Any = None,
) -> None:
    """Issue a call in mask form: registers from the call or as they are, the plan from the cache or new."""
    asked, bits = None, plain(mask)
    if times.__class__ is Int32:
        times = times.v
    number = None if row.scalar is None else number_of(scalar)
    if bits is not None and times.__class__ is int and set_mask is True:
        try:
            sources = [tensor.place for _, tensor in tensors[1:]]
            asked = (row, bits, times, params.__class__, params.key, number, *sources)
        except AttributeError:  # no tensor, or no parameters: refused below
            asked = None
        plan = again(tensors[0][1], asked)
        if plan is not None:
            tensors[0][1].place.core.issue(plan, site)
            return
    core = running(row.name)
    dst = tensors[0][1]
    lanes = lanes_of(dst.place.dtype) if isinstance(dst, LocalTensor) else REPEAT
    core.mask = rule = registers(core, mask, set_mask, lanes, row.name, site)
    count = repeats(core, times, row.name, site)
    key = stride_key(core, row, params, site)
    make = partial(plan_by_mask, core, row, tensors, rule, count, key, site)
    places = tuple(tensor.place if isinstance(tensor, LocalTensor) else None for _, tensor in tensors)
    form = (row, rule, count, key, places[1:]) if row.scalar is None else (row, rule, count, key, *places[1:], number)
    plan = None if places[0] is None else places[0].plans.get(form)
    if plan is not None:
        if asked is not None and not rule[2]:  # found where all operands are alive: it need not be checked again
            places[0].keep(asked, (rule, plan))  # type: ignore[union-attr]
    elif row.scalar is not None:
        plan = scaled(row, tensors, (row, rule, count, key), scalar, number, make)
    else:
        plan = make()
        if plan is not None:
            places = tuple(where.live for where in places)  # type: ignore[union-attr]
            places[0].keep((row, rule, count, key, places[1:]), plan)  # type: ignore[union-attr]
    if plan is not None:
        core.issue(plan, site)


_BINARY_FORMS = (
    "dst, src0, src1, count, is_set_mask=True",
    "dst, src0, src1, mask, repeat_times, repeat_params, is_set_mask=True",
)
_UNARY_FORMS = ("dst, src, count", "dst, src, mask, repeat_times, repeat_params, is_set_mask=True")
_SCALAR_FORMS = (
    "dst, src, scalar, count, is_set_mask=True",
    "dst, src, scalar, mask, repeat_times, repeat_params, is_set_mask=True",
)
