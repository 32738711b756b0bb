"""Definedness: which bytes were ever written, carried along by copies, reported at their first use.

A plan whose operands were proved defined in the current epoch of its core is not looked at again; the epoch grows
when a byte becomes undefined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .findings import place
from .ledger import Name, Use, name_of
from .memory import Memory, Region, runs_of, show_runs
from .partition import Access

if TYPE_CHECKING:
    from .core import Core
    from .global_memory import GlobalArray
    from .instruction import Plan


def local(core: Core, plan: Plan, me: Access) -> None:
    """Judge a plan that stays inside the core, and mark what it writes."""
    if plan.proved == core.epoch:  # and marked: what became defined since may lie in its padding alone
        assert plan.voids is not None
        core.epoch += _void(plan.voids)
        return
    unproved = [region for region in plan.reads if not _whole(region)]
    if plan.carry is None:
        for region in unproved:
            _used(core, plan, me, region)
        _mark(core, plan, proved=not unproved)
    elif unproved:
        sources = [source for region in unproved for source in _sources(core, region.memory, _missing(region))]
        core.device.carried[name_of(me)] = plan, sources
        plan.carry()
        core.epoch += 1
    else:
        _mark(core, plan)


def through(core: Core, plan: Plan, me: Access, gm: GlobalArray, at: int) -> None:
    """The same for a plan that moves bytes from or to global memory."""
    assert plan.gm is not None
    if plan.gm.write:
        unproved = [region for region in plan.reads if not _whole(region)]
        for region in unproved:
            _used(core, plan, me, region)
        if gm.defined is not None:
            for a, b in plan.gm.runs(at):
                gm.defined[a:b] = True
        _mark(core, plan, proved=not unproved)
    elif gm.defined is not None and plan.carry is not None:
        plan.carry(gm, at)
        if not all(_whole(region) for region in plan.writes):
            core.device.carried[name_of(me)] = plan, []
            core.epoch += 1
    else:
        _mark(core, plan)


def _whole(region: Region) -> bool:
    return all(view.all() for view in region.known)


def _missing(region: Region) -> np.ndarray:
    """Mask of the region's undefined bytes."""
    return region.mask() & ~region.memory.defined


def _mark(core: Core, plan: Plan, proved: bool = True) -> None:
    """Enter the written bytes as defined, then the padding that has no value as undefined."""
    voids = plan.voids
    lost = voids is not None and _void(voids)
    for region in plan.writes:
        for view in region.known:
            view[...] = True
    if voids is None:
        plan.epoch = core.epoch if proved else -1
        return
    for view in voids.known:
        view[...] = False
    plan.proved = core.epoch if proved and plan.gm is None else -1
    core.epoch += lost


def _void(region: Region) -> bool:
    """Enter a region as undefined; returns whether it was not."""
    lost = False
    for view in region.known:
        if np.count_nonzero(view):
            view[...] = False
            lost = True
    return lost


def _sources(core: Core, memory: Memory, mask: np.ndarray) -> list[Name]:
    """The copies that left these bytes undefined, and those from which they had them."""
    carried = core.device.carried
    cells = memory.partition.cells
    names = [name_of(cells[label].write) for label in np.unique(memory.partition.labels()[mask]).tolist()]
    return [source for name in names if name in carried for source in (name, *carried[name][1])]


def _nearest(region: Region, missing: np.ndarray, me: Access) -> Access | None:
    """The write that left the undefined bytes so, as scratch does; else that of the bytes next to them."""
    partition, first = region.memory.partition, int(missing.argmax())
    others = np.flatnonzero(region.mask() & ~missing)
    near = np.concatenate((np.flatnonzero(missing), others[others < first][::-1], others[others > first]))
    labels = partition.labels()[near]
    for k in np.sort(np.unique(labels, return_index=True)[1]).tolist():
        write = partition.cells[labels[k]].write
        if write[3] is not None and write is not me:
            return write
    return None


def _used(core: Core, plan: Plan, me: Access, region: Region) -> None:
    """An instruction uses undefined bytes: handed to the launch, which judges it."""
    memory = region.memory
    mask = _missing(region)
    runs = runs_of(mask)
    a, b = runs[0]
    nearest = "never written"
    last = _nearest(region, mask, me)
    if last is not None:
        wrote = runs_of(np.logical_or.reduce([write.mask() for write in last[3].writes if write.memory is memory]))
        nearest = f"the nearest write before it is {last[3].name}, {place(last[2])}, bytes {show_runs(wrote)}"
    name, _ = core.device.namer(core, memory, a, b, me[2])
    text = (
        f"{plan.name}, {place(me[2])} ({plan.pipe.name}) uses undefined bytes {{}} of {memory.name}"
        f"{f' ({name})' if name else ''}: {nearest}"
    )
    core.device.undefined(core, Use(core.name, me, region, runs, text, _sources(core, memory, mask)))
