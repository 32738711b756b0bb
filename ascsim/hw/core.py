"""One AIC or AIV: memories, pipes, flags, registers, and `issue`, which is the whole machine.

Not here: flags and parked pipes (`flow`), barriers, the ends of memories (`bounds`), what a clash means (`hazards`),
other cores (`cross`, `scheduler`), scalar access to global memory (`cache`), what an instruction does (its Plan).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import atomic, define, hazards, notes
from .barriers import Barriers
from .bounds import Bounds
from .calls import Activation
from .events import EVENTS, FlagRow
from .findings import Finding, Site
from .flow import Flow
from .global_memory import GlobalArray
from .instruction import Plan
from .memory import Memory
from .partition import Access
from .pipe import AIC_PIPES, AIV_PIPES, Pipe, join4, join6

if TYPE_CHECKING:
    from .cache_line import Line
    from .device import Device
    from .unitflag import Mark

# Mask registers and mask mode at power-on: high word, low word, counter mode.
ALL_LANES = ((1 << 64) - 1, (1 << 64) - 1, False)

_getframe = sys._getframe
PLAIN_STORE = ("", "")  # no atomic update: its name and element type


class Core(Flow, Barriers, Bounds):
    """One core. `serial` numbers the cores of a launch; `index` is `get_block_idx`, `group` the block."""

    __slots__ = (
        *("at_end", "atomic", "checks", "counted", "device", "epoch", "fences", "flag_rows", "flags", "group"),
        *("hold_sets", "index", "issue_cost", "join", "judged", "kind", "lines", "marks", "mask", "me", "memories"),
        *("operands", "pad_value", "pipes", "polled", "racing", "regions", "resumed", "scalar", "serial", "slots"),
        *("activation", "state", "sub", "told", "touching", "turn"),
    )

    def __init__(self, device: Device, kind: str) -> None:
        self.device, self.kind = device, kind
        soc, checks = device.soc, device.checks
        self.checks = checks
        names = AIV_PIPES if kind == "aiv" else AIC_PIPES
        self.pipes = {
            name: Pipe(
                name,
                slot,
                len(names),
                self_ordered=name == "S" or (name == "V" and device.auto_sync),
                latency=device.cost.idle_latency.get(name, 0),
            )
            for slot, name in enumerate(names)
        }
        self.slots = tuple(self.pipes.values())
        self.scalar = self.pipes["S"]
        self.join = join4 if len(names) == 4 else join6
        self.memories = {name: Memory(name, size, align) for name, size, align in soc.memories(kind)}
        self.flags = [self._flag_row(*pair) for pair in EVENTS]  # by event number, then by id
        self.flag_rows = [row for row in self.flags if row is not None]
        self.hold_sets = checks.hold_sets
        self.issue_cost = device.cost.issue()  # cycles of S to hand over an instruction or a flag
        self.operands: dict[Any, Any] = {}  # places that the language has interned on this core
        self.epoch = 0  # grows whenever a byte becomes undefined

    def _flag_row(self, src: str, dst: str) -> FlagRow | None:
        if src not in self.pipes or dst not in self.pipes or src == dst:
            return None
        return FlagRow(f"{src}_{dst}", self.pipes[src], self.pipes[dst])

    def start(self, serial: int, group: int, sub: int, index: int) -> None:
        """Become a core of the launch: everything as at power-on."""
        self.serial, self.group, self.sub, self.index = serial, group, sub, index
        for memory in self.memories.values():
            memory.reset()
        for pipe in self.slots:
            pipe.reset()
        for row in self.flag_rows:
            row.reset()
        self.mask = ALL_LANES
        self.atomic = PLAIN_STORE  # update of stores to global memory ("add", "max", "min") and its element type
        self.pad_value: Any = None  # of data_copy_pad; None: never set
        self.counted = 0
        self.told = False  # a call was reported on while it was worked out (`language.core.place`)
        self.turn = -1  # value of the innermost loop variable, for reports
        self.activation = None if self.device.record is None else Activation()
        self.resumed = None
        self.marks: dict[int, Mark] = {}  # unit flags of the blocks of L0C
        self.epoch += 1
        self.state: dict[str, Any] = {}  # what the language keeps per core and launch (pipe, masks, printing)
        self.at_end: list[Callable[[], None]] = []  # checks of the language at kernel end
        self.fences: dict[str, list[int]] = {}  # data_sync_barrier: memory -> instructions known to have ended
        self.lines: dict[tuple[GlobalArray, int], Line] = {}  # the data cache, oldest line first (`cache`)
        self.polled: tuple[Any, int] | None = None  # its last scalar read, and how often in a row
        self.regions: list[tuple[str, int, int]] = []
        self.judged: tuple[Access, bool] = [], False  # the last access whose clashes were reported; of its reads?
        self.me: Access = []  # the access to global memory being issued, and its array
        self.touching: GlobalArray
        self.racing: list[tuple[Any, ...]] = []  # stores of which it is not known yet whether they change bytes

    @property
    def name(self) -> str:
        """`aiv 3`, as reports call it."""
        return f"{self.kind} {self.index}"

    # ------------------------------------------------------------------ issue

    def issue(self, plan: Plan, site: Site | None = None, gm: GlobalArray | None = None, at: int = 0) -> Any:
        """Issue an instruction: order, definedness, work, time. Returns what its work returns.

        `site` is the author's call site; None stands for the caller of the function that calls this one.
        """
        if site is None:
            frame = _getframe(2)
            site = frame.f_code, frame.f_lasti
        pipe = plan.pipe
        if pipe.parked is not None:
            return self.park(pipe, self.issue, (plan, site, gm, at), site)
        pipe.n = n = pipe.n + 1
        slot, clock = pipe.slot, pipe.clock
        me = [n, slot, site, plan, self.turn, self.serial, clock]
        if plan.updates:
            clock = hazards.updates(self, me)
        last: Any
        for cell in plan.read_cells:
            last = cell.write
            if last[0] > clock[last[1]]:
                clock = hazards.local(self, last, me, cell, "RAW")
            last = cell.reader
            if last is None or last[1] == slot:
                cell.reader = me
            else:
                cell.also(me)
        for cell in plan.write_cells:
            last = cell.reader
            if last is None:
                last = cell.write
                if last[0] > clock[last[1]]:
                    clock = hazards.local(self, last, me, cell, "WAW")
                elif last[0]:
                    notes.dead_store(self, last, me, cell)
            else:
                if last[0] > clock[last[1]] and last is not me:
                    clock = hazards.local(self, last, me, cell, "WAR")
                cell.reader = None
                if cell.others is not None:
                    for last in cell.others.values():
                        if last[0] > clock[last[1]] and last is not me:
                            clock = hazards.local(self, last, me, cell, "WAR")
                    cell.others = None
            cell.write = me
        result = None
        if gm is None:
            if plan.epoch != self.epoch:
                define.local(self, plan, me)
            result = plan.run()
        else:
            end = at + plan.span
            stores, view, stretch = plan.stores, plan.view, plan.stretch
            if (
                stretch.next_at == at
                and stretch.next_n == n
                and stretch.array is gm
                and stretch.site == site
                and plan.epoch == self.epoch
                and end <= gm.nbytes
                and (gm.write_only and at == gm.high if stores else gm.read_only)
            ):  # the next access of a steady loop: nothing to compare it with
                stretch.next_at = at + stretch.step
                stretch.next_n = n + stretch.n_step
                if stores:
                    gm.high = end
            else:
                if end > gm.nbytes or at < 0:
                    self.stray(plan, site, gm, at, end)
                self._global(plan, me, gm, at, end)
                if plan.epoch != self.epoch or gm.defined is not None:
                    define.through(self, plan, me, gm, at)
            if view is None:
                result = plan.run(gm, at)
            elif stores:
                gm.data[at:end] = view
            else:
                view[:] = gm.data[at:end]
            pipe.moved += plan.nbytes
            if self.racing:
                hazards.judge(self)
        free = pipe.free + plan.cycles
        if pipe.cold:
            free += pipe.cold
            pipe.cold = 0
        pipe.free = free
        if not slot:
            self.catch_up()
        return result

    def _global(self, plan: Plan, me: Access, gm: GlobalArray, at: int, end: int) -> None:
        """Compare an access to global memory with the earlier ones, and see to it that the bytes are there."""
        self.me, self.touching = me, gm
        if not plan.stores:
            gm.cover(at, end)
            if not plan.private:
                gm.read(at, end, me, self.gm_clash)
            return
        if plan.gm.atomic:  # type: ignore[union-attr]
            atomic.before(self, me, gm, at, end)
        if plan.private:
            gm.stores += 1
        else:
            gm.write(at, end, me, self.gm_clash)
        gm.claim(at, end, fill=not plan.gm.plain)  # type: ignore[union-attr]

    def gm_clash(self, earlier: Access, a: int, b: int, write: bool) -> None:
        """Compare the access being issued with an earlier one to the same global bytes."""
        me = self.me
        if earlier[5] == self.serial:
            if earlier[0] > me[6][earlier[1]] and earlier is not me:
                hazards.in_core_gm(self, earlier, me, a, b, write)
            elif write and me[3].gm.write and earlier is not me:
                notes.dead_gm_store(self, earlier, me, a, b)
        elif earlier[5] >= 0:
            clock = self.slots[me[1]].known.get(earlier[5])
            if clock is None or earlier[0] > clock[earlier[1]]:
                hazards.across(self, earlier, me, a, b, write)

    def report(self, code: str, message: str, *sites: Site | None, operation: str = "", severity: str = "") -> None:
        """Hand a finding to the launch, which raises, warns or collects as the checks say."""
        self.device.report(Finding(code, message, self.name, operation, sites, severity))
