"""The record of a launch, and its replay in another order that the clocks allow.

The record is flat: seven slots an instruction, most of them shared objects. Replay executes the recorded plans on
the memories they ran on, reset to the state before the launch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .memory import Access
from .pipe import Clock, Known

if TYPE_CHECKING:
    from .core import Core
    from .device import Device
    from .global_memory import GlobalArray
    from .instruction import Plan

WIDTH = 7


class Entry:
    """One recorded instruction, unpacked."""

    __slots__ = ("at", "clock", "core", "gm", "known", "n", "number", "plan")

    def __init__(self, number: int, row: list[Any]) -> None:
        self.number = number  # position in the canonical order
        self.core: Core
        self.plan: Plan
        self.gm: GlobalArray | None
        self.at: int
        self.n: int
        self.clock: Clock
        self.known: Known
        self.core, self.plan, self.gm, self.at, self.n, self.clock, self.known = row

    @property
    def key(self) -> tuple[int, int]:
        """Core serial and pipe slot."""
        return self.core.serial, self.plan.pipe.slot

    def run(self) -> None:
        """Do the work again."""
        if self.gm is None:
            self.plan.run()
        else:
            self.plan.run(self.gm, self.at)


class Record:
    """Issued instructions in canonical order."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self.initial: dict[str, bytes] = {}

    def enter(self, core: Core, plan: Plan, gm: GlobalArray | None, at: int) -> None:
        """Append the instruction that has just been issued."""
        pipe = plan.pipe
        self.rows += (core, plan, gm, at, pipe.n, pipe.clock, pipe.known)

    def keep_initial(self, array: GlobalArray) -> None:
        """Save the caller's bytes before results are copied over them."""
        self.initial[array.name] = bytes(array.source)

    def __len__(self) -> int:
        return len(self.rows) // WIDTH

    def entries(self) -> list[Entry]:
        """The record as objects."""
        rows = self.rows
        return [Entry(i // WIDTH, rows[i : i + WIDTH]) for i in range(0, len(rows), WIDTH)]


Chooser = Callable[[list[Entry]], Entry]


def oldest(ready: list[Entry]) -> Entry:
    """The canonical order."""
    return min(ready, key=lambda entry: entry.number)


def newest(ready: list[Entry]) -> Entry:
    """As far from the canonical order as it goes."""
    return max(ready, key=lambda entry: entry.number)


def before(a: Entry, b: Entry) -> bool:
    """Whether a has ended when b starts, by the clocks."""
    if a.core.serial == b.core.serial:
        return b.clock[a.plan.pipe.slot] >= a.n and a.number < b.number
    clock = b.known.get(a.core.serial)
    return clock is not None and clock[a.plan.pipe.slot] >= a.n


def replay(device: Device, choose: Chooser = newest) -> dict[str, bytes]:
    """Execute the record in the order that `choose` picks among the instructions whose predecessors have ended.

    Returns the bytes of every array that the launch wrote. The launch's own results stay as they are.
    """
    record = device.record
    assert record is not None
    written = [array for array in device.arena.arrays if array.stores]
    results = {array.name: bytes(array.data[: array.nbytes]) for array in written}
    entries = record.entries()
    for core in {entry.core.serial: entry.core for entry in entries}.values():
        for memory in core.memories.values():
            memory.bytes[:] = 0xFF
    for array in written:
        array.restore(record.initial.get(array.name, array.source))
    for entry in order(entries, choose):
        entry.run()
    out = {array.name: bytes(array.data[: array.nbytes]) for array in written}
    for array in written:
        array.restore(results[array.name])
    return out


def order(entries: list[Entry], choose: Chooser) -> list[Entry]:
    """A linear extension of "ordered before"."""
    ended: dict[tuple[int, int], int] = {}  # every instruction of the pipe up to this number has run
    queues: dict[tuple[int, int], list[Entry]] = {}
    for entry in entries:
        queues.setdefault(entry.key, []).append(entry)
    # Numbers without an entry are reports to other cores: nothing to run.
    done = {key: set(range(1, queue[-1].n)) - {entry.n for entry in queue} for key, queue in queues.items()}
    out: list[Entry] = []
    waiting = {key: list(queue) for key, queue in queues.items()}
    while len(out) < len(entries):
        ready = [e for queue in waiting.values() for e in queue if _may_run(e, ended)]
        entry = choose(ready)
        waiting[entry.key].remove(entry)
        done[entry.key].add(entry.n)
        reached = ended.get(entry.key, 0)
        while reached + 1 in done[entry.key]:
            reached += 1
        ended[entry.key] = reached
        out.append(entry)
    return out


def _may_run(entry: Entry, ended: dict[tuple[int, int], int]) -> bool:
    serial, slot = entry.key
    for other, needed in enumerate(entry.clock):
        limit = entry.n - 1 if other == slot else needed
        if ended.get((serial, other), 0) < min(needed, limit):
            return False
    return all(
        ended.get((core, other), 0) >= needed
        for core, clock in entry.known.items()
        if core >= 0 and core != serial
        for other, needed in enumerate(clock)
    )


def accesses_of(access: Access) -> tuple[int, int, int]:
    """The name of an access: core serial, pipe slot, number."""
    return access[5], access[1], access[0]
