"""One launch: its cores, its global memory, its findings. All of it lives here; of a launch that ended well a few cores
stay for the next one that is like it (`spares`)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from . import cache, spares
from .arena import Arena
from .cache_line import Cleaned, Line
from .checks import Checks
from .core import Core
from .cost import Cost
from .cross import Cross
from .ended import EndedCore
from .errors import ArgumentValueError, SimulatorWarning
from .findings import Site
from .global_memory import GlobalArray
from .kernel_types import KERNEL_TYPES
from .ledger import Ledger
from .memory import Memory
from .partition import Access
from .record import Record
from .scheduler import Scheduler
from .serving import Servers
from .soc import Soc
from .totals import CoreTotals
from .variants import core_class


class Place(NamedTuple):
    """Where a core stands in the launch."""

    serial: int
    kind: str
    group: int
    sub: int
    index: int  # type: ignore[assignment]


def no_name(core: Core, memory: Memory, start: int, end: int, site: Site) -> tuple[str, int]:
    """The name and base address of the buffer that holds these bytes: here nobody knows it."""
    return "", 0


class Device(Ledger):
    """The machine of one launch.

    soc          the chip's record
    kernel_type  number of the vendor's KernelType
    blocks       groups of cores to launch
    checks       what is checked and what a finding does
    record       keep every issued instruction, for replay
    auto_sync    the device compiler orders vector with vector and scalar accesses (on vector cores)
    insert_sync  any missing order inside a core is added instead of reported
    only         block numbers to run; the others are left out
    like         hashable; two launches of equal `like` run one program on numbers and arrays of one kind, so that the
                 second may use the cores of the first (None: of no other)
    """

    def __init__(
        self,
        soc: Soc,
        kernel_type: int,
        blocks: int,
        *,
        checks: Checks,
        record: bool = False,
        auto_sync: bool = True,
        insert_sync: bool = False,
        only: Sequence[int] | None = None,
        namer: Callable[[Core, Memory, int, int, Site], tuple[str, int]] = no_name,
        like: Any = None,
    ) -> None:
        super().__init__(checks)
        self.soc, self.blocks = soc, blocks
        self.auto_sync, self.insert_sync, self.namer = auto_sync, insert_sync, namer
        self.kernel_type = int(kernel_type)
        self.kernel_type_name, self.aic, self.aiv, self.has_scheduler = KERNEL_TYPES[self.kernel_type]
        self.mix = self.aic > 0 and self.aiv > 0
        self.cube_only = not self.mix  # compiled so that Matmul objects live on cube cores alone; the launcher knows
        self.ratio = self.aiv if self.mix else 1
        self.cost = Cost(soc, blocks * self.aiv, blocks * self.aic)
        self.machine = core_class(checks, record)
        self.arena = Arena()
        self.record = Record() if record else None
        self.places = self._places(range(blocks) if only is None else only)
        self.cross = Cross(self)
        self.cleaned: dict[tuple[GlobalArray, int], Cleaned] = {}  # last clean of each line of a data cache
        self.leftover: list[tuple[int, Line]] = []  # dirty lines of cores that have ended
        self.finished: list[CoreTotals] = []
        self.like = None
        if like is not None and not record:
            self.like = like, soc.name, self.kernel_type, blocks, checks, auto_sync, insert_sync
        self.pool = spares.take(self.like)
        self.servers = Servers(place.group for place in self.places if place.kind == "aiv")

    def _places(self, groups: Sequence[int]) -> list[Place]:
        out: list[Place] = []
        if len(set(groups)) < len(groups):
            raise ArgumentValueError("launch", operand="blocks to run", value=list(groups), rule="each block once")
        for group in groups:
            if not 0 <= group < self.blocks:
                raise ArgumentValueError(
                    "launch", operand="blocks to run", value=group, rule=f"0 <= block < {self.blocks}"
                )
            for kind, many in (("aic", self.aic), ("aiv", self.aiv)):
                for sub in range(many):
                    index = group * self.ratio + sub if kind == "aiv" else group
                    out.append(Place(len(out), kind, group, sub if self.mix else 0, index))
        return out

    # ------------------------------------------------------------------ running

    def argument(self, name: str, data: memoryview, defined: bool = True) -> GlobalArray:
        """Give an array of the caller (bytes, C order) its place in global memory."""
        return self.arena.add(name, data, defined)

    def run(self, body: Callable[[], Any]) -> None:
        """Run `body` once a core; raises what a kernel raised. The caller's arrays are not touched."""
        self.scheduler = Scheduler(self.places, self._enter, self._leave, body)
        try:
            self.scheduler.run()
            cache.end(self)
            self.judge_undefined()
            self.cross.finish()
        except BaseException:
            self.judge_undefined(raising=False)  # what came before the end still counts
            with contextlib.suppress(SimulatorWarning):  # a warning made an error does not replace the first one
                self.give_warnings()
            raise
        self.give_warnings()
        if self.like is not None and not self.servers.cores:
            spares.leave(self.like, self.pool)

    def _enter(self, where: Place) -> Core:
        spare = self.pool[where.kind]
        core = spare.pop() if spare else self.machine(self, where.kind)
        core.device, core.__class__ = self, self.machine
        core.start(where.serial, where.group, where.sub, where.index)
        return core

    def _leave(self, core: Core) -> None:
        if self.servers.stays(core):
            return
        core.finish()
        cache.leave(core)
        for array in self.arena.arrays:
            array.close()
        ends = [core.now, *(pipe.free for pipe in core.slots)]
        busy = {pipe.name: pipe.free - pipe.idle for pipe in core.slots}
        busy["S"] += core.issue_cost * sum(pipe.n for pipe in core.slots[1:])
        moved = {pipe.name: pipe.moved for pipe in core.slots}
        read, written = moved["S"] + moved["MTE2"], moved["MTE3"] + moved.get("FIX", 0)
        self.finished.append(
            CoreTotals(core.kind, core.index, core.group, max(ends), busy, read, written, core.regions)
        )
        if self.record is None:  # a recorded launch is replayed on the memories it ran on
            core.__class__ = EndedCore
            self.pool[core.kind].append(core)
        if (idle := self.servers.left(core)) is not None:
            self._leave(idle)

    def totals(self) -> list[CoreTotals]:
        """One record a core, in core order."""
        return sorted(self.finished, key=lambda t: (t.block, t.kind, t.index))

    def write_back(self) -> None:
        """Copy every array that the kernel has written into the caller's memory."""
        for array in self.arena.arrays:
            if array.stores and array.source.readonly:
                raise ArgumentValueError(
                    "launch", "the kernel writes this argument, but the array is read-only", operand=array.name
                )
        if self.record is not None:
            self.record.keep(self.arena.arrays)
        for array in self.arena.arrays:
            if array.stores:
                array.give_back()
        if self.record is not None:
            self.record.detach()

    def core_name(self, serial: int) -> str:
        """`aiv 3`."""
        where = self.places[serial]
        return f"{where.kind} {where.index}"

    def pipe_name(self, access: Access) -> str:
        """The pipe of an access of any core."""
        return str(access[3].pipe.name)
