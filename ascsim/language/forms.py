"""The call forms of vector instructions, and the maker of their plans.

A family (binary, unary, tensor with scalar) takes a row - name, value function, legal types, one sentence - and gives
the function of the API: both call forms (a count; mask and repeats), masks from the call or from the registers,
checks, footprints, work and price. `REGISTRY` holds every row, for tests and for the documentation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..hw.core import Core
from ..hw.cost import CYCLES_PER_REPEAT, bank_factor
from ..hw.findings import Site, author
from ..hw.instruction import Plan
from .core.dtype import DataType
from .core.ir_value import Int32, unwrap
from .core.ir_value import value as value_of
from .core.place import index, report, running
from .core.tensor import LocalTensor
from .core.types import BinaryRepeatParams, UnaryRepeatParams
from .masks import ALL_LANES, Mask, Work, counted, given, repeats, work
from .operand import REPEAT, Part, Strided, aligned, local, parts, region, typed
from .overlap import judged, separate
from .signatures import signatures


@dataclass(frozen=True, eq=False)
class Row:
    """One instruction of a family. `value(*sources[, scalar])` computes whole arrays in the declared type."""

    name: str
    value: Callable[..., Any]
    dtypes: tuple[DataType, ...]
    does: str
    page: str
    cost: str = "simple"
    reads_dst: bool = False  # the destination is also the last source of `value`
    accumulates: bool = False  # may add up repeats in one place (destination over src1, repeat stride 0)
    sources: int = 2
    scalar: Callable[[Any, DataType], Any] | None = None  # makes the scalar operand of a number, refuses a bad one


_getframe = sys._getframe
REGISTRY: dict[str, Row] = {}


def register(row: Row) -> Row:
    """Enter a row; a name stands once."""
    assert row.name not in REGISTRY
    REGISTRY[row.name] = row
    return row


def finish(function: Any, row: Row, forms: Sequence[str], doc: str) -> Any:
    """Give a made function its name, documentation and call forms."""
    function.__name__ = function.__qualname__ = row.name
    function.__overloads__ = signatures(*forms)
    types = ", ".join(map(str, row.dtypes))
    shown = "\n    ".join(f"{row.name}({form})" for form in forms)
    function.__doc__ = f"{row.does}\n\n    {shown}\n\n{doc}\nTypes: {types}. Page: {row.page}.\n"
    return function


FORMS_DOC = """`count`: elements, contiguous from the start of every operand. `mask`: lanes of a repeat of 256 bytes, as a number
or as two words of bits [low, high]; `repeat_times`: 0 to 255; strides in 32-byte blocks. With is_set_mask=False the
mask registers rule instead. Operands lie in UB at multiples of 32 bytes. Faults: BAD_DTYPE, BAD_POSITION, BAD_MASK,
BAD_REPEAT, BAD_STRIDE, MISALIGNED_ADDR, OOB_PHYS, OVERLAP_*; warnings: OOB_BUF, ZERO_LENGTH, UNINIT_READ."""


def lanes_of(dtype: DataType) -> int:
    """Lanes of a repeat."""
    return REPEAT // dtype.size


def zero(core: Core, what: str, operation: str, site: Site) -> None:
    """Nothing to do: worth a warning."""
    report(core, "ZERO_LENGTH", f"{what} = 0: the instruction does nothing", site, operation)


def operands(core: Core, row: Row, tensors: Sequence[tuple[str, Any]], site: Site) -> list[Strided] | None:
    """The operands of a call, destination first, checked one by one; None where this kind of core does nothing."""
    out = []
    for name, tensor in tensors:
        where = local(core, tensor, name, row.name, site)
        typed(core, where, row.dtypes, name, row.name, site)
        out.append(Strided(name, where))
    first = out[0].place
    for operand in out[1:]:
        if operand.place.dtype is not first.dtype:
            text = f"{operand.name} has type {operand.place.dtype}, dst has {first.dtype}; rule: one type for all"
            report(core, "BAD_DTYPE", text, site, row.name)
    if not present(core, first.memory, row.name, site):
        return None
    for operand in out:
        aligned(core, operand.place, operand.name, row.name, site)
    return out


def present(core: Core, memory: Any, operation: str, site: Site) -> bool:
    """Whether this kind of core executes the call: in a mix kernel the other kind silently does nothing."""
    if memory is not None:
        return True
    if not core.device.mix:
        report(core, "WRONG_CORE", f"a {core.kind} core has no unit for it and would do nothing", site, operation)
    return False


def strides(core: Core, row: Row, ops: list[Strided], key: tuple[int, ...]) -> None:
    """Take block and repeat strides that come as (blocks..., repeats...), destination first."""
    half = len(ops)
    for operand, block, repeat in zip(ops, key[:half], key[half:], strict=True):
        operand.block, operand.repeat = block, repeat


def stride_key(core: Core, row: Row, params: Any, site: Site) -> tuple[int, ...]:
    """The strides of a parameter object; one of the wrong kind, or a destination stride of 0, is reported."""
    kind = _STRIDES[row.sources]
    if not isinstance(params, kind):
        text = f"repeat_params = {params!r}; rule: a {kind.__name__}"
        report(core, "BAD_STRIDE", text, site, row.name)
    key: tuple[int, ...] = params.key
    if key[0] == 0:
        text = "the block stride of dst is 0; rule: 1 or more; nearest legal value: 1"
        report(core, "BAD_STRIDE", text, site, row.name)
    return key


def count_of(core: Core, count: Any, operation: str, site: Site) -> int:
    """An element count of 0 or more."""
    n = index(count, operation, "count")
    if n < 0:
        report(core, "BAD_MASK", f"count = {n}; rule: 0 or more elements; nearest legal value: 0", site, operation)
    return n


def build(core: Core, row: Row, ops: list[Strided], works: list[Work], site: Site) -> Plan:
    """The plan of an instruction whose operands and work are known; with a scalar operand, `run` still asks for it."""
    together = separate(ops, works)
    if not together:
        judged(core, row, ops, works, site)
    steps = parts(ops, works, one_by_one=not together)
    sources = list(range(1, len(ops)))
    reads = [region(core, ops[i], i, steps, row.name, site) for i in sources]
    write = region(core, ops[0], 0, steps, row.name, site)
    if row.reads_dst:
        reads.append(write)
    run: Any = partial(runner, row, ops, steps, together)
    if row.scalar is None:
        run = run()
    times = sum(n for _, n in works)
    rate = CYCLES_PER_REPEAT[row.cost].get(ops[0].size, 1)
    places = [(op.place.start, op.block, op.repeat) for op in ops]
    read_places = (*places[1:], places[0]) if row.reads_dst else tuple(places[1:])
    factor = bank_factor(places[0], read_places, times)
    return Plan(row.name, core.pipes["V"], reads, (write,), run, core.device.cost.vector(times, rate * factor))


def runner(row: Row, ops: list[Strided], steps: list[list[Part]], together: bool, *scalar: Any) -> Any:
    """What does the work: whole arrays at once, or repeat by repeat with all reads of a repeat before its writes."""
    calls = []
    for step in steps:
        views = [[part.view(i, op.place) for i, op in enumerate(ops)] for part in step]
        tasks = []
        for dst, *sources in views:
            if row.reads_dst:
                sources.append(dst)
            tasks.append((dst, sources))
        calls.append(tasks)
    if together and len(calls[0]) == 1:
        dst, sources = calls[0][0]
        if isinstance(row.value, np.ufunc):
            return partial(row.value, *sources, *scalar, dst)
        return partial(_compute, row.value, dst, (*sources, *scalar))
    return partial(_in_steps, row.value, calls, scalar)


def _compute(value: Callable[..., Any], dst: np.ndarray, arguments: tuple[Any, ...]) -> None:
    dst[...] = value(*arguments)


def _in_steps(value: Callable[..., Any], calls: list[Any], scalar: tuple[Any, ...]) -> None:
    for tasks in calls:
        results = [value(*sources, *scalar) for _, sources in tasks]
        for (dst, _), result in zip(tasks, results, strict=True):
            dst[...] = result


def plan_by_count(core: Core, row: Row, tensors: Sequence[tuple[str, Any]], count: Any, site: Site) -> Plan | None:
    """The plan of the count form; None where there is nothing to do."""
    ops = operands(core, row, tensors, site)
    n = count_of(core, count, row.name, site)
    if n == 0:
        zero(core, "count", row.name, site)
    return build(core, row, ops, counted(n, lanes_of(ops[0].place.dtype)), site) if ops and n else None


def plan_by_mask(
    core: Core,
    row: Row,
    tensors: Sequence[tuple[str, Any]],
    mask: Mask,
    times: int,
    key: tuple[int, ...],
    site: Site,
) -> Plan | None:
    """The plan of the mask and repeat form; None where there is nothing to do."""
    ops = operands(core, row, tensors, site)
    if ops is None:
        return None
    strides(core, row, ops, key)
    works = work(mask, times, lanes_of(ops[0].place.dtype))
    if not works:
        zero(core, "repeat_times" if not times else "mask", row.name, site)
    return build(core, row, ops, works, site) if works else None


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
        if repeat_params is None and mask is None:
            if count.__class__ is Int32:
                count = count.v
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
        masked(row, tensors, count if mask is None else mask, repeat_times, repeat_params, is_set_mask, author(1))

    return finish(call, row, _BINARY_FORMS, FORMS_DOC)


def unary(
    name: str, value: Callable[..., Any], dtypes: Sequence[DataType], does: str, page: str, cost: str = "simple"
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
        if repeat_params is None and mask is None:
            if count.__class__ is Int32:
                count = count.v
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
        masked(row, tensors, count if mask is None else mask, repeat_times, repeat_params, is_set_mask, author(1))

    return finish(call, row, _UNARY_FORMS, FORMS_DOC)


def element(number: Any, dtype: DataType) -> Any:
    """A scalar operand in the tensor's type: truncated for integers, rounded for floats."""
    return dtype.np.type(value_of(number, dtype, "scalar").v)


