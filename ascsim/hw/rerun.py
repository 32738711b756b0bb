"""A recorded launch made again on its own cores, with calls left out or put in, or without the compiler's help.

The machine itself judges: the same plans are issued by the same `issue`, so that what is found and how long it takes
needs no second account of the rules. The text does not run again, so that a word that it branched on is as recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from . import cache, current
from .calls import Call
from .checks import Checks
from .device import Device, Place
from .errors import FoundError
from .findings import Finding
from .instruction import Plan
from .pipe import ALWAYS
from .scheduler import Scheduler
from .serving import serve
from .stretch import NO_STRETCH
from .totals import CoreTotals
from .variants import core_class

if TYPE_CHECKING:
    from .core import Core

Edit = Callable[[list[Call]], Iterable[Call]]  # the calls of one core's text -> what it is to call instead


@dataclass(frozen=True)
class Outcome:
    """What the machine says of the edited launch. `ended`: a deadlock or the like stopped it; `done`: instructions."""

    findings: list[Finding]
    totals: list[CoreTotals]
    ended: bool
    device: Device
    done: int

    @property
    def serious(self) -> list[Finding]:
        """The faults and warnings."""
        return [finding for finding in self.findings if finding.severity != "note"]

    @property
    def cycles(self) -> int:
        """Cycles of the slowest core."""
        return max((total.end for total in self.totals), default=0)


class _Again(Device):
    """The machine of a launch that is made again; its cores and its global memory are those of the first."""

    def __init__(self, first: Device, cores: dict[int, Core], auto_sync: bool, insert_sync: bool) -> None:
        checks = replace(Checks.collect(), queue_depth=first.checks.queue_depth, hold_sets=first.checks.hold_sets)
        groups = list(dict.fromkeys(place.group for place in first.places))
        super().__init__(
            first.soc,
            first.kernel_type,
            first.blocks,
            checks=checks,
            auto_sync=auto_sync,
            insert_sync=insert_sync,
            only=groups,
        )
        self.arena, self.cores = first.arena, cores
        self.serving = {core.serial for core in first.servers.cores.values()}

    def _enter(self, where: Place) -> Core:
        core = self.cores.get(where.serial) or self.machine(self, where.kind)  # a new one where the text calls nothing
        core.start(where.serial, where.group, where.sub, where.index)
        return core

    def rerun(self, places: list[Place], body: Callable[[], Any]) -> bool:
        """Run some cores; whether something ended the launch."""
        self.scheduler = Scheduler(places, self._enter, self._leave, body)
        try:
            self.scheduler.run()
            cache.end(self)
            self.judge_undefined()
            self.cross.finish()
        except FoundError:
            return True
        return False


def rerun(
    device: Device, edit: Edit = iter, some: dict[int, list[Call]] | None = None, *, compiler: bool = True
) -> Outcome:
    """Make a recorded launch again, on all cores or with the calls of some of them (which must not wait for others).

    `compiler=False` takes away the order that the compiler adds (`auto_sync`, `insert_sync`).
    """
    assert device.record is not None
    calls = device.record.calls.of if some is None else some
    cores = {call.core.serial: call.core for made in calls.values() for call in made}
    cores |= {core.serial: core for core in device.servers.cores.values()}
    auto_sync, insert_sync = device.auto_sync and compiler, device.insert_sync and compiler
    again = _Again(device, cores, auto_sync, insert_sync)

    def body() -> None:
        core = current.core.get()
        for call in edit(calls.get(core.serial, [])):
            _make(device, again, call)
        if core.serial in again.serving:
            serve(core)

    with _lent(device, again, cores, calls.values()):
        ended = again.rerun([p for p in again.places if some is None or p.serial in {*some, *again.serving}], body)
        done = sum(pipe.n for core in cores.values() for pipe in core.slots)
    return Outcome(again.findings, list(again.totals()), ended, again, done)


def _make(device: Device, again: Device, call: Call) -> None:
    core = call.core
    core.turn = call.turn
    if isinstance(call.what, str):
        getattr(core, call.what)(*call.args)
    else:
        args = [again.cross if arg is device.cross else arg for arg in call.args]
        call.what(*args, **call.named)


@contextmanager
def _lent(device: Device, again: Device, cores: dict[int, Core], calls: Iterable[list[Call]]) -> Iterator[None]:
    """Cores and arrays belong to the second launch for a while, and then again to the first."""
    assert device.record is not None
    kinds = {serial: type(core) for serial, core in cores.items()}
    arrays = device.arena.arrays
    initial = [device.record.initial(array) for array in arrays]
    results = [(array, array.source, bytes(array.bytes(0, array.nbytes)), array.stores) for array in arrays]
    for array, data in zip(arrays, initial, strict=True):
        array.rewind(data)
    plans = {id(arg): arg for made in calls for call in made for arg in call.args if isinstance(arg, Plan)}
    for plan in plans.values():
        plan.stretch = NO_STRETCH
    _hand_over(cores, again, plans.values())
    for core in cores.values():
        core.__class__ = core_class(again.checks, record=False)
    try:
        yield
    finally:
        _hand_over(cores, device, plans.values())
        for serial, core in cores.items():
            core.__class__ = kinds[serial]
        for array, source, now, stores in results:
            array.restore(now)
            array.source, array.stores = source, stores


def _hand_over(cores: dict[int, Core], device: Device, plans: Iterable[Plan]) -> None:
    changed = False
    for core in cores.values():
        core.device, core.checks = device, device.checks
        vector = core.pipes.get("V")
        if vector is not None and vector.self_ordered is not device.auto_sync:
            vector.self_ordered, changed = device.auto_sync, True
            vector.floor = [0] * len(vector.floor)
            vector.floor[vector.slot] = ALWAYS if device.auto_sync else 0
    if changed:
        for plan in plans:
            plan.overlaps()
