"""Call forms of vector instructions whose operands may differ in type: cast, axpy and their relatives.

A repeat takes as many lanes of every operand as 256 bytes of the widest hold. Dense data has repeat strides in
proportion to the element sizes (8 for the widest), which is what the count form uses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..hw.core import Core
from ..hw.findings import Site
from ..hw.instruction import Plan
from .core.dtype import DataType
from .core.ir_value import Int32
from .core.place import Place, report
from .core.tensor import LocalTensor
from .masks import Work, counted, plain, registers, repeats, work
from .operand import BLOCK, REPEAT, Strided, aligned, local
from .plans import again, build, count_of, present, stride_key, strides, zero
from .rows import Row

Tensors = Sequence[tuple[str, Any]]  # name and tensor, destination first
Types = tuple[DataType, ...]  # of the operands, in the same order
Make = Callable[[list[Strided], list[Work]], Plan]


def operands(core: Core, operation: str, tensors: Tensors, legal: Sequence[Types], site: Site) -> list[Strided] | None:
    """The checked operands with the strides of dense data; None where there is nothing to do."""
    places = [local(core, tensor, name, operation, site) for name, tensor in tensors]
    types = tuple(place.dtype for place in places)
    if types not in legal:
        names = ", ".join(name for name, _ in tensors)
        rule = "; ".join(", ".join(map(str, row)) for row in _nearest(types, legal))
        text = f"{names} have the types {', '.join(map(str, types))}; rule: one of: {rule}"
        report(core, "BAD_DTYPE", text, site, operation)
    if not present(core, places[0].memory, operation, site):
        return None
    for (name, _), place in zip(tensors, places, strict=True):
        aligned(core, place, name, operation, site)
    lanes = lanes_of(places)
    return [
        Strided(name, place, 1, lanes * place.dtype.size // BLOCK)
        for (name, _), place in zip(tensors, places, strict=True)
    ]


def _nearest(types: Types, legal: Sequence[Types]) -> Sequence[Types]:
    """Of a long list the rows that differ from these types in the fewest places."""
    if len(legal) <= 6:
        return legal
    apart = [sum(a is not b for a, b in zip(row, types, strict=True)) for row in legal]
    return [row for row, places in zip(legal, apart, strict=True) if places == min(apart)]


def lanes_of(places: Sequence[Place]) -> int:
    """Lanes of a repeat."""
    return REPEAT // max(place.dtype.size for place in places)


def places_of(tensors: Tensors) -> list[Place] | None:
    """The places of tensor operands; None if one is no tensor, which `operands` then reports."""
    places = []
    for _, tensor in tensors:
        if not isinstance(tensor, LocalTensor):
            return None
        places.append(tensor.place)
    return places


def maker(core: Core, row_of: Callable[[Types], Row], site: Site) -> Make:
    """Makes plans of the row for the operands' types."""
    return lambda ops, works: build(core, row_of(tuple(op.place.dtype for op in ops)), ops, works, site)


def plan_by_count(
    core: Core, operation: str, tensors: Tensors, legal: Sequence[Types], make: Make, count: Any, site: Site
) -> Plan | None:
    """The plan of the count form; None where there is nothing to do."""
    ops = operands(core, operation, tensors, legal, site)
    n = count_of(core, count, operation, site)
    if n == 0:
        zero(core, "count", operation, site)
    return make(ops, counted(n, lanes_of([op.place for op in ops]))) if ops is not None and n else None


def plan_by_mask(
    core: Core,
    form: Row,
    tensors: Tensors,
    legal: Sequence[Types],
    make: Make,
    key: tuple[Any, ...],
    mask: Any,
    times: Any,
    params: Any,
    set_mask: Any,
    site: Site,
) -> Plan | None:
    """The plan of the mask and repeat form, from the cache or new, with the mask registers written.

    `form`: any row of the instruction, for its name and sources. `key`: what the plan depends on besides the operands.
    """
    name = form.name
    places = places_of(tensors)
    plan: Plan | None
    asked, bits = None, plain(mask)
    if times.__class__ is Int32:
        times = times.v
    if bits is not None and times.__class__ is int and set_mask is True and places is not None and not core.mask[2]:
        asked = (name, *key, bits, times, params.__class__, getattr(params, "key", None), *places[1:])
        plan = again(tensors[0][1], asked)
        if plan is not None:
            return plan
    lanes = lanes_of(places) if places is not None else REPEAT
    core.mask = rule = registers(core, mask, set_mask, lanes, name, site)
    count = repeats(core, times, name, site)
    steps = stride_key(core, form, params, site)
    whole = (name, *key, rule, count, steps)
    plan = None if places is None else places[0].plans.get((whole, *places[1:]))
    if plan is not None:
        if asked is not None:  # found where all operands are alive: it need not be checked again
            places[0].keep(asked, (rule, plan))  # type: ignore[index]
        return plan
    ops = operands(core, name, tensors, legal, site)
    if ops is None:
        return None
    works = work(rule, count, lanes)
    if not works:
        zero(core, "mask" if count else "repeat_times", name, site)
        return None
    live = [op.place for op in ops]
    strides(ops, steps)
    plan = make(ops, works)
    live[0].keep((whole, *live[1:]), plan)
    return plan