def with_scalar(
    name: str,
    value: Callable[..., Any],
    dtypes: Sequence[DataType],
    does: str,
    page: str,
    scalar: Callable[[Any, DataType], Any],
) -> Any:
    """An instruction with a source tensor and a scalar: `name(dst, src, scalar, ...)`."""
    row = register(Row(name, value, tuple(dtypes), does, page, sources=1, scalar=scalar))

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
        if repeat_params is not None or mask is not None:
            masked(
                row, tensors, count if mask is None else mask, repeat_times, repeat_params, is_set_mask, site, scalar
            )
            return
        if repeat_times is False or not is_set_mask:  # one repeat under the registers as they are; count is ignored
            masked(row, tensors, None, 1, UnaryRepeatParams(), False, site, scalar)
            return
        if count.__class__ is Int32:
            count = count.v
        if scalar.__class__ is not int and scalar.__class__ is not float:
            scalar = unwrap(scalar)
        number = repr(scalar) if not scalar or scalar != scalar else scalar  # 0.0, -0.0 and NaN are no dictionary keys
        try:
            where = dst.place
            plan = where.plans[row, src.place, count, number]
            core = where.core
        except (AttributeError, KeyError, TypeError):
            core = running(name)
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
    """The plan for one value of the scalar: a copy of the plan for any, which is worked out once."""
    places = tuple(tensor.place if isinstance(tensor, LocalTensor) else None for _, tensor in tensors)
    template = None if None in places else places[0].plans.get((key, places[1:]))  # type: ignore[union-attr]
    if template is None:
        template = make()
        if template is None:
            return None
        places = tuple(where.live for where in places)  # type: ignore[union-attr]
        places[0].keep((key, places[1:]), template)  # type: ignore[union-attr]
    assert row.scalar is not None
    where: Any = places[0]
    plan = copy(template)
    plan.run = plan.run(row.scalar(scalar, where.dtype))
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
    core = running(row.name)
    dst = tensors[0][1]
    lanes = lanes_of(dst.place.dtype) if isinstance(dst, LocalTensor) else REPEAT
    core.mask = registers = given(core, mask, lanes, row.name, site) if set_mask else core.mask
    count = repeats(core, times, row.name, site)
    key = stride_key(core, row, params, site)
    make = partial(plan_by_mask, core, row, tensors, registers, count, key, site)
    if row.scalar is not None:
        plan = scaled(row, tensors, (row, registers, count, key), scalar, repr(unwrap(scalar)), make)
    else:
        places = tuple(tensor.place if isinstance(tensor, LocalTensor) else None for _, tensor in tensors)
        plan = None if places[0] is None else places[0].plans.get((row, registers, count, key, places[1:]))
        if plan is None:
            plan = make()
            if plan is not None:
                places = tuple(where.live for where in places)  # type: ignore[union-attr]
                places[0].keep((row, registers, count, key, places[1:]), plan)  # type: ignore[union-attr]
    if plan is not None:
        core.issue(plan, site)


class FillStrides(NamedTuple):
    """Strides of an instruction without source."""

    block: int
    repeat: int

    @property
    def key(self) -> tuple[int, int]:
        """As parameter objects give it."""
        return self.block, self.repeat


_STRIDES: tuple[type, ...] = (FillStrides, UnaryRepeatParams, BinaryRepeatParams)  # by number of sources
_BINARY_FORMS = (
    "dst, src0, src1, count, is_set_mask=True",
    "dst, src0, src1, mask, repeat_times, repeat_params, is_set_mask=True",
)
_UNARY_FORMS = ("dst, src, count", "dst, src, mask, repeat_times, repeat_params, is_set_mask=True")
_SCALAR_FORMS = (
    "dst, src, scalar, count, is_set_mask=True",
    "dst, src, scalar, mask, repeat_times, repeat_params, is_set_mask=True",
)
