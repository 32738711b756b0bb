"""Watched ranges of UB: an access of a watched kind to one of them stops the kernel, as an exception of the chip does.

A core that watches is of a class of its own while it does, so that watching costs the others nothing. An instruction
counts if it was issued after the watch began, whenever it runs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .core import Core
from .findings import Site, author, place
from .global_memory import GlobalArray
from .instruction import Plan
from .memory import Region, runs_of, show_runs
from .variants import BareCore, HoldingCore, RecordedBareCore, RecordedCore, RecordedHoldingCore


class Watch(NamedTuple):
    """Bytes of UB, and the pipes whose reads and whose writes are not allowed there."""

    start: int
    end: int
    reads: frozenset[str]
    writes: frozenset[str]
    site: Site


def watch(core: Core, register: int, what: Watch | None) -> None:
    """Load one of the core's watch registers, or clear it (None)."""
    watches: dict[int, Watch] = core.state.setdefault("watches", {})
    watches.pop(register, None)
    if what is not None:
        watches[register] = what
    _become(core, bool(watches))
    core.at_end.append(lambda: _become(core, False))  # cores serve again


def _become(core: Core, watching: bool) -> None:
    kind = type(core)
    if watching and not issubclass(kind, _Watching):
        core.__class__ = WATCHING[kind]
    elif not watching and issubclass(kind, _Watching):
        core.__class__ = kind.__bases__[1]


class _Watching(Core):
    """Looks at every instruction before it is issued."""

    __slots__ = ()

    def issue(self, plan: Plan, site: Site | None = None, gm: GlobalArray | None = None, at: int = 0) -> Any:
        """Issue, unless a register watches what the instruction touches."""
        if site is None:
            site = author(2)
        for register, what in self.state["watches"].items():
            for verb, pipes, regions in (("reads", what.reads, plan.reads), ("writes", what.writes, plan.writes)):
                if plan.pipe.name in pipes:
                    for region in regions:
                        _judge(self, plan, site, register, what, verb, region)
        return super().issue(plan, site, gm, at)


def _judge(core: Core, plan: Plan, site: Site, register: int, what: Watch, verb: str, region: Region) -> None:
    if region.memory.name != "UB" or region.start >= what.end or region.end <= what.start:
        return
    touched = region.mask()
    touched[: what.start] = touched[what.end :] = False
    runs = runs_of(touched)
    if runs:
        text = (
            f"{plan.name}, {place(site)} ({plan.pipe.name}) {verb} UB {show_runs(runs)}, which register {register} "
            f"watches (check_local_memory_ia, {place(what.site)})"
        )
        core.report("TRAP", text, what.site, site, operation=plan.name)


WATCHING: dict[type[Core], type[Core]] = {
    kind: type(f"Watching{kind.__name__}", (_Watching, kind), {"__slots__": ()})
    for kind in (Core, BareCore, HoldingCore, RecordedCore, RecordedHoldingCore, RecordedBareCore)
}
