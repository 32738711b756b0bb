"""How an element-wise operation of adv runs: operands, scratch, footprints, price.

On the device a program of vector instructions with barriers between them; here one instruction of the vector pipe
that reads its sources, writes its destination, and leaves its scratch undefined.

Price: no page and no published measurement gives one. Where a page writes the operation out as instructions, these are
counted (`steps`); for all else one pass of the "exp" class, which is too cheap for a long series.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from ...hw.core import Core
from ...hw.cost import CYCLES_PER_REPEAT
from ...hw.findings import Site
from ...hw.instruction import Plan
from ...hw.memory import Region
from ..core.dtype import DataType, float32
from ..core.place import Place, index, report, running
from ..core.tensor import LocalTensor
from ..forms import count_of, present, zero
from ..masks import ALL_LANES
from ..mixed import Tensors
from ..operand import REPEAT, aligned, local, typed
from ..overlap import disjoint
from ..rows import Row
from ..spans import span
from .scratch import BUFFER, key, scratch
from .values import Value


class Scratch(NamedTuple):
    """`factor` bytes a byte of source, for no fewer than `piece` bytes of it, and `more` bytes on top."""

    factor: float = 0
    piece: int = REPEAT
    more: int = 0


@dataclass(frozen=True, eq=False)
class Math(Row):
    """One operation."""

    result: DataType | None = None  # type of dst, if not that of the sources
    scratch: Mapping[DataType, Scratch] = field(default_factory=dict)  # by type of the source; none if not there
    reusable: bool = False  # with is_reuse_source, float32 sources serve as scratch of their own size
    in_place: bool = False  # dst may be a source
    steps: int = 1  # vector instructions, of the class `cost`
    buffer: str = BUFFER  # name of the operand for scratch

    @cached_property
    def operation(self) -> str:
        """As reports call it."""
        return f"adv.{self.name}"


class Work(NamedTuple):
    """What one call computes, and its price."""

    value: Value
    cost: str
    steps: int
    slow: int = 0  # further steps, of the class "exp"


def run(
    row: Math,
    tensors: Tensors,
    count: Any,
    temp: Any,
    reuse: Any,
    site: Site,
    asked: Any = None,
    make: Callable[[Place], Work] | None = None,
) -> None:
    """Issue one call; the plan comes from the cache or is made.

    `make`: the work of a call, by its first source; None: that of the row. `asked` tells it from others of the row.
    """
    operation = row.operation
    core = running(operation)
    n = count if count is None else count_of(core, count, operation, site)
    spoils = (reuse if reuse.__class__ is bool else bool(index(reuse, operation, "is_reuse_source"))) and row.reusable
    places = tuple([tensor.place if isinstance(tensor, LocalTensor) else None for _, tensor in tensors])
    form = (row, n, key(core, temp, operation, row.buffer), spoils, asked)
    plan = None if places[0] is None else places[0].plans.get((form, places[1:]))
    if plan is None:
        work = Work(row.value, row.cost, row.steps)
        if make is not None:
            work = make(local(core, tensors[1][1], tensors[1][0], operation, site))
        ops = _operands(core, row, tensors, site)
        if ops is None:
            return
        n = ops[1].nbytes // ops[1].dtype.size if n is None else n
        if n == 0:
            zero(core, "count", operation, site)
            return
        plan = _plan(core, row, [name for name, _ in tensors], ops, n, temp, spoils, work, site)
        if temp is None or temp.place.fault is None:
            ops[0].keep((form, tuple(ops[1:])), plan)
    core.mask = ALL_LANES
    core.issue(plan, site)


def _operands(core: Core, row: Math, tensors: Tensors, site: Site) -> list[Place] | None:
    """The checked operands; None where this kind of core does nothing."""
    out: list[Place] = []
    for name, tensor in tensors:
        where = local(core, tensor, name, row.operation, site)
        typed(core, where, (row.result,) if row.result and not out else row.dtypes, name, row.operation, site)
        out.append(where)
    first = out[0].dtype
    for (name, _), where in zip(tensors, out, strict=True):
        mixed = row.result or (row.reads_dst and first.size > where.dtype.size)  # axpy: halves added to float32
        if where.dtype is not first and not mixed:
            text = f"{name} has type {where.dtype}, {tensors[0][0]} has {first}; rule: one type for all"
            report(core, "BAD_DTYPE", text, site, row.operation)
        if not present(core, where.memory, row.operation, site):
            return None
        aligned(core, where, name, row.operation, site)
    return out


def _plan(
    core: Core,
    row: Math,
    names: Sequence[str],
    ops: list[Place],
    n: int,
    temp: Any,
    spoils: bool,
    work: Work,
    site: Site,
) -> Plan:
    regions = [
        span(where, n * where.dtype.size, name, row.operation, site) for name, where in zip(names, ops, strict=True)
    ]
    write, *reads = regions
    for name, where, read in zip(names[1:], ops[1:], reads, strict=True):
        if not (row.in_place and where.start == ops[0].start):
            disjoint(core, (names[0], write), (name, read), row.operation, site)
    used = _scratch(core, row, ops[1].dtype, n, temp, spoils, site)
    if used is not None:
        for name, region in zip(names, regions, strict=True):
            disjoint(core, (row.buffer, used), (name, region), row.operation, site)
    spoiled = spoils and ops[1].dtype is float32
    lost = [region for region in (used, *(reads if spoiled else ())) if region is not None]
    voids = core.region("UB", tuple(p for r in lost for p in r.pieces), row.operation, site) if lost else None
    if row.reads_dst:
        reads.append(write)
    arrays = [where.array(n) for where in ops]
    if row.reads_dst:
        arrays.append(arrays[0])
    widest = max(where.dtype.size for where in ops)
    steps = ((work.steps, work.cost), (work.slow, "exp"))
    repeats = -(-n * widest // REPEAT)
    cycles = sum(
        many * core.device.cost.vector(repeats, CYCLES_PER_REPEAT[cost].get(widest, 1)) for many, cost in steps
    )
    call: Callable[[], Any] = partial(_compute, work.value, *arrays)
    return Plan(row.operation, core.pipes["V"], reads, (write, *lost), call, cycles, voids=voids)


def _compute(value: Value, dst: np.ndarray, *sources: np.ndarray) -> None:
    dst[...] = value(*sources)


def _scratch(core: Core, row: Math, dtype: DataType, n: int, temp: Any, spoils: bool, site: Site) -> Region | None:
    """The bytes of scratch that a call uses; None where it needs none."""
    factor, piece, more = row.scratch.get(dtype, Scratch())
    factor -= spoils and dtype is float32
    if not factor:
        return None
    least, most = int(factor * piece) + more, int(factor * max(n * dtype.size, piece)) + more
    return scratch(core, temp, least, most, row.operation, site, row.buffer)
