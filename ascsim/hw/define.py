"""Definedness: which bytes were ever written, carried along by copies, reported at their first use.

A plan whose operands were proved defined in the current epoch of its core is not looked at again; the epoch grows
when a byte becomes undefined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .findings import place
from .memory import Access, Region, runs_of, show_runs

if TYPE_CHECKING:
    from .core import Core
    from .global_memory import GlobalArray
    from .instruction import Plan


def local(core: Core, plan: Plan, me: Access) -> None:
    """Judge a plan that stays inside the core, and mark what it writes."""
    if plan.carry is not None:
        if all(_whole(region) for region in plan.reads):
            _mark(core, plan)
        else:
            plan.carry()
            core.epoch += 1
        return
    for region in plan.reads:
        if not _whole(region):
            _used(core, plan, me, region)
    _mark(core, plan)


def through(core: Core, plan: Plan, me: Access, gm: GlobalArray, at: int) -> None:
    """The same for a plan that moves bytes from or to global memory."""
    if plan.gm is not None and plan.gm.write:
        for region in plan.reads:
            if not _whole(region):
                _used(core, plan, me, region)
        if gm.defined is not None:
            for a, b in plan.gm.runs(at):
                gm.defined[a:b] = True
    elif gm.defined is not None and plan.carry is not None:
        plan.carry(gm, at)
        if not all(_whole(region) for region in plan.writes):
            core.device.carried.append((core.serial, plan.writes, gm, me))
            core.epoch += 1
        return
    _mark(core, plan)


def _whole(region: Region) -> bool:
    return all(view.all() for view in region.views(region.memory.defined))


def _mark(core: Core, plan: Plan) -> None:
    """Enter the written bytes as defined, then the padding that has no value as undefined."""
    voids = plan.voids
    lost = voids is not None and any(view.any() for view in voids.views(voids.memory.defined))
    for region in plan.writes:
        for view in region.views(region.memory.defined):
            view[...] = True
    if voids is None:
        plan.epoch = core.epoch
        return
    for view in voids.views(voids.memory.defined):
        view[...] = False
    core.epoch += lost


def _used(core: Core, plan: Plan, me: Access, region: Region) -> None:
    """An instruction uses undefined bytes: a finding now, or at the end where a race may explain it."""
    memory = region.memory
    runs = runs_of(region.mask() & ~memory.defined)
    a, b = runs[0]
    before = [f"{cell.write[3].name}, {place(cell.write[2])}" for cell in region.cells if cell.write[3] is not None]
    nearest = f"the nearest write is {before[0]}" if before else "never written"
    name, _ = core.device.namer(core, memory, a, b, me[2])
    text = (
        f"{plan.name}, {place(me[2])} ({plan.pipe.name}) uses undefined bytes {show_runs(runs)} of {memory.name}"
        f"{f' ({name})' if name else ''}: {nearest}"
    )
    sources = [
        access
        for serial, regions, _, access in core.device.carried
        if serial == core.serial and any(r.memory is memory and r.start < b and a < r.end for r in regions)
    ]
    core.device.undefined(core, text, me, sources)
