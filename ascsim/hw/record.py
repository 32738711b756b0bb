"""The record of a launch, and its replay in another order that the clocks allow.

The record is flat: seven slots an instruction, most of them shared objects. Replay executes the recorded plans on
the memories they ran on, reset to the state before the launch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .pipe import Clock, Known

if TYPE_CHECKING:
    from .core import Core
    from .device import Device
    from .global_memory import GlobalArray
    from .instruction import Plan

WIDTH = 7
WINDOW = 32  # entries; the published depth of a pipe's queue


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
    results = {array.name: bytes(array.bytes(0, array.nbytes)) for array in written}
    entries = record.entries()
    for core in {entry.core.serial: entry.core for entry in entries}.values():
        for memory in core.memories.values():
            memory.bytes[:] = 0xFF
    for array in written:
        array.restore(record.initial.get(array.name, array.source))
    for entry in order(entries, choose):
        entry.run()
    out = {array.name: bytes(array.bytes(0, array.nbytes)) for array in written}
    for array in written:
        array.restore(results[array.name])
    return out


def order(entries: list[Entry], choose: Chooser) -> list[Entry]:
    """A linear extension of "ordered before". Of each pipe the next `WINDOW` instructions are candidates."""
    queues: dict[tuple[int, int], list[Entry]] = {}
    for entry in entries:
        queues.setdefault(entry.key, []).append(entry)
    ended = {key: _Ended([entry.n for entry in queue]) for key, queue in queues.items()}
    out: list[Entry] = []
    while len(out) < len(entries):
        entry = choose([e for queue in queues.values() for e in queue[:WINDOW] if _may_run(e, ended)])
        queues[entry.key].remove(entry)
        ended[entry.key].enter(entry.n)
        out.append(entry)
    return out


class _Ended:
    """Which instructions of one pipe have run. Numbers that are not recorded belong to reports to other cores."""

    __slots__ = ("done", "front", "numbers")

    def __init__(self, numbers: list[int]) -> None:
        self.numbers, self.done, self.front = numbers, set[int](), 0

    def enter(self, n: int) -> None:
        self.done.add(n)
        while self.front < len(self.numbers) and self.numbers[self.front] in self.done:
            self.done.remove(self.numbers[self.front])
            self.front += 1

    def reaches(self, n: int) -> bool:
        """Whether everything up to number n has run."""
        return self.front == len(self.numbers) or n < self.numbers[self.front]


def _may_run(entry: Entry, ended: dict[tuple[int, int], _Ended]) -> bool:
    serial, slot = entry.key
    own = [min(needed, entry.n - 1) if other == slot else needed for other, needed in enumerate(entry.clock)]
    foreign = [(core, clock) for core, clock in entry.known.items() if core >= 0 and core != serial]
    return all(
        (core, other) not in ended or ended[core, other].reaches(needed)
        for core, clock in ((serial, own), *foreign)
        for other, needed in enumerate(clock)
    )
