"""From the operands of a vector call to its plan: checks, footprints, views, work and price."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..hw.core import Core
from ..hw.cost import CYCLES_PER_REPEAT, bank_factor
from ..hw.errors import shown
from ..hw.findings import Site
from ..hw.instruction import Plan
from ..hw.memory import Memory
from .core.dtype import DataType
from .core.place import index, report
from .core.types import BinaryRepeatParams, UnaryRepeatParams
from .masks import Mask, Work, counted, work
from .operand import REPEAT, Part, Strided, aligned, local, parts, region, typed
from .overlap import judged, separate
from .rows import Row

OTHER_KIND = {"aic": "aiv", "aiv": "aic"}  # of core


class FillStrides(NamedTuple):
    """Strides of an instruction without source."""

    block: int
    repeat: int

    @property
    def key(self) -> tuple[int, int]:
        """As parameter objects give it."""
        return self.block, self.repeat


_STRIDES: tuple[type, ...] = (FillStrides, UnaryRepeatParams, BinaryRepeatParams)  # by number of sources


def lanes_of(dtype: DataType) -> int:
    """Lanes of a repeat."""
    return REPEAT // dtype.size


def again(dst: Any, asked: Any) -> Any:
    """What is kept of a call that plain arguments and the places of its sources make known; its mask registers are set.

    None where nothing is kept, or in counter mode, in which the same mask means other lanes. It is kept in the place
    of `dst` under `asked`, behind the registers.
    """
    try:
        where = dst.place
        core = where.core
        registers, kept = where.plans[asked]
    except (AttributeError, KeyError, TypeError):
        return None
    if core.mask[2]:
        return None
    core.mask = registers
    return kept


def zero(core: Core, what: str, operation: str, site: Site) -> None:
    """Nothing to do: worth a warning."""
    report(core, "ZERO_LENGTH", f"{what} = 0: the instruction does nothing; rule: 1 or more", site, operation)
    core.told = False  # no plan is made of this call, and the next one may keep its own


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
        other = OTHER_KIND[core.kind]
        how = f"jit(kernel_type=KernelType.{other.upper()}_ONLY), or a mix kernel"
        text = f"an {core.kind} core has no unit for it and would do nothing; rule: {other} cores ({how})"
        report(core, "WRONG_CORE", text, site, operation)
    return False


def strides(ops: list[Strided], key: tuple[int, ...]) -> None:
    """Take block and repeat strides that come as (blocks..., repeats...), destination first."""
    half = len(ops)
    for operand, block, repeat in zip(ops, key[:half], key[half:], strict=True):
        operand.block, operand.repeat = block, repeat


def stride_key(core: Core, row: Row, params: Any, site: Site) -> tuple[int, ...]:
    """The strides of a parameter object; one of the wrong kind, or a destination stride of 0, is reported."""
    kind = _STRIDES[row.sources]
    if not isinstance(params, kind):
        text = f"repeat_params = {shown(params)}; rule: a {kind.__name__}"
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


def repeated(core: Core, works: Sequence[Work], memory: Memory, operation: str, site: Site) -> int:
    """Repeats of an instruction; more than fit into a memory two bytes apart are reported, a mistake of counter mode.

    For strides of 0 between repeats: others lead out of the memory long before.
    """
    times = sum(n for _, n in works)
    most = memory.size // 2
    if times > most:
        text = (
            f"counter mode asks for {times} repeats of one place; rule: at most {most}; set_vector_mask sets the count"
        )
        report(core, "BAD_MASK", text, site, operation)
    return times


def build(
    core: Core, row: Row, ops: list[Strided], works: list[Work], site: Site, hidden: Sequence[Strided] = ()
) -> Plan:
    """The plan of an instruction whose operands and work are known; with a scalar operand, `run` still asks for it.

    `hidden`: further sources of the value function, one element a lane, that do not lie in a memory of the core.
    """
    whole = parts([*ops, *hidden], works)
    sources = list(range(1, len(ops)))
    reads = [region(ops[i], i, whole, row.name, site) for i in sources]
    write = region(ops[0], 0, whole, row.name, site)
    if row.reads_dst:
        reads.append(write)
    times = repeated(core, works, write.memory, row.name, site)
    together = separate(ops, works, whole)  # after the ends of the memory, lest it look through what is not there
    if not together:
        judged(core, row, ops, works, site)
    steps = whole if together else parts([*ops, *hidden], works, one_by_one=True)
    run: Any = partial(runner, row, [*ops, *hidden], steps, together)
    if row.scalar is None:
        run = run()
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
    strides(ops, key)
    works = work(mask, times, lanes_of(ops[0].place.dtype))
    if not works:
        zero(core, "repeat_times" if not times else "mask", row.name, site)
    return build(core, row, ops, works, site) if works else None
